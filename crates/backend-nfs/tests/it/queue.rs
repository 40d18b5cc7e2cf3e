//! The suite that every backend passes.

use std::sync::Arc;

use backend::Clock;
use backend::conformance::{Fixture, WholeFiles, run, run_whole};
use plan::{Cache, Operation};

use crate::memory::{self, SEED, Server};

fn fixture(server: &Server) -> Fixture {
    Fixture {
        store: Arc::new(server.store("/")),
        objects: Arc::new(memory::objects()),
        seed: Some(SEED),
        caches: vec![Cache::Bypass],
        clock: Clock::real(),
        depth: 4,
    }
}

#[test]
fn reads_of_blocks_conform() {
    let server = memory::with_dataset();
    run(&fixture(&server));
}

#[test]
fn operations_by_name_conform() {
    let server = memory::with_dataset();
    let fixture = fixture(&server);
    let operations = [Operation::ReadFile, Operation::Stat, Operation::List];
    run_whole(&WholeFiles { fixture: &fixture, operations: &operations, by_name: true });
}

#[test]
fn operations_by_handle_conform() {
    let server = memory::with_dataset();
    let fixture = fixture(&server);
    run_whole(&WholeFiles { fixture: &fixture, operations: &[Operation::GetAttr], by_name: false });
}
