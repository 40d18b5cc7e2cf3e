//! Files that a user asked for: whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::anyhow;
use tempfile::NamedTempFile;

use crate::exit::Failure;

/// Writes a file, over the one that is there if any. Its folder is made.
///
/// A reader such as a collector sees the old file or the new one, and never a part. A pipe, or a link such as /dev/stdout, is
/// written to and not replaced.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_of_record(path) {
        let error = io::Error::other(
            "it is a file of a record, which is never overwritten\n  hint: name another file",
        );
        return Err(failed(path, &error));
    }
    // `-o /dev/stdout` and process substitution are pipes, and a rename would replace the link.
    let is_special = fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    let written = if is_special {
        fs::write(path, bytes)
    } else {
        beside(path, bytes).and_then(|file| file.persist(path).map(drop).map_err(|error| error.error))
    };
    written.map_err(|error| failed(path, &error))
}

/// Whether a record is made of it.
fn is_of_record(path: &Path) -> bool {
    let parts = [
        record::RUN_FILE,
        record::SCENARIO_FILE,
        record::ENV_FILE,
        record::CELLS_FILE,
        record::SEGMENTS_FILE,
        record::INTERVALS_FILE,
    ];
    let is_part = path.file_name().is_some_and(|name| parts.iter().any(|part| name == *part));
    is_part && path.with_file_name(record::RUN_FILE).exists()
}

/// Writes a file where none is; one that came meanwhile is not overwritten. Its folder is made.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(failed(path, &ErrorKind::AlreadyExists.into()));
    }
    let written = beside(path, bytes)
        // The look before is for the message; this is what keeps a file that came in between.
        .and_then(|file| file.persist_noclobber(path).map_err(|error| error.error))
        .and_then(|file| file.sync_all());
    written.map_err(|error| failed(path, &error))
}

/// The bytes in a file of another name in the same folder, so that it can be renamed.
fn beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => ErrorKind::NotADirectory.into(),
        _ => error,
    })?;
    // A temporary file is its owner's alone; who may read what is made of it, such as a collector, the umask says.
    let readable = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().prefix(".feedline-").permissions(readable).tempfile_in(folder)?;
    file.write_all(bytes)?;
    Ok(file)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    let (why, hint) = match error.kind() {
        ErrorKind::AlreadyExists => ("it exists already".to_owned(), "it is never overwritten: name another"),
        ErrorKind::IsADirectory => ("it is a folder".to_owned(), "name a file in it"),
        ErrorKind::NotADirectory => (error.to_string(), "a part of its path is a file: name another"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            (error.to_string(), "name a file in a folder that is yours to write")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            (error.to_string(), "make room, or name a file on another disk")
        }
        _ => (error.to_string(), "name another file"),
    };
    Failure::Error(anyhow!("cannot write `{shown}`: {why}\n  hint: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_never_written_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        write_new(&path, b"first").unwrap();
        let refusal = write_new(&path, b"second").unwrap_err().to_string();
        assert!(refusal.contains("exists already") && refusal.contains("hint: "), "{refusal}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let ordinary = folder.path().join("ordinary");
        fs::write(&ordinary, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&ordinary), "others may read it as they may any file");
        let refusal = write(&ordinary.join("file"), b"").unwrap_err().to_string();
        assert!(refusal.contains("a part of its path is a file"), "{refusal}");
    }

    #[test]
    fn a_link_is_written_through_and_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let refusal = write(folder.path(), b"").unwrap_err().to_string();
        assert!(refusal.contains("it is a folder\n  hint: name a file in it"), "{refusal}");
    }
}
