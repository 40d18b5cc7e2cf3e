//! What checkpoints hold.

use dataset::payload;

/// Bytes that are filled once and written again and again, at other places of every file.
///
/// Filling takes the processor longer than copying does: a client that filled as it writes would measure itself. These are
/// random bytes, so nothing compresses; and too many for a storage that looks for blocks it has seen to find them next to
/// each other.
const POOL_BYTES: usize = 64 << 20;

/// Distance between the places at which pieces of the pool begin.
const STEP_BYTES: u64 = 4096;

/// Odd, so that files and blocks meet all places: 2^64 over the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Incompressible bytes for blocks of one size.
#[derive(Debug)]
pub(super) struct Content {
    pool: Vec<u8>,
    block_bytes: usize,
}

impl Content {
    /// Bytes for blocks of `block_bytes`; no more of them than `total_bytes` take.
    pub(super) fn new(seed: u64, block_bytes: u32, total_bytes: u64) -> Self {
        let block_bytes = block_bytes.max(1) as usize;
        let most = usize::try_from(total_bytes).unwrap_or(POOL_BYTES).min(POOL_BYTES);
        let mut pool = vec![0; most + block_bytes];
        payload::fill(seed, 0, 0, &mut pool);
        Self { pool, block_bytes }
    }

    /// The `length` bytes of `file` that begin at `offset`, at most a block.
    pub(super) fn piece(&self, file: u32, offset: u64, length: usize) -> &[u8] {
        let places = ((self.pool.len() - self.block_bytes) as u64 / STEP_BYTES).max(1);
        // Neighbouring blocks of a file, and the same block of two files, begin at unrelated places: a storage that
        // deduplicates finds no two in a row.
        let number = u64::from(file).wrapping_mul(SPREAD).wrapping_add(offset / self.block_bytes as u64);
        let start = (number.wrapping_mul(SPREAD) >> 16) % places * STEP_BYTES;
        // A pool smaller than a step has one place.
        let start = (start as usize).min(self.pool.len() - self.block_bytes);
        &self.pool[start..start + length.min(self.block_bytes)]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_piece_is_as_long_as_asked_and_lies_in_the_pool() {
        for (block, total) in [(1, 1), (4096, 5), (100_000, 10_000_000), (1 << 20, 1 << 20)] {
            let content = Content::new(7, block, total);
            for file in [0, 1, u32::MAX] {
                for offset in [0, u64::from(block), u64::MAX - u64::from(block)] {
                    assert_eq!(content.piece(file, offset, block as usize).len(), block as usize);
                    assert_eq!(content.piece(file, offset, 1).len(), 1);
                }
            }
        }
    }

    #[test]
    fn files_and_blocks_hold_different_bytes() {
        let content = Content::new(7, 4096, 4 << 20);
        let pieces: BTreeSet<&[u8]> = (0..4)
            .flat_map(|file| (0..16).map(move |block| (file, block * 4096)))
            .map(|(file, offset)| content.piece(file, offset, 4096))
            .collect();
        assert!(pieces.len() > 58, "{} of 64 differ", pieces.len());
    }
}
