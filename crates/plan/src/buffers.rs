//! How much memory a run takes, and what it is made of.

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

/// Last-level caches in the memory that reads of the null target are copied from.
// What is walked again and again is found in a cache by the part of it that fits, at most: a quarter, the rule of STREAM for its
// arrays.
const COPY_SOURCE_CACHES: u64 = 4;

/// Most bytes of that memory, and those where the cache is not known.
// Caches beyond 64 MiB are those of large machines, of which a process is mostly given a part.
const COPY_SOURCE_BYTES_MAX: u64 = 256 << 20;

/// Bytes of the memory that reads of the null target are copied from, as those of a page cache are: more than a last-level cache
/// of `cache_bytes` holds, and at most a quarter of the memory that there is.
pub fn copy_source_bytes(cache_bytes: Option<u64>, memory_bytes: u64) -> u64 {
    let beyond = cache_bytes.map_or(COPY_SOURCE_BYTES_MAX, |bytes| bytes.saturating_mul(COPY_SOURCE_CACHES));
    beyond.min(COPY_SOURCE_BYTES_MAX).min(memory_bytes / 4)
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

    /// Most bytes that it takes: those of its buffers, and where it copies, while the client's own ceiling for it is measured, those of
    /// a source of `source_bytes`.
    pub fn memory_bytes(&self, source_bytes: u64) -> u64 {
        self.buffers_bytes().saturating_add(if self.copies() { source_bytes } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_made_from_more_than_a_cache_and_from_no_more_than_needed() {
        let of = |cache_mib: u64, memory_mib: u64| {
            copy_source_bytes(Some(cache_mib << 20), memory_mib << 20) >> 20
        };
        assert_eq!([of(8, 4_096), of(32, 4_096), of(504, 4_096)], [32, 128, 256]);
        assert_eq!(of(32, 256), 64, "a small machine keeps most of its memory");
        assert_eq!(copy_source_bytes(None, u64::MAX), 256 << 20);
    }

    #[test]
    fn arenas_of_huge_pages_take_whole_ones() {
        let both = |slots, block| [Pages::Base, Pages::Huge].map(|pages| arena_bytes(slots, block, pages));
        assert_eq!(both(1, 4096), [4096, 2 << 20]);
        assert_eq!(both(3, 5000), [3 * 8192, 2 << 20]);
        assert_eq!(both(1, 114_660), [114_688, 2 << 20]);
        assert_eq!(both(8, 1 << 20), [8 << 20; 2]);
    }
}
