//! Paths below a root, walked part by part so that a symbolic link never leads out of it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fcntl_setfl, fstat, mkdirat, openat};
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

/// A readable handle of a folder, for listing and for `fsync`. Its time of last access stays as it is, as a file's.
pub(crate) fn readable(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    keeping_times(|flags| openat(&folder, ".", flags | OFlags::DIRECTORY, Mode::empty())).map(|(fd, _)| fd)
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

/// Opens a file or a block device for reading; anything else in its place is an error, and is never waited for, as
/// the writer of a FIFO would be. Reads leave the time of last access as it is, which only the owner may ask for: a
/// user's files stay untouched, and each read is spared looking at it.
pub(crate) fn open_file(root: &OwnedFd, key: &str, extra: OFlags) -> Result<OwnedFd, Errno> {
    let more = OFlags::NOFOLLOW | OFlags::NONBLOCK | extra;
    let (file, flags) = keeping_times(|flags| openat(root, key, flags | more, Mode::empty()))?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile | FileType::BlockDevice => {}
        FileType::Directory => return Err(Errno::ISDIR),
        _ => return Err(Errno::SPIPE),
    }
    // Only the open must not wait: a ring reads such a file without waiting, or not at all.
    fcntl_setfl(&file, (flags | extra).difference(OFlags::CLOEXEC))?;
    Ok(file)
}

/// Opens something to be read so that its time of last access stays as it is, where this user may; with the flags
/// that did it.
fn keeping_times(open: impl Fn(OFlags) -> Result<OwnedFd, Errno>) -> Result<(OwnedFd, OFlags), Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags).map(|file| (file, flags)),
        opened => opened.map(|file| (file, flags | OFlags::NOATIME)),
    }
}

/// A file as a place to look at; it is not readable itself.
pub(crate) fn find_file(root: &OwnedFd, key: &str) -> Result<OwnedFd, Errno> {
    openat(root, key, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
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
        let flags = rustix::fs::fcntl_getfl(&file).unwrap();
        assert!(flags.contains(OFlags::NOATIME) && !flags.contains(OFlags::NONBLOCK), "{flags:?}");
        let folder = readable(open_root(dir.path()).unwrap()).unwrap();
        assert!(rustix::fs::fcntl_getfl(&folder).unwrap().contains(OFlags::NOATIME));
    }

    #[test]
    fn what_is_no_file_is_neither_opened_nor_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let root = open_root(dir.path()).unwrap();
        rustix::fs::mknodat(&root, "fifo", FileType::Fifo, FILE_MODE, 0).unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let refused = |name| open_file(&root, name, OFlags::empty()).unwrap_err();
        assert_eq!([refused("fifo"), refused("folder")], [Errno::SPIPE, Errno::ISDIR]);
        let devices = open_root(Path::new("/dev")).unwrap();
        assert_eq!(open_file(&devices, "null", OFlags::empty()).unwrap_err(), Errno::SPIPE);
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
