//! Epochs: throughput, cache, first operation and gap.

use analysis::{CellSummary, EpochFigures, Summary};

use crate::grid::{Column, Grid, Width};
use crate::number::{interval, percent, three_digits};
use crate::page::Block;
use crate::side::{noted, of_cells};
use crate::words::epochs;

/// Epochs of a cell that a terminal has room for; the last of more is always shown.
const SHOWN_MAX: usize = 4;

pub(super) fn blocks(summary: &Summary) -> Vec<Block<'static>> {
    let mut lines = Vec::new();
    for figures in &summary.epochs {
        let Some(cell) = summary.cells.get(figures.cell) else { continue };
        let lead = format!(
            "{} {}, depth {}",
            cell.cell.target,
            super::words::way(summary, cell),
            cell.cell.queue_depth
        );
        lines.extend(figures.notes.iter().map(|note| format!("{lead}: {}", epochs::words(note))));
    }
    super::words::blocks_of([table(summary)], lines)
}

/// One epoch of a cell.
struct EpochRow<'a> {
    cell: &'a CellSummary,
    of: &'a EpochFigures,
    is_first: bool,
    /// Whether a terminal shows it where there are many.
    is_kept: bool,
}

fn epochs(summary: &Summary) -> Vec<EpochRow<'_>> {
    let mut epochs = Vec::new();
    for figures in &summary.epochs {
        let Some(cell) = summary.cells.get(figures.cell) else { continue };
        let last = figures.epochs.len().saturating_sub(1);
        let epoch = |(index, of)| {
            let is_kept = index + 1 < SHOWN_MAX || index == last;
            EpochRow { cell, of, is_first: index == 0, is_kept }
        };
        epochs.extend(figures.epochs.iter().enumerate().map(epoch));
    }
    epochs
}

fn table(summary: &Summary) -> Grid {
    let epochs = epochs(summary);
    let unit = super::words::unit(epochs.iter().map(|epoch| Some(&epoch.of.bps)));
    let title = "epochs: throughput of each pass, share of its bytes that storage was not asked for, hits of a cache tier \
                 with what is predicted, seconds of the first operation and batch, and the gap before it";
    let figure = |heading: &str, short: &'static str| Column::figure(heading).short(short);
    let note = |epoch: &EpochRow<'_>| {
        let way = if epoch.is_first { super::words::way(summary, epoch.cell) } else { String::new() };
        let cut = if epoch.of.complete { "" } else { "cut by the end of the window" };
        noted([way, cut.to_owned()])
    };
    of_cells(title, &epochs, |epoch| epoch.cell)
        .number("epoch", |epoch| (epoch.of.epoch + 1).to_string())
        .figure(unit.name, |epoch| Some(unit.write(epoch.of.bps.mean)))
        .column(Column::figure("95 % interval").only(Width::Wide), |epoch| {
            interval(&epoch.of.bps, |bps| unit.write(bps))
        })
        .column(figure("cache share", "cache"), |epoch| Some(percent(epoch.of.cache_share?.mean)))
        .column(figure("tier hits", "tier"), |epoch| Some(percent(epoch.of.tier_hits?.mean)))
        .column(figure("predicted", "pred."), |epoch| epoch.of.predicted_hits.map(percent))
        .figure("first s", |epoch| Some(three_digits(epoch.of.first_s.mean)))
        .column(figure("first batch s", "batch s"), |epoch| Some(three_digits(epoch.of.first_batch_s?.mean)))
        .figure("gap s", |epoch| Some(three_digits(epoch.of.gap_s?.mean)))
        .note(note)
        .brief(0, "the first and the last of each cell", |epoch| epoch.is_kept)
        .done()
        .without_unknown()
}
