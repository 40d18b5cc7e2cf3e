//! What is left open of the caches below the client.

use record::{RunRecord, Target};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::facts::{fact, has_own_cache, has_server};
use crate::summary::not_tested::NotTested;
use crate::verdict::Verdict;
use crate::verdict::checkpoint_verdict::CheckpointPart;
use crate::verdict::tiers::{self, BelowCell, CacheBelow, Served, is_of_first_format, is_read_again};

/// What is left open of the caches below the client: by the cells that verdicts rest on, and of a target without a verdict by
/// all that were measured.
pub(super) fn of_run(record: &RunRecord, cells: &Cells<'_>, verdicts: &[Verdict]) -> Vec<NotTested> {
    if is_of_first_format(record) {
        return of_first_format(cells).into_iter().collect();
    }
    let mut found = [(Served::ReadAgain, Vec::new()), (Served::JustWritten, Vec::new())];
    let mut holding = Vec::new();
    for target in cells.targets.iter().filter(|target| target.storage) {
        let verdict = verdicts.iter().find(|verdict| verdict.target == target.name);
        let is_asked =
            |cell: &&CellSummary| verdict.is_none_or(|verdict| rests_on_its_load(verdict, &cell.cell.cell));
        let asked = tiers::measured(cells, target).filter(is_asked);
        let of_cells: Vec<BelowCell> =
            asked.map(|cell| BelowCell::of(record, cells, target, &cell.cell)).collect();
        for (served, tiers) in &mut found {
            if of_cells.iter().any(|one| one.served == Some(*served)) {
                for tier in tiers::below(record, target) {
                    add(tiers, tier, &target.name);
                }
            }
        }
        holding.extend(of_cells.iter().any(|one| one.holds).then(|| target.name.clone()));
    }
    let caches = found.into_iter().filter(|(_, caches)| !caches.is_empty());
    let caches = caches
        .map(|(served, caches)| NotTested::CachesBelow { caches, read_again: served == Served::ReadAgain });
    let held = (!holding.is_empty()).then_some(NotTested::Kept { targets: holding });
    caches.chain(held).collect()
}

/// Whether a verdict rests on what a cell reads or writes over: what it writes of checkpoints was durable.
fn rests_on_its_load(verdict: &Verdict, cell: &str) -> bool {
    let mut restored = verdict.checkpoints.iter().filter(|one| one.part == CheckpointPart::Restore);
    verdict.cell() == Some(cell) || restored.any(|one| one.cell == cell)
}

fn add(tiers: &mut Vec<(CacheBelow, Vec<String>)>, tier: CacheBelow, target: &str) {
    match tiers.iter_mut().find(|(known, _)| *known == tier) {
        Some((_, names)) => names.push(target.to_owned()),
        None => tiers.push((tier, vec![target.to_owned()])),
    }
}

/// The caches behind the page cache that may have held what was read again, as records of format 1.0 tell of them; `None`
/// when nothing was.
fn of_first_format(cells: &Cells<'_>) -> Option<NotTested> {
    if !cells.datasets.iter().any(|dataset| dataset.reads_repeat) {
        return None;
    }
    let is_again = |target: &&Target| target.storage && is_read_again(cells, target);
    let targets: Vec<&Target> = cells.targets.iter().filter(is_again).collect();
    let mut caches = vec![(CacheBelow::DeviceOrHypervisor, Vec::new())];
    let mut add = |cache: CacheBelow, is_kind: fn(&str) -> bool| {
        let is_of_kind = |target: &&&Target| fact(target, "file_system").is_some_and(is_kind);
        let names: Vec<String> =
            targets.iter().filter(is_of_kind).map(|target| target.name.clone()).collect();
        if !names.is_empty() {
            caches.push((cache, names));
        }
    };
    add(CacheBelow::FileSystem, has_own_cache);
    add(CacheBelow::Server, has_server);
    Some(NotTested::CachesBelow { caches, read_again: true })
}
