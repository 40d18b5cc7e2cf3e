//! The figures of a training job from its repetitions, and why some say nothing.

use std::borrow::Cow;

use record::{Rep, Trained, TrainedAccelerator, Training};

use crate::cell::context::Context;
use crate::cell::gap::JobGap;
use crate::cell::interval::mean;
use crate::cell::latency::{Merged, quantile};
use crate::cell::rate::Rate;

use super::in_step::{at_best, least_au};
use super::{Idle, Stall, TrainingFigures};

// A day, as bills and schedules have it; a run of two minutes loses seconds of accelerators, which nobody can put a price on.
/// Hours of a day, over which idle time is told.
const HOURS_PER_DAY: f64 = 24.0;

/// Samples per second that a job takes at a utilization of 1 (F01); `None` for one that takes no samples or no time.
pub(crate) fn demand_samples_per_s(job: &Training) -> Option<f64> {
    let is_job = job.accelerators > 0 && job.batch > 0 && job.compute_ns > 0;
    is_job.then(|| feed::formula::samples_per_s(job.accelerators, job.batch, job.compute_ns as f64 / 1e9))
}

/// Why nothing can be computed of a repetition that was to play a job; nothing where all can.
pub(crate) fn gap(job: &Training, rep: &Rep) -> Option<JobGap> {
    let Some(trained) = &rep.trained else { return Some(JobGap::NotRecorded) };
    let accelerators = &trained.accelerators;
    if demand_samples_per_s(job).is_none() {
        Some(JobGap::NoDemand)
    } else if accelerators.is_empty() {
        Some(JobGap::NoAccelerator)
    } else if accelerators.iter().any(|one| one.wall_ns == 0) {
        Some(JobGap::NoTime)
    // A utilization above 1 would feed any number of accelerators by division.
    } else if accelerators.iter().any(|one| one.compute_ns > one.wall_ns) {
        Some(JobGap::ComputedTooLong)
    } else {
        None
    }
}

/// Samples per second of one repetition: what the job takes, by its utilization. `None` where the record has a gap.
pub(crate) fn samples_per_s(job: &Training, rep: &Rep) -> Option<f64> {
    let trained = at_best(job, rep).filter(|_| gap(job, rep).is_none())?;
    Some(share(&trained, |one| one.compute_ns) * demand_samples_per_s(job)?)
}

/// Mean over accelerators of a part of their time, 0 to 1. The repetition has no gap.
pub(super) fn share(trained: &Trained, of: fn(&TrainedAccelerator) -> u64) -> f64 {
    mean(&shares(trained, of)).unwrap_or(0.0)
}

/// Utilization of each accelerator of a repetition, 0 to 1.
pub(crate) fn utilizations(trained: &Trained) -> Vec<f64> {
    shares(trained, |one| one.compute_ns)
}

fn shares(trained: &Trained, of: fn(&TrainedAccelerator) -> u64) -> Vec<f64> {
    let part = |one: &TrainedAccelerator| (of(one) as f64 / one.wall_ns.max(1) as f64).min(1.0);
    trained.accelerators.iter().map(part).collect()
}

/// Utilization as DLIO has it, the mean over accelerators; `None` where none made two steps.
///
/// `utils/statscounter.py`, `compute_metrics_train`: compute time by the time of each block, both without its first step.
/// Blocks are epochs, and checkpoints part them further; the time of these is in none. DLIO measures how long a process
/// slept for a step. Here nobody sleeps, so that the compute time is the one asked for.
pub(super) fn dlio_au(job: &Training, trained: &Trained) -> Option<f64> {
    let of_one = |one: &TrainedAccelerator| {
        // Records before format 1.6 tell the first step of the job alone.
        // Zero cannot be said of a job with a first step, so it tells that the field was not there yet.
        let compute_ns = if one.excluded_compute_ns == 0 { job.compute_ns } else { one.excluded_compute_ns };
        let computed_ns = one.compute_ns.checked_sub(compute_ns).filter(|ns| *ns > 0)?;
        let excluded_ns = one.checkpoint_ns.checked_add(first_waits_ns(one))?.checked_add(compute_ns)?;
        let wall_ns = one.wall_ns.checked_sub(excluded_ns).filter(|ns| *ns >= computed_ns)?;
        Some(computed_ns as f64 / wall_ns as f64)
    };
    mean(&trained.accelerators.iter().filter_map(of_one).collect::<Vec<_>>())
}

/// What an accelerator waited before the steps that DLIO leaves out.
fn first_waits_ns(one: &TrainedAccelerator) -> u64 {
    if one.excluded_compute_ns == 0 { one.first_batch_ns } else { one.excluded_wait_ns }
}

/// Utilization of the same job without storage, from the first batch on; of several controls the lowest decides.
pub(crate) fn null_au(context: &Context<'_>) -> Option<f64> {
    // The control that did worst: it is what this client may do in any repetition.
    context.ceilings.iter().filter_map(|ceiling| control_au(ceiling.trained.as_ref()?)).reduce(f64::min)
}

fn control_au(trained: &Trained) -> Option<f64> {
    // Without the first fill, which is a start of threads on the null target and a matter of length, not of the loop.
    let fed = trained.accelerators.iter().filter(|one| one.wall_ns > one.first_batch_ns && one.steps > 0);
    let aus: Vec<f64> =
        fed.map(|one| one.compute_ns as f64 / (one.wall_ns - one.first_batch_ns) as f64).collect();
    mean(&aus).map(|au| au.min(1.0))
}

impl TrainingFigures {
    /// The figures of the repetitions used, of which none has a gap; `None` for other loads. What follows from the cells
    /// beside this one is added later.
    pub(crate) fn of(context: &Context<'_>, used: &[&Rep], merged: &Merged<'_>) -> Option<Self> {
        let job = context.cell.training.as_ref()?;
        let in_step: Vec<Cow<'_, Trained>> = used.iter().filter_map(|rep| at_best(job, rep)).collect();
        let trained: Vec<&Trained> = in_step.iter().map(|trained| &**trained).collect();
        let of_reps = |of: fn(&TrainedAccelerator) -> u64| -> Vec<f64> {
            trained.iter().map(|one| share(one, of)).collect()
        };
        let part = |of: fn(&TrainedAccelerator) -> u64| mean(&of_reps(of)).unwrap_or(0.0);
        let au = Rate::at(&of_reps(|one| one.compute_ns), context.error)?;
        // Training in step goes as fast as its slowest accelerator, which a mean of eight hides.
        let worst = |one: &&Trained| shares(one, |one| one.compute_ns).into_iter().fold(1.0, f64::min);
        let accelerators = || trained.iter().flat_map(|one| &one.accelerators);
        let sum = |of: fn(&TrainedAccelerator) -> u64| accelerators().map(of).fold(0, u64::saturating_add);
        let [wait, fetch, lag] = ["wait_ns", "fetch_ns", "lag_ns"].map(|name| merged.named(name));
        // A step that did not wait is recorded as a wait of 1 ns: a histogram has no zero.
        let waited = |ns: u64| if ns <= 1 { 0 } else { ns };
        let dlio: Vec<f64> = trained.iter().filter_map(|one| dlio_au(job, one)).collect();
        let gpu_hours_per_day = feed::formula::idle_hours(job.accelerators, HOURS_PER_DAY, au.mean);
        Some(Self {
            au,
            least_au: used.iter().filter_map(|rep| least_au(job, rep)).reduce(f64::min),
            worst_au: mean(&trained.iter().map(worst).collect::<Vec<_>>())?,
            dlio_au: mean(&dlio),
            steps: sum(|one| one.steps),
            late: sum(|one| one.late),
            first_batch_ns: accelerators().map(|one| one.first_batch_ns).max().unwrap_or(0),
            // Readers that take time to start have a part of the stall of their own; counted here too, both would explain it.
            fill: (part(first_waits_ns) - part(|one| one.startup_ns)).max(0.0),
            wait_p50_ns: quantile(&wait, 0.50).map(waited),
            wait_p99_ns: quantile(&wait, 0.99).map(waited),
            wait_max_ns: (!wait.is_empty()).then(|| waited(wait.max())),
            waits: wait
                .histogram()
                .iter_quantiles(10)
                .map(|value| (value.quantile_iterated_to(), waited(value.value_iterated_to())))
                .collect(),
            timeline: trained.first().map(|one| one.timeline.clone()).unwrap_or_default(),
            fetch_p50_ns: quantile(&fetch, 0.50),
            fetch_mean_ns: (!fetch.is_empty()).then(|| fetch.mean()),
            lag_p99_ns: quantile(&lag, 0.99),
            stall: Stall {
                storage: part(|one| one.storage_ns),
                decode: part(|one| one.decode_ns),
                client: part(|one| one.client_ns),
                startup: part(|one| one.startup_ns),
                barrier: part(|one| one.barrier_ns),
                checkpoint: part(|one| one.checkpoint_ns),
            },
            occupancy: occupancy(&trained),
            lost_samples: sum(|one| one.lost_samples),
            null_au: null_au(context),
            predicted: None,
            not_predicted: None,
            diagnosis: None,
            idle: Idle {
                gpu_hours_per_day,
                price_per_day: job.price_per_hour.map(|price| price * gpu_hours_per_day),
            },
        })
    }
}

/// Shares of the steps that began with so many batches ready; empty where none was counted.
fn occupancy(trained: &[&Trained]) -> Vec<f64> {
    let depths = trained.iter().map(|one| one.occupancy.len()).max().unwrap_or(0);
    let begun_with = |ready: usize| -> f64 {
        trained.iter().filter_map(|one| one.occupancy.get(ready)).map(|steps| *steps as f64).sum()
    };
    let counts: Vec<f64> = (0..depths).map(begun_with).collect();
    let total: f64 = counts.iter().sum();
    if total > 0.0 { counts.into_iter().map(|count| count / total).collect() } else { Vec::new() }
}
