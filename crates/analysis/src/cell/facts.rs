//! What a record knows of a storage and of what lies on it.

use record::{Dataset, Target};

// Whether compression is switched on is not among the facts of a target: that it may be is all there is, and a gravity follows
// from it, not a figure.
/// Beginnings of the names of file systems that compress what they store, or may.
const COMPRESSING: [&str; 6] = ["btrfs", "zfs", "bcachefs", "erofs", "squashfs", "f2fs"];

/// Name of the device below a target, where that is memory; empty where the record does not name it.
pub(crate) fn memory_device(target: &Target) -> Option<&str> {
    let is_memory = fact(target, "medium") == Some("memory");
    is_memory.then(|| fact(target, "device").unwrap_or_default())
}

/// What a device is whose writes are kept only by flushes of its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlushedMedium {
    /// It says that it turns, as those of hypervisors do too.
    Turns,
    /// It says that it does not, or nothing.
    Other,
}

/// Of the device below a target that has a cache which loses its bytes with its power, and past which no write can go alone (FUA): the
/// kernel would do that without a flush that is counted.
pub(crate) fn flushed_medium(target: &Target) -> Option<FlushedMedium> {
    let keeps_by_flushes =
        fact(target, "device_write_cache") == Some("write back") && fact(target, "device_fua") == Some("0");
    let turns = fact(target, "device_rotational") == Some("1");
    keeps_by_flushes.then_some(if turns { FlushedMedium::Turns } else { FlushedMedium::Other })
}

/// Whether the server of a target, which is not a demo, runs on this machine.
pub(crate) fn server_is_local(target: &Target) -> bool {
    !target.demo && fact(target, "server_is_local") == Some("true")
}

/// Whether the file system stores fewer bytes than it holds.
pub(crate) fn compresses(target: &Target) -> bool {
    let kind = fact(target, "file_system").unwrap_or_default();
    COMPRESSING.iter().any(|name| kind.starts_with(name))
}

pub(crate) fn fact<'a>(target: &'a Target, name: &str) -> Option<&'a str> {
    target.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

/// Whether a file system keeps data in memory of its own, which direct I/O and eviction may not reach.
pub(crate) fn has_own_cache(file_system: &str) -> bool {
    // The ARC of ZFS, the pagepool of GPFS and the buffers of BeeGFS lie beside the page cache: `mincore` does not see them, and
    // `posix_fadvise` leaves them as they are.
    matches!(file_system, "zfs" | "gpfs" | "lustre" | "beegfs") || file_system.starts_with("fuse")
}

/// Whether another machine, or the host of a virtual one, reads the files for this one.
pub(crate) fn has_server(file_system: &str) -> bool {
    let names = [
        "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "ceph", "lustre", "gpfs", "beegfs", "wekafs", "9p",
        "virtiofs",
    ];
    names.contains(&file_system)
}

/// Share of a dataset's bytes without storage.
pub(crate) fn unallocated_share(dataset: &Dataset) -> f64 {
    dataset.unallocated_bytes as f64 / dataset.bytes.max(1) as f64
}
