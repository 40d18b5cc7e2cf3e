//! What the verdicts do not cover.

use std::collections::BTreeSet;

use record::{RunRecord, Target, counter};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::counters::counted;
use crate::cell::facts::fact;
use crate::cell::flag::Flag;
use crate::cell::gap::GapCause;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::training::predicted::{COPY, STATED_COST};
use crate::summary::not_tested::NotTested;
use crate::summary::{caches, outages, surroundings};
use crate::verdict::tiers;
use crate::verdict::{Judged, Source, Verdict};

/// Time under load from which on burst credits of the usual volumes are spent: 3,000 operations per second for 30 minutes
/// (Amazon EBS gp2).
const CREDITS_NS: u64 = 3_600_000_000_000;

/// What the verdicts do not cover; what a wrong verdict most often comes from stands first.
pub(crate) fn of_run(source: &Source<'_>, judged: &Judged) -> Vec<NotTested> {
    let Source { record, lines, cells, .. } = *source;
    let mut list = Vec::new();
    // A need that is not known asks for no hosts.
    let hosts = cells.need.as_ref().map_or(1, |need| need.hosts);
    list.extend((hosts > 1).then_some(NotTested::Hosts { hosts }));
    list.extend(caches::of_run(record, &cells, &judged.verdicts));
    let backing_file = |path: &str| NotTested::BackingFile { path: path.to_owned() };
    // Beside the caches and not among them: no size of a dataset excludes this machine's own memory.
    list.extend(tiers::backing_files(&cells).into_iter().map(backing_file));
    list.extend(surroundings::not_tested(lines, &cells));
    list.extend(outages::not_tested(lines, &cells));
    let count = |is: fn(&CellSummary) -> bool| cells.all.iter().filter(|cell| is(cell)).count();
    let limited = count(is_client_limited);
    list.extend((limited > 0).then_some(NotTested::BeyondClient { cells: limited }));
    let failed = count(|cell| matches!(cell.measured, Measurement::Failed { .. }));
    list.extend((failed > 0).then_some(NotTested::FailedCells { cells: failed }));
    list.extend(left_out(&cells));
    list.extend(lacks_second_reading(record, lines).then_some(NotTested::SecondReading));
    list.extend(later(judged));
    // Checkpoints are neither opened sample by sample nor decoded.
    if cells.need.as_ref().is_ok_and(|need| !need.asks_rate()) {
        return list;
    }
    let flow = cells.need.as_ref().map_or(feed::Flow::Reads, feed::Need::flow);
    // Flash that was not written full before has erased blocks to spare, and runs out of them later.
    list.extend((flow != feed::Flow::Reads).then_some(NotTested::SteadyFlash));
    // Nor are writes alone.
    if flow == feed::Flow::Writes {
        return list;
    }
    list.extend(opening(lines, &cells, judged));
    list.extend(decode(&cells, judged));
    list
}

/// Cells that the budget left no time for. Those that a search left out are not missed.
fn left_out(cells: &Cells<'_>) -> Option<NotTested> {
    let is_left_out = |cell: &&CellSummary| match &cell.measured {
        Measurement::NotRun { reason } => {
            matches!(&reason.cause, GapCause::Recorded(words) if words == "budget")
        }
        _ => false,
    };
    let count = cells.all.iter().filter(is_left_out).count();
    let is_without = |target: &&Target| {
        let mut own = cells.all.iter().filter(|cell| cell.cell.target == target.name).peekable();
        own.peek().is_some() && own.all(|cell| is_left_out(&cell))
    };
    let targets = cells.targets.iter().filter(is_without).map(|target| target.name.clone()).collect();
    (count > 0).then_some(NotTested::LeftOut { cells: count, all: cells.all.len(), targets })
}

/// Data that feedline did not write are read a second time by the process that read them, as it ends, and by no later one.
fn lacks_second_reading(record: &RunRecord, lines: &Lines<'_>) -> bool {
    let is_users = record.run.datasets.iter().any(|dataset| dataset.source == "existing");
    // Each part of a run that ended by itself has a last line; a part without one read nothing again.
    let is_any_cut = lines.ends.len() <= record.segments.len();
    is_users && !record.segments.is_empty() && is_any_cut
}

/// What comes after the time that any target was under load: credits of a cloud volume last for half an hour and more.
fn later(judged: &Judged) -> Option<NotTested> {
    let scopes = judged.verdicts.iter().flat_map(Verdict::scopes);
    // The shortest: credits are those of one volume, and what one target was loaded for spends none of another's.
    let under_load_ns = scopes.map(|scope| scope.under_load_ns).min()?;
    (under_load_ns < CREDITS_NS).then_some(NotTested::Later { under_load_ns })
}

/// Whether the job that every verdict rests on decodes what it reads, and how far that is decoding.
fn decode(cells: &Cells<'_>, judged: &Judged) -> Option<NotTested> {
    let resting = cells.all.iter().filter(|cell| judged.rests_on(cell));
    let work = |cell: &CellSummary| cell.cell.training.as_ref().and_then(|job| job.decode.clone());
    let works: Option<BTreeSet<String>> = resting.map(work).collect();
    let Some(works) = works.filter(|works| !works.is_empty()) else {
        return Some(NotTested::Decode { cost: false, checksum: false });
    };
    // Any resting cell that stands in for decoding leaves it open, even where another one decodes.
    let (cost, checksum) = (works.contains(STATED_COST), works.contains("checksum"));
    // A copy into the batch is what is left where nothing is decoded.
    (cost || checksum || works.contains(COPY)).then_some(NotTested::Decode { cost, checksum })
}

/// How the measured cells came to their files. Nothing to say where every verdict rests on whole files, opened one by
/// one by names that were not in memory; nor where no file was read.
fn opening(lines: &Lines<'_>, cells: &Cells<'_>, judged: &Judged) -> Vec<NotTested> {
    let resting = cells.all.iter().filter(|cell| judged.rests_on(cell));
    let (whole, held): (Vec<&CellSummary>, Vec<&CellSummary>) =
        resting.partition(|cell| cell.reads_whole_files());
    // One is enough: verdicts of several targets are covered by the weakest of them.
    let by_known_names = whole.iter().any(|cell| !cell.names_are_dropped());
    let is_held = (whole.is_empty() || !held.is_empty()) && reads_files_held_open(cells);
    let held = is_held.then(|| NotTested::Opening { opens: opens(lines, cells) });
    held.into_iter().chain(by_known_names.then_some(NotTested::OpeningByNewNames)).collect()
}

/// Whether any cell reads files that it holds open: not where names alone were looked up, or a device was read.
fn reads_files_held_open(cells: &Cells<'_>) -> bool {
    let any_storage = cells.all.iter().any(|cell| cell.storage);
    let is_device = |cell: &CellSummary| {
        let target = cells.targets.iter().find(|target| target.name == cell.cell.target);
        target.is_some_and(|target| fact(target, "device_node").is_some())
    };
    let mut shown = cells.all.iter().filter(|cell| cell.storage || !any_storage);
    cells.all.is_empty() || shown.any(|cell| operation::reads_any_samples(&cell.cell) && !is_device(cell))
}

/// Reads of files that are held open which opened theirs.
fn opens(lines: &Lines<'_>, cells: &Cells<'_>) -> u64 {
    let is_held_open = |cell: &&CellSummary| {
        cell.storage && operation::reads_any_samples(&cell.cell) && !operation::is_whole_file(&cell.cell)
    };
    let names: BTreeSet<&str> =
        cells.all.iter().filter(is_held_open).map(|cell| cell.cell.cell.as_str()).collect();
    let reps = names.into_iter().flat_map(|name| lines.of_cell(name));
    reps.map(|rep| counted(rep, counter::OPENS)).sum()
}

fn is_client_limited(cell: &CellSummary) -> bool {
    let confirmed = cell.confirmed.as_ref().and_then(|measurement| measurement.figures());
    [cell.figures(), confirmed]
        .into_iter()
        .flatten()
        .any(|figures| figures.flags.iter().any(Flag::is_client_limit))
}

#[cfg(test)]
mod tests;
