//! Paths that are slowed down as declared.

use crate::harness::{Bench, by_count, scenario};
use crate::local::count;

/// The small scenario at a path that is slowed down.
fn bench(emulate: &str, load: &str) -> Bench {
    let bench = Bench::new();
    let target = format!("targets.disk = {{ at = \"data\", engine = \"pread\", emulate = {{ {emulate} }} }}");
    let text = scenario(&target).replace("load = { ", &format!("load = {{ {load}"));
    bench.write("s.toml", &by_count(&text, r#"bytes = "1 MiB", repetitions = 3"#));
    bench
}

/// Bytes a second of each repetition.
fn rates_bps(bench: &Bench) -> Vec<f64> {
    let rate =
        |rep: serde_json::Value| count(&rep, "bytes") as f64 / rep["window_ns"].as_f64().unwrap() * 1e9;
    bench.reps().into_iter().map(rate).collect()
}

#[test]
fn a_path_is_no_faster_than_declared_and_judges_nothing() {
    let bench = bench("total_rate = \"20 MB/s\"", "");
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(ran.out.contains("DEMO") && ran.out.contains("slowed here"), "{}", ran.out);
    assert!(!ran.out.contains("FEEDS  "), "{}", ran.out);
    for bps in rates_bps(&bench) {
        // The line of the first operation begins with it, so that a window holds one more than passes.
        assert!(bps < 20.5e6, "{bps}");
    }
    // Data at a path stay, and another run finds them there.
    assert_eq!(bench.data_files().len(), 64);
}

#[test]
fn writes_are_slowed_down_as_reads_are() {
    let bench = bench("requests_per_second = 1000", "operation = [\"read\", \"write\"], ");
    bench.run(&["run", "s.toml"]).exits(0);
    let rates = rates_bps(&bench);
    assert!(rates.len() >= 12, "{rates:?}");
    assert!(rates.iter().all(|bps| *bps < 1020.0 * 16_384.0), "{rates:?}");
}

#[test]
fn several_processes_would_be_faster_than_declared_and_are_refused() {
    let bench = bench("total_rate = \"20 MB/s\"", "");
    let by_time = ["--set", "measure={ duration = \"1s\" }"];
    let ranks = ["run", "s.toml", "--rank", "0", "--ranks", "2", "--start-at", "4000000000"];
    let ran = bench.run(&[&ranks[..], &by_time[..]].concat()).exits(2);
    assert!(ran.err.contains("`disk` is a path that is slowed down for one process"), "{}", ran.err);
}
