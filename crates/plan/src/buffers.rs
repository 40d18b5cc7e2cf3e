//! How much memory the buffers of reads take, and what it is made of.

use crate::{COPY_BUFFERS, Cell};

/// Buffers begin at multiples of this, for direct I/O.
pub const BUFFER_ALIGN_BYTES: u64 = 4096;

/// Alignment of an arena: a huge page of x86-64 and of most arm64 kernels.
pub const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// Pages that buffers are made of. A direct read of a device is described to it page by page, so that large blocks in
/// small pages cost more, and are split once the device runs out of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Pages {
    /// Those of the kernel's own size, 4 KiB on most machines: what the memory of a loader is made of.
    #[default]
    Base,
    /// Transparent huge pages, all of them.
    Huge,
}

impl Pages {
    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Huge => "huge",
        }
    }
}

/// Bytes of an arena of `slots` buffers for blocks of `block_bytes`; of huge pages, whole ones.
pub fn arena_bytes(slots: u32, block_bytes: u32, pages: Pages) -> u64 {
    let buffers = u64::from(slots) * u64::from(block_bytes.max(1)).next_multiple_of(BUFFER_ALIGN_BYTES);
    match pages {
        Pages::Base => buffers,
        Pages::Huge => buffers.next_multiple_of(HUGE_PAGE_BYTES),
    }
}

impl Cell {
    /// Bytes of all buffers of a repetition: an arena for each thread.
    pub fn buffers_bytes(&self) -> u64 {
        let slots = match self.copy {
            Some(_) => COPY_BUFFERS,
            None => self.queue_depth.div_ceil(self.threads.max(1)),
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
