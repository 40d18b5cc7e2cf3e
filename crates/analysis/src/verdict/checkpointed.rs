//! What checkpoints do to the utilization, beside a verdict.

use feed::Judgement;

use super::cause::Cause;
use super::read_verdict::ReadVerdict;
use super::source::Source;
use super::unreached::Unreached;
use crate::cell::cell_summary::CellSummary;
use crate::cell::checkpoints::CheckpointedJob;

/// Jobs with checkpoints that miss what was asked for where the verdict on `target` rests on another cell, and the job without
/// them where it rests on one with them.
pub(super) fn beside(source: &Source<'_>, target: &str, verdict: &ReadVerdict) -> Vec<Unreached> {
    let Some(target_share) = source.cells.need.as_ref().ok().map(|need| need.utilization) else {
        return Vec::new();
    };
    let of_job = |job: &CheckpointedJob| {
        let (cell, au) = source.cells.all.get(job.cell).zip(job.au)?;
        let plan = cell.cell.checkpoint.clone().filter(|_| cell.cell.target == target)?;
        if verdict.cell.as_ref() == Some(&cell.cell.cell) {
            let without_au = job.without.map(|job| job.au.mean);
            return Some(Unreached::JudgedWithCheckpoints { plan, without_au });
        }
        (au.mean < target_share).then_some(Unreached::WithCheckpoints { plan, au: au.mean })
    };
    source.checkpoints.jobs.iter().filter_map(of_job).collect()
}

/// A job that saves more often than the need has it may starve for that alone: then nothing is said where the same job
/// without checkpoints reaches its target.
pub(super) fn at_their_pace(source: &Source<'_>, cell: &CellSummary, verdict: ReadVerdict) -> ReadVerdict {
    let of_need = source.cells.need.as_ref().ok();
    let asked = of_need.and_then(|need| Some((need.utilization, need.checkpoint.as_ref()?)));
    let Some((target_share, asked)) = asked.filter(|_| verdict.judgement == Judgement::Starves) else {
        return verdict;
    };
    let is_own = |job: &&CheckpointedJob| {
        source.cells.all.get(job.cell).is_some_and(|one| one.cell.cell == cell.cell.cell)
    };
    let job = source.checkpoints.jobs.iter().find(is_own);
    let without_au = job.and_then(|job| job.without).map(|without| without.au.mean);
    let is_as_rare = saved_every_ns(cell).zip(asked.every_ns).is_some_and(|(saved, asked)| saved >= asked);
    match without_au {
        Some(without_au) if without_au >= target_share && !is_as_rare => ReadVerdict {
            judgement: Judgement::Uncertain,
            cause: Cause::SavesTooOften { without_au },
            ..verdict
        },
        _ => verdict,
    }
}

/// Time from one due checkpoint of a job to the next, if it never waits.
fn saved_every_ns(cell: &CellSummary) -> Option<u64> {
    let steps = cell.cell.checkpoint.as_ref()?.every_steps?;
    Some(steps.saturating_mul(cell.cell.training.as_ref()?.compute_ns))
}
