//! Names and inodes in memory: what opening, looking and listing find there.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use backend::StoreError;
use dataset::Objects;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, Dir, fadvise};
use rustix::io::Errno;

use crate::{device, diskstats, failure, kept, tree};

/// Forgets the names and inodes that no one uses, of every file system of the machine: the kernel offers no
/// narrower way. Returns whether this user may. The blocks that inodes and folders are read from lie in the page
/// cache of the device, from which they would come back without a single read; they are dropped where this user
/// may open it.
pub(crate) fn drop_all(root: &Path) -> bool {
    kept::release_idle();
    let dropped = forget().is_ok();
    if dropped && let Some(node) = diskstats::node_below(root) {
        // File systems that keep those blocks elsewhere have nothing there.
        let _ = device::open(&node).and_then(|device| fadvise(device, 0, None, Advice::DontNeed));
    }
    dropped
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
