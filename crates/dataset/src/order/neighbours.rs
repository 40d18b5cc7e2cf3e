//! Runs of units that follow each other: every run once per epoch, in an order drawn anew.

use crate::order::blocks::{Blocks, Numbers};
use crate::order::span::ReadSpan;
use crate::permutation::{Permutation, mix, scale};
use crate::uneven::{Located, Uneven};

/// Keeps the place of the short run apart from the order of the others, which has the same seed.
const SHORT_RUN: u64 = 0x7368_6f72_7472_756e;

/// Runs of so many units that follow each other by their numbers, also from one object to the next. The last run holds
/// what is left.
#[derive(Debug, Clone)]
pub(super) struct Neighbours {
    length: u64,
    /// The runs by their blocks, where units differ in theirs.
    runs: Option<Uneven>,
}

impl Neighbours {
    /// Runs over `blocks`, whose units stand in order.
    pub(super) fn new(blocks: &Blocks, length: u32, seed: u64) -> Self {
        let length = u64::from(length.max(1));
        let runs = match &blocks.numbers {
            Numbers::Even { .. } | Numbers::Short { .. } => None,
            Numbers::Uneven(units) => {
                let runs = units.files().div_ceil(length);
                // The last run may be short: it ends with the last unit.
                let begins = |run: u64| units.blocks_before((run * length).min(units.files()));
                Some(Uneven::shuffled(runs, |run| begins(run + 1) - begins(run), seed))
            }
        };
        Self { length, runs }
    }

    /// The read at `index` of the epoch drawn by `seed`.
    pub(super) fn at(&self, blocks: &Blocks, seed: u64, index: u64) -> ReadSpan {
        match (&blocks.numbers, &self.runs) {
            (Numbers::Uneven(units), Some(runs)) => {
                let Located { file: run, block } = runs.at_shuffled(seed, index);
                blocks.at(units.blocks_before(run * self.length) + block)
            }
            (Numbers::Even { units, per_unit }, _) => blocks.at(self.even((*units, *per_unit), seed, index)),
            // Runs are made wherever units are unlike, and only streams know of a short one.
            (Numbers::Uneven(_) | Numbers::Short { .. }, _) => blocks.at(index),
        }
    }

    /// Number of the block at `index`, of `units` that have `per_unit` blocks each. The short run stands before a whole
    /// one that is drawn, or behind all of them.
    fn even(&self, (units, per_unit): (u64, u64), seed: u64, index: u64) -> u64 {
        let (whole, run_blocks) = (units / self.length, self.length.saturating_mul(per_unit));
        let short_blocks = units % self.length * per_unit;
        // Drawn once for an epoch by arithmetic; the permutation covers runs of one length alone, so the short one
        // has to be fitted between them.
        let short_begins = scale(mix(seed ^ SHORT_RUN), whole + 1) * run_blocks;
        if index >= short_begins && index - short_begins < short_blocks {
            return whole * run_blocks + (index - short_begins);
        }
        let index = if index < short_begins { index } else { index - short_blocks };
        Permutation::new(whole, seed).at(index / run_blocks) * run_blocks + index % run_blocks
    }
}
