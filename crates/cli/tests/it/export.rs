//! `export`: a run that the binary made, in the forms of others, and in a bundle that a third party verifies.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Bench, DISK, Ended, measured, skip};

fn formed(bench: &Bench, run: &str, format: &str, more: &[&str]) -> Ended {
    bench.run(&[&["export", run, "--format", format], more].concat())
}

#[test]
fn every_form_of_a_run_is_written() {
    let (bench, run) = measured();
    for (format, begins) in [
        ("csv", "run_id,scenario,"),
        ("jsonl", "{"),
        ("bmf", "{"),
        ("junit", "<?xml"),
        ("markdown", "# s"),
        ("prometheus", "# HELP feedline_run_info"),
        ("fio", "{\n  \"fio version\""),
        ("otava", "time,commit,run,"),
    ] {
        let printed = formed(&bench, &run, format, &[]).exits(0).out;
        assert!(printed.starts_with(begins) && printed.ends_with('\n'), "{format}:\n{printed}");
        let name = format!("out/run.{format}");
        formed(&bench, &run, format, &["-o", &name]).exits(0);
        assert_eq!(fs::read_to_string(bench.path(&name)).unwrap(), printed);
        // Again over the file that is there, as a collector's is.
        formed(&bench, &run, format, &["-o", &name]).exits(0);
    }
    let left: Vec<_> =
        fs::read_dir(bench.path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with("run.")), "{left:?}");
}

#[test]
fn forms_of_several_files_want_a_folder() {
    let (bench, run) = measured();
    formed(&bench, &run, "github-action-benchmark", &[]).exits(2).says("--direction");
    formed(&bench, &run, "github-action-benchmark", &["-o", "gab"]).exits(0);
    for name in ["bigger.json", "smaller.json"] {
        let text = fs::read_to_string(bench.path("gab").join(name)).unwrap();
        assert!(!serde_json::from_str::<Vec<Value>>(&text).unwrap().is_empty(), "{name}");
    }
    formed(&bench, &run, "github-action-benchmark", &["--direction", "bigger"]).exits(0).says("throughput");
    formed(&bench, &run, "hgrm", &[]).exits(2).says("--cell");
    formed(&bench, &run, "hgrm", &["-o", "hgrm"]).exits(0);
    assert_eq!(fs::read_dir(bench.path("hgrm")).unwrap().count(), 2, "a file for each cell");
    let cell = bench.reps()[0]["cell"].as_str().unwrap().to_owned();
    formed(&bench, &run, "hgrm", &["--cell", &cell]).exits(0).says("1/(1-Percentile)");
    formed(&bench, &run, "hgrm", &["--cell", "none"]).exits(2).says("is not in this run").says(&cell);
}

#[test]
fn a_command_line_that_asks_for_nothing_or_too_much_is_a_usage_error() {
    let bench = Bench::new();
    bench.run(&["export", "."]).exits(2);
    bench.run(&["export", ".", "--format", "csv", "--bundle"]).exits(2);
    bench.run(&["export", "a", "b", "--format", "csv"]).exits(2).says("otava");
    bench.run(&["export", ".", "--format", "markdown", "--max-bytes", "7"]).exits(2).says("at least");
    bench.run(&["export", ".", "--format", "csv"]).exits(1).says("run.json");
    bench.run(&["export", ".", "--format", "otava"]).exits(1).says("is no run and holds none");
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let bench = Bench::new();
    let form = |format: &'static str| ["--format", format];
    for (option, of) in [
        (["--against", "nightly"], &["junit", "markdown"][..]),
        (["--cell", "disk/pread/qd1"], &["hgrm"]),
        (["--direction", "bigger"], &["github-action-benchmark"]),
        (["--max-bytes", "65536"], &["markdown"]),
    ] {
        for format in [
            "csv",
            "jsonl",
            "bmf",
            "github-action-benchmark",
            "junit",
            "markdown",
            "prometheus",
            "fio",
            "hgrm",
            "otava",
        ] {
            let ended = bench.run(&[&["export", "none"], &form(format)[..], &option[..]].concat());
            if of.contains(&format) {
                ended.exits(1).says("run in `none`");
            } else {
                ended.exits(2).says(&format!("{} does nothing here", option[0])).says("hint: ");
            }
        }
    }
    bench.run(&["export", "none", "--bundle", "--max-bytes", "65536"]).exits(2).says("hint: ");
    bench.run(&["export", "none", "--verify", "--max-bytes", "65536"]).exits(2).says("hint: ");
    bench.run(&["export", "none", "--verify", "-o", "file"]).exits(2).says("hint: ");
}

#[test]
fn markdown_keeps_to_the_bytes_that_it_is_given() {
    let (bench, run) = measured();
    let page = formed(&bench, &run, "markdown", &["--max-bytes", "900"]).exits(0);
    assert!(page.out.len() <= 900 && page.out.contains("lines left out"), "{}", page.out);
    assert!(page.err.contains("gap: "), "{}", page.err);
}

#[test]
fn a_folder_of_runs_is_one_row_each_for_otava() {
    let bench = Bench::small(DISK);
    for _ in 0..2 {
        bench.run(&["run", "s.toml", "--set", "measure.repetitions=1"]).exits(0);
    }
    let text = bench.run(&["export", "results", "--format", "otava"]).exits(0).out;
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn a_bundle_is_listed_written_once_and_verified() {
    let (bench, run) = measured();
    let listed = bench.run(&["export", "--bundle", &run]).exits(0).says("nothing was written");
    for name in
        ["run.json", "env.json", "scenario.toml", "cells.jsonl", "report.md", "TUNING.md", "SHA256SUMS"]
    {
        assert!(listed.out.contains(name), "{name} is not in:\n{}", listed.out);
    }
    assert!(!listed.out.contains("intervals") && !bench.path("b.tar.gz").exists());
    bench.run(&["export", "--bundle", &run, "-o", "b.tar.gz"]).exits(0).says("wrote b.tar.gz");
    bench.run(&["export", "--bundle", &run, "-o", "b.tar.gz"]).exits(1).says("exists already");
    bench.run(&["export", "--bundle", &run, "-o", "c.tar.gz"]).exits(0);
    assert_eq!(fs::read(bench.path("b.tar.gz")).unwrap(), fs::read(bench.path("c.tar.gz")).unwrap());
    let verified = bench.run(&["export", "--verify", "b.tar.gz"]).exits(0).says("verified: ");
    let run_id = bench.run_folder().file_name().unwrap().to_str().unwrap().to_owned();
    // Which verdict it is depends on this machine.
    assert!(verified.out.contains(&run_id) && verified.out.contains(" disk: "), "{}", verified.out);
    bench
        .run(&["export", "--bundle", &run, "--intervals", "-o", "d.tar.gz"])
        .exits(0)
        .says("intervals.jsonl.gz");
    bench.run(&["export", "--verify", "d.tar.gz"]).exits(0);
}

/// Unpacks a bundle with the system's tar; the folder, or nothing where there is no tar.
fn unpacked(bench: &Bench) -> Option<String> {
    let tar = Command::new("tar").args(["xzf", "b.tar.gz"]).current_dir(bench.path("")).status();
    if !tar.is_ok_and(|status| status.success()) {
        skip("no tar here");
        return None;
    }
    Some(bench.run_folder().file_name().unwrap().to_str().unwrap().to_owned())
}

#[test]
fn whoever_unpacks_a_bundle_can_check_it_without_feedline_and_sees_what_was_changed() {
    let (bench, run) = measured();
    bench.run(&["export", "--bundle", &run, "-o", "b.tar.gz"]).exits(0);
    let Some(folder) = unpacked(&bench) else { return };
    let sums = Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(bench.path(&folder)).output();
    assert!(sums.unwrap().status.success());
    bench.run(&["export", "--verify", &folder]).exits(0).says("verified");
    bench.run(&["report", &folder]).exits(0).says("disk");

    let cells = bench.path(&folder).join("cells.jsonl");
    let text = fs::read_to_string(&cells).unwrap();
    fs::write(&cells, text.replacen("\"ops\":", "\"ops\":9", 1)).unwrap();
    bench.run(&["export", "--verify", &folder]).exits(1).says("cells.jsonl was changed");
    fs::remove_file(&cells).unwrap();
    bench.write(&format!("{folder}/more.txt"), "");
    bench
        .run(&["export", "--verify", &folder])
        .exits(1)
        .says("cells.jsonl is missing")
        .says("more.txt was added");
}

#[test]
fn a_figure_that_the_record_does_not_give_is_found_although_the_sums_hold() {
    let (bench, run) = measured();
    bench.run(&["export", "--bundle", &run, "-o", "b.tar.gz"]).exits(0);
    let Some(folder) = unpacked(&bench) else { return };
    let report = bench.path(&folder).join("report.md");
    let text = fs::read_to_string(&report).unwrap();
    fs::write(&report, format!("{text}\nfeeds 1,000\n")).unwrap();
    let summed = Command::new("sh")
        .args(["-c", "sha256sum $(ls | grep -v SHA256SUMS) > SHA256SUMS"])
        .current_dir(bench.path(&folder))
        .status();
    assert!(summed.unwrap().success());
    bench.run(&["export", "--verify", &folder]).exits(1).says("report.md is not what this feedline");
}

#[test]
fn what_is_no_bundle_or_a_cut_one_is_refused() {
    let (bench, run) = measured();
    bench.run(&["export", "--verify", &run]).exits(1).says("it has no SHA256SUMS");
    bench.run(&["export", "--bundle", &run, "-o", "b.tar.gz"]).exits(0);
    let whole = fs::read(bench.path("b.tar.gz")).unwrap();
    fs::write(bench.path("cut.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    bench.run(&["export", "--verify", "cut.tar.gz"]).exits(1).says("cut.tar.gz");
    bench.write("text.tar.gz", "no archive");
    bench.run(&["export", "--verify", "text.tar.gz"]).exits(1).says("text.tar.gz");
}

#[test]
fn names_that_a_record_kept_are_not_published_unasked() {
    let bench = Bench::small(DISK);
    bench.run(&["run", "s.toml", "--no-redact"]).exits(0);
    let run = bench.run_folder().display().to_string();
    bench.run(&["export", "--bundle", &run]).exits(1).says("kept the names").says("--no-redact");
    bench.run(&["export", "--bundle", &run, "--no-redact"]).exits(0);
}

#[test]
fn a_secret_written_into_a_record_by_hand_is_in_no_bundle() {
    let (bench, run) = measured();
    let secret = "https://canary-user:canary-pass@h/x AKIACANARYCANARY1234 /home/canary-home/x";
    let scenario = bench.run_folder().join("scenario.toml");
    fs::write(&scenario, format!("{}\n# {secret}\n", fs::read_to_string(&scenario).unwrap())).unwrap();
    let head = bench.run_folder().join("run.json");
    let mut json: Value = serde_json::from_str(&fs::read_to_string(&head).unwrap()).unwrap();
    json["title"] = secret.into();
    fs::write(&head, json.to_string()).unwrap();
    let cells = bench.run_folder().join("cells.jsonl");
    let text = fs::read_to_string(&cells).unwrap();
    fs::write(&cells, text.replacen("\"granted\":{", &format!("\"granted\":{{\"x\":\"{secret}\","), 1))
        .unwrap();

    bench.run(&["export", "--bundle", &run, "-o", "b.tar.gz"]).exits(0);
    bench.run(&["export", "--verify", "b.tar.gz"]).exits(0);
    let Some(folder) = unpacked(&bench) else { return };
    for entry in fs::read_dir(bench.path(&folder)).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for canary in ["canary-user", "canary-pass", "AKIACANARYCANARY1234", "canary-home"] {
            assert!(!text.contains(canary), "{canary} is in {}", path.display());
        }
    }
}
