//! Paths below a root, walked part by part so that a symbolic link never leads out of it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

/// A folder as a place to start from; it is not readable itself.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Ends the name under which an object is written before it is complete.
const TEMPORARY_SUFFIX: &str = ".feedline-tmp";

/// What `mkdir` and `open` are given; the user's mask takes away from it.
pub(crate) const FOLDER_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
pub(crate) const FILE_MODE: Mode = FOLDER_MODE.difference(Mode::XUSR.union(Mode::XGRP).union(Mode::XOTH));

/// A number that no other process has, on this host or on another one that mounts the same storage: a
/// process number would be neither unique there nor between containers. A map's keys are the standard
/// library's source of random bits.
static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// Names given so far.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// A name that no one has, under which `name` is written before it is complete: two that prepare the same
/// dataset do not take each other's files.
pub(crate) fn temporary(name: &str) -> String {
    let number = RANDOM.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
    format!(".{name}.{number:016x}{TEMPORARY_SUFFIX}")
}

/// Whether a name is one that [`temporary`] gives: what a killed process left behind.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TEMPORARY_SUFFIX)
}

/// The root itself; the user may have named it through a symbolic link.
pub(crate) fn open_root(root: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, root, FOLDER, Mode::empty())
}

/// A readable handle of a folder, for listing and for `fsync`.
pub(crate) fn readable(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// The folder that holds `key`, and the last part of `key`.
pub(crate) fn locate<'k>(root: &OwnedFd, key: &'k str) -> Result<(OwnedFd, &'k str), Errno> {
    let (folder, name) = split(key);
    Ok((walk(root, folder, step)?, name))
}

/// As [`locate`], making the folders that are missing.
pub(crate) fn locate_or_make<'k>(root: &OwnedFd, key: &'k str) -> Result<(OwnedFd, &'k str), Errno> {
    let (folder, name) = split(key);
    Ok((walk(root, folder, step_or_make)?, name))
}

/// The folder `key`.
pub(crate) fn folder(root: &OwnedFd, key: &str) -> Result<OwnedFd, Errno> {
    walk(root, key, step)
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('/').unwrap_or((".", key))
}

fn walk(
    root: &OwnedFd,
    path: &str,
    step: impl Fn(&OwnedFd, &str) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let mut here = step(root, first)?;
    for part in rest.split('/').filter(|part| !part.is_empty()) {
        here = step(&here, part)?;
    }
    Ok(here)
}

fn step(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

fn step_or_make(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match step(folder, name) {
        Err(Errno::NOENT) => {}
        ended => return ended,
    }
    match mkdirat(folder, name, FOLDER_MODE) {
        Ok(()) | Err(Errno::EXIST) => step(folder, name),
        Err(errno) => Err(errno),
    }
}

/// Opens a file for reading; a symbolic link in its place is an error. Reads leave the time of last access as it
/// is, which only the owner may ask for: a user's files stay untouched, and each read is spared looking at it.
pub(crate) fn open_file(root: &OwnedFd, key: &str, extra: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | extra;
    match openat(root, key, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => openat(root, key, flags, Mode::empty()),
        opened => opened,
    }
}

/// Removes a file; one that is gone already is well.
pub(crate) fn unlink(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ones_own_are_read_without_a_trace() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        let file = open_file(&open_root(dir.path()).unwrap(), "file", OFlags::empty()).unwrap();
        assert!(rustix::fs::fcntl_getfl(&file).unwrap().contains(OFlags::NOATIME));
    }

    #[test]
    fn a_symbolic_link_is_never_walked_through() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("real/inner")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
        let root = open_root(dir.path()).unwrap();
        assert!(folder(&root, "real/inner").is_ok());
        assert_eq!(folder(&root, "link/inner").unwrap_err(), Errno::NOTDIR);
        assert_eq!(locate_or_make(&root, "link/new/file").unwrap_err(), Errno::NOTDIR);
        assert!(!dir.path().join("real/new").exists());
    }

    #[test]
    fn temporary_names_are_recognised_and_others_are_not() {
        let [one, two] = [temporary("000000001.bin"), temporary("000000001.bin")];
        assert!(is_temporary(&one) && is_temporary(&two));
        assert_ne!(one, two);
        for name in ["a.feedline-tmp", ".hidden", "000000001.bin", ".a.feedline-tmp.bin"] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
