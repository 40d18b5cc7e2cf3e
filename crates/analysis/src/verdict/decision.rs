//! From the candidates of a target to its verdict.

use feed::Judgement;
use record::Target;

use super::against::unfounded;
use super::cause::Cause;
use super::narrower::narrower;
use super::read_verdict::ReadVerdict;
use super::source::Source;
use super::{alone, changed, checkpointed};
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::flag::Flag;
use crate::cell::slow_rank::SlowRanks;
use crate::choice::{self, EQUAL_SHARE, Fresh};
use crate::verdict::scope::Scope;
use crate::verdict::unreached;

/// Logarithm of a change over a run below which it is not worth a word, unless it crosses the line.
const CHANGE_SAID: f64 = 0.05;

/// The verdict on the reads of a target: what was asked for and failed, else what its candidates say together.
pub(super) fn of_target(
    source: &Source<'_>,
    target: &Target,
    chosen: Option<&CellSummary>,
    failed: Option<&CellSummary>,
) -> ReadVerdict {
    if let Some(cell) = failed {
        let Measurement::Failed { reason, .. } = &cell.measured else {
            unreachable!("it is chosen for having failed")
        };
        let cause = Cause::AskedFailed { reason: reason.clone() };
        return ReadVerdict { cause, ..unfounded(source, &target.name, Some(cell)) };
    }
    let fresh = choice::fresh(&source.cells, &target.name).filter(|_| looks_several_times(source));
    let candidates: Vec<&CellSummary> = fresh.iter().flat_map(|fresh| &fresh.candidates).copied().collect();
    let confirmed: Vec<&CellSummary> =
        candidates.iter().copied().filter(|cell| cell.confirmed.is_some()).collect();
    let (verdict, cell) = match deciding(source, target, &confirmed) {
        Some((verdict, cell)) => (verdict, Some(cell)),
        None => (of_cell(source, target, chosen), chosen),
    };
    let Some(cell) = cell else { return verdict };
    let verdict = beside_others(source, target, fresh.as_ref(), verdict);
    // Where every cell is a candidate none was chosen by its figures.
    let has_others =
        fresh.as_ref().map_or_else(|| is_one_of_several(source, cell), |fresh| fresh.control.is_some());
    let chosen = if candidates.is_empty() { vec![cell] } else { candidates };
    let chosen: &[&CellSummary] = if has_others { &chosen } else { &[] };
    let verdict = over_time(source, target, chosen, (verdict, cell));
    let verdict = within_scope(source, cell, checkpointed::at_their_pace(source, cell, verdict));
    ReadVerdict { alone: alone::of_all(source, cell, &verdict), ..verdict }
}

/// Records before format 1.6 have one candidate for each target, and one look.
fn looks_several_times(source: &Source<'_>) -> bool {
    source.record.run.measure.fresh_rounds.is_some()
}

fn is_one_of_several(source: &Source<'_>, cell: &CellSummary) -> bool {
    source
        .cells
        .all
        .iter()
        .filter(|one| one.cell.target == cell.cell.target && one.figures().is_some())
        .count()
        > 1
}

/// What one cell says of its target.
fn of_cell(source: &Source<'_>, target: &Target, cell: Option<&CellSummary>) -> ReadVerdict {
    let mut verdict = ReadVerdict {
        unreached: cell.map_or_else(Vec::new, |cell| unreached::beside(source, cell)),
        clears: cell.and_then(|cell| unreached::clearing(source, cell)),
        scope: cell.map(|cell| Scope::of(source, target, cell)),
        slow: cell.and_then(slow_ranks),
        ..unfounded(source, &target.name, cell)
    };
    if let Some(cell) = cell {
        verdict.rest_on(source, cell);
    }
    verdict
}

fn slow_ranks(cell: &CellSummary) -> Option<SlowRanks> {
    cell.flags().into_iter().find_map(|flag| match flag {
        Flag::SlowRanks(slow) => Some(slow.clone()),
        _ => None,
    })
}

/// The candidate that decides: the first that feeds; else one that leaves it open, for all have to starve; else the first
/// that is no worse than the best.
fn deciding<'a>(
    source: &Source<'_>,
    target: &Target,
    candidates: &[&'a CellSummary],
) -> Option<(ReadVerdict, &'a CellSummary)> {
    let verdicts: Vec<(ReadVerdict, &CellSummary)> =
        candidates.iter().map(|cell| (of_cell(source, target, Some(cell)), *cell)).collect();
    let is = |judgement: Judgement| move |one: &&(ReadVerdict, &CellSummary)| one.0.judgement == judgement;
    let mean = |one: &(ReadVerdict, &CellSummary)| one.0.samples_per_s.map_or(0.0, |interval| interval.mean);
    let no_worse_than_best = |judgement: Judgement| {
        let of_kind = || verdicts.iter().filter(is(judgement));
        let best = of_kind().map(mean).reduce(f64::max)?;
        of_kind().find(|one| mean(one) >= best * EQUAL_SHARE)
    };
    // One candidate that feeds is enough, since the user may take its depth. To starve all have to. The error of 5 % is
    // divided among them, so that the first to feed is not found by trying often enough.
    let feeding = verdicts.iter().find(is(Judgement::Feeds));
    let deciding = feeding
        .or_else(|| no_worse_than_best(Judgement::Uncertain))
        .or_else(|| no_worse_than_best(Judgement::Starves))?;
    Some(deciding.clone())
}

/// A target starves only where no cell read alike stands at the line.
fn beside_others(
    source: &Source<'_>,
    target: &Target,
    fresh: Option<&Fresh<'_>>,
    verdict: ReadVerdict,
) -> ReadVerdict {
    let Some(fresh) = fresh.filter(|_| verdict.judgement == Judgement::Starves) else { return verdict };
    let of_line = |measurement: &Measurement| measurement.figures().and_then(|figures| figures.of_line);
    let control = fresh.control.and_then(|cell| Some((cell, of_line(cell.confirmed.as_ref()?)?)));
    // The control comes first, since it was measured afresh in the same rounds. Interleaved figures are weaker
    // evidence, and still enough to take a STARVES back: being UNCERTAIN costs some rounds, and a wrong STARVES a
    // storage.
    let control = control.filter(|(_, share)| *share >= 1.0);
    let others = choice::above_the_line(&source.cells, &target.name, fresh);
    let others = others.and_then(|cell| Some((cell, of_line(&cell.measured)?)));
    match control.or(others) {
        Some((cell, share)) => ReadVerdict {
            judgement: Judgement::Uncertain,
            cause: Cause::OthersAbove { queue_depth: cell.cell.queue_depth, share },
            ..verdict
        },
        None => verdict,
    }
}

/// A storage that crossed the line during the run has two answers.
fn over_time(
    source: &Source<'_>,
    target: &Target,
    chosen: &[&CellSummary],
    (mut verdict, cell): (ReadVerdict, &CellSummary),
) -> ReadVerdict {
    let change = changed::of_target(source, &target.name, chosen);
    verdict.changed = change.and_then(|change| changed::before_and_after(source, cell, change));
    let Some((bps, line)) = verdict.changed.zip(cell.line) else { return verdict };
    let is_small = (bps.1 / bps.0).ln().abs() < CHANGE_SAID;
    // On one side of the line throughout, a change is said and decides nothing.
    let crosses = (bps.0 >= line.bps) != (bps.1 >= line.bps);
    let is_judged = verdict.judgement != Judgement::Uncertain || verdict.is_open();
    if crosses && is_judged {
        (verdict.judgement, verdict.cause, verdict.feeds) =
            (Judgement::Uncertain, Cause::Changed { bps }, None);
    } else if is_small {
        verdict.changed = None;
    }
    verdict
}

/// A narrower test may starve a wider need; it never feeds it.
fn within_scope(source: &Source<'_>, cell: &CellSummary, verdict: ReadVerdict) -> ReadVerdict {
    // STARVES needs no such limit: what one host alone is not given many are given even less.
    if verdict.judgement != Judgement::Feeds {
        return verdict;
    }
    let share = source.cells.need.as_ref().map_or(1.0, |need| need.utilization);
    match narrower(&source.cells, cell, verdict.scope.as_ref(), share) {
        Some(cause) => ReadVerdict { judgement: Judgement::Uncertain, cause, feeds: None, ..verdict },
        None => verdict,
    }
}
