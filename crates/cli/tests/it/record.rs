//! What a run leaves behind, whatever happens to it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::harness::{Bench, DISK, finish, measured};

/// Every byte of every file below a folder.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        text.push_str(&String::from_utf8_lossy(&fs::read(entry.unwrap().path()).unwrap()));
    }
    text
}

#[test]
fn names_and_secrets_stay_out_of_the_record_and_the_output() {
    let bench = Bench::small(DISK);
    let title = "title=\"on AKIAIOSFODNN7EXAMPLE at https://user:hunter2@host/x?X-Amz-Signature=deadbeef01\"";
    let ran = bench.run(&["run", "s.toml", "--set", title]).exits(0);
    let kept = all_text(&bench.run_folder());
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for secret in ["AKIAIOSFODNN7EXAMPLE", "hunter2", "deadbeef01", "canary-home", "canary-user"] {
        assert!(!kept.contains(secret), "{secret} is in the record");
        assert!(!ran.out.contains(secret), "{secret} was printed");
    }
    let hostname = hostname.trim();
    if hostname.len() > 3 {
        assert!(!kept.contains(&format!("\"{hostname}\"")), "the name of the host is in the record");
    }
}

#[test]
fn a_record_cut_short_still_reports_and_says_what_is_lost() {
    let (bench, _) = measured();
    let cells = bench.run_folder().join("cells.jsonl");
    let whole = fs::read(&cells).unwrap();
    fs::write(&cells, &whole[..whole.len() / 2]).unwrap();
    bench.run(&["report", bench.run_folder().to_str().unwrap()]).exits(0).says("cut");
}

#[test]
fn a_record_of_a_newer_feedline_is_refused() {
    let (bench, _) = measured();
    let head = bench.run_folder().join("run.json");
    let mut run: serde_json::Value = serde_json::from_str(&fs::read_to_string(&head).unwrap()).unwrap();
    run["format"]["major"] = 2.into();
    fs::write(&head, run.to_string()).unwrap();
    bench.run(&["report", bench.run_folder().to_str().unwrap()]).exits(1).says("newer");
}

#[test]
fn a_folder_that_is_no_run_is_an_error() {
    let bench = Bench::new();
    bench.run(&["report", "."]).exits(1).says("run.json");
}

#[test]
fn what_is_made_of_a_record_is_not_written_over_it() {
    let bench = Bench::small(DISK);
    bench.run(&["run", "s.toml"]).exits(0);
    let folder = fs::read_dir(bench.path("results")).unwrap().next().unwrap().unwrap().path();
    let record = folder.to_str().unwrap();
    for (verb, format, file) in [("export", "jsonl", "cells.jsonl"), ("report", "markdown", "run.json")] {
        let over = folder.join(file);
        let over = ["--format", format, "-o", over.to_str().unwrap()];
        bench.run(&[&[verb, record], &over[..]].concat()).exits(1).says("never overwritten").says(file);
    }
    bench.run(&["report", record]).exits(0);
}

#[test]
fn a_path_that_is_no_text_is_a_path() {
    let bench = Bench::small(DISK);
    let mut command = bench.bare(&["run", "s.toml", "-o"]);
    command.arg(OsStr::from_bytes(b"r\xe9sultats"));
    finish(command).exits(0);
}

#[test]
fn results_that_cannot_be_written_are_an_error_that_says_where() {
    let bench = Bench::small(DISK);
    bench.write("results", "a file, not a folder");
    bench.run(&["run", "s.toml"]).exits(1).says("results");
}
