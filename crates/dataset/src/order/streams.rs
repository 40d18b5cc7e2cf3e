//! Shards read side by side, each from its beginning to its end.
//!
//! A stream reads one shard after the other. Streams take turns of one block each.
//!
//! Where all shards have the same number of blocks, the shards of an epoch stand in rows, a shard for each stream, and
//! stream `s` reads the `s`th of each row. A last row that is shorter is read by fewer streams. Where only the last shard of
//! the dataset has fewer blocks, it is read behind the others, once in every epoch. Where shards differ otherwise, the epoch's
//! shards are laid end to end and each stream reads an equal part: it may begin and end inside a shard, and no stream ends
//! before the others.

use plan::Share;

use crate::order::blocks::Numbers;
use crate::permutation::{Permutation, mix, scale};
use crate::uneven::Located;

/// Streams over the shards of one rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    width: u64,
    rank: u64,
    ranks: u64,
    /// Shards are drawn with replacement.
    resampled: bool,
    /// Shards of all ranks, but a short one.
    shards: u64,
    /// Where the rank's part of the blocks of all shards begins and ends, laid end to end.
    part: (u64, u64),
}

/// What streams are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Shards side by side.
    pub(super) streams: u32,
    /// This client among those that read the same shards at the same time, and how many they are.
    pub(super) part: Share,
    /// Shards are drawn with replacement.
    pub(super) resampled: bool,
}

impl Lanes {
    /// Streams over `blocks` of all shards, copies left out. There is one at least, and a shard for each.
    pub(super) fn new(numbers: &Numbers, (shards, blocks): (u64, u64), wanted: Wanted) -> Self {
        let shards = if let Numbers::Short { units, .. } = numbers { *units } else { shards };
        let (rank, ranks) = (u64::from(wanted.part.index), u64::from(wanted.part.of.max(1)));
        let begins = |rank: u64| (u128::from(blocks) * u128::from(rank) / u128::from(ranks)) as u64;
        let own = of_rank(shards, rank, ranks);
        Self {
            // More streams than shards would have nothing to read; a client without a shard is refused by
            // `FewShards`.
            width: u64::from(wanted.streams).min(own).max(1),
            rank,
            ranks,
            resampled: wanted.resampled,
            shards,
            part: (begins(rank), begins(rank + 1)),
        }
    }

    /// Blocks that this rank reads in an epoch.
    pub(super) fn blocks(&self, numbers: &Numbers) -> u64 {
        match numbers {
            Numbers::Even { per_unit, .. } => self.own() * per_unit,
            Numbers::Short { per_unit, short, .. } => {
                self.own() * per_unit + if self.has_short() { *short } else { 0 }
            }
            Numbers::Uneven(_) => self.part.1 - self.part.0,
        }
    }

    /// The block at `index` of the epoch drawn by `seed`.
    #[inline]
    pub(super) fn at(&self, numbers: &Numbers, seed: u64, index: u64) -> Located {
        match numbers {
            Numbers::Even { per_unit, .. } => self.of_rows(*per_unit, seed, index),
            Numbers::Short { units, per_unit, .. } => match index.checked_sub(self.own() * per_unit) {
                Some(block) => Located { file: *units, block },
                None => self.of_rows(*per_unit, seed, index),
            },
            Numbers::Uneven(shards) => {
                let located = shards.at_shuffled(seed, self.part.0 + self.of_parts(index));
                // A copy of a shard is the shard.
                Located { file: located.file % self.shards, ..located }
            }
        }
    }

    /// Shards of this rank, but a short one.
    fn own(&self) -> u64 {
        of_rank(self.shards, self.rank, self.ranks)
    }

    /// Whether the short shard is this rank's, as if it stood behind the others.
    fn has_short(&self) -> bool {
        self.shards % self.ranks == self.rank
    }

    fn of_rows(&self, per_shard: u64, seed: u64, index: u64) -> Located {
        let own = self.own();
        let rows = own / self.width;
        let in_rows = rows * self.width * per_shard;
        let (position, block) = if index < in_rows {
            let (stream, block) = turns(index, self.width);
            (block / per_shard * self.width + stream, block % per_shard)
        } else {
            let (stream, block) = turns(index - in_rows, own % self.width);
            (rows * self.width + stream, block)
        };
        // Every `ranks`th shard of one permutation, as PyTorch and WebDataset split shards by node: clients read
        // different shards without talking.
        let position = position * self.ranks + self.rank;
        let file = if self.resampled {
            scale(mix(seed ^ mix(position)), self.shards)
        } else {
            Permutation::new(self.shards, seed).at(position)
        };
        Located { file, block }
    }

    /// Where in this rank's blocks, laid end to end, a ticket lies. What streams of equal parts leave is read last.
    fn of_parts(&self, index: u64) -> u64 {
        let each = (self.part.1 - self.part.0) / self.width;
        // Fewer blocks than streams are left: they stand at the end of the part, which no stream has reached.
        if index >= each * self.width {
            return index;
        }
        let (stream, block) = turns(index, self.width);
        stream * each + block
    }
}

/// Of so many streams, which one reads at `index` and which of its blocks: they take turns.
#[inline]
fn turns(index: u64, streams: u64) -> (u64, u64) {
    (index % streams, index / streams)
}

/// Shards of a rank, of which each takes every `ranks`th.
fn of_rank(shards: u64, rank: u64, ranks: u64) -> u64 {
    shards.saturating_sub(rank).div_ceil(ranks)
}
