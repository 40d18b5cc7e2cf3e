//! What tables of stored data have in common.

use analysis::{CellSummary, Rate, Summary};

use crate::grid::Grid;
use crate::number::RateUnit;
use crate::page::Block;
use crate::words::form;

/// Tables, and sentences below them.
pub(super) fn blocks_of(grids: impl IntoIterator<Item = Grid>, lines: Vec<String>) -> Vec<Block<'static>> {
    grids.into_iter().map(Block::Grid).chain([Block::lines("", lines)]).collect()
}

/// A layout, a form, an order and a tier of a cell, as far as they are not the usual ones.
pub(super) fn way(summary: &Summary, cell: &CellSummary) -> String {
    let layout = summary.datasets.get(cell.cell.dataset).map(|figures| figures.dataset.layout.as_str());
    // The word "files" is said only where something else could be meant.
    let packed = summary.datasets.iter().any(|figures| figures.dataset.layout != "files");
    let layout = layout.filter(|_| packed).map(str::to_owned);
    let tier = cell.cell.tier.as_ref().map(|tier| {
        format!(
            "through a cache of {} ({}) at {}",
            feed::format_bytes(tier.capacity_bytes),
            tier.policy,
            tier.at
        )
    });
    let sample = sample(summary, cell);
    let job = cell.cell.training.is_some().then(|| "training".to_owned());
    let stored = layout.into_iter().chain(sample).chain(form::of_cell(&cell.cell));
    let parts = stored.chain([cell.cell.access.to_string()]).chain(job).chain(tier);
    parts.collect::<Vec<_>>().join(", ")
}

/// `16 KiB samples`, before packing, where those of a run differ.
pub(crate) fn sample(summary: &Summary, cell: &CellSummary) -> Option<String> {
    let own = cell.payload_bytes().filter(|_| summary.layouts.samples_differ)?;
    Some(format!("{} samples", feed::format_bytes(own as u64)))
}

/// Seconds in words: `1.4 s`, `83 s`, `2.1 h`.
pub(super) fn duration(seconds: f64) -> String {
    feed::format_duration_ns((seconds.max(0.0) * 1e9).round() as u64)
}

/// Rates of one table in one unit.
pub(super) fn unit<'a>(rates: impl Iterator<Item = Option<&'a Rate>>) -> RateUnit {
    RateUnit::for_largest(rates.flatten().map(|rate| rate.mean).fold(0.0, f64::max))
}
