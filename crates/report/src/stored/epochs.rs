//! Passes over the data: throughput, cache, first operation and gap.

use analysis::{CellSummary, EpochPass, Summary};

use crate::grid::{Column, Grid, Width};
use crate::number::{interval, percent, three_digits};
use crate::page::Block;
use crate::side::{noted, of_cells};
use crate::words::epochs;

/// Passes of a cell that a terminal has room for; the last of more is always shown.
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

/// One pass of a cell over the data.
struct Pass<'a> {
    cell: &'a CellSummary,
    of: &'a EpochPass,
    is_first: bool,
    /// Whether a terminal shows it where there are many.
    is_kept: bool,
}

fn passes(summary: &Summary) -> Vec<Pass<'_>> {
    let mut passes = Vec::new();
    for figures in &summary.epochs {
        let Some(cell) = summary.cells.get(figures.cell) else { continue };
        let last = figures.epochs.len().saturating_sub(1);
        let pass = |(index, of)| {
            let is_kept = index + 1 < SHOWN_MAX || index == last;
            Pass { cell, of, is_first: index == 0, is_kept }
        };
        passes.extend(figures.epochs.iter().enumerate().map(pass));
    }
    passes
}

fn table(summary: &Summary) -> Grid {
    let passes = passes(summary);
    let unit = super::words::unit(passes.iter().map(|pass| Some(&pass.of.bps)));
    let title = "epochs: throughput of each pass, share of its bytes that storage was not asked for, hits of a cache tier \
                 with what is predicted, seconds of the first operation and batch, and the gap before it";
    let figure = |heading: &str, short: &'static str| Column::figure(heading).short(short);
    let note = |pass: &Pass<'_>| {
        let way = if pass.is_first { super::words::way(summary, pass.cell) } else { String::new() };
        let cut = if pass.of.complete { "" } else { "cut by the end of the window" };
        noted([way, cut.to_owned()])
    };
    of_cells(title, &passes, |pass| pass.cell)
        .number("epoch", |pass| (pass.of.epoch + 1).to_string())
        .figure(unit.name, |pass| Some(unit.write(pass.of.bps.mean)))
        .column(Column::figure("95 % interval").only(Width::Wide), |pass| {
            interval(&pass.of.bps, |bps| unit.write(bps))
        })
        .column(figure("cache share", "cache"), |pass| Some(percent(pass.of.cache_share?.mean)))
        .column(figure("tier hits", "tier"), |pass| Some(percent(pass.of.tier_hits?.mean)))
        .column(figure("predicted", "pred."), |pass| pass.of.predicted_hits.map(percent))
        .figure("first s", |pass| Some(three_digits(pass.of.first_s.mean)))
        .column(figure("first batch s", "batch s"), |pass| Some(three_digits(pass.of.first_batch_s?.mean)))
        .figure("gap s", |pass| Some(three_digits(pass.of.gap_s?.mean)))
        .note(note)
        .brief(0, "the first and the last of each cell", |pass| pass.is_kept)
        .done()
        .without_unknown()
}
