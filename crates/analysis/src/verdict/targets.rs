//! The verdicts of a run.

use std::collections::BTreeSet;

use feed::Flow;
use record::Target;

use super::against::unfounded;
use super::cause::Cause;
use super::played::Played;
use super::read_verdict::ReadVerdict;
use super::sizing::{self, Sizing};
use super::source::Source;
use super::{Verdict, checkpoint_needs, checkpointed, decision};
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::mix;
use crate::cell::operation;
use crate::cell::ranks::Ranks;
use crate::choice;

/// A storage target whose figures say nothing of the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjudged {
    /// Name of the target.
    pub target: String,
    /// Why.
    pub reason: NoVerdict,
}

/// Why no verdict can rest on what was measured of a target.
#[derive(Debug, Clone, PartialEq)]
pub enum NoVerdict {
    /// The run is one of several variants, which are compared and not judged.
    Variant,
    /// The record is of one of several processes, and what is needed is of all of them.
    OneOfSeveral {
        /// Its number.
        rank: u32,
        /// How many there are.
        ranks: u32,
    },
    /// Processes that measured together did not come to their end together.
    TeamBroke,
    /// Arrivals offered less than the line.
    OffersLess {
        /// The most that was offered, by the line.
        of_line: f64,
    },
    /// Jobs of other numbers of accelerators were played.
    OtherJob {
        /// The most that was played.
        played: u32,
        /// Those of the need; 0 where it names none.
        named: u32,
    },
    /// Bytes were moved, and not those that are asked for.
    OthersMoved {
        /// Which way they were to go.
        asked: Flow,
        /// What was done instead.
        operations: Vec<String>,
    },
    /// The need asks for reads and writes at once, and the record of what did both has no share of writes that could be.
    NoShare {
        /// What it has, percent; absent where it has none.
        percent: Option<u8>,
    },
    /// The need asks for checkpoints alone, and none is written there.
    NothingAsked,
    /// Names were looked up and no bytes moved.
    NamesAlone {
        /// What was done.
        operations: Vec<String>,
    },
}

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
        if run.team.is_some() && !has_ended(source) {
            let unjudged = without_verdict(source.cells, &NoVerdict::TeamBroke);
            return Self { unjudged, ..Self::default() };
        }
        if let Some(Ranks::Alone { rank, ranks }) = source.ranks {
            let reason = NoVerdict::OneOfSeveral { rank, ranks };
            return Self { unjudged: without_verdict(source.cells, &reason), ..Self::default() };
        }
        if let Some(axis) = &run.size {
            return Self { sizings: sizing::of(source, axis), ..Self::default() };
        }
        if run.variant.is_some() {
            return Self { unjudged: without_verdict(source.cells, &NoVerdict::Variant), ..Self::default() };
        }
        let (verdicts, unjudged) = of_targets(source);
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
    verdicts.iter().any(|verdict| verdict.rests_on(name)) || edges.any(|edge| edge.cell == name)
}

/// Whether a run came to its end by itself. One whose processes a launcher ended may have lost one of them: what the others
/// measured is shown, and judges nothing.
fn has_ended(source: &Source<'_>) -> bool {
    source.lines.end.is_some_and(|end| !end.interrupted)
}

/// No storage has a verdict, such as those of a variant: there are no fresh repetitions for one to rest on.
fn without_verdict(cells: Cells<'_>, reason: &NoVerdict) -> Vec<Unjudged> {
    let storages = cells.targets.iter().filter(|target| target.storage);
    storages.map(|target| Unjudged { target: target.name.clone(), reason: reason.clone() }).collect()
}

/// A verdict for each storage target, in the order of the scenario, or why it has none.
fn of_targets(source: &Source<'_>) -> (Vec<Verdict>, Vec<Unjudged>) {
    let cells = &source.cells;
    // A target with nothing to judge has no verdict rather than UNCERTAIN: nothing about it is in doubt.
    let (mut verdicts, mut unjudged) = (Vec::new(), Vec::new());
    for target in cells.targets.iter().filter(|target| target.storage) {
        match of_target(source, target) {
            Ok(verdict) => verdicts.push(verdict),
            Err(reason) => unjudged.push(Unjudged { target: target.name.clone(), reason }),
        }
    }
    (verdicts, unjudged)
}

/// What all that the need asks of a target comes to, or why nothing can be said.
fn of_target(source: &Source<'_>, target: &Target) -> Result<Verdict, NoVerdict> {
    let reads = of_reads(source, target)?;
    let cell = reads.as_ref().and_then(|reads| reads.cell.as_deref());
    let checkpoints = checkpoint_needs::of_target(source, target, cell);
    if reads.is_none() && checkpoints.is_empty() {
        return Err(NoVerdict::NothingAsked);
    }
    Ok(Verdict { target: target.name.clone(), demo: target.demo, reads, checkpoints })
}

/// What is said of the reads of a target; nothing where the need asks for none.
fn of_reads(source: &Source<'_>, target: &Target) -> Result<Option<ReadVerdict>, NoVerdict> {
    let cells = &source.cells;
    if cells.need.as_ref().is_ok_and(|need| !need.asks_rate()) {
        return Ok(None);
    }
    let chosen = choice::judged(cells, &target.name);
    let failed = choice::failed_instead(cells, &target.name);
    if let Some(reason) = no_verdict(*cells, &target.name).filter(|_| chosen.is_none() && failed.is_none()) {
        return Err(reason);
    }
    // Nothing of a demo is judged but that it failed: then the run has not shown what it was to show.
    let verdict = if target.demo && failed.is_none() {
        demo(source, &target.name, chosen)
    } else {
        decision::of_target(source, target, chosen, failed)
    };
    let unreached = checkpointed::beside(source, &target.name, &verdict);
    Ok(Some(ReadVerdict { unreached: [verdict.unreached, unreached].concat(), ..verdict }))
}

/// Why no verdict can rest on what was measured of a target; nothing when nothing was.
fn no_verdict(cells: Cells<'_>, target: &str) -> Option<NoVerdict> {
    let of_target = || cells.all.iter().filter(|cell| cell.cell.target == target);
    let offers = of_target().filter_map(|cell| cell.figures()?.paced?.of_line);
    // The most that was offered: if even that is below the line, nothing was held against it.
    if let Some(of_line) = offers.reduce(f64::max) {
        return Some(NoVerdict::OffersLess { of_line });
    }
    let named = choice::Eligibility::of(&cells, target).accelerators;
    let jobs = of_target().filter(|cell| cell.figures().is_some());
    let accelerators = jobs.filter_map(|cell| Some(cell.cell.training.as_ref()?.accelerators));
    if let Some(played) = accelerators.filter(|played| *played != named).max() {
        return Some(NoVerdict::OtherJob { played, named });
    }
    let operations = |is_of_kind: &dyn Fn(&record::Cell) -> bool| {
        let measured = of_target().filter(|cell| cell.is_measured() && is_of_kind(&cell.cell));
        let operations: BTreeSet<String> = measured.map(|cell| cell.cell.operation.to_string()).collect();
        (!operations.is_empty()).then(|| operations.into_iter().collect())
    };
    let asked = cells.need.as_ref().map_or(Flow::Reads, feed::Need::flow);
    if asked == Flow::Both
        && let Some(mix) = of_target().find(|one| one.is_measured() && mix::lacks_share(&one.cell))
    {
        return Some(NoVerdict::NoShare { percent: mix.cell.write_percent });
    }
    let is_other =
        |cell: &record::Cell| !operation::is_metadata(cell) && !operation::is_asked_for(cell, asked);
    let moved = operations(&is_other).map(|operations| NoVerdict::OthersMoved { asked, operations });
    let names = || operations(&operation::is_metadata).map(|operations| NoVerdict::NamesAlone { operations });
    // Bytes first: a target that was written to and listed is known by what it moved.
    moved.or_else(names)
}

/// What is shown of a server that feedline started: it judges nothing, however it did.
fn demo(source: &Source<'_>, target: &str, chosen: Option<&CellSummary>) -> ReadVerdict {
    let mut verdict =
        ReadVerdict { cause: Cause::Demo { of_line: None }, ..unfounded(source, target, chosen) };
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
