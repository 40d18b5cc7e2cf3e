//! The verdicts of a run.

use feed::counted_noun;

use super::against::unfounded;
use super::cause::Cause;
use super::played::Played;
use super::sizing::{self, Sizing};
use super::source::Source;
use super::{Unjudged, Verdict, checkpointed, decision};
use crate::bridge::share::of_line;
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::operation;
use crate::choice;

/// What a run says of its storages.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// One for each storage target that something can be said of, in the order of the scenario.
    pub(crate) verdicts: Vec<Verdict>,
    /// Storage targets that were measured in ways that no verdict can rest on.
    pub(crate) unjudged: Vec<Unjudged>,
    /// What `size` found; empty for other runs.
    pub(crate) sizings: Vec<Sizing>,
}

impl Judged {
    /// A search judges no need, it says how large one may be; and variants are compared and not judged.
    pub(crate) fn of(source: &Source<'_>) -> Self {
        let run = &source.record.run;
        if let Some(axis) = &run.size {
            return Self { sizings: sizing::of(&source.cells, axis), ..Self::default() };
        }
        if run.variant.is_some() {
            return Self { unjudged: of_variant(source.cells), ..Self::default() };
        }
        let (mut verdicts, unjudged) = of_targets(source);
        for verdict in &mut verdicts {
            verdict.unreached.extend(checkpointed::beside(source, verdict));
        }
        Self { verdicts, unjudged, sizings: Vec::new() }
    }

    /// Whether a verdict, or the edge of a search, rests on a cell.
    pub(crate) fn rests_on(&self, cell: &CellSummary) -> bool {
        rests_on(&self.verdicts, &self.sizings, &cell.cell.cell)
    }
}

/// Whether a verdict, or the edge of a search, rests on the cell of this name.
pub(crate) fn rests_on(verdicts: &[Verdict], sizings: &[Sizing], name: &str) -> bool {
    let mut edges = sizings.iter().flat_map(|sizing| sizing.meets.iter().chain(&sizing.misses));
    verdicts.iter().any(|verdict| verdict.cell.as_deref() == Some(name))
        || edges.any(|edge| edge.cell == name)
}

/// Why no storage of a variant has a verdict: there are no fresh repetitions for one to rest on.
fn of_variant(cells: Cells<'_>) -> Vec<Unjudged> {
    let reason = "one of several variants, which are compared and not judged";
    let storages = cells.targets.iter().filter(|target| target.storage);
    storages.map(|target| Unjudged { target: target.name.clone(), reason: reason.to_owned() }).collect()
}

/// A verdict for each storage target, in the order of the scenario, or why it has none.
fn of_targets(source: &Source<'_>) -> (Vec<Verdict>, Vec<Unjudged>) {
    let cells = &source.cells;
    let (mut verdicts, mut unjudged) = (Vec::new(), Vec::new());
    for target in cells.targets.iter().filter(|target| target.storage) {
        let chosen = choice::judged(cells, &target.name);
        let failed = choice::failed_instead(cells, &target.name);
        match unjudged_reason(*cells, &target.name).filter(|_| chosen.is_none() && failed.is_none()) {
            Some(reason) => unjudged.push(Unjudged { target: target.name.clone(), reason }),
            None if target.demo => verdicts.push(demo(source, &target.name, chosen)),
            None => verdicts.push(decision::of_target(source, target, chosen, failed)),
        }
    }
    (verdicts, unjudged)
}

/// Why no verdict can rest on what was measured of a target; nothing when nothing was.
fn unjudged_reason(cells: Cells<'_>, target: &str) -> Option<String> {
    let of_target = || cells.all.iter().filter(|cell| cell.cell.target == target);
    let offers = of_target().filter_map(|cell| cell.figures()?.paced?.of_line);
    if let Some(most) = offers.reduce(f64::max) {
        return Some(format!("offers {} of the line: no verdict", of_line(most)));
    }
    let named = choice::Asked::of(&cells).accelerators;
    let played = of_target().filter(|cell| cell.figures().is_some());
    let accelerators = played.filter_map(|cell| Some(cell.cell.training.as_ref()?.accelerators));
    if let Some(most) = accelerators.filter(|played| *played != named).max() {
        let played = counted_noun(u64::from(most), "accelerator");
        let named = if named == 0 { "none".to_owned() } else { named.to_string() };
        return Some(format!("jobs of up to {played} were played, the need names {named}: no verdict"));
    }
    let words = |is_of_kind: &dyn Fn(&CellSummary) -> bool| {
        let measured = of_target().filter(|cell| cell.is_measured() && is_of_kind(cell));
        let mut words: Vec<&str> = measured.map(|cell| cell.cell.operation.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let moved = words(&|cell| operation::is_transfer(&cell.cell));
    let names = words(&|cell| operation::is_metadata(&cell.cell));
    moved
        .map(|words| format!("no sample was read ({words}): not judged against the line"))
        .or_else(|| names.map(|words| format!("only names were looked up ({words}): no verdict")))
}

/// What is shown of a server that feedline started: it judges nothing, however it did.
fn demo(source: &Source<'_>, target: &str, chosen: Option<&CellSummary>) -> Verdict {
    let mut verdict = Verdict { demo: true, ..unfounded(source, target, chosen) };
    if let Some(cell) = chosen {
        let confirmed = cell.confirmed.as_ref().and_then(Measurement::figures);
        let figures = confirmed.or_else(|| cell.figures());
        let of_line = figures.and_then(|figures| figures.of_line);
        verdict.played = figures.and_then(|figures| Played::of(cell, figures));
        verdict.samples_per_s = figures.and_then(|figures| figures.samples_per_s.interval);
        verdict.cause = Cause::Demo { of_line };
    }
    verdict
}
