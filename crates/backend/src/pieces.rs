//! The rule by which a whole file is read in pieces, shared by the code that reads and the code that checks.

/// The pieces of a whole file, in order: each of [`crate::QueueSpec::block_bytes`] but for the last, which is what is
/// left. A file without bytes is one piece without bytes. What a buffer has room for does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePieces {
    bytes: u64,
    block_bytes: u32,
}

/// A part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

impl FilePieces {
    /// Those of a file of `bytes`, read in blocks of `block_bytes`, at least one byte each.
    pub fn new(bytes: u64, block_bytes: u32) -> Self {
        // A block of nothing would never reach the end of the file.
        Self { bytes, block_bytes: block_bytes.max(1) }
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        // One even of an empty file: a loader opens it, reads to its end and closes it as any other, and that takes
        // as long.
        self.bytes.div_ceil(u64::from(self.block_bytes)).max(1)
    }

    /// The piece of this number, which is below their count.
    #[inline]
    pub fn get(&self, number: u64) -> Piece {
        let offset = number * u64::from(self.block_bytes);
        Piece { offset, len: self.bytes.saturating_sub(offset).min(u64::from(self.block_bytes)) as u32 }
    }

    /// The last.
    pub fn last(&self) -> Piece {
        self.get(self.count() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pieces_but_the_last_are_of_one_size_and_together_they_are_the_file() {
        for (bytes, block_bytes) in [(10_000, 4_096), (8_192, 4_096), (1, 4_096), (4 << 20, 100_000)] {
            let pieces = FilePieces::new(bytes, block_bytes);
            let all: Vec<Piece> = (0..pieces.count()).map(|number| pieces.get(number)).collect();
            let (last, others) = all.split_last().unwrap();
            assert!(others.iter().all(|piece| piece.len == block_bytes), "{all:?}");
            assert!((1..=block_bytes).contains(&last.len) && *last == pieces.last());
            assert_eq!(last.offset + u64::from(last.len), bytes);
        }
        assert_eq!(FilePieces::new(4 << 20, 100_000).count(), 42);
        assert_eq!(FilePieces::new(0, 4_096).last(), Piece { offset: 0, len: 0 });
        assert_eq!(FilePieces::new(0, 4_096).count(), 1);
    }
}
