//! Checkpoints written, read back, and made beside a training job.

use analysis::{CellSummary, CheckpointCost, CheckpointedJob, ReadsBeside, Summary};
use record::CheckpointPlan;

use crate::grid::{Column, Grid, Width};
use crate::number::{cut_percent, grouped, interval, part as share_of, percent, three_digits};
use crate::page::Block;
use crate::side::{doubts, noted, of_cells};
use crate::words::checkpoints::outcomes;

pub(super) fn blocks(summary: &Summary) -> Vec<Block<'static>> {
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
        let (target, way, mode) =
            (&cell.cell.target, super::words::way(summary, cell), mode.unwrap_or_default());
        let depth = cell.cell.queue_depth;
        Some(format!("{target} {way}, depth {depth}{mode}: {}", sentences(job).join("; ")))
    }));
    let grids = [writes(summary), restores(summary), jobs(summary)];
    super::words::blocks_of(grids, lines)
}

/// `llama3-8b, 1/64 of it: 16 GB in 4 files, async`.
fn plan_words(plan: Option<&CheckpointPlan>) -> String {
    plan.map_or_else(String::new, |plan| {
        let durable =
            // Said where it is not: a rate of writing into memory is no rate of a storage.
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

/// What was found of cells, with the cells.
fn of<'a, T>(summary: &'a Summary, found: &'a [T], cell: fn(&T) -> usize) -> Vec<(&'a CellSummary, &'a T)> {
    found.iter().filter_map(|found| Some((summary.cells.get(cell(found))?, found))).collect()
}

fn plan(cell: &CellSummary) -> String {
    plan_words(cell.cell.checkpoint.as_ref())
}

fn writes(summary: &Summary) -> Grid {
    let found = of(summary, &summary.checkpoints.writes, |write| write.cell);
    let unit = super::words::unit(found.iter().map(|(_, write)| write.written.bps.as_ref()));
    let title = "checkpoints written: rate over writing and publishing, seconds of one until it lies under its name, durable \
                 where that is asked, and the share of them after the last byte";
    of_cells(title, &found, |(cell, _)| cell)
        .figure(unit.name, |(_, write)| Some(unit.write(write.written.bps.as_ref()?.mean)))
        .column(Column::figure("95 % interval").only(Width::Wide), |(_, write)| {
            interval(write.written.bps.as_ref()?, |bps| unit.write(bps))
        })
        .figure("seconds", |(_, write)| Some(three_digits(write.written.checkpoint_s.as_ref()?.mean)))
        .column(Column::figure("95 % interval of seconds").short("95 % interval"), |(_, write)| {
            interval(write.written.checkpoint_s.as_ref()?, three_digits)
        })
        .figure("publish", |(_, write)| write.written.publish_share.map(percent))
        .note(|(cell, write)| noted([plan(cell), outcomes(&write.written.outcomes), doubts(cell)]))
        .done()
}

fn restores(summary: &Summary) -> Grid {
    let found = of(summary, &summary.checkpoints.restores, |restore| restore.cell);
    let unit = super::words::unit(found.iter().map(|(_, restore)| Some(&restore.bps)));
    of_cells("checkpoints read back: rate, and seconds to restore one", &found, |(cell, _)| cell)
        .figure(unit.name, |(_, restore)| Some(unit.write(restore.bps.mean)))
        .figure("95 % interval", |(_, restore)| interval(&restore.bps, |bps| unit.write(bps)))
        .figure("seconds", |(_, restore)| restore.restore_s.map(three_digits))
        .note(|(cell, _)| noted([plan(cell), doubts(cell)]))
        .done()
}

fn jobs(summary: &Summary) -> Grid {
    let found = of(summary, &summary.checkpoints.jobs, |job| job.cell);
    let unit = super::words::unit(found.iter().map(|(_, job)| job.written.bps.as_ref()));
    let title = "training with checkpoints: AU % with and without them, share of the time in which accelerators stood \
                 still for one, rate and seconds of one";
    let wide = |heading: &str| Column::figure(heading).only(Width::Wide);
    let without = Column::figure("AU without").short("without");
    of_cells(title, &found, |(cell, _)| cell)
        .figure("AU", |(_, job)| Some(cut_percent(job.au?.mean)))
        .column(without, |(_, job)| Some(cut_percent(job.without?.au.mean)))
        .figure("stalled", |(_, job)| Some(share_of(job.stall_share?.mean)))
        .figure(unit.name, |(_, job)| Some(unit.write(job.written.bps.as_ref()?.mean)))
        .figure("seconds", |(_, job)| Some(three_digits(job.written.checkpoint_s?.mean)))
        .column(wide("stall s"), |(_, job)| job.stall_s.map(three_digits))
        .column(wide("interval s"), |(_, job)| job.interval_s.map(three_digits))
        .column(wide("longest s"), |(_, job)| job.written.longest_s.map(three_digits))
        .note(|(cell, job)| {
            let verdict = summary.verdict_on(cell).map(|verdict| verdict.word().to_owned());
            let made = outcomes(&job.written.outcomes);
            noted([verdict.unwrap_or_default(), plan(cell), made, doubts(cell)])
        })
        .done()
}

/// What is said of a job below the tables.
fn sentences(job: &CheckpointedJob) -> Vec<String> {
    let overhead = job.overhead.zip(job.stall_s).zip(job.interval_s).map(|((share, stall), interval)| {
        format!(
            "a checkpoint stops the accelerators for {} every {}: {} of the time in the long run (F49)",
            super::words::duration(stall),
            super::words::duration(interval),
            share_of(share)
        )
    });
    let shortest = job.written.longest_s.map(|longest| {
        format!(
            "one every {} or more would not overrun, by the longest measured",
            super::words::duration(longest)
        )
    });
    let mut said: Vec<String> =
        overhead.into_iter().chain(job.cost.as_ref().map(cost)).chain(shortest).collect();
    said.extend(job.beside.as_ref().map(beside));
    // Said, because what checkpoints cost can only be held against the same job without them.
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
