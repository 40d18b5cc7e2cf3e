//! Why a repetition could not be made.

use backend::{ArenaError, StoreError};
use dataset::OrderError;

/// Why a repetition could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RepError {
    /// The order is impossible.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// Buffers could not be mapped.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The storage refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A copy could not begin.
    #[error(transparent)]
    Copy(#[from] crate::copy::CopyError),
    /// The system refused a thread.
    #[error(
        "cannot start {threads} threads: {source}\n  hint: raise the limit of processes (`ulimit -u`, the \
         container's pids limit), or write shallower queues for an engine that takes a thread for each read"
    )]
    Threads {
        /// Threads of the repetition.
        threads: u32,
        /// The cause.
        source: std::io::Error,
    },
    /// The data hold not one step of the job, or samples that differ in their operations.
    #[error(
        "cannot play the training job: {samples} samples ({operations} operations) make no step of {per_step} \
         samples\n  hint: one step of all accelerators must fit into the dataset, and files that differ in their \
         number of blocks need `operation = \"read_file\"`"
    )]
    Training {
        /// Samples of the dataset.
        samples: u64,
        /// Samples of one step of all accelerators.
        per_step: u64,
        /// Operations of one epoch.
        operations: u64,
    },
    /// A decoder takes a sample as a whole, and buffers hold parts.
    #[error(
        "cannot decode samples by `{work}`: the largest has {largest_bytes} bytes, and is not read into one buffer\n  \
         hint: use `operation = \"read_file\"` and a block size of at least these bytes"
    )]
    Decoder {
        /// The work.
        work: &'static str,
        /// Bytes of the largest sample.
        largest_bytes: u64,
    },
    /// The cell makes checkpoints, and nobody said where they go.
    #[error("the cell writes checkpoints, and no folder was made for them")]
    NoDestination,
    /// A thread ended before it could begin.
    #[error("a thread ended before it could begin")]
    NotStarted,
}
