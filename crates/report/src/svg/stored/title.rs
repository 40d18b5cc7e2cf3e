//! What a cell over stored data is called.

use analysis::{CellSummary, Summary};

use super::super::wording::target_title;
use crate::stored::sample;
use crate::words::form;

/// Layout of the dataset of a cell.
pub(in crate::svg) fn layout<'a>(summary: &'a Summary, cell: &CellSummary) -> &'a str {
    summary.datasets.get(cell.cell.dataset).map_or("files", |figures| figures.dataset.layout.as_str())
}

/// `object store lean, webdataset, shuffled_shards, depth 128, lru cache`.
pub(super) fn title(summary: &Summary, cell: &CellSummary) -> String {
    let (target, engine) = (target_title(summary, &cell.cell.target), cell.engine_label());
    let (layout, access, depth) = (layout(summary, cell), &cell.cell.access, cell.cell.queue_depth);
    let of = [sample(summary, cell), form::of_cell(&cell.cell)].into_iter().flatten();
    let stored = std::iter::once(layout.to_owned()).chain(of).collect::<Vec<_>>().join(", ");
    let tier = cell.cell.tier.as_ref().map(|tier| format!(", {} cache", tier.policy));
    let made = cell.cell.checkpoint.as_ref().map(|plan| format!(", {} checkpoints", plan.mode));
    let (tier, made) = (tier.unwrap_or_default(), made.unwrap_or_default());
    format!("{target} {engine}, {stored}, {access}, depth {depth}{tier}{made}")
}
