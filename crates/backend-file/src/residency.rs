//! How much of a file is in the page cache.

use std::ptr;

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Access, AtFlags, accessat, fstat};
use rustix::io::Errno;

use crate::file_system::FileSystem;

/// `cachestat(2)`, of one number on every architecture; since Linux 6.5.
const SYS_CACHESTAT: libc::c_long = 451;

/// Bytes mapped at once for `mincore`: its answer then takes 256 KiB.
const WINDOW_BYTES: u64 = 1 << 30;

#[repr(C)]
struct Range {
    offset: u64,
    /// 0: to the end.
    bytes: u64,
}

/// `struct cachestat` of linux/mman.h, in pages.
#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// How residency is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Cachestat,
    Mincore,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cachestat => "cachestat",
            Self::Mincore => "mincore",
        }
    }
}

/// Resident bytes of a file and how they were found; `None` where this user may not know, and where the page
/// cache says nothing about what is served from memory.
pub(crate) fn resident_bytes(file: &OwnedFd, bytes: u64) -> Option<(u64, Method)> {
    resident_bytes_on(FileSystem::of(file).as_ref(), file, bytes)
}

/// A stacked file system caches pages under the file below, and `cachestat` looks at the file above: on
/// overlayfs it counts none for a file that is resident in full. A mapping is one of the file below.
fn resident_bytes_on(on: Option<&FileSystem>, file: &OwnedFd, bytes: u64) -> Option<(u64, Method)> {
    if on.is_some_and(FileSystem::has_own_cache) {
        return None;
    }
    match if on.is_some_and(FileSystem::is_stacked) { Err(Errno::NOSYS) } else { by_cachestat(file) } {
        Ok(pages) => Some((in_bytes(pages, bytes), Method::Cachestat)),
        // Unknown to the kernel or to a container's filter, or not for this user.
        Err(Errno::NOSYS | Errno::PERM) if mincore_tells_the_truth(file) => {
            by_mincore(file, bytes).map(|pages| (in_bytes(pages, bytes), Method::Mincore))
        }
        Err(_) => None,
    }
}

/// The last page of a file is cached whole.
fn in_bytes(pages: u64, bytes: u64) -> u64 {
    (pages * rustix::param::page_size() as u64).min(bytes)
}

fn by_cachestat(file: &OwnedFd) -> Result<u64, Errno> {
    let range = Range { offset: 0, bytes: 0 };
    let mut counts = Counts::default();
    // SAFETY: both structures have the kernel's layout and live through the call.
    let result =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counts, 0_u32) };
    match Errno::from_io_error(&std::io::Error::last_os_error()) {
        Some(errno) if result != 0 => Err(errno),
        _ => Ok(counts.cached),
    }
}

/// To anyone but the owner and those who may write, `mincore` says that everything is resident.
fn mincore_tells_the_truth(file: &OwnedFd) -> bool {
    let owner = fstat(file).is_ok_and(|stat| stat.st_uid == rustix::process::geteuid().as_raw());
    owner || accessat(file, "", Access::WRITE_OK, AtFlags::EACCESS | AtFlags::EMPTY_PATH).is_ok()
}

fn by_mincore(file: &OwnedFd, bytes: u64) -> Option<u64> {
    let windows = bytes.div_ceil(WINDOW_BYTES);
    (0..windows).try_fold(0, |pages, window| {
        let offset = window * WINDOW_BYTES;
        Some(pages + window_by_mincore(file, offset, (bytes - offset).min(WINDOW_BYTES) as usize)?)
    })
}

fn window_by_mincore(file: &OwnedFd, offset: u64, bytes: usize) -> Option<u64> {
    let mut pages = vec![0_u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at an address of the kernel's choice; it is never read, so a file that shrinks is
    // no danger.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
            bytes,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset.cast_signed(),
        )
    };
    if address == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the range is the mapping made above, and `pages` has a byte for each of its pages.
    let asked = unsafe { libc::mincore(address, bytes, pages.as_mut_ptr()) };
    // SAFETY: address and length are those of the mapping.
    unsafe { libc::munmap(address, bytes) };
    (asked == 0).then(|| pages.iter().filter(|page| **page & 1 != 0).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_methods_agree_on_a_file_just_written() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes = 1_000_000;
        std::io::Write::write_all(&mut file, &vec![7; bytes]).unwrap();
        let file = OwnedFd::from(file);
        let pages = by_mincore(&file, bytes as u64).unwrap();
        assert_eq!(pages, (bytes as u64).div_ceil(rustix::param::page_size() as u64));
        assert!(mincore_tells_the_truth(&file));
        if !FileSystem::of(&file).unwrap().is_stacked() {
            match by_cachestat(&file) {
                Ok(counted) => assert_eq!(counted, pages),
                Err(errno) => assert_eq!(errno, Errno::NOSYS, "kernels before 6.5 do not know cachestat"),
            }
        }
        assert_eq!(
            resident_bytes(&file, bytes as u64).unwrap().0,
            bytes as u64,
            "never more than the file has"
        );
    }

    #[test]
    fn the_page_cache_proves_nothing_where_another_cache_serves() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[7; 5000]).unwrap();
        let file = OwnedFd::from(file);
        let found_on = |name: &str| {
            let on = FileSystem { name: name.to_owned(), in_memory: false };
            resident_bytes_on(Some(&on), &file, 5000)
        };
        for name in ["zfs", "gpfs", "beegfs", "fuse"] {
            assert_eq!(found_on(name), None, "{name}");
        }
        for name in ["overlay", "nfs", "cifs", "ceph", "lustre", "xfs"] {
            assert!(found_on(name).is_some(), "{name}");
        }
    }

    #[test]
    fn an_empty_file_has_nothing_resident() {
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        assert_eq!(by_mincore(&file, 0), Some(0));
    }
}
