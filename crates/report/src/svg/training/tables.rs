//! The tables behind the plots of training jobs.

use analysis::Summary;

use super::jobs::{name, shown, target};
use crate::number::{cut_percent, milliseconds, three_digits};
use crate::plot::PlotTable;
use crate::training::{Job, fetch, jobs};

/// Steps of each job that the table of the timeline holds.
// As many as the plot draws.
const STEPS_MAX: usize = 40;

fn table(columns: &[&str], rows: Vec<Vec<String>>) -> PlotTable {
    PlotTable { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows }
}

/// The first steps of one accelerator of each job shown.
pub(super) fn timeline(summary: &Summary) -> PlotTable {
    let (jobs, _) = shown(summary);
    let mut rows = Vec::new();
    for job in &jobs {
        let words = name(summary, job, &jobs).join(", ");
        let mut before_ns = 0;
        for (number, step) in job.training.timeline.iter().take(STEPS_MAX).enumerate() {
            let ms = |ns: u64| three_digits(ns as f64 / 1e6);
            rows.push(vec![
                words.clone(),
                (number + 1).to_string(),
                ms(step.start_ns.saturating_sub(before_ns)),
                ms(step.ready_ns),
                ms(step.start_ns),
                ms(step.end_ns),
            ]);
            before_ns = step.end_ns;
        }
    }
    table(&["job", "step", "waited ms", "batch ready at ms", "began at ms", "ended at ms"], rows)
}

/// Every job with its utilization.
pub(super) fn utilization(summary: &Summary) -> PlotTable {
    let columns = [
        "target",
        "engine",
        "accelerators",
        "fetch",
        "prefetch",
        "AU %",
        "low",
        "high",
        "threshold %",
        "predicted AU %",
    ];
    let dash = || "-".to_owned();
    let row = |job: &Job<'_>| {
        let au = &job.training.au;
        let predicted = job.training.predicted.as_ref();
        vec![
            target(summary, job.cell),
            job.cell.engine_label(),
            job.plan.accelerators.to_string(),
            fetch(job.cell),
            job.plan.prefetch.to_string(),
            cut_percent(au.mean),
            au.interval.map_or_else(dash, |interval| cut_percent(interval.low)),
            au.interval.map_or_else(dash, |interval| cut_percent(interval.high)),
            cut_percent(job.plan.threshold),
            predicted.map_or_else(dash, |predicted| cut_percent(predicted.au)),
        ]
    };
    table(&columns, jobs(summary).iter().map(row).collect())
}

/// How long the steps of each job shown waited.
pub(super) fn waits(summary: &Summary) -> PlotTable {
    let (jobs, _) = shown(summary);
    let at = |job: &Job<'_>, share: f64| {
        let waits = &job.training.waits;
        // The nearest from above: a wait is never told too short.
        milliseconds(waits.iter().find(|wait| wait.0 >= share - 1e-9).map(|wait| wait.1))
    };
    let row = |job: &Job<'_>| {
        vec![
            name(summary, job, &jobs).join(", "),
            job.training.steps.to_string(),
            at(job, 0.5),
            at(job, 0.9),
            at(job, 0.99),
            milliseconds(job.training.wait_max_ns),
        ]
    };
    let rows = jobs.iter().map(row).collect();
    table(&["job", "steps", "p50 ms", "p90 ms", "p99 ms", "longest ms"], rows)
}
