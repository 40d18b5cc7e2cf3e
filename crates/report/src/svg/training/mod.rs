//! Training jobs as plots: what an accelerator did over time, utilization by accelerators and by the way of fetching,
//! and how long steps waited.

mod accelerators;
mod readers;
mod tables;
mod timeline;
mod waits;

use analysis::{CellSummary, Summary};

use super::drawn::{Drawn, packed};
use super::sheet::{SUBTITLE_SIZE, Sheet, columns_of};
use super::{RenderError, wording};
use crate::plot::{Plot, PlotTable};
use crate::side;
use crate::training::{Job, chosen, is_demo, jobs};

/// Jobs up to which a plot shows each of them; beyond, one of each target.
const JOBS_MAX: usize = 8;

/// The plots of the training jobs of a run, without those that would show nothing: `training-timeline`,
/// `training-accelerators` where their number was varied, `training-readers` where readers or prefetch were, and
/// `training-waits`. Empty for a run that played no training job.
pub fn training_svgs(summary: &Summary) -> Result<Vec<Plot>, RenderError> {
    let drawn = [
        (
            "training-timeline",
            "the first steps of one accelerator",
            timeline::draw(summary),
            tables::timeline as Table,
        ),
        (
            "training-accelerators",
            "utilization by accelerators",
            accelerators::draw(summary),
            tables::utilization,
        ),
        (
            "training-readers",
            "utilization by readers and prefetch",
            readers::draw(summary),
            tables::utilization,
        ),
        ("training-waits", "how long steps waited for their batch", waits::draw(summary), tables::waits),
    ];
    let plot = |(name, shown, svg, table): (_, _, Option<Result<String, String>>, Table)| {
        Some(super::finished(summary, Drawn { name, shown, svg: svg?, table: table(summary) }))
    };
    drawn.into_iter().filter_map(plot).collect()
}

/// The figures behind a plot.
type Table = fn(&Summary) -> PlotTable;

/// Title, need, what all jobs shown share, run and machine.
fn sheet(summary: &Summary, shown: &str, conditions: Vec<String>) -> Sheet {
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, shown), &lines)
}

/// The settings that all jobs share; none where they do not.
fn shared_settings(jobs: &[Job<'_>]) -> Vec<String> {
    shared(jobs, Job::settings)
}

/// The same without the number of accelerators.
fn shared_but_accelerators(jobs: &[Job<'_>]) -> Vec<String> {
    shared(jobs, Job::step_settings)
}

fn shared<'a>(jobs: &[Job<'a>], get: fn(&Job<'a>) -> String) -> Vec<String> {
    let first = jobs.first().map(get);
    first.into_iter().filter(|first| jobs.iter().all(|job| get(job) == *first)).collect()
}

/// The jobs that a plot of single jobs shows, and a line that says so where some are left out.
fn shown(summary: &Summary) -> (Vec<Job<'_>>, Option<String>) {
    let all = jobs(summary);
    if all.len() <= JOBS_MAX {
        return (all, None);
    }
    let words = format!("one job of each target, of {}", all.len());
    (chosen(summary), Some(words))
}

/// The target of a cell, marked where feedline started its server itself.
fn target(summary: &Summary, cell: &CellSummary) -> String {
    let name = &cell.cell.target;
    if is_demo(summary, cell) { format!("{name} (DEMO)") } else { name.clone() }
}

/// What a job is called among others: target, engine and settings as far as they differ.
fn name(summary: &Summary, job: &Job<'_>, among: &[Job<'_>]) -> Vec<String> {
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
        Some(side::apart(job.cell, &cells)),
    ];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
}

/// The same in lines of a margin.
fn label(summary: &Summary, job: &Job<'_>, among: &[Job<'_>]) -> Vec<String> {
    packed(&name(summary, job, among).join(", "))
}
