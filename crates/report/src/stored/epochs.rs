//! Passes over the data: throughput, cache, first operation and gap.

use analysis::{EpochFigures, EpochPass, Summary};

use super::{Part, headings};
use crate::grid::{Grid, GridRow};
use crate::number::{RateUnit, three_digits};

/// Passes of a cell that a terminal has room for; the last of more is always shown.
const SHOWN_MAX: usize = 4;

pub(super) fn part(summary: &Summary, all: bool) -> Part {
    let mut lines = Vec::new();
    for figures in &summary.epochs {
        let Some(cell) = summary.cells.get(figures.cell) else { continue };
        let lead =
            format!("{} {}, depth {}", cell.cell.target, super::way(summary, cell), cell.cell.queue_depth);
        lines.extend(figures.notes.iter().map(|words| format!("{lead}: {words}")));
    }
    Part { name: "Epochs", id: "epochs", grids: vec![table(summary, all)], lines }
}

fn table(summary: &Summary, all: bool) -> Grid {
    let unit = super::unit(summary.epochs.iter().flat_map(|cell| &cell.epochs).map(|pass| Some(&pass.bps)));
    let mut rows = Vec::new();
    let mut is_cut = false;
    for figures in &summary.epochs {
        let passes = &figures.epochs;
        let shown = |index: usize| all || index + 1 < SHOWN_MAX || index + 1 == passes.len();
        is_cut |= (0..passes.len()).any(|index| !shown(index));
        let shown = passes.iter().enumerate().filter(|(index, _)| shown(*index));
        rows.extend(shown.map(|(index, pass)| row(summary, figures, (index, pass), unit, all)));
    }
    let hidden = if is_cut { " (the first and the last of each cell; all in report.md)" } else { "" };
    let rate = unit.name;
    let names: Vec<&str> = if all {
        vec![
            rate,
            "95 % interval",
            "cache share",
            "tier hits",
            "predicted",
            "first s",
            "first batch s",
            "gap s",
        ]
    } else {
        vec![rate, "cache", "tier", "pred.", "first s", "batch s", "gap s"]
    };
    Grid {
        title: format!(
            "epochs: throughput of each pass, share of its bytes that storage was not asked for, hits of a cache tier \
             with what is predicted, seconds of the first operation and batch, and the gap before it{hidden}"
        ),
        names: vec!["target", "engine", "QD", "epoch"],
        figures: headings(&names),
        rows,
        foot: String::new(),
    }
    .without_unknown()
}

fn row(
    summary: &Summary,
    of: &EpochFigures,
    (index, pass): (usize, &EpochPass),
    unit: RateUnit,
    all: bool,
) -> GridRow {
    let cell = summary.cells.get(of.cell);
    let mut names = cell.map_or_else(|| vec![String::new(); 3], super::names);
    names.push((pass.epoch + 1).to_string());
    let mean = |rate: &Option<analysis::Rate>| rate.map(|rate| rate.mean);
    let mut figures = vec![unit.write(pass.bps.mean)];
    figures.extend(all.then(|| super::interval(Some(&pass.bps), |bps| unit.write(bps))));
    figures.extend([
        super::share(mean(&pass.cache_share)),
        super::share(mean(&pass.tier_hits)),
        super::share(pass.predicted_hits),
        three_digits(pass.first_s.mean),
        super::seconds(mean(&pass.first_batch_s)),
        super::seconds(mean(&pass.gap_s)),
    ]);
    let way = cell.filter(|_| index == 0).map(|cell| super::way(summary, cell)).unwrap_or_default();
    let cut = if pass.complete { "" } else { "cut by the end of the window" };
    GridRow { names, figures, note: crate::side::noted([way, cut.to_owned()]) }
}
