//! Checkpoints written, read back, and made beside a training job.

use analysis::{CellSummary, CheckpointCost, CheckpointedJob, ReadsBeside, Restore, Summary, Written};
use record::CheckpointPlan;

use super::{Part, headings};
use crate::grid::{Grid, GridRow};
use crate::number::{cut_percent, grouped, part as share_of, three_digits};
use crate::side;

pub(super) fn part(summary: &Summary, all: bool) -> Part {
    let found = &summary.checkpoints;
    let mut lines = Vec::new();
    if !found.writes.is_empty() || !found.restores.is_empty() {
        lines.push(
            "cells that write or restore are not judged against the line; the time of a checkpoint is that of its \
             slowest file, as MLPerf Storage takes it"
                .to_owned(),
        );
    }
    lines.extend(found.jobs.iter().filter_map(|job| {
        let cell = summary.cells.get(job.cell)?;
        let mode = cell.cell.checkpoint.as_ref().map(|plan| format!(", {} checkpoints", plan.mode));
        let (target, way, mode) = (&cell.cell.target, super::way(summary, cell), mode.unwrap_or_default());
        let depth = cell.cell.queue_depth;
        Some(format!("{target} {way}, depth {depth}{mode}: {}", sentences(job).join("; ")))
    }));
    let grids = vec![writes(summary, all), restores(summary), jobs(summary, all)];
    Part { name: "Checkpoints", id: "checkpoints", grids, lines }
}

/// `llama3-8b, 1/64 of it: 16 GB in 4 files, async`.
fn plan_words(plan: Option<&CheckpointPlan>) -> String {
    plan.map_or_else(String::new, |plan| {
        let durable =
            if plan.durable { "" } else { ", not made durable: some may lie in this client's memory yet" };
        format!(
            "{}: {} in {}, {}{durable}",
            plan.label,
            feed::format_bytes(plan.bytes),
            feed::counted_noun(plan.files.into(), "file"),
            plan.mode
        )
    })
}

fn row(summary: &Summary, index: usize, figures: Vec<String>, note: [String; 2]) -> GridRow {
    let Some(cell) = summary.cells.get(index) else {
        return GridRow { names: vec![String::new(); 3], figures, note: String::new() };
    };
    let [first, second] = note;
    let doubts: Vec<String> = cell.doubts().into_iter().map(|(_, words)| words).collect();
    GridRow { names: super::names(cell), figures, note: side::noted([first, second, doubts.join("; ")]) }
}

fn cell_plan(summary: &Summary, index: usize) -> Option<&CheckpointPlan> {
    summary.cells.get(index).and_then(|cell| cell.cell.checkpoint.as_ref())
}

fn writes(summary: &Summary, all: bool) -> Grid {
    let found = &summary.checkpoints.writes;
    let unit = super::unit(found.iter().map(|write| write.written.bps.as_ref()));
    let figures = |written: &Written| {
        let time = written.checkpoint_s.as_ref();
        let mut figures = vec![super::rate(unit, written.bps.as_ref())];
        figures.extend(all.then(|| super::interval(written.bps.as_ref(), |bps| unit.write(bps))));
        figures.push(super::seconds(time.map(|rate| rate.mean)));
        figures.push(super::interval(time, three_digits));
        figures.push(super::share(written.publish_share));
        figures
    };
    let rows = found.iter().map(|write| {
        let plan = plan_words(cell_plan(summary, write.cell));
        row(summary, write.cell, figures(&write.written), [plan, write.written.outcomes.words()])
    });
    let names: Vec<&str> = if all {
        vec![unit.name, "95 % interval", "seconds", "95 % interval of seconds", "publish"]
    } else {
        vec![unit.name, "seconds", "95 % interval", "publish"]
    };
    Grid {
        title: "checkpoints written: rate over writing and publishing, seconds of one until it lies under its name, \
                durable where that is asked, and the share of them after the last byte"
            .to_owned(),
        names: vec!["target", "engine", "QD"],
        figures: headings(&names),
        rows: rows.collect(),
        foot: String::new(),
    }
}

fn restores(summary: &Summary) -> Grid {
    let found = &summary.checkpoints.restores;
    let unit = super::unit(found.iter().map(|restore| Some(&restore.bps)));
    let of = |restore: &Restore| {
        let figures = vec![
            unit.write(restore.bps.mean),
            super::interval(Some(&restore.bps), |bps| unit.write(bps)),
            super::seconds(restore.restore_s),
        ];
        row(summary, restore.cell, figures, [plan_words(cell_plan(summary, restore.cell)), String::new()])
    };
    Grid {
        title: "checkpoints read back: rate, and seconds to restore one".to_owned(),
        names: vec!["target", "engine", "QD"],
        figures: headings(&[unit.name, "95 % interval", "seconds"]),
        rows: found.iter().map(of).collect(),
        foot: String::new(),
    }
}

fn jobs(summary: &Summary, all: bool) -> Grid {
    let found = &summary.checkpoints.jobs;
    let unit = super::unit(found.iter().map(|job| job.written.bps.as_ref()));
    let au =
        |rate: Option<analysis::Rate>| rate.map_or_else(|| "-".to_owned(), |rate| cut_percent(rate.mean));
    let figures = |job: &CheckpointedJob| {
        let mut figures = vec![
            au(job.au),
            au(job.without.map(|without| without.au)),
            job.stall_share.map_or_else(|| "-".to_owned(), |rate| share_of(rate.mean)),
            super::rate(unit, job.written.bps.as_ref()),
            super::seconds(job.written.checkpoint_s.map(|rate| rate.mean)),
        ];
        if all {
            figures.push(super::seconds(job.stall_s));
            figures.push(super::seconds(job.interval_s));
            figures.push(super::seconds(job.written.longest_s));
        }
        figures
    };
    let rows = found.iter().map(|job| {
        let verdict = summary.cells.get(job.cell).map(|cell| verdict(summary, cell)).unwrap_or_default();
        let plan = plan_words(cell_plan(summary, job.cell));
        row(summary, job.cell, figures(job), [side::noted([verdict, plan]), job.written.outcomes.words()])
    });
    let names: Vec<&str> = if all {
        vec!["AU", "AU without", "stalled", unit.name, "seconds", "stall s", "interval s", "longest s"]
    } else {
        vec!["AU", "without", "stalled", unit.name, "seconds"]
    };
    Grid {
        title: "training with checkpoints: AU % with and without them, share of the time in which accelerators stood \
                still for one, rate and seconds of one"
            .to_owned(),
        names: vec!["target", "engine", "QD"],
        figures: headings(&names),
        rows: rows.collect(),
        foot: String::new(),
    }
}

/// The verdict that rests on a cell.
fn verdict(summary: &Summary, cell: &CellSummary) -> String {
    let own =
        summary.verdicts.iter().find(|verdict| verdict.cell.as_deref() == Some(cell.cell.cell.as_str()));
    own.map(|verdict| verdict.word().to_owned()).unwrap_or_default()
}

/// What is said of a job below the tables.
fn sentences(job: &CheckpointedJob) -> Vec<String> {
    let overhead = job.overhead.zip(job.stall_s).zip(job.interval_s).map(|((share, stall), interval)| {
        format!(
            "a checkpoint stops the accelerators for {} every {}: {} of the time in the long run (F49)",
            super::duration(stall),
            super::duration(interval),
            share_of(share)
        )
    });
    let shortest = job.written.longest_s.map(|longest| {
        format!("one every {} or more would not overrun, by the longest measured", super::duration(longest))
    });
    let mut said: Vec<String> =
        overhead.into_iter().chain(job.cost.as_ref().map(cost)).chain(shortest).collect();
    said.extend(job.beside.as_ref().map(beside));
    if job.without.is_none() {
        said.push("the same job without checkpoints was not measured".to_owned());
    }
    said
}

fn cost(cost: &CheckpointCost) -> String {
    let hours = format!("a checkpoint takes {} hours of accelerators (F50)", three_digits(cost.gpu_hours));
    let price = cost.price.map(|price| format!(", at a price of {}", three_digits(price)));
    let week = cost.price_per_week.map(|price| format!(", {} in a week at this interval", grouped(price)));
    [Some(hours), price, week].into_iter().flatten().collect()
}

fn beside(beside: &ReadsBeside) -> String {
    let during = feed::format_bps(beside.during_bps);
    let apart = beside.apart_bps.map_or_else(
        || "no second was without one".to_owned(),
        |bps| format!("{} otherwise", feed::format_bps(bps)),
    );
    let mixed = beside.mixed_bps.zip(beside.write_bps).map(|(mixed, write)| {
        format!(
            "; with {} written at the same time that is {}, mixed with training reads, which is the peak that a cluster \
             sees",
            feed::format_bps(write),
            feed::format_bps(mixed)
        )
    });
    format!("reads moved {during} while a checkpoint was written, {apart}{}", mixed.unwrap_or_default())
}
