//! Local folders that runs use, and from which `feedline clean` removes: never both at one time.
//!
//! A lock on the folder itself tells it, which leaves nothing there, and goes with its process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use record::LockedFile;

use crate::exit::Failure;

/// Makes a folder in which something is about to be written, as one that does not exist cannot be held. The folder above is there:
/// a storage is mounted. What is wrong with it is said by whoever writes there.
pub(crate) fn make(root: &Path) {
    let _ = fs::create_dir(root);
}

/// Holds a folder against `feedline clean` until it is dropped; several runs may. `None` where it does not exist, or its file system
/// locks no folders. One of NFS is locked for this machine alone: leases tell there.
///
/// # Errors
/// For a folder that another process has for itself.
pub(crate) fn hold_to_use(root: &Path) -> Result<Option<LockedFile>, Failure> {
    hold(root, File::try_lock_shared, |by| {
        format!(
            "`{}` is locked by another program{}\n  hint: `feedline clean` does so while it removes something there; wait for its end",
            root.display(),
            named(by)
        )
    })
}

/// Holds a folder from which something is to be removed; no run uses it meanwhile.
///
/// # Errors
/// For a folder that a run uses, or this process holds by another name.
pub(crate) fn hold_to_remove(root: &Path) -> Result<Option<LockedFile>, Failure> {
    hold(root, File::try_lock, |by| {
        format!("`{}` is being used by another run{}\n  hint: wait for its end", root.display(), named(by))
    })
}

fn hold(
    root: &Path,
    lock: fn(&File) -> Result<(), TryLockError>,
    why: impl FnOnce(Option<u32>) -> String,
) -> Result<Option<LockedFile>, Failure> {
    let Ok(folder) = File::open(root) else { return Ok(None) };
    match lock(&folder) {
        Ok(()) => Ok(Some(folder.into())),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::Error(anyhow::Error::new(io::Error::other(why(holder_of(&folder))))))
        }
    }
}

/// Which process it is, behind what it does.
pub(crate) fn named(by: Option<u32>) -> String {
    by.map_or_else(String::new, |process| format!(" (process {process})"))
}

/// What no two files of one moment share, whatever they are called; `None` of what is not there.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// The process that holds a file. For messages alone, as roots of file systems have one number: which one it is saves a search.
pub(crate) fn holder_of(file: &File) -> Option<u32> {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    file.metadata().ok().and_then(|metadata| holder(&locks, metadata.ino()))
}

/// The process that holds a file by its inode (proc(5), `/proc/locks`); `None` where it lives in another container.
fn holder(locks: &str, inode: u64) -> Option<u32> {
    let of_file =
        |line: &&str| line.split_whitespace().nth(5).is_some_and(|id| id.ends_with(&format!(":{inode}")));
    let line = locks.lines().find(of_file)?;
    line.split_whitespace().nth(4)?.parse().ok().filter(|process| *process > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_file_is_named() {
        let locks = "1: POSIX  ADVISORY  WRITE 77 fe:00:9931 0 EOF\n2: FLOCK  ADVISORY  WRITE 4321 fe:00:31 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 0 fe:00:32 0 EOF\n";
        assert_eq!([31, 32, 33].map(|inode| holder(locks, inode)), [Some(4321), None, None]);
    }
}
