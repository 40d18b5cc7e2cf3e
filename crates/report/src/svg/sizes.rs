//! Throughput by the size of what is read and the depth: a grid for each target and way of reading.

use std::collections::BTreeSet;

use analysis::{CellSummary, Summary};
use record::axis::{self, Axes, Axis, Groups, agree};

use super::chart::{Chart, PlotPanel, cut};
use super::curves::any_storage;
use super::grid::{self, Shade};
use super::sign::Sample;
use super::wording::target_title;
use crate::number::{RateUnit, of_line};
use crate::plain::shortened;
use crate::plot::PlotTable;
use crate::side::{self, Apart};

/// Columns of a grid; one with more goes on below.
const COLUMNS_MAX: usize = 12;
/// Grids that one figure holds.
const GRIDS_MAX: usize = 12;

/// What rows differ in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Sample,
    Block,
    Shard,
}

impl Size {
    fn of(self, cell: &CellSummary) -> u64 {
        match self {
            Self::Sample => cell.sample_bytes.unwrap_or(0.0).round() as u64,
            Self::Block => cell.cell.block_bytes,
            Self::Shard => shard_bytes(cell).unwrap_or(0),
        }
    }

    fn axis(self) -> Axis {
        match self {
            Self::Sample => Axis::SampleBytes,
            Self::Block => Axis::Block,
            Self::Shard => Axis::ShardBytes,
        }
    }

    /// What may differ in one grid.
    fn may_differ(self) -> Axes {
        match self {
            Self::Sample | Self::Block => axis::SIZES,
            Self::Shard => axis::SHARDS,
        }
    }

    /// The size that the rows of one grid share.
    fn other(self) -> Self {
        match self {
            Self::Sample => Self::Block,
            Self::Block | Self::Shard => Self::Sample,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Block => "block",
            Self::Shard => "shard",
        }
    }
}

/// Bytes of a shard, where the scenario lists several.
fn shard_bytes(cell: &CellSummary) -> Option<u64> {
    cell.cell.said_along(Axis::ShardBytes)?.parse().ok()
}

struct Grid<'a> {
    title: String,
    size: Size,
    rows: Vec<u64>,
    depths: Vec<u64>,
    cells: Vec<&'a CellSummary>,
    unit: RateUnit,
    /// Throughput of a cell that is shaded in full, where there is no line.
    full_bps: f64,
}

/// Describes the plot; `None` where no target was read in two sizes at two depths.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let mut grids = grids(summary);
    let limit = cut(&mut grids, GRIDS_MAX, "grids");
    if grids.is_empty() {
        return None;
    }
    let cells = || grids.iter().flat_map(|grid| &grid.cells);
    let units: Vec<&str> = grids.iter().map(|grid| grid.unit.name).collect();
    let unit = if units.iter().all(|unit| *unit == units[0]) { units[0] } else { "the throughput" };
    let shaded = if cells().any(|cell| cell.line.is_some()) {
        format!("share of the feed line, shaded from 0 to 100 %; below it {unit}")
    } else {
        format!("{unit}, shaded from 0 to the highest of each grid")
    };
    let chart = Chart::of(summary, ("sizes", "throughput by size and depth"), limit)
        .with(grids.iter().map(Grid::panel).collect(), table(&grids))
        .key(Sample::HEAT, shaded)
        .key(Sample::Frame, "the whole 95 % interval is at the line or above");
    Some(chart)
}

fn grids(summary: &Summary) -> Vec<Grid<'_>> {
    let any_storage = any_storage(summary);
    let curves = summary.panels.iter().flat_map(|panel| &panel.curves);
    let indices: BTreeSet<usize> = curves.flat_map(|curve| curve.cells.iter().copied()).collect();
    let shown = summary
        .cells
        .iter()
        .enumerate()
        .filter(|(index, cell)| cell.storage == any_storage && indices.contains(index));
    // In the order of the scenario, whatever that of the panels.
    let shown: Vec<&CellSummary> = shown.map(|(_, cell)| cell).collect();
    let is_same = |one: &CellSummary, two: &CellSummary, size: Size| {
        agree(summary, &one.cell, &two.cell, &[size.axis()])
    };
    let (mut of_each, mut sizes) = (Vec::<&CellSummary>::new(), Groups::along([Axis::SampleBytes]));
    let blocks_follow = shown.iter().all(|cell| {
        let at = sizes.place(summary, &cell.cell, |at| is_same(of_each[at], cell, Size::Sample));
        if at == of_each.len() {
            of_each.push(cell);
        }
        is_same(of_each[at], cell, Size::Block)
    });
    let mut found = Vec::new();
    for size in [Size::Sample, Size::Block, Size::Shard] {
        // Where each size of samples has one of blocks, as where a sample is read at once, rows of samples differ in both.
        let is_free = size == Size::Sample && blocks_follow;
        let shared = (!is_free && size != Size::Shard).then(|| size.other().axis());
        let but: Vec<Axis> = size.may_differ().iter().copied().filter(|axis| Some(*axis) != shared).collect();
        // By what the scenario says: as they are stored, the same samples take other bytes in other shards.
        let belongs = |one: &CellSummary, two: &CellSummary| {
            size != Size::Shard
                || one.cell.said_along(Axis::SampleBytes) == two.cell.said_along(Axis::SampleBytes)
        };
        let place = |cell: &CellSummary| (size.of(cell), cell.cell.queue_depth);
        let of_size = shown.iter().copied().filter(|cell| size != Size::Shard || shard_bytes(cell).is_some());
        let mut groups = grid::groups(summary, of_size, &but, belongs, place);
        groups.retain(|group| {
            distinct(group, |cell| size.of(cell)).len() > 1
                && distinct(group, depth).len() > 1
                && group.iter().any(|cell| cell.figures().is_some())
        });
        let firsts: Vec<&CellSummary> = groups.iter().map(|group| group[0]).collect();
        let apart = Apart::among(&firsts);
        found.extend(groups.iter().flat_map(|group| {
            let title = title(summary, group[0], (&firsts, &apart), size);
            Grid::of(group, &title, size)
        }));
    }
    found
}

fn depth(cell: &CellSummary) -> u64 {
    u64::from(cell.cell.queue_depth)
}

fn distinct(group: &[&CellSummary], get: impl Fn(&CellSummary) -> u64) -> Vec<u64> {
    let mut values: Vec<u64> = group.iter().map(|cell| get(cell)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn title(
    summary: &Summary,
    cell: &CellSummary,
    (firsts, apart): (&[&CellSummary], &Apart<'_>),
    size: Size,
) -> String {
    let apart = apart.words(cell);
    let other = size.other();
    let differs = firsts.iter().any(|first| other.of(first) != other.of(cell));
    let other = if apart.is_empty() && differs {
        format!("{} {}s", feed::format_bytes(other.of(cell)), other.words())
    } else {
        String::new()
    };
    let parts = [target_title(summary, &cell.cell.target), cell.engine_label(), other, apart];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

impl<'a> Grid<'a> {
    /// One grid, or several where there are many depths.
    fn of(group: &[&'a CellSummary], title: &str, size: Size) -> Vec<Self> {
        let bps = group.iter().filter_map(|cell| cell.figures()).map(|figures| figures.bps.mean);
        let full_bps = bps.fold(0.0, f64::max);
        let part = |depths: &[u64]| Self {
            title: title.to_owned(),
            size,
            rows: distinct(group, |cell| size.of(cell)),
            depths: depths.to_vec(),
            cells: group.to_vec(),
            unit: RateUnit::for_largest(full_bps),
            full_bps,
        };
        distinct(group, depth).chunks(COLUMNS_MAX).map(part).collect()
    }

    fn cell(&self, size: u64, at: u64) -> Option<&'a CellSummary> {
        self.cells.iter().find(|cell| self.size.of(cell) == size && depth(cell) == at).copied()
    }

    fn panel(&self) -> PlotPanel {
        let rows = self.rows.iter().map(|size| shortened(&feed::format_bytes(*size), 12)).collect();
        let columns = self.depths.iter().map(ToString::to_string).collect();
        let shade = |row: usize, column: usize| {
            let cell = self.cell(self.rows[row], self.depths[column])?;
            let Some(figures) = cell.figures() else { return Some(Shade::absent(cell)) };
            let rate = self.unit.write(figures.bps.mean);
            let of_highest = figures.bps.mean / self.full_bps.max(f64::MIN_POSITIVE);
            Some(Shade {
                share: Some(figures.of_line.unwrap_or(of_highest)),
                is_framed: cell.clears(),
                below: figures.of_line.map(|_| rate.clone()),
                words: figures.of_line.map_or(rate, of_line),
            })
        };
        grid::panel(&self.title, (rows, self.size.words()), (columns, "queue depth"), shade)
    }
}

fn table(grids: &[Grid<'_>]) -> PlotTable {
    // A column of dashes in nearly every run, else.
    let any_shards = grids.iter().any(|grid| grid.cells.iter().any(|cell| shard_bytes(cell).is_some()));
    let shard = |of: String| any_shards.then_some(of);
    let names = |shard: Option<String>| {
        let of_read = ["target", "engine", "sample B", "block B"].map(str::to_owned);
        let figures = ["depth", "MB/s", "of line, %", "note"].map(str::to_owned);
        of_read.into_iter().chain(shard).chain(figures).collect()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for grid in grids {
        for size in &grid.rows {
            for depth in &grid.depths {
                let Some(cell) = grid.cell(*size, *depth) else { continue };
                let figures = cell.figures();
                let share = figures.and_then(|figures| figures.of_line);
                let dash = || "-".to_owned();
                let of_read = [
                    cell.cell.target.clone(),
                    cell.engine_label(),
                    Size::Sample.of(cell).to_string(),
                    cell.cell.block_bytes.to_string(),
                ];
                let shard = shard(shard_bytes(cell).map_or_else(dash, |bytes| bytes.to_string()));
                let figures = [
                    depth.to_string(),
                    figures.map_or_else(dash, |of| crate::number::three_digits(of.bps.mean / 1e6)),
                    share.map_or_else(dash, |share| crate::number::three_digits(share * 100.0)),
                    side::absent(cell).unwrap_or_default(),
                ];
                rows.push(of_read.into_iter().chain(shard).chain(figures).collect());
            }
        }
    }
    rows.dedup();
    PlotTable { columns: names(shard("shard B".to_owned())), rows }
}
