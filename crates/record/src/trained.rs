//! What became of a training job that was played.

use serde::{Deserialize, Serialize};

/// The counts of one repetition of a training load, from its start to its end; the first fill is part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trained {
    /// Each accelerator, in order.
    pub accelerators: Vec<TrainedAccelerator>,
    /// Steps that began with so many batches ready, the one taken left out: the index is the number of batches.
    pub occupancy: Vec<u64>,
    /// The first steps of the first accelerator.
    // Of one accelerator and bounded: all steps of all of them would be most of the record, for one plot.
    pub timeline: Vec<TrainedStep>,
    /// Samples that the decoder rejected; the first reason is in `granted` as `first_decode_failure`.
    #[serde(default)]
    pub decode_failures: u64,
    /// Processor time of the threads that decode; 0 where nothing is decoded for real.
    #[serde(default)]
    pub decode_cpu_ns: u64,
    /// True where the dataset was read once before the steps asked for were made (a cold cell reads nothing twice).
    #[serde(default)]
    pub ran_out: bool,
}

/// One accelerator. `compute_ns`, `wait_ns`, `barrier_ns` and `checkpoint_ns` add up to `wall_ns`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainedAccelerator {
    /// Steps that were begun.
    pub steps: u64,
    /// From the start of the job to the end of its last step, or to the end of the window where that came first.
    pub wall_ns: u64,
    /// Compute time as it was asked for; of a step that the end of the window cut, the part inside.
    pub compute_ns: u64,
    /// Time without a batch, the first one included.
    pub wait_ns: u64,
    /// Time with a batch at hand in which other accelerators were waited for.
    pub barrier_ns: u64,
    /// Time in which it stood still for a checkpoint, whether it had a batch or not. Absent before format 1.5, and where
    /// there was none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub checkpoint_ns: u64,
    /// From the start to the first batch; 0 where none came.
    pub first_batch_ns: u64,
    /// Steps but the first that had to wait for their batch.
    pub late: u64,
    /// The part of `wait_ns` that the storage took.
    pub storage_ns: u64,
    /// The part of `wait_ns` that decoding took.
    pub decode_ns: u64,
    /// The part of `wait_ns` in which reads were due and the client had not issued them.
    pub client_ns: u64,
    /// The part of `wait_ns` in which readers started.
    pub startup_ns: u64,
    /// Samples that could not be read or decoded; their batches went on without them.
    pub lost_samples: u64,
    /// The part of `wait_ns` before steps that DLIO leaves out of its utilization: the first of each epoch, and the first
    /// after standing still for a checkpoint. Absent before format 1.6.
    #[serde(default, skip_serializing_if = "is_zero")]
    // Stored beside the whole: utilization as the job feels it and as DLIO reports it are then both
    // derived, and differ by these alone.
    pub excluded_wait_ns: u64,
    /// The part of `compute_ns` in these steps. Absent before format 1.6.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub excluded_compute_ns: u64,
    /// Until format 1.5, compute time of all steps but the first until the client noticed their ends, which is late where
    /// it is blocked in a read. 0 since then: nothing reads it.
    #[serde(default)]
    // Kept in the type because records of before hold it, and are written again when ranks are merged.
    pub measured_compute_ns: u64,
    /// The same of the time from the end of the first step to the end of the last.
    #[serde(default)]
    pub measured_wall_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One step. Times are nanoseconds from the start of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainedStep {
    /// When its batch was ready.
    pub ready_ns: u64,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}
