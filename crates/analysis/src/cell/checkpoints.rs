//! Checkpoints: how fast they are written and read back, and what they take from the training beside them.

mod jobs;
#[cfg(test)]
mod tests;
mod timed;
mod timeline;
mod writes;

use feed::Operation;
use record::{Measure, Rep, Role, RunRecord};

pub(crate) use jobs::stall_share;

use crate::cell::cell_summary::CellSummary;
use crate::cell::lines::Lines;
use crate::cell::repetitions::Repetitions;

pub use jobs::{CheckpointCost, CheckpointedJob, ReadsBeside, WithoutCheckpoints};
pub use timed::Timed;
pub use timeline::{CheckpointSpan, CheckpointTimeline};
pub use writes::{Outcomes, Restore, Written};

/// The checkpoints of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checkpoints {
    /// Cells that write checkpoints and do nothing else.
    pub writes: Vec<CheckpointWrite>,
    /// Cells that read them back.
    pub restores: Vec<Restore>,
    /// Training jobs that make checkpoints beside their reads.
    pub jobs: Vec<CheckpointedJob>,
    /// Bytes that all checkpoints of the run wrote, whatever became of them.
    pub written_bytes: u64,
}

impl Checkpoints {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.restores.is_empty() && self.jobs.is_empty()
    }
}

/// A cell that writes checkpoints one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointWrite {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// What became of them, and how fast they were.
    pub written: Written,
}

pub(crate) fn of_run(record: &RunRecord, lines: &Lines<'_>, cells: &[CellSummary]) -> Checkpoints {
    let measure = &record.run.measure;
    let plain = jobs::plain(&record.run, cells);
    let mut found = Checkpoints::default();
    for (index, cell) in cells.iter().enumerate() {
        let reps = used(lines, cell, measure);
        let all = lines.of_cell(&cell.cell.cell).iter().flat_map(|rep| &rep.checkpoints);
        found.written_bytes =
            all.map(|checkpoint| checkpoint.bytes).fold(found.written_bytes, u64::saturating_add);
        match cell.cell.operation.known() {
            Some(Operation::Checkpoint) => {
                found
                    .writes
                    .extend(Written::of(&reps).map(|written| CheckpointWrite { cell: index, written }));
            }
            Some(Operation::Restore) => found.restores.extend(Restore::of(index, cell)),
            _ => found.jobs.extend(jobs::of_cell(&record.run, cells, &plain, (index, &reps))),
        }
    }
    found
}

fn used<'a>(lines: &Lines<'a>, cell: &CellSummary, measure: &Measure) -> Vec<&'a Rep> {
    Repetitions::of(lines.of_cell(&cell.cell.cell), &cell.cell, Role::Measure, measure).used
}
