//! Only a gate makes a verdict an exit code.

use crate::harness::{Bench, DISK, Ended};

/// No disk feeds this. Direct reads, because a page cache is limited by its client, which forbids STARVES.
/// One depth and short windows: it lies far below the line however few of its bytes are read.
const TOO_MUCH: [&str; 8] = [
    "--set",
    "need.rate=\"900 TB/s\"",
    "--set",
    "load.cache=\"bypass\"",
    "--set",
    "load.queue_depth=2",
    "--set",
    "measure.bytes=\"16 MiB\"",
];

fn run_too_much(bench: &Bench, more: &[&str]) -> Ended {
    bench.run(&[&["run", "s.toml"], &TOO_MUCH[..], more].concat())
}

/// Whether a target starves. On a busy machine nobody can tell: others held the processors, or read from the disk.
fn starves(ended: &Ended) -> bool {
    let is_crowded = ["waited for a processor", "others read", "written by others", "of CPU stolen"]
        .iter()
        .any(|words| ended.prints(words));
    let word = if is_crowded { "UNCERTAIN" } else { "STARVES" };
    assert!(ended.prints(word), "{}", ended.out);
    !is_crowded
}

#[test]
fn without_a_gate_a_verdict_exits_with_zero() {
    starves(&run_too_much(&Bench::judged(DISK), &[]).exits(0));
}

#[test]
fn a_gated_target_that_starves_exits_with_three() {
    let bench = Bench::judged(DISK);
    let ended = run_too_much(&bench, &["--set", "gate.feeds=[\"disk\"]"]);
    if starves(&ended) {
        ended.exits(3).says("missed");
    } else {
        ended.exits(0);
    }
}

#[test]
fn a_gated_target_that_feeds_exits_with_zero() {
    let bench = Bench::judged(DISK);
    bench.run(&["run", "s.toml", "--set", "gate.feeds=[\"disk\"]"]).exits(0).feeds();
}

#[test]
fn a_latency_beyond_the_gate_exits_with_three() {
    let bench = Bench::judged(DISK);
    let gate = ["--set", "gate.feeds=[\"disk\"]", "--set", "gate.p99=\"1ns\""];
    let mut args = vec!["run", "s.toml"];
    args.extend(gate);
    bench.run(&args).exits(3).says("p99");
}

#[test]
fn uncertain_is_a_failure_only_when_strict() {
    // Two repetitions give no interval, and without one there is no verdict.
    let uncertain = ["--set", "measure.repetitions=2", "--set", "gate.feeds=[\"disk\"]"];
    for (strict, code) in [(false, 0), (true, 5)] {
        let bench = Bench::judged(DISK);
        let mut args = vec!["run", "s.toml"];
        args.extend(uncertain);
        args.extend(strict.then_some("--strict"));
        bench.run(&args).exits(code).says("UNCERTAIN");
    }
}
