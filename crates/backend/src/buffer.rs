//! Buffers that move: one arena per queue, one slot per outstanding read.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::{BUFFER_ALIGN_BYTES, HUGE_PAGE_BYTES, arena_bytes};

/// Why the buffers of a queue could not be had.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {bytes} bytes of buffers ({slots} slots): {source}")]
pub struct ArenaError {
    bytes: usize,
    slots: u32,
    source: std::io::Error,
}

/// One mapping that holds every buffer of a queue, aligned to 2 MiB and advised to be of huge pages
/// (a 1 MiB buffer of 4 KiB pages has more segments than most devices take in one request).
#[derive(Debug)]
pub struct Arena {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    base: NonNull<u8>,
    stride: usize,
    slots: u32,
    huge_pages: bool,
    handed_out: AtomicBool,
}

// SAFETY: the arena hands out each slot once (`handed_out`), as a `Buf`, and touches none of the memory itself.
unsafe impl Send for Arena {}
// SAFETY: as above; `&Arena` gives access to addresses only.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps `slots` buffers of at least `bytes` each, aligned for direct I/O, and touches every page
    /// so that no fault falls into a measurement.
    pub fn new(slots: u32, bytes: u32) -> Result<Arc<Self>, ArenaError> {
        let stride = (bytes.max(1) as usize).next_multiple_of(BUFFER_ALIGN_BYTES as usize);
        let used = arena_bytes(slots, bytes) as usize;
        let mapping_bytes = used + HUGE_PAGE_BYTES as usize;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice aliases nothing.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapping_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        let failed = || ArenaError { bytes: mapping_bytes, slots, source: std::io::Error::last_os_error() };
        if address == libc::MAP_FAILED {
            return Err(failed());
        }
        let mapping = NonNull::new(address.cast::<u8>()).ok_or_else(failed)?;
        let lead = mapping.as_ptr().align_offset(HUGE_PAGE_BYTES as usize);
        // SAFETY: `lead` is below HUGE_PAGE_BYTES, by which the mapping is larger than what is used.
        let base = unsafe { mapping.add(lead) };
        // SAFETY: the range lies inside the mapping made above; the advice changes no content.
        let advised = unsafe { libc::madvise(base.as_ptr().cast(), used, libc::MADV_HUGEPAGE) };
        // SAFETY: the range lies inside the mapping and nothing else refers to it yet.
        unsafe { base.write_bytes(0, used) };
        Ok(Arc::new(Self {
            mapping,
            mapping_bytes,
            base,
            stride,
            slots,
            huge_pages: advised == 0,
            handed_out: AtomicBool::new(false),
        }))
    }

    /// Number of buffers.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Distance between two buffers, and the usable bytes of each.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Whether the kernel took the advice to use huge pages (it may still not have had any).
    pub fn huge_pages_advised(&self) -> bool {
        self.huge_pages
    }

    /// First byte and length of all buffers together, for registration with a kernel or a device.
    pub fn region(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.stride * self.slots as usize)
    }

    /// Every buffer, the first time; afterwards none. The arena lives until the last of them is dropped.
    pub fn buffers(self: &Arc<Self>) -> Vec<Buf> {
        let slots = if self.handed_out.swap(true, Ordering::AcqRel) { 0 } else { self.slots };
        (0..slots).map(|slot| Buf { arena: Arc::clone(self), slot }).collect()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: mapping and length are those of the mmap in `new`, and no `Buf` is left to refer to it.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
    }
}

/// One buffer. It moves into a request and comes back with the completion; whoever holds it owns the memory.
#[derive(Debug)]
pub struct Buf {
    arena: Arc<Arena>,
    slot: u32,
}

impl Buf {
    /// Number of the slot in the arena.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// First byte. While a request is outstanding only the kernel or device may use it.
    pub fn as_ptr(&self) -> *mut u8 {
        // SAFETY: the slot is below `slots`, so the address lies inside the arena.
        unsafe { self.arena.base.add(self.slot as usize * self.arena.stride).as_ptr() }
    }

    /// The buffer's bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the slot's memory is initialised, inside the arena, and owned by this `Buf` alone.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.arena.stride) }
    }

    /// The buffer's bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.arena.stride) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_apart_and_outlive_the_handle_of_their_arena() {
        let arena = Arena::new(3, 5000).unwrap();
        let mut buffers = arena.buffers();
        assert!(arena.buffers().is_empty(), "a slot is handed out once");
        drop(arena);
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            assert_eq!(buffer.as_ptr() as usize % 4096, 0);
            buffer.as_mut_slice().fill(slot as u8 + 1);
        }
        for (slot, buffer) in buffers.iter().enumerate() {
            assert_eq!(buffer.as_slice().len(), 8192);
            assert!(buffer.as_slice().iter().all(|byte| *byte == slot as u8 + 1));
        }
    }
}
