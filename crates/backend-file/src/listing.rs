//! Every file below a folder, in the order of the full names.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use backend::{Entry, StoreError, is_unfinished_name};
use dataset::Key;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Stat, statat};
use rustix::io::Errno;

use crate::{failure, tree};

/// Unit of `st_blocks`, whatever the file system's own block (stat(3type)).
const STAT_BLOCK_BYTES: u64 = 512;

type Each<'a> = &'a mut dyn FnMut(Entry) -> ControlFlow<()>;

/// The folder at the root of a file system where fsck puts what it finds.
// mkfs makes it readable for root alone, so a listing as another user would fail on it.
const LOST_AND_FOUND: &str = "lost+found";

/// Lists the files below `prefix`. Symbolic links, devices and unfinished objects are left out; a prefix that
/// does not exist has nothing below it.
pub(crate) fn list(root: &Path, prefix: Option<&Key>, each: Each<'_>) -> Result<(), StoreError> {
    let folder = tree::open_root(root).map_err(|errno| failure::object("list", root, errno))?;
    let Some(prefix) = prefix else {
        return Walk { root, each }.visit(&folder, "").map(drop);
    };
    match tree::folder(&folder, prefix.as_str()) {
        Ok(folder) => Walk { root, each }.visit(&folder, prefix.as_str()).map(drop),
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(failure::object("list", &root.join(prefix.as_str()), errno)),
    }
}

/// The folders directly below the root that may be named by a key; a root that does not exist has none.
pub(crate) fn folders(root: &Path) -> Result<Vec<Key>, StoreError> {
    match folder_names(root) {
        Ok(mut folders) => {
            folders.sort_unstable();
            Ok(folders)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failure::object("list", root, error)),
    }
}

fn folder_names(root: &Path) -> io::Result<Vec<Key>> {
    let root = tree::open_root(root)?;
    let mut folders = Vec::new();
    for entry in Dir::new(tree::readable(&root)?)? {
        let entry = entry?;
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(&root, entry.file_name())?,
            kind => kind,
        };
        let name = entry.file_name().to_str().ok().filter(|_| kind == FileType::Directory);
        folders.extend(name.and_then(|name| Key::new(name).ok()));
    }
    Ok(folders)
}

/// Size and time of one file.
pub(crate) fn entry(key: Key, stat: &Stat) -> Entry {
    let modified_ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
    let allocated_bytes = Some(stat.st_blocks.unsigned_abs() * STAT_BLOCK_BYTES);
    Entry { key, bytes: stat.st_size.unsigned_abs(), modified_ns, allocated_bytes }
}

struct Walk<'a> {
    root: &'a Path,
    each: Each<'a>,
}

impl Walk<'_> {
    fn visit(&mut self, folder: &OwnedFd, path: &str) -> Result<ControlFlow<()>, StoreError> {
        let failed = |errno| failure::object("list", &self.root.join(path), errno);
        // Names of one folder at a time are held, whatever the number of files below the root.
        for mut name in self.names(folder, path).map_err(failed)? {
            let is_folder = name.ends_with('/');
            name.truncate(name.len() - usize::from(is_folder));
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            let flow = if is_folder {
                self.descend(folder, &name, &path)?
            } else {
                self.offer(folder, &name, path)?
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn descend(&mut self, folder: &OwnedFd, name: &str, path: &str) -> Result<ControlFlow<()>, StoreError> {
        match tree::folder(folder, name) {
            Ok(inner) => self.visit(&inner, path),
            // Removed since its name was read: others may work beside feedline.
            Err(Errno::NOENT) => Ok(ControlFlow::Continue(())),
            Err(errno) => Err(failure::object("list", &self.root.join(path), errno)),
        }
    }

    fn offer(&mut self, folder: &OwnedFd, name: &str, path: String) -> Result<ControlFlow<()>, StoreError> {
        let shown = self.root.join(&path);
        let key = Key::new(path).map_err(|error| failure::object("list", &shown, io::Error::other(error)))?;
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok((self.each)(entry(key, &stat))),
            Err(Errno::NOENT) => Ok(ControlFlow::Continue(())),
            Err(errno) => Err(failure::object("look at", &shown, errno)),
        }
    }

    /// Names of the files and folders in a folder. Folders end in `/`, which puts everything into the order
    /// of the full names: `a.bin` before `a/b.bin`.
    fn names(&self, folder: &OwnedFd, path: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::new(tree::readable(folder)?)? {
            let entry = entry?;
            let kind = match entry.file_type() {
                FileType::Unknown => kind_of(folder, entry.file_name())?,
                kind => kind,
            };
            if !matches!(kind, FileType::RegularFile | FileType::Directory) {
                continue;
            }
            let Ok(name) = entry.file_name().to_str() else {
                let shown = self.root.join(path).join(entry.file_name().to_string_lossy().as_ref());
                // Left out, it would be data that nobody counts or reads.
                let problem = format!("the name of `{}` is not UTF-8", shown.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            };
            let is_of_file_system = path.is_empty() && name == LOST_AND_FOUND;
            if !matches!(name, "." | "..") && !is_unfinished_name(name.as_bytes()) && !is_of_file_system {
                names.push(if kind == FileType::Directory { format!("{name}/") } else { name.to_owned() });
            }
        }
        // readdir(3) promises no order, and the access plan is hashed over objects in order.
        names.sort_unstable();
        Ok(names)
    }
}

/// The type of an entry where the folder does not say it (`DT_UNKNOWN`).
fn kind_of(folder: &OwnedFd, name: &std::ffi::CStr) -> io::Result<FileType> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode)),
        Err(Errno::NOENT) => Ok(FileType::Unknown),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn keys(root: &Path, prefix: Option<&str>) -> Result<Vec<String>, StoreError> {
        let prefix = prefix.map(|name| Key::new(name).unwrap());
        let mut keys = Vec::new();
        list(root, prefix.as_ref(), &mut |entry| {
            keys.push(format!("{}={}", entry.key, entry.bytes));
            ControlFlow::Continue(())
        })?;
        Ok(keys)
    }

    fn tree_of(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (index, file) in files.iter().enumerate() {
            fs::create_dir_all(dir.path().join(file).parent().unwrap()).unwrap();
            fs::write(dir.path().join(file), vec![0; index + 1]).unwrap();
        }
        dir
    }

    #[test]
    fn files_come_in_the_order_of_their_full_names() {
        let dir = tree_of(&["a/z", "a.bin", "a/b/c", "b", "a0"]);
        assert_eq!(keys(dir.path(), None).unwrap(), ["a.bin=2", "a/b/c=3", "a/z=1", "a0=5", "b=4"]);
        assert_eq!(keys(dir.path(), Some("a")).unwrap(), ["a/b/c=3", "a/z=1"]);
        assert!(keys(dir.path(), Some("missing/too")).unwrap().is_empty());
        assert!(keys(&dir.path().join("missing"), None).is_err(), "a root must exist");
    }

    #[test]
    fn a_file_with_holes_says_that_it_holds_less_than_its_size() {
        let dir = tree_of(&["hole", "whole"]);
        fs::File::create(dir.path().join("hole")).unwrap().set_len(1 << 20).unwrap();
        fs::write(dir.path().join("whole"), vec![1; 1 << 20]).unwrap();
        let mut held = Vec::new();
        list(dir.path(), None, &mut |entry| {
            held.push((entry.bytes, entry.allocated_bytes.unwrap() >= entry.bytes));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(held, [(1 << 20, false), (1 << 20, true)]);
    }

    #[test]
    fn links_unfinished_objects_and_lost_and_found_are_left_out() {
        let files = ["data/x", "data/.y.feedline-tmp", ".d.feedline-tmp/marker", ".hidden", "lost+found/#12"];
        let dir = tree_of(&files);
        std::os::unix::fs::symlink(dir.path().join("data"), dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink("x", dir.path().join("data/link")).unwrap();
        assert_eq!(keys(dir.path(), None).unwrap(), [".hidden=4", "data/x=1"]);
        assert!(keys(dir.path(), Some("link")).is_err(), "a prefix that is a link is not followed");
    }

    #[test]
    fn a_name_that_is_not_utf_8_is_named() {
        let dir = tree_of(&["data/x"]);
        fs::write(dir.path().join("data").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
        let error = keys(dir.path(), None).unwrap_err().to_string();
        assert!(error.contains("caf\u{fffd}") && error.contains("not UTF-8"), "{error}");
    }

    #[test]
    fn only_folders_directly_below_the_root_that_have_a_name_are_folders() {
        let dir = tree_of(&["b/inner/x", "a/x", ".d.feedline-tmp/marker", "file"]);
        std::os::unix::fs::symlink(dir.path().join("a"), dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"))).unwrap();
        let names =
            |root: &Path| -> Vec<String> { folders(root).unwrap().iter().map(ToString::to_string).collect() };
        assert_eq!(names(dir.path()), [".d.feedline-tmp", "a", "b"]);
        assert!(names(&dir.path().join("missing")).is_empty());
        assert!(folders(&dir.path().join("file")).is_err(), "a file is no root");
    }

    #[test]
    fn a_listing_ends_where_it_is_broken_off() {
        let dir = tree_of(&["a/1", "a/2", "b"]);
        let mut seen = 0;
        list(dir.path(), None, &mut |_| {
            seen += 1;
            ControlFlow::Break(())
        })
        .unwrap();
        assert_eq!(seen, 1);
    }
}
