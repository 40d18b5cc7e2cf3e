//! What storage does to a record: each call that changes something fails once, and the power goes out after each.

mod every_call;
mod power;

use std::path::{Path, PathBuf};

use record::{Line, Redactor, RepIntervals, RunWriter, WriteError, read_run};
use syscalls::{Answer, Call};

use crate::sample;

/// What was recorded, and the errors on the way.
#[derive(Debug, Default)]
struct Recorded {
    lines: Vec<Line>,
    members: Vec<RepIntervals>,
    errors: Vec<String>,
}

/// Tries again what failed, once.
fn twice<T>(errors: &mut Vec<String>, mut attempt: impl FnMut() -> Result<T, WriteError>) -> T {
    attempt().unwrap_or_else(|error| {
        errors.push(error.to_string());
        attempt().unwrap()
    })
}

/// Records the sample's lines in two parts, the second by another writer. Where the record itself cannot be made, another
/// is made beside it.
fn record(folder: &Path) -> (PathBuf, Recorded) {
    let mut recorded = Recorded::default();
    let (run, env) = (sample::run(), sample::environment());
    let mut tries = ["run", "again"].into_iter();
    let mut dir = folder.join("results");
    let mut writer = twice(&mut recorded.errors, || {
        dir = folder.join("results").join(tries.next().unwrap());
        RunWriter::create(&dir, &run, "version = 1\n", &env, Redactor::default())
    });
    let (lines, members) = (sample::lines(), sample::intervals());
    let half = lines.len() / 2;
    for (index, line) in lines.iter().enumerate() {
        if index == half {
            drop(writer);
            writer = twice(&mut recorded.errors, || RunWriter::reopen(&dir, Redactor::default()));
            twice(&mut recorded.errors, || writer.go_on(&sample::segment()));
        }
        if let Some(member) = members.get(index) {
            twice(&mut recorded.errors, || writer.append_intervals(member));
            recorded.members.push(member.clone());
        }
        twice(&mut recorded.errors, || writer.append(line));
        recorded.lines.push(line.clone());
    }
    (dir, recorded)
}

/// [`syscalls::watch`], where storage is not waited for.
fn watch<T: Send>(
    folder: &Path,
    mut answer: impl FnMut(&Call) -> Answer,
    body: impl FnOnce() -> T + Send,
) -> Option<(T, Vec<Call>)> {
    let answer = |call: &Call| match answer(call) {
        Answer::Pass if matches!(call, Call::Sync { .. }) => Answer::Skip,
        answer => answer,
    };
    syscalls::watch(folder, answer, body)
}

/// The lines that lie in `dir`.
fn lines(dir: &Path) -> Vec<Line> {
    read_run(dir).unwrap().lines
}
