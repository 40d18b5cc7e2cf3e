//! What could not be compared, told once for all cells that share the reason.

use record::Cell;

use super::{CellSample, Lost};

/// Cells that are named before the rest is counted.
const NAMED: usize = 3;

/// Gaps by their reason, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    told: Vec<(String, Vec<String>)>,
    lost: Vec<Lost>,
}

impl Gaps {
    /// A gap that is no cell's.
    pub(super) fn say(&mut self, words: String) {
        self.told.push((words, Vec::new()));
    }

    /// A gap of one cell.
    pub(super) fn of_cell(&mut self, cell: &str, reason: impl Into<String>) {
        let reason = reason.into();
        match self.told.iter_mut().find(|(known, cells)| *known == reason && !cells.is_empty()) {
            Some((_, cells)) => cells.push(cell.to_owned()),
            None => self.told.push((reason, vec![cell.to_owned()])),
        }
    }

    /// `a, b, c and 7 more: not in the run before`.
    pub(super) fn words(&self) -> Vec<String> {
        self.told.iter().map(|(reason, cells)| named(cells, reason)).collect()
    }

    /// A cell that had figures before and has none after. Depths that a search left out are none.
    pub(super) fn lose(&mut self, cell: &Cell, after: &CellSample) {
        if cell.auto_group.is_none() {
            let reason = after.excluded.clone().unwrap_or_default();
            let (name, target) = (cell.cell.clone(), cell.target.clone());
            self.lost.push(Lost { cell: name, target, failed: after.failed, reason });
        }
    }

    /// Cells that were lost.
    pub(super) fn lost(self) -> Vec<Lost> {
        self.lost
    }
}

fn named(cells: &[String], reason: &str) -> String {
    match cells {
        [] => reason.to_owned(),
        _ if cells.len() <= NAMED => format!("{}: {reason}", cells.join(", ")),
        _ => format!("{} and {} more: {reason}", cells[..NAMED].join(", "), cells.len() - NAMED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_one_reason_are_told_together_and_counted_from_the_fourth_on() {
        let mut gaps = Gaps::default();
        gaps.say("nothing ran".to_owned());
        for cell in ["a", "b", "c", "d", "e"] {
            gaps.of_cell(cell, "no figures");
        }
        gaps.of_cell("a", "other settings");
        assert_eq!(gaps.words(), ["nothing ran", "a, b, c and 2 more: no figures", "a: other settings"]);
    }
}
