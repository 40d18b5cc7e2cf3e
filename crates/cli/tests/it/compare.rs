//! `compare`, `calibrate` and `history` over stored runs, and a gate that holds a run against its past.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Bench, DISK, Ended};

/// A bit of noise between the runs of a baseline: about 1 %.
const NOISE: [f64; 8] = [1.0, 1.012, 0.991, 1.004, 0.985, 1.009, 0.996, 1.003];
const NEW: &str = "20261121T010203Z-three-stores-ffff";

fn golden() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/golden")
}

/// What is changed of the golden record.
type Edit<'a> = &'a dyn Fn(&mut Value);

/// The golden record under another name, with all its rates multiplied.
fn store(bench: &Bench, name: &str, factor: f64, edit: Edit<'_>) {
    let folder = bench.path("results").join(name);
    fs::create_dir_all(&folder).unwrap();
    for file in ["env.json", "scenario.toml"] {
        fs::copy(golden().join(file), folder.join(file)).unwrap();
    }
    let mut run: Value =
        serde_json::from_str(&fs::read_to_string(golden().join("run.json")).unwrap()).unwrap();
    let id = name.rsplit('/').next().unwrap();
    run["run_id"] = json!(id);
    if let Some(day) = id.get(6..8) {
        run["started"] = json!(format!("2026-11-{day}T01:02:03Z"));
    }
    edit(&mut run);
    fs::write(folder.join("run.json"), run.to_string()).unwrap();
    let cells = fs::read_to_string(golden().join("cells.jsonl")).unwrap();
    fs::write(folder.join("cells.jsonl"), multiplied(&cells, factor)).unwrap();
}

/// The lines of a record as if the storage had been as much faster.
fn multiplied(cells: &str, factor: f64) -> String {
    let lines = cells.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "rep" {
            for counter in ["ops", "bytes"] {
                if let Some(count) = line["counters"][counter].as_f64() {
                    line["counters"][counter] = json!((count * factor) as u64);
                }
            }
        }
        format!("{line}\n")
    });
    lines.collect()
}

fn unedited(_: &mut Value) {}

fn day(number: usize) -> String {
    format!("202611{:02}T010203Z-three-stores-{number:04x}", number + 1)
}

/// Eight runs in a baseline called nightly, and the runs themselves.
fn with_baseline() -> Bench {
    let bench = Bench::new();
    for (number, factor) in NOISE.iter().enumerate() {
        store(&bench, &day(number), *factor, &unedited);
    }
    fs::create_dir(bench.path("results/baselines")).unwrap();
    let list: String = (0..NOISE.len()).flat_map(|number| [day(number), "\n".to_owned()]).collect();
    bench.write("results/baselines/nightly", &list);
    bench
}

fn against_nightly(bench: &Bench, more: &[&str]) -> Ended {
    bench.run(&[&["compare", NEW, "--baseline", "nightly"], more].concat())
}

#[test]
fn two_runs_have_ratios_and_no_answer() {
    let bench = Bench::new();
    store(&bench, &day(0), 1.0, &unedited);
    store(&bench, NEW, 0.8, &unedited);
    let (before, after) = (day(0), NEW);
    let path = format!("results/{before}");
    bench.run(&["compare", &path, after]).exits(0).says("-20.0 %").says("INCONCLUSIVE");
    bench.run(&["compare", &before, after, "--gate"]).exits(0).says("gate inconclusive");
    bench.run(&["compare", &before, after, "--gate", "--strict"]).exits(5);
}

#[test]
fn a_run_is_not_compared_with_itself() {
    let bench = Bench::new();
    store(&bench, NEW, 1.0, &unedited);
    let said = format!("both are the same run, `{NEW}`");
    bench.run(&["compare", NEW, NEW]).exits(2).says(&said).says("hint: ");
    // Wherever a copy of it lies.
    fs::rename(bench.path("results"), bench.path("moved")).unwrap();
    store(&bench, NEW, 1.0, &unedited);
    bench.run(&["compare", NEW, &format!("moved/{NEW}")]).exits(2).says(&said);
}

#[test]
fn a_run_slower_than_its_baseline_is_a_regression_for_a_gate_alone() {
    let bench = with_baseline();
    store(&bench, NEW, 0.8, &unedited);
    against_nightly(&bench, &[]).exits(0).says("REGRESSED     nvme").says("nightly (8 runs, 2026-11-01 to");
    against_nightly(&bench, &["--gate"]).exits(4).says("gate regressed: nvme throughput");
    against_nightly(&bench, &["--gate", "--margin", "p99=5%"]).exits(0);
    against_nightly(&bench, &["--gate", "--margin", "throughput=40%"]).exits(0).says("UNCHANGED");
}

#[test]
fn a_run_as_fast_as_its_baseline_is_no_regression() {
    let bench = with_baseline();
    store(&bench, NEW, 1.001, &unedited);
    let ended = against_nightly(&bench, &["--gate", "--margin", "throughput=10%"]).exits(0);
    assert!(ended.says("UNCHANGED").prints("gate no regression"));
}

#[test]
fn the_gate_of_a_record_decides_its_comparison() {
    let bench = with_baseline();
    let gate = |run: &mut Value| {
        run["gate"]["regression"] = json!([{ "metric": "throughput", "share": 0.05 }]);
    };
    store(&bench, NEW, 0.8, &gate);
    against_nightly(&bench, &[]).exits(4).says("margin 5 %");
}

#[test]
fn a_baseline_that_is_not_there_or_is_empty_never_passes_silently() {
    let bench = with_baseline();
    store(&bench, NEW, 0.8, &unedited);
    let ended = bench.run(&["compare", NEW, "--baseline", "weekly"]).exits(2);
    assert!(ended.says("there is no baseline `weekly`").prints("there are: nightly"));
    bench.write("results/baselines/empty", "# nothing yet\n");
    bench.run(&["compare", NEW, "--baseline", "empty", "--gate", "--strict"]).exits(5).says("INCONCLUSIVE");
    bench.run(&["compare", NEW, "--baseline", "empty", "--gate"]).exits(0).says("gate inconclusive");
}

#[test]
fn broken_runs_of_a_baseline_are_named_and_left_out() {
    let bench = with_baseline();
    store(&bench, NEW, 0.8, &unedited);
    let damage = |number: usize, file: &str, text: &str| {
        bench.write(&format!("results/{}/{file}", day(number)), text);
    };
    damage(0, "cells.jsonl", "{\"line\":\n");
    damage(1, "run.json", "{\"format\":{\"major\":9,\"minor\":0}}");
    fs::remove_dir_all(bench.path("results").join(day(2))).unwrap();
    let ended = against_nightly(&bench, &["--gate", "--strict"]).exits(5).says("INCONCLUSIVE");
    for number in 0..3 {
        assert!(ended.err.contains(&day(number)), "{}", ended.err);
    }
    assert!(ended.err.contains("newer feedline"), "{}", ended.err);
    // With the five that are left and asked for, the answer is there again.
    against_nightly(&bench, &["--gate", "--runs", "5"]).exits(4);
}

#[test]
fn a_run_of_a_newer_feedline_is_refused_by_name() {
    let bench = with_baseline();
    store(&bench, NEW, 1.0, &|run| run["format"] = json!({ "major": 2, "minor": 0 }));
    let ended = against_nightly(&bench, &[]).exits(1);
    assert!(ended.says("newer feedline").prints(NEW));
    let mixed = Bench::new();
    store(&mixed, &day(0), 1.0, &|run| run["format"] = json!({ "major": 1, "minor": 0 }));
    store(&mixed, NEW, 1.0, &|run| run["format"] = json!({ "major": 1, "minor": 9 }));
    mixed.run(&["compare", &day(0), NEW]).exits(0).says("INCONCLUSIVE");
}

#[test]
fn runs_that_differ_are_refused_with_a_list_unless_that_is_declared() {
    let bench = Bench::new();
    store(&bench, &day(0), 1.0, &unedited);
    store(&bench, NEW, 1.0, &|run| run["plan_hash"] = json!("0123456789abcdef"));
    let env = bench.path("results").join(NEW).join("env.json");
    let changed = fs::read_to_string(&env).unwrap().replace("6.12.4", "6.13.0");
    fs::write(&env, &changed).unwrap();
    let refused = bench.run(&["compare", &day(0), NEW]).exits(2);
    assert!(refused.says("must not be compared").says("plan").prints("kernel: 6.12.4 -> 6.13.0"));

    store(&bench, NEW, 1.0, &unedited);
    fs::write(&env, &changed).unwrap();
    bench.run(&["compare", &day(0), NEW]).exits(2).says("--may-differ");
    bench.run(&["compare", &day(0), NEW, "--may-differ", "host,kernel"]).exits(0).says("6.13.0");
}

#[test]
fn cells_of_one_side_alone_and_runs_without_a_repetition_are_gaps() {
    let bench = with_baseline();
    store(&bench, NEW, 1.0, &unedited);
    let cells = bench.path("results").join(NEW).join("cells.jsonl");
    let whole = fs::read_to_string(&cells).unwrap();
    let without = |part: &str| -> String {
        let kept = whole.lines().filter(|line| !line.contains(part));
        kept.flat_map(|line| [line, "\n"]).collect()
    };
    fs::write(&cells, without("\"cell\":\"nvme/pread/qd8\"")).unwrap();
    against_nightly(&bench, &[]).exits(0).says("nvme/pread/qd8");
    fs::write(&cells, without("\"line\":\"rep\"")).unwrap();
    against_nightly(&bench, &["--gate", "--strict"]).exits(5).says("INCONCLUSIVE");
    for rate in ["0", "18446744073709551615"] {
        let of = |counter: &str, line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["counters"][counter] = serde_json::from_str(rate).unwrap();
            format!("{line}\n")
        };
        let lines = whole.lines().map(|line| {
            if line.contains("\"line\":\"rep\"") { of("bytes", line) } else { format!("{line}\n") }
        });
        fs::write(&cells, lines.collect::<String>()).unwrap();
        let ended = against_nightly(&bench, &[]).exits(0);
        assert!(!ended.out.contains("NaN") && !ended.out.contains("inf"), "{}", ended.out);
    }
}

#[test]
fn targets_of_one_run_are_compared_by_their_names() {
    let bench = Bench::new();
    store(&bench, NEW, 1.0, &unedited);
    let by_target = |more: &[&str]| bench.run(&[&["compare", NEW, "--by", "target"], more].concat());
    let other = by_target(&["nvme", "filer"]).exits(0).says("compare nvme").says("-> filer").says("WORSE");
    assert!(!other.out.contains("REGRESSED"), "{}", other.out);
    by_target(&["nvme", "filer", "--gate"]).exits(2).says("its own past");
    by_target(&["nvme", "tape"]).exits(2).says("no target `tape`").says("nvme, filer");
    by_target(&["nvme", "nvme"]).exits(2).says("two targets");
    by_target(&["nvme"]).exits(2);
    bench.run(&["compare", NEW]).exits(2).says("--baseline");
    bench.run(&["compare", NEW, "nvme", "filer"]).exits(2).says("--by target");
    bench.run(&["compare", "gone", NEW]).exits(2).says("gone");
}

/// Variants of one run in a folder, each with a share of the golden record's rates.
fn group(bench: &Bench, group: &str, shares: &[(&str, f64)]) {
    for (number, (name, share)) in shares.iter().enumerate() {
        let variant = json!({ "name": name, "group": group, "number": number, "settings": [] });
        store(bench, &format!("{group}/{name}"), *share, &|run| run["variant"] = variant.clone());
    }
}

#[test]
fn a_folder_of_variants_is_compared_by_variant() {
    let bench = Bench::new();
    group(&bench, "ab", &[("new", 0.7), ("base", 1.0), ("other", 1.0)]);
    let ended = bench.run(&["compare", "ab"]).exits(0);
    assert!(ended.says("-> base").prints("-> other"));
    bench.run(&["compare", "ab", "--by", "variant", "base", "new", "--gate"]).exits(4).says("-30.0 %");
    bench.run(&["compare", "ab/base", "ab/other", "--gate"]).exits(0).says("interleaved");
    bench.run(&["compare", "ab", "--by", "variant", "base", "old"]).exits(2).says("no variant `old`");
    fs::create_dir(bench.path("results/none")).unwrap();
    bench.run(&["compare", "none"]).exits(2).says("0 variants");
}

#[test]
fn a_markdown_page_holds_its_limit() {
    let bench = with_baseline();
    store(&bench, NEW, 0.8, &unedited);
    let page = |bytes: &str| {
        against_nightly(&bench, &["--gate", "--format", "markdown", "--max-bytes", bytes]).exits(4).out
    };
    let whole = page("65536");
    assert!(whole.starts_with("| change | target | |\n|---|---|---|\n| **REGRESSED** |"), "{whole}");
    let short = page("2000");
    assert!(short.len() <= 2_000 && short.contains("left out"), "{short}");
    against_nightly(&bench, &["--format", "markdown", "--max-bytes", "7"]).exits(2).says("at least 512");
    against_nightly(&bench, &["--max-bytes", "2000"]).exits(2).says("--format markdown");
}

#[test]
fn a_page_of_a_run_and_its_comparison_holds_its_limit_and_ends_no_table_in_the_middle() {
    let bench = with_baseline();
    store(&bench, NEW, 0.8, &unedited);
    let run = format!("results/{NEW}");
    let page = |bytes: &str| {
        let args = ["export", &run, "--format", "markdown", "--against", "nightly", "--max-bytes", bytes];
        bench.run(&args).exits(0).out
    };
    let whole = page("1048576");
    for bytes in (512..whole.len()).step_by(whole.len() / 9) {
        let page = page(&bytes.to_string());
        assert!(page.len() <= bytes && page.contains("left out"), "{bytes}:\n{page}");
        assert_eq!(page.matches("<details>").count(), page.matches("</details>").count(), "{bytes}:\n{page}");
    }
}

#[test]
fn a_plot_refuses_what_it_would_not_heed() {
    let bench = Bench::new();
    group(&bench, "ab", &[("base", 1.0), ("new", 0.7)]);
    let svg = |more: &[&str]| bench.run(&[&["compare", "ab", "--format", "svg"], more].concat());
    for more in [
        &["--baseline", "nightly"][..],
        &["--by", "target"],
        &["--margin", "p99=5%"],
        &["--margins", "margins.json"],
        &["--runs", "3"],
        &["--may-differ", "host"],
        &["--gate"],
        &["--strict"],
        &["--max-bytes", "65536"],
    ] {
        svg(more)
            .exits(2)
            .says(&format!(
                "{} does nothing with --format svg",
                more[..1].concat().replace("--by", "--by target")
            ))
            .says("hint: ");
    }
    assert!(svg(&["--by", "variant"]).exits(0).out.starts_with("<svg"));
}

#[test]
fn a_comparison_within_a_run_refuses_what_is_of_stored_ones_and_strictness_without_a_gate() {
    let bench = Bench::new();
    store(&bench, NEW, 1.0, &unedited);
    group(&bench, "ab", &[("base", 1.0), ("new", 0.7)]);
    for of_one in [&["ab"][..], &[NEW, "--by", "target"]] {
        for more in [&["--runs", "3"][..], &["--may-differ", "host"]] {
            let ended = bench.run(&[&["compare"], of_one, more].concat()).exits(2);
            ended.says(&format!("{} does nothing here", more[0])).says("hint: ");
        }
        bench
            .run(&[&["compare"], of_one, &["--strict"]].concat())
            .exits(2)
            .says("--strict does nothing without a gate");
    }
}

#[test]
fn wrong_margins_are_usage_errors_that_say_what_to_write() {
    let bench = Bench::new();
    for (margin, words) in [
        ("throughput", "METRIC=SHARE"),
        ("speed=5%", "throughput, p50"),
        ("p50=5", "5 %"),
        ("p50=0%", "above zero"),
    ] {
        bench.run(&["compare", "a", "b", "--margin", margin]).exits(2).says(words);
    }
}

#[test]
fn a_calibration_from_stored_runs_is_written_once_and_read_by_a_comparison() {
    let bench = with_baseline();
    store(&bench, NEW, 0.8, &unedited);
    let calibrate = ["calibrate", "--from-history", "nightly"];
    let file = "results/calibration-three-stores.json";
    bench.run(&calibrate).exits(0).says("CAN GATE").says(file);
    let written: Value = serde_json::from_str(&fs::read_to_string(bench.path(file)).unwrap()).unwrap();
    assert_eq!(written["scenario"], "three-stores");
    assert_eq!(written["from"].as_array().unwrap().len(), NOISE.len());
    bench.run(&calibrate).exits(1).says("--force");
    bench.run(&[&calibrate[..], &["--force"]].concat()).exits(0);
    against_nightly(&bench, &["--gate", "--margins", file]).exits(4);

    bench.write(
        "other.json",
        &fs::read_to_string(bench.path(file)).unwrap().replace("three-stores", "another"),
    );
    against_nightly(&bench, &["--margins", "other.json"]).exits(2).says("for the scenario `another`");
    against_nightly(&bench, &["--margins", "none.json"]).exits(1).says("feedline calibrate");
}

#[test]
fn a_calibration_needs_runs_of_one_scenario() {
    let bench = Bench::new();
    fs::create_dir(bench.path("results")).unwrap();
    bench.run(&["calibrate", "--from-history", "results"]).exits(2).says("no run that can be read");
    bench.run(&["calibrate", "--from-history", "gone"]).exits(2).says("no baseline `gone`");
    store(&bench, &day(0), 1.0, &unedited);
    store(&bench, &day(1), 1.0, &|run| run["scenario"] = json!("another"));
    bench.run(&["calibrate", "--from-history", "results"]).exits(2).says("another, three-stores");
    bench.run(&["calibrate"]).exits(2);
}

#[test]
fn a_history_shows_each_cell_once_and_names_what_it_cannot_read() {
    let bench = with_baseline();
    bench.write(&format!("results/{}/env.json", day(3)), "{");
    let ended =
        bench.run(&["history"]).exits(0).says("three-stores: 7 runs").says("2026-11-01 to 2026-11-08");
    assert!(ended.err.contains(&day(3)), "{}", ended.err);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    let rows = bench.run(&["history", "results", "--format", "csv", "--cell", "nvme/pread/qd8"]).exits(0).out;
    let of_throughput = rows.lines().filter(|row| row.contains(",throughput,B/s,")).count();
    assert_eq!(of_throughput, 7, "{rows}");
    bench.run(&["history", "--cell", "no such"]).exits(2).says("no cell contains `no such`");
    bench.run(&["history", "--scenario", "other"]).exits(2).says("of the scenario `other`");
    bench.run(&["history", "nowhere"]).exits(1).says("nowhere");
}

#[test]
fn a_history_is_of_one_scenario_and_leaves_variants_out() {
    let bench = Bench::new();
    store(&bench, &day(0), 1.0, &unedited);
    store(&bench, &day(1), 1.0, &|run| run["scenario"] = json!("another"));
    group(&bench, "ab", &[("base", 1.0), ("new", 1.0)]);
    for more in [&["history"][..], &["history", "--format", "svg"]] {
        bench.run(more).exits(2).says("another: 1 run").says("three-stores: 1 run").says("--scenario");
    }
    let page = bench.run(&["history", "--scenario", "another"]).exits(0).out;
    assert!(page.starts_with("history  another: 1 run, ") && !page.contains("three-stores"), "{page}");
    let rows = bench.run(&["history", "--format", "csv"]).exits(0).out;
    assert_eq!(rows.matches("scenario,cell,target").count(), 1);
}

#[test]
fn a_run_adds_itself_to_a_baseline() {
    let bench = Bench::small(DISK);
    bench.run(&["run", "s.toml", "--add-to", "nightly"]).exits(0);
    let listed = fs::read_to_string(bench.path("results/baselines/nightly")).unwrap();
    let run = listed.trim_end();
    assert!(bench.path("results").join(run).join("run.json").is_file(), "{listed}");
    bench.run(&["run", "s.toml", "--add-to", "../nightly"]).exits(2).says("name of a baseline");
    fs::create_dir(bench.path("results/baselines/folder")).unwrap();
    bench.run(&["run", "s.toml", "--add-to", "folder"]).exits(1).says("it is a folder");
}

/// A gate on throughput against the baseline `nightly`.
const GATE: [&str; 6] = [
    "run",
    "s.toml",
    "--set",
    "gate.baseline=\"nightly\"",
    "--set",
    "gate.regression={ throughput = \"10 %\" }",
];

#[test]
fn the_first_runs_of_a_gate_cannot_fail_it_and_do_not_pass_it_silently() {
    let bench = Bench::small(DISK);
    let ended = bench.run(&GATE).exits(0).says("there is no baseline `nightly` yet");
    assert!(ended.says("GATE inconclusive").says("gate inconclusive").prints("INCONCLUSIVE"));
    bench.run(&[&GATE[..], &["--strict", "--add-to", "nightly"]].concat()).exits(5);
    let listed = fs::read_to_string(bench.path("results/baselines/nightly")).unwrap();
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_calibration_measures_a_scenario_twice_at_once() {
    let bench = Bench::small(DISK);
    let ended = bench.run(&["calibrate", "s.toml", "-o", "margins.json"]);
    // Whether this machine is quiet enough for a figure is its own affair.
    assert_eq!(ended.code, Some(i32::from(!bench.path("margins.json").is_file())), "{ended:?}");
    assert!(ended.prints("noise between interleaved repetitions of equal variants"), "{}", ended.err);
    let runs = fs::read_dir(bench.path("results")).unwrap().map(|entry| entry.unwrap().path());
    let groups: Vec<_> = runs.filter(|folder| !folder.join("run.json").exists()).collect();
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert!(["a", "b"].iter().all(|name| groups[0].join(name).join("run.json").is_file()));
    bench.write("kept.json", "{}");
    bench.run(&["calibrate", "s.toml", "-o", "kept.json"]).exits(1).says("--force");
    bench.write("results/calibration-s.json", "{}");
    bench.run(&["calibrate", "s.toml"]).exits(1).says("--force");
    let after = fs::read_dir(bench.path("results")).unwrap().count();
    assert_eq!(after, 2, "refused before anything was measured");
}
