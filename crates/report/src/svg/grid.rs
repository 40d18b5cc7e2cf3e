//! Grids: a shaded cell for each row and column, with its figure in it.

use std::collections::BTreeSet;

use analysis::{CellSummary, Measurement, Summary};
use record::axis::{Axis, Groups, alike, others};

use super::chart::{Mark, PlotPanel};
use super::scale::Scale;
use super::sign::heat;
use super::theme::Ink;

/// Width and height of a cell, pixels.
const CELL: (i32, i32) = (74, 44);
/// Least width of a grid: its title and the words of its columns need room.
const WIDTH_MIN: i32 = 190;
/// Half the width and height of a shade, and of the frame inside of it, by those of a cell.
const SHADE: f64 = 0.485;
const FRAME: f64 = 0.46;

/// What stands in a cell.
pub(super) struct Shade {
    /// How dark it is, 0 to 1; not at all where nothing was measured.
    pub(super) share: Option<f64>,
    pub(super) is_framed: bool,
    pub(super) words: String,
    /// In smaller letters.
    pub(super) below: Option<String>,
}

impl Shade {
    /// Of a cell without figures: why.
    pub(super) fn absent(cell: &CellSummary) -> Self {
        let not_run = matches!(cell.measured, Measurement::NotRun { .. });
        let words = if not_run { "not run" } else { "failed" }.to_owned();
        Self { share: None, is_framed: false, words, below: None }
    }

    fn marks(self, (x, y): (f64, f64)) -> Vec<Mark> {
        let around = |half: f64| ((x - half, y - half), (x + half, y + half));
        let Some(share) = self.share else { return vec![Mark::words((x, y), self.words, 11.0, Ink::Muted)] };
        let mut marks = vec![Mark::Boxes(vec![around(SHADE)], Ink::Series(0), heat(share))];
        if self.is_framed {
            let (from, to) = around(FRAME);
            marks.push(Mark::Frame(from, to));
        }
        let words_y = if self.below.is_some() { y + 0.18 } else { y };
        marks.push(Mark::words((x, words_y), self.words, 13.0, Ink::Text));
        marks.extend(self.below.map(|words| Mark::words((x, y - 0.23), words, 10.5, Ink::Text)));
        marks
    }
}

/// A grid of named rows and columns; `shade` says what stands in the cell of a row and a column.
pub(super) fn panel(
    title: &str,
    (rows, row_words): (Vec<String>, &str),
    (columns, column_words): (Vec<String>, &str),
    shade: impl Fn(usize, usize) -> Option<Shade>,
) -> PlotPanel {
    let (height, width) = (rows.len() as i32 * CELL.1, columns.len() as i32 * CELL.0);
    let places = (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |column| (row, column)));
    let of_place = |(row, column): (usize, usize)| {
        let shade = shade(row, column)?;
        Some(shade.marks((column as f64, -(row as f64))))
    };
    let marks = places.filter_map(of_place).flatten().collect();
    let scales = (Scale::names(columns, column_words), Scale::rows(rows, row_words));
    let panel = PlotPanel::new(vec![title.to_owned()], scales, height, marks);
    PlotPanel { width: Some(width.max(WIDTH_MIN)), ..panel }
}

/// Cells in groups, each begun by a cell that belongs to none before: cells of one differ along the axes `but` alone, belong to
/// its first, and have a `place` each.
pub(super) fn groups<'a, P: Ord>(
    summary: &Summary,
    cells: impl Iterator<Item = &'a CellSummary>,
    but: &[Axis],
    belongs: impl Fn(&CellSummary, &CellSummary) -> bool,
    place: impl Fn(&CellSummary) -> P,
) -> Vec<Vec<&'a CellSummary>> {
    let (mut groups, mut taken) = (Vec::<Vec<&CellSummary>>::new(), Vec::<BTreeSet<P>>::new());
    let mut known = Groups::along(others(but));
    for cell in cells {
        let own = place(cell);
        let is_of = |at: usize| {
            let first = groups[at][0];
            !taken[at].contains(&own) && alike(summary, &first.cell, &cell.cell, but) && belongs(first, cell)
        };
        let at = known.place(summary, &cell.cell, is_of);
        if at == groups.len() {
            groups.push(Vec::new());
            taken.push(BTreeSet::new());
        }
        groups[at].push(cell);
        taken[at].insert(own);
    }
    groups
}
