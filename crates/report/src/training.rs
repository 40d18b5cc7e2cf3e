//! Training jobs that were played: which cells show one, and how their settings are told.

mod lines;
pub(crate) mod scaling;
mod tables;

use analysis::{CellSummary, Figures, Measurement, Summary, TrainingFigures};
use feed::counted_noun;
use record::Training;

use crate::group::distinct;

pub(crate) use lines::facts;
pub(crate) use tables::{stall, table};

/// A cell that played a training job, with one set of its figures.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) cell: &'a CellSummary,
    pub(crate) plan: &'a Training,
    pub(crate) figures: &'a Figures,
    pub(crate) training: &'a TrainingFigures,
}

impl<'a> Job<'a> {
    fn of(cell: &'a CellSummary, figures: &'a Figures) -> Option<Self> {
        Some(Self { cell, plan: cell.cell.training.as_ref()?, figures, training: figures.training.as_ref()? })
    }

    /// With the figures of the interleaved repetitions.
    pub(crate) fn measured(cell: &'a CellSummary) -> Option<Self> {
        Self::of(cell, cell.figures()?)
    }

    /// With those of the fresh repetitions where there are any, for a verdict rests on them.
    fn judged(cell: &'a CellSummary) -> Option<Self> {
        let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
        fresh.and_then(|figures| Self::of(cell, figures)).or_else(|| Self::measured(cell))
    }

    /// Whether the whole interval of its utilization is at the threshold or above it.
    pub(crate) fn clears(&self) -> bool {
        self.training.au.interval.is_some_and(|interval| interval.low >= self.plan.threshold)
    }

    /// `8 readers, prefetch 2`.
    pub(crate) fn way(&self) -> String {
        format!("{}, prefetch {}", fetch(self.cell), self.plan.prefetch)
    }

    /// `8 accelerators, batch 400, 224 ms a step`, with what else the job does.
    pub(crate) fn settings(&self) -> String {
        let accelerators = counted_noun(self.plan.accelerators.into(), "accelerator");
        format!("{accelerators}, {}", self.step_settings())
    }

    /// The same without the accelerators.
    pub(crate) fn step_settings(&self) -> String {
        let plan = self.plan;
        let step = feed::format_duration_ns(plan.compute_ns);
        // Named where it is there: with a barrier the slowest accelerator sets the pace of all.
        let together = plan.barrier.then(|| "each step begun together".to_owned());
        let threads = plan.decode_threads.map(|threads| counted_noun(threads.into(), "thread"));
        let on = threads.map(|threads| format!(" on {threads}")).unwrap_or_default();
        let decode = plan.decode.as_ref().map(|work| format!("decode {work}{on}"));
        let first = format!("batch {}, {step} a step", plan.batch);
        std::iter::once(first).chain(together).chain(decode).collect::<Vec<_>>().join(", ")
    }
}

/// `8 readers`, `8 readers x 4` where each has several reads under way.
pub(crate) fn readers(count: u32, fetches: u32) -> String {
    let readers = counted_noun(count.into(), "reader");
    if fetches > 1 { format!("{readers} x {fetches}") } else { readers }
}

/// `8 readers`, `shared 64`; empty for a cell that plays no training job.
pub(crate) fn fetch(cell: &CellSummary) -> String {
    match cell.cell.training.as_ref().map(|plan| (plan.readers, plan.fetches)) {
        Some((Some(count), fetches)) => readers(count, fetches),
        // Without readers all reads share one depth, which is what a reader would set.
        Some((None, _)) => format!("shared {}", cell.cell.queue_depth),
        None => String::new(),
    }
}

/// Whether feedline started the server of a cell's target itself.
pub(crate) fn is_demo(summary: &Summary, cell: &CellSummary) -> bool {
    summary.targets.iter().any(|target| target.demo && target.name == cell.cell.target)
}

/// Every cell that plays a training job, measured or not.
pub(crate) fn cells(summary: &Summary) -> Vec<&CellSummary> {
    summary.cells.iter().filter(|cell| cell.cell.training.is_some()).collect()
}

/// The training jobs that have figures; those without storage only where there are no others.
pub(crate) fn jobs(summary: &Summary) -> Vec<Job<'_>> {
    let all: Vec<Job<'_>> = summary.cells.iter().filter_map(Job::measured).collect();
    let any_storage = all.iter().any(|job| job.cell.storage);
    // A job without storage is the client's ceiling: beside others it would be the tallest bar and mean
    // nothing.
    all.into_iter().filter(|job| job.cell.storage == any_storage).collect()
}

/// One job of each target: the judged one, else the first with as many accelerators as the need, else the first.
pub(crate) fn chosen(summary: &Summary) -> Vec<Job<'_>> {
    let jobs = jobs(summary);
    let targets = distinct(jobs.iter().map(|job| job.cell.cell.target.as_str()));
    let needed = summary.need.as_ref().map_or(0, |need| need.accelerators);
    let of_target = |target: &str| {
        let of_target = || jobs.iter().filter(|job| job.cell.cell.target == target);
        let judged = of_target().find(|job| summary.is_judged(job.cell));
        // A job with other accelerators answers another question than the need asks.
        let alike = || of_target().find(|job| job.plan.accelerators == needed);
        judged.or_else(alike).or_else(|| of_target().next()).copied()
    };
    targets.into_iter().filter_map(of_target).collect()
}

/// The chosen jobs with the figures that their verdicts rest on.
fn judged(summary: &Summary) -> Vec<Job<'_>> {
    chosen(summary).into_iter().filter_map(|job| Job::judged(job.cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_say_how_many_reads_each_has_under_way_where_it_has_several() {
        assert_eq!([readers(1, 1), readers(8, 1), readers(8, 4)], ["1 reader", "8 readers", "8 readers x 4"]);
    }
}
