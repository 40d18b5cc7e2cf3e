//! How much memory the buffers of reads take, and what it is made of.

use feed::Pages;

use crate::{COPY_BUFFERS, Cell, Task};

/// Buffers begin at multiples of this, for direct I/O.
// Direct I/O asks for 512 or 4096 by device. The larger serves every device, and keeps buffers of one run
// comparable on all.
pub const BUFFER_ALIGN_BYTES: u64 = 4096;

/// Alignment of an arena: a huge page of x86-64 and of most arm64 kernels.
// Kernels of arm64 with 64 KiB pages have huge pages of 512 MiB; there `pages = "huge"` fails with the
// kernel's own count, and nothing is claimed.
pub const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// Bytes of an arena of `slots` buffers for blocks of `block_bytes`; of huge pages, whole ones.
pub fn arena_bytes(slots: u32, block_bytes: u32, pages: Pages) -> u64 {
    let buffers = u64::from(slots) * u64::from(block_bytes.max(1)).next_multiple_of(BUFFER_ALIGN_BYTES);
    match pages {
        // Rounding base pages up as well would double the memory of deep queues of small blocks for
        // nothing.
        Pages::Base => buffers,
        Pages::Huge => buffers.next_multiple_of(HUGE_PAGE_BYTES),
    }
}

impl Cell {
    /// Bytes of all buffers of a repetition: an arena for each thread.
    pub fn buffers_bytes(&self) -> u64 {
        let slots = match self.task {
            // A copy has a fixed set of buffers, whatever its depth: it reads one block while it writes
            // another.
            Task::Copy(_) => COPY_BUFFERS,
            _ => self.queue_depth.div_ceil(self.threads.max(1)),
        };
        u64::from(self.threads) * arena_bytes(slots, self.block_bytes, self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arenas_of_huge_pages_take_whole_ones() {
        let both = |slots, block| [Pages::Base, Pages::Huge].map(|pages| arena_bytes(slots, block, pages));
        assert_eq!(both(1, 4096), [4096, 2 << 20]);
        assert_eq!(both(3, 5000), [3 * 8192, 2 << 20]);
        assert_eq!(both(1, 114_660), [114_688, 2 << 20]);
        assert_eq!(both(8, 1 << 20), [8 << 20; 2]);
    }
}
