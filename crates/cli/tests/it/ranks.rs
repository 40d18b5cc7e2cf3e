//! Several ranks of one run at the same time, and one record of theirs.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use serde_json::Value;

use crate::harness::{Bench, DISK, edit_reps, start, wait};

/// One cell, measured once and confirmed once.
const SHORT: [&str; 6] = ["--set", "load.queue_depth=2", "--set", "measure.repetitions=1", "--slack", "1s"];

/// Length of the window of a small scenario.
const WINDOW_NS: u64 = 100_000_000;

/// Seconds since 1970, so many from now.
#[expect(clippy::disallowed_methods, reason = "ranks agree on a time of day")]
fn in_seconds(seconds: u64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    (now.as_secs() + seconds).to_string()
}

/// Starts a rank whose record goes to a folder of its own.
fn rank(bench: &Bench, rank: &str, start_at: &str) -> Child {
    let results = format!("rank-{rank}");
    let own = ["--rank", rank, "--ranks", "2", "--start-at", start_at, "--results", &results];
    start(bench.command(&[&["run", "s.toml"][..], &SHORT, &own].concat()))
}

fn record(bench: &Bench, results: &str) -> PathBuf {
    let mut runs = fs::read_dir(bench.path(results)).unwrap().map(|entry| entry.unwrap().path());
    runs.next().unwrap()
}

fn reps(folder: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("cells.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["line"] == "rep").collect()
}

fn head(folder: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("run.json")).unwrap()).unwrap()
}

#[test]
fn two_ranks_measure_in_the_same_slots_and_are_merged() {
    let bench = Bench::with(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let start_at = in_seconds(20);
    let ranks = [rank(&bench, "0", &start_at), rank(&bench, "1", &start_at)];
    for child in ranks {
        let ended = wait(child);
        assert!(ended.prints("of 2 alone"), "{}", ended.out);
    }
    let folders = [record(&bench, "rank-0"), record(&bench, "rank-1")];
    let start_ns = start_at.parse::<u64>().unwrap() * 1_000_000_000;
    // Warm-up, window, slack.
    let slot_ns = 10_000_000 + WINDOW_NS + 1_000_000_000;
    for (number, folder) in folders.iter().enumerate() {
        let reps = reps(folder);
        let roles: Vec<&str> = reps.iter().map(|rep| rep["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["measure", "confirm"], "every cell is confirmed");
        for (place, rep) in reps.iter().enumerate() {
            assert_eq!((&rep["rank"], &rep["ranks"]), (&number.into(), &2.into()));
            let opened = rep["window_unix_ns"].as_u64().unwrap();
            assert!(opened >= start_ns + place as u64 * slot_ns, "never before its slot: {rep}");
        }
        assert_eq!(head(folder)["rank"], number);
    }
    assert_eq!(head(&folders[0])["plan_hash"], head(&folders[1])["plan_hash"]);

    // Whether a rank is on time, and what it reads then, is this machine's affair; what is made of both is not.
    for folder in &folders {
        edit_reps(folder, |place, rep| {
            rep["window_unix_ns"] = (start_ns + place as u64 * slot_ns).into();
            rep["window_ns"] = WINDOW_NS.into();
            rep["counters"] = serde_json::json!({ "ops": 100, "bytes": 100 * (16 << 10) });
        });
    }
    let [first, second] = folders.each_ref().map(|folder| folder.to_str().unwrap());
    // The order in which records are named does not matter.
    let merged = bench.run(&["merge", second, first, "--into", "merged"]).exits(0);
    assert!(merged.out.contains("\nPAGE merged/report.html"), "{}", merged.out);
    let merged = merged.says("ranks 0 to 1 measured together").says("2 hosts x 1 MB/s");
    let folder = bench.path("merged");
    assert_eq!(reps(&folder), [reps(&folders[0]), reps(&folders[1])].concat());
    let bytes_per_s = |folder: &PathBuf| head(folder)["need"]["bytes_per_s"].to_string();
    assert_eq!((bytes_per_s(&folders[0]), bytes_per_s(&folder)), ("1000000.0".into(), "2000000.0".into()));
    assert_eq!(bench.run(&["report", "merged"]).exits(0).out, merged.out);
    bench.run(&["merge", first, second, "--into", "merged"]).exits(1).says("it exists already");

    bench.run(&["merge", first]).exits(2).says("rank 1 of 2 is missing");
    bench.run(&["merge", first, second, second]).exits(2).says("rank 1 is there more than once");
    bench.run(&["merge", first, second, "merged"]).exits(2).says("`merged` is a merged record already");
    let text = fs::read_to_string(folders[1].join("cells.jsonl")).unwrap();
    let (cut, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(folders[1].join("cells.jsonl"), format!("{cut}\n")).unwrap();
    bench.run(&["merge", first, second]).exits(2).says("is not whole: the run was cut");
    bench.run(&["merge", first, "nowhere"]).exits(1).says("cannot read the run in `nowhere`");
}

#[test]
fn a_run_of_one_process_is_no_rank() {
    let bench = Bench::small(DISK);
    bench.run(&["run", "s.toml", "--set", "measure.repetitions=1"]).exits(0);
    let folder = bench.run_folder();
    bench.run(&["merge", folder.to_str().unwrap()]).exits(2).says("was not run with --rank and --ranks");
}

#[test]
fn what_ranks_cannot_agree_on_is_refused() {
    let bench = Bench::with(DISK);
    let later = in_seconds(3_600);
    let base = ["run", "s.toml", "--rank", "0", "--ranks", "2", "--start-at"];
    for (set, said) in [
        ("measure.budget=\"10s\"", "a budget would end it"),
        ("load.queue_depth=auto", "load.queue_depth = [8, 32]"),
    ] {
        bench.run(&[&base[..], &[&later, "--set", set]].concat()).exits(2).says(said);
    }
    bench.write(
        "b.toml",
        &fs::read_to_string(bench.path("s.toml"))
            .unwrap()
            .replace(r#"warmup = "10ms", duration = "100ms""#, "epochs = 1"),
    );
    let untimed = ["run", "b.toml", "--rank", "0", "--ranks", "2", "--start-at", &later];
    bench.run(&untimed).exits(2).says("write measure.duration");
    bench.run(&[&base[..], &["+30s"]].concat()).exits(2).says("`+30s` is no time");
    bench.run(&[&base[..], &[&later, "--slack", "5"]].concat()).exits(2).says("--slack");
    let beyond = ["run", "s.toml", "--rank", "2", "--ranks", "2", "--start-at", &later];
    bench.run(&beyond).exits(2).says("numbered from 0 to 1");
    bench.run(&["run", "s.toml", "--rank", "0", "--ranks", "2"]).exits(2).says("--start-at");
    bench.run(&[&base[..], &[&later, "--variant", "a:"]].concat()).exits(2).says("cannot be used with");
    assert!(!bench.path("data").exists(), "nothing was written");
}

#[test]
fn a_rank_that_comes_too_late_says_by_how_much() {
    let bench = Bench::with(DISK);
    let past = ["run", "s.toml", "--rank", "1", "--ranks", "2", "--start-at", "2026-01-01T00:00:00Z"];
    let ended = bench.run(&past).exits(1).says("all were to start at 2026-01-01T00:00:00Z");
    ended.says("s late").says("choose a later --start-at");
    assert!(!bench.path("data").exists(), "nothing was written");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_slot() {
    let bench = Bench::with(DISK);
    let later = in_seconds(3_600);
    let args = ["run", "s.toml", "--rank", "0", "--ranks", "2", "--start-at", &later];
    let ended = bench.run_beside(&args, |child| {
        // The first ceiling is on disk: what follows is the wait.
        crate::harness::until(child, || {
            let runs = fs::read_dir(bench.path("results")).into_iter().flatten().flatten();
            runs.filter_map(|run| fs::read_to_string(run.path().join("cells.jsonl")).ok())
                .any(|text| text.contains(r#""line":"ceiling""#))
        });
        // SAFETY: a plain system call; the child is ours and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) }, 0);
    });
    ended.exits(130);
    let folder = bench.run_folder();
    let outcomes: Vec<Value> = reps(&folder).iter().map(|rep| rep["outcome"].clone()).collect();
    // The signal may come just before the wait.
    assert!(outcomes.is_empty() || outcomes == ["interrupted"], "{outcomes:?}");
    let lines = fs::read_to_string(folder.join("cells.jsonl")).unwrap();
    assert!(lines.lines().last().unwrap().contains(r#""interrupted":true"#), "{lines}");
    let command = head(&folder)["command"].as_array().unwrap().clone();
    assert_eq!(command[command.len() - 2..], ["--slack", "5s"], "what was not said is written down");
}
