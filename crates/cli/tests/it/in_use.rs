//! What a run uses, or is about to, is nobody's to remove or to measure meanwhile.

use std::fs;

use crate::faults::signal;
use crate::harness::{Bench, by_count, network, until, wait};

/// So much of a run that it is never over before a signal ends it.
const ENDLESS: &str = r#"bytes = "1 GiB", repetitions = 100"#;

fn endless(more: &str) -> Bench {
    let bench = Bench::new();
    bench.write("s.toml", &by_count(&network("", more), ENDLESS));
    bench
}

#[test]
fn nothing_is_removed_from_any_folder_while_a_run_uses_one() {
    let bench = endless(
        r#"targets.far = { at = "s3://demo/run", emulate = { first_byte = "1ms" } }
cache_tier = { at = "zcache", capacity = "2 MiB" }"#,
    );
    // In the order of their names this one would be the first, and nobody uses it.
    bench.write("idle.toml", &network("", r#"targets.idle = { at = "a", engine = "pread" }"#));
    bench.run(&["prepare", "idle.toml"]).exits(0);
    bench.write("both.toml", &network("", "targets.idle.at = \"a\"\ntargets.far.at = \"zcache\""));
    let cache = bench.path("zcache/feedline-cache-tier/blocks.bin");
    let mut child = bench.spawn(&["run", "s.toml"]);
    until(&mut child, || cache.exists());
    let holder = format!("is being used by another run (process {})", child.id());
    for what in ["s.toml", "both.toml", "zcache"] {
        bench.run(&["clean", what, "--yes"]).exits(1).says(&holder);
    }
    assert!(cache.exists());
    assert!(fs::read_dir(bench.path("a")).unwrap().next().is_some(), "removed before all were looked at");
    bench.run(&["clean", "a", "--yes"]).exits(0).says("removed 1 dataset");
    signal(&child, libc::SIGINT);
    wait(child).exits(130);
    bench.run(&["clean", "s.toml", "--yes"]).exits(0);
    assert!(!cache.exists());
}

#[test]
fn variants_of_two_runs_do_not_measure_one_dataset() {
    let bench = endless(r#"targets.far = { at = "far", engine = "pread" }"#);
    let variants = |results| {
        let all =
            ["run", "s.toml", "--variant", "a:", "--variant", "b:load.queue_depth=1", "--no-compare", "-o"];
        [&all[..], &[results]].concat()
    };
    let mut child = bench.spawn(&variants("results"));
    let is_measured = || {
        let groups = fs::read_dir(bench.path("results")).into_iter().flatten().flatten();
        groups
            .map(|group| group.path().join("b/cells.jsonl"))
            .any(|cells| fs::read_to_string(cells).is_ok_and(|lines| lines.contains(crate::harness::REP)))
    };
    until(&mut child, is_measured);
    bench.run(&variants("other")).exits(1).says("is being measured by another run (process ");
    bench.run(&["run", "s.toml", "-o", "third"]).exits(1).says("is being measured by another run (process ");
    signal(&child, libc::SIGINT);
    wait(child).exits(130);
    let cleaned = bench.run(&["clean", "s.toml", "--yes"]).exits(0);
    assert!(cleaned.prints("removed 1 dataset: 18 files") && !cleaned.prints("left"), "{cleaned:?}");
}

#[test]
fn nothing_is_written_where_something_is_being_removed() {
    let bench = endless(r#"targets.far = { at = "far", engine = "pread" }"#);
    fs::create_dir(bench.path("far")).unwrap();
    // As `clean` holds it.
    let folder = fs::File::open(bench.path("far")).unwrap();
    folder.lock().unwrap();
    for verb in ["run", "prepare"] {
        bench.run(&[verb, "s.toml"]).exits(1).says("`far` is locked by another program").says("hint: ");
    }
    assert!(fs::read_dir(bench.path("far")).unwrap().next().is_none());
}
