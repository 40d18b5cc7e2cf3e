//! How the targets of a panel kept the client's page cache out of their reads.

use std::collections::BTreeSet;

use feed::Cache;
pub(crate) use feed::FromMemory;
use record::Word;

use crate::cell::cell_summary::CellSummary;

/// The caches of this client between the reads of a cell and its storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caching {
    /// Treatment of its page cache.
    pub page_cache: Word<Cache>,
    /// A tier of feedline's own before the storage, wherever it is.
    pub tier: Option<TierSize>,
}

/// A tier by what it can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierSize {
    /// Bytes that it holds, at most.
    pub capacity_bytes: u64,
    /// What is dropped when it is full: `lru`, `random`.
    pub policy: String,
}

impl Caching {
    pub(super) fn of(cell: &record::Cell) -> Self {
        let tier = cell.tier.as_ref().map(TierSize::of);
        Self { page_cache: cell.cache.clone(), tier }
    }
}

impl TierSize {
    pub(crate) fn of(tier: &record::Tier) -> Self {
        Self { capacity_bytes: tier.capacity_bytes, policy: tier.policy.clone() }
    }
}

/// What caches of this client lay before the storage, and who had them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Treatment {
    /// The caches.
    pub caching: Caching,
    /// Engines that read so.
    pub engines: Vec<String>,
    /// Targets that were read so.
    pub targets: Vec<String>,
}

impl Treatment {
    pub(super) fn of(cell: &CellSummary) -> Self {
        Self {
            caching: Caching::of(&cell.cell),
            engines: vec![cell.cell.engine.clone()],
            targets: vec![cell.cell.target.clone()],
        }
    }
}

/// What comes from this client's page cache under a treatment; nothing under one that this version does not know.
pub(super) fn from_memory(cache: &Word<Cache>) -> FromMemory {
    cache.known().map_or(FromMemory::Nothing, Cache::lets_come)
}

/// What comes from a cache of this client: its page cache, or a tier of feedline's own.
pub(crate) fn from_cache(cell: &record::Cell) -> FromMemory {
    // A tier begins empty, so that the first epoch comes from the storage, and later ones may come from the tier.
    let tier = if cell.tier.is_some() { FromMemory::Later } else { FromMemory::Nothing };
    from_memory(&cell.cache).max(tier)
}

/// Whether the reads of a cell come from storage, each in its own way: not from what the client kept.
pub(super) fn reaches(cell: &record::Cell) -> bool {
    cell.tier.is_none() && cell.cache.is_any(&[Cache::Cold, Cache::Bypass])
}

/// Whether cold and bypassing cells answer one question: some storage is behind a network, which bypasses by nature,
/// and no target was read in both ways, which would be a question of its own.
pub(super) fn may_join<'a>(cells: &(impl Iterator<Item = &'a CellSummary> + Clone)) -> bool {
    // A target read cold and bypassing in one run is asked whether the page cache matters: its curves must not be drawn
    // as if it did not.
    let bypassing = cells.clone().filter(|cell| cell.storage && cell.cell.cache == Cache::Bypass);
    let bypassed: BTreeSet<&str> = bypassing.map(|cell| cell.cell.target.as_str()).collect();
    let is_both = |cell: &CellSummary| {
        let is_cold = cell.cell.tier.is_none() && cell.cell.cache == Cache::Cold;
        is_cold && bypassed.contains(cell.cell.target.as_str())
    };
    cells.clone().any(|cell| cell.network.is_some()) && !cells.clone().any(is_both)
}

/// Adds who read a cell to its treatment.
pub(super) fn add(treatments: &mut Vec<Treatment>, cell: &CellSummary) {
    let Some(known) = treatments.iter_mut().find(|known| known.caching == Caching::of(&cell.cell)) else {
        treatments.push(Treatment::of(cell));
        treatments.sort_by(|a, b| a.caching.page_cache.as_str().cmp(b.caching.page_cache.as_str()));
        return;
    };
    for (names, name) in [(&mut known.engines, &cell.cell.engine), (&mut known.targets, &cell.cell.target)] {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
}
