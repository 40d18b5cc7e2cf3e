//! Everything that is read, and its bytes.

use std::path::PathBuf;
use std::sync::Arc;

use backend::conformance::{
    Fixture, WholeFiles, run, run_names, run_whole, run_write_files, run_writes, unfinished_below,
};
use backend::{Clock, Op, Store};
use backend_nfs::NfsStore;
use dataset::{Key, Objects};
use plan::{Cache, Operation};
use servers::GaneshaOptions;

use super::{direct, mapped, objects, serving, store, target};
use crate::memory::{self, SEED};
use crate::reader::{Load, Reader};

#[test]
fn the_suite_of_all_backends_passes() {
    let objects = Arc::new(memory::objects());
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    for config in [mapped(&server, &target(&server)), direct(&server, &target(&server))] {
        let fixture = Fixture {
            store: Arc::new(NfsStore::open(&config).unwrap()),
            objects: Arc::clone(&objects),
            seed: Some(SEED),
            caches: vec![Cache::Bypass],
            clock: Clock::real(),
            depth: 4,
        };
        run(&fixture);
        let by_name = [Operation::ReadFile, Operation::Stat, Operation::List];
        run_whole(&WholeFiles { fixture: &fixture, operations: &by_name, by_name: true });
        run_whole(&WholeFiles { fixture: &fixture, operations: &[Operation::GetAttr], by_name: false });
    }
    let config = direct(&server, &target(&server));
    let fixture = Fixture {
        store: Arc::new(NfsStore::open(&config).unwrap()),
        objects,
        seed: None,
        caches: vec![Cache::Bypass],
        clock: Clock::real(),
        depth: 4,
    };
    run_writes(&fixture);
    run_write_files(&fixture);
    run_names(&fixture);
    assert_eq!(unfinished_below(server.path()), Vec::<PathBuf>::new(), "what no listing shows");
}

#[test]
fn any_number_of_connections_and_requests_brings_the_right_bytes() {
    let objects = objects();
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    let store = store(&server);
    for connections in [1, 4] {
        for (depth, block_bytes) in [(1, 1 << 20), (8, 4096), (32, 100_000), (1_024, 4096)] {
            let mut reader = Reader::open(&store, &objects, Load::blocks(depth, connections, block_bytes));
            reader.reads_everything();
            assert_eq!(reader.counted("connections_opened"), u64::from(connections));
            assert_eq!(reader.counted("connections_lost"), 0);
            assert_eq!(reader.report().short_reads, 0);
        }
    }
}

#[test]
fn whole_files_are_read_looked_at_and_listed_side_by_side() {
    let objects = Arc::new(Objects::Uniform {
        folder: Key::new("data").unwrap(),
        count: 600,
        bytes: 9_001,
        files_per_folder: 300,
    });
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    let store = store(&server);
    for operation in [Operation::ReadFile, Operation::Stat, Operation::GetAttr, Operation::List] {
        for connections in [1, 4] {
            let load = Load { operation, depth: 1_024, connections, block_bytes: 4096 };
            let mut reader = Reader::open(&store, &objects, load);
            reader.reads_everything();
            let folders = [Op::List { folder: 0 }, Op::List { folder: 1 }];
            if operation == Operation::List {
                assert_eq!(reader.run(&folders), [Ok(300), Ok(300)]);
            }
        }
    }
}

#[test]
fn blocks_larger_than_the_server_reads_at_once_are_split() {
    const MOST: u32 = 64 << 10;
    let options = GaneshaOptions { max_read_bytes: Some(MOST), ..GaneshaOptions::default() };
    let objects = objects();
    let Some(server) = serving(&options, &objects) else { return };
    let store = store(&server);
    let facts = store.facts();
    assert!(facts.contains(&("rtmax_bytes", MOST.to_string())), "{facts:?}");
    // More parts than may be under way at once, as many, and one that is short; then a thousand such blocks.
    for (depth, block_bytes) in [(2, 2 << 20), (4, 16 * MOST), (8, 3 * MOST + 4096), (1_024, 2 * MOST)] {
        for connections in [1, 4] {
            let mut reader = Reader::open(&store, &objects, Load::blocks(depth, connections, block_bytes));
            let ops = reader.everything();
            reader.reads_everything();
            let calls: u64 = ops
                .iter()
                .map(|op| match op {
                    Op::Read { len, .. } => u64::from(len.div_ceil(MOST)),
                    _ => 0,
                })
                .sum();
            assert_eq!((reader.counted("messages"), reader.report().short_reads), (calls, 0));
        }
    }
    let load = Load { operation: Operation::ReadFile, depth: 3, connections: 2, block_bytes: 5 * MOST };
    Reader::open(&store, &objects, load).reads_everything();
}

#[test]
fn a_thousand_split_blocks_at_once_bring_the_right_bytes() {
    const MOST: u32 = 4096;
    let options = GaneshaOptions { max_read_bytes: Some(MOST), ..GaneshaOptions::default() };
    let objects = Arc::new(Objects::uniform(Key::new("data").unwrap(), 4, 32 << 20));
    let Some(server) = serving(&options, &objects) else { return };
    let mut reader = Reader::open(&store(&server), &objects, Load::blocks(1_024, 4, 16 * MOST));
    reader.reads_everything();
    assert_eq!(reader.counted("connections_lost"), 0);
}
