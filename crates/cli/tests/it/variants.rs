//! Variants of a scenario, interleaved: a record of each, and what goes wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Bench, DISK, Ended, edit_reps, until, wait};

const TWO: [&str; 5] = ["--variant", "warm:", "--variant", "titled:targets.disk.title=other", "--no-compare"];

/// So many repetitions, and such long ones, that a run is never over before it is ended.
const MANY: [&str; 4] = ["--set", "measure.repetitions=100", "--set", "measure.bytes=\"256 MiB\""];

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "s.toml", "--set", "measure.repetitions=3"][..], more].concat()
}

/// The folder of the only group.
fn group(bench: &Bench) -> PathBuf {
    let groups: Vec<PathBuf> =
        fs::read_dir(bench.path("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(groups.len(), 1, "{groups:?}");
    groups[0].clone()
}

fn head(bench: &Bench, variant: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(group(bench).join(variant).join("run.json")).unwrap()).unwrap()
}

fn lines(bench: &Bench, variant: &str) -> Vec<Value> {
    let text = fs::read_to_string(group(bench).join(variant).join("cells.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn reps(bench: &Bench, variant: &str) -> Vec<Value> {
    lines(bench, variant).into_iter().filter(|line| line["line"] == "rep").collect()
}

fn end(bench: &Bench, variant: &str) -> Value {
    let last = lines(bench, variant).pop().unwrap();
    assert_eq!(last["line"], "end", "{last}");
    last
}

/// Repetitions that a variant has recorded so far.
fn reps_so_far(bench: &Bench, variant: &str) -> usize {
    let groups = fs::read_dir(bench.path("results")).into_iter().flatten().flatten();
    let texts =
        groups.filter_map(|one| fs::read_to_string(one.path().join(variant).join("cells.jsonl")).ok());
    texts.map(|text| text.matches(r#""line":"rep""#).count()).sum()
}

/// A binary of the test's own.
fn script(bench: &Bench, name: &str, text: &str) {
    bench.write(name, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(bench.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn each_variant_has_a_record_and_their_repetitions_are_neighbours() {
    let bench = Bench::small(DISK);
    let ran = bench.run(&args(&TWO)).exits(0);
    for (number, name) in ["warm", "titled"].into_iter().enumerate() {
        let head = head(&bench, name);
        let variant = &head["variant"];
        assert_eq!((&variant["name"], &variant["number"]), (&name.into(), &number.into()));
        assert_eq!(variant["group"], group(&bench).file_name().unwrap().to_str().unwrap());
        assert!(head["command"].as_array().unwrap().contains(&"--variant".into()), "that of the whole run");
        assert!(ran.out.contains(&format!("record results/{}/{name}\n", variant["group"].as_str().unwrap())));
        assert_eq!(end(&bench, name)["not_run"], serde_json::json!([]));
        assert!(lines(&bench, name).iter().any(|line| line["line"] == "ceiling"));
        assert!(group(&bench).join(name).join("report.md").is_file());
    }
    assert_eq!(
        head(&bench, "titled")["variant"]["settings"],
        serde_json::json!(["targets.disk.title=other"])
    );
    assert_eq!(head(&bench, "warm")["variant"]["settings"], serde_json::json!([]));
    assert_eq!(head(&bench, "warm")["plan_hash"], head(&bench, "titled")["plan_hash"]);

    let mut all: Vec<Value> = ["warm", "titled"].into_iter().flat_map(|name| reps(&bench, name)).collect();
    assert_eq!(all.len(), 12, "2 cells x 3 repetitions x 2 variants");
    assert!(all.iter().all(|rep| rep["role"] == "measure" && rep["rep"] == rep["round"]));
    let opened = |rep: &Value| rep["window_unix_ns"].as_u64().unwrap();
    all.sort_by_key(opened);
    for pair in all.windows(2) {
        let closed = opened(&pair[0]) + pair[0]["window_ns"].as_u64().unwrap();
        assert!(closed <= opened(&pair[1]), "one at a time: {pair:?}");
    }
    for pair in all.chunks(2) {
        assert_eq!(pair[0]["round"], pair[1]["round"]);
        assert_ne!(pair[0]["variant"], pair[1]["variant"]);
        assert_eq!(pair[0]["cell"], pair[1]["cell"]);
    }
    let rounds: Vec<u64> = all.iter().map(|rep| rep["round"].as_u64().unwrap()).collect();
    assert!(rounds.is_sorted(), "{rounds:?}");
}

#[test]
fn a_variant_with_a_mistake_starts_nothing() {
    let bench = Bench::small(DISK);
    for (change, said) in [
        ("b:load.queue_depth=1", "`a` has 2 cells, `b` has 1 cell"),
        ("b:load.queue_depth=auto", "load.queue_depth = [8, 32]"),
        ("b:measure.repetitions=2", "`a` has 3 repetitions, `b` has 2 repetitions"),
        ("b:load.cahce=warm", "(in variant `b`)"),
        ("a:", "there is a variant `a` already"),
        ("load.cache=warm", "it has no name"),
        ("b/c:", "a name is of at most"),
        // Refused when both were measured, before.
        ("b:need=2 MB/s", "their needs differ: `a` has"),
    ] {
        bench.run(&args(&["--variant", "a:", "--variant", change])).exits(2).says(said);
    }
    bench.run(&args(&["--variant", "a:"])).exits(2).says("nothing to compare it with");
    assert!(!bench.path("data").exists(), "nothing was written");
}

#[test]
fn a_binary_that_takes_no_turns_is_said_to_be_none() {
    let bench = Bench::small(DISK);
    script(&bench, "other", r#"echo '{"answer":"hello","protocol":7,"version":"9.9.9"}'; cat"#);
    script(&bench, "talks", "while echo y; do :; done");
    for (binary, said) in [
        ("/bin/true", "no feedline that takes turns: it ended"),
        ("./talks", "no feedline that takes turns: it says something else"),
        ("./other", "feedline 9.9.9 and takes turns in another way (7, this one 1)"),
        ("./missing", "cannot start `./missing` for variant `b`"),
    ] {
        let variant = format!("b:bin={binary}");
        let ran = bench.run(&args(&["--variant", "a:", "--variant", &variant])).exits(1);
        ran.says(said);
        let left = end(&bench, "a");
        assert_eq!((&left["interrupted"], left["not_run"].as_array().unwrap().len()), (&false.into(), 2));
        fs::remove_dir_all(bench.path("results")).unwrap();
    }
}

#[test]
fn another_feedline_can_run_a_variant() {
    let bench = Bench::small(DISK);
    let variant = format!("b:bin={}", env!("CARGO_BIN_EXE_feedline"));
    bench.run(&args(&["--variant", "a:", "--variant", &variant, "--no-compare"])).exits(0);
    assert_eq!((reps(&bench, "a").len(), reps(&bench, "b").len()), (6, 6));
    assert_eq!(head(&bench, "b")["variant"]["settings"], serde_json::json!([variant[2..]]));
}

#[test]
fn a_variant_that_dies_is_named_and_the_records_stay() {
    let bench = Bench::small(DISK);
    // Three orders reach it: to begin, to measure its ceiling, to make one repetition.
    let few = format!(
        r#"n=0; while [ $n -lt 3 ] && read -r line; do printf '%s\n' "$line"; n=$((n+1)); done | {} "$@""#,
        env!("CARGO_BIN_EXE_feedline")
    );
    script(&bench, "few", &few);
    let ran = bench.run(&args(&["--variant", "a:", "--variant", "b:bin=./few"])).exits(1);
    ran.says("variant `b` ended before its time").says("the records of the other variants are kept");
    assert_eq!(end(&bench, "b")["interrupted"], true);
    let left = end(&bench, "a");
    assert_eq!((&left["interrupted"], reps(&bench, "b").len()), (&false.into(), 1));
    assert!(!reps(&bench, "a").is_empty());
    for not_run in left["not_run"].as_array().unwrap() {
        assert_eq!(not_run["reason"], "another variant ended before its time");
    }
}

#[test]
fn whole_rounds_fill_a_budget_and_the_rest_is_listed() {
    let bench = Bench::with(DISK);
    // A round of such windows would fit, but for all that is done around them.
    let sets = ["measure.budget=\"1ms\"", "measure.warmup=\"0s\"", "measure.duration=\"1us\""];
    let budget = ["--set", sets[0], "--set", sets[1], "--set", sets[2]];
    // Nothing fits, so nothing is measured, which is an error of its own.
    bench.run(&args(&[&TWO[..], &budget].concat())).exits(1);
    for name in ["warm", "titled"] {
        let left = end(&bench, name);
        assert!(reps(&bench, name).is_empty());
        assert_eq!((&left["interrupted"], left["not_run"].as_array().unwrap().len()), (&false.into(), 2));
        assert!(left["not_run"].as_array().unwrap().iter().all(|one| one["reason"] == "budget"));
        assert!(left["not_run"].as_array().unwrap().iter().all(|one| one["repetitions"] == 3));
    }
}

#[test]
fn ctrl_c_ends_every_record_as_interrupted() {
    let bench = Bench::small(DISK);
    let long = args(&[&TWO[..], &MANY].concat());
    let ended = bench.run_beside(&long, |child| {
        until(child, || reps_so_far(&bench, "warm") >= 1 && reps_so_far(&bench, "titled") >= 1);
        // SAFETY: a plain system call; the child is ours and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGINT) }, 0);
    });
    ended.exits(130);
    for name in ["warm", "titled"] {
        let end = end(&bench, name);
        assert_eq!(end["interrupted"], true);
        assert!(end["not_run"].as_array().unwrap().iter().all(|one| one["reason"] == "interrupted"), "{end}");
    }
}

#[test]
fn no_variant_outlives_its_parent() {
    let bench = Bench::small(DISK);
    let long = args(&[&TWO[..], &MANY].concat());
    let mut child = bench.spawn(&long);
    until(&mut child, || reps_so_far(&bench, "warm") >= 1);
    child.kill().unwrap();
    // Standard error is shared by all of them: it ends when the last has ended.
    let ended = wait(child);
    assert_eq!(ended.code, None, "{ended:?}");
    for name in ["warm", "titled"] {
        assert_eq!(end(&bench, name)["interrupted"], true);
    }
}

/// The code of a run, or of a comparison, is that of what it says of its gate; whether it is missed.
#[track_caller]
fn misses_gate(ended: Ended) -> bool {
    let ended = ended.says("compare base");
    let is_missed = ended.prints("gate regressed: disk throughput -");
    assert!(
        is_missed || ended.prints("gate no regression") || ended.prints("gate inconclusive"),
        "{ended:?}"
    );
    ended.exits(if is_missed { 4 } else { 0 });
    is_missed
}

/// Lets each repetition of a variant have taken so long, on a machine that did nothing else.
fn take(bench: &Bench, variant: &str, window_ns: u64) {
    edit_reps(&group(bench).join(variant), |_, rep| {
        rep["window_ns"] = window_ns.into();
        rep["usage"]["wall_ns"] = window_ns.into();
        for taken_by_others in ["steal_ns", "waited_ns"] {
            rep["usage"][taken_by_others] = 0.into();
        }
        rep.as_object_mut().unwrap().remove("system");
    });
}

#[test]
fn variants_are_held_against_the_gate_of_their_run() {
    let bench = Bench::small(&format!("{DISK}\ngate.regression = {{ throughput = \"50 %\" }}"));
    let args = ["run", "s.toml", "--set", "load.queue_depth=1", "--set", "measure.repetitions=5"];
    // How fast either was is this machine's affair.
    misses_gate(bench.run(&[&args[..], &["--variant", "base:", "--variant", "same:"]].concat()));
    let folder = group(&bench).to_str().unwrap().to_owned();
    for (slower_by, is_missed) in [(1, false), (10, true)] {
        take(&bench, "base", 1_000_000_000);
        take(&bench, "same", slower_by * 1_000_000_000);
        assert_eq!(misses_gate(bench.run(&["compare", &folder])), is_missed);
    }
}
