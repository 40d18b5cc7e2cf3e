//! Local storage in depth: every operation, maps, open loops, spread sizes, block devices.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Bench, Ended, JUDGED, SMALL, by_count, edit_reps, skip};
use crate::loop_device::{self, Loop};

/// 64 files of 64 KiB.
pub(crate) const GENERATED: &str = r#"size = "4 MiB", sample_size = "64 KiB""#;

/// A bench with a scenario of one target at `data`, three short repetitions of each cell, and a line that every
/// disk reaches.
pub(crate) fn bench(dataset: &str, load: &str, target: &str) -> Bench {
    let bench = Bench::new();
    let text = format!(
        r#"version = 1
need = {{ rate = "1 MB/s" }}
dataset = {{ {dataset} }}
load = {{ {load} }}
measure = {{ warmup = "10ms", duration = "100ms", repetitions = 3 }}
targets.disk = {{ at = "data", {target} }}
"#
    );
    bench.write("s.toml", &text);
    bench
}

/// As [`bench`], with repetitions that end as `measure` says.
pub(crate) fn counted(dataset: &str, load: &str, target: &str, measure: &str) -> Bench {
    let bench = bench(dataset, load, target);
    count_in(&bench, measure);
    bench
}

/// Lets the repetitions of a bench end as `measure` says.
pub(crate) fn count_in(bench: &Bench, measure: &str) {
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &by_count(&scenario, measure));
}

/// One pass over the data.
pub(crate) const ONCE: &str = "epochs = 1, repetitions = 3";

pub(crate) fn count(rep: &Value, counter: &str) -> u64 {
    rep["counters"][counter].as_u64().unwrap_or_else(|| panic!("no {counter} in {rep}"))
}

/// The cells as `run.json` describes them, by name.
fn cells(bench: &Bench) -> BTreeMap<String, Value> {
    let run: Value =
        serde_json::from_str(&fs::read_to_string(bench.run_folder().join("run.json")).unwrap()).unwrap();
    let cells = run["cells"].as_array().unwrap().iter();
    cells.map(|cell| (cell["cell"].as_str().unwrap().to_owned(), cell.clone())).collect()
}

fn report(bench: &Bench) -> Ended {
    bench.run(&["report", bench.run_folder().to_str().unwrap()]).exits(0)
}

#[test]
fn every_operation_is_recorded_and_reported_as_what_it_is() {
    let bench = counted(
        GENERATED,
        r#"operation = ["read", "read_file", "stat", "list"], queue_depth = 2, block_size = "16 KiB", cache = "warm""#,
        r#"engine = "pread""#,
        ONCE,
    );
    bench.run(&["run", "s.toml"]).exits(0);
    let cells = cells(&bench);
    let operations: BTreeSet<_> =
        cells.values().map(|cell| cell["operation"].as_str().unwrap().to_owned()).collect();
    assert_eq!(operations, ["list", "read", "read_file", "stat"].map(str::to_owned).into());
    for rep in bench.reps() {
        let operation = cells[rep["cell"].as_str().unwrap()]["operation"].as_str().unwrap();
        let ops = count(&rep, "ops");
        assert!(ops > 0, "{rep}");
        let bytes_each = match operation {
            "read" => 16 << 10,
            "read_file" => 64 << 10,
            _ => 0,
        };
        assert_eq!(count(&rep, "bytes"), bytes_each * ops, "{rep}");
        let phases: Vec<&str> = ["open_ns", "stat_ns", "read_ns", "close_ns"]
            .into_iter()
            .filter(|phase| rep["histograms"].get(phase).is_some())
            .collect();
        assert_eq!(phases.len(), if operation == "read_file" { 4 } else { 0 }, "{operation}: {phases:?}");
        let entries = rep["counters"].get("entries").and_then(Value::as_u64);
        assert_eq!(entries, (operation == "list").then_some(64 * ops), "{operation}");
    }
    let page = report(&bench).says("metadata: names looked up, listed and changed");
    assert!(page.prints("where a file's time goes") && page.out.contains("read_file: "), "{}", page.out);
}

#[test]
fn names_alone_have_figures_and_no_verdict() {
    let engines = r#"engine = ["pread", "io_uring"]"#;
    let bench = counted(GENERATED, r#"operation = "stat", queue_depth = 2"#, engines, ONCE);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(ran.prints("UNJUDGED  disk only names were asked for (stat)"), "{}", ran.out);
    assert!(!ran.out.contains("FEEDS") && !ran.out.contains("STARVES"), "{}", ran.out);
    assert!(!ran.prints("was checked against"), "there was nothing to check: {}", ran.out);
    assert!(!bench.run_folder().join("throughput.svg").exists(), "names have no throughput to plot");
}

#[test]
fn a_map_faults_where_it_is_cold_and_every_advice_is_a_cell() {
    let advices = ["normal", "random", "sequential", "willneed"];
    let bench = counted(
        GENERATED,
        // One thread, which counts the faults itself: it cannot begin to count when another has read everything.
        r#"queue_depth = 1, block_size = "16 KiB", cache = "cold""#,
        r#"engine = "mmap", madvise = ["normal", "random", "sequential", "willneed"]"#,
        ONCE,
    );
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    for advice in advices {
        assert!(ran.prints(&format!("mmap ({advice})")), "{}", ran.out);
        let reps = bench.reps().into_iter().filter(|rep| {
            rep["role"] == "measure" && rep["cell"].as_str().unwrap().contains(&format!("madvise-{advice}/"))
        });
        let reps: Vec<Value> = reps.collect();
        assert_eq!(reps.len(), 3, "{advice}");
        for rep in reps {
            assert_eq!(rep["cache"]["before_bytes"], 0, "{rep}");
            assert_eq!((count(&rep, "bytes"), &rep["errors"]), (4 << 20, &serde_json::json!({})), "{rep}");
            let faults = ["minor_faults", "major_faults"].map(|kind| rep["usage"][kind].as_u64().unwrap());
            assert!(faults.iter().sum::<u64>() > 0, "what is mapped comes in by faults: {rep}");
            // Each page of 4 KiB by itself, and none ahead.
            assert!(advice != "random" || faults[1] >= 512, "{rep}");
        }
    }
    ran.says("major faults per read");
}

#[test]
fn a_map_of_warm_pages_feeds_and_can_be_nothing_but_a_map() {
    let bench = counted(
        GENERATED,
        r#"queue_depth = 2, block_size = "16 KiB", cache = "warm""#,
        r#"engine = "mmap""#,
        JUDGED,
    );
    bench.run(&["run", "s.toml"]).exits(0).says("(mmap").feeds();
    for (key, value) in [("load.cache", "bypass"), ("load.cache", "dontcache"), ("load.operation", "stat")] {
        let refused = format!("{key}=\"{value}\"");
        bench.run(&["run", "s.toml", "--set", &refused]).exits(2).says(value).says("mmap");
    }
}

#[test]
fn an_open_loop_counts_its_arrivals_and_is_judged_only_at_the_line() {
    let load = r#"mode = "paced", queue_depth = 4, block_size = "16 KiB", cache = "warm""#;
    let bench = counted(GENERATED, load, r#"engine = "pread""#, ONCE);
    let reads_asked = (4 << 20) / (16 << 10);
    let faster = ["run", "s.toml", "--set", "need.rate=\"50 MB/s\""];
    let both = ["--set", "load.rate=[\"line\", \"50 %\"]"];
    let ran = bench.run(&[&faster[..], &both].concat()).exits(0);
    for rep in bench.reps() {
        // A stated rate is its own line, and a read is of 16 KiB.
        let half = rep["cell"].as_str().unwrap().contains("/paced-50%/");
        let offered: u64 = if half { 25_000_000 } else { 50_000_000 };
        assert_eq!(count(&rep, "offered_bps"), offered);
        let offered_ns = u128::from(offered) * u128::from(rep["window_ns"].as_u64().unwrap());
        let due = (offered_ns / 1_000_000_000 / (16 << 10)) as u64;
        let arrivals = count(&rep, "arrivals");
        assert!((reads_asked..=due + 1).contains(&arrivals), "{arrivals} arrivals, and {due} were due");
        assert_eq!(count(&rep, "served") + count(&rep, "not_issued"), arrivals, "none failed: {rep}");
        assert!(rep["histograms"].get("response_ns").is_some() && rep["histograms"].get("lag_ns").is_some());
        assert!(rep["role"] == "measure" || !half, "below the line nothing is confirmed");
    }
    assert!(!ran.out.contains("UNJUDGED"), "{}", ran.out);
    // Which verdict depends on how calm the machine is: what ends late is not in time.
    let judged = ["FEEDS", "UNCERTAIN", "STARVES"].iter().any(|word| ran.out.contains(&format!("\n{word} ")));
    assert!(judged, "{}", ran.out);
    ran.says("offers 50 % of the line: no verdict");

    fs::remove_dir_all(bench.path("results")).unwrap();
    let alone = bench.run(&[&faster[..], &["--set", "load.rate=\"50 %\""]].concat()).exits(0);
    assert!(!alone.out.contains("FEEDS") && !alone.out.contains("STARVES"), "{}", alone.out);
    alone.says("UNJUDGED  disk offers 50 % of the line");
}

#[test]
fn what_a_client_cannot_issue_is_counted_and_said() {
    let load = r#"mode = "paced", rate = "900 TB/s", queue_depth = 2, block_size = "16 KiB", cache = "warm""#;
    let bench = counted(GENERATED, load, r#"engine = ["pread", "io_uring"]"#, SMALL);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    for rep in bench.reps() {
        let [arrivals, not_issued, served] =
            ["arrivals", "not_issued", "served"].map(|name| count(&rep, name));
        assert!(served > 0 && not_issued > 0, "{rep}");
        assert_eq!(served + not_issued, arrivals, "{rep}");
    }
    ran.says("never issued").says("no p99: its rank was not served").says("arrivals not served");
}

#[test]
fn pages_that_are_dropped_at_once_leave_none_behind_or_are_refused() {
    let load = r#"operation = "read_file", queue_depth = 2, cache = "dontcache""#;
    let bench = counted(GENERATED, load, r#"engine = ["pread", "io_uring"]"#, ONCE);
    let ran = bench.run(&["run", "s.toml"]);
    if ran.code == Some(2) {
        ran.says("RWF_DONTCACHE").says("help: they take Linux 6.14").says("load.cache = \"cold\"");
    } else {
        ran.exits(0);
        for rep in bench.reps() {
            let around = [&rep["cache"]["before_bytes"], &rep["cache"]["after_bytes"]];
            assert!(
                around.iter().all(|bytes| **bytes == 0) && rep["errors"] == serde_json::json!({}),
                "{rep}"
            );
        }
    }
    if !Path::new("/dev/shm").is_dir() {
        return skip("there is no /dev/shm");
    }
    let memory = tempfile::TempDir::new_in("/dev/shm").unwrap();
    let at = format!("targets.disk.at=\"{}\"", memory.path().display());
    bench.run(&["run", "s.toml", "--set", &at]).exits(2).says("memory").says("help: ");
}

#[test]
fn sizes_that_spread_over_many_folders_are_written_read_and_removed() {
    let bench = counted(
        r#"samples = 100, sample_size = "16 KiB", distribution = "lognormal", sample_size_stdev = "8 KiB", files_per_folder = 7"#,
        r#"operation = ["read_file", "list"], queue_depth = 2, cache = "warm""#,
        r#"engine = "pread""#,
        "epochs = 100, repetitions = 7",
    );
    bench.run(&["prepare", "s.toml"]).exits(0).says("100 files").says("written");
    let files = bench.data_files();
    let sizes: BTreeSet<u64> = files.iter().map(|file| fs::metadata(file).unwrap().len()).collect();
    let folders: BTreeSet<_> = files.iter().map(|file| file.parent().unwrap()).collect();
    assert_eq!((files.len(), folders.len()), (100, 15));
    assert!(sizes.len() > 50, "sizes spread: {sizes:?}");
    bench.run(&["prepare", "s.toml"]).exits(0).says("found as it was");

    bench.run(&["run", "s.toml"]).exits(0).feeds();
    let total: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    for rep in bench.reps() {
        assert_eq!(rep["cache"]["total_bytes"], total);
        assert_eq!(rep["errors"], serde_json::json!({}), "every byte that was checked is what was written");
    }
    bench.run(&["clean", "s.toml"]).exits(0).says("102 files");
    assert_eq!(fs::read_dir(bench.path("data")).unwrap().count(), 0, "nothing is left behind");
}

/// What the device saw depends on the machine, so its counters are written by hand.
#[test]
fn the_submit_batch_is_recorded_and_merged_requests_are_said() {
    let load = r#"queue_depth = 16, submit_batch = 8, access = "sequential", cache = "bypass", block_size = "4 KiB""#;
    let bench = counted(GENERATED, load, r#"engine = "io_uring""#, ONCE);
    let ran = bench.run(&["run", "s.toml"]);
    if ran.code == Some(2) {
        return skip("no direct I/O, or no io_uring, in this folder");
    }
    ran.exits(0);
    assert!(cells(&bench).values().all(|cell| cell["submit_batch"] == 8));
    let reads_of = |bytes_each: u64| {
        edit_reps(&bench.run_folder(), |_, rep| {
            let bytes = count(rep, "bytes");
            rep["system"]["process_read_bytes"] = bytes.into();
            rep["system"]["device"] = serde_json::json!({
                "name": "x", "reads": bytes / bytes_each, "reads_merged": 0, "read_bytes": bytes, "read_ns": 1,
                "writes": 0, "write_bytes": 0, "write_ns": 0, "busy_ns": 1, "weighted_ns": 1, "wall_ns": 100_000_000,
            });
        });
        report(&bench)
    };
    let merged = reads_of(32 << 10);
    assert!(merged.prints("requests were merged: 32 KiB per"), "{merged:?}");
    assert!(merged.prints("submit_batch 8"), "{merged:?}");
    let apart = reads_of(4 << 10);
    assert!(!apart.prints("merged"), "{apart:?}");
    reads_of(32 << 10);
    edit_reps(&bench.run_folder(), |_, rep| {
        let bytes = rep["system"]["process_read_bytes"].as_u64().unwrap();
        rep["system"]["process_read_bytes"] = (bytes / 2).into();
    });
    let beside_others = report(&bench);
    assert!(!beside_others.prints("merged"), "the requests are another's too: {beside_others:?}");
}

#[test]
fn a_clock_that_is_slow_to_read_is_said() {
    let bench = counted(GENERATED, r#"queue_depth = 1, cache = "warm""#, r#"engine = "pread""#, SMALL);
    bench.run(&["run", "s.toml"]).exits(0);
    let path = bench.run_folder().join("env.json");
    let mut env: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for (source, said) in [("tsc", false), ("hpet", true)] {
        env["clocksource"] = serde_json::json!({ "value": source });
        fs::write(&path, env.to_string()).unwrap();
        assert_eq!(report(&bench).prints(&format!("the kernel's clock is {source}")), said, "{source}");
    }
}

#[test]
fn a_path_of_a_block_device_and_a_need_are_enough() {
    let bench = Bench::new();
    let Some(device) = Loop::over_disk(&bench) else { return };
    let short = [
        "measure.bytes=\"256 MiB\"",
        "measure.repetitions=7",
        "load.block_size=\"16 KiB\"",
        "load.queue_depth=[1, 4]",
    ];
    let mut args = vec!["run", &device.node, "--need", "1xh100:resnet50", "--set", "load.cache=\"warm\""];
    args.extend(short.iter().flat_map(|set| ["--set", set]));
    bench.run(&args).exits(0).says("1 x h100 resnet50").feeds();
    for rep in bench.reps() {
        assert_eq!(rep["cache"]["total_bytes"], loop_device::BYTES);
    }
}
