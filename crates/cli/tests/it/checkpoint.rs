//! Checkpoints from the command line: written, restored, beside a job, and what is left of them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::faults::signal;
use crate::harness::{Bench, finish, network, until};

/// Two accelerators whose state is 3 MB in four files.
const JOB: &str = r#"version = 1
need = { batch = 4, step_time = "5ms", sample_size = "64 KiB", count = 2 }
dataset = { size = "4 MiB" }
targets.disk = { at = "data", engine = "pread" }
load = { mode = "training", cache = "warm" }
training = { readers = 2, steps = 12 }
checkpoint = { size = "12 MB", scale = "1/4", files = 4, every = 4, keep = 1, block_size = "256 KiB" }
measure = { repetitions = 3 }
"#;

const CHECKPOINT_BYTES: u64 = 3_000_000;

/// Folders of feedline's own among the data.
fn folders(bench: &Bench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.path("data")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn of(reps: &[Value], what: &str) -> Vec<Value> {
    let found: Vec<Value> =
        reps.iter().filter(|rep| rep["cell"].as_str().unwrap().contains(what)).cloned().collect();
    assert!(found.len() >= 3, "{what}: {} repetitions", found.len());
    found
}

fn checkpoints(rep: &Value) -> &[Value] {
    rep["checkpoints"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn checkpoints_are_written_restored_and_held_against_the_same_job_without_them() {
    let bench = Bench::new();
    bench.write("job.toml", JOB);
    bench.run(&["run", "job.toml", "--no-progress"]).exits(0);
    bench.assert_looked_at();
    let reps = bench.reps();
    for rep in of(&reps, "/checkpoint/") {
        let made = checkpoints(&rep);
        assert!(!made.is_empty() && rep["outcome"] == "complete");
        for one in made {
            assert_eq!((&one["bytes"], &one["outcome"]), (&CHECKPOINT_BYTES.into(), &"complete".into()));
        }
        assert_eq!(rep["counters"]["bytes"], made.len() as u64 * CHECKPOINT_BYTES);
        assert_eq!(rep["counters"]["ops"], made.len() as u64 * 4);
        assert!(
            ["service_ns", "write_ns", "publish_ns"].iter().all(|name| !rep["histograms"][name].is_null())
        );
    }
    for rep in of(&reps, "/restore/") {
        assert_eq!(
            (&rep["counters"]["bytes"], &rep["outcome"]),
            (&CHECKPOINT_BYTES.into(), &"complete".into())
        );
        assert_eq!(rep["cache"]["before_bytes"], 0, "it was read from a cold cache");
    }
    for (mode, holds) in [("checkpoint-sync", "written"), ("checkpoint-async", "copied")] {
        for rep in of(&reps, mode) {
            let made = checkpoints(&rep);
            let steps: Vec<_> = made.iter().map(|one| one["step"].as_u64().unwrap()).collect();
            assert_eq!(steps, [4, 8], "{mode}: none after the last step");
            let stalls: u64 = made.iter().map(|one| one["stall_ns"].as_u64().unwrap()).sum();
            for one in rep["trained"]["accelerators"].as_array().unwrap() {
                let count = |name: &str| one[name].as_u64().unwrap();
                assert_eq!(count("checkpoint_ns"), stalls, "each stands still while it is {holds}");
                let idle = count("wait_ns") + count("barrier_ns") + count("checkpoint_ns");
                assert_eq!(count("compute_ns") + idle, count("wall_ns"));
            }
        }
    }
    let run = bench.run_json();
    let cell = |what: &str| {
        let cells = run["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["cell"].as_str().unwrap().contains(what)).unwrap()["checkpoint"].clone()
    };
    let plan = cell("checkpoint-async");
    assert_eq!((&plan["bytes"], &plan["files"]), (&CHECKPOINT_BYTES.into(), &4.into()));
    assert_eq!((&plan["label"], &plan["mode"]), (&"12 MB, 1/4 of it".into(), &"async".into()));
    assert_eq!((&plan["every_steps"], &plan["keep"], &plan["durable"]), (&4.into(), &1.into(), &true.into()));
    // 3 MB over two links of 25 GB/s.
    assert_eq!(plan["copy_ns"], 60_000);
    assert_eq!(folders(&bench).len(), 2, "the samples, and what is restored");
    bench.run(&["clean", "job.toml"]).exits(0).says("removed 2 datasets");
    assert!(folders(&bench).is_empty());
}

#[test]
fn a_run_that_is_interrupted_takes_its_checkpoints_along_and_clean_those_of_one_that_is_killed() {
    let endless = JOB.replace("steps = 12", "steps = 2000");
    for (number, left) in [(libc::SIGINT, 2), (libc::SIGKILL, 3)] {
        let bench = Bench::new();
        bench.write("job.toml", &endless);
        let ended = bench.run_beside(&["run", "job.toml", "--no-progress"], |child| {
            // The folder of the checkpoints, and a file in it.
            until(child, || folders(&bench).len() == 3 && bench.data_files().len() > 64 + 4);
            signal(child, number);
        });
        assert_eq!(ended.code, (number == libc::SIGINT).then_some(130));
        assert_eq!(folders(&bench).len(), left);
        bench.run(&["clean", "job.toml"]).exits(0);
        assert!(folders(&bench).is_empty());
    }
}

#[test]
fn checkpoints_are_written_to_a_filer_and_to_a_bucket_too() {
    let bench = Bench::new();
    let targets = r#"targets.filer = { at = "nfs://demo/export/run", emulate = { first_byte = "1ms" } }
targets.bucket = { at = "s3://demo/run", emulate = { first_byte = "1ms" } }
checkpoint = { size = "3 MB", files = 2, keep = 1 }"#;
    bench.write("s.toml", &network("", targets));
    bench.run(&["run", "s.toml", "--no-progress"]).exits(0);
    let reps = bench.reps();
    for target in ["filer", "bucket"] {
        for rep in reps.iter().filter(|rep| rep["cell"].as_str().unwrap().starts_with(target)) {
            let cell = rep["cell"].as_str().unwrap();
            if cell.contains("/checkpoint/") {
                let made = checkpoints(rep);
                assert!(!made.is_empty() && made.iter().all(|one| one["outcome"] == "complete"), "{rep}");
            } else if cell.contains("/restore/") {
                assert_eq!(rep["counters"]["bytes"], 3_000_000, "{cell}");
            }
        }
        assert!(reps.iter().any(|rep| rep["cell"].as_str().unwrap().starts_with(target)));
    }
}

#[test]
fn checkpoints_larger_than_the_room_are_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.write("job.toml", &JOB.replace("12 MB", "4000000 TB"));
    bench.run(&["run", "job.toml", "--no-progress"]).exits(2).says("checkpoints").says("free on this path");
    assert!(folders(&bench).is_empty());
}

/// A need of checkpoints alone: 3 MB within an hour, of one host.
const NEEDED: &str = r#"version = 1
need.checkpoint = { bytes = "3 MB", within = "1h", every = "2h" }
targets.disk = { at = "data", engine = "pread" }
measure = { duration = "200ms", repetitions = 3 }
gate.feeds = ["disk"]
"#;

/// What is said of each need of the only target.
fn needs(bench: &Bench, args: &[&str]) -> Vec<(String, String)> {
    let shown = finish(bench.bare(args));
    let answer: Value = serde_json::from_str(&shown.out).unwrap();
    let needs = answer["verdicts"][0]["needs"].as_array().unwrap();
    let word = |need: &Value, key: &str| need[key].as_str().unwrap().to_owned();
    needs.iter().map(|need| (word(need, "need"), word(need, "verdict"))).collect()
}

#[test]
fn a_need_of_checkpoints_alone_is_judged_by_the_time_that_saves_take() {
    let bench = Bench::new();
    bench.write("job.toml", NEEDED);
    bench.run(&["check", "job.toml"]).exits(0).says("line checkpoints 3 MB within 60 min: write 833 B/s");
    bench.run(&["plan", "job.toml"]).exits(0).says("disk/pread/checkpoint/1x3000000B/qd1");
    bench.run(&["need", "job.toml"]).exits(0).says("bytes / time = 3 MB / 60 min = 833 B/s");
    let need = "{ checkpoint = { bytes = \"3 MB\", within = \"1h\" } }";
    bench.run(&["need", need]).exits(0).says("bytes / time = 3 MB / 60 min = 833 B/s");
    bench.run(&["plan", "data", "--need", need]).exits(0).says("data/pread/checkpoint/1x3000000B/qd1");
    bench
        .run(&["run", "job.toml", "--no-progress"])
        .exits(0)
        .says("FEEDS disk")
        .says("of the 60 min that it may take");
    // An hour is enough on any machine, and a microsecond on none.
    let args = ["run", "job.toml", "--no-progress", "--json", "--set", "need.checkpoint.within=1us"];
    let said = needs(&bench, &args);
    assert_eq!((said.len(), said[0].0.as_str()), (1, "write"));
    assert_ne!(said[0].1, "FEEDS");
    bench.run(&["clean", "job.toml"]).exits(0);
    assert!(folders(&bench).is_empty());
}

#[test]
fn a_smaller_checkpoint_than_is_asked_for_misses_no_gate_and_meets_none() {
    let bench = Bench::new();
    bench.write("job.toml", NEEDED);
    let small = ["--set", "checkpoint.size=1 MB"];
    let args = [&["run", "job.toml", "--no-progress"][..], &small].concat();
    bench.run(&args).exits(0).says("UNCERTAIN disk").says("1 MB were measured, and one host has 3 MB");
    let strict = [&args[..], &["--strict"]].concat();
    bench.run(&strict).exits(5);
}

#[test]
fn a_job_and_its_asynchronous_checkpoints_have_a_word_each() {
    let bench = Bench::new();
    let need = "count = 2, checkpoint = { bytes = \"3 MB\", within = \"1h\", kind = \"async\" } }";
    let job = JOB.replace("count = 2 }", need).replace("size = \"12 MB\", scale = \"1/4\", ", "");
    bench.write("job.toml", &job);
    let said = needs(&bench, &["run", "job.toml", "--no-progress", "--json"]);
    let names: Vec<&str> = said.iter().map(|(need, _)| need.as_str()).collect();
    assert_eq!(names, ["reads", "write"]);
}
