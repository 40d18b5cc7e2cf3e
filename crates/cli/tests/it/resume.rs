//! Runs that were interrupted, and are gone on with.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::faults::signal;
use crate::harness::{Bench, DISK, REP, by_count, edit_reps, finish, measured, until, wait};

/// Two cells, each measured in so many rounds that most are still to come when the first repetitions are recorded.
const ROUNDS: u64 = 12;

fn bench() -> Bench {
    bench_of("1 MiB", ROUNDS)
}

fn bench_of(bytes: &str, rounds: u64) -> Bench {
    let bench = Bench::small(DISK);
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &by_count(&scenario, &format!(r#"bytes = "{bytes}", repetitions = {rounds}"#)));
    bench
}

/// Starts a run and ends it by a signal once so many repetitions are recorded; the folder of its record.
pub(crate) fn stopped(bench: &Bench, command: &[&str], number: libc::c_int, after: usize) -> String {
    let mut child = bench.spawn(command);
    until(&mut child, || bench.reps_so_far() >= after);
    signal(&child, number);
    let ended = wait(child);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    bench.run_folder().to_str().unwrap().to_owned()
}

/// How often each repetition of the record was made: of each cell and role, by its number. One that a signal ended is none.
fn made(bench: &Bench) -> BTreeMap<(String, String, u64), u32> {
    let mut made = BTreeMap::new();
    let is_whole = |rep: &Value| rep["outcome"] != "interrupted";
    for rep in bench.reps().into_iter().filter(is_whole) {
        let word = |name: &str| rep[name].as_str().unwrap().to_owned();
        *made.entry((word("cell"), word("role"), rep["rep"].as_u64().unwrap())).or_default() += 1;
    }
    made
}

/// That each repetition of the two cells, in so many rounds, was made once.
fn is_whole(bench: &Bench, rounds: u64) {
    let made = made(bench);
    assert!(made.values().all(|times| *times == 1), "{made:?}");
    let measured = made.keys().filter(|(_, role, _)| role == "measure").count() as u64;
    assert_eq!(measured, 2 * rounds);
    let orders: Vec<u64> = bench.reps().iter().map(|rep| rep["order"].as_u64().unwrap()).collect();
    assert!(orders.windows(2).all(|pair| pair[0] < pair[1]), "{orders:?}");
}

#[test]
fn only_what_is_missing_is_made() {
    for number in [libc::SIGINT, libc::SIGKILL] {
        let bench = bench();
        let folder = stopped(&bench, &["run", "s.toml"], number, 3);
        let before = bench.lines_so_far();
        // A line that was being written as the process was killed is none.
        let whole = before.rfind('\n').map_or("", |end| &before[..=end]);
        let ended = bench.run(&["run", "--resume", &folder]).exits(0);
        assert!(bench.lines_so_far().starts_with(whole), "what was recorded stands");
        is_whole(&bench, ROUNDS);
        assert!(ended.prints("gone on with at"), "{}", ended.out);
        let again = bench.run(&["run", "--resume", &folder]).exits(2);
        again.says("nothing is missing").says("feedline report");
    }
}

#[test]
fn a_run_may_be_interrupted_often_and_its_record_torn() {
    let bench = bench();
    let mut folder = stopped(&bench, &["s.toml"], libc::SIGKILL, 1);
    for after in [4, 9, 15] {
        // Its last write was cut.
        for name in ["cells.jsonl", "intervals.jsonl.gz", "segments.jsonl"] {
            let path = Path::new(&bench.path(&folder)).join(name);
            if path.exists() {
                OpenOptions::new().append(true).open(path).unwrap().write_all(b"\x1f\x8b{\"line").unwrap();
            }
        }
        folder = stopped(&bench, &["run", "--resume", &folder], libc::SIGKILL, after);
    }
    bench.run(&["run", "--resume", &folder]).exits(0);
    is_whole(&bench, ROUNDS);
    let segments = fs::read_to_string(bench.path(&folder).join("segments.jsonl")).unwrap();
    assert_eq!(segments.lines().count(), 4);
    let packed = bench.run(&["export", "--bundle", &folder]).exits(0);
    assert!(packed.prints("segments.jsonl"), "{}", packed.out);
}

#[test]
#[ignore = "takes minutes; for a nightly run"]
fn a_run_that_is_killed_two_hundred_times_is_whole() {
    // So much that no run is over before it is killed.
    let rounds = 100;
    let bench = bench_of("64 MiB", rounds);
    let folder = stopped(&bench, &["run", "s.toml"], libc::SIGKILL, 1);
    let mut drawn = 1_u64;
    for _ in 1..200 {
        let child = bench.spawn(&["run", "--resume", &folder]);
        // Knuth's MMIX generator: any moment will do, and all of them do not.
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::park_timeout(std::time::Duration::from_micros(drawn >> 47));
        signal(&child, libc::SIGKILL);
        assert_ne!(wait(child).code, Some(0), "it was over before it was killed");
    }
    bench.run(&["run", "--resume", &folder]).exits(0);
    is_whole(&bench, rounds);
}

/// A preloaded library that refuses one call for memory, the `REFUSED`th of the process, and writes to `CALLS` how many there were.
const REFUSES: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
static atomic_long calls, refused;

__attribute__((constructor)) static void begin(void) {
    if (getenv("REFUSED")) refused = atol(getenv("REFUSED"));
}
__attribute__((destructor)) static void end(void) {
    if (getenv("CALLS")) dprintf(open(getenv("CALLS"), O_WRONLY | O_CREAT | O_TRUNC, 0600), "%ld", calls);
}
static int is_refused(void) { return ++calls == refused; }
void *malloc(size_t size) { return is_refused() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_refused() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return is_refused() ? NULL : __libc_realloc(old, size); }
int posix_memalign(void **out, size_t align, size_t size) {
    return is_refused() || !(*out = __libc_memalign(align, size)) ? ENOMEM : 0;
}
"#;

/// At so many calls of a run, from its first to its last.
const REFUSALS: u64 = 100;

#[test]
#[ignore = "takes minutes, and needs a C compiler; for a nightly run"]
fn memory_that_is_refused_costs_no_more_than_a_kill() {
    let rounds = 2;
    let bench = bench_of("64 KiB", rounds);
    bench.write("refuses.c", REFUSES);
    let (source, library) = (bench.path("refuses.c"), bench.path("refuses.so"));
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(compiled.success());
    let with_library = |bench: &Bench, name: &str, value: &OsStr| {
        let mut command = bench.command(&["run", "s.toml"]);
        command.env("LD_PRELOAD", &library).env(name, value);
        finish(command)
    };
    let counted = bench.path("calls");
    with_library(&bench, "CALLS", counted.as_os_str()).exits(0);
    let calls: u64 = fs::read_to_string(counted).unwrap().parse().unwrap();

    let (mut died, mut recorded) = (0, 0);
    for at in (0..REFUSALS).map(|part| 1 + part * calls / REFUSALS) {
        let bench = bench_of("64 KiB", rounds);
        let ended = with_library(&bench, "REFUSED", at.to_string().as_ref());
        died += u32::from(ended.code.is_none());
        if bench.lines_so_far().is_empty() {
            fs::remove_dir_all(bench.path("results")).ok();
            bench.run(&["run", "s.toml"]).exits(0);
        } else {
            recorded += 1;
            let before = bench.lines_so_far();
            let folder = bench.run_folder().to_str().unwrap().to_owned();
            let again = bench.run(&["run", "--resume", &folder]);
            // It may have been refused behind the last repetition.
            assert!(again.code == Some(0) || again.err.contains("nothing is missing"), "at {at}: {again:?}");
            assert!(
                bench.lines_so_far().starts_with(before.trim_end_matches(|byte| byte != '\n')),
                "at {at}"
            );
        }
        is_whole(&bench, rounds);
        bench.run(&["clean", "s.toml", "--yes"]).exits(0);
        assert!(bench.data_files().is_empty(), "at {at}");
    }
    assert!(died > 0 && recorded > 0, "{died} of {REFUSALS} runs died, {recorded} left a record");
}

#[test]
fn another_run_is_not_gone_on_with() {
    for what in ["the scenario", "the data"] {
        let bench = bench();
        let folder = stopped(&bench, &["run", "s.toml"], libc::SIGINT, 2);
        if what == "the scenario" {
            let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
            bench.write("s.toml", &scenario.replace("[1, 4]", "[1, 8]"));
        } else {
            bench.run(&["clean", "s.toml", "--yes"]).exits(0);
        }
        let before = bench.lines_so_far();
        bench.run(&["run", "--resume", &folder]).exits(2).says(&format!("{what} changed since it began"));
        assert_eq!(bench.lines_so_far(), before);
    }
}

/// A bench whose data were there before.
fn existing() -> Bench {
    let bench = bench();
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    let lines: Vec<&str> = scenario.lines().filter(|line| !line.starts_with("dataset")).collect();
    bench.write("s.toml", &(lines.join("\n") + "\n"));
    fs::create_dir_all(bench.path("data")).unwrap();
    for name in ["data/a", "data/b", "data/c"] {
        fs::write(bench.path(name), vec![1; 1 << 20]).unwrap();
    }
    bench
}

#[test]
fn a_run_goes_on_by_the_flags_that_it_was_begun_with() {
    for flag in ["--existing", "--no-redact"] {
        let bench = if flag == "--existing" { existing() } else { bench() };
        // The record has a label for this name, or not: with the other flag its scenario would be another.
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
        bench.write("s.toml", &format!("{scenario}# on {}\n", host.trim()));
        let folder = stopped(&bench, &["run", "s.toml", flag], libc::SIGINT, 3);
        let run = bench.run_json();
        let of_flag = [run["datasets"][0]["source"] == "existing", run["redacted"] == false];
        assert_eq!(of_flag, [flag == "--existing", flag == "--no-redact"]);
        bench.run(&["run", "--resume", &folder]).exits(0);
        is_whole(&bench, ROUNDS);
    }
}

#[test]
fn data_of_the_users_that_changed_are_not_gone_on_with() {
    let bench = existing();
    let folder = stopped(&bench, &["run", "s.toml", "--existing"], libc::SIGINT, 3);
    fs::write(bench.path("data/d"), vec![2; 1 << 20]).unwrap();
    bench.run(&["run", "--resume", &folder]).exits(2).says("the data changed since it began");
}

/// What a record says of where it was made, edited: it is then another place, as far as the record tells.
#[test]
fn a_run_of_another_place_is_not_gone_on_with() {
    let bench = bench();
    let folder = stopped(&bench, &["run", "s.toml"], libc::SIGINT, 2);
    let before = bench.lines_so_far();
    let edits: [(&str, &str, Value, &str); 8] = [
        ("run.json", "/plan_hash", json!("0000"), "the plan"),
        ("run.json", "/need/utilization", json!(0.5), "the need"),
        ("run.json", "/targets/0/title", json!("another"), "the storage"),
        ("run.json", "/tool/version", json!("9.9.9"), "feedline itself"),
        ("env.json", "/machine/value", json!("another"), "the machine"),
        ("env.json", "/memory_bytes/value", json!(1), "the machine"),
        (
            "env.json",
            "/cgroup_cpu_cores",
            json!({ "value": { "at": 0.5 } }),
            "what this process may use of it",
        ),
        ("env.json", "/kernel/value", json!("2.6.32"), "the kernel"),
    ];
    for (file, at, value, what) in edits {
        let path = bench.path(&folder).join(file);
        let text = fs::read_to_string(&path).unwrap();
        let mut edited: Value = serde_json::from_str(&text).unwrap();
        *edited.pointer_mut(at).unwrap() = value;
        fs::write(&path, edited.to_string()).unwrap();
        let said = format!("cannot be gone on with: {what} changed since it began");
        bench.run(&["run", "--resume", &folder]).exits(2).says(&said);
        fs::write(&path, text).unwrap();
    }
    assert_eq!(bench.lines_so_far(), before);
    bench.run(&["run", "--resume", &folder]).exits(0);
}

#[test]
fn a_run_that_is_gone_on_with_elsewhere_judges_nothing() {
    let bench = bench();
    let folder = stopped(&bench, &["run", "s.toml"], libc::SIGINT, 3);
    let path = bench.path(&folder).join("env.json");
    let mut env: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    env["kernel"]["value"] = json!("2.6.32");
    fs::write(&path, env.to_string()).unwrap();
    bench.run(&["run", "--anyway"]).exits(2).says("--resume");
    bench.run(&["run", "--resume", &folder]).exits(2).says("the kernel changed").says("--anyway");
    assert!(!bench.path(&folder).join(record::SEGMENTS_FILE).exists(), "a run that was not gone on with");
    let ended = bench.run(&["run", "--resume", &folder, "--anyway"]).exits(0);
    is_whole(&bench, ROUNDS);
    assert!(ended.prints("the kernel changed as the run was gone on with"), "{}", ended.out);
    assert!(ended.prints("UNCERTAIN"), "{}", ended.out);
}

#[test]
fn what_a_run_was_stopped_in_is_made_again() {
    let bench = bench();
    let mut child = bench.spawn(&["run", "s.toml", "--set", "measure.bytes=\"64 MiB\""]);
    until(&mut child, || bench.lines_so_far().contains(REP));
    let process = child.id().cast_signed();
    // Until one of them falls into a repetition, and not between two.
    until(&mut child, || {
        for number in [libc::SIGSTOP, libc::SIGCONT] {
            // SAFETY: a plain system call; the child has not been waited for.
            assert_eq!(unsafe { libc::kill(process, number) }, 0);
        }
        bench.lines_so_far().contains(r#""suspended":true"#)
    });
    wait(child).exits(0);
    let reps = bench.reps();
    let (met, made): (Vec<&Value>, Vec<&Value>) = reps.iter().partition(|rep| !rep["outage"].is_null());
    assert!(
        met.iter().all(|rep| rep["outage"]["suspended"] == true && rep["outcome"] != "complete"),
        "{met:?}"
    );
    let measured = made.iter().filter(|rep| rep["role"] == "measure").count() as u64;
    assert_eq!(measured, 2 * ROUNDS);
    let report = fs::read_to_string(bench.run_folder().join("report.md")).unwrap();
    assert!(report.contains("this process was stopped, or its machine suspended"), "{report}");
}

#[test]
fn a_dataset_is_measured_by_one_run_at_a_time() {
    let bench = bench();
    let long = ["run", "s.toml", "--set", "measure.bytes=\"256 MiB\""];
    let mut child = bench.spawn(&long);
    until(&mut child, || bench.lines_so_far().contains(REP));
    let folder = bench.run_folder();
    let holder = format!("by another run (process {})", child.id());
    for other in [["run", "s.toml"].as_slice(), &["run", "--resume", folder.to_str().unwrap()]] {
        bench.run(other).exits(1).says(&format!("is being measured {holder}"));
    }
    bench.run(&["clean", "s.toml", "--yes"]).exits(1).says(&format!("`data` is being used {holder}"));
    assert!(!bench.data_files().is_empty());
    signal(&child, libc::SIGINT);
    wait(child).exits(130);
    bench.run(&["clean", "s.toml", "--yes"]).exits(0).says("removed 1 dataset");
}

/// Two accelerators of four samples a step, from the page cache; each side of the edge is measured twenty times.
const SEARCH: &str = r#"version = 1
need = { batch = 4, step_time = "5ms", sample_size = "64 KiB", count = 2 }
dataset = { size = "4 MiB" }
targets.disk = { at = "data", engine = "pread" }
load = { mode = "training", cache = "warm" }
training = { readers = 2, steps = 12 }
measure = { repetitions = 20 }
"#;

#[test]
fn a_search_goes_on_where_it_was() {
    let bench = Bench::new();
    bench.write("s.toml", SEARCH);
    let mut folder = stopped(&bench, &["size", "s.toml", "--most", "8"], libc::SIGKILL, 1);
    for (number, after) in [(libc::SIGINT, 4), (libc::SIGKILL, 9)] {
        folder = stopped(&bench, &["run", "--resume", &folder], number, after);
    }
    let before = bench.lines_so_far();
    let ended = bench.run(&["run", "--resume", &folder]).exits(0).says("gone on with at");
    assert!(
        ended.out.lines().last().is_some_and(|line| line.starts_with("SIZE disk pread: ")),
        "{}",
        ended.out
    );
    assert!(bench.lines_so_far().starts_with(&before), "what was recorded stands");
    let made = made(&bench);
    assert!(made.values().all(|times| *times == 1), "{made:?}");
    let fresh: Vec<_> = made.keys().filter(|(_, role, _)| role == "confirm").collect();
    assert!(!fresh.is_empty() && fresh.len().is_multiple_of(20), "{fresh:?}");
    bench.run(&["run", "--resume", &folder, "--rounds", "+1"]).exits(2).says("is a search");
}

#[test]
fn ranks_and_variants_are_made_anew() {
    let of = |key: &str, value: Value| {
        let (bench, folder) = measured();
        let mut run = bench.run_json();
        run[key] = value;
        fs::write(Path::new(&folder).join("run.json"), run.to_string()).unwrap();
        bench.run(&["run", "--resume", &folder]).exits(2)
    };
    of("ranks", 2.into()).says("follow one timetable").says("with a later --start-at");
    let variant = serde_json::json!({ "name": "a", "group": "g", "number": 0, "settings": [] });
    of("variant", variant).says("compares variants").says("run the command again");
    // The folder of a group, as `run --variant` names it.
    let (bench, folder) = measured();
    fs::create_dir(bench.path("results/group")).unwrap();
    fs::rename(&folder, bench.path("results/group/a")).unwrap();
    bench.run(&["run", "--resume", "results/group"]).exits(2).says("compares variants");
    bench.run(&["run", "--resume", "results/none"]).exits(2).says("there is no run");
}

/// A run whose repetitions were made to straddle the line after three rounds of the 28 that it planned: its folder.
fn left_open(bench: &Bench) -> String {
    bench.run(&["run", "s.toml"]).exits(0);
    let folder = bench.run_folder();
    edit_reps(&folder, |_, rep| {
        // 256 MiB in 215 s are 1.25 MB/s, in 322 s 0.83 MB/s: the line lies at 1 MB/s.
        let is_even = rep["rep"].as_u64().unwrap().is_multiple_of(2);
        rep["window_ns"] = (if is_even { 215_000_000_000_u64 } else { 322_000_000_000 }).into();
        rep["window_start_ns"] = rep["order"].clone();
        // Nor does it matter what else this machine did, nor when within a window.
        for name in ["waited_ns", "steal_ns", "psi_cpu_some_ns", "psi_io_some_ns", "psi_memory_some_ns"] {
            rep["usage"][name] = 0.into();
        }
        rep["usage"]["wall_ns"] = rep["window_ns"].clone();
        (rep["system"]["device"], rep["system"]["core_busy_ns"]) = (Value::Null, Value::Array(Vec::new()));
        for name in ["second_ops", "second_bytes", "epochs"] {
            rep[name] = Value::Array(Vec::new());
        }
    });
    let path = folder.join("cells.jsonl");
    let cells = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> = cells.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.last_mut().unwrap()["elapsed_ns"] = 400_000_000_000_u64.into();
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    folder.to_str().unwrap().to_owned()
}

/// A bench whose runs make three repetitions of each of two cells, long enough for a verdict.
fn judged() -> Bench {
    let bench = Bench::small(DISK);
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &by_count(&scenario, r#"bytes = "256 MiB", repetitions = 3"#));
    bench
}

/// Rounds of fresh repetitions of each cell, each made once.
fn fresh_rounds(bench: &Bench) -> Vec<u64> {
    let made = made(bench);
    assert!(made.values().all(|times| *times == 1), "{made:?}");
    let fresh: Vec<_> = made.into_keys().filter(|(_, role, _)| role == "confirm").collect();
    let of_cell = |cell: &str| fresh.iter().filter(|one| one.0 == cell).map(|one| one.2).collect::<Vec<_>>();
    let rounds: Vec<Vec<u64>> = fresh.iter().map(|(cell, ..)| of_cell(cell)).collect();
    assert!(rounds.windows(2).all(|pair| pair[0] == pair[1]), "{rounds:?}");
    rounds.into_iter().next().unwrap_or_default()
}

#[test]
fn rounds_are_added_to_a_run_that_came_to_its_end() {
    let bench = judged();
    let folder = left_open(&bench);
    let before = bench.lines_so_far();
    bench
        .run(&["run", "--resume", &folder, "--rounds", "+26"])
        .exits(2)
        .says("planned 28 rounds of `disk`, and 25 are left");
    bench
        .run(&["run", "--resume", &folder, "--rounds", "+2", "--only", "s3"])
        .exits(2)
        .says("has no target `s3`");
    bench.run(&["run", "--resume", &folder, "--only", "disk"]).exits(2).says("how many rounds");
    assert_eq!(bench.lines_so_far(), before);

    let ended = bench.run(&["run", "--resume", &folder, "--rounds", "+2", "--only", "disk"]).exits(0);
    ended.says("rounds were added at");
    assert!(bench.lines_so_far().starts_with(&before), "what was recorded stands");
    assert_eq!(fresh_rounds(&bench), [0, 1, 2, 3, 4]);
    let measured = made(&bench).into_keys().filter(|(_, role, _)| role == "measure").count();
    assert_eq!(measured, 6);
}

#[test]
fn what_is_missing_of_added_rounds_is_made() {
    let bench = judged();
    let folder = left_open(&bench);
    let before = bench.reps_so_far();
    let mut child = bench.spawn(&["run", "--resume", &folder, "--rounds", "+8"]);
    until(&mut child, || bench.reps_so_far() > before);
    signal(&child, libc::SIGKILL);
    assert_eq!(wait(child).code, None);
    bench
        .run(&["run", "--resume", &folder, "--rounds", "+8"])
        .exits(2)
        .says("make first what is missing of it");
    bench.run(&["run", "--resume", &folder]).exits(0);
    // As far as it took to decide.
    let rounds = fresh_rounds(&bench);
    assert!([5, 7, 10, 11].contains(&rounds.len()), "{rounds:?}");
    assert!(rounds.iter().copied().eq(0..rounds.len() as u64), "{rounds:?}");
}

#[test]
fn a_verdict_that_rounds_do_not_decide_gets_none() {
    let (bench, folder) = measured();
    let refused = bench.run(&["run", "--resume", &folder, "--rounds", "+1"]).exits(2);
    refused.says("has no verdict that further rounds may decide");
}
