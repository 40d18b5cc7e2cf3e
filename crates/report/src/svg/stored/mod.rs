//! Layouts, epochs and checkpoints as plots: files against shards, throughput and cache epoch by epoch, and what
//! checkpoints take from the reads beside them.

mod checkpoints;
mod epochs;
mod layouts;
pub(super) mod title;

use analysis::Summary;

use super::chart::Chart;

/// The plots that a run has something to show in.
pub(super) fn charts(summary: &Summary) -> [Option<Chart>; 3] {
    [layouts::chart(summary), epochs::chart(summary), checkpoints::chart(summary)]
}
