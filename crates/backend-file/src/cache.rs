//! What memory holds of a dataset: the pages of its files, evicted, warmed and looked at file by file, and its names
//! and inodes.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use backend::{CacheAction, Residency, StoreError};
use dataset::{Key, Objects};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, AtFlags, Dir, OFlags, fadvise, fdatasync, fstat, statat, syncfs};
use rustix::io::Errno;

use crate::file_system::FileSystem;
use crate::residency::{self, Method};
use crate::{device, diskstats, failure, kept, tree};

/// Up to this many files are written back one by one, which leaves other files of the file system alone.
// Each fdatasync is a journal commit; for many files one syncfs costs less.
const SYNCED_SINGLY_MAX: u32 = 64;

/// Bytes of one read while warming.
const WARMING_BYTES: usize = 1 << 20;

/// Acts on every object and says what is resident afterwards.
pub(crate) fn act(root: &Path, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
    let folder = tree::open_root(root).map_err(|errno| failure::object("open", root, errno))?;
    let evicts = matches!(action, CacheAction::Evict | CacheAction::EvictNames);
    let synced_singly = objects.count() <= SYNCED_SINGLY_MAX;
    if evicts && !synced_singly {
        // What cannot be written back stays resident, and is seen to be.
        let _ = tree::readable(&folder).and_then(syncfs);
    }
    let mut buffer = if action == CacheAction::Warm { vec![0; WARMING_BYTES] } else { Vec::new() };
    let mut total = Total::new();
    for object in 0..objects.count() {
        let key = objects.key(object);
        let failed = |errno| failure::object(word(action), &root.join(key.as_str()), errno);
        let file = tree::open_file(&folder, key.as_str(), OFlags::empty()).map_err(failed)?;
        let bytes = objects.bytes(object);
        match action {
            CacheAction::Evict | CacheAction::EvictNames => {
                evict(&file, bytes, synced_singly).map_err(failed)?;
            }
            CacheAction::Warm => warm(&file, bytes, &mut buffer).map_err(failed)?,
            CacheAction::WarmNames => look(&folder, &key).map_err(failed)?,
            CacheAction::Inspect => {}
        }
        total.add(residency::resident_bytes(&file, bytes));
    }
    if action == CacheAction::WarmNames {
        warm_names(root, &folder, objects)?;
    }
    drop(folder);
    // The last thing done: whatever looks at a file brings its name back.
    let names_dropped = (action == CacheAction::EvictNames).then(|| drop_names(root));
    Ok(Residency { names_dropped, ..total.residency(objects) })
}

fn word(action: CacheAction) -> &'static str {
    match action {
        CacheAction::Evict | CacheAction::EvictNames => "evict",
        CacheAction::Warm | CacheAction::WarmNames => "warm",
        CacheAction::Inspect => "look into the page cache for",
    }
}

/// Drops a file's pages. Dirty pages cannot be dropped, so they are written back first, and once more where some
/// stay. Dirty pages of a device are another program's, as feedline only reads devices: they stay and are counted.
fn evict(file: &OwnedFd, bytes: u64, sync: bool) -> Result<(), Errno> {
    if device::is_block(&fstat(file)?) {
        return fadvise(file, 0, None, Advice::DontNeed);
    }
    // Measured on ext4, Linux 6.18: POSIX_FADV_DONTNEED left 26,624 of 65,536 dirty pages in place, and none
    // after fdatasync.
    if sync {
        write_back(file)?;
    }
    fadvise(file, 0, None, Advice::DontNeed)?;
    if residency::resident_bytes(file, bytes).is_some_and(|(resident, _)| resident > 0) {
        write_back(file)?;
        fadvise(file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

fn write_back(file: &OwnedFd) -> Result<(), Errno> {
    match fdatasync(file) {
        // A file on a read-only file system has nothing to write back.
        Err(Errno::ROFS | Errno::INVAL) => Ok(()),
        synced => synced,
    }
}

/// Reads a file once, from its start to its end, as a buffered reader does.
fn warm(file: &OwnedFd, bytes: u64, buffer: &mut [u8]) -> Result<(), Errno> {
    // Always in this way: where faults in random order had filled the cache with 4 KiB folios, the same reads
    // from it took 1.9 times as long (1576 against 833 ns).
    let mut offset = 0;
    while offset < bytes {
        match rustix::io::pread(file, &mut *buffer, offset) {
            Ok(0) => return Ok(()),
            Ok(read) => offset += read as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Looks at a file by its name, as a reader that wants its size does.
fn look(folder: &OwnedFd, key: &Key) -> Result<(), Errno> {
    let (folder, name) = tree::locate(folder, key.as_str())?;
    statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map(drop)
}

/// Where a file system keeps the blocks that inodes and folders are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameBlocks {
    /// Among the pages of its device: names that were forgotten would come back from there without a single read.
    DevicePages,
    /// In a cache of its own that shrinks with the names (`xfs_buf`).
    Forgotten,
    /// Not known, or in a cache that does not shrink with the names (the page cache of a hidden inode of btrfs).
    Elsewhere,
}

impl NameBlocks {
    fn of(file_system: &str) -> Self {
        match file_system {
            // The driver of ext4 serves ext2 and ext3 too.
            "ext4" => Self::DevicePages,
            "xfs" => Self::Forgotten,
            _ => Self::Elsewhere,
        }
    }
}

/// Drops the unused names and inodes of every file system of the machine; the kernel offers no narrower way. Returns
/// whether they must now be read from the device: only where this user may drop them, and only on file systems whose
/// way of keeping them is known.
fn drop_names(root: &Path) -> bool {
    // An open file pins its inode, which drop_caches then leaves in memory.
    kept::release_idle();
    let file_system = tree::open_root(root).ok().and_then(FileSystem::of);
    let blocks = file_system.map_or(NameBlocks::Elsewhere, |found| NameBlocks::of(&found.name));
    // Blocks that were changed are written back, or they would stay.
    let written = blocks != NameBlocks::DevicePages
        || tree::open_root(root).and_then(tree::readable).and_then(syncfs).is_ok();
    let forgotten = forget().is_ok();
    forgotten
        && written
        && match blocks {
            NameBlocks::DevicePages => drop_device_pages(root).is_some(),
            NameBlocks::Forgotten => true,
            NameBlocks::Elsewhere => false,
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
fn warm_names(root: &Path, root_folder: &OwnedFd, objects: &Objects) -> Result<(), StoreError> {
    for folder in objects.folders() {
        let path = folder.as_ref().map_or(".", |key| key.as_str());
        list(root_folder, path).map_err(|errno| failure::object("list", &root.join(path), errno))?;
    }
    Ok(())
}

fn list(root: &OwnedFd, path: &str) -> Result<(), Errno> {
    Dir::new(tree::readable(tree::folder(root, path)?)?)?.try_for_each(|entry| entry.map(drop))
}

/// Sums residency over files; unknown as soon as one file's is.
struct Total {
    resident_bytes: Option<u64>,
    method: Option<Method>,
}

impl Total {
    fn new() -> Self {
        Self { resident_bytes: Some(0), method: None }
    }

    fn add(&mut self, found: Option<(u64, Method)>) {
        self.resident_bytes = self.resident_bytes.zip(found).map(|(sum, (bytes, _))| sum + bytes);
        self.method = found.map(|(_, method)| method).or(self.method);
    }

    fn residency(&self, objects: &Objects) -> Residency {
        let known = self.resident_bytes.and(self.method);
        Residency {
            resident_bytes: known.and(self.resident_bytes),
            total_bytes: objects.total_bytes(),
            method: known.map_or("none", Method::name),
            names_dropped: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use dataset::Key;

    use super::*;

    #[test]
    fn one_file_that_may_not_be_asked_makes_the_whole_unknown() {
        let objects = Objects::uniform(Key::new("d").unwrap(), 2, 10);
        let mut total = Total::new();
        total.add(Some((10, Method::Cachestat)));
        assert_eq!(total.residency(&objects).resident_bytes, Some(10));
        total.add(None);
        let expected =
            Residency { resident_bytes: None, total_bytes: 20, method: "none", names_dropped: None };
        assert_eq!(total.residency(&objects), expected);
    }

    #[test]
    fn only_of_known_file_systems_are_names_known_to_be_forgotten() {
        let known = ["ext4", "xfs", "btrfs", "nfs", "overlay", "tmpfs"].map(NameBlocks::of);
        let [pages, forgotten, others @ ..] = known;
        assert_eq!((pages, forgotten), (NameBlocks::DevicePages, NameBlocks::Forgotten));
        assert_eq!(others, [NameBlocks::Elsewhere; 4]);
        // No device is below it, and nothing is known of it.
        assert!(drop_device_pages(Path::new("/proc")).is_none());
    }
}
