//! How much memory the buffers of reads take.

use crate::{COPY_BUFFERS, Cell};

/// Buffers begin at multiples of this, for direct I/O.
pub const BUFFER_ALIGN_BYTES: u64 = 4096;

/// Alignment of an arena: a huge page of x86-64 and of most arm64 kernels.
pub const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// From this size on an arena is made of whole huge pages, even if its last one is mostly unused: a device
/// splits a large read into 4 KiB pages once it runs out of segments. `pread` of 1 MiB blocks was measured at a
/// third of the rate with buffers of small pages.
const WHOLE_HUGE_PAGES_FROM_BYTES: u64 = 64 << 10;

/// Bytes of an arena of `slots` buffers for blocks of `block_bytes`.
pub fn arena_bytes(slots: u32, block_bytes: u32) -> u64 {
    let buffers = u64::from(slots) * u64::from(block_bytes.max(1)).next_multiple_of(BUFFER_ALIGN_BYTES);
    let whole = buffers >= WHOLE_HUGE_PAGES_FROM_BYTES;
    if whole { buffers.next_multiple_of(HUGE_PAGE_BYTES) } else { buffers }
}

impl Cell {
    /// Bytes of all buffers of a repetition: an arena for each thread.
    pub fn buffers_bytes(&self) -> u64 {
        let slots = match self.copy {
            Some(_) => COPY_BUFFERS,
            None => self.queue_depth.div_ceil(self.threads.max(1)),
        };
        u64::from(self.threads) * arena_bytes(slots, self.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arenas_are_of_whole_huge_pages_and_small_ones_are_not() {
        assert_eq!(arena_bytes(1, 4096), 4096);
        assert_eq!(arena_bytes(3, 5000), 3 * 8192);
        assert_eq!(arena_bytes(1, 114_660), 2 << 20);
        assert_eq!(arena_bytes(8, 1 << 20), 8 << 20);
    }
}
