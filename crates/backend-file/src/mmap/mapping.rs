//! One file, mapped.

use std::ptr::{self, NonNull};

use plan::Advice;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::fault::{self, Fault};

/// A mapping of the first bytes of a file, which is only read. Neither `Send` nor `Sync`: what a copy does when
/// the file shrinks under it is done to the mapping, behind the back of any other thread.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Maps the first `bytes` of a file, more than none, and says how they will be read.
    pub(super) fn new(file: BorrowedFd<'_>, bytes: u64, advice: Advice) -> Result<Self, Errno> {
        let bytes = usize::try_from(bytes).map_err(|_| Errno::NOMEM)?;
        fault::guard_process();
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
        let address = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(address.cast()).ok_or(Errno::NOMEM)?;
        let mapping = Self { start, bytes };
        if let Some(advice) = of_mapping(advice) {
            mapping.advise(0, bytes, advice)?;
        }
        Ok(mapping)
    }

    /// Bytes that are mapped.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Has the pages of a block read, all in one go, without waiting for them.
    pub(super) fn will_need(&self, offset: u64, bytes: u32) {
        let page = rustix::param::page_size();
        let first = offset as usize / page * page;
        let end = (offset as usize + bytes as usize).min(self.bytes);
        // Advice alone: where it is not taken the copy reads page by page.
        let _ = self.advise(first, end.saturating_sub(first), mm::Advice::WillNeed);
    }

    /// Copies what is at `offset`. After a fault nothing more may be copied from this mapping.
    pub(super) fn copy(&self, offset: u64, to: &mut [u8]) -> Result<(), Fault> {
        assert!(offset.saturating_add(to.len() as u64) <= self.bytes(), "a copy ends inside the mapping");
        // SAFETY: the offset lies inside the mapping.
        let from = unsafe { self.start.add(offset as usize) };
        // SAFETY: the range was checked, the mapping is this thread's own and no reference into it is ever made.
        unsafe { fault::copy(self.start, self.bytes, from.as_ptr(), to) }
    }

    /// Where in the file a fault was.
    pub(super) fn offset_of(&self, fault: Fault) -> u64 {
        fault.address.saturating_sub(self.start.as_ptr() as usize) as u64
    }

    fn advise(&self, first: usize, bytes: usize, advice: mm::Advice) -> Result<(), Errno> {
        // SAFETY: the range lies inside the mapping; none of the advices used changes what is read.
        unsafe { madvise(self.start.add(first).as_ptr().cast(), bytes, advice) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is that of the mapping, or of the zeros that took its place.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

fn of_mapping(advice: Advice) -> Option<mm::Advice> {
    match advice {
        Advice::Normal => None,
        // WillNeed is advised for each read; the mapping itself must not read around it. Without advice, 12
        // MB in random 4 KiB reads brought 1.07 GB from the disk (read-ahead of 8 MiB).
        Advice::Random | Advice::WillNeed => Some(mm::Advice::Random),
        Advice::Sequential => Some(mm::Advice::Sequential),
    }
}
