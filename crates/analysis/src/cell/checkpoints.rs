//! Checkpoints: how fast they are written and read back, and what they take from the training beside them.

mod jobs;
#[cfg(test)]
mod tests;
mod timeline;
mod writes;

use feed::Operation;
use record::{Measure, Rep, Role, RunRecord};

pub(crate) use jobs::stall_share;

use crate::cell::lines::Lines;
use crate::cell::repetitions::Repetitions;
use crate::summary::{CellSummary, Summary};

pub use jobs::{CheckpointCost, CheckpointedJob, ReadsBeside, WithoutCheckpoints};
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
    let mut found = Checkpoints::default();
    for (index, cell) in cells.iter().enumerate() {
        let reps = used(lines, cell, measure);
        match cell.cell.operation.known() {
            Some(Operation::Checkpoint) => {
                found
                    .writes
                    .extend(Written::of(&reps).map(|written| CheckpointWrite { cell: index, written }));
            }
            Some(Operation::Restore) => found.restores.extend(Restore::of(index, cell)),
            _ => found.jobs.extend(jobs::of_cell(&record.run, cells, index, &reps)),
        }
    }
    found
}

/// What checkpoints do to the utilization, said beside the verdict of their target: jobs with them that miss what was asked
/// for where it rests on another, and the job without them where it rests on one with them.
pub(crate) fn tell_verdicts(summary: &mut Summary) {
    let Some(target_share) = summary.need.as_ref().ok().map(|need| need.utilization) else { return };
    for job in &summary.checkpoints.jobs {
        let Some((cell, au)) = summary.cells.get(job.cell).zip(job.au) else { continue };
        let Some(plan) = &cell.cell.checkpoint else { continue };
        let of_target = summary.verdicts.iter_mut().filter(|verdict| verdict.target == cell.cell.target);
        for verdict in of_target {
            if verdict.cell.as_ref() == Some(&cell.cell.cell) {
                let without = job.without.map(|job| format!("; without them AU {} %", percent(job.au.mean)));
                verdict.unreached.push(format!("judged {}{}", with(plan), without.unwrap_or_default()));
            } else if au.mean < target_share {
                verdict.unreached.push(format!("not {}: AU {} %", with(plan), percent(au.mean)));
            }
        }
    }
}

/// `with sync checkpoints every 20 steps (llama3-8b, 1/64 of it)`.
fn with(plan: &record::CheckpointPlan) -> String {
    let every = plan.every_steps.map(|steps| format!(" every {}", feed::counted_noun(steps, "step")));
    format!("with {} checkpoints{} ({})", plan.mode, every.unwrap_or_default(), plan.label)
}

/// Tenths, cut and not rounded: 89.96 is not 90.
fn percent(share: f64) -> String {
    format!("{:.1}", (share * 1000.0).floor() / 10.0)
}

fn used<'a>(lines: &Lines<'a>, cell: &CellSummary, measure: &Measure) -> Vec<&'a Rep> {
    Repetitions::of(lines.of_cell(&cell.cell.cell), &cell.cell, Role::Measure, measure).used
}
