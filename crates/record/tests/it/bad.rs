//! Records that no run of feedline wrote: of several versions, without repetitions, with figures that are none.

use std::fs;
use std::path::{Path, PathBuf};

use record::{CELLS_FILE, ENV_FILE, INTERVALS_FILE, Line, Outcome, RUN_FILE, Rep, read_intervals, read_run};

use crate::sample;

fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sample::write(&dir);
    (folder, dir)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn edit(dir: &Path, file: &str, edit: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(dir.join(file)).unwrap();
    let edited = edit(text.clone());
    assert_ne!(edited, text, "nothing was changed");
    fs::write(dir.join(file), edited).unwrap();
}

/// What is said after one figure of `file` was replaced.
fn with_figure(file: &str, figure: &str, by: &str) -> Result<record::RunRecord, String> {
    let (_folder, dir) = written();
    edit(&dir, file, |text| text.replacen(figure, by, 1));
    read_run(&dir).map_err(|error| error.to_string())
}

#[test]
fn files_of_several_versions_are_read_together() {
    let versions = ["v1", "v1_1", "v1_2", "v1_3", "v1_4"];
    for head in versions {
        for lines in versions {
            let folder = tempfile::tempdir().unwrap();
            let origin = [(RUN_FILE, head), (ENV_FILE, head), (CELLS_FILE, lines), (INTERVALS_FILE, lines)];
            for (file, version) in origin {
                fs::copy(fixture(version).join(file), folder.path().join(file)).unwrap();
            }
            let record = read_run(folder.path()).unwrap();
            assert_eq!(record.lines, read_run(&fixture(lines)).unwrap().lines, "{head} with {lines}");
            assert_eq!(record.run, read_run(&fixture(head)).unwrap().run);
            assert_eq!(read_intervals(folder.path()).unwrap().reps.len(), 3);
        }
    }
}

#[test]
fn lines_of_several_versions_in_one_file_are_read() {
    let (_folder, dir) = written();
    let old = fs::read_to_string(fixture("v1").join(CELLS_FILE)).unwrap();
    let old: Vec<&str> = old.lines().filter(|line| line.contains("\"line\":\"rep\"")).collect();
    edit(&dir, CELLS_FILE, |text| format!("{}\n{text}", old.join("\n")));
    let record = read_run(&dir).unwrap();
    assert_eq!((record.lines.len(), record.loss), (old.len() + sample::lines().len(), None));
}

#[test]
fn a_run_without_repetitions_is_whole() {
    let (_folder, dir) = written();
    edit(&dir, CELLS_FILE, |text| format!("{}\n", text.lines().last().unwrap()));
    let record = read_run(&dir).unwrap();
    assert!(matches!(record.lines.as_slice(), [Line::End(_)]) && record.loss.is_none());
    fs::write(dir.join(CELLS_FILE), "").unwrap();
    let record = read_run(&dir).unwrap();
    assert_eq!((record.lines, record.loss.unwrap().contains("the run was cut")), (Vec::new(), true));
}

#[test]
fn a_run_of_errors_alone_keeps_every_reason() {
    let (_folder, dir) = written();
    let lines: String = sample::lines()
        .into_iter()
        .map(|line| match line {
            Line::Rep(rep) => Line::Rep(Box::new(Rep {
                outcome: Outcome::Failed { reason: "the device is gone".to_owned() },
                ..*rep
            })),
            other => other,
        })
        .map(|line| serde_json::to_string(&line).unwrap() + "\n")
        .collect();
    fs::write(dir.join(CELLS_FILE), lines).unwrap();
    let reps = read_run(&dir).unwrap().lines;
    let failed = reps.iter().filter(|line| {
        matches!(line, Line::Rep(rep) if matches!(&rep.outcome, Outcome::Failed { reason } if reason.contains("gone")))
    });
    assert_eq!(failed.count(), 5);
}

#[test]
fn figures_that_are_no_numbers_are_refused_with_their_place() {
    for by in ["NaN", "Infinity", "-1", "1.5", "1e999", "\"2000000000\"", "null", "18446744073709551616", ""]
    {
        let line = with_figure(CELLS_FILE, "\"window_ns\":2000000000", &format!("\"window_ns\":{by}"));
        let message = line.unwrap_err();
        assert!(message.starts_with("cannot read line 1 of `"), "{by}: {message}");
    }
    for by in ["NaN", "1e999", "\"0.9\"", ""] {
        let head = with_figure(RUN_FILE, "\"utilization\": 0.9", &format!("\"utilization\": {by}"));
        let message = head.unwrap_err();
        assert!(message.contains(RUN_FILE) && message.contains("  hint: "), "{by}: {message}");
    }
}

#[test]
fn figures_at_the_ends_of_their_range_are_read() {
    for by in ["0", "18446744073709551615"] {
        let record =
            with_figure(CELLS_FILE, "\"window_ns\":2000000000", &format!("\"window_ns\":{by}")).unwrap();
        assert!(matches!(&record.lines[0], Line::Ceiling(ceiling) if ceiling.window_ns.to_string() == by));
    }
    let tiny = with_figure(RUN_FILE, "\"utilization\": 0.9", "\"utilization\": -1e-308").unwrap();
    assert!(tiny.run.need.utilization < 0.0);
}

#[test]
fn a_line_twice_and_one_that_is_none_are_named() {
    let (_folder, dir) = written();
    edit(&dir, CELLS_FILE, |text| text.replacen("\"ops\":", "\"ops\":1,\"ops\":", 1));
    let twice = read_run(&dir).unwrap_err().to_string();
    assert!(twice.contains("line 1 of") && twice.contains("duplicate field `ops`"), "{twice}");
    for content in ["\n", "[]\n", "{}\n", "{\"line\":\"later\"}\n", "\u{0}\n"] {
        fs::write(dir.join(CELLS_FILE), content).unwrap();
        let message = read_run(&dir).unwrap_err().to_string();
        assert!(message.starts_with("cannot read line 1 of `"), "{content:?}: {message}");
    }
}
