//! Each call by which a record is written fails once.

use std::fs;

use record::read_intervals;
use syscalls::{Answer, Call};

use super::{lines, record, watch};
use crate::sample;

/// How a call fails on a full or failing disk, or where rights were taken away, and how the system says it.
fn error(call: &Call) -> (i32, &'static str) {
    match call {
        Call::Write { .. } | Call::Truncate { .. } => (libc::ENOSPC, "No space left on device"),
        Call::Sync { .. } | Call::SyncAll { .. } => (libc::EIO, "Input/output error"),
        _ => (libc::EACCES, "Permission denied"),
    }
}

/// Lets call `number` of a record fail, after the first half of it is written where `torn`. Whether there was such a call.
fn fails(number: usize, torn: bool) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("results/theirs");
    fs::create_dir(folder.path().join("results")).unwrap();
    fs::write(&theirs, "precious").unwrap();
    let mut seen = 0_usize;
    let mut failed = None;
    let answer = |call: &Call| {
        let at = seen;
        seen += 1;
        let is_write = matches!(call, Call::Write { .. });
        match at.checked_sub(number) {
            Some(0) if torn && is_write => Answer::Half,
            Some(0) if torn => Answer::Pass,
            Some(0) => {
                failed = Some(call.clone());
                Answer::Fail(error(call).0)
            }
            Some(1) if torn && is_write => {
                failed = Some(call.clone());
                Answer::Fail(error(call).0)
            }
            _ => Answer::Pass,
        }
    };
    let ((dir, recorded), _) = watch(folder.path(), answer, || record(folder.path()))?;
    let Some(failed) = failed else { return Some(seen > number) };
    let words = error(&failed).1;
    let name = format!("call {number}, {failed:?}, torn: {torn}");
    // What is tried again after the error is there once, and so is all that came before and after.
    assert_eq!(lines(&dir), recorded.lines, "{name}");
    assert_eq!(read_intervals(&dir).unwrap().reps, recorded.members, "{name}");
    assert_eq!((recorded.lines, recorded.members), (sample::lines(), sample::intervals()), "{name}");
    let [said] = &recorded.errors[..] else { panic!("{name}: {:?}", recorded.errors) };
    let object = folder.path().join("results").display().to_string();
    assert!(said.contains(&object) && said.contains(words), "{name}: {said}");
    assert!(said.contains("\n  hint: "), "{name}: {said}");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious", "{name}");
    Some(true)
}

#[test]
fn whichever_call_fails_a_record_keeps_what_it_had_and_the_next_attempt_completes_it() {
    let mut calls = 0;
    while fails(calls, false).unwrap_or(false) {
        calls += 1;
    }
    assert!(calls > 40 || fails(0, false).is_none(), "only {calls} calls were made");
}

#[test]
fn whichever_write_stops_half_way_a_record_keeps_what_it_had_and_the_next_attempt_completes_it() {
    let mut calls = 0;
    while fails(calls, true).unwrap_or(false) {
        calls += 1;
    }
}
