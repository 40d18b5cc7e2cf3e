//! Names and inodes in memory: what opening, looking and listing find there.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use backend::StoreError;
use dataset::Objects;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, Dir, fadvise, syncfs};
use rustix::io::Errno;

use crate::file_system::FileSystem;
use crate::{device, diskstats, failure, kept, tree};

/// Where a file system keeps the blocks that inodes and folders are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocks {
    /// Among the pages of its device: names that were forgotten would come back from there without a single read.
    DevicePages,
    /// In a cache of its own that shrinks with the names (`xfs_buf`).
    Forgotten,
    /// Not known, or in a cache that does not shrink with the names (the page cache of a hidden inode of btrfs).
    Elsewhere,
}

impl Blocks {
    fn of(file_system: &str) -> Self {
        match file_system {
            // The driver of ext4 serves ext2 and ext3 too.
            "ext4" => Self::DevicePages,
            "xfs" => Self::Forgotten,
            _ => Self::Elsewhere,
        }
    }
}

/// Forgets the names and inodes that no one uses, of every file system of the machine: the kernel offers no
/// narrower way. Returns whether they must now come from the device, which takes a user who may, and a file system
/// of which it is known how.
pub(crate) fn drop_all(root: &Path) -> bool {
    kept::release_idle();
    let file_system = tree::open_root(root).ok().and_then(FileSystem::of);
    let blocks = file_system.map_or(Blocks::Elsewhere, |found| Blocks::of(&found.name));
    // Blocks that were changed are written back, or they would stay.
    let written = blocks != Blocks::DevicePages
        || tree::open_root(root).and_then(tree::readable).and_then(syncfs).is_ok();
    let forgotten = forget().is_ok();
    forgotten
        && written
        && match blocks {
            Blocks::DevicePages => drop_device_pages(root).is_some(),
            Blocks::Forgotten => true,
            Blocks::Elsewhere => false,
        }
}

/// Drops the pages of the device below, if it is found and this user may open it.
fn drop_device_pages(root: &Path) -> Option<()> {
    let device = device::open(&diskstats::node_below(root)?).ok()?;
    fadvise(&device, 0, None, Advice::DontNeed).ok()
}

/// Documentation/admin-guide/sysctl/vm.rst: 2 frees dentries and inodes and leaves the pages of files alone.
fn forget() -> io::Result<()> {
    OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches")?.write_all(b"2\n")
}

/// Reads every folder of the objects once.
pub(crate) fn list_all(root: &Path, root_folder: &OwnedFd, objects: &Objects) -> Result<(), StoreError> {
    for folder in objects.folders() {
        let path = folder.as_ref().map_or(".", |key| key.as_str());
        list(root_folder, path).map_err(|errno| failure::object("list", &root.join(path), errno))?;
    }
    Ok(())
}

fn list(root: &OwnedFd, path: &str) -> Result<(), Errno> {
    Dir::new(tree::readable(tree::folder(root, path)?)?)?.try_for_each(|entry| entry.map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_of_known_file_systems_are_names_known_to_be_forgotten() {
        let known = ["ext4", "xfs", "btrfs", "nfs", "overlay", "tmpfs"].map(Blocks::of);
        let [pages, forgotten, others @ ..] = known;
        assert_eq!((pages, forgotten), (Blocks::DevicePages, Blocks::Forgotten));
        assert_eq!(others, [Blocks::Elsewhere; 4]);
        // No device is below it, and nothing is known of it.
        assert!(drop_device_pages(Path::new("/proc")).is_none());
    }
}
