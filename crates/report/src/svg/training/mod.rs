//! Training jobs as plots: what an accelerator did over time, utilization by accelerators and by the way of fetching,
//! what each setting gains, and how long steps waited.

mod accelerators;
mod jobs;
mod ladder;
mod readers;
mod tables;
mod timeline;
mod waits;

use analysis::Summary;

use super::chart::Chart;

/// The plots that a run has something to show in.
pub(super) fn charts(summary: &Summary) -> [Option<Chart>; 5] {
    [
        timeline::chart(summary),
        accelerators::chart(summary),
        readers::chart(summary),
        ladder::chart(summary),
        waits::chart(summary),
    ]
}
