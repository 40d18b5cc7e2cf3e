//! The rule by which a whole file is read and written in pieces, shared by the code that moves bytes and the code that checks.

use std::ops::Range;

/// The smallest block by which storages look for what they have already.
pub const PAGE_BYTES: usize = 4096;

/// Where each page of a piece that is written says the number of the piece. What lies before and behind it is the caller's.
const NUMBER_AT: Range<usize> = 16..24;

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

    /// Makes the bytes of a buffer those of the piece of this number of a file that is written: each page says the number, so that no
    /// two pages of the file are alike where none of the buffer are.
    // In the queue and not in the caller: the buffer of an operation is the queue's until it ends, and so a file of any size is
    // written from one block.
    #[inline]
    pub fn number(&self, number: u64, buffer: &mut [u8]) {
        let bytes = number.to_le_bytes();
        for page in buffer[..self.get(number).len as usize].chunks_mut(PAGE_BYTES) {
            let end = page.len().min(NUMBER_AT.end);
            if let Some(place) = page.get_mut(NUMBER_AT.start..end) {
                place.copy_from_slice(&bytes[..place.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_of_a_piece_says_its_number_as_far_as_it_goes() {
        let pieces = FilePieces::new(3 * 8192 + 4096 + 20, 8192);
        let mut buffer = vec![0xff; 8192];
        pieces.number(2, &mut buffer);
        for page in buffer.chunks(4096) {
            assert_eq!((&page[..16], &page[16..24]), (&[0xff; 16][..], &2_u64.to_le_bytes()[..]));
            assert!(page[24..].iter().all(|byte| *byte == 0xff));
        }
        buffer[4096 + 16..4096 + 24].fill(0xee);
        pieces.number(3, &mut buffer);
        assert_eq!(buffer[16..24], 3_u64.to_le_bytes());
        assert_eq!(buffer[4096 + 16..4096 + 24], [3, 0, 0, 0, 0xee, 0xee, 0xee, 0xee], "the file ends there");
        FilePieces::new(10, 8192).number(0, &mut buffer);
        FilePieces::new(0, 8192).number(0, &mut buffer);
        assert_eq!(buffer[16..24], 3_u64.to_le_bytes(), "a page that is too short says nothing");
    }

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
