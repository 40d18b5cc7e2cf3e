//! A record cut anywhere, and a damaged one.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use record::{
    CELLS_FILE, ENV_FILE, Format, INTERVALS_FILE, Line, RUN_FILE, Redactor, RunWriter, read_intervals,
    read_intervals_of, read_run,
};

use crate::sample;

fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("results/run");
    sample::write(&dir);
    (folder, dir)
}

fn truncate(path: &Path, bytes: usize) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(bytes as u64).unwrap();
}

/// From the whole to nothing: on both sides of each end of a line, and at each sixteenth byte between.
fn cuts(whole: &[u8]) -> impl Iterator<Item = usize> {
    let ends = |cut: usize| whole[cut.saturating_sub(2)..(cut + 2).min(whole.len())].contains(&b'\n');
    (0..=whole.len()).rev().filter(move |cut| cut % 16 == 0 || *cut == whole.len() || ends(*cut))
}

fn refusal(dir: &Path) -> String {
    read_run(dir).unwrap_err().to_string()
}

#[test]
fn a_cut_record_keeps_its_complete_lines_and_names_the_loss() {
    let (_folder, dir) = written();
    let path = dir.join(CELLS_FILE);
    let whole = fs::read(&path).unwrap();
    let all = sample::lines();
    for cut in cuts(&whole) {
        truncate(&path, cut);
        let left = &whole[..cut];
        let parts: Vec<&[u8]> = left.split(|byte| *byte == b'\n').collect();
        let (newlines, tail) = (parts.len() - 1, parts[parts.len() - 1].len());
        // A line that lacks only its newline is complete.
        let lacks_newline = tail > 0 && whole[cut] == b'\n';
        let complete = newlines + usize::from(lacks_newline);

        let record = read_run(&dir).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(record.lines, all[..complete], "cut at {cut}");
        let loss = record.loss.unwrap_or_default();
        assert_eq!(loss.contains("the run was cut"), complete < all.len(), "cut at {cut}: {loss}");
        let torn = format!("line {} of cells.jsonl is incomplete ({tail} bytes)", newlines + 1);
        assert_eq!(loss.contains(&torn), tail > 0 && !lacks_newline, "cut at {cut}: {loss}");
    }
}

#[test]
fn cut_intervals_keep_their_complete_members_and_name_the_loss() {
    let (_folder, dir) = written();
    let path = dir.join(INTERVALS_FILE);
    let whole = fs::read(&path).unwrap();
    let all = sample::intervals();
    let mut boundaries = Vec::new();
    for cut in (0..=whole.len()).rev() {
        truncate(&path, cut);
        let found = read_intervals(&dir).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(found.reps, all[..found.reps.len()], "cut at {cut}");
        match found.loss {
            Some(loss) => {
                let named = format!("member {} of intervals.jsonl.gz is cut", found.reps.len() + 1);
                assert!(loss.contains(&named), "cut at {cut}: {loss}");
            }
            None => boundaries.push((cut, found.reps.len())),
        }
    }
    let counts: Vec<_> = boundaries.iter().map(|(_, reps)| *reps).collect();
    assert_eq!(counts, [3, 2, 1, 0]);
    assert_eq!((boundaries[0].0, boundaries[3].0), (whole.len(), 0));
}

#[test]
fn a_cut_head_is_refused_and_never_panics() {
    for name in [RUN_FILE, ENV_FILE] {
        let (_folder, dir) = written();
        let path = dir.join(name);
        let whole = fs::read(&path).unwrap();
        // The last byte is the newline behind the value.
        for cut in cuts(&whole).filter(|cut| *cut < whole.len() - 1) {
            truncate(&path, cut);
            assert!(refusal(&dir).contains(name), "{name} cut at {cut}");
        }
        assert!(refusal(&dir).contains("the file is empty"));
    }
}

#[test]
fn what_a_cut_tore_is_taken_back_when_a_run_is_gone_on_with() {
    for name in [CELLS_FILE, INTERVALS_FILE] {
        let (_folder, dir) = written();
        let path = dir.join(name);
        let whole = fs::read(&path).unwrap();
        // Each waits for storage several times.
        for cut in cuts(&whole).step_by(7) {
            fs::write(&path, &whole[..cut]).unwrap();
            let (lines, members) =
                (read_run(&dir).unwrap().lines.len(), read_intervals(&dir).unwrap().reps.len());
            let mut writer = sample::gone_on(&dir);
            writer.append(&sample::lines()[0]).unwrap();
            writer.append_intervals(&sample::intervals()[0]).unwrap();
            assert_eq!(read_run(&dir).unwrap().lines.len(), lines + 1, "{name} cut at {cut}");
            let after = read_intervals(&dir).unwrap();
            assert_eq!((after.reps.len(), after.loss), (members + 1, None), "{name} cut at {cut}");
        }
    }
}

#[test]
fn a_record_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (run, env) = (sample::run(), sample::environment());
    let writer = RunWriter::create(&dir, &run, "", &env, Redactor::default()).unwrap();
    let reopen = || RunWriter::reopen(&dir, Redactor::default());
    let message = reopen().unwrap_err().to_string();
    assert!(message.contains("another feedline is writing it\n  hint: "), "{message}");
    drop(writer);
    let mut writer = reopen().unwrap();
    assert!(
        !dir.join(record::SEGMENTS_FILE).exists(),
        "who looks at a record and leaves has not gone on with it"
    );
    writer.go_on(&sample::segment()).unwrap();
    assert_eq!(read_run(&dir).unwrap().segments, [sample::segment()]);
}

#[test]
fn damage_in_the_middle_is_an_error_that_names_the_line() {
    let (_folder, dir) = written();
    let path = dir.join(CELLS_FILE);
    let mut bytes = fs::read(&path).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second] = b'#';
    fs::write(&path, bytes).unwrap();
    let message = refusal(&dir);
    assert!(message.starts_with("cannot read line 2 of `"), "{message}");
    assert!(message.contains("\n  hint: "), "{message}");
}

#[test]
fn a_damaged_member_is_an_error_that_names_it() {
    let (_folder, dir) = written();
    let path = dir.join(INTERVALS_FILE);
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] = b'#';
    fs::write(&path, bytes).unwrap();
    let message = read_intervals(&dir).unwrap_err().to_string();
    assert!(message.starts_with("cannot read member 1 of `"), "{message}");
}

#[test]
fn histograms_are_read_from_the_file_when_they_are_asked_for() {
    let (_folder, dir) = written();
    let record = read_run(&dir).unwrap();
    assert_eq!(record.lines, sample::lines());
    let histograms = || {
        let reps = record.lines.iter().filter_map(|line| match line {
            Line::Rep(rep) => Some(rep),
            _ => None,
        });
        reps.flat_map(|rep| rep.histograms.values())
    };
    assert!(histograms().count() > 1 && histograms().all(|text| text.decode().is_ok()));
    // What is read is the file, and one that was written over or cut since is an error of each, no other figure and no panic.
    let cells = dir.join(CELLS_FILE);
    let before = fs::read_to_string(&cells).unwrap();
    let other = before.replace("HISTFA", "HISTFB");
    assert_ne!(before, other);
    fs::write(&cells, other).unwrap();
    for text in histograms() {
        let message = text.decode().unwrap_err().to_string();
        assert!(message.contains("was changed after it was read"), "{message}");
    }
    truncate(&cells, 10);
    for text in histograms() {
        let message = text.decode().unwrap_err().to_string();
        assert!(message.starts_with("cannot read a histogram from its record: "), "{message}");
    }
    assert!(serde_json::to_vec(&record.lines[1]).is_err());
    assert_eq!(record.lines, sample::lines(), "as they were read");
}

#[test]
fn a_missing_file_is_named() {
    for name in [RUN_FILE, ENV_FILE, CELLS_FILE] {
        let (_folder, dir) = written();
        fs::remove_file(dir.join(name)).unwrap();
        let message = refusal(&dir);
        assert!(message.contains(&format!("{name}` is missing\n  hint: ")), "{message}");
    }
}

#[test]
fn a_record_without_intervals_is_read() {
    let (_folder, dir) = written();
    fs::remove_file(dir.join(INTERVALS_FILE)).unwrap();
    assert_eq!(read_intervals(&dir).unwrap(), record::RecordedIntervals::default());
    assert_eq!(read_run(&dir).unwrap().loss, None);
}

#[test]
fn seconds_are_kept_of_the_cells_that_are_asked_for() {
    let (_folder, dir) = written();
    let all = sample::intervals();
    let kept = read_intervals_of(&dir, |cell| cell == all[0].cell).unwrap();
    let expected = all.iter().map(|rep| {
        let seconds = if rep.cell == all[0].cell { rep.seconds.clone() } else { Vec::new() };
        record::RepIntervals { seconds, ..rep.clone() }
    });
    assert_eq!(kept.reps, expected.collect::<Vec<_>>());
    assert!(read_intervals_of(&dir, |_| false).unwrap().reps.iter().all(|rep| rep.seconds.is_empty()));
}

#[test]
fn a_newer_record_is_refused_if_its_major_is_newer() {
    let (_folder, dir) = written();
    let path = dir.join(RUN_FILE);
    let text = fs::read_to_string(&path).unwrap();
    let with = |format: &str| {
        let current = format!("\"major\": 1,\n    \"minor\": {}", Format::CURRENT.minor);
        assert!(text.contains(&current));
        fs::write(&path, text.replacen(&current, format, 1)).unwrap();
        read_run(&dir)
    };
    let read = with(r#""major": 1, "minor": 9, "later": [1]"#).unwrap();
    assert_eq!((read.run.format.minor, read.lines), (9, sample::lines()));
    let message = with(r#""major": 2, "minor": 0"#).unwrap_err().to_string();
    assert!(
        message.contains("written by a newer feedline, format 2; this one reads up to 1: upgrade"),
        "{message}"
    );

    fs::write(&path, r#"{ "format": { "major": 3, "minor": 1 }, "nothing": "known" }"#).unwrap();
    assert!(refusal(&dir).contains("format 3"), "the version is checked before anything else is read");
}

#[test]
fn fields_of_a_later_minor_are_ignored_in_lines() {
    let (_folder, dir) = written();
    let path = dir.join(CELLS_FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("{\"line\":", "{\"later\":{\"x\":1},\"line\":")).unwrap();
    assert_eq!(read_run(&dir).unwrap().lines, sample::lines());
}

#[test]
fn a_folder_in_place_of_a_file_is_an_error() {
    let (_folder, dir) = written();
    fs::remove_file(dir.join(CELLS_FILE)).unwrap();
    fs::create_dir(dir.join(CELLS_FILE)).unwrap();
    assert!(refusal(&dir).starts_with("cannot read `"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn arbitrary_bytes_in_any_file_never_panic(
        file in prop::sample::select(vec![RUN_FILE, ENV_FILE, CELLS_FILE, INTERVALS_FILE]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        keep in 0..3000_usize,
    ) {
        let (_folder, dir) = written();
        let mut content = fs::read(dir.join(file)).unwrap();
        content.truncate(keep);
        content.extend(bytes);
        fs::write(dir.join(file), content).unwrap();
        if let Ok(record) = read_run(&dir) {
            let whole = record.lines.iter().any(|line| matches!(line, Line::End(_)));
            prop_assert!(whole || record.loss.is_some());
        }
        let _ = read_intervals(&dir);
    }
}

#[test]
fn an_existing_directory_is_never_overwritten() {
    let (_folder, dir) = written();
    let before = fs::read(dir.join(CELLS_FILE)).unwrap();
    let again = record::RunWriter::create(
        &dir,
        &sample::run(),
        "",
        &sample::environment(),
        record::Redactor::default(),
    );
    let message = again.unwrap_err().to_string();
    assert!(message.contains("it exists already\n  hint: "), "{message}");
    assert_eq!(fs::read(dir.join(CELLS_FILE)).unwrap(), before);
    assert!(File::open(dir.join("run.tmp")).is_err());
}
