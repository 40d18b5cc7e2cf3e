//! Samples that are copied into a batch as they are.

use std::hint::black_box;

/// Room that one thread copies into, round and round: more than the caches of a core hold, as the batches of a job that
/// prefetches are.
const ROOM_BYTES: usize = 32 << 20;

/// The batch that samples are copied into, one behind the other.
#[derive(Default)]
pub(crate) struct Batch {
    // With the first sample, by the thread that copies: its memory is then near that thread's processor.
    room: Vec<u8>,
    at: usize,
}

impl Batch {
    /// Copies `bytes` and returns their number. The copy is not used; `black_box` keeps the compiler from removing it.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> u64 {
        if self.room.is_empty() {
            self.room = vec![0; ROOM_BYTES];
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.len().min(self.room.len() - self.at));
            self.room[self.at..self.at + piece.len()].copy_from_slice(piece);
            self.at = (self.at + piece.len()) % self.room.len();
            rest = behind;
        }
        black_box(&self.room);
        bytes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_one_behind_the_other_and_go_on_at_the_beginning() {
        let mut batch = Batch::default();
        assert_eq!(batch.push(&[1; 3]), 3);
        assert_eq!(batch.push(&vec![2; ROOM_BYTES]), ROOM_BYTES as u64);
        assert_eq!((batch.at, &batch.room[..4], batch.room[ROOM_BYTES - 1]), (3, &[2, 2, 2, 2][..], 2));
        assert_eq!(batch.push(&vec![3; 2 * ROOM_BYTES + 1]), 2 * ROOM_BYTES as u64 + 1);
        assert_eq!((batch.at, &batch.room[2..5]), (4, &[3, 3, 3][..]));
    }
}
