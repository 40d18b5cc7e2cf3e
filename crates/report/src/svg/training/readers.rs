//! Utilization by the way of fetching and the prefetch: a grid for each target, with the figure in every cell.

use analysis::{CellSummary, Measurement, Summary};
use plotters::style::text_anchor::HPos;

use super::super::key::{self, Mark};
use super::super::marker::{self, Canvas, Refusal};
use super::super::sheet::{EDGE, WIDTH, side_by_side, text};
use super::super::theme::Ink;
use super::{shared_but_accelerators, sheet, target};
use crate::number::cut_percent;
use crate::plain::{folded, shortened};
use crate::side;
use crate::training::{Job, cells, fetch, jobs};

/// Width and height of a cell of a grid.
const CELL: (i32, i32) = (84, 46);
/// Room for the names of rows.
const ROW_NAMES: i32 = 104;
/// Height of a line of the title, and of the names of columns with their heading.
const TITLE_LINE: i32 = 18;
const COLUMN_NAMES: i32 = 44;
/// Between grids.
const GAP: i32 = 28;
/// Columns of a grid; one with more goes on below.
const COLUMNS_MAX: usize = 10;

/// A grid of the cells of one target that differ in fetch and prefetch alone.
struct Grid<'a> {
    title: Vec<String>,
    /// Readers of each accelerator, or the depth that reads share.
    rows: Vec<Way>,
    prefetch: Vec<u32>,
    cells: Vec<&'a CellSummary>,
}

/// A way of fetching, in the order of rows: readers first, then a depth that is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Readers(u32),
    Shared(u32),
}

impl Way {
    fn of(cell: &CellSummary) -> Self {
        let readers = cell.cell.training.as_ref().and_then(|plan| plan.readers);
        readers.map_or(Self::Shared(cell.cell.queue_depth), Self::Readers)
    }
}

/// Draws the figure; `None` where neither the readers nor the prefetch of any job were varied.
pub(super) fn draw(summary: &Summary) -> Option<Result<String, String>> {
    let grids = grids(summary);
    if grids.is_empty() {
        return None;
    }
    let sheet =
        sheet(summary, "utilization by readers and prefetch", shared_but_accelerators(&jobs(summary)));
    let (places, height) = side_by_side(grids.iter().map(Grid::size), GAP);
    let key = key::flow(entries(&grids), WIDTH - 2 * EDGE);
    Some(sheet.drawn(height, &key, |canvas, top| {
        for (grid, (x, y)) in grids.iter().zip(&places) {
            grid.draw(canvas, (EDGE + x, top + y))?;
        }
        Ok(())
    }))
}

fn grids(summary: &Summary) -> Vec<Grid<'_>> {
    let all = cells(summary);
    let any_storage = all.iter().any(|cell| cell.storage);
    let mut groups: Vec<Vec<&CellSummary>> = Vec::new();
    for cell in all.into_iter().filter(|cell| cell.storage == any_storage) {
        match groups.iter_mut().find(|group| belongs(group, cell)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.retain(|group| is_varied(group) && group.iter().any(|cell| Job::measured(cell).is_some()));
    let firsts: Vec<&CellSummary> = groups.iter().map(|group| group[0]).collect();
    groups.iter().flat_map(|group| Grid::of(group, &title(summary, group[0], &firsts))).collect()
}

/// Whether a cell differs from those of a group in fetch and prefetch alone, and has a place of its own.
fn belongs(group: &[&CellSummary], cell: &CellSummary) -> bool {
    let same = |a: &CellSummary, b: &CellSummary| {
        let plan = |cell: &CellSummary| {
            cell.cell.training.clone().map(|plan| record::Training {
                fetch: String::new(),
                readers: None,
                prefetch: 0,
                ..plan
            })
        };
        plan(a) == plan(b)
            && a.cell.target == b.cell.target
            && a.engine_label() == b.engine_label()
            && (a.cell.dataset, &a.cell.operation, a.cell.block_bytes, &a.cell.access, &a.cell.cache)
                == (b.cell.dataset, &b.cell.operation, b.cell.block_bytes, &b.cell.access, &b.cell.cache)
    };
    let is_place =
        |other: &&CellSummary| (Way::of(other), prefetch(other)) == (Way::of(cell), prefetch(cell));
    same(group[0], cell) && !group.iter().any(is_place)
}

/// Whether readers or prefetch vary: readers beside reads that share a depth are no grid.
fn is_varied(group: &[&CellSummary]) -> bool {
    let differs = |get: fn(&CellSummary) -> Option<u32>| {
        let mut values = group.iter().filter_map(|cell| get(cell));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    differs(|cell| Some(prefetch(cell))) || differs(|cell| cell.cell.training.as_ref()?.readers)
}

fn prefetch(cell: &CellSummary) -> u32 {
    cell.cell.training.as_ref().map_or(0, |plan| plan.prefetch)
}

impl<'a> Grid<'a> {
    /// One grid, or several below each other where there are many columns.
    fn of(group: &[&'a CellSummary], title: &str) -> Vec<Self> {
        let mut rows: Vec<Way> = group.iter().map(|cell| Way::of(cell)).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut columns: Vec<u32> = group.iter().map(|cell| prefetch(cell)).collect();
        columns.sort_unstable();
        columns.dedup();
        let part = |prefetch: &[u32]| {
            let width = ROW_NAMES + prefetch.len() as i32 * CELL.0;
            Self {
                title: folded(title, (f64::from(width) / 7.3) as usize),
                rows: rows.clone(),
                prefetch: prefetch.to_vec(),
                cells: group.to_vec(),
            }
        };
        columns.chunks(COLUMNS_MAX).map(part).collect()
    }

    fn size(&self) -> (i32, i32) {
        let above = self.title.len() as i32 * TITLE_LINE + COLUMN_NAMES;
        (ROW_NAMES + self.prefetch.len() as i32 * CELL.0, above + self.rows.len() as i32 * CELL.1)
    }

    fn draw(&self, canvas: &Canvas<'_>, (x, y): (i32, i32)) -> Result<(), Refusal> {
        for (number, words) in (0_i32..).zip(&self.title) {
            text(canvas, words, (x, y + 8 + number * TITLE_LINE), (13.0, Ink::Text, HPos::Left))?;
        }
        let y = y + self.title.len() as i32 * TITLE_LINE;
        let left = x + ROW_NAMES;
        let middle = left + self.prefetch.len() as i32 * CELL.0 / 2;
        text(canvas, "prefetch", (middle, y + 12), (12.0, Ink::Muted, HPos::Center))?;
        for (column, prefetch) in (0_i32..).zip(&self.prefetch) {
            let at = (left + column * CELL.0 + CELL.0 / 2, y + 32);
            text(canvas, &prefetch.to_string(), at, (12.0, Ink::Muted, HPos::Center))?;
        }
        let y = y + COLUMN_NAMES;
        for (row, way) in (0_i32..).zip(&self.rows) {
            let top = y + row * CELL.1;
            let words = self.cells.iter().find(|cell| Way::of(cell) == *way).map(|cell| fetch(cell));
            let at = (left - 10, top + CELL.1 / 2);
            let words = shortened(&words.unwrap_or_default(), 13);
            text(canvas, &words, at, (12.0, Ink::Muted, HPos::Right))?;
            for (column, ahead) in (0_i32..).zip(&self.prefetch) {
                let cell = self.cells.iter().find(|cell| Way::of(cell) == *way && prefetch(cell) == *ahead);
                draw_cell(canvas, cell.copied(), (left + column * CELL.0, top))?;
            }
        }
        Ok(())
    }
}

/// Target and engine, accelerators, and what else tells a grid apart from others.
fn title(summary: &Summary, cell: &CellSummary, firsts: &[&CellSummary]) -> String {
    let accelerators = cell.cell.training.as_ref().map_or(0, |plan| plan.accelerators);
    let parts = [
        target(summary, cell),
        cell.engine_label(),
        feed::counted_noun(accelerators.into(), "accelerator"),
        side::apart(cell, firsts),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn entries(grids: &[Grid<'_>]) -> Vec<(Mark, String)> {
    let jobs = || grids.iter().flat_map(|grid| &grid.cells).filter_map(|cell| Job::measured(cell));
    let mut found =
        vec![(Mark::Heat, "AU %, the mean, from 0 to 100; below it its 95 % interval".to_owned())];
    if jobs().any(|job| job.clears()) {
        found.push((Mark::Frame, "the whole interval is at the threshold or above".to_owned()));
    }
    found
}

/// A figure with its interval below it, or why there is none.
fn draw_cell(canvas: &Canvas<'_>, cell: Option<&CellSummary>, (x, y): (i32, i32)) -> Result<(), Refusal> {
    let (middle, centre) = (x + CELL.0 / 2, y + CELL.1 / 2);
    let absent = |words: &str| text(canvas, words, (middle, centre), (11.0, Ink::Muted, HPos::Center));
    let Some(cell) = cell else { return Ok(()) };
    let Some(job) = Job::measured(cell) else {
        return absent(if matches!(cell.measured, Measurement::NotRun { .. }) {
            "not run"
        } else {
            "failed"
        });
    };
    let corners = ((x + 1, y + 1), (x + CELL.0 - 1, y + CELL.1 - 1));
    let au = &job.training.au;
    marker::block(canvas, corners, Ink::Series(0), marker::heat(au.mean))?;
    if job.clears() {
        marker::frame(canvas, ((x + 2, y + 2), (x + CELL.0 - 2, y + CELL.1 - 2)))?;
    }
    let Some(interval) = au.interval else {
        return text(canvas, &cut_percent(au.mean), (middle, centre), (14.0, Ink::Text, HPos::Center));
    };
    text(canvas, &cut_percent(au.mean), (middle, centre - 8), (14.0, Ink::Text, HPos::Center))?;
    let words = format!("{}-{}", cut_percent(interval.low), cut_percent(interval.high));
    text(canvas, &words, (middle, centre + 11), (10.5, Ink::Text, HPos::Center))
}
