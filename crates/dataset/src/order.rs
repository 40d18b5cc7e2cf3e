//! In which order blocks are read: a pure function of a ticket.
//!
//! Tickets are global to a repetition and handed out in order, so the reads that happen do not depend on
//! the number of threads, and a stalled thread owns no samples.

use plan::{Access, Cache, Cell, Operation};

use crate::permutation::{Permutation, mix, scale};
use crate::uneven::{Located, Uneven};
use crate::{Data, Objects};

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

/// How blocks are numbered: all blocks of one object, then of the next, and so on.
#[derive(Debug, Clone)]
enum Blocks {
    /// As many in every object.
    Even { objects: u64, per_object: u64, bytes: Bytes },
    /// More in some objects than in others.
    Uneven { objects: Uneven, bytes: Vec<u64> },
}

/// Sizes of objects.
#[derive(Debug, Clone)]
enum Bytes {
    Equal(u64),
    Each(Vec<u64>),
}

impl Blocks {
    /// For a shuffled order, objects that differ stand in places drawn by `shuffled`.
    fn of(objects: &Objects, block: u64, shuffled: Option<u64>) -> Self {
        let count = u64::from(objects.count());
        if let Objects::Uniform { bytes, .. } = objects {
            return Self::Even {
                objects: count,
                per_object: bytes.div_ceil(block),
                bytes: Bytes::Equal(*bytes),
            };
        }
        let bytes: Vec<u64> = (0..objects.count()).map(|object| objects.bytes(object)).collect();
        let blocks: Vec<u64> = bytes.iter().map(|bytes| bytes.div_ceil(block)).collect();
        if blocks.iter().all(|n| *n == blocks[0]) {
            return Self::Even { objects: count, per_object: blocks[0], bytes: Bytes::Each(bytes) };
        }
        let objects = match shuffled {
            Some(seed) => Uneven::shuffled(&blocks, seed),
            None => Uneven::in_order(&blocks),
        };
        Self::Uneven { objects, bytes }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Even { objects, per_object, .. } => objects * per_object,
            Self::Uneven { objects, .. } => objects.blocks(),
        }
    }

    fn bytes(&self, object: u64) -> u64 {
        match self {
            Self::Even { bytes: Bytes::Equal(bytes), .. } => *bytes,
            Self::Even { bytes: Bytes::Each(bytes), .. } | Self::Uneven { bytes, .. } => {
                bytes[object as usize]
            }
        }
    }
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
        let blocks = Blocks::of(objects, block, (access == Access::ShuffledEpoch).then_some(seed));
        Ok(Self { access, seed, block_bytes: block, blocks, each_once: false })
    }

    /// An order over the folders of a dataset: each is one block of one byte, and its number the object.
    fn of_folders(objects: &Objects, access: Access, seed: u64) -> Result<Self, OrderError> {
        let folders = objects.folders().len() as u64;
        let blocks = Blocks::Even { objects: folders, per_object: 1, bytes: Bytes::Equal(1) };
        if folders == 0 {
            return Err(OrderError::Empty);
        }
        Ok(Self { access, seed, block_bytes: 1, blocks, each_once: false })
    }

    /// The order of a cell: over blocks, over whole files, or over folders. A cold cell reads no byte twice, so
    /// its random draws are without replacement: the second read of a block would come from memory.
    pub fn of_cell(data: &Data, cell: &Cell) -> Result<Self, OrderError> {
        let objects = &**data.objects();
        let order = match cell.operation {
            Operation::Read | Operation::Checkpoint | Operation::Restore => {
                Self::new(objects, cell.access, cell.block_bytes, cell.seed)?
            }
            Operation::ReadFile | Operation::Stat | Operation::GetAttr => {
                Self::in_blocks(objects, cell.access, WHOLE_FILE, cell.seed)?
            }
            Operation::List => Self::of_folders(objects, cell.access, cell.seed)?,
        };
        Ok(Self { each_once: cell.cache == Cache::Cold, ..order })
    }

    /// Reads in one pass over the dataset.
    pub fn tickets_per_epoch(&self) -> u64 {
        self.blocks.count()
    }

    /// The read of a ticket. Epochs follow each other: ticket `tickets_per_epoch()` opens the second.
    pub fn at(&self, ticket: u64) -> ReadSpan {
        let per_epoch = self.tickets_per_epoch();
        if self.access == Access::Random && !self.each_once {
            return self.block(scale(mix(self.seed ^ mix(ticket)), per_epoch));
        }
        let (epoch, index) = (ticket / per_epoch, ticket % per_epoch);
        match self.access {
            Access::Sequential => self.block(index),
            Access::Random => self.block(self.permuted(epoch, index)),
            Access::ShuffledEpoch | Access::ShuffledShards | Access::ResampledShards | Access::Neighbours => {
                self.shuffled(epoch, index)
            }
        }
    }

    /// Files are shuffled and the blocks of a file stay in order, as a loader reads them.
    fn shuffled(&self, epoch: u64, index: u64) -> ReadSpan {
        let seed = self.epoch_seed(epoch);
        match &self.blocks {
            Blocks::Even { objects, per_object, .. } => {
                let file = Permutation::new(*objects, seed).at(index / per_object);
                self.span(file, index % per_object)
            }
            Blocks::Uneven { objects, .. } => {
                let Located { file, block } = objects.at_shuffled(seed, index);
                self.span(file, block)
            }
        }
    }

    fn permuted(&self, epoch: u64, index: u64) -> u64 {
        Permutation::new(self.tickets_per_epoch(), self.epoch_seed(epoch)).at(index)
    }

    fn epoch_seed(&self, epoch: u64) -> u64 {
        mix(self.seed ^ mix(epoch))
    }

    fn block(&self, index: u64) -> ReadSpan {
        match &self.blocks {
            // One large file needs no division, which costs as much as the rest of a ticket.
            Blocks::Even { objects: 1, .. } => self.span(0, index),
            Blocks::Even { per_object, .. } => self.span(index / per_object, index % per_object),
            Blocks::Uneven { objects, .. } => {
                let Located { file, block } = objects.at(index);
                self.span(file, block)
            }
        }
    }

    fn span(&self, object: u64, block: u64) -> ReadSpan {
        let offset = block * self.block_bytes;
        let len = self.block_bytes.min(self.blocks.bytes(object) - offset);
        ReadSpan { object: object as u32, offset, len }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plan::{DatasetSpec, Distribution, Engine};
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
            let end = span.offset + span.len;
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
            prop_assert!(span.offset + span.len <= bytes);
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

    fn of_cell(objects: &Objects, operation: Operation, access: Access, cache: Cache) -> Order {
        let cell = Cell { operation, access, cache, ..Cell::plain(Engine::Null, 10, 1) };
        Order::of_cell(&Data::files(Arc::new(objects.clone()), None), &cell).unwrap()
    }

    const EACH_ONCE: [(Access, Cache); 3] = [
        (Access::Sequential, Cache::Warm),
        (Access::ShuffledEpoch, Cache::Warm),
        (Access::Random, Cache::Cold),
    ];

    /// Files of a mean of 4 GiB: more than 32 bits count.
    fn spread() -> Objects {
        let spec = DatasetSpec::Generate(plan::Generate {
            samples: 500,
            sample_bytes: 4 << 30,
            distribution: Distribution::LogNormal { stdev_bytes: 1 << 30 },
            files_per_folder: 10,
            seed: 1,
            ..plan::Generate::NONE
        });
        Objects::generated(Key::new("d").unwrap(), &spec).unwrap()
    }

    #[test]
    fn whole_files_come_once_an_epoch_with_their_sizes() {
        for objects in [uniform(30, 6 << 30), listed(&[5 << 30, 1, 4 << 30, 77, 11]), spread()] {
            let whole = |object| ReadSpan { object, offset: 0, len: objects.bytes(object) };
            let expected: Vec<_> = (0..objects.count()).map(whole).collect();
            for operation in [Operation::ReadFile, Operation::Stat, Operation::GetAttr] {
                for (access, cache) in EACH_ONCE {
                    let order = of_cell(&objects, operation, access, cache);
                    let [first, second] = [0, 1].map(|number| epoch(&order, number));
                    assert_eq!(first == second, access == Access::Sequential);
                    for mut spans in [first, second] {
                        spans.sort_by_key(|span| span.object);
                        assert_eq!(spans, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn folders_come_once_an_epoch() {
        let mut files = Listed::default();
        for name in ["a/1", "a/2", "a/b/3", "a.bin", "c/4"] {
            files.push(&Key::new(name).unwrap(), 3);
        }
        for (objects, folders) in [(uniform(12_345, 9), 13), (spread(), 50), (Objects::Listed(files), 4)] {
            for (access, cache) in EACH_ONCE {
                let order = of_cell(&objects, Operation::List, access, cache);
                for number in 0..3 {
                    let mut numbers: Vec<_> = epoch(&order, number).iter().map(|span| span.object).collect();
                    numbers.sort_unstable();
                    assert_eq!(numbers, (0..folders).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn shuffled_files_of_different_sizes_are_read_block_after_block() {
        let sizes: Vec<u64> = (1..=100).map(|number| number * 7 % 95 + 1).collect();
        let objects = listed(&sizes);
        let order = Order::new(&objects, Access::ShuffledEpoch, 10, 3).unwrap();
        let files = |number| {
            let spans = epoch(&order, number);
            for pair in spans.windows(2) {
                let end = pair[0].offset + pair[0].len;
                let whole = end == objects.bytes(pair[0].object);
                assert_eq!(pair[1].offset, if whole { 0 } else { end }, "after {:?}", pair[0]);
                assert_eq!(pair[0].object != pair[1].object, whole);
            }
            spans.iter().filter(|span| span.offset == 0).map(|span| span.object).collect::<Vec<_>>()
        };
        assert_eq!(files(0).len(), 100);
        assert_ne!(files(0), files(1));
        assert_ne!(files(0), (0..100).collect::<Vec<_>>());
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
