//! A file whose lock ends with it.

use std::fs::File;
use std::ops::Deref;

/// A file that its owner may have locked. The lock is let go of when this is dropped.
// To close the file is not enough: a process that is being started holds a copy of the descriptor until it runs its program,
// and the lock with it.
#[derive(Debug)]
pub struct LockedFile(File);

impl From<File> for LockedFile {
    fn from(file: File) -> Self {
        Self(file)
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_file_while_a_copy_of_the_descriptor_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locked");
        let locked = LockedFile::from(File::create(&path).unwrap());
        locked.try_lock().unwrap();
        // As a process has it that is being started.
        let _copy = locked.try_clone().unwrap();
        let other = File::open(&path).unwrap();
        assert!(other.try_lock().is_err());
        drop(locked);
        other.try_lock().unwrap();
    }
}
