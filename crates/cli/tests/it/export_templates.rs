//! The workflows that the book offers: they parse, and what they call is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::skip;

fn templates() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/ci");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    files
}

#[test]
fn workflows_are_yaml() {
    let script = "import sys, yaml\nfor name in sys.argv[1:]:\n    assert isinstance(yaml.safe_load(open(name)), dict), name";
    let has_yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    if !has_yaml.is_ok_and(|output| output.status.success()) {
        return skip("no python3 with yaml here");
    }
    let names = templates().into_iter().map(|(path, _)| path);
    let parsed = Command::new("python3").args(["-c", script]).args(names).output().unwrap();
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
}

#[test]
fn every_verb_and_option_of_a_workflow_is_one_of_the_binary() {
    for (path, text) in templates() {
        let joined = text.replace("\\\n", " ");
        let calls: Vec<&str> = joined
            .lines()
            .filter_map(|line| line.trim().split_once("feedline "))
            .map(|(_, call)| call)
            .collect();
        let known = ["run", "compare", "export", "prepare", "report", "history", "calibrate"];
        let verbs = calls
            .iter()
            .filter_map(|call| call.split_whitespace().next())
            .filter(|verb| known.contains(verb));
        assert!(verbs.count() > 0, "{} calls feedline", path.display());
        for call in calls.iter().filter(|call| call.starts_with("export ")) {
            let help =
                Command::new(env!("CARGO_BIN_EXE_feedline")).args(["export", "--help"]).output().unwrap();
            let help = String::from_utf8(help.stdout).unwrap();
            for option in call.split_whitespace().filter(|word| word.starts_with("--")) {
                assert!(help.contains(option), "{option} in {}", path.display());
            }
        }
    }
}
