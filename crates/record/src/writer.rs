//! Writing a run directory: what is on disk after any crash is a readable record of what was done until then.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::intervals::{member, whole_bytes};
use crate::locked::LockedFile;
use crate::{
    CELLS_FILE, ENV_FILE, Environment, HistogramText, INTERVALS_FILE, Line, RUN_FILE, Redactor, RepIntervals,
    Run, SCENARIO_FILE, SEGMENTS_FILE, Segment,
};

/// Why a record cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The run directory exists; a record is never overwritten.
    #[error(
        "cannot create the run directory `{}`: it exists already\n  \
         hint: a record is never overwritten; choose another folder for results",
        dir.display()
    )]
    Exists {
        /// The directory.
        dir: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}\n  hint: {hint}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What to do next.
        hint: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// A value has no form in JSON, such as a number that is not finite.
    #[error(
        "cannot encode `{}`: {source}\n  hint: this is a mistake in feedline; please report it",
        path.display()
    )]
    Encode {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// Another process appends to it.
    #[error(
        "cannot append to `{}`: another feedline is writing it\n  \
         hint: wait for its end; what it measured is one run",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// An earlier write left a torn line that could not be taken back.
    #[error(
        "cannot append to `{}`: an earlier write failed and left its last line torn\n  \
         hint: what was recorded before can be read; run again",
        path.display()
    )]
    Torn {
        /// The file.
        path: PathBuf,
    },
}

/// Writes one run directory. Whatever it writes passes through the redactor, but for histograms.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    redactor: Redactor,
    cells: AppendFile,
    intervals: AppendFile,
}

impl RunWriter {
    /// Creates `dir`, which must not exist, and in it all that is known before the first read. `run.json`
    /// comes last and by renaming: a directory that has it has the rest.
    pub fn create(
        dir: &Path,
        run: &Run,
        scenario_toml: &str,
        env: &Environment,
        redactor: Redactor,
    ) -> Result<Self, WriteError> {
        create_dir(dir)?;
        // The scenario goes in first: even of a run that dies at once it can be seen what was meant.
        write_whole(&dir.join(SCENARIO_FILE), redactor.text(scenario_toml).as_bytes())?;
        write_whole(&dir.join(ENV_FILE), &pretty(&dir.join(ENV_FILE), &redactor, env)?)?;
        let cells = AppendFile::create(dir.join(CELLS_FILE))?;
        let intervals = AppendFile::create(dir.join(INTERVALS_FILE))?;
        write_whole(&dir.join(RUN_FILE), &pretty(&dir.join(RUN_FILE), &redactor, run)?)?;
        sync_dir(dir)?;
        Ok(Self { dir: dir.to_owned(), redactor, cells, intervals })
    }

    /// Opens the run in `dir` to go on with it, which [`Self::go_on`] then says. A line or a member that the end of an earlier
    /// process tore is taken back.
    ///
    /// # Errors
    /// For a run that another process writes, and what the operating system refuses.
    pub fn reopen(dir: &Path, redactor: Redactor) -> Result<Self, WriteError> {
        // The lock on the lines comes first, since all other files of the folder are touched only by
        // whoever holds it.
        let cells = AppendFile::open(dir.join(CELLS_FILE), &whole_lines)?;
        let intervals = AppendFile::open(dir.join(INTERVALS_FILE), &whole_bytes)?;
        Ok(Self { dir: dir.to_owned(), redactor, cells, intervals })
    }

    /// Appends the line that says that the run is gone on with, and waits until it is on storage.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn go_on(&mut self, segment: &Segment) -> Result<(), WriteError> {
        // A file of its own: readers of before format 1.9 know no such line and would refuse the record.
        let path = self.dir.join(SEGMENTS_FILE);
        let mut segments = AppendFile::open(path.clone(), &whole_lines)?;
        let json = redacted(&self.redactor, segment).and_then(|segment| serde_json::to_vec(&segment));
        let mut json = json.map_err(|source| WriteError::Encode { path, source })?;
        json.push(b'\n');
        segments.append(&json)?;
        sync_dir(&self.dir)
    }

    /// Appends one line to `cells.jsonl` and waits until it is on storage.
    pub fn append(&mut self, line: &Line) -> Result<(), WriteError> {
        let mut json = redacted_line(&self.redactor, line)
            .and_then(|line| serde_json::to_vec(&line))
            .map_err(|source| WriteError::Encode { path: self.cells.path.clone(), source })?;
        json.push(b'\n');
        self.cells.append(&json)
    }

    /// Appends the seconds of one repetition and waits until they are on storage.
    pub fn append_intervals(&mut self, rep: &RepIntervals) -> Result<(), WriteError> {
        let encoded = |source| WriteError::Encode { path: self.intervals.path.clone(), source };
        let looks = redacted(&self.redactor, &rep.looks).map_err(encoded)?;
        // Seconds are counts and histograms, without a text.
        let rep = RepIntervals { cell: self.redactor.text(&rep.cell), looks, ..rep.clone() };
        let bytes = member(&rep).map_err(encoded)?;
        self.intervals.append(&bytes)
    }
}

/// A file that only grows by whole appends.
#[derive(Debug)]
struct AppendFile {
    path: PathBuf,
    file: LockedFile,
    // What is known to be whole, so that a full disk can be undone without reading the file.
    synced_bytes: u64,
    torn: bool,
}

impl AppendFile {
    fn create(path: PathBuf) -> Result<Self, WriteError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(|cause| WriteError::io("create", &path, cause))?;
        Self { path, file: file.into(), synced_bytes: 0, torn: false }.locked()
    }

    /// Opens a file to append to it, empty where there is none. What lies behind its `whole` bytes is taken back.
    fn open(path: PathBuf, whole: &dyn Fn(&Path) -> std::io::Result<u64>) -> Result<Self, WriteError> {
        // Appending by the kernel: no position is kept here that another writer could make wrong.
        let opened = OpenOptions::new().append(true).create(true).open(&path);
        let file = opened.map_err(|cause| WriteError::io("open", &path, cause))?;
        let mut opened = Self { path, file: file.into(), synced_bytes: 0, torn: false }.locked()?;
        let bytes = whole(&opened.path).and_then(|bytes| opened.file.set_len(bytes).map(|()| bytes));
        opened.synced_bytes = bytes.map_err(|cause| WriteError::io("open", &opened.path, cause))?;
        Ok(opened)
    }

    /// The file, which this process alone appends to from now on. Where a file system knows no locks, nothing keeps
    /// another from it.
    fn locked(self) -> Result<Self, WriteError> {
        match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(WriteError::InUse { path: self.path }),
            // Some network file systems and containers refuse `flock`; results may well lie there, and a
            // run must not fail for it.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(self),
        }
    }

    /// Writes all of `bytes` or none: what a full disk took of them is taken back.
    fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.torn {
            return Err(WriteError::Torn { path: self.path.clone() });
        }
        // Synced for each line: a repetition takes seconds, a sync milliseconds, and what was measured must
        // outlive a crash of the machine.
        match (&*self.file).write_all(bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.synced_bytes += bytes.len() as u64;
                Ok(())
            }
            Err(cause) => {
                // A torn line in the middle would make every later one unreadable.
                self.torn = self.file.set_len(self.synced_bytes).is_err();
                Err(WriteError::io("append to", &self.path, cause))
            }
        }
    }
}

impl WriteError {
    fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), hint: hint(source.kind()), source }
    }
}

fn hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or choose another folder for results; what was recorded before stands"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a folder for results that you may write"
        }
        ErrorKind::NotADirectory => "a part of this path is a file; choose another folder for results",
        _ => "check the folder for results, or choose another",
    }
}

/// Bytes of a file up to the end of its last whole line. One that lacks its newline alone gets it: it is read as whole.
fn whole_lines(path: &Path) -> std::io::Result<u64> {
    let bytes = fs::read(path)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if serde_json::from_slice::<serde_json::Value>(&bytes[whole..]).is_err() {
        // What does not parse is what a crash left; nothing of it can be kept.
        return Ok(whole as u64);
    }
    OpenOptions::new().append(true).open(path)?.write_all(b"\n")?;
    Ok(bytes.len() as u64 + 1)
}

fn create_dir(dir: &Path) -> Result<(), WriteError> {
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent).map_err(|cause| WriteError::io("create the folder", parent, cause))?;
    }
    fs::create_dir(dir).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => WriteError::Exists { dir: dir.to_owned() },
        _ => WriteError::io("create the run directory", dir, cause),
    })
}

/// Writes a file that is either absent or whole.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    // A reader that looks while the run starts sees either no file or all of it.
    let temporary = path.with_extension("tmp");
    let written = File::create_new(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|cause| WriteError::io("write", path, cause))
}

/// Makes the names in a directory, and its own in its parent, survive a crash.
fn sync_dir(dir: &Path) -> Result<(), WriteError> {
    // A new name is durable only once the folder that holds it is synced (fsync(2)).
    for folder in [Some(dir), dir.parent()].into_iter().flatten().filter(|dir| !dir.as_os_str().is_empty()) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|cause| WriteError::io("sync the folder", folder, cause))?;
    }
    Ok(())
}

fn pretty<T: Serialize + DeserializeOwned>(
    path: &Path,
    redactor: &Redactor,
    value: &T,
) -> Result<Vec<u8>, WriteError> {
    let json = redacted(redactor, value).and_then(|value| serde_json::to_vec_pretty(&value));
    let mut json = json.map_err(|source| WriteError::Encode { path: path.to_owned(), source })?;
    json.push(b'\n');
    Ok(json)
}

/// A value without secrets, by way of its type: fields keep their order, and what is written is known to be readable.
///
/// # Errors
/// When a value has no form in JSON, such as a number that is not finite.
// Through the type and back: if redaction broke a value, writing fails here and not the reading of it next
// year.
pub fn redacted<T: Serialize + DeserializeOwned>(redactor: &Redactor, value: &T) -> serde_json::Result<T> {
    serde_json::from_value(redactor.json(serde_json::to_value(value)?))
}

/// A line without secrets. Histograms go around the redactor: their base64 may hold anybody's name by accident.
///
/// # Errors
/// When a value has no form in JSON, such as a number that is not finite.
pub fn redacted_line(redactor: &Redactor, line: &Line) -> serde_json::Result<Line> {
    let Line::Rep(rep) = line else { return redacted(redactor, line) };
    let mut rep = rep.clone();
    let histograms = std::mem::take(&mut rep.histograms);
    let emulated = rep
        .emulated
        .as_mut()
        .map(|emulated| emulated.histograms().map(|text| text.take_if(|text| is_base64(text))));
    let mut rep = redacted(redactor, &rep)?;
    rep.histograms = histograms;
    if let (Some(into), Some(texts)) = (&mut rep.emulated, emulated) {
        for (slot, text) in into.histograms().into_iter().zip(texts) {
            *slot = text.or_else(|| slot.take());
        }
    }
    Ok(Line::Rep(rep))
}

/// What holds anything else is no histogram, and goes through the redactor.
fn is_base64(text: &HistogramText) -> bool {
    let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.text().is_ok_and(|text| text.bytes().all(is_of_it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file on a device that is always full.
    fn full() -> AppendFile {
        let path = PathBuf::from("/dev/full");
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        AppendFile { path, file: file.into(), synced_bytes: 0, torn: false }
    }

    #[test]
    fn a_full_disk_is_named_with_what_to_do() {
        let message = full().append(b"line\n").unwrap_err().to_string();
        assert!(message.starts_with("cannot append to `/dev/full`: No space left"), "{message}");
        assert!(message.contains("\n  hint: free some space"), "{message}");
    }

    #[test]
    fn nothing_is_appended_behind_a_torn_line() {
        let mut file = full();
        file.append(b"line\n").unwrap_err();
        assert!(file.torn, "a device cannot be truncated");
        assert!(matches!(file.append(b"line\n"), Err(WriteError::Torn { .. })));
    }

    #[test]
    fn refusals_of_the_system_have_hints_of_their_own() {
        assert!(hint(ErrorKind::ReadOnlyFilesystem).contains("you may write"));
        assert!(hint(ErrorKind::PermissionDenied).contains("you may write"));
        assert!(hint(ErrorKind::QuotaExceeded).contains("free some space"));
    }

    #[test]
    fn a_results_folder_that_cannot_be_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("results");
        fs::write(&file, "a file").unwrap();
        let message = create_dir(&file.join("run")).unwrap_err().to_string();
        assert!(message.contains(&format!("`{}`", file.display())), "{message}");
        assert!(message.contains("\n  hint: "), "{message}");
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        write_whole(&dir.path().join("a.json"), b"{}").unwrap();
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.json"]);
        let message = write_whole(&dir.path().join("none/a.json"), b"{}").unwrap_err().to_string();
        assert!(message.starts_with("cannot write `"), "{message}");
    }
}
