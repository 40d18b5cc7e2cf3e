//! The grid of a dataset's chunks, and where chunks lie.

use super::fields::{NOWHERE, UNLIMITED};
use super::file::File;
use crate::error::FormatError;

/// Counts of chunks along each axis.
pub(crate) struct Grid {
    /// Of those that hold items.
    counts: Vec<u64>,
    /// Of those that there may ever be.
    most: Vec<u64>,
}

impl Grid {
    /// `None` where the chunks pass what can be counted.
    pub(crate) fn new(shape: &[u64], most: &[u64], chunk: &[u64]) -> Option<Self> {
        let pairs = |axes: &[u64]| axes.iter().copied().zip(chunk.iter().copied()).collect::<Vec<_>>();
        let counts: Vec<u64> = pairs(shape).into_iter().map(|(items, chunk)| items.div_ceil(chunk)).collect();
        counts.iter().try_fold(1_u64, |product, count| product.checked_mul(*count))?;
        let most = pairs(most)
            .into_iter()
            .map(|(items, chunk)| if items == UNLIMITED { UNLIMITED } else { items.div_ceil(chunk) });
        Some(Self { counts, most: most.collect() })
    }

    /// Number of axes.
    pub(crate) fn axes(&self) -> usize {
        self.counts.len()
    }

    /// Chunks beside each other that hold the same samples.
    pub(crate) fn beside(&self) -> u64 {
        self.counts[1..].iter().product()
    }

    /// The number of the chunk at a place, counted along the last axis first; `None` where it holds nothing.
    pub(crate) fn number_at(&self, place: &[u64]) -> Option<u64> {
        let mut number = 0;
        for (at, count) in place.iter().zip(&self.counts) {
            // No more than the product of the counts, which was checked.
            number = number * count + (at < count).then_some(at)?;
        }
        Some(number)
    }

    /// The same of a chunk by its number among those that there may ever be.
    pub(crate) fn number_of(&self, number: u64) -> Option<u64> {
        self.number_with(number, 0)
    }

    /// The same where the axis without a limit is counted last.
    pub(crate) fn number_growing(&self, number: u64) -> Option<u64> {
        self.number_with(number, self.most.iter().position(|most| *most == UNLIMITED)?)
    }

    fn number_with(&self, number: u64, slowest: usize) -> Option<u64> {
        let mut place = vec![0; self.most.len()];
        let mut rest = number;
        for axis in (0..self.most.len()).rev().filter(|axis| *axis != slowest) {
            place[axis] = rest.checked_rem(self.most[axis])?;
            rest /= self.most[axis];
        }
        place[slowest] = rest;
        self.number_at(&place)
    }

    /// Chunks that hold items.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().product()
    }

    /// The other way: the number of a chunk that holds items among those that there may ever be.
    pub(crate) fn among_most(&self, number: u64) -> Option<u64> {
        let (mut rest, mut step, mut among) = (number, 1_u64, 0_u64);
        for (count, most) in self.counts.iter().zip(&self.most).rev() {
            among = among.checked_add(rest.checked_rem(*count)?.checked_mul(step)?)?;
            rest /= count;
            step = step.saturating_mul(*most);
        }
        Some(among)
    }
}

/// A chunk of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Chunk {
    /// In the order of the grid.
    pub(crate) number: u64,
    /// Where it lies in the file.
    pub(crate) offset: u64,
    /// As it is stored.
    pub(crate) bytes: u64,
}

/// The chunks that were found.
pub(crate) struct Chunks {
    pub(crate) grid: Grid,
    pub(crate) found: Vec<Chunk>,
}

impl Chunks {
    pub(crate) fn new(grid: Grid) -> Self {
        Self { grid, found: Vec::new() }
    }

    /// Adds the chunk of that number. One that is beyond the edge of the grid holds nothing any more.
    pub(crate) fn add(
        &mut self,
        file: &mut File<'_, '_>,
        number: Option<u64>,
        (address, bytes): (u64, u64),
    ) -> Result<(), FormatError> {
        let Some(number) = number else { return Ok(()) };
        // One that was never written holds the fill value.
        if address == NOWHERE {
            return Ok(());
        }
        let offset = file.place("chunk", address, bytes)?;
        if bytes == 0 {
            return Err(file.broken("a chunk without bytes", address));
        }
        // Chunks that lie over each other would make samples without end out of a small file.
        file.count("chunk", address, bytes)?;
        self.found.push(Chunk { number, offset, bytes });
        Ok(())
    }
}
