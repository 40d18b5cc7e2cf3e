//! What local storage does to a run: files that shrink or go, odd folders, devices that fail, and rights that a
//! container lacks.

use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;
use std::process::Child;

use serde_json::Value;

use crate::harness::{
    Bench, Ended, JUDGED, comes_while, finish, finish_as_nobody, forbid, in_child, is_root, skip, until,
};
use crate::local::{self, GENERATED, ONCE, count, count_in};
use crate::loop_device::{self, Loop};

const EXISTING: &str = r#"source = "existing""#;

/// `cachestat(2)`, of one number on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

/// A bench with 16 files of 64 KiB that are not feedline's, in `data`.
fn bench_of_files(load: &str, engine: &str) -> Bench {
    let bench = local::bench(EXISTING, load, &format!(r#"engine = "{engine}""#));
    fs::create_dir(bench.path("data")).unwrap();
    for number in 0..16 {
        fs::write(bench.path(&format!("data/{number:02}")), vec![number; 64 << 10]).unwrap();
    }
    bench
}

fn is_complete(rep: &Value) -> bool {
    rep["outcome"] == "complete"
}

pub(crate) fn last_line(bench: &Bench) -> Value {
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    serde_json::from_str(cells.lines().last().unwrap()).unwrap()
}

#[track_caller]
fn without_verdict(ended: Ended) -> Ended {
    assert!(!ended.out.contains("FEEDS ") && !ended.out.contains("STARVES "), "{}", ended.out);
    ended
}

/// Whether the second repetition comes to be under way: its threads are there, and the page cache was set before.
fn comes_to_measure(child: &mut Child, bench: &Bench) -> bool {
    let tasks = format!("/proc/{}/task", child.id());
    let names = || fs::read_dir(&tasks).into_iter().flatten().flatten().map(|task| task.path().join("comm"));
    let measures = || names().any(|name| fs::read_to_string(name).is_ok_and(|name| name == "worker-0\n"));
    comes_while(child, || bench.reps_so_far() >= 1) && comes_while(child, measures)
}

/// Runs of which one has files changed while a repetition reads them, on a machine however busy.
const TRIES: u32 = 20;

/// Changes files while a repetition reads them that is not the last: a bench of which reads failed as `kind`, and how its run ended.
#[track_caller]
fn changed_while_read(load: &str, engine: &str, kind: &str, change: impl Fn(&Bench)) -> (Bench, Ended) {
    for _ in 0..TRIES {
        let bench = bench_of_files(load, engine);
        let ended = bench.run_beside(&LONG, |child| {
            if comes_to_measure(child, &bench) {
                change(&bench);
            }
        });
        // With a repetition after it, which finds everything changed.
        let reps = bench.reps();
        if reps.iter().rev().skip(1).any(|rep| rep["errors"][kind].as_u64() > Some(0)) {
            assert_eq!(last_line(&bench)["changed"], serde_json::json!([0]));
            return (bench, without_verdict(ended).says("the files changed during the run"));
        }
    }
    panic!("no read failed as `{kind}`: {engine}, {load}");
}

#[test]
fn files_that_shrink_under_a_map_are_counted_and_no_crash() {
    for cache in ["warm", "cold"] {
        let load = format!(r#"queue_depth = 2, cache = "{cache}""#);
        let (_, ended) = changed_while_read(&load, "mmap", "eof", |bench| {
            for number in 0..16 {
                let file = bench.path(&format!("data/{number:02}"));
                fs::OpenOptions::new().write(true).open(file).unwrap().set_len(100).unwrap();
            }
        });
        ended.exits(1).says("eof");
    }
}

const WHOLE_FILES: &str = r#"operation = "read_file", queue_depth = 1, cache = "warm""#;
/// No warm-up, whose failures are not counted.
const LONG: [&str; 8] = [
    "run",
    "s.toml",
    "--set",
    "measure.duration=\"200ms\"",
    "--set",
    "measure.warmup=\"0s\"",
    "--set",
    "measure.repetitions=2",
];

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_counted_and_one_that_is_added_is_not() {
    for engine in ["pread", "io_uring"] {
        let (bench, ended) = changed_while_read(WHOLE_FILES, engine, "changed", |bench| {
            fs::write(bench.path("data/added"), "no part of this run").unwrap();
            fs::write(bench.path("larger"), vec![1; 70_000]).unwrap();
            fs::rename(bench.path("larger"), bench.path("data/03")).unwrap();
        });
        ended.exits(0).says(" changed");
        assert!(bench.reps().iter().all(is_complete), "{engine}");
    }
}

#[test]
fn a_file_that_is_removed_while_it_is_read_is_counted_and_named() {
    // What was counted before the file was missed is kept.
    let remove = |bench: &Bench| fs::remove_file(bench.path("data/07")).unwrap();
    let (_, ended) = changed_while_read(WHOLE_FILES, "pread", "not_found", remove);
    ended.exits(1).says("data/07");
}

#[test]
fn names_are_not_doubted_for_the_pages_of_their_files() {
    let bench = bench_of_files(r#"operation = ["stat", "list"], queue_depth = 1"#, "pread");
    count_in(&bench, ONCE);
    for number in 0..16 {
        let file = fs::File::open(bench.path(&format!("data/{number:02}"))).unwrap();
        file.sync_all().unwrap();
        // SAFETY: a plain system call on a descriptor that is open.
        assert_eq!(unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) }, 0);
    }
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(!ran.prints("not warm"), "{}", ran.out);
}

#[test]
fn odd_folders_are_read_for_what_they_hold() {
    let bench =
        bench_of_files(r#"operation = ["read", "read_file"], queue_depth = 2, cache = "warm""#, "pread");
    count_in(&bench, ONCE);
    let data = bench.path("data");
    fs::create_dir(data.join("deeper")).unwrap();
    symlink("..", data.join("deeper/loop")).unwrap();
    symlink("one", data.join("two")).unwrap();
    symlink("two", data.join("one")).unwrap();
    fs::write(data.join("deeper/empty"), "").unwrap();
    fs::File::create(data.join("deeper/hole")).unwrap().set_len(1 << 20).unwrap();
    let ended = bench.run(&["run", "s.toml"]).exits(0).says("1 file of disk holds nothing and was left out");
    // A hole of 1 MiB beside 1 MiB of content; links are not followed.
    ended.says("17 files of ").says("50 % of the bytes of disk have no storage allocated").says("holes");
    assert!(bench.reps().iter().all(|rep| rep["errors"] == serde_json::json!({})));

    let name = std::ffi::OsStr::from_bytes(b"deeper/caf\xe9");
    fs::write(data.join(name), "x").unwrap();
    let refused = bench.run(&["run", "s.toml"]).exits(1).says("data/deeper/caf\u{fffd}").says("not UTF-8");
    refused.says("hint: rename it");
}

#[test]
fn folders_of_nothing_but_links_and_empty_files_are_refused() {
    let bench = local::bench(EXISTING, "queue_depth = 2", r#"engine = "pread""#);
    fs::create_dir(bench.path("data")).unwrap();
    symlink("itself", bench.path("data/itself")).unwrap();
    fs::write(bench.path("data/empty"), "").unwrap();
    bench.run(&["run", "s.toml"]).exits(1).says("found no file to read (1 empty)").says("hint: ");
}

fn device_scenario(bench: &Bench, node: &str, load: &str, measure: &str) {
    let text = format!(
        r#"version = 1
need = {{ rate = "1 MB/s" }}
dataset = {{ source = "existing", sample_size = "128 KiB" }}
load = {{ {load} }}
measure = {{ {measure} }}
targets.dev = {{ at = "{node}", engine = ["pread", "io_uring", "mmap"] }}
"#
    );
    bench.write("s.toml", &text);
}

#[test]
fn a_block_device_is_read_and_never_written() {
    let bench = Bench::new();
    let Some(device) = Loop::over_disk(&bench) else { return };
    let (before, written_before) = (fs::read(bench.path("disk")).unwrap(), device.sectors_written());
    device_scenario(
        &bench,
        &device.node,
        r#"queue_depth = 2, block_size = "16 KiB", cache = "warm""#,
        JUDGED,
    );
    bench.run(&["run", "s.toml"]).exits(0).feeds();
    assert!(bench.reps().iter().all(|rep| rep["errors"] == serde_json::json!({})));
    bench.run(&["prepare", "s.toml"]).exits(0).says("found as it was");
    for verb in ["prepare", "run", "plan"] {
        let generate = [verb, "s.toml", "--set", "dataset.source=\"generate\""];
        bench.run(&generate).exits(2).says("a block device is only ever read");
    }
    for (set, words) in [
        ("dataset.sample_size=\"1 GiB\"", "a sample of 1 GiB is larger than the device of 8 MiB"),
        ("load.operation=\"read_file\"", "`read_file` needs files, and a block device has none"),
    ] {
        bench.run(&["run", "s.toml", "--set", set]).exits(2).says(words).says("help: ");
    }
    let text = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &text.replace(r#", sample_size = "128 KiB""#, ""));
    bench.run(&["run", "s.toml"]).exits(2).says("`dataset.sample_size` is missing");
    assert_eq!(device.sectors_written(), written_before);
    assert!(fs::read(bench.path("disk")).unwrap() == before, "the content of the device is another");
}

#[test]
fn a_device_that_fails_in_part_is_counted_and_gets_no_verdict() {
    let bench = Bench::new();
    let Some(device) = Loop::over_disk(&bench) else { return };
    // The device keeps its size and has nothing behind its second half.
    let half = loop_device::BYTES / 2;
    fs::OpenOptions::new().write(true).open(bench.path("disk")).unwrap().set_len(half).unwrap();
    device_scenario(&bench, &device.node, r#"queue_depth = 2, block_size = "16 KiB", cache = "cold""#, ONCE);
    let ended = bench.run(&["run", "s.toml"]).exits(0);
    without_verdict(ended).says(" io");
    for engine in ["pread", "io_uring", "mmap"] {
        let of_engine = |rep: &&Value| rep["cell"].as_str().unwrap().starts_with(&format!("dev/{engine}/"));
        let reps = bench.reps();
        let reps: Vec<&Value> = reps.iter().filter(of_engine).collect();
        assert!(reps.len() >= 3, "{engine}");
        let kinds = |rep: &Value| rep["errors"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        for rep in &reps {
            assert_eq!(kinds(rep), ["io"], "{rep}");
            assert!(count(rep, "ops") > 0, "the first half can be read: {rep}");
        }
    }
}

fn without_residency() -> io::Result<()> {
    forbid(SYS_CACHESTAT).and_then(|()| forbid(libc::SYS_mincore))
}

#[test]
fn where_residency_may_not_be_asked_cold_is_not_claimed() {
    let bench = local::counted(GENERATED, r#"queue_depth = 2, cache = "cold""#, r#"engine = "pread""#, ONCE);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let set = ["run", "s.toml"];
    let run = |limits: fn() -> io::Result<()>| {
        let mut command = bench.command(&set);
        in_child(&mut command, limits);
        let ended = finish(command).exits(0);
        let reps = bench.reps();
        fs::remove_dir_all(bench.path("results")).unwrap();
        (ended, reps)
    };
    let (ended, reps) = run(without_residency);
    without_verdict(ended).says("UNCERTAIN disk cold not proven");
    assert!(
        reps.iter().all(|rep| rep["cache"]["before_bytes"].is_null() && rep["cache"]["method"] == "none")
    );

    let (ended, reps) = run(|| forbid(SYS_CACHESTAT));
    assert!(!ended.prints("cold not proven"), "{}", ended.out);
    assert!(reps.iter().all(|rep| rep["cache"]["before_bytes"] == 0 && rep["cache"]["method"] == "mincore"));
}

#[test]
fn files_of_another_user_in_a_container_are_not_proven_cold() {
    if !is_root() {
        return skip("only root can make files that are another user's");
    }
    let bench = bench_of_files(r#"queue_depth = 2, cache = "cold""#, "pread");
    count_in(&bench, ONCE);
    let command = bench.command(&["run", "s.toml"]);
    let Some(ended) = finish_as_nobody(command, || forbid(SYS_CACHESTAT)) else { return };
    without_verdict(ended.exits(0)).says("UNCERTAIN disk cold not proven");
    assert!(bench.reps().iter().all(|rep| rep["cache"]["before_bytes"].is_null()));
}

#[test]
fn only_root_drops_names_and_others_are_told() {
    let load = r#"operation = "read_file", queue_depth = 2, cache = "cold""#;
    let args = ["run", "s.toml"];
    let told = "names and inodes, or their blocks on the device, stayed in memory";
    // Pages are gone for both.
    let dropped = |bench: &Bench| -> Vec<bool> {
        let proofs = bench.reps().into_iter().map(|rep| rep["cache"].clone());
        proofs
            .map(|proof| {
                // A page that the kernel works on at that moment stays, on a busy machine.
                let [before, total] = ["before_bytes", "total_bytes"].map(|of| proof[of].as_u64().unwrap());
                assert!(before <= total / 100, "{proof}");
                proof["names_dropped"].as_bool().unwrap()
            })
            .collect()
    };
    let bench = local::counted(GENERATED, load, r#"engine = ["pread", "io_uring"]"#, ONCE);
    let Some(ended) = finish_as_nobody(bench.command(&args), || Ok(())) else { return };
    ended.exits(0).says(told);
    assert!(dropped(&bench).iter().all(|dropped| !dropped));
    if !is_root() {
        return skip("only root can drop names");
    }
    let bench = local::counted(GENERATED, load, r#"engine = "pread""#, ONCE);
    let ended = bench.run(&args).exits(0);
    // Root may still be kept from the device that holds the inodes, as in a container.
    let all_dropped = dropped(&bench).iter().all(|dropped| *dropped);
    assert_eq!(ended.prints("stayed in"), !all_dropped, "{}", ended.out);
}

/// Turns over every bit of a file, in its place and with its times as they were.
fn flip(path: &Path) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let flipped: Vec<u8> = fs::read(path).unwrap().iter().map(|byte| !byte).collect();
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&flipped, 0).unwrap();
    file.set_modified(modified).unwrap();
}

/// Repetitions that are over when bytes change, of sixty.
const BEFORE: usize = 15;

#[test]
fn bytes_that_come_otherwise_a_second_time_forbid_a_verdict() {
    let bench = bench_of_files(r#"queue_depth = 2, cache = "warm""#, "pread");
    let many = ["run", "s.toml", "--set", "measure.repetitions=30"];
    let ended = bench.run_beside(&many, |child| {
        until(child, || bench.reps_so_far() >= BEFORE);
        for number in 0..16 {
            flip(&bench.path(&format!("data/{number:02}")));
        }
    });
    let ended = without_verdict(ended).says("checked reads held wrong bytes");
    assert!(!ended.prints("the files changed"), "sizes and times are as they were: {}", ended.out);
    let end = last_line(&bench);
    // About a hundred reads are kept of all repetitions together: of a quarter of them some are there.
    let all = end["reread"].as_array().unwrap();
    let before: Vec<&Value> =
        all.iter().filter(|again| again["order"].as_u64() < Some(BEFORE as u64)).collect();
    assert!(!before.is_empty() && before.iter().all(|again| again["wrong"] == again["checked"]), "{end}");
}
