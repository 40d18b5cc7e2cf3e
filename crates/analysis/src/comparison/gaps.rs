//! What could not be compared, as it is found.

use record::Cell;

use super::{CellSample, Lost, Uncompared, UncomparedReason};

/// Gaps in the order in which they were found, and cells that were lost.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    pub(super) found: Vec<Uncompared>,
    pub(super) lost: Vec<Lost>,
}

impl Gaps {
    /// A gap of a cell, or of a run of the baseline.
    pub(super) fn of(&mut self, name: &str, reason: UncomparedReason) {
        self.found.push(Uncompared::Of { name: name.to_owned(), reason });
    }

    /// A cell that had figures before and has none after. Depths that a search left out are none.
    pub(super) fn lose(&mut self, cell: &Cell, after: &CellSample) {
        if cell.auto_group.is_none() {
            let (name, target) = (cell.cell.clone(), cell.target.clone());
            self.lost.push(Lost {
                cell: name,
                target,
                failed: after.failed,
                reasons: after.excluded.clone(),
            });
        }
    }
}
