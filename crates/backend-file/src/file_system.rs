//! Which file system a folder is on.

use rustix::fd::AsFd;
use rustix::fs::{StatFs, fstat, fstatfs};

use crate::device;

/// A file system by its magic number (`statfs`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// `ext4`, `xfs`, …; the number in hexadecimal when it is not known here.
    pub(crate) name: String,
    /// Whether it is memory itself: nothing can be evicted from it or read around the page cache.
    pub(crate) in_memory: bool,
}

/// Numbers from linux/magic.h and the file systems' own headers; the ext4 driver serves ext2 and ext3 too.
const KNOWN: [(u32, &str); 22] = [
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0xf2f5_2010, "f2fs"),
    (0xca45_1a4e, "bcachefs"),
    (0x2fc1_2fc1, "zfs"),
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x0116_1970, "gfs2"),
    (0x4750_4653, "gpfs"),
    (0x1983_0326, "beegfs"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
    (0x4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x7366_746e, "ntfs3"),
    (0x7371_7368, "squashfs"),
    (0xe0f5_e1e2, "erofs"),
];

// Kept apart, since they are no storage to measure: tmpfs opens files for direct I/O, reports no alignment
// (STATX_DIOALIGN) and copies memory all the same (seen on Linux 6.18).
const KNOWN_IN_MEMORY: [(u32, &str); 3] =
    [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs"), (0x9584_58f6, "hugetlbfs")];

/// Stands for a file system's name.
const BLOCK_DEVICE: &str = "block device";

impl FileSystem {
    /// The file system that holds an open file or folder. A block device is named as such: the file system of its
    /// node (devtmpfs) says nothing of the device.
    pub(crate) fn of(file: impl AsFd) -> Option<Self> {
        if fstat(&file).is_ok_and(|stat| device::is_block(&stat)) {
            return Some(Self { name: BLOCK_DEVICE.to_owned(), in_memory: false });
        }
        fstatfs(file).ok().map(|found| Self::from_magic(magic(&found)))
    }

    /// Whether its files are other file systems' files underneath, pages included.
    pub(crate) fn is_stacked(&self) -> bool {
        self.name == "overlay"
    }

    /// Whether reads may be served from a cache on this machine that is not the kernel's page cache: the ARC of
    /// zfs, the page pool of gpfs, the buffers of beegfs, whatever the daemon behind fuse (or, for virtiofs,
    /// the host) keeps. Clients of nfs, cifs, ceph and lustre use the page cache.
    pub(crate) fn has_own_cache(&self) -> bool {
        matches!(self.name.as_str(), "zfs" | "gpfs" | "beegfs" | "fuse")
    }

    fn from_magic(magic: u32) -> Self {
        let named = |table: &[(u32, &str)]| {
            table.iter().find(|(number, _)| *number == magic).map(|(_, name)| (*name).to_owned())
        };
        let in_memory = named(&KNOWN_IN_MEMORY);
        Self {
            in_memory: in_memory.is_some(),
            name: in_memory.or_else(|| named(&KNOWN)).unwrap_or_else(|| format!("{magic:#x}")),
        }
    }
}

fn magic(found: &StatFs) -> u32 {
    // The field's type differs between architectures; the numbers have 32 bits.
    found.f_type as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_named_and_memory_is_told_apart() {
        assert_eq!(FileSystem::from_magic(0xef53), FileSystem { name: "ext4".to_owned(), in_memory: false });
        assert_eq!(FileSystem::from_magic(0x9123_683e).name, "btrfs");
        assert_eq!(
            FileSystem::from_magic(0x0102_1994),
            FileSystem { name: "tmpfs".to_owned(), in_memory: true }
        );
        assert_eq!(FileSystem::from_magic(0xdead_beef).name, "0xdeadbeef");
    }

    #[test]
    fn caches_beside_the_page_cache_are_known() {
        let own: Vec<&str> = KNOWN
            .iter()
            .filter(|(number, _)| FileSystem::from_magic(*number).has_own_cache())
            .map(|(_, name)| *name)
            .collect();
        assert_eq!(own, ["zfs", "gpfs", "beegfs", "fuse"]);
        assert!(FileSystem::from_magic(0x794c_7630).is_stacked());
    }

    #[test]
    fn every_number_is_listed_once() {
        let mut numbers: Vec<u32> = KNOWN.iter().chain(&KNOWN_IN_MEMORY).map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), KNOWN.len() + KNOWN_IN_MEMORY.len());
    }
}
