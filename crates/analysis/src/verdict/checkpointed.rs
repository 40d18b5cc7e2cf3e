//! What checkpoints do to the utilization, beside a verdict.

use super::Verdict;
use super::source::Source;
use super::unreached::Unreached;
use crate::cell::checkpoints::CheckpointedJob;

/// Jobs with checkpoints that miss what was asked for where the verdict rests on another cell, and the job without them where
/// it rests on one with them.
pub(super) fn beside(source: &Source<'_>, verdict: &Verdict) -> Vec<Unreached> {
    let Some(target_share) = source.cells.need.as_ref().ok().map(|need| need.utilization) else {
        return Vec::new();
    };
    let of_job = |job: &CheckpointedJob| {
        let (cell, au) = source.cells.all.get(job.cell).zip(job.au)?;
        let plan = cell.cell.checkpoint.clone().filter(|_| cell.cell.target == verdict.target)?;
        if verdict.cell.as_ref() == Some(&cell.cell.cell) {
            let without_au = job.without.map(|job| job.au.mean);
            return Some(Unreached::JudgedWithCheckpoints { plan, without_au });
        }
        (au.mean < target_share).then_some(Unreached::WithCheckpoints { plan, au: au.mean })
    };
    source.checkpoints.jobs.iter().filter_map(of_job).collect()
}
