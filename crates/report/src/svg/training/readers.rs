//! Utilization by the way of fetching and the prefetch: a grid for each target, with the figure in every cell.

use analysis::{CellSummary, Summary};
use record::axis;

use super::super::chart::{Chart, PlotPanel};
use super::super::grid::{self, Shade};
use super::super::sign::Sample;
use super::jobs::{shared_but_accelerators, target};
use super::tables;
use crate::number::cut_percent;
use crate::plain::shortened;
use crate::side::Apart;
use crate::training::{Job, cells, fetch, jobs};

/// Columns of a grid; one with more goes on below.
const COLUMNS_MAX: usize = 10;

/// A way of fetching, in the order of rows: readers first, then a depth that is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fetching {
    /// Of so many reads each.
    Readers(u32, u32),
    Shared(u32),
}

impl Fetching {
    fn of(cell: &CellSummary) -> Self {
        let plan = cell.cell.training.as_ref();
        let readers = plan.and_then(|plan| Some(Self::Readers(plan.readers?, plan.fetches)));
        readers.unwrap_or(Self::Shared(cell.cell.queue_depth))
    }
}

/// Describes the plot; `None` where neither the readers nor the prefetch of any job were varied.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let all = cells(summary);
    let any_storage = all.iter().any(|cell| cell.storage);
    let shown = all.into_iter().filter(|cell| cell.storage == any_storage);
    let place = |cell: &CellSummary| (Fetching::of(cell), prefetch(cell));
    let mut groups = grid::groups(summary, shown, axis::FETCH, |_, _| true, place);
    // A group in which every cell failed is no grid: the table says why.
    groups.retain(|group| is_varied(group) && group.iter().any(|cell| Job::measured(cell).is_some()));
    if groups.is_empty() {
        return None;
    }
    let firsts: Vec<&CellSummary> = groups.iter().map(|group| group[0]).collect();
    let apart = Apart::among(&firsts);
    let of_group = |group: &Vec<&CellSummary>| panels(group, &title(summary, group[0], &apart));
    let panels = groups.iter().flat_map(of_group).collect();
    let heading = ("training-readers", "utilization by readers and prefetch");
    let chart = Chart::of(summary, heading, shared_but_accelerators(&jobs(summary)))
        .with(panels, tables::utilization(summary))
        .key(Sample::HEAT, "AU %, the mean, from 0 to 100; below it its 95 % interval")
        .key(Sample::Frame, "the whole interval is at the threshold or above");
    Some(chart)
}

/// Whether readers or prefetch vary: readers beside reads that share a depth are no grid.
fn is_varied(group: &[&CellSummary]) -> bool {
    let differs = |get: fn(&CellSummary) -> Option<u32>| {
        let mut values = group.iter().filter_map(|cell| get(cell));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    differs(|cell| Some(prefetch(cell)))
        || differs(|cell| cell.cell.training.as_ref()?.readers)
        || differs(|cell| Some(cell.cell.training.as_ref()?.fetches))
}

fn prefetch(cell: &CellSummary) -> u32 {
    cell.cell.training.as_ref().map_or(0, |plan| plan.prefetch)
}

/// One grid of a group, or several where there are many columns.
fn panels(group: &[&CellSummary], title: &str) -> Vec<PlotPanel> {
    let mut ways: Vec<Fetching> = group.iter().map(|cell| Fetching::of(cell)).collect();
    ways.sort_unstable();
    ways.dedup();
    let mut ahead: Vec<u32> = group.iter().map(|cell| prefetch(cell)).collect();
    ahead.sort_unstable();
    ahead.dedup();
    let name = |fetching: &Fetching| {
        let words = group.iter().find(|cell| Fetching::of(cell) == *fetching).map(|cell| fetch(cell));
        // Names of rows share one margin with all panels, and a long one would narrow the grids.
        shortened(&words.unwrap_or_default(), 13)
    };
    let rows: Vec<String> = ways.iter().map(name).collect();
    let part = |ahead: &[u32]| {
        let shade = |row: usize, column: usize| {
            let is_at =
                |cell: &&&CellSummary| (Fetching::of(cell), prefetch(cell)) == (ways[row], ahead[column]);
            group.iter().find(is_at).map(|cell| shade(cell))
        };
        let columns = ahead.iter().map(ToString::to_string).collect();
        grid::panel(title, (rows.clone(), ""), (columns, "prefetch"), shade)
    };
    ahead.chunks(COLUMNS_MAX).map(part).collect()
}

/// A figure with its interval below it, or why there is none.
fn shade(cell: &CellSummary) -> Shade {
    let Some(job) = Job::measured(cell) else { return Shade::absent(cell) };
    let au = &job.training.au;
    let below =
        |interval: feed::Interval| format!("{}-{}", cut_percent(interval.low), cut_percent(interval.high));
    Shade {
        share: Some(au.mean),
        is_framed: job.clears(),
        words: cut_percent(au.mean),
        below: au.interval.map(below),
    }
}

/// Target and engine, accelerators, and what else tells a grid apart from others.
fn title(summary: &Summary, cell: &CellSummary, apart: &Apart<'_>) -> String {
    let accelerators = cell.cell.training.as_ref().map_or(0, |plan| plan.accelerators);
    let parts = [
        target(summary, cell),
        cell.engine_label(),
        feed::counted_noun(accelerators.into(), "accelerator"),
        apart.words(cell),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
