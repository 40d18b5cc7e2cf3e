//! A training job played from the command line: run, report, size, decoding, bad samples.

use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::harness::{Bench, finish};

/// Two accelerators of four samples a step, from the page cache.
const JOB: &str = r#"version = 1
need = { batch = 4, step_time = "5ms", sample_size = "64 KiB", count = 2 }
dataset = { size = "4 MiB" }
targets.disk = { at = "data", engine = "pread" }
load = { mode = "training", cache = "warm" }
training = { readers = 2, steps = 12 }
measure = { repetitions = 3 }
"#;

fn bench(scenario: &str) -> Bench {
    let bench = Bench::new();
    bench.write("job.toml", scenario);
    bench
}

/// Repetitions that played a job.
fn played(bench: &Bench) -> Vec<Value> {
    bench.reps().into_iter().filter(|rep| rep["trained"].is_object()).collect()
}

#[test]
fn a_job_is_played_recorded_and_reported_again_without_its_data() {
    let bench = bench(JOB);
    let page =
        bench.run(&["run", "job.toml", "--no-progress"]).exits(0).says("training: samples per s; AU").out;
    let reps = played(&bench);
    assert!(reps.len() >= 3, "{} repetitions", reps.len());
    for rep in &reps {
        let accelerators = rep["trained"]["accelerators"].as_array().unwrap();
        assert_eq!(accelerators.len(), 2);
        for one in accelerators {
            let count = |name: &str| one[name].as_u64().unwrap();
            assert_eq!(count("steps"), 12);
            assert_eq!(count("compute_ns"), 12 * 5_000_000);
            assert_eq!(count("compute_ns") + count("wait_ns") + count("barrier_ns"), count("wall_ns"));
        }
        assert!(rep["counters"]["verified"].as_u64().unwrap() > 0, "what was read last is checked");
    }
    fs::remove_dir_all(bench.path("data")).unwrap();
    let folder = bench.run_folder();
    let as_printed = folder.strip_prefix(bench.path("")).unwrap().to_str().unwrap();
    assert_eq!(
        bench.run(&["report", as_printed]).exits(0).out,
        page,
        "the page is not the one that run printed"
    );
    for plot in ["training-timeline", "training-waits", "throughput"] {
        let args = ["report", folder.to_str().unwrap(), "--format", "svg", "--plot", plot];
        let svg = bench.run(&args).exits(0).out;
        let kept = fs::read_to_string(folder.join(format!("{plot}.svg"))).unwrap();
        assert_eq!(svg.trim_end(), kept.trim_end());
    }
    bench
        .run(&["report", folder.to_str().unwrap(), "--plot", "training-waits"])
        .exits(2)
        .says("--format svg or png");
    let args = ["report", folder.to_str().unwrap(), "--format", "svg", "--plot", "training"];
    bench.run(&args).exits(2).says("training-timeline");
}

#[test]
fn the_edge_of_what_a_storage_feeds_is_searched_and_measured_again() {
    let bench = bench(JOB);
    // What a job does not play is said before it is asked what a job is.
    for (need, has) in [
        ("{ write_rate = \"1 GB/s\" }", "this need is of writes, and has none"),
        ("{ rate = \"1 GB/s\", write_rate = \"1 GB/s\" }", "this need is of reads and writes at once"),
        (
            "{ checkpoint = { bytes = \"1 GB\", within = \"1s\" } }",
            "this need is of checkpoints, and has none",
        ),
    ] {
        let refused =
            bench.run(&["size", "data", "--need", need]).exits(2).says("size plays jobs that read").says(has);
        assert!(!refused.err.contains("training"), "{}", refused.err);
    }
    let ended = bench.run(&["size", "job.toml", "--most", "8", "--no-progress"]).exits(0);
    assert!(ended.out.lines().any(|line| line.starts_with("SIZE disk pread: ")), "{}", ended.out);
    assert_eq!(bench.run_json()["size"], "accelerators");
    let confirmed = played(&bench).iter().filter(|rep| rep["role"] == "confirm").count();
    assert!(confirmed >= 3, "{confirmed} fresh repetitions");
    let told = finish(bench.bare(&["report", bench.run_folder().to_str().unwrap(), "--json"])).exits(0);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["sizings"][0]["axis"], &told["verdicts"][0]), (&"accelerators".into(), &Value::Null));
}

#[test]
fn the_fewest_readers_and_the_smallest_prefetch_are_searched() {
    for find in ["readers", "prefetch"] {
        let bench = bench(JOB);
        let ended = bench.run(&["size", "job.toml", "--find", find, "--most", "3", "--no-progress"]).exits(0);
        assert_eq!(ended.out.matches("\nSIZE disk pread: ").count(), 1, "{}", ended.out);
        assert_eq!(bench.run_json()["size"], find);
    }
}

#[test]
fn readers_that_have_several_reads_under_way_are_an_axis_and_files_are_held_open_as_asked() {
    let bench = bench(JOB);
    let set = [
        "--set",
        "training.fetches=[1,3]",
        "--set",
        "load.operation=read",
        "--set",
        "targets.disk.open_files=20",
    ];
    let plan = bench.run(&[&["plan", "job.toml"], &set[..]].concat()).exits(0);
    let plan =
        plan.says("batch 4, 5 ms a step").says("a2-r2-p4/qd4").says("a2-r2x3-p4/qd12").says("open files 20");
    assert!(!plan.prints("qd48"), "as many reads outstanding would need more files");
    let page = bench.run(&[&["run", "job.toml", "--no-progress"], &set[..]].concat()).exits(0).out;
    assert!(page.contains("2 readers x 3"), "{page}");
    let reps = played(&bench);
    let fetches: std::collections::BTreeSet<bool> =
        reps.iter().map(|rep| rep["cell"].as_str().unwrap().contains("-r2x3-")).collect();
    assert_eq!(fetches.len(), 2, "both were played");
    for rep in reps.iter().filter(|rep| rep["cell"].as_str().unwrap().starts_with("disk/")) {
        let granted = rep["granted"]["open_files"].as_str().unwrap();
        assert!(granted.starts_with("the 20 of 64 used last"), "{granted}");
        assert_eq!(rep["counters"]["verified"].as_u64().map(|count| count > 0), Some(true));
    }
    let few = ["plan", "job.toml", "--set", "load.operation=read", "--set", "targets.disk.open_files=3"];
    bench.run(&few).exits(2).says("3 files held open are too few for 4 reads outstanding");
    let whole = ["plan", "job.toml", "--set", "targets.disk.open_files=20"];
    bench.run(&whole).exits(2).says("whole files are opened anew for each sample");
    let many = ["plan", "job.toml", "--set", "training.fetches=9"];
    bench.run(&many).exits(2).says("a batch of 4 samples takes 4 reads");
    let shared =
        ["plan", "job.toml", "--set", "training={ fetches = 2, steps = 12 }", "--set", "load.queue_depth=4"];
    bench.run(&shared).exits(2).says("`training.fetches` is of readers");
}

#[test]
fn a_search_that_its_budget_ends_says_what_it_did_not_try() {
    let bench = bench(JOB);
    // One try is always made, and for no other there is time.
    let timed = ["--set", "training={ readers = 2 }", "--set", "measure.duration=500ms", "--budget", "600ms"];
    let ended =
        bench.run(&[&["size", "job.toml", "--most", "8", "--no-progress"], &timed[..]].concat()).exits(0);
    assert!(ended.prints("untried") && ended.prints("the search ended before it tried"), "{}", ended.out);
    let kept = fs::read_to_string(bench.run_folder().join("scenario.toml")).unwrap();
    assert!(!kept.contains("720h") && kept.contains("measure.budget=600ms"), "{kept}");
}

#[test]
fn generated_samples_are_decoded_by_a_stand_in_and_the_record_says_so() {
    for work in ["jpeg", "gzip", "zstd", "checksum"] {
        let bench = bench(JOB);
        let decode = format!("training.decode=\"{work}\"");
        let once = ["--set", "measure.repetitions=1"];
        bench.run(&[&["run", "job.toml", "--no-progress", "--set", &decode], &once[..]].concat()).exits(0);
        for rep in played(&bench) {
            assert_eq!(rep["trained"]["decode_failures"], 0, "{work}");
            assert!(rep["histograms"]["decode_ns"].is_object() || rep["histograms"]["decode_ns"].is_string());
            let input = rep["granted"]["decode_input"].as_str().unwrap().to_owned();
            assert_eq!(input.contains("stand-in"), work != "checksum", "{work}: {input}");
        }
    }
}

#[test]
fn a_sample_that_the_decoder_rejects_is_lost_and_counted() {
    let bench = bench(
        r#"version = 1
need = { batch = 2, step_time = "5ms", sample_size = "356 B", count = 1 }
dataset = { source = "existing", sample_size = "356 B" }
targets.disk = { at = "images", engine = "pread" }
load = { mode = "training", cache = "warm" }
training = { readers = 1, epochs = 1, decode = "gzip" }
measure = { repetitions = 3 }
"#,
    );
    fs::create_dir(bench.path("images")).unwrap();
    for number in 0..8 {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..100_u32).for_each(|word| gzip.write_all(&(word * 7_919 + number).to_le_bytes()).unwrap());
        let mut bytes = gzip.finish().unwrap();
        if number == 3 {
            bytes.truncate(bytes.len() / 2);
        }
        fs::write(bench.path(&format!("images/{number}.gz")), bytes).unwrap();
    }
    let ended = bench.run(&["run", "job.toml", "--no-progress"]).exits(0);
    for rep in played(&bench) {
        assert_eq!(rep["trained"]["decode_failures"], 1);
        assert_eq!(rep["trained"]["accelerators"][0]["lost_samples"], 1);
        assert_eq!(rep["trained"]["accelerators"][0]["steps"], 4, "its batch went on without it");
    }
    assert!(ended.out.contains("decode") && !ended.out.contains("FEEDS"), "{}", ended.out);
}

#[test]
fn a_job_whose_samples_are_all_lost_is_judged_as_that_and_no_loop_stands_in_for_it() {
    let bench = bench(
        r#"version = 1
need = { batch = 2, step_time = "5ms", sample_size = "2 kB", count = 1 }
dataset = { source = "existing" }
targets.disk = { at = "images", engine = "pread" }
load = { mode = "training", cache = "warm" }
training = { readers = 1, steps = 50, decode = "png" }
measure = { repetitions = 3 }
gate = { feeds = ["disk"] }
"#,
    );
    fs::create_dir(bench.path("images")).unwrap();
    for number in 0..8 {
        fs::write(bench.path(&format!("images/{number}.png")), [number; 2_000]).unwrap();
    }
    let ended = bench.run(&["run", "job.toml", "--no-progress", "--strict"]);
    assert_ne!(ended.code, Some(0), "{}", ended.out);
    assert!(ended.out.contains("UNCERTAIN disk") && !ended.out.contains("FEEDS "), "{}", ended.out);
}

#[test]
fn jobs_that_cannot_be_are_refused_with_the_arithmetic() {
    let bench = bench(JOB);
    let check = |set: &str| bench.run(&["check", "job.toml", "--set", set]).exits(2);
    check("training.compute_time=\"0s\"").says("compute_time");
    check("training.batch=400").says("800").says("64");
    check("training.prefetch=1000000").says("prefetch");
    check("measure.warmup=\"1s\"").says("first");
}
