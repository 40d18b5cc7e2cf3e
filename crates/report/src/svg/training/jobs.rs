//! Which jobs a plot shows, and what they are called in it.

use analysis::{CellSummary, Summary};

use super::super::chart::packed;
use crate::side::Apart;
use crate::training::{Job, chosen, is_demo, jobs};

/// Jobs up to which a plot shows each of them; beyond, one of each target.
// As many lanes and curves as colours: more of them are told apart by nobody.
const JOBS_MAX: usize = 8;

/// The settings that all jobs share; none where they do not.
pub(super) fn shared_settings(jobs: &[Job<'_>]) -> Vec<String> {
    shared(jobs, Job::settings)
}

/// The same without the number of accelerators.
pub(super) fn shared_but_accelerators(jobs: &[Job<'_>]) -> Vec<String> {
    shared(jobs, Job::step_settings)
}

fn shared<'a>(jobs: &[Job<'a>], get: fn(&Job<'a>) -> String) -> Vec<String> {
    let first = jobs.first().map(get);
    // All or none: settings that hold for some would be taken for those of all.
    first.into_iter().filter(|first| jobs.iter().all(|job| get(job) == *first)).collect()
}

/// The jobs that a plot of single jobs shows, and a line that says so where some are left out.
pub(super) fn shown(summary: &Summary) -> (Vec<Job<'_>>, Option<String>) {
    let all = jobs(summary);
    if all.len() <= JOBS_MAX {
        return (all, None);
    }
    let words = format!("one job of each target, of {}", all.len());
    (chosen(summary), Some(words))
}

/// The target of a cell, marked where feedline started its server itself.
pub(super) fn target(summary: &Summary, cell: &CellSummary) -> String {
    let name = &cell.cell.target;
    if is_demo(summary, cell) { format!("{name} (DEMO)") } else { name.clone() }
}

/// What a job is called among others: target, engine and settings as far as they differ.
pub(super) fn name(summary: &Summary, job: &Job<'_>, among: &[Job<'_>]) -> Vec<String> {
    let cells: Vec<&CellSummary> = among.iter().map(|job| job.cell).collect();
    let differs = |get: fn(&Job<'_>) -> String| among.iter().any(|other| get(other) != get(job));
    let engine: fn(&Job<'_>) -> String = |job| job.cell.engine_label();
    let accelerators: fn(&Job<'_>) -> String =
        |job| feed::counted_noun(job.plan.accelerators.into(), "accelerator");
    let of_way = |get: fn(&Job<'_>) -> String| differs(get).then(|| get(job));
    let parts = [
        Some(target(summary, job.cell)),
        of_way(engine),
        of_way(accelerators),
        Some(job.way()),
        Some(Apart::among(&cells).words(job.cell)),
    ];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
}

/// The same in lines of a margin.
pub(super) fn label(summary: &Summary, job: &Job<'_>, among: &[Job<'_>]) -> Vec<String> {
    packed(&name(summary, job, among).join(", "))
}
