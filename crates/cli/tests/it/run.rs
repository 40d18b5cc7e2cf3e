//! The main job: from a scenario to a verdict.

use std::fs;

use crate::harness::{Bench, DISK, finish};

#[test]
fn a_scenario_ends_with_a_verdict_a_plot_and_a_record_that_make_themselves_again() {
    let bench = Bench::judged(DISK);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    ran.feeds();
    let run = bench.run_folder();
    fs::remove_dir_all(bench.path("data")).unwrap();

    // As it was printed: below the folder where it ran.
    let folder = run.strip_prefix(bench.path("")).unwrap().to_str().unwrap();
    assert!(ran.out.contains(&format!("\nPAGE {folder}/report.html")), "{}", ran.out);
    let again = bench.run(&["report", folder, "--html"]).exits(0).out;
    assert_eq!(again, fs::read_to_string(run.join("report.html")).unwrap());
    assert_eq!(bench.run(&["report", folder]).exits(0).out, ran.out);
    let answer = finish(bench.bare(&["report", folder])).exits(0).out;
    assert!(ran.out.ends_with(&answer) && answer.lines().count() <= 20, "{answer}");
    fs::remove_file(run.join("report.html")).unwrap();
    let makes = format!("PAGE feedline report {folder} --html -o FILE");
    bench.run(&["report", folder]).exits(0).says(&makes);
    for (format, file) in [("markdown", "report.md"), ("svg", "throughput.svg")] {
        let again = bench.run(&["report", folder, "--format", format]).exits(0).out;
        assert_eq!(again.trim_end(), fs::read_to_string(run.join(file)).unwrap().trim_end(), "{file}");
    }
}

#[test]
fn io_uring_and_pread_read_the_same_data_side_by_side() {
    let bench = Bench::small(r#"targets.disk = { at = "data", engine = ["io_uring", "pread"] }"#);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(ran.out.contains("io_uring") && ran.out.contains("pread"), "{}", ran.out);
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    assert!(!cells.contains(r#""corrupt""#), "every read that was checked held what was written");
    assert_eq!(bench.data_files().len(), 64, "one dataset serves both engines");
}

#[test]
fn a_run_that_is_watched_prints_rows_and_is_recorded_like_any_other() {
    let bench = Bench::small(DISK);
    // As many rows as it takes seconds: the last one comes with its end.
    let ran = bench.run(&["run", "s.toml", "--watch"]).exits(0);
    let rows = ran.err.lines().skip_while(|line| !line.starts_with("    s  target "));
    let rows: Vec<&str> = rows.filter(|line| line.contains("  disk  ")).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.matches('|').count() == 4), "{}", ran.err);
    assert!(!bench.reps().is_empty());
    bench.run(&["run", "s.toml", "--watch", "-q"]).exits(2).says("--quiet");
    bench
        .run(&["run", "s.toml", "--watch", "--variant", "a:", "--variant", "b:"])
        .exits(2)
        .says("--watch shows");
}

#[test]
fn a_path_and_a_need_are_enough() {
    let bench = Bench::new();
    let small = [
        "--set",
        "dataset.size=\"8 MiB\"",
        "--set",
        "measure.bytes=\"1 MiB\"",
        "--set",
        "measure.repetitions=3",
    ];
    let mut args = vec!["run", "data", "--need", "1xh100:resnet50"];
    args.extend(small);
    args.extend(["--set", "load.queue_depth=[1, 8]"]);
    bench.run(&args).exits(0).says("1 x h100 resnet50");
    assert_eq!(bench.data_files().len(), 74, "8 MiB of samples of 114,660 B");
}

#[test]
fn every_cache_treatment_is_proven_in_the_record() {
    let bench = Bench::small(DISK);
    bench
        .run(&["run", "s.toml", "--set", "load.cache=[\"cold\", \"warm\"]", "--set", "load.queue_depth=[1]"])
        .exits(0);
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    let reps: Vec<serde_json::Value> = cells
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["line"] == "rep" && line["role"] == "measure")
        .collect();
    assert_eq!(reps.len(), 6);
    for rep in reps {
        let before = rep["cache"]["before_bytes"].as_u64().unwrap();
        let total = rep["cache"]["total_bytes"].as_u64().unwrap();
        assert_eq!(total, 4 << 20);
        let cold = rep["cell"].as_str().unwrap().contains("/cold/");
        assert_eq!(before, if cold { 0 } else { total }, "{rep}");
    }
}

#[test]
fn a_folder_of_the_users_is_read_and_never_written() {
    let bench = Bench::small(r#"targets.mine = { at = "mine", engine = "pread" }"#);
    bench.write(
        "s.toml",
        &fs::read_to_string(bench.path("s.toml")).unwrap().replace(
            r#"dataset = { size = "4 MiB", sample_size = "64 KiB" }"#,
            r#"dataset = { source = "existing" }"#,
        ),
    );
    fs::create_dir_all(bench.path("mine/sub")).unwrap();
    for (name, bytes) in [("mine/a", 100_000), ("mine/sub/b", 65_536), ("mine/empty", 0)] {
        fs::write(bench.path(name), vec![7; bytes]).unwrap();
    }
    let before = listing(&bench);
    bench.run(&["run", "s.toml"]).exits(0).says("mine");
    assert_eq!(listing(&bench), before);
}

/// Three files, of which a list names one twice and another once: their sizes tell which were read.
fn listed(load: &str, measure: &str, order: &str) -> Bench {
    let bench = Bench::new();
    bench.write(
        "s.toml",
        &format!(
            r#"version = 1
need = {{ batch = 3, step_time = "5ms", sample_size = "77024 B", count = 1 }}
dataset = {{ source = "existing", order = "order.txt" }}
targets.mine = {{ at = "mine", engine = "pread" }}
load = {{ access = "list", {load} }}
{measure}
"#
        ),
    );
    fs::create_dir_all(bench.path("mine/sub")).unwrap();
    for (name, bytes) in [("mine/a", 100_000), ("mine/sub/b", 65_536), ("mine/c", 1 << 20)] {
        fs::write(bench.path(name), vec![7; bytes]).unwrap();
    }
    bench.write("order.txt", order);
    bench
}

const TWO_PASSES: &str = r#"measure = { epochs = 2, warmup = "0s", repetitions = 3 }"#;

/// Every repetition of a run reads two times one file and once the other, twice; and of the third, a megabyte, nothing.
fn reads_as_listed(bench: &Bench, ops: u64) {
    let reps = bench.reps();
    assert!(reps.len() >= 3, "{reps:?}");
    for rep in &reps {
        let counted = |name: &str| rep["counters"][name].as_u64();
        assert_eq!((counted("ops"), counted("bytes")), (Some(ops), Some(462_144)), "{rep}");
    }
}

#[test]
fn a_list_goes_with_blocks_with_paced_loads_and_with_jobs() {
    let job = "training = { readers = 1, epochs = 2 }\nmeasure = { repetitions = 3 }";
    for (load, measure, ops) in [
        // One block of the smaller file, and two of the other.
        (r#"operation = "read", block_size = "64 KiB", queue_depth = 3"#, TWO_PASSES, 8),
        (r#"operation = "read_file", mode = "paced", rate = "9 MB/s""#, TWO_PASSES, 6),
        (r#"mode = "training""#, job, 6),
    ] {
        let bench = listed(&format!(r#"cache = "warm", {load}"#), measure, "sub/b\n./a\nsub/b\n");
        bench.run(&["run", "s.toml"]).exits(0);
        reads_as_listed(&bench, ops);
    }
}

#[test]
fn a_list_says_which_files_are_read_and_how_often() {
    let load = r#"operation = "read_file", queue_depth = 2, cache = "warm""#;
    let bench = listed(load, TWO_PASSES, "sub/b\n./a\nsub/b\n");
    bench.run(&["plan", "s.toml"]).exits(0).says("3 reads of 2 files, as `order.txt` lists them");
    bench.run(&["run", "s.toml"]).exits(0).says("3 reads a pass");
    reads_as_listed(&bench, 6);
    let run = bench.run_json();
    let dataset = &run["datasets"][0];
    assert_eq!((dataset["files"].as_u64(), dataset["samples"].as_u64()), (Some(2), Some(3)));
    assert_eq!(dataset["bytes"].as_u64(), Some(165_536));
    let fact = &dataset["packing"][0];
    assert!(fact["value"].as_str().unwrap().starts_with("3 reads of 2 files, "), "{fact}");
    assert!(!run.to_string().contains("sub/b"), "names stay out of a record");
}

#[test]
fn a_list_that_cannot_be_read_by_is_refused_with_its_line() {
    let once = "measure = { epochs = 1, repetitions = 3 }";
    let bench = listed(r#"operation = "read_file", queue_depth = 1, cache = "cold""#, once, "a\nc\na\n");
    bench.run(&["check", "s.toml"]).exits(2).says("names 2 files 3 times");
    bench.write("order.txt", "a\nsub/c\n");
    bench.run(&["check", "s.toml"]).exits(0);
    bench.run(&["run", "s.toml"]).exits(1).says("line 2 of `order.txt` names `sub/c`");
    fs::write(bench.path("order.txt"), b"a\n\xff\n").unwrap();
    bench.run(&["plan", "s.toml"]).exits(2).says("line 2 of `order.txt` is not UTF-8");
    fs::remove_file(bench.path("order.txt")).unwrap();
    bench.run(&["check", "s.toml"]).exits(2).says("cannot read the list `order.txt`");
    fs::create_dir(bench.path("order.txt")).unwrap();
    bench.run(&["check", "s.toml"]).exits(2).says("no regular file");
}

fn listing(bench: &Bench) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    for folder in ["mine", "mine/sub"] {
        for entry in fs::read_dir(bench.path(folder)).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            found.push((entry.path().display().to_string(), metadata.len(), metadata.modified().unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn files_that_may_not_be_samples_of_the_need_must_be_explained() {
    let bench = Bench::new();
    fs::create_dir(bench.path("mine")).unwrap();
    for name in 0..4 {
        fs::write(bench.path("mine").join(name.to_string()), vec![7; 1_000_000]).unwrap();
    }
    let run = ["run", "mine", "--need", "1xh100:resnet50", "--set", "dataset.source=\"existing\""];
    bench.run(&run).exits(2).says("1,000,000 B on average").says("114,660 B");
    let short = ["--set", "measure.bytes=\"1 MB\"", "--set", "load.queue_depth=1"];
    let explained = ["--set", "dataset.sample_size=\"1 MB\""];
    bench.run(&[&run[..], &short, &explained].concat()).exits(0);
}

#[test]
fn the_null_target_shows_the_clients_own_ceiling_and_gets_no_verdict() {
    let bench = Bench::small(r#"targets.client = { at = "null:" }"#);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert!(!ran.out.contains("FEEDS") && !ran.out.contains("STARVES"), "{}", ran.out);
    ran.says("CEILING");
}

#[test]
fn progress_changes_nothing_but_standard_error() {
    let bench = Bench::small(DISK);
    let quiet = bench.run(&["run", "s.toml", "--no-progress"]).exits(0);
    assert_eq!(quiet.err, "");
}

#[test]
fn depth_is_found_by_itself() {
    let bench = Bench::judged(DISK);
    let feeds = bench.run(&["run", "s.toml", "--set", "load.queue_depth=auto"]).exits(0).feeds();
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    assert!(
        !feeds || cells.lines().last().unwrap().contains("auto: a shallower depth clears the line"),
        "{cells}"
    );
}
