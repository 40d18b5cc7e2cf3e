//! Runs that were interrupted, and are gone on with.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::faults::signal;
use crate::harness::{Bench, DISK, REP, by_count, measured, until, wait};

/// Two cells, each measured in so many rounds that most are still to come when the first repetitions are recorded.
const ROUNDS: u64 = 12;

fn bench() -> Bench {
    let bench = Bench::small(DISK);
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &by_count(&scenario, &format!(r#"bytes = "1 MiB", repetitions = {ROUNDS}"#)));
    bench
}

/// Starts a run and ends it by a signal once so many repetitions are recorded; the folder of its record.
fn stopped(bench: &Bench, command: &[&str], number: libc::c_int, after: usize) -> String {
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

/// That each repetition of the two cells was made once, and the confirmations in whole rounds.
fn is_whole(bench: &Bench) {
    let made = made(bench);
    assert!(made.values().all(|times| *times == 1), "{made:?}");
    let measured = made.keys().filter(|(_, role, _)| role == "measure").count() as u64;
    assert_eq!(measured, 2 * ROUNDS);
    let orders: Vec<u64> = bench.reps().iter().map(|rep| rep["order"].as_u64().unwrap()).collect();
    assert!(orders.windows(2).all(|pair| pair[0] < pair[1]), "{orders:?}");
}

#[test]
fn only_what_is_missing_is_made() {
    for number in [libc::SIGINT, libc::SIGKILL] {
        let bench = bench();
        let folder = stopped(&bench, &["run", "s.toml"], number, 3);
        let before = bench.lines_so_far();
        let ended = bench.run(&["run", "--resume", &folder]).exits(0);
        assert!(bench.lines_so_far().starts_with(&before), "what was recorded stands");
        is_whole(&bench);
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
    is_whole(&bench);
    let segments = fs::read_to_string(bench.path(&folder).join("segments.jsonl")).unwrap();
    assert_eq!(segments.lines().count(), 4);
    let packed = bench.run(&["export", "--bundle", &folder]).exits(0);
    assert!(packed.prints("segments.jsonl"), "{}", packed.out);
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

#[test]
fn a_dataset_is_measured_by_one_run_at_a_time() {
    let bench = bench();
    let long = ["run", "s.toml", "--set", "measure.bytes=\"256 MiB\""];
    let mut child = bench.spawn(&long);
    until(&mut child, || bench.lines_so_far().contains(REP));
    let folder = bench.run_folder();
    let others = [
        ["run", "s.toml"].as_slice(),
        &["run", "--resume", folder.to_str().unwrap()],
        &["clean", "s.toml", "--yes"],
    ];
    let holder = format!("is being measured by another run (process {})", child.id());
    for other in others {
        bench.run(other).exits(1).says(&holder);
    }
    assert!(!bench.data_files().is_empty());
    signal(&child, libc::SIGINT);
    wait(child).exits(130);
    bench.run(&["clean", "s.toml", "--yes"]).exits(0).says("removed 1 dataset");
}

#[test]
fn a_search_is_made_anew() {
    let (bench, folder) = measured();
    let path = Path::new(&folder).join("run.json");
    let mut run = bench.run_json();
    run["size"] = "accelerators".into();
    fs::write(path, run.to_string()).unwrap();
    bench.run(&["run", "--resume", &folder]).exits(2).says("one of a search");
    bench.run(&["run", "--resume", "results/none"]).exits(2).says("there is no run");
}
