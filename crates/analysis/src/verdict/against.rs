//! One cell against the line.

use feed::{Flow, Judgement, Need};
use record::Run;

use super::cause::{Cause, NoLine, NothingMeasured};
use super::conditions;
use super::played::Played;
use super::read_verdict::ReadVerdict;
use super::source::Source;
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::looks;
use crate::curve::Shape;

impl ReadVerdict {
    pub(super) fn rest_on(&mut self, source: &Source<'_>, cell: &CellSummary) {
        let figures = match &cell.confirmed {
            Some(Measurement::Figures(figures)) => figures,
            Some(Measurement::Failed { reason, .. }) => {
                self.cause = Cause::ConfirmationFailed { reason: reason.clone() };
                return;
            }
            // Names are never confirmed; a record that says otherwise is damaged.
            Some(Measurement::Operations(_)) => return,
            Some(Measurement::NotRun { reason }) => {
                self.cause = Cause::NotConfirmed { reason: reason.clone() };
                return;
            }
            None => {
                self.cause = Cause::NotConfirmed { reason: source.lines.not_run(&cell.cell.cell) };
                return;
            }
        };
        self.played = Played::of(cell, figures);
        let line = match (source.cells.need, self.line_samples_per_s) {
            (Err(why), _) => {
                self.cause = Cause::NoLine(NoLine::NoNeed(*why));
                return;
            }
            (Ok(_), None) => {
                self.cause = Cause::NoLine(NoLine::NoSampleSize);
                return;
            }
            (Ok(need), Some(line)) => {
                // What is written is asked of this client, and not of each accelerator.
                let divides = need.flow() != feed::Flow::Both;
                self.feeds = accelerators_fed(figures, line, need.accelerators).filter(|_| divides);
                line
            }
        };
        self.samples_per_s = figures.samples_per_s.interval;
        // The line of the cell, and not that of the need: cells of unlike samples have lines of their own.
        let (judgement, kept) = judged(source.cells, cell, figures, line);
        self.judgement = judgement;
        self.cause = kept.unwrap_or_else(|| cause(source, cell, figures, (judgement, line)));
        if let Cause::Straddles { rounds: Some(rounds), most, command, .. } = &mut self.cause
            && *rounds > *most
        {
            *command = Some(command_for(&source.record.run, *rounds - *most));
        }
        // What forbids any verdict forbids a number of accelerators too. And each accelerator of a job has readers of its own:
        // fewer of them have fewer reads outstanding, for which the rate of all cannot be divided.
        if figures.training.is_some() && self.judgement != Judgement::Feeds {
            self.feeds = None;
        }
        // What forbids FEEDS may bring the figure down, and what forbids STARVES can only raise it.
        if self.flagged().is_some_and(|gravity| gravity != Gravity::ForbidsStarves) {
            self.feeds = None;
        }
    }
}

/// A verdict that rests on nothing yet.
pub(super) fn unfounded(source: &Source<'_>, target: &str, chosen: Option<&CellSummary>) -> ReadVerdict {
    ReadVerdict {
        asked: source.cells.need.as_ref().map_or(Flow::Reads, Need::flow),
        judgement: Judgement::Uncertain,
        scope: None,
        changed: None,
        cell: chosen.map(|cell| cell.cell.cell.clone()),
        engine: chosen.map(CellSummary::engine_label),
        queue_depth: chosen.map(|cell| cell.cell.queue_depth),
        form: chosen.into_iter().flat_map(|cell| cell.cell.form()).cloned().collect(),
        played: None,
        conditions: chosen.map_or_else(Vec::new, |cell| conditions::of_cell(&source.cells, cell)),
        need: source.cells.need.as_ref().map_or_else(|_| String::new(), |need| need.label.clone()),
        samples_per_s: None,
        line_samples_per_s: chosen.and_then(|cell| cell.line).map(|line| line.samples_per_s),
        feeds: None,
        unreached: Vec::new(),
        clears: None,
        slow: None,
        alone: Vec::new(),
        cause: Cause::NothingMeasured(nothing_measured(source, target)),
    }
}

/// What the figures of a cell say of a line in samples per second, and what kept them from saying more than their interval
/// does.
pub(crate) fn judged(
    cells: Cells<'_>,
    cell: &CellSummary,
    figures: &Figures,
    line: f64,
) -> (Judgement, Option<Cause>) {
    // Before anything else: the rate of a storage that returns wrong bytes is the rate of nothing.
    let wrong_bytes = wrong_bytes(cells, &cell.cell.target);
    if let Some(flag) = wrong_bytes.or_else(|| forbidding(figures, Gravity::ForbidsVerdict)) {
        return (Judgement::Uncertain, Some(Cause::Flagged(flag)));
    }
    let Some(interval) = figures.samples_per_s.interval else {
        return (Judgement::Uncertain, Some(Cause::TooFewRepetitions { made: figures.repetitions }));
    };
    // What forbids one judgement does not forbid the other: a client-limited cell that clears the line clears it all
    // the more, and one with failed repetitions that starves starves all the more.
    let judgement = feed::judge(interval, line);
    let forbids = if judgement == Judgement::Feeds { Gravity::ForbidsFeeds } else { Gravity::ForbidsStarves };
    if let Some(flag) = forbidding(figures, forbids) {
        return (Judgement::Uncertain, Some(Cause::Flagged(flag)));
    }
    (judgement, None)
}

/// Why a cell is judged so where its interval alone decides.
fn cause(
    source: &Source<'_>,
    cell: &CellSummary,
    figures: &Figures,
    (judgement, line): (Judgement, f64),
) -> Cause {
    let Some(interval) = figures.samples_per_s.interval else {
        return Cause::TooFewRepetitions { made: figures.repetitions };
    };
    match judgement {
        Judgement::Feeds => Cause::Clears { first: is_first_to_clear(source, cell) },
        Judgement::Starves => {
            Cause::Short { share: (line - interval.mean) / line, shape: shape_of(source, cell) }
        }
        Judgement::Uncertain => Cause::Straddles {
            made: figures.repetitions,
            rounds: looks::rounds_to_decide(interval, line, figures.repetitions),
            most: looks::most_rounds(&source.record.run.measure),
            command: None,
        },
    }
}

/// The command that measures again with so many more rounds than the run itself could make.
pub(super) fn command_for(run: &Run, more: u32) -> String {
    let mut given = record::asked(&run.command);
    let (mut words, mut rounds) = (Vec::new(), more);
    while let Some(word) = given.next() {
        let stated = match word.split_once('=') {
            None if word == "--rounds" => given.next(),
            Some(("--rounds", stated)) => Some(stated),
            _ => None,
        };
        match stated {
            Some(stated) => rounds += stated.trim_start_matches('+').parse().unwrap_or(0),
            None => words.push(word),
        }
    }
    if words.is_empty() {
        words.extend(["feedline", "run"]);
    }
    format!("{} --rounds +{rounds}", record::typed(words))
}

fn forbidding(figures: &Figures, gravity: Gravity) -> Option<Flag> {
    figures.flags.iter().find(|flag| flag.gravity() == gravity).cloned()
}

/// Wrong bytes in any repetition of a target, added up: storage that returned them once may do so anywhere.
pub(super) fn wrong_bytes(cells: Cells<'_>, target: &str) -> Option<Flag> {
    let of_target = cells.all.iter().filter(|cell| cell.cell.target == target);
    let measurements = of_target.flat_map(|cell| [Some(&cell.measured), cell.confirmed.as_ref()]);
    let flags = measurements.flatten().filter_map(Measurement::figures).flat_map(|figures| &figures.flags);
    let counts = flags.filter_map(|flag| match flag {
        Flag::WrongBytes { found, checked } => Some((*found, *checked)),
        _ => None,
    });
    let (found, checked) = counts.reduce(|sum, more| (sum.0 + more.0, sum.1 + more.1))?;
    Some(Flag::WrongBytes { found, checked })
}

fn accelerators_fed(figures: &Figures, line: f64, accelerators: u32) -> Option<u32> {
    // By the lower bound: a number of accelerators is a promise, and the mean would keep it every other time.
    let interval = figures.samples_per_s.interval.filter(|_| accelerators > 0)?;
    Some(feed::accelerators_fed(interval.low, line, accelerators))
}

/// Whether no shallower cell of its curve clears the line, and every deeper one with figures stands at it too: "from this
/// depth" is said of both sides.
fn is_first_to_clear(source: &Source<'_>, cell: &CellSummary) -> bool {
    let all = source.cells.all;
    let Some(index) = all.iter().position(|other| other.cell.cell == cell.cell.cell) else { return false };
    let mut curves = source.panels.iter().flat_map(|panel| &panel.curves);
    let Some(curve) = curves.find(|curve| curve.clears_at == Some(index)) else { return false };
    let of_line = |index: &usize| all[*index].figures().and_then(|figures| figures.of_line);
    // "From depth N" promises every depth beyond it too.
    curve.cells.iter().skip_while(|one| **one != index).filter_map(of_line).all(|share| share >= 1.0)
}

fn shape_of(source: &Source<'_>, cell: &CellSummary) -> Option<Shape> {
    let index = source.cells.all.iter().position(|other| other.cell.cell == cell.cell.cell)?;
    let mut curves = source.panels.iter().flat_map(|panel| &panel.curves);
    curves.find(|curve| curve.cells.contains(&index)).and_then(|curve| curve.shape)
}

fn nothing_measured(source: &Source<'_>, target: &str) -> NothingMeasured {
    let mut cells = source.cells.all.iter().filter(|cell| cell.cell.target == target);
    let reason = cells.find_map(|cell| match &cell.measured {
        Measurement::Failed { reason, .. } | Measurement::NotRun { reason } => Some(reason.clone()),
        Measurement::Figures(_) | Measurement::Operations(_) => None,
    });
    let skipped = || source.record.run.skipped.iter().find(|skipped| skipped.target == target);
    let skipped = || skipped().map(NothingMeasured::skipped);
    reason.map(NothingMeasured::Cell).or_else(skipped).unwrap_or(NothingMeasured::NotPlanned)
}
