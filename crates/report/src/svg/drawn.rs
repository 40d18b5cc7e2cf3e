//! A plot as drawn, before it has its theme; and what several plots are laid out by.

use analysis::{CellSummary, Summary};

use super::margin;
use super::plan::{self, PanelPlan};
use super::sheet::{EDGE, LETTER_BY_SIZE, WIDTH};
use crate::plain::folded;
use crate::plot::PlotTable;

/// Letters of a line of a label in the margin.
pub(super) const LABEL_LETTERS: usize = 24;

/// A plot with sentinels for colours, and the table behind it.
pub(super) struct Drawn {
    /// Name of its file.
    pub(super) name: &'static str,
    /// What it shows, in words.
    pub(super) shown: &'static str,
    pub(super) svg: Result<String, String>,
    pub(super) table: PlotTable,
}

/// Left, top, width and height of panels in rows of `columns`, below `top`.
pub(super) fn places(count: usize, columns: i32, height: i32, top: i32) -> Vec<(i32, i32, i32, i32)> {
    let width = (WIDTH - 2 * EDGE) / columns;
    let place = |index: i32| (EDGE + index % columns * width, top + index / columns * height, width, height);
    (0..count as i32).map(place).collect()
}

/// Rows of panels.
pub(super) fn rows(count: usize, columns: i32) -> i32 {
    (count as i32 + columns - 1) / columns
}

/// The margin that labels need, and the height of the highest stack of them.
pub(super) fn margin_of<'a>(stacks: impl Iterator<Item = &'a [Vec<String>]> + Clone) -> (i32, i32) {
    let longest = stacks.clone().flatten().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let height =
        |stack: &[Vec<String>]| stack.iter().map(|lines| margin::height(lines)).sum::<f64>().ceil() as i32;
    ((longest as f64 * 12.0 * LETTER_BY_SIZE) as i32 + 30, stacks.map(height).max().unwrap_or(0))
}

/// Words in lines of a margin, broken behind commas where that is possible.
pub(super) fn packed(words: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in words.split(", ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + 2 <= LABEL_LETTERS => {
                line.push_str(", ");
                line.push_str(part);
            }
            Some(line) => {
                line.push(',');
                lines.extend(folded(part, LABEL_LETTERS));
            }
            None => lines.extend(folded(part, LABEL_LETTERS)),
        }
    }
    lines
}

/// The target of a cell by its title, marked where feedline started its server itself.
pub(super) fn target_title(summary: &Summary, target: &str) -> String {
    let known = summary.targets.iter().find(|known| known.name == target);
    let title = known.map_or(target, |known| known.title.as_str());
    let says_so = title.to_lowercase().contains("demo");
    if known.is_some_and(|known| known.demo && !says_so) {
        format!("{title} (DEMO)")
    } else {
        title.to_owned()
    }
}

/// Numbers of series: a target and engine have the same in every plot of a run.
pub(super) struct Numbers {
    panels: Vec<PanelPlan>,
    others: Vec<(String, String)>,
    next: usize,
}

impl Numbers {
    pub(super) fn of(summary: &Summary) -> Self {
        let panels = plan::panels(summary);
        let series = panels.iter().flat_map(|panel| &panel.series);
        let next = series.map(|series| series.number + 1).max().unwrap_or(0);
        Self { panels, others: Vec::new(), next }
    }

    /// The number of a cell's curve of throughput, else a further one for its target and engine.
    pub(super) fn number(&mut self, summary: &Summary, cell: &CellSummary) -> usize {
        let holds = |index: &usize| summary.cells[*index].cell.cell == cell.cell.cell;
        let mut series = self.panels.iter().flat_map(|panel| &panel.series);
        if let Some(series) = series.find(|series| series.curve.cells.iter().any(holds)) {
            return series.number;
        }
        let key = (cell.cell.target.clone(), cell.engine_label());
        let at = self.others.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.others.push(key);
            self.others.len() - 1
        });
        self.next + at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_break_behind_commas() {
        assert_eq!(packed("nvme, 1 reader, prefetch 0"), ["nvme, 1 reader,", "prefetch 0"]);
        assert_eq!(packed("a, b, c"), ["a, b, c"]);
        let long = packed("a name of a target that is far too long, 8 readers");
        assert!(long.iter().all(|line| line.chars().count() <= LABEL_LETTERS + 1), "{long:?}");
    }

    #[test]
    fn panels_stand_in_rows() {
        assert_eq!(places(3, 2, 100, 10)[2], (EDGE, 110, (WIDTH - 2 * EDGE) / 2, 100));
        assert_eq!((rows(3, 2), rows(2, 2), rows(1, 1)), (2, 1, 1));
    }
}
