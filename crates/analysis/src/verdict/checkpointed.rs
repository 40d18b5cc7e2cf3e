//! What checkpoints do to the utilization, said beside a verdict.

use super::Verdict;
use super::source::Source;
use crate::cell::checkpoints::CheckpointedJob;

/// Jobs with checkpoints that miss what was asked for where the verdict rests on another cell, and the job without them where
/// it rests on one with them.
pub(super) fn beside(source: &Source<'_>, verdict: &Verdict) -> Vec<String> {
    let Some(target_share) = source.cells.need.as_ref().ok().map(|need| need.utilization) else {
        return Vec::new();
    };
    let of_job = |job: &CheckpointedJob| {
        let (cell, au) = source.cells.all.get(job.cell).zip(job.au)?;
        let plan = cell.cell.checkpoint.as_ref().filter(|_| cell.cell.target == verdict.target)?;
        if verdict.cell.as_ref() == Some(&cell.cell.cell) {
            let without = job.without.map(|job| format!("; without them AU {} %", percent(job.au.mean)));
            return Some(format!("judged {}{}", with(plan), without.unwrap_or_default()));
        }
        (au.mean < target_share).then(|| format!("not {}: AU {} %", with(plan), percent(au.mean)))
    };
    source.checkpoints.jobs.iter().filter_map(of_job).collect()
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
