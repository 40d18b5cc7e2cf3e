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
    bench.run(&["plan", "s.toml"]).exits(0).says("slowed down, which judges nothing");
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

#[test]
fn credits_are_spent_by_the_run_and_the_prediction_says_so() {
    let credits = "requests_per_second = 2000, request_burst = { per_second = 1e6, credits = 20 }";
    let bench = bench(credits, "");
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(
        ran.out.contains("DEMO") && ran.out.contains("request_burst to 1,000,000 until 20 credits"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("2,000-1,000,000"), "{}", ran.out);
    for rep in bench.reps() {
        let (ops, window_s) = (count(&rep, "ops") as f64, rep["window_ns"].as_f64().unwrap() / 1e9);
        // However many came back before: those of a window, and the operation that had begun when it opened.
        assert!(ops <= 20.0 + 2000.0 * window_s + 1.0, "{ops} in {window_s} s");
    }
    let run = bench.run_folder();
    bench.run(&["run", "--resume", run.to_str().unwrap()]).exits(2).says("has burst credits on `disk`");
    let variants = ["run", "s.toml", "--variant", "a:", "--variant", "b:"];
    bench.run(&variants).exits(2).says("each variant would begin with all of them");
}
