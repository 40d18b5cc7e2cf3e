//! The workflows that the book offers: they parse, and what they call is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Bench, DISK, finish, skip};

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

fn help(args: &[&str]) -> String {
    let help = Command::new(env!("CARGO_BIN_EXE_feedline")).args(args).output().unwrap();
    assert!(help.status.success(), "{args:?}");
    String::from_utf8(help.stdout).unwrap()
}

/// Verbs, as the help of the binary lists them.
fn verbs() -> Vec<String> {
    let help = help(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs =
        listed.take_while(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next());
    verbs.map(str::to_owned).collect()
}

/// What a line passes to feedline, up to where the shell goes on to something else.
fn call(line: &str) -> Option<Vec<&str>> {
    let (_, call) = line.split_once("feedline ")?;
    let ends = |word: &&str| ["|", "||", "&&", ";", ">", ">>", "#"].contains(word);
    Some(call.split_whitespace().take_while(|word| !ends(word)).collect())
}

/// Whether a help lists exactly this option.
fn lists(help: &str, option: &str) -> bool {
    help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == option)
}

#[test]
fn every_verb_and_option_of_a_workflow_is_one_of_the_binary() {
    let verbs = verbs();
    assert!(verbs.iter().any(|verb| verb == "run") && verbs.len() > 10, "{verbs:?}");
    for (path, text) in templates() {
        let joined = text.replace("\\\n", " ");
        let calls = joined.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(call);
        let mut used = 0;
        for call in calls.filter(|call| call.first().is_some_and(|verb| verbs.iter().any(|one| one == verb)))
        {
            let help = help(&[call[0], "--help"]);
            let options = call[1..].iter().filter(|word| word.starts_with('-'));
            for option in options.filter_map(|word| word.split('=').next()) {
                assert!(lists(&help, option), "`{} {option}` in {}", call[0], path.display());
            }
            used += 1;
        }
        assert!(used > 1, "{} calls feedline", path.display());
    }
}

/// A workflow finds the record of its run in the answer.
#[test]
fn workflows_find_the_run_in_what_it_printed() {
    let bench = Bench::small(DISK);
    bench.write("page.txt", &finish(bench.bare(&["s.toml", "-q"])).exits(0).out);
    let finds = templates().into_iter().flat_map(|(path, text)| {
        let lines: Vec<String> =
            text.lines().map(|line| line.trim_start_matches([' ', '-']).to_owned()).collect();
        lines.into_iter().filter(|line| line.starts_with("run=$(")).map(move |line| (path.clone(), line))
    });
    let mut found = 0;
    for (path, line) in finds {
        let script = format!("{line}; echo \"$run\"");
        let shell = Command::new("sh").args(["-c", &script]).current_dir(bench.path("")).output().unwrap();
        let run = String::from_utf8(shell.stdout).unwrap();
        assert!(
            bench.path(run.trim()).join("cells.jsonl").is_file() && !run.trim().is_empty(),
            "{run} in {}",
            path.display()
        );
        found += 1;
    }
    assert_eq!(found, 2);
}
