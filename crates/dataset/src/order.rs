//! In which order blocks are read: a pure function of a ticket.
//!
//! Tickets are global to a repetition and handed out in order, so the reads that happen do not depend on
//! the number of threads, and a stalled thread owns no samples.

use plan::{Access, Cache, Cell, Operation};

use crate::Objects;
use crate::permutation::{Permutation, mix};

/// A block that no file outgrows.
const WHOLE_FILE: u64 = u64::MAX;

/// One read; of a folder, or of a file that is only looked at, its number alone has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSpan {
    /// Index of the object.
    pub object: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes asked; the last block of an object may be short.
    pub len: u64,
}

/// What makes an order impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// There is nothing to read.
    #[error("the dataset holds no bytes to read")]
    Empty,
    /// The block size was zero.
    #[error("a block of zero bytes reads nothing")]
    ZeroBlock,
}

/// An access order over the blocks of a dataset.
#[derive(Debug, Clone)]
pub struct Order {
    access: Access,
    seed: u64,
    block_bytes: u64,
    blocks: Blocks,
    /// Random draws are without replacement within an epoch.
    each_once: bool,
}

/// How blocks are numbered: all blocks of the first object, then of the second, and so on.
#[derive(Debug, Clone)]
enum Blocks {
    Uniform {
        objects: u64,
        object_bytes: u64,
        per_object: u64,
    },
    /// `ends[i]` is the number of blocks up to and with object `i`.
    Listed {
        ends: Vec<u64>,
        bytes: Vec<u64>,
    },
}

impl Order {
    /// An order over `objects` in blocks of `block_bytes`.
    pub fn new(objects: &Objects, access: Access, block_bytes: u32, seed: u64) -> Result<Self, OrderError> {
        Self::in_blocks(objects, access, u64::from(block_bytes), seed)
    }

    fn in_blocks(objects: &Objects, access: Access, block: u64, seed: u64) -> Result<Self, OrderError> {
        if block == 0 {
            return Err(OrderError::ZeroBlock);
        }
        if objects.total_bytes() == 0 {
            return Err(OrderError::Empty);
        }
        let blocks = match objects {
            Objects::Uniform { count, bytes, .. } => Blocks::Uniform {
                objects: u64::from(*count),
                object_bytes: *bytes,
                per_object: bytes.div_ceil(block),
            },
            Objects::Varied(_) | Objects::Listed(_) => {
                let bytes: Vec<u64> = (0..objects.count()).map(|object| objects.bytes(object)).collect();
                let ends = bytes
                    .iter()
                    .scan(0, |end, bytes| {
                        *end += bytes.div_ceil(block);
                        Some(*end)
                    })
                    .collect();
                Blocks::Listed { ends, bytes }
            }
        };
        Ok(Self { access, seed, block_bytes: block, blocks, each_once: false })
    }

    /// An order over the folders of a dataset: each is one block of one byte, and its number the object.
    fn of_folders(objects: &Objects, access: Access, seed: u64) -> Result<Self, OrderError> {
        let folders = objects.folders().len() as u64;
        let blocks = Blocks::Uniform { objects: folders, object_bytes: 1, per_object: 1 };
        if folders == 0 {
            return Err(OrderError::Empty);
        }
        Ok(Self { access, seed, block_bytes: 1, blocks, each_once: false })
    }

    /// The order of a cell: over blocks, over whole files, or over folders. A cold cell reads no byte twice, so its random draws are without replacement: the
    /// second read of a block would come from memory.
    pub fn of_cell(objects: &Objects, cell: &Cell) -> Result<Self, OrderError> {
        let order = match cell.operation {
            Operation::Read => Self::new(objects, cell.access, cell.block_bytes, cell.seed)?,
            Operation::ReadFile | Operation::Stat => {
                Self::in_blocks(objects, cell.access, WHOLE_FILE, cell.seed)?
            }
            Operation::List => Self::of_folders(objects, cell.access, cell.seed)?,
        };
        Ok(Self { each_once: cell.cache == Cache::Cold, ..order })
    }

    /// Reads in one pass over the dataset.
    pub fn tickets_per_epoch(&self) -> u64 {
        match &self.blocks {
            Blocks::Uniform { objects, per_object, .. } => objects * per_object,
            Blocks::Listed { ends, .. } => ends.last().copied().unwrap_or(0),
        }
    }

    /// The read of a ticket. Epochs follow each other: ticket `tickets_per_epoch()` opens the second.
    pub fn at(&self, ticket: u64) -> ReadSpan {
        let per_epoch = self.tickets_per_epoch();
        let (epoch, index) = (ticket / per_epoch, ticket % per_epoch);
        match self.access {
            Access::Sequential => self.block(index),
            Access::Random if self.each_once => self.block(self.permuted(epoch, index)),
            Access::Random => self.block(scale(mix(self.seed ^ mix(ticket)), per_epoch)),
            Access::ShuffledEpoch => self.shuffled(epoch, index),
        }
    }

    /// Generated data: samples are permuted and the blocks of a sample stay in order, as a loader reads
    /// them. Listed data: files differ in their number of blocks, so the blocks themselves are permuted.
    fn shuffled(&self, epoch: u64, index: u64) -> ReadSpan {
        match &self.blocks {
            Blocks::Uniform { objects, per_object, .. } => {
                let sample = Permutation::new(*objects, self.epoch_seed(epoch)).at(index / per_object);
                self.block(sample * per_object + index % per_object)
            }
            Blocks::Listed { .. } => self.block(self.permuted(epoch, index)),
        }
    }

    fn permuted(&self, epoch: u64, index: u64) -> u64 {
        Permutation::new(self.tickets_per_epoch(), self.epoch_seed(epoch)).at(index)
    }

    fn epoch_seed(&self, epoch: u64) -> u64 {
        mix(self.seed ^ mix(epoch))
    }

    fn block(&self, block: u64) -> ReadSpan {
        let (object, first, bytes) = match &self.blocks {
            Blocks::Uniform { object_bytes, per_object, .. } => {
                (block / per_object, block % per_object, *object_bytes)
            }
            Blocks::Listed { ends, bytes } => {
                let object = ends.partition_point(|end| *end <= block);
                let before = if object == 0 { 0 } else { ends[object - 1] };
                (object as u64, block - before, bytes[object])
            }
        };
        let offset = first * self.block_bytes;
        ReadSpan { object: object as u32, offset, len: self.block_bytes.min(bytes - offset) }
    }
}

/// Maps a uniform 64-bit value onto `0..n` by its high bits (Lemire's multiply-shift; bias below 2^-20 for n < 2^44).
fn scale(value: u64, n: u64) -> u64 {
    ((u128::from(value) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::objects::Listed;
    use crate::{Key, Objects};

    fn uniform(count: u32, bytes: u64) -> Objects {
        Objects::uniform(Key::new("d").unwrap(), count, bytes)
    }

    fn listed(sizes: &[u64]) -> Objects {
        let mut listed = Listed::default();
        for (i, bytes) in sizes.iter().enumerate() {
            listed.push(&Key::new(format!("f{i}")).unwrap(), *bytes);
        }
        Objects::Listed(listed)
    }

    fn epoch(order: &Order, number: u64) -> Vec<ReadSpan> {
        let n = order.tickets_per_epoch();
        (number * n..(number + 1) * n).map(|ticket| order.at(ticket)).collect()
    }

    /// Sorted spans must tile every object exactly.
    fn assert_covers_once(objects: &Objects, spans: &[ReadSpan]) {
        let mut spans = spans.to_vec();
        spans.sort_by_key(|span| (span.object, span.offset));
        let mut next = (0, 0);
        for span in spans {
            assert_eq!((span.object, span.offset), next);
            let end = span.offset + u64::from(span.len);
            next = if end == objects.bytes(span.object) { (span.object + 1, 0) } else { (span.object, end) };
        }
        assert_eq!(next, (objects.count(), 0));
    }

    proptest! {
        #[test]
        fn sequential_and_shuffled_epochs_read_every_byte_once(
            count in 1_u32..40, bytes in 1_u64..3_000, block in 1_u32..1_000, seed: u64, number in 0_u64..3,
        ) {
            let objects = uniform(count, bytes);
            for access in [Access::Sequential, Access::ShuffledEpoch] {
                let order = Order::new(&objects, access, block, seed).unwrap();
                assert_covers_once(&objects, &epoch(&order, number));
            }
        }

        #[test]
        fn listed_files_of_any_size_are_covered_once(
            sizes in prop::collection::vec(1_u64..5_000, 1..30), block in 1_u32..2_000, seed: u64,
        ) {
            let objects = listed(&sizes);
            for access in [Access::Sequential, Access::ShuffledEpoch] {
                let order = Order::new(&objects, access, block, seed).unwrap();
                assert_covers_once(&objects, &epoch(&order, 1));
            }
        }

        #[test]
        fn random_reads_stay_inside(count in 1_u32..40, bytes in 1_u64..3_000, block in 1_u32..1_000, ticket: u64) {
            let objects = uniform(count, bytes);
            let span = Order::new(&objects, Access::Random, block, 7).unwrap().at(ticket);
            prop_assert!(span.object < count && span.len > 0);
            prop_assert!(span.offset + u64::from(span.len) <= bytes);
        }
    }

    #[test]
    fn random_reads_of_a_cold_cell_cover_every_block_once() {
        for objects in [uniform(20, 95), listed(&[95, 7, 400])] {
            let mut order = Order::new(&objects, Access::Random, 10, 3).unwrap();
            order.each_once = true;
            assert_covers_once(&objects, &epoch(&order, 0));
            assert_ne!(epoch(&order, 0), epoch(&order, 1));
        }
    }

    #[test]
    fn each_epoch_is_shuffled_anew_and_blocks_of_a_sample_stay_in_order() {
        let order = Order::new(&uniform(100, 30), Access::ShuffledEpoch, 10, 3).unwrap();
        let samples = |number| -> Vec<u32> { epoch(&order, number).chunks(3).map(|c| c[0].object).collect() };
        assert_ne!(samples(0), samples(1));
        assert_ne!(samples(0), (0..100).collect::<Vec<_>>());
        for chunk in epoch(&order, 0).chunks(3) {
            assert!(chunk.iter().all(|span| span.object == chunk[0].object));
            assert_eq!(chunk.iter().map(|span| span.offset).collect::<Vec<_>>(), [0, 10, 20]);
        }
    }

    /// Chi-square over 64 equal cells: 63 degrees of freedom, mean 63, standard deviation 11.2.
    #[test]
    fn random_reads_are_uniform() {
        let order = Order::new(&uniform(64, 1), Access::Random, 1, 11).unwrap();
        let mut hits = [0_f64; 64];
        for ticket in 0..64_000 {
            hits[order.at(ticket).object as usize] += 1.0;
        }
        let chi_square: f64 = hits.iter().map(|h| (h - 1000.0).powi(2) / 1000.0).sum();
        assert!((20.0..130.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn nothing_to_read_is_an_error() {
        assert_eq!(Order::new(&uniform(0, 1), Access::Random, 1, 0).unwrap_err(), OrderError::Empty);
        assert_eq!(Order::new(&uniform(1, 1), Access::Random, 0, 0).unwrap_err(), OrderError::ZeroBlock);
    }
}
