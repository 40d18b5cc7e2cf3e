//! Units cut into blocks: which part of which object a block is.

use plan::Access;

use crate::order::span::ReadSpan;

/// Copies of each unlike shard that draws with replacement are made from.
///
/// How many blocks an epoch's draws have must be known before they are drawn, or a ticket could not be found without
/// all before it. So an epoch reads on in a shuffle of that many copies of every shard, for as many blocks as the
/// shards have: each shard comes once on average, and up to so often. The chance of a second draw is 15/16 of that with
/// replacement.
pub(super) const COPIES: u64 = 16;
use crate::uneven::{Located, Uneven};
use crate::{Data, Even, Extent, Index, LogNormal, Objects, Samples};

/// Blocks, numbered unit after unit. A unit is an object, or what a dataset is fetched in by index.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    pub(super) numbers: Numbers,
    places: Places,
    block_bytes: u64,
}

/// How many blocks units have.
#[derive(Debug, Clone)]
pub(super) enum Numbers {
    /// The same number in every unit.
    Even { units: u64, per_unit: u64 },
    /// The same number in every unit but the last, which has fewer: the rest of a dataset that is cut into shards. Only streams
    /// tell it from other units.
    Short { units: u64, per_unit: u64, short: u64 },
    /// More in some units than in others.
    Uneven(Uneven),
}

/// Where units lie.
#[derive(Debug, Clone)]
enum Places {
    /// Objects of one size.
    Equal(u64),
    /// Objects of sizes that are drawn by their numbers.
    Drawn(LogNormal),
    /// Objects of these sizes.
    Each(Vec<u64>),
    /// At equal distances in objects.
    Even(Even),
    /// Where a table says.
    Index(Index),
}

/// In which order units that differ in their numbers of blocks stand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Standing {
    /// In their order.
    InOrder,
    /// In places drawn by a seed.
    Shuffled { seed: u64 },
    /// As shards that are streamed: in places drawn by a seed, so many copies of each; a short one stands last.
    Streamed { seed: u64, copies: u64 },
}

impl Standing {
    pub(super) fn of(access: Access, each_once: bool, seed: u64) -> Self {
        match access {
            Access::Sequential | Access::Random | Access::Neighbours { .. } | Access::List => Self::InOrder,
            Access::ShuffledEpoch => Self::Shuffled { seed },
            Access::ResampledShards(_) if !each_once => Self::Streamed { seed, copies: COPIES },
            Access::ShuffledShards(_) | Access::ResampledShards(_) => Self::Streamed { seed, copies: 1 },
        }
    }
}

impl Blocks {
    /// Whole objects.
    pub(super) fn of_objects(objects: &Objects, block_bytes: u64, standing: Standing) -> Self {
        let count = u64::from(objects.count());
        // No array for generated files, however many there are.
        let places = match objects {
            Objects::Uniform { bytes, .. } => {
                let numbers = Numbers::Even { units: count, per_unit: bytes.div_ceil(block_bytes) };
                return Self { numbers, places: Places::Equal(*bytes), block_bytes };
            }
            Objects::Varied(varied) => Places::Drawn(varied.sizes()),
            Objects::Listed(_) => {
                Places::Each((0..objects.count()).map(|object| objects.bytes(object)).collect())
            }
        };
        // Nothing is looked at where a block holds any of them: no object is empty.
        let numbers = if objects.bytes_max() <= block_bytes {
            Numbers::Even { units: count, per_unit: 1 }
        } else {
            Numbers::of(count, |object| objects.bytes(object as u32).div_ceil(block_bytes), standing)
        };
        Self { numbers, places, block_bytes }
    }

    /// What a dataset is fetched in by index; `None` where that is not known.
    pub(super) fn of_units(data: &Data, block_bytes: u64, standing: Standing) -> Option<Self> {
        let (numbers, places) = match data.samples() {
            Samples::Objects => return Some(Self::of_objects(data.objects(), block_bytes, standing)),
            Samples::Even(even) => {
                let numbers = Numbers::Even { units: even.count, per_unit: even.bytes.div_ceil(block_bytes) };
                (numbers, Places::Even(*even))
            }
            Samples::Indexed(index) => {
                let blocks = |unit| index.extents(unit).map(|part| part.bytes.div_ceil(block_bytes)).sum();
                (Numbers::of(index.units(), blocks, standing), Places::Index(index.clone()))
            }
            // A place inside a compressed shard cannot be read without all that lies before it.
            Samples::Streamed { .. } => return None,
        };
        Some(Self { numbers, places, block_bytes })
    }

    /// Folders: each is one block of one byte, and its number the object.
    pub(super) fn of_folders(folders: u64) -> Self {
        let numbers = Numbers::Even { units: folders, per_unit: 1 };
        Self { numbers, places: Places::Equal(1), block_bytes: 1 }
    }

    /// Blocks of all units; of copies too.
    pub(super) fn count(&self) -> u64 {
        match &self.numbers {
            Numbers::Even { units, per_unit } => units * per_unit,
            Numbers::Short { units, per_unit, short } => units * per_unit + short,
            Numbers::Uneven(units) => units.blocks(),
        }
    }

    /// Number of units; of copies too.
    pub(super) fn units(&self) -> u64 {
        match &self.numbers {
            Numbers::Even { units, .. } => *units,
            Numbers::Short { units, .. } => units + 1,
            Numbers::Uneven(units) => units.files(),
        }
    }

    pub(super) fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Block `index` of all.
    #[inline]
    pub(super) fn at(&self, index: u64) -> ReadSpan {
        let Located { file, block } = self.located(index);
        self.span(file, block)
    }

    /// The unit of block `index` of all, and which of its blocks that is.
    #[inline]
    pub(super) fn located(&self, index: u64) -> Located {
        match &self.numbers {
            // One large file needs no division, which costs as much as the rest of a ticket.
            Numbers::Even { units: 1, .. } => Located { file: 0, block: index },
            Numbers::Even { per_unit, .. } | Numbers::Short { per_unit, .. } => {
                Located { file: index / per_unit, block: index % per_unit }
            }
            Numbers::Uneven(units) => units.at(index),
        }
    }

    /// Where a unit lies; `None` where it has several parts.
    #[inline]
    pub(super) fn part(&self, unit: u64) -> Option<Extent> {
        let whole = |bytes: u64| Some(Extent { object: unit as u32, offset: 0, bytes });
        match &self.places {
            Places::Equal(bytes) => whole(*bytes),
            Places::Drawn(sizes) => whole(sizes.at(unit)),
            Places::Each(bytes) => whole(bytes[unit as usize]),
            Places::Even(even) => Some(even.extent(unit)),
            Places::Index(index) => {
                let mut parts = index.extents(unit);
                parts.next().filter(|_| parts.next().is_none())
            }
        }
    }

    /// Block `block` of a unit.
    #[inline]
    pub(super) fn span(&self, unit: u64, block: u64) -> ReadSpan {
        let mut offset = block * self.block_bytes;
        match (self.part(unit), &self.places) {
            (Some(part), _) => ReadSpan::within(part, offset, self.block_bytes),
            (None, Places::Index(index)) => {
                let mut last = ReadSpan { object: 0, offset: 0, len: 0 };
                for part in index.extents(unit) {
                    if offset < part.bytes {
                        return ReadSpan::within(part, offset, self.block_bytes);
                    }
                    // Each part has blocks of its own: one that reached into the next would read the bytes between
                    // the two as well.
                    offset -= part.bytes.div_ceil(self.block_bytes) * self.block_bytes;
                    last = ReadSpan { object: part.object, offset: part.offset, len: 0 };
                }
                // No block lies behind the last part.
                last
            }
            (None, _) => unreachable!("what is no table has one part"),
        }
    }
}

impl Numbers {
    fn of(units: u64, blocks: impl Fn(u64) -> u64 + Sync, standing: Standing) -> Self {
        let first = if units == 0 { 0 } else { blocks(0) };
        let equal = (0..units).take_while(|unit| blocks(*unit) == first).count() as u64;
        // Equal numbers of blocks are the common case, and make tables unnecessary even where sizes differ by less
        // than a block.
        if equal == units {
            return Self::Even { units, per_unit: first };
        }
        if matches!(standing, Standing::Streamed { .. }) && equal + 1 == units && blocks(equal) < first {
            return Self::Short { units: equal, per_unit: first, short: blocks(equal) };
        }
        Self::Uneven(match standing {
            Standing::InOrder => Uneven::in_order(units, blocks),
            Standing::Shuffled { seed } => Uneven::shuffled(units, blocks, seed),
            // The number of a copy is its shard's plus a multiple of the shards; `streams.rs` takes it modulo their number.
            Standing::Streamed { seed, copies } => {
                Uneven::shuffled(units * copies, |copy| blocks(copy % units), seed)
            }
        })
    }
}
