//! Predictions beside what was measured.

use analysis::{CellPrediction, CellSummary, Summary, TargetPrediction};
use feed::bounds::Prediction;

use crate::grid::{Column, Grid, Width};
use crate::group::once_by_key;
use crate::number::{RateUnit, grouped, three_digits};
use crate::words;

/// Rows up to which every cell is shown on a terminal; of more, those that differ.
// A screen of rows: what does not agree is what a reader of a terminal looks for.
const SHOWN_MAX: usize = 24;

/// Behind the ratio of a doubtful cell, and what it stands for.
// One letter, so that the column of ratios keeps its width.
const DOUBT: &str = "*";
const DOUBT_WORDS: &str = "* doubtful: see the remarks of its row in the first table";

/// `"claim" (source)`; absent where predictions rest on emulated servers alone.
pub(crate) fn claim(summary: &Summary) -> Option<String> {
    let claim = summary.predictions.as_ref()?.claim.as_ref()?;
    let source = claim.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    Some(format!("\"{}\"{source}", claim.words))
}

/// One table for what demonstrates, and one for what was held against a storage.
pub(crate) fn tables(summary: &Summary) -> Vec<Grid> {
    let Some(predictions) = &summary.predictions else { return Vec::new() };
    // Apart: that an emulated server does what it was asked proves nothing of a storage.
    [true, false]
        .into_iter()
        .filter_map(|demo| {
            let targets: Vec<&TargetPrediction> =
                predictions.targets.iter().filter(|target| target.demo == demo).collect();
            table(summary, &targets)
        })
        .collect()
}

/// What the line asks of each target.
pub(crate) fn asked(summary: &Summary) -> Vec<String> {
    of_targets(summary, |target| target.at_line.iter().map(words::prediction::asks).collect())
}

/// Where the claim and the server of a target differ.
pub(crate) fn differences(summary: &Summary) -> Vec<String> {
    of_targets(summary, |target| target.differences.iter().map(words::prediction::claim_difference).collect())
}

/// Sentences with the names of the targets of which each is true.
fn of_targets(summary: &Summary, words: fn(&TargetPrediction) -> Vec<String>) -> Vec<String> {
    let targets = summary.predictions.iter().flat_map(|predictions| &predictions.targets);
    let said =
        targets.flat_map(|target| words(target).into_iter().map(|words| (words, target.target.as_str())));
    let said = once_by_key(said);
    said.into_iter().map(|(sentence, names)| format!("{}: {sentence}", names.join(", "))).collect()
}

/// A cell, what was predicted of it, and the target that both belong to.
struct Predicted<'a> {
    target: &'a TargetPrediction,
    cell: &'a CellSummary,
    of: &'a CellPrediction,
}

impl<'a> Predicted<'a> {
    /// The cells of the target, this one among them.
    fn others(&self, summary: &'a Summary) -> impl Iterator<Item = &'a CellSummary> {
        self.target.cells.iter().map(|other| &summary.cells[other.cell])
    }
}

fn table(summary: &Summary, targets: &[&TargetPrediction]) -> Option<Grid> {
    let mut all: Vec<Predicted<'_>> = Vec::new();
    for target in targets.iter().copied() {
        all.extend(target.cells.iter().map(|of| Predicted { target, cell: &summary.cells[of.cell], of }));
    }
    let title = format!("predicted and measured: {}", words::prediction::heading(targets.first()?));
    // One unit for what was predicted and what was measured, since the table is there to compare the two.
    let highest = |of: &CellPrediction| bursting(of).unwrap_or(of.predicted).bps.max(of.measured_bps);
    let highest = all.iter().map(|one| highest(one.of)).fold(0.0, f64::max);
    let unit = RateUnit::for_largest(highest);
    let has_doubts = all.iter().any(|one| one.of.is_doubtful);
    let has_engines =
        all.iter().any(|one| one.others(summary).any(|other| other.cell.engine != one.cell.cell.engine));
    // As many connections as reads are the usual case, and 0 stands for a storage without any.
    let has_connections =
        all.iter().any(|one| ![0, one.cell.cell.queue_depth].contains(&one.cell.cell.connections));
    let ratio = |one: &Predicted<'_>| {
        // Figures stay below each other where some have a sign behind them.
        let sign = if one.of.is_doubtful { DOUBT } else { " " };
        let sign = if has_doubts { sign } else { "" };
        Some(format!("{}{sign}", three_digits(one.of.ratio())))
    };
    let mut grid = Grid::of(title, &all).name("target", |one| one.target.target.clone());
    if has_engines {
        grid = grid.name("engine", |one| one.cell.engine_label());
    }
    grid = grid.name("what", |one| what(one.cell, one.of));
    grid = grid.number("QD", |one| one.cell.cell.queue_depth.to_string());
    if has_connections {
        grid = grid.figure("conn", |one| Some(one.cell.cell.connections.to_string()));
    }
    grid = grid
        .figure("predicted/s", |one| Some(range(one.of, |of| grouped(of.ops_per_s))))
        .figure("measured/s", |one| Some(grouped(one.of.measured_ops_per_s)));
    // Names alone move no bytes, and a column of zeros would say that they were slow.
    if highest > 0.0 {
        grid =
            grid.figure(&format!("pred. {}", unit.name), |one| Some(range(one.of, |of| unit.write(of.bps))));
    }
    let bound = Column::name("limit").only(Width::Wide);
    let grid = grid
        .figure("ratio", ratio)
        .column(bound, |one| Some(one.of.predicted.bound.words().to_owned()))
        .note(|one| note(summary, one));
    // Where all agree one row is enough to show what was compared; where some do not, those are what is looked for.
    let grid = if all.iter().all(|one| one.of.agrees()) {
        // By its place: several cells may have equal predictions, and one row is to be shown.
        let first: *const CellPrediction = all.first()?.of;
        grid.brief(SHOWN_MAX, "one cell: all agree", |one| std::ptr::eq(one.of, first))
    } else {
        grid.brief(SHOWN_MAX, "the cells that differ", |one| !one.of.agrees())
    };
    Some(if has_doubts { grid.foot(DOUBT_WORDS).done() } else { grid.done() })
}

/// The prediction while credits last, where it is another.
fn bursting(of: &CellPrediction) -> Option<Prediction> {
    of.bursting.filter(|bursting| bursting.ops_per_s > of.predicted.ops_per_s)
}

/// `300`; of what bursts `300-3,000`.
fn range(of: &CellPrediction, write: impl Fn(Prediction) -> String) -> String {
    let highest = bursting(of).map(|bursting| format!("-{}", write(bursting)));
    format!("{}{}", write(of.predicted), highest.unwrap_or_default())
}

/// `read 130 kB`, `stat`.
fn what(cell: &CellSummary, of: &CellPrediction) -> String {
    let operation = &cell.cell.operation;
    if of.operation.bytes > 0.0 {
        format!("{operation} {}", feed::format_bytes(of.operation.bytes.round() as u64))
    } else {
        operation.to_string()
    }
}

/// `latency-bound: 26 % below`, and where cells differ in their order, that; nothing more of a cell that agrees.
fn note(summary: &Summary, one: &Predicted<'_>) -> String {
    let access = &one.cell.cell.access;
    let varies = one.others(summary).any(|other| other.cell.access != *access);
    let access = varies.then(|| access.to_string());
    let apart = (!one.of.agrees())
        .then(|| format!("{}: {}", one.of.predicted.bound.words(), words::prediction::difference(one.of)));
    access.into_iter().chain(apart).collect::<Vec<_>>().join("; ")
}
