//! Throughput by the size of what is read and the depth: a grid for each target and way of reading.

use analysis::{CellSummary, Measurement, Summary};
use plotters::style::text_anchor::HPos;

use super::drawn::{Drawn, target_title};
use super::key::{self, Mark};
use super::marker::{self, Canvas, Refusal};
use super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of, side_by_side, text};
use super::theme::Ink;
use super::wording;
use crate::number::{RateUnit, of_line};
use crate::plain::{folded, shortened};
use crate::plot::PlotTable;
use crate::side;

/// Width and height of a cell.
const CELL: (i32, i32) = (70, 42);
/// Room for the names of rows.
const ROW_NAMES: i32 = 90;
/// Height of a line of the title, and of the names of columns with their heading.
const TITLE_LINE: i32 = 18;
const COLUMN_NAMES: i32 = 44;
/// Between grids.
const GAP: i32 = 28;
/// Columns of a grid; one with more goes on below.
const COLUMNS_MAX: usize = 12;
/// Grids that one figure holds.
const GRIDS_MAX: usize = 12;
/// Share of the line from which on a cell is shaded in full.
const FULL_SHARE: f64 = 1.0;
/// What the plot shows, in its title.
const SHOWN: &str = "throughput by size and depth";

/// What rows differ in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Sample,
    Block,
}

impl Size {
    fn of(self, cell: &CellSummary) -> u64 {
        match self {
            Self::Sample => cell.sample_bytes.unwrap_or(0.0).round() as u64,
            Self::Block => cell.cell.block_bytes,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Block => "block",
        }
    }
}

struct Grid<'a> {
    title: Vec<String>,
    size: Size,
    rows: Vec<u64>,
    depths: Vec<u32>,
    cells: Vec<&'a CellSummary>,
    unit: RateUnit,
    /// Throughput of a cell that is shaded in full, where there is no line.
    full_bps: f64,
}

/// Draws the figure; `None` where no target was read in two sizes at two depths.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let grids = grids(summary);
    if grids.is_empty() {
        return None;
    }
    let (places, height) = side_by_side(grids.iter().map(Grid::extent), GAP);
    let key = key::flow(entries(&grids), WIDTH - 2 * EDGE);
    let lines = wording::subtitles_with(summary, Vec::new(), columns_of(SUBTITLE_SIZE));
    let sheet = Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines);
    let svg = sheet.drawn(height, &key, |canvas, top| {
        for (grid, (x, y)) in grids.iter().zip(&places) {
            grid.draw(canvas, (EDGE + x, top + y))?;
        }
        Ok(())
    });
    Some(Drawn { name: "sizes", shown: SHOWN, svg, table: table(&grids) })
}

fn grids(summary: &Summary) -> Vec<Grid<'_>> {
    let any_storage = summary.cells.iter().any(|cell| cell.storage && cell.figures().is_some());
    let curves = summary.panels.iter().flat_map(|panel| &panel.curves);
    let indices: Vec<usize> = curves.flat_map(|curve| curve.cells.iter().copied()).collect();
    let shown = summary
        .cells
        .iter()
        .enumerate()
        .filter(|(index, cell)| cell.storage == any_storage && indices.contains(index));
    // In the order of the scenario, whatever that of the panels.
    let shown: Vec<&CellSummary> = shown.map(|(_, cell)| cell).collect();
    let follows = |one: &&CellSummary, two: &&CellSummary| {
        Size::Sample.of(one) != Size::Sample.of(two) || Size::Block.of(one) == Size::Block.of(two)
    };
    let blocks_follow = shown.iter().all(|one| shown.iter().all(|two| follows(one, two)));
    let mut found = Vec::new();
    for size in [Size::Sample, Size::Block] {
        let mut groups: Vec<Vec<&CellSummary>> = Vec::new();
        for cell in &shown {
            match groups.iter_mut().find(|group| belongs(group, cell, (size, blocks_follow))) {
                Some(group) => group.push(cell),
                None => groups.push(vec![cell]),
            }
        }
        groups.retain(|group| {
            distinct(group, |cell| size.of(cell)).len() > 1
                && distinct(group, |cell| u64::from(cell.cell.queue_depth)).len() > 1
                && group.iter().any(|cell| cell.figures().is_some())
        });
        let firsts: Vec<&CellSummary> = groups.iter().map(|group| group[0]).collect();
        found.extend(groups.iter().flat_map(|group| {
            let title = title(summary, group[0], &firsts, size);
            Grid::of(group, &title, size)
        }));
    }
    found.truncate(GRIDS_MAX);
    found
}

/// Whether a cell differs from those of a group in size and depth alone, and has a place of its own.
///
/// Where each size of samples has one of blocks, as where a sample is read at once, rows of samples differ in both.
fn belongs(group: &[&CellSummary], cell: &CellSummary, (size, blocks_follow): (Size, bool)) -> bool {
    let first = group[0];
    let other_size = match size {
        Size::Sample => blocks_follow || Size::Block.of(first) == Size::Block.of(cell),
        Size::Block => Size::Sample.of(first) == Size::Sample.of(cell),
    };
    let place = |cell: &CellSummary| (size.of(cell), cell.cell.queue_depth);
    let axes = |cell: &CellSummary| -> Vec<record::AxisWords> {
        let known = ["sample_size", "dataset", "block_size", "queue_depth", "threads"];
        cell.cell.axes.iter().filter(|axis| !known.contains(&axis.name.as_str())).cloned().collect()
    };
    other_size
        && first.cell.target == cell.cell.target
        && first.engine_label() == cell.engine_label()
        && (&first.cell.operation, &first.cell.access, &first.cell.cache)
            == (&cell.cell.operation, &cell.cell.access, &cell.cell.cache)
        && axes(first) == axes(cell)
        && group.iter().all(|other| place(other) != place(cell))
}

fn distinct(group: &[&CellSummary], get: impl Fn(&CellSummary) -> u64) -> Vec<u64> {
    let mut values: Vec<u64> = group.iter().map(|cell| get(cell)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn title(summary: &Summary, cell: &CellSummary, firsts: &[&CellSummary], size: Size) -> String {
    let differs = |get: fn(&CellSummary) -> u64| firsts.iter().any(|other| get(other) != get(cell));
    let block = |cell: &CellSummary| cell.cell.block_bytes;
    let other = match size {
        Size::Sample if differs(block) => format!("{} blocks", feed::format_bytes(block(cell))),
        Size::Block if differs(|cell| Size::Sample.of(cell)) => {
            format!("{} samples", feed::format_bytes(Size::Sample.of(cell)))
        }
        _ => String::new(),
    };
    let apart = side::apart(cell, firsts);
    let other = if apart.is_empty() { other } else { String::new() };
    let parts = [target_title(summary, &cell.cell.target), cell.engine_label(), other, apart];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

impl<'a> Grid<'a> {
    /// One grid, or several below each other where there are many depths.
    fn of(group: &[&'a CellSummary], title: &str, size: Size) -> Vec<Self> {
        let depths = distinct(group, |cell| u64::from(cell.cell.queue_depth));
        let bps = group.iter().filter_map(|cell| cell.figures()).map(|figures| figures.bps.mean);
        let full_bps = bps.fold(0.0, f64::max);
        let part = |depths: &[u64]| {
            let width = ROW_NAMES + (depths.len() as i32 * CELL.0).max(180);
            Self {
                title: folded(title, (f64::from(width) / 7.3) as usize),
                size,
                rows: distinct(group, |cell| size.of(cell)),
                depths: depths.iter().map(|depth| *depth as u32).collect(),
                cells: group.to_vec(),
                unit: RateUnit::for_largest(full_bps),
                full_bps,
            }
        };
        depths.chunks(COLUMNS_MAX).map(part).collect()
    }

    fn extent(&self) -> (i32, i32) {
        let above = self.title.len() as i32 * TITLE_LINE + COLUMN_NAMES;
        let width = ROW_NAMES + (self.depths.len() as i32 * CELL.0).max(180);
        (width, above + self.rows.len() as i32 * CELL.1)
    }

    fn cell(&self, size: u64, depth: u32) -> Option<&'a CellSummary> {
        let is_at = |cell: &&&CellSummary| self.size.of(cell) == size && cell.cell.queue_depth == depth;
        self.cells.iter().find(is_at).copied()
    }

    fn draw(&self, canvas: &Canvas<'_>, (x, y): (i32, i32)) -> Result<(), Refusal> {
        for (number, words) in (0_i32..).zip(&self.title) {
            text(canvas, words, (x, y + 8 + number * TITLE_LINE), (13.0, Ink::Text, HPos::Left))?;
        }
        let y = y + self.title.len() as i32 * TITLE_LINE;
        let left = x + ROW_NAMES;
        let middle = left + self.depths.len() as i32 * CELL.0 / 2;
        text(canvas, "queue depth", (middle, y + 12), (12.0, Ink::Muted, HPos::Center))?;
        text(canvas, self.size.words(), (left - 10, y + 32), (12.0, Ink::Muted, HPos::Right))?;
        for (column, depth) in (0_i32..).zip(&self.depths) {
            let at = (left + column * CELL.0 + CELL.0 / 2, y + 32);
            text(canvas, &depth.to_string(), at, (12.0, Ink::Muted, HPos::Center))?;
        }
        let y = y + COLUMN_NAMES;
        for (row, size) in (0_i32..).zip(&self.rows) {
            let top = y + row * CELL.1;
            let words = shortened(&feed::format_bytes(*size), 12);
            let at = (left - 10, top + CELL.1 / 2);
            text(canvas, &words, at, (12.0, Ink::Muted, HPos::Right))?;
            for (column, depth) in (0_i32..).zip(&self.depths) {
                let place = (left + column * CELL.0, top);
                self.draw_cell(canvas, self.cell(*size, *depth), place)?;
            }
        }
        Ok(())
    }

    /// The share of the line with the throughput below it, or why there is none.
    fn draw_cell(
        &self,
        canvas: &Canvas<'_>,
        cell: Option<&CellSummary>,
        (x, y): (i32, i32),
    ) -> Result<(), Refusal> {
        let (middle, centre) = (x + CELL.0 / 2, y + CELL.1 / 2);
        let Some(cell) = cell else { return Ok(()) };
        let Some(figures) = cell.figures() else {
            let not_run = matches!(cell.measured, Measurement::NotRun { .. });
            let words = if not_run { "not run" } else { "failed" };
            return text(canvas, words, (middle, centre), (11.0, Ink::Muted, HPos::Center));
        };
        let share = figures.of_line.unwrap_or(figures.bps.mean / self.full_bps.max(f64::MIN_POSITIVE));
        let corners = ((x + 1, y + 1), (x + CELL.0 - 1, y + CELL.1 - 1));
        marker::block(canvas, corners, Ink::Series(0), marker::heat(share / FULL_SHARE))?;
        if cell.clears() {
            marker::frame(canvas, ((x + 2, y + 2), (x + CELL.0 - 2, y + CELL.1 - 2)))?;
        }
        let rate = self.unit.write(figures.bps.mean);
        let Some(share) = figures.of_line else {
            return text(canvas, &rate, (middle, centre), (13.0, Ink::Text, HPos::Center));
        };
        text(canvas, &of_line(share), (middle, centre - 8), (13.0, Ink::Text, HPos::Center))?;
        text(canvas, &rate, (middle, centre + 10), (10.5, Ink::Text, HPos::Center))
    }
}

fn entries(grids: &[Grid<'_>]) -> Vec<(Mark, String)> {
    let cells = || grids.iter().flat_map(|grid| &grid.cells);
    let units: Vec<&str> = grids.iter().map(|grid| grid.unit.name).collect();
    let unit = if units.iter().all(|unit| *unit == units[0]) { units[0] } else { "the throughput" };
    let has_line = cells().any(|cell| cell.line.is_some());
    let mut found = if has_line {
        let words = format!("share of the feed line, shaded from 0 to 100 %; below it {unit}");
        vec![(Mark::Heat, words)]
    } else {
        vec![(Mark::Heat, format!("{unit}, shaded from 0 to the highest of each grid"))]
    };
    if cells().any(|cell| cell.clears()) {
        found.push((Mark::Frame, "the whole 95 % interval is at the line or above".to_owned()));
    }
    found
}

fn table(grids: &[Grid<'_>]) -> PlotTable {
    let names = ["target", "engine", "sample B", "block B", "depth", "MB/s", "of line, %", "note"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for grid in grids {
        for size in &grid.rows {
            for depth in &grid.depths {
                let Some(cell) = grid.cell(*size, *depth) else { continue };
                let figures = cell.figures();
                let share = figures.and_then(|figures| figures.of_line);
                let dash = || "-".to_owned();
                rows.push(vec![
                    cell.cell.target.clone(),
                    cell.engine_label(),
                    Size::Sample.of(cell).to_string(),
                    cell.cell.block_bytes.to_string(),
                    depth.to_string(),
                    figures.map_or_else(dash, |of| crate::number::three_digits(of.bps.mean / 1e6)),
                    share.map_or_else(dash, |share| crate::number::three_digits(share * 100.0)),
                    side::absent(cell).unwrap_or_default(),
                ]);
            }
        }
    }
    rows.dedup();
    PlotTable { columns: names.map(str::to_owned).to_vec(), rows }
}
