//! How the targets of a panel kept the client's page cache out of their reads.

use feed::Cache;
pub(crate) use feed::FromMemory;
use record::Word;

use crate::cell::cell_summary::CellSummary;

/// A treatment of the client's page cache, and who had it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Treatment {
    /// `cold`, `warm`, `bypass`, `dontcache`, `cold_start`.
    pub cache: String,
    /// Engines that read so.
    pub engines: Vec<String>,
    /// Targets that were read so.
    pub targets: Vec<String>,
}

impl Treatment {
    pub(super) fn of(cell: &CellSummary) -> Self {
        Self {
            cache: words_of(&cell.cell),
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
    let tier = if cell.tier.is_some() { FromMemory::Later } else { FromMemory::Nothing };
    from_memory(&cell.cache).max(tier)
}

/// What stands between the reads of a cell and its storage: the treatment of the page cache, and the tier before it.
pub(super) fn words_of(cell: &record::Cell) -> String {
    match &cell.tier {
        None => cell.cache.to_string(),
        Some(tier) => {
            let capacity = feed::format_bytes(tier.capacity_bytes);
            format!("{}, {} tier of {capacity}", cell.cache, tier.policy)
        }
    }
}

/// Whether the reads of a cell come from storage, each in its own way: not from what the client kept.
pub(super) fn reaches(cell: &record::Cell) -> bool {
    cell.tier.is_none() && cell.cache.is_any(&[Cache::Cold, Cache::Bypass])
}

/// Whether cold and bypassing cells answer one question: some storage is behind a network, which bypasses by nature,
/// and no target was read in both ways, which would be a question of its own.
pub(super) fn may_join<'a>(cells: &(impl Iterator<Item = &'a CellSummary> + Clone)) -> bool {
    let is_both = |cell: &CellSummary| {
        let same = |other: &&CellSummary| other.cell.target == cell.cell.target && other.storage;
        let mut caches = cells.clone().filter(same).map(|other| &other.cell.cache);
        let is_cold = cell.cell.tier.is_none() && cell.cell.cache == Cache::Cold;
        is_cold && caches.any(|cache| *cache == Cache::Bypass)
    };
    cells.clone().any(|cell| cell.network.is_some()) && !cells.clone().any(is_both)
}

/// Adds who read a cell to its treatment.
pub(super) fn add(treatments: &mut Vec<Treatment>, cell: &CellSummary) {
    let Some(known) = treatments.iter_mut().find(|known| known.cache == words_of(&cell.cell)) else {
        treatments.push(Treatment::of(cell));
        treatments.sort_by(|a, b| a.cache.cmp(&b.cache));
        return;
    };
    for (names, name) in [(&mut known.engines, &cell.cell.engine), (&mut known.targets, &cell.cell.target)] {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
}

/// `from storage: bypass (io_uring, nfs3), cold (mmap)`, by targets where an engine read in both ways; nothing for one
/// treatment.
pub(super) fn words(treatments: &[Treatment]) -> Option<String> {
    let shares = |one: &Treatment| {
        let others = treatments.iter().filter(|other| other.cache != one.cache);
        others.flat_map(|other| &other.engines).any(|engine| one.engines.contains(engine))
    };
    let by_target = treatments.iter().any(shares);
    let words = treatments.iter().map(|one| {
        let names = if by_target { &one.targets } else { &one.engines };
        format!("{} ({})", one.cache, names.join(", "))
    });
    (treatments.len() > 1).then(|| format!("from storage: {}", words.collect::<Vec<_>>().join(", ")))
}
