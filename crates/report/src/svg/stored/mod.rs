//! Layouts, epochs and checkpoints as plots: files against shards, throughput and cache pass by pass, and what
//! checkpoints take from the reads beside them.

mod checkpoints;
mod epochs;
mod layouts;

use analysis::{CellSummary, Summary};

use super::chart::Chart;
use super::wording::target_title;
use crate::stored::sample;

/// The plots that a run has something to show in.
pub(super) fn charts(summary: &Summary) -> [Option<Chart>; 3] {
    [layouts::chart(summary), epochs::chart(summary), checkpoints::chart(summary)]
}

/// Layout of the dataset of a cell.
fn layout<'a>(summary: &'a Summary, cell: &CellSummary) -> &'a str {
    summary.datasets.get(cell.cell.dataset).map_or("files", |figures| figures.dataset.layout.as_str())
}

/// `object store lean, webdataset, shuffled_shards, depth 128, lru cache`.
fn title(summary: &Summary, cell: &CellSummary) -> String {
    let (target, engine) = (target_title(summary, &cell.cell.target), cell.engine_label());
    let (layout, access, depth) = (layout(summary, cell), &cell.cell.access, cell.cell.queue_depth);
    let sample = sample(summary, cell).map(|sample| format!("{sample}, ")).unwrap_or_default();
    let tier = cell.cell.tier.as_ref().map(|tier| format!(", {} cache", tier.policy));
    let made = cell.cell.checkpoint.as_ref().map(|plan| format!(", {} checkpoints", plan.mode));
    let (tier, made) = (tier.unwrap_or_default(), made.unwrap_or_default());
    format!("{target} {engine}, {layout}, {sample}{access}, depth {depth}{tier}{made}")
}
