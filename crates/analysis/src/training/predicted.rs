//! The utilization that follows from reads in a closed loop (F23, F25, F27).

use feed::formula;
use record::{Cell, Dataset, Training};

use crate::flag::utilization;
use crate::summary::CellSummary;
use crate::training::figures::demand_samples_per_s;
use crate::training::{PredictedAu, TrainingFigures};

/// The closed cell that reads as `cell` does at the depth that `is_depth` asks for, the shallowest of several; one of as
/// many threads before others.
pub(super) fn closed<'a>(
    cells: &'a [CellSummary],
    cell: &CellSummary,
    is_depth: impl Fn(u32) -> bool,
) -> Option<&'a CellSummary> {
    let alike = cells.iter().filter(|other| reads_alike(other, cell) && is_depth(other.cell.queue_depth));
    let valid = alike.filter(|other| other.figures().is_some_and(crate::Figures::is_valid));
    valid.min_by_key(|other| (other.cell.queue_depth, other.cell.threads != cell.cell.threads))
}

fn reads_alike(closed: &CellSummary, cell: &CellSummary) -> bool {
    let (a, b) = (&closed.cell, &cell.cell);
    let follows_depth = |cell: &Cell| cell.connections == cell.queue_depth;
    let connections = a.connections == b.connections || (follows_depth(a) && follows_depth(b));
    is_closed(closed)
        && connections
        && a.target == b.target
        && a.engine == b.engine
        && a.dataset == b.dataset
        && a.operation == b.operation
        && a.block_bytes == b.block_bytes
        && a.access == b.access
        && a.cache == b.cache
        && a.tier == b.tier
        && a.streams == b.streams
}

/// Whether nothing but the depth decides what a cell reads.
pub(crate) fn is_closed(cell: &CellSummary) -> bool {
    cell.cell.pace.is_none() && cell.cell.training.is_none()
}

/// What `closed` foretells of the job of `cell`; `None` where it says nothing.
pub(super) fn of(
    cell: &CellSummary,
    figures: &TrainingFigures,
    repetitions: u32,
    closed: &CellSummary,
    dataset: Option<&Dataset>,
) -> Option<PredictedAu> {
    let job = cell.cell.training.as_ref()?;
    let (demand, delivered) = (demand_samples_per_s(job)?, closed.figures()?.samples_per_s.mean);
    let steps = steps_of_each(figures, job, repetitions);
    let course = Course::of(job, delivered)?;
    let epochs = Epochs::of(steps, steps_of_epoch(cell, job, dataset));
    let au = course.au(epochs);
    let long_run = course.long_run();
    let start = match (job.startup_ns, epochs.count()) {
        (0, 1) => String::new(),
        (0, epochs) => format!(" of each of {epochs} epochs"),
        (ns, 1) => format!(" and {} for readers to start", feed::format_duration_ns(ns)),
        (ns, epochs) => {
            format!(" of each of {epochs} epochs and {} for readers to start", feed::format_duration_ns(ns))
        }
    };
    let how = format!(
        "a closed loop at depth {} moves {} samples/s of the {} that the job takes{}: AU {} in the long run, {} over {} \
         steps with the first fill{start}",
        closed.cell.queue_depth,
        feed::format_count(delivered),
        feed::format_count(demand),
        course.words(job),
        utilization(long_run),
        utilization(au),
        feed::group_digits(steps),
    );
    Some(PredictedAu { au, long_run, from: closed.cell.cell.clone(), how })
}

/// Steps that each accelerator made in a repetition, in the mean, and at least one.
fn steps_of_each(figures: &TrainingFigures, job: &Training, repetitions: u32) -> u64 {
    let jobs = u64::from(job.accelerators.max(1)) * u64::from(repetitions.max(1));
    (figures.steps / jobs).max(1)
}

/// Steps of an epoch of which the rest is dropped; `None` where an epoch makes no step, or its samples are not known.
fn steps_of_epoch(cell: &CellSummary, job: &Training, dataset: Option<&Dataset>) -> Option<u64> {
    let samples = (dataset?.bytes as f64 / cell.sample_bytes?).round() as u64;
    let steps = samples / (u64::from(job.accelerators) * u64::from(job.batch)).max(1);
    (steps > 0).then_some(steps)
}

/// The steps of a job by its epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Epochs {
    /// Epochs that were made to their end, and the steps of each.
    whole: u64,
    steps_of_whole: u64,
    /// Steps of the last one, where it was not.
    steps_of_last: u64,
}

impl Epochs {
    /// `steps` is at least one.
    fn of(steps: u64, of_epoch: Option<u64>) -> Self {
        let steps_of_whole = of_epoch.unwrap_or(steps).min(steps);
        Self { whole: steps / steps_of_whole, steps_of_whole, steps_of_last: steps % steps_of_whole }
    }

    fn count(self) -> u64 {
        self.whole + u64::from(self.steps_of_last > 0)
    }
}

/// How batches come where readers have the rate of a closed loop.
struct Course {
    /// Readers that fetch a batch of one accelerator each at the same time.
    lanes: u32,
    /// Readers of one accelerator.
    readers: u32,
    /// Time in which one of them fetches a batch.
    lane_s: f64,
    compute_s: f64,
    startup_s: f64,
    /// Whether a batch is fetched only once it is waited for.
    in_turns: bool,
}

impl Course {
    /// Each reader has its part of the rate: by Little's law, one read takes as long as the depth by the rate.
    fn of(job: &Training, delivered_samples_per_s: f64) -> Option<Self> {
        let readers = job.readers.unwrap_or(1).max(1);
        let per_round = f64::from(job.batch) * f64::from(job.accelerators) * f64::from(readers);
        let lane_s = per_round / delivered_samples_per_s;
        crate::need::positive(lane_s).then_some(Self {
            lanes: readers.min(job.prefetch.max(1)),
            readers,
            lane_s,
            compute_s: job.compute_ns as f64 / 1e9,
            startup_s: job.startup_ns as f64 / 1e9,
            in_turns: job.prefetch == 0,
        })
    }

    fn long_run(&self) -> f64 {
        if self.in_turns {
            return formula::serial_utilization(self.lane_s, self.compute_s);
        }
        formula::overlapped_utilization(self.lane_s / f64::from(self.lanes), self.compute_s)
    }

    fn au(&self, epochs: Epochs) -> f64 {
        let epoch_s = |steps: u64| {
            if steps == 0 {
                0.0
            } else if self.in_turns {
                self.startup_s + steps as f64 * (self.lane_s + self.compute_s)
            } else {
                self.startup_s + formula::job_s(steps, self.lanes, self.lane_s, self.compute_s)
            }
        };
        let Epochs { whole, steps_of_whole, steps_of_last } = epochs;
        let steps = whole as f64 * steps_of_whole as f64 + steps_of_last as f64;
        steps * self.compute_s / (whole as f64 * epoch_s(steps_of_whole) + epoch_s(steps_of_last))
    }

    /// Why not all of the rate is the job's.
    fn words(&self, job: &Training) -> String {
        if self.in_turns {
            ", and without prefetch reading and computing take turns".to_owned()
        } else if self.lanes < self.readers {
            format!(
                ", of which prefetch {} lets {} of {} readers work",
                job.prefetch, self.lanes, self.readers
            )
        } else {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(readers: Option<u32>, prefetch: u32, startup_ns: u64) -> Training {
        Training { readers, prefetch, startup_ns, ..crate::fixture::job() }
    }

    /// Half of the 10,000 samples per second that the job takes.
    fn half(job: &Training) -> f64 {
        Course::of(job, 5_000.0).unwrap().au(Epochs::of(100, None))
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn half_the_rate_over_100_steps_is_the_exact_fraction() {
        // A batch for each accelerator every 0.2 s, steps of 0.1 s: 10 s of computing in 20.1 s.
        assert_close(half(&job(None, 2, 0)), 10.0 / 20.1);
        // Eight readers bring their first batches together after 1.6 s: thirteen rounds, then four steps in a row.
        assert_close(half(&job(Some(8), 8, 0)), 10.0 / (13.0 * 1.6 + 0.4));
    }

    #[test]
    fn without_prefetch_reading_and_computing_take_turns() {
        assert_close(half(&job(None, 0, 0)), 1.0 / 3.0);
        assert_close(Course::of(&job(None, 0, 0), 5_000.0).unwrap().long_run(), 1.0 / 3.0);
    }

    #[test]
    fn a_prefetch_below_the_readers_leaves_some_idle() {
        let few = Course::of(&job(Some(8), 4, 0), 5_000.0).unwrap();
        assert_close(few.long_run(), 0.25);
        assert!(few.words(&job(Some(8), 4, 0)).contains("lets 4 of 8 readers work"));
    }

    #[test]
    fn each_epoch_fills_anew_after_its_readers_have_started() {
        let three = Epochs::of(100, Some(40));
        assert_eq!((three.whole, three.steps_of_last, three.count()), (2, 20, 3));
        let one = Epochs::of(100, None);
        assert_eq!((one.count(), Epochs::of(100, Some(200))), (1, one));
        // Twice the rate: a first batch after 50 ms, then no wait.
        let fast = Course::of(&job(None, 2, 1_000_000_000), 20_000.0).unwrap();
        assert_close(fast.au(three), 10.0 / (10.0 + 3.0 * 1.05));
    }
}
