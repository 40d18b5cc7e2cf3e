//! A training job that was played: how well its accelerators were used, and what they waited for.

pub(crate) mod beside;
pub(crate) mod bound;
pub(crate) mod closed_loops;
pub(crate) mod figures;
pub(crate) mod flags;
mod in_step;
pub(crate) mod predicted;
#[cfg(test)]
mod tests;

use crate::cell::diagnosis::symptom::Diagnosis;
use crate::cell::rate::Rate;

/// Points of utilization by which two definitions, or a prediction and a measurement, may differ before it is said.
pub const GAP_MAX: f64 = 0.05;

/// What the repetitions of a training cell say together.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingFigures {
    /// Accelerator utilization (AU), the mean over accelerators: compute time as asked, by the time from the start of
    /// the job to its end. 0 to 1; the first fill counts.
    pub au: Rate,
    /// The least that the utilization can be if processes that did not wait for each other had done so after every step, over
    /// the repetitions; then `au` is the most. Absent for a job of one process, and without a barrier.
    pub least_au: Option<f64>,
    /// The same of the worst accelerator of each repetition, the mean over repetitions.
    pub worst_au: f64,
    /// AU as DLIO computes it: without the first step of each epoch and after each checkpoint, and without the time of
    /// checkpoints; absent below two steps.
    pub dlio_au: Option<f64>,
    /// Steps of all accelerators and repetitions.
    pub steps: u64,
    /// Those, but for first ones, that waited for their batch.
    pub late: u64,
    /// The longest time to a first batch.
    pub first_batch_ns: u64,
    /// Part of the wall time in which accelerators waited for the first batches of epochs, the start of readers left out;
    /// 0 to 1. Records before format 1.6 tell the first epoch's alone.
    pub fill: f64,
    /// Median of what steps waited for their batch.
    pub wait_p50_ns: Option<u64>,
    /// 99th percentile of the same; absent below 1,000 steps.
    pub wait_p99_ns: Option<u64>,
    /// The longest wait.
    pub wait_max_ns: Option<u64>,
    /// The course of the same over all steps: a share of the steps, above 0 and at most 1, and what they waited at
    /// most, nanoseconds; 0 for none. Both ascend, the last share is 1.
    pub waits: Vec<(f64, u64)>,
    /// The first steps of the first accelerator in the first of the repetitions.
    pub timeline: Vec<record::TrainedStep>,
    /// Median of what a batch took from being allowed to being ready.
    pub fetch_p50_ns: Option<u64>,
    /// Mean of the same.
    pub fetch_mean_ns: Option<f64>,
    /// 99th percentile of how late the client noticed ends of steps; absent below 1,000.
    pub lag_p99_ns: Option<u64>,
    /// What the accelerators waited for.
    pub stall: Stall,
    /// Shares of the steps that began with so many batches ready; the index is the number.
    pub occupancy: Vec<f64>,
    /// Samples that could not be read or decoded.
    pub lost_samples: u64,
    /// AU on the null target with the same job; absent where it was not measured.
    pub null_au: Option<f64>,
    /// AU as the closed-loop reads of the same storage foretell it; absent where they leave it open.
    pub predicted: Option<PredictedAu>,
    /// Why they foretell nothing of such a job; absent where they do, where they leave it open, and where there
    /// are none.
    pub not_predicted: Option<NotPredicted>,
    /// Why the accelerators waited; absent where they did not, or nothing says why.
    pub diagnosis: Option<Diagnosis>,
    /// What the idle time costs.
    pub idle: Idle,
}

/// Parts of the wall time of all accelerators, each 0 to 1; with AU they add up to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stall {
    /// Waited for storage.
    pub storage: f64,
    /// Waited for decoding.
    pub decode: f64,
    /// Waited for reads that the client had not issued.
    pub client: f64,
    /// Waited for readers to start.
    pub startup: f64,
    /// Waited for other accelerators.
    pub barrier: f64,
    /// Stood still for a checkpoint.
    pub checkpoint: f64,
}

/// A utilization that follows from reads in a closed loop.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedAu {
    /// The utilization.
    pub au: f64,
    /// The same without what fills cost: of a job whose epochs never end.
    pub long_run: f64,
    /// Slug of the closed cell that it follows from.
    pub from: String,
    /// Its depth.
    pub depth: u32,
    /// Samples per second that it moves.
    pub samples_per_s: f64,
    /// Samples per second that the job takes at full utilization.
    pub demand_samples_per_s: f64,
    /// Epochs of the job.
    pub epochs: u64,
    /// Steps of them all.
    pub steps: u64,
}

/// Why closed loops foretell nothing of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotPredicted {
    /// None of them says how long decoding takes.
    Decoding {
        /// By what.
        work: String,
    },
    /// The last batches of an epoch have fewer samples than the others.
    UnevenBatches,
    /// Its readers have several reads under way, and wait for the last of each batch.
    SeveralReads,
}

/// What idle accelerators cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Idle {
    /// Hours of accelerators that a day of this job loses (F51).
    pub gpu_hours_per_day: f64,
    /// Their price, where the user gives one, in the user's currency.
    pub price_per_day: Option<f64>,
}
