//! Cells of a target that a need of checkpoints is judged by.

use feed::{CheckpointNeed, Operation, SaveKind};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;

/// The cells by which checkpoints of a target are judged. None is chosen by its figures: there is one of each.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Saving<'a> {
    /// The cell whose saves are timed.
    pub(crate) writes: Option<&'a CellSummary>,
    /// The cell that reads one back; absent where nobody asks for it.
    pub(crate) restores: Option<&'a CellSummary>,
}

impl<'a> Saving<'a> {
    /// Those of `target`, whose reads are judged by `reads`. Neither where no checkpoint is asked for, or none was written there.
    pub(crate) fn of(cells: &Cells<'a>, target: &str, reads: Option<&'a CellSummary>) -> Self {
        let Some(need) = cells.need.as_ref().ok().and_then(|need| need.checkpoint.as_ref()) else {
            return Self::default();
        };
        let does = |operation: Operation| {
            cells.all.iter().find(|cell| cell.cell.target == target && cell.cell.operation == operation)
        };
        let alone = does(Operation::Checkpoint);
        // Both at once is what a storage has to bear where accelerators go on meanwhile.
        let beside = reads.filter(|cell| alone.is_some() && saves_as_asked(need, cell));
        Self {
            writes: beside.or(alone),
            restores: does(Operation::Restore).filter(|_| need.restore_within_ns.is_some()),
        }
    }

    /// Both.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a CellSummary> {
        self.writes.into_iter().chain(self.restores)
    }
}

/// Whether a cell plays a job that goes on while its checkpoints are written, as the need has it.
pub(crate) fn saves_as_asked(need: &CheckpointNeed, cell: &CellSummary) -> bool {
    let mode = cell.cell.checkpoint.as_ref().filter(|_| cell.cell.training.is_some()).map(|plan| &plan.mode);
    need.kind == SaveKind::Async && mode.is_some_and(|mode| mode == SaveKind::Async.name())
}
