//! Rules of the house that a compiler does not know.

use std::fs;
use std::path::{Path, PathBuf};

const FUNCTION_LINES_MAX: usize = 100;

/// Files that may name a backend or an engine: where they are defined, read from a scenario, and opened.
const MAY_NAME_BACKENDS: [&str; 4] =
    ["crates/plan/", "crates/scenario/", "crates/cli/src/open.rs", "crates/cli/src/emulated.rs"];

/// Words that must not be left in the code.
const LEFTOVERS: [&str; 4] = ["FIX\u{4d}E", "TO\u{44}O", "XX\u{58}", "unimplemented\u{21}"];

pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    collect(&root().join("crates"), &mut sources);
    collect(&root().join("versus/src"), &mut sources);
    assert!(sources.len() > 50, "the sources were not found");
    sources
}

fn collect(folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            sources.push(Source { name, text: fs::read_to_string(&path).unwrap() });
        }
    }
}

/// The book names the tests that hold what it promises.
#[test]
fn promises_are_held_by_tests_that_exist() {
    let page = fs::read_to_string(root().join("docs/src/promises.md")).unwrap();
    let sources = sources();
    let mut held = 0;
    for promise in page.split("\n- ").skip(1) {
        let tests = promise.split("Held by").nth(1).unwrap_or_else(|| panic!("nothing holds: {promise}"));
        let tests = tests.split("\n\n").next().unwrap().split('`').skip(1).step_by(2);
        for test in tests {
            let is_there = sources.iter().any(|source| source.text.contains(&format!("fn {test}(")));
            assert!(is_there, "no test is called {test}");
            held += 1;
        }
    }
    assert!(held > 30, "{held} tests are named");
}

#[test]
fn only_plan_scenario_and_open_name_a_backend_or_an_engine() {
    let naming = [
        "BackendConfig::",
        "Engine::IoUring",
        "Engine::Pread",
        "Engine::Nfs3",
        "Engine::Lean",
        "Engine::Sdk",
    ];
    for source in sources() {
        let allowed = MAY_NAME_BACKENDS.iter().any(|prefix| source.name.starts_with(prefix));
        let code = source.text.split("#[cfg(test)]").next().unwrap();
        // What measures the emulated servers against their prediction opens each of them by itself.
        let measures = source.name.contains("/examples/");
        if allowed || measures || source.name.contains("/tests/") {
            continue;
        }
        for name in naming {
            assert!(!code.contains(name), "{} matches on {name}", source.name);
        }
    }
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for source in sources().iter().filter(|source| !source.name.contains("/tests/")) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let words = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            if !(words.starts_with("fn ")
                || words.starts_with("const fn ")
                || words.starts_with("unsafe fn "))
            {
                continue;
            }
            // A declaration has no body.
            if line.ends_with(';') {
                continue;
            }
            let closing = format!("{}}}", " ".repeat(indent));
            let length = lines[start..].iter().position(|line| *line == closing).unwrap_or(0);
            if length > FUNCTION_LINES_MAX {
                long.push(format!("{}:{} {length} lines", source.name, start + 1));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn nothing_is_left_over() {
    for source in sources() {
        for word in LEFTOVERS {
            assert!(!source.text.contains(word), "{} holds {word}", source.name);
        }
    }
}

/// Curated runs are kept small, and without their per-second histograms.
#[test]
fn committed_results_stay_small() {
    let results = root().join("results");
    let mut total = 0;
    for run in fs::read_dir(&results).into_iter().flatten().flatten() {
        // Runs of whoever builds here begin with their date and are not committed.
        if run.file_name().to_string_lossy().starts_with('2') || !run.path().is_dir() {
            continue;
        }
        let files = files_below(&run.path());
        let bytes: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
        // Those of claims are many, a folder each.
        let runs = files.iter().filter(|file| file.ends_with("run.json")).count() as u64;
        let most = if run.file_name() == "claims" { 180_000 * runs } else { 2_000_000 };
        assert!(bytes <= most, "{} holds {bytes} B", run.path().display());
        // One short run has its seconds, so that the book can show a heat map.
        let with_seconds = files.iter().find(|file| file.ends_with("intervals.jsonl.gz"));
        assert!(with_seconds.is_none_or(|_| run.file_name() == "over-time"), "{with_seconds:?}");
        total += bytes;
    }
    assert!(total <= 20_000_000, "results hold {total} B");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
