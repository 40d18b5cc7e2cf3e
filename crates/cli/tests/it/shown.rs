//! What is said before, while and after a run.

use std::fs;

use serde_json::Value;

use crate::harness::{Bench, DISK, Ended, finish, measured};
use crate::terminal::{Output, run_in};

#[test]
fn json_is_one_object_and_nothing_else_on_standard_output() {
    let bench = Bench::small(DISK);
    // The comparison with a baseline follows the answer elsewhere.
    let gate = "gate = { baseline = \"nightly\", runs = 3, regression = { throughput = \"50 %\" } }\n";
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &format!("{scenario}{gate}"));
    let ran = finish(bench.bare(&["run", "s.toml", "--json", "--add-to", "nightly"])).exits(0);
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(object["verdicts"][0]["target"], "disk");
    assert_eq!(object["verdicts"][0]["scope"]["evidence"], "screen");
    assert!(fs::metadata(bench.path(object["paths"]["page"].as_str().unwrap())).unwrap().is_file());
    assert!(ran.err.contains("gate  inconclusive"), "{}", ran.err);
    assert_eq!(object["gate"]["outcome"], "inconclusive");

    let folder = object["paths"]["run"].as_str().unwrap();
    // But for the baseline, which a record does not hold.
    let again = finish(bench.bare(&["report", folder, "--json"])).exits(0);
    let mut told: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(told["gate"]["outcome"], "inconclusive");
    assert!(told["gate"]["demands"][0].as_str().unwrap().contains("not compared here"), "{told}");
    told["gate"] = object["gate"].clone();
    assert_eq!((told, again.err), (object.clone(), String::new()));
}

#[test]
fn json_goes_with_nothing_that_prints_something_else() {
    let (bench, folder) = measured();
    for other in [&["--full"][..], &["--html"], &["--format", "markdown"]] {
        finish(bench.bare(&[&["report", &folder, "--json"], other].concat()))
            .exits(2)
            .says("cannot be used with");
    }
    finish(bench.bare(&["run", "s.toml", "--json", "--variant", "a:"])).exits(2).says("cannot be used with");
    finish(bench.bare(&["schema", "answer"])).exits(0).says("\"verdicts\"").says("json-schema.org");
}

#[test]
fn what_will_be_written_is_said_to_the_byte_before_it_is() {
    let bench = Bench::small(DISK);
    let say = |ended: &Ended| ended.err.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    let first = finish(bench.bare(&["s.toml", "-o", "out"])).exits(0);
    let [write, time, run] = &say(&first)[..] else { panic!("{}", first.err) };
    assert!(write.starts_with("WRITE 4 MiB below data"), "{write}");
    assert!(time.starts_with("TIME  until the bytes or epochs asked are read, and the writing"), "{time}");
    assert_eq!(run, "RUN   in a folder of out");
    assert_eq!(bench.data_files().iter().map(|file| file.metadata().unwrap().len()).sum::<u64>(), 4 << 20);
    // Half of it is there, then all of it.
    for file in &bench.data_files()[..32] {
        fs::remove_file(file).unwrap();
    }
    let manifest = bench.data_files()[0].parent().unwrap().parent().unwrap().join("manifest.json");
    fs::remove_file(manifest).unwrap();
    let second = finish(bench.bare(&["s.toml", "-o", "out"])).exits(0);
    assert!(say(&second)[0].starts_with("WRITE 2 MiB below data"), "{}", second.err);
    let third = finish(bench.bare(&["s.toml", "-o", "out"])).exits(0);
    assert_eq!(say(&third)[0], "WRITE nothing but the record");
    assert_eq!(fs::read_dir(bench.path("out")).unwrap().count(), 3);
}

#[test]
fn a_dry_run_is_the_plan_and_a_quiet_run_its_answer() {
    let bench = Bench::small(DISK);
    let plan = finish(bench.bare(&["plan", "s.toml"])).exits(0).out;
    assert_eq!(finish(bench.bare(&["s.toml", "--dry-run"])).exits(0).out, plan);
    for ignored in ["--json", "--full", "--rounds=+3"] {
        finish(bench.bare(&["s.toml", "--dry-run", ignored])).exits(2).says("cannot be used with");
    }
    assert!(!bench.path("data").exists() && !bench.path("results").exists());
    let quiet = finish(bench.bare(&["s.toml", "-q"])).exits(0);
    assert_eq!(quiet.err, "");
    assert!(quiet.out.starts_with("NEED 1 MB/s") && quiet.out.lines().count() <= 20, "{}", quiet.out);
}

/// Without a terminal nobody is asked.
#[test]
fn without_a_file_time_and_space_are_bounded() {
    let bench = Bench::new();
    let plan = |more: &[&str]| {
        finish(bench.bare(&[&["plan", "data", "--need", "1xh100:resnet50"], more].concat())).exits(0)
    };
    plan(&[]).says("up to the budget of 2 min");
    plan(&["--budget", "5m"]).says("up to the budget of 5 min");
    plan(&["--set", "dataset.size=\"8 MiB\""]).says("74 files");
    let own = plan(&["--set", "measure.repetitions=3"]);
    assert!(!own.prints("budget"), "what is said of measuring is all that is said: {}", own.out);
    fs::create_dir(bench.path("data")).unwrap();
    finish(bench.bare(&["plan", "data", "--need", "1xh100:resnet50", "--existing"]))
        .exits(0)
        .says("never written");
}

#[test]
fn a_long_run_without_a_file_asks_on_a_terminal_before_it_writes() {
    let bench = Bench::new();
    bench.write("file", "");
    // Nothing is measured: where it goes on, it cannot write its record.
    let long = ["run", "data", "--need", "1xh100:resnet50", "--budget", "5m", "-o", "file/results"];
    let small = ["--set", "dataset.size=\"1 MiB\""];
    let asked = |more: &[&str], typed: &str| {
        run_in(80, bench.bare(&[&long[..], &small, more].concat()), typed, Output::Piped)
    };
    let (ended, shown) = asked(&[], "n\n");
    ended.exits(1);
    assert!(shown.contains("go on? [Y/n]") && shown.contains("nothing was written"), "{shown}");
    assert!(!bench.path("data").exists());
    for (more, typed, asks) in
        [(&[][..], "y\n", true), (&["--yes"], "", false), (&["--budget", "2m"], "", false)]
    {
        let without = if more.contains(&"--budget") { &long[..4] } else { &long[..6] };
        let words = [without, &long[6..], &small, more].concat();
        let (ended, shown) = run_in(80, bench.bare(&words), typed, Output::Piped);
        ended.exits(1);
        assert_eq!(
            (shown.contains("go on?"), shown.contains("cannot write results")),
            (asks, true),
            "{shown}"
        );
    }
    // What would be refused is refused before it is asked about.
    fs::create_dir(bench.path("data")).unwrap();
    bench.write("data/mine.txt", "");
    let (ended, shown) = asked(&[], "");
    ended.exits(2);
    assert!(shown.contains("`mine.txt`") && !shown.contains("go on?"), "{shown}");
    fs::remove_dir_all(bench.path("data")).unwrap();
    // Nobody is there to be asked.
    finish(bench.bare(&[&long[..], &small].concat())).exits(1).says("cannot write results");
}

#[test]
fn a_terminal_has_a_bar_in_place_of_lines_and_the_same_answer() {
    let bench = Bench::small(DISK);
    let (ended, shown) = run_in(80, bench.bare(&["s.toml"]), "", Output::Piped);
    assert!(ended.exits(0).out.starts_with("NEED 1 MB/s"));
    assert!(shown.starts_with("WRITE 4 MiB below data"), "{shown}");
    assert!(
        shown.contains("\u{1b}[") && !shown.contains("\nmeasuring the cells, interleaved\r\n"),
        "{shown}"
    );
}
