//! What checkpoints take from the training job that makes them (F49, F50), and what its reads do meanwhile.

use feed::formula;
use record::axis::{self, Places, alike, others};
use record::{Cell, Rep, Run};

use super::timeline::{self, CheckpointTimeline};
use super::writes::Written;
use crate::cell::cell_summary::CellSummary;
use crate::cell::interval::mean;
use crate::cell::over_time::RatePoint;
use crate::cell::rate::Rate;

/// Hours of a week, over which the price of checkpoints is told.
const HOURS_PER_WEEK: f64 = 168.0;

/// A training job that makes checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointedJob {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// What became of the checkpoints, and how fast they were written beside the reads.
    pub written: Written,
    /// Accelerator utilization with checkpoints.
    pub au: Option<Rate>,
    /// The same job without them; absent where none was measured.
    pub without: Option<WithoutCheckpoints>,
    /// Share of the windows in which accelerators stood still for a checkpoint.
    pub stall_share: Option<Rate>,
    /// Seconds for which a checkpoint stops the accelerators, those left out not counted.
    pub stall_s: Option<f64>,
    /// Seconds from one due checkpoint to the next; absent where fewer than two were due.
    pub interval_s: Option<f64>,
    /// The one by the other (F49).
    pub overhead: Option<f64>,
    /// What a checkpoint costs (F50).
    pub cost: Option<CheckpointCost>,
    /// What the reads did while a checkpoint was written, and otherwise.
    pub beside: Option<ReadsBeside>,
    /// The repetition that a picture shows: the first that has a checkpoint.
    pub timeline: Option<CheckpointTimeline>,
}

/// The job that is alike but for its checkpoints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WithoutCheckpoints {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// Its utilization.
    pub au: Rate,
}

/// What a checkpoint costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckpointCost {
    /// Hours of accelerators that one checkpoint takes.
    pub gpu_hours: f64,
    /// Their price, where the user gives one, in the user's currency.
    pub price: Option<f64>,
    /// The price of a week of checkpoints at this interval.
    pub price_per_week: Option<f64>,
}

/// Reads in whole seconds of the windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadsBeside {
    /// Bytes read per second in seconds that overlap the writing of a checkpoint.
    pub during_bps: f64,
    /// Bytes read per second in the others; absent where there are none.
    pub apart_bps: Option<f64>,
    /// Bytes per second at which checkpoints were written in the mean, those cut or failed left out; absent where they
    /// were not made durable.
    pub write_bps: Option<f64>,
    /// Both at once: the peak that a storage sees, where checkpoints are mixed with reads for training.
    pub mixed_bps: Option<f64>,
}

pub(super) fn of_cell(
    run: &Run,
    cells: &[CellSummary],
    plain: &Places,
    (index, reps): (usize, &[&Rep]),
) -> Option<CheckpointedJob> {
    let cell = &cells[index];
    let (job, plan) = (cell.cell.training.as_ref()?, cell.cell.checkpoint.as_ref()?);
    let written = Written::of(reps)?;
    let all = || reps.iter().flat_map(|rep| &rep.checkpoints);
    let stalls: Vec<f64> =
        all().filter(|one| one.stall_ns > 0).map(|one| one.stall_ns as f64 / 1e9).collect();
    let stall_s = mean(&stalls).or(Some(0.0)).filter(|_| written.outcomes.complete > 0 || !stalls.is_empty());
    let interval_s = interval_s(reps);
    let overhead =
        stall_s.zip(interval_s).map(|(stall, interval)| formula::checkpoint_overhead(stall, interval));
    let price = plan.price_per_hour.or(job.price_per_hour);
    let cost = stall_s.map(|stall| CheckpointCost::of(job.accelerators, stall, interval_s, price));
    // What is not made durable may lie in this client's memory: no rate of the storage's.
    let write_bps = written.bps.filter(|_| plan.durable).map(|rate| rate.mean);
    Some(CheckpointedJob {
        cell: index,
        au: au(cell),
        without: without(run, cells, plain, cell),
        stall_share: stall_share(reps),
        stall_s,
        interval_s,
        overhead,
        cost,
        beside: ReadsBeside::of(reps, write_bps),
        timeline: timeline::of_reps(reps),
        written,
    })
}

fn au(cell: &CellSummary) -> Option<Rate> {
    Some(cell.figures()?.training.as_ref()?.au)
}

/// The jobs without checkpoints.
pub(super) fn plain(run: &Run, cells: &[CellSummary]) -> Places {
    let is_plain = |cell: &Cell| cell.training.is_some() && cell.checkpoint.is_none();
    let plain = cells.iter().map(|one| &one.cell).enumerate().filter(|(_, cell)| is_plain(cell));
    Places::of(run, plain, others(axis::WITHOUT_CHECKPOINTS))
}

/// The first cell of `plain` that is alike in everything but its checkpoints.
fn without(
    run: &Run,
    cells: &[CellSummary],
    plain: &Places,
    cell: &CellSummary,
) -> Option<WithoutCheckpoints> {
    let is_other = |other: &usize| alike(run, &cells[*other].cell, &cell.cell, axis::WITHOUT_CHECKPOINTS);
    let found = plain.beside(run, &cell.cell).iter().copied().find(is_other)?;
    Some(WithoutCheckpoints { cell: found, au: au(&cells[found])? })
}

/// Share of each window in which accelerators stood still for a checkpoint.
pub(crate) fn stall_share(reps: &[&Rep]) -> Option<Rate> {
    let share = |rep: &&Rep| {
        let stalled: f64 = rep.checkpoints.iter().map(|one| one.stall_ns as f64).sum();
        (rep.window_ns > 0).then(|| (stalled / rep.window_ns as f64).min(1.0))
    };
    Rate::of(&reps.iter().filter_map(share).collect::<Vec<f64>>())
}

fn interval_s(reps: &[&Rep]) -> Option<f64> {
    let of_rep = |rep: &&Rep| {
        let mut due: Vec<u64> = rep.checkpoints.iter().map(|one| one.due_ns).collect();
        due.sort_unstable();
        // From due to due, as an overrun makes the gap between written ones longer than what the job asks.
        due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect::<Vec<f64>>()
    };
    mean(&reps.iter().flat_map(of_rep).collect::<Vec<f64>>()).filter(|seconds| *seconds > 0.0)
}

impl CheckpointCost {
    fn of(accelerators: u32, stall_s: f64, interval_s: Option<f64>, price_per_hour: Option<f64>) -> Self {
        let gpu_hours = formula::checkpoint_hours(accelerators, stall_s);
        let price = price_per_hour.map(|price| price * gpu_hours);
        let per_hour = interval_s.map(|interval| 3_600.0 / interval);
        let price_per_week = price.zip(per_hour).map(|(price, per_hour)| price * per_hour * HOURS_PER_WEEK);
        Self { gpu_hours, price, price_per_week }
    }
}

impl ReadsBeside {
    /// `None` where no second of a repetition overlaps a checkpoint.
    fn of(reps: &[&Rep], write_bps: Option<f64>) -> Option<Self> {
        let (mut during, mut apart) = (Vec::new(), Vec::new());
        for rep in reps {
            let spans = timeline::spans(rep);
            for point in timeline::whole_seconds(rep) {
                let overlaps = |span: &timeline::CheckpointSpan| overlaps(span, &point);
                // Whole seconds, because reads are counted by the second: a checkpoint of 200 ms colours the second that it
                // lies in.
                if spans.iter().any(overlaps) { during.push(point.per_s) } else { apart.push(point.per_s) }
            }
        }
        let during_bps = mean(&during)?;
        let mixed_bps = write_bps.map(|write| write + during_bps);
        Some(Self { during_bps, apart_bps: mean(&apart), write_bps, mixed_bps })
    }
}

fn overlaps(span: &timeline::CheckpointSpan, point: &RatePoint) -> bool {
    span.begun_s < span.durable_s && span.begun_s < point.to_s && span.durable_s > point.from_s
}
