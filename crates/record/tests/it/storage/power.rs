//! The power goes out after each call by which a record is written.
//!
//! From the calls of one run a model makes what may lie on storage then: what was waited for is there, and of the rest
//! anything may be missing. A file system that keeps less than that breaks fsync(2); one that keeps more is not tested more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use record::{CELLS_FILE, INTERVALS_FILE, Line, RUN_FILE, read_intervals, read_run};
use syscalls::{Answer, Call};

use super::{record, watch};
use crate::sample;

/// What becomes of that of a file which was written and not waited for.
#[derive(Debug, Clone, Copy)]
enum Unsynced {
    Kept,
    Lost,
    /// So many eighths of it are there.
    Torn(usize),
    /// The file has its length, and zeros lie there: its size was on storage before its bytes.
    Zeros,
}

const ALL: [Unsynced; 10] = [
    Unsynced::Kept,
    Unsynced::Lost,
    Unsynced::Torn(1),
    Unsynced::Torn(2),
    Unsynced::Torn(3),
    Unsynced::Torn(4),
    Unsynced::Torn(5),
    Unsynced::Torn(6),
    Unsynced::Torn(7),
    Unsynced::Zeros,
];

#[derive(Debug, Clone, Default)]
struct File {
    bytes: Vec<u8>,
    /// Bytes that are on storage for certain.
    synced: usize,
}

/// Files as the process sees them, and what of them is on storage.
#[derive(Debug, Clone, Default)]
struct Disk {
    files: BTreeMap<PathBuf, File>,
}

impl Disk {
    fn after(calls: &[Call]) -> Self {
        let mut disk = Self::default();
        for call in calls {
            disk.take(call);
        }
        disk
    }

    fn take(&mut self, call: &Call) {
        match call {
            Call::Create { path } => drop(self.files.entry(path.clone()).or_default()),
            Call::Write { path, bytes } => {
                if let Some(file) = self.files.get_mut(path) {
                    file.bytes.extend_from_slice(bytes);
                }
            }
            Call::Truncate { path, bytes } => {
                if let Some(file) = self.files.get_mut(path) {
                    file.bytes.truncate(*bytes as usize);
                    file.synced = file.synced.min(file.bytes.len());
                }
            }
            Call::Sync { path } => {
                if let Some(file) = self.files.get_mut(path) {
                    file.synced = file.bytes.len();
                }
            }
            Call::Rename { from, to } => {
                if let Some(file) = self.files.remove(from) {
                    self.files.insert(to.clone(), file);
                }
            }
            Call::SyncAll { .. } | Call::MakeFolder { .. } => {}
            Call::Link { .. } | Call::Remove { .. } => panic!("a record is only added to: {call:?}"),
        }
    }

    /// What lies in `dir` of these files after the power was out.
    fn write(&self, dir: &Path, unsynced: Unsynced) {
        for (path, file) in &self.files {
            let (synced, rest) = file.bytes.split_at(file.synced);
            let rest = match unsynced {
                Unsynced::Kept => rest.to_vec(),
                Unsynced::Lost => Vec::new(),
                Unsynced::Torn(eighths) => rest[..rest.len() * eighths / 8].to_vec(),
                Unsynced::Zeros => vec![0; rest.len()],
            };
            fs::write(dir.join(path.file_name().unwrap()), [synced, &rest].concat()).unwrap();
        }
    }
}

/// A folder in memory, where there is one: what is read here waits for storage many times, and a busy disk keeps it waiting.
fn in_memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Times that a file was waited for.
fn synced(calls: &[Call], name: &str) -> usize {
    calls.iter().filter(|call| matches!(call, Call::Sync { path } if path.ends_with(name))).count()
}

#[test]
fn whenever_the_power_goes_out_what_was_waited_for_is_there_and_the_loss_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(((dir, _), calls)) = watch(folder.path(), |_| Answer::Pass, || record(folder.path())) else {
        return;
    };
    after_each_call(&dir, &calls);
    let all = (sample::lines().len(), sample::intervals().len());
    assert_eq!((synced(&calls, CELLS_FILE), synced(&calls, INTERVALS_FILE)), all);
}

/// Reads what may be left of the record in `dir` after each of `calls`.
fn after_each_call(dir: &Path, calls: &[Call]) {
    // From here on its names are on storage.
    let is_made = |call: &Call| matches!(call, Call::Sync { path } if *path == dir);
    let made = calls.iter().position(is_made).unwrap() + 1;
    let (lines, members) = (sample::lines(), sample::intervals());
    for end in made..=calls.len() {
        let disk = Disk::after(&calls[..end]);
        let waited = (synced(&calls[..end], CELLS_FILE), synced(&calls[..end], INTERVALS_FILE));
        for unsynced in ALL {
            let left = in_memory();
            disk.write(left.path(), unsynced);
            let name =
                format!("after {end} calls, the last of {}, {unsynced:?}", calls[end - 1].path().display());
            let record = read_run(left.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(record.lines.len() >= waited.0 && lines.starts_with(&record.lines), "{name}");
            let is_whole = matches!(record.lines.last(), Some(Line::End(_)));
            assert_eq!(record.loss.is_none(), is_whole, "{name}: {:?}", record.loss);
            let found = read_intervals(left.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(found.reps.len() >= waited.1 && members.starts_with(&found.reps), "{name}");
            goes_on(left.path(), (record.lines.len(), found.reps.len()), &name);
        }
    }
}

/// What is left can be gone on with, and nothing of it is lost.
fn goes_on(dir: &Path, (lines, members): (usize, usize), name: &str) {
    let mut writer = sample::gone_on(dir);
    writer.append(&sample::lines()[0]).unwrap();
    writer.append_intervals(&sample::intervals()[0]).unwrap();
    let found = read_intervals(dir).unwrap();
    let now = (read_run(dir).unwrap().lines.len(), found.reps.len());
    assert_eq!((now, found.loss), ((lines + 1, members + 1), None), "{name}");
}

/// Before its names are on storage there is no record: it is refused, or whole.
#[test]
fn a_record_that_was_being_made_is_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    let Some(((dir, _), calls)) = watch(folder.path(), |_| Answer::Pass, || record(folder.path())) else {
        return;
    };
    let made = calls.iter().position(|call| matches!(call, Call::Sync { path } if *path == dir)).unwrap();
    for end in 0..made {
        for unsynced in ALL {
            let left = in_memory();
            Disk::after(&calls[..end]).write(left.path(), unsynced);
            let has_head = left.path().join(RUN_FILE).exists();
            match read_run(left.path()) {
                Ok(record) => assert!(has_head && record.lines.is_empty() && record.loss.is_some()),
                Err(error) => assert!(!has_head, "after {end} calls, {unsynced:?}: {error}"),
            }
        }
    }
}
