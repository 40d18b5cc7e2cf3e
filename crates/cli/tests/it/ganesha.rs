//! A real NFS server, from the scenario to the verdict.

use std::collections::BTreeSet;
use std::fs;

use servers::{Ganesha, GaneshaOptions, or_skip};

use crate::emulated::verdict;
use crate::harness::{Bench, by_count, network};
use crate::local::count;

pub(crate) fn bench(server: &Ganesha, load: &str, more: &str) -> Bench {
    let bench = Bench::new();
    let at = server.direct_url().replace("/export?", "/export/run?");
    let scenario = network(load, &format!("targets.filer = {{ at = \"{at}\"{more} }}"));
    bench.write("s.toml", &by_count(&scenario, "epochs = 2, repetitions = 3"));
    bench
}

pub(crate) fn start() -> Option<Ganesha> {
    or_skip(Ganesha::start(&GaneshaOptions::default()))
}

#[test]
fn every_operation_is_measured_on_a_real_server_and_nothing_stays() {
    let Some(server) = start() else { return };
    let bench = bench(
        &server,
        r#"operation = ["read", "read_file", "stat", "getattr", "list"]"#,
        ", connections = [1, 4]",
    );
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(["FEEDS", "STARVES", "UNCERTAIN"].contains(&verdict(&ran.out, "filer")), "{}", ran.out);
    let run = bench.run_json();
    let cells = run["cells"].as_array().unwrap();
    let word = |cell: &serde_json::Value| (cell["operation"].to_string(), cell["connections"].as_u64());
    let kinds: BTreeSet<_> = cells.iter().map(word).collect();
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    for rep in bench.reps() {
        assert!(count(&rep, "ops") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
        assert!(rep["emulated"].is_null(), "{rep}");
    }
    let foreign = server.path().join("run/mine.txt");
    fs::write(&foreign, "keep me").unwrap();
    let url = server.direct_url().replace("/export?", "/export/run?");
    bench.run(&["clean", &url]).exits(0).says("removed 1 dataset: 18 files");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "keep me");
    assert_eq!(fs::read_dir(server.path().join("run")).unwrap().count(), 1);
}
