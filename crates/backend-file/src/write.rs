//! Making and removing: whatever changes anything on storage does so by what is here, but for writes of blocks.
//!
//! An object is written under a temporary name in its folder and renamed when it is complete, so a killed
//! process leaves no half object, and renaming never replaces anything.
//!
//! Durability: an object of at least [`SYNCED_FROM_BYTES`] is written back before it is renamed. Smaller ones
//! are not, one by one, since that costs a journal commit each; the manifest, written last, first writes back
//! the whole file system, so a dataset that has a manifest after a power cut has its objects too.

use std::path::{Path, PathBuf};

use backend::{ObjectWriter, StoreError, is_unfinished_name, unfinished_name};
use dataset::{Key, MANIFEST_NAME, MARKER_NAME, Marker};
use rustix::fd::{AsFd, IntoRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, OFlags, RenameFlags, fdatasync, fsync, linkat, mkdirat, openat, renameat, renameat_with, statat,
    syncfs, unlinkat,
};
use rustix::io::Errno;

use crate::tree::{FILE_MODE, FOLDER_MODE};
use crate::{failure, tree};

/// From this size on an object is written back by itself: one journal commit to a MiB is cheap.
const SYNCED_FROM_BYTES: u64 = 1 << 20;

/// Flags that make a file to be written, which is not there yet.
pub(crate) const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);

/// An object being written.
#[derive(Debug)]
pub(crate) struct FileWriter {
    folder: OwnedFd,
    /// Taken when it is finished.
    file: Option<OwnedFd>,
    name: String,
    /// Its name until it is finished, given to it alone.
    temporary: String,
    shown: PathBuf,
    bytes: u64,
    visible: bool,
}

impl FileWriter {
    /// Begins the object `key` below `root`; the folders above it are made.
    pub(crate) fn create(root: &Path, key: &Key) -> Result<Self, StoreError> {
        let shown = root.join(key.as_str());
        let failed = |errno| failure::written("create", &shown, errno);
        let root = tree::open_root(root).map_err(failed)?;
        let (folder, name) = tree::locate_or_make(&root, key.as_str()).map_err(failed)?;
        // This saves writing an object in vain. What keeps it from replacing another is the rename at the
        // end.
        if statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(failed(Errno::EXIST));
        }
        let temporary = unfinished_name(name);
        let file = create_file(&folder, &temporary).map_err(failed)?;
        let name = name.to_owned();
        Ok(Self { folder, file: Some(file), name, temporary, shown, bytes: 0, visible: false })
    }

    /// Writes back what must be durable before the object appears.
    fn sync(&self, file: &OwnedFd) -> Result<(), Errno> {
        if self.name == MANIFEST_NAME {
            syncfs(file)?;
        }
        if self.bytes >= SYNCED_FROM_BYTES || self.seals_folder() { fdatasync(file) } else { Ok(()) }
    }

    fn seals_folder(&self) -> bool {
        self.name == MANIFEST_NAME || self.name == MARKER_NAME
    }

    /// Lets the object appear; its name is written back where `sync_name` says so.
    fn appear(&mut self, file: OwnedFd, sync_name: bool) -> Result<(), Errno> {
        // Closed before it is renamed: NFS reports a full disk at close, and then nothing may appear.
        close(file)?;
        rename_new(&self.folder, &self.temporary, &self.name)?;
        self.visible = true;
        if sync_name { sync_folder(&self.folder) } else { Ok(()) }
    }
}

impl ObjectWriter for FileWriter {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        let failed = |errno| failure::written("write", &self.shown, errno);
        while let (Some(file), false) = (&self.file, bytes.is_empty()) {
            match rustix::io::write(file, bytes) {
                Ok(written) => {
                    self.bytes += written as u64;
                    bytes = &bytes[written..];
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let published = self.sync(&file).and_then(|()| self.appear(file, self.seals_folder()));
        published.map_err(|errno| failure::written("finish", &self.shown, errno))
    }

    fn finish_with(mut self: Box<Self>, durable: bool) -> Result<(), StoreError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let synced = if durable { fdatasync(&file) } else { Ok(()) };
        let published = synced.and_then(|()| self.appear(file, durable));
        published.map_err(|errno| failure::written("finish", &self.shown, errno))
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if !self.visible {
            // Nothing can be reported from here; what stays is invisible to listings and removed with its folder.
            let _ = tree::unlink(&self.folder, &self.temporary);
        }
    }
}

/// Makes the folder `folder` below `root`, whole with its marker or not at all.
pub(crate) fn create_folder(root: &Path, folder: &Key, marker: &Marker) -> Result<(), StoreError> {
    let shown = root.join(folder.as_str());
    std::fs::create_dir_all(root).map_err(|error| failure::object("create", root, error))?;
    let failed = |errno| failure::written("create", &shown, errno);
    let root = tree::open_root(root).map_err(failed)?;
    let (parent, name) = tree::locate_or_make(&root, folder.as_str()).map_err(failed)?;
    let unfinished = unfinished_name(name);
    mkdirat(&parent, &unfinished, FOLDER_MODE).map_err(failed)?;
    // Renamed only with its marker inside: `clean` never removes a folder without one, so a folder that
    // appeared first could stay for ever.
    let made = fill_folder(&parent, &unfinished, marker).and_then(|()| {
        rename_folder(&parent, &unfinished, name)?;
        sync_folder(&parent)
    });
    made.map_err(|errno| {
        let _ = discard_unfinished(&parent, &unfinished);
        failed(errno)
    })
}

fn fill_folder(parent: &OwnedFd, name: &str, marker: &Marker) -> Result<(), Errno> {
    let text = serde_json::to_vec_pretty(marker).map_err(|_| Errno::INVAL)?;
    let folder = tree::folder(parent, name)?;
    let file = create_file(&folder, MARKER_NAME)?;
    let mut rest = &text[..];
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Err(Errno::INTR) => {}
            written => rest = &rest[written?..],
        }
    }
    // First the marker's bytes, then its name, then (by the caller) the folder's name: whenever the power
    // fails, what is found is a temporary folder or a marked one.
    fdatasync(&file)?;
    close(file)?;
    sync_folder(&folder)
}

/// Removes the folder that was made under a temporary name and not finished; it holds a marker at most.
fn discard_unfinished(parent: &OwnedFd, name: &str) -> Result<(), Errno> {
    let folder = match tree::folder(parent, name) {
        Err(Errno::NOENT) => return Ok(()),
        folder => folder?,
    };
    tree::unlink(&folder, MARKER_NAME)?;
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Removes one object, or nothing when it is gone already.
pub(crate) fn remove(root: &Path, key: &Key) -> Result<(), StoreError> {
    let removed = tree::open_root(root).and_then(|root| {
        let (folder, name) = tree::locate(&root, key.as_str())?;
        tree::unlink(&folder, name)
    });
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(failure::object("remove", &root.join(key.as_str()), errno)),
    }
}

/// Removes a folder that is empty but for what a killed process had not finished; whether it is gone.
pub(crate) fn remove_empty_folder(root: &Path, key: &Key) -> Result<bool, StoreError> {
    let removed = tree::open_root(root).and_then(|root| {
        let (parent, name) = tree::locate(&root, key.as_str())?;
        remove_leftovers(&tree::folder(&parent, name)?)?;
        unlinkat(&parent, name, AtFlags::REMOVEDIR)
    });
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // rmdir(2): POSIX allows either for a folder that is not empty.
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(errno) => Err(failure::object("remove", &root.join(key.as_str()), errno)),
    }
}

/// Removes unfinished objects from a folder that holds nothing else.
fn remove_leftovers(folder: &OwnedFd) -> Result<(), Errno> {
    let mut leftovers = Vec::new();
    for entry in rustix::fs::Dir::new(tree::readable(folder)?)? {
        let entry = entry?;
        match entry.file_name().to_str() {
            Ok("." | "..") => {}
            Ok(name) if is_unfinished_name(name.as_bytes()) => leftovers.push(name.to_owned()),
            // Collected first and removed afterwards, so that nothing goes while something else stays.
            _ => return Ok(()),
        }
    }
    leftovers.iter().try_for_each(|name| tree::unlink(folder, name))
}

fn create_file(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    openat(folder, name, NEW_FILE, FILE_MODE)
}

/// Closes a file and says so when that fails: NFS reports a full disk only here.
pub(crate) fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the number was owned by `file`, which gave it up.
    let closed = unsafe { libc::close(file.into_raw_fd()) };
    match Errno::from_io_error(&std::io::Error::last_os_error()) {
        Some(errno) if closed != 0 && errno != Errno::INTR => Err(errno),
        _ => Ok(()),
    }
}

/// Renames without replacing.
fn rename_new(folder: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    match renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Not every file system knows the flag (NFS does not); a hard link does not replace either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            linkat(folder, from, folder, to, AtFlags::empty())?;
            tree::unlink(folder, from)
        }
        renamed => renamed,
    }
}

/// Renames a folder. The call itself replaces nothing but an empty folder, which a removal that was killed
/// just before its end leaves behind.
fn rename_folder(parent: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    renameat(parent, from, parent, to).map_err(|errno| match errno {
        Errno::NOTEMPTY | Errno::NOTDIR => Errno::EXIST,
        errno => errno,
    })
}

/// Writes back the names of a folder.
pub(crate) fn sync_folder(folder: impl AsFd) -> Result<(), Errno> {
    match fsync(tree::readable(folder)?) {
        // Some network file systems do not sync folders.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn marker() -> Marker {
        Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() }
    }

    fn key(name: &str) -> Key {
        Key::new(name).unwrap()
    }

    #[test]
    fn an_object_appears_whole_under_its_name_when_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Box::new(FileWriter::create(dir.path(), &key("a/b/c.bin")).unwrap());
        writer.write(b"hello ").unwrap();
        writer.write(b"world").unwrap();
        assert!(!dir.path().join("a/b/c.bin").exists());
        writer.finish().unwrap();
        assert_eq!(fs::read(dir.path().join("a/b/c.bin")).unwrap(), b"hello world");
        assert_eq!(fs::read_dir(dir.path().join("a/b")).unwrap().count(), 1);
    }

    #[test]
    fn a_published_object_is_whole_whether_it_is_written_back_or_not() {
        let dir = tempfile::tempdir().unwrap();
        for (name, durable) in [("a", true), ("b", false)] {
            let mut writer = Box::new(FileWriter::create(dir.path(), &key(name)).unwrap());
            writer.write(b"state").unwrap();
            writer.finish_with(durable).unwrap();
            assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"state");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary name is left");
    }

    #[test]
    fn a_dropped_writer_leaves_nothing_of_its_own_and_nothing_of_others_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join(unfinished_name("x"));
        fs::write(&theirs, "being written elsewhere").unwrap();
        let writers = [0, 1].map(|_| {
            let mut writer = FileWriter::create(dir.path(), &key("x")).unwrap();
            writer.write(b"half").unwrap();
            writer
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "each writes under a name of its own");
        drop(writers);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(fs::read(&theirs).unwrap(), b"being written elsewhere");
    }

    #[test]
    fn nothing_is_ever_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "theirs").unwrap();
        assert!(matches!(FileWriter::create(dir.path(), &key("x")), Err(StoreError::Exists { .. })));
        let writer = Box::new(FileWriter::create(dir.path(), &key("y")).unwrap());
        fs::write(dir.path().join("y"), "faster").unwrap();
        assert!(matches!(writer.finish(), Err(StoreError::Exists { .. })));
        assert_eq!(fs::read(dir.path().join("y")).unwrap(), b"faster");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary name is left");
    }

    #[test]
    fn renaming_by_link_does_not_replace_either() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("from"), "new").unwrap();
        fs::write(dir.path().join("to"), "old").unwrap();
        let folder = tree::open_root(dir.path()).unwrap();
        assert_eq!(linkat(&folder, "from", &folder, "to", AtFlags::empty()), Err(Errno::EXIST));
        assert_eq!(rename_new(&folder, "from", "to"), Err(Errno::EXIST));
    }

    #[test]
    fn a_folder_appears_with_its_marker_and_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("not/there/yet");
        create_folder(&root, &key("p/d"), &marker()).unwrap();
        assert!(root.join("p/d").join(MARKER_NAME).exists());
        assert_eq!(fs::read_dir(root.join("p")).unwrap().count(), 1, "no temporary name is left");
        assert!(matches!(create_folder(&root, &key("p/d"), &marker()), Err(StoreError::Exists { .. })));
    }

    #[test]
    fn a_folder_that_another_process_has_not_finished_is_left_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let unfinished = dir.path().join(unfinished_name("d"));
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join(MARKER_NAME), "{").unwrap();
        create_folder(dir.path(), &key("d"), &marker()).unwrap();
        assert!(matches!(create_folder(dir.path(), &key("d"), &marker()), Err(StoreError::Exists { .. })));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        assert!(unfinished.join(MARKER_NAME).exists());
    }

    #[test]
    fn an_empty_folder_is_taken_over_and_any_other_is_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("empty")).unwrap();
        create_folder(dir.path(), &key("empty"), &marker()).unwrap();
        assert!(dir.path().join("empty").join(MARKER_NAME).exists());
        fs::create_dir(dir.path().join("theirs")).unwrap();
        fs::write(dir.path().join("theirs/x"), "x").unwrap();
        assert!(matches!(
            create_folder(dir.path(), &key("theirs"), &marker()),
            Err(StoreError::Exists { .. })
        ));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary name is left");
    }

    #[test]
    fn a_folder_is_removed_when_only_leftovers_are_in_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        fs::write(dir.path().join("d/.x.feedline-tmp"), "half").unwrap();
        fs::write(dir.path().join("d/theirs"), "x").unwrap();
        assert!(!remove_empty_folder(dir.path(), &key("d")).unwrap());
        assert!(dir.path().join("d/.x.feedline-tmp").exists(), "nothing goes while something stays");
        remove(dir.path(), &key("d/theirs")).unwrap();
        assert!(remove_empty_folder(dir.path(), &key("d")).unwrap());
        assert!(remove_empty_folder(dir.path(), &key("d")).unwrap(), "gone already is gone");
        remove(dir.path(), &key("d/theirs")).unwrap();
    }

    #[test]
    fn removing_never_goes_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("theirs")).unwrap();
        fs::write(dir.path().join("theirs/precious"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("theirs"), dir.path().join("link")).unwrap();
        assert!(remove(dir.path(), &key("link/precious")).is_err());
        assert!(remove_empty_folder(dir.path(), &key("link")).is_err());
        remove(dir.path(), &key("link")).unwrap();
        assert!(dir.path().join("theirs/precious").exists() && !dir.path().join("link").exists());
    }
}
