//! From a job whose accelerators wait most, one setting after another is changed, and each gains over what was there before.

use record::axis::{self, Axis, agree};

use crate::cell::cell_summary::CellSummary;
use crate::summary::Summary;

// The figures of two settings are a table of two sides, which says more than a path through it.
/// Settings that make a ladder, at least.
const SETTINGS_MIN: usize = 3;

/// Which setting is changed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LadderOrder {
    /// That which gains most.
    MostFirst,
    /// That which gains least.
    LeastFirst,
}

/// A job, and what was changed to come to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rung {
    /// Its place among the cells of the summary.
    pub cell: usize,
    /// The setting in which it differs from the one before it, and its utilization by that one's; absent of the first.
    pub step: Option<(Axis, f64)>,
}

/// Jobs of which each differs from the one before it in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    /// How the settings were chosen.
    pub order: LadderOrder,
    /// From the first of the jobs that wait most to one in which every setting was changed once.
    pub rungs: Vec<Rung>,
}

/// A measured job.
#[derive(Clone, Copy)]
struct Job<'a> {
    place: usize,
    cell: &'a CellSummary,
    au: f64,
    /// The interval of its utilization, or the mean where it has none.
    span: (f64, f64),
}

/// The first, in the order of the scenario, of those that cannot be told apart from the job that waits most.
// The lowest mean of some that are alike is chance, and people write the plain loader first.
fn start<'a>(jobs: &[Job<'a>]) -> Option<Job<'a>> {
    let lowest = jobs.iter().copied().reduce(|a, b| if b.au < a.au { b } else { a })?;
    jobs.iter().copied().find(|job| job.span.0 <= lowest.span.1)
}

/// Ladders through the jobs of a run: those that gain most and least first; one where both are the same.
///
/// None where fewer than three settings were varied, where jobs differ in others besides, or where a job on the way has no figures.
pub fn ladders<'a>(summary: &'a Summary) -> Vec<Ladder> {
    let job = |(place, cell): (usize, &'a CellSummary)| {
        let au = cell.figures()?.training.as_ref()?.au;
        let span = au.interval.map_or((au.mean, au.mean), |interval| (interval.low, interval.high));
        // Of nothing there is no gain.
        (cell.storage && au.mean > 0.0).then_some(Job { place, cell, au: au.mean, span })
    };
    let mut jobs: Vec<Job<'_>> = summary.cells.iter().enumerate().filter_map(job).collect();
    let Some(first) = start(&jobs) else { return Vec::new() };
    let at = |a: &Job<'_>, b: &Job<'_>, axes: &[Axis]| agree(summary, &a.cell.cell, &b.cell.cell, axes);
    jobs.retain(|job| at(&first, job, axis::LOAD));
    let is_varied = |axis: &Axis| jobs.iter().any(|job| !at(&first, job, &[*axis]));
    let settings: Vec<Axis> = axis::STEPS.iter().copied().filter(is_varied).collect();
    let is_twice = |job: &Job<'_>| jobs.iter().filter(|other| at(job, other, &settings)).count() > 1;
    if settings.len() < SETTINGS_MIN || jobs.iter().any(is_twice) {
        return Vec::new();
    }
    let climbed = |order| climb(&jobs, first, &settings, order, &at);
    let mut ladders: Vec<Ladder> =
        [LadderOrder::MostFirst, LadderOrder::LeastFirst].into_iter().filter_map(climbed).collect();
    ladders.dedup_by(|least, most| least.rungs == most.rungs);
    ladders
}

/// Changes one of the settings after the other.
fn climb<'a>(
    jobs: &[Job<'a>],
    first: Job<'a>,
    settings: &[Axis],
    order: LadderOrder,
    at: &dyn Fn(&Job<'a>, &Job<'a>, &[Axis]) -> bool,
) -> Option<Ladder> {
    let (mut here, mut left) = (first, settings.to_vec());
    let mut rungs = vec![Rung { cell: first.place, step: None }];
    while !left.is_empty() {
        // Of several values of a setting the best: nobody would stay at another.
        let best = |axis: &Axis| {
            let others: Vec<Axis> = settings.iter().copied().filter(|other| other != axis).collect();
            let changed =
                jobs.iter().copied().filter(|job| at(&here, job, &others) && !at(&here, job, &[*axis]));
            changed.reduce(|a, b| if b.au > a.au { b } else { a }).map(|job| (*axis, job))
        };
        let is_before = |a: &Job<'_>, b: &Job<'_>| match order {
            LadderOrder::MostFirst => b.au > a.au,
            LadderOrder::LeastFirst => b.au < a.au,
        };
        let steps = left.iter().filter_map(best);
        let (axis, job) = steps.reduce(|a, b| if is_before(&a.1, &b.1) { b } else { a })?;
        rungs.push(Rung { cell: job.place, step: Some((axis, job.au / here.au)) });
        (here, left) = (job, left.into_iter().filter(|other| *other != axis).collect());
    }
    Some(Ladder { order, rungs })
}
