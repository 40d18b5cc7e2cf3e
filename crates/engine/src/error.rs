//! Why a repetition or a copy could not be made.

use backend::numa::NumaError;
use backend::{ArenaError, StoreError};
use dataset::OrderError;

/// Folders of copies side by side, at most: more are forgotten ones.
pub(crate) const COPIES_MAX: u32 = 9_999;

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
    Copy(#[from] CopyError),
    /// Threads could not be kept beside the storage.
    #[error(transparent)]
    Numa(#[from] NumaError),
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

/// What keeps a copy from beginning.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The cell does not say where to.
    #[error("the cell does not say where its dataset is copied to")]
    NoPlan,
    /// Shards are made of samples that are files.
    #[error(
        "cannot pack a dataset whose samples are packed already\n  hint: remove `copy.pack`: its objects are copied as \
         they are"
    )]
    Packed,
    /// There is not enough room, found before anything was written.
    #[error(
        "cannot copy the dataset: {needed_bytes} B are needed and {free_bytes} B are free\n  hint: free some space, set \
         `copy.size`, or remove older copies with `feedline clean`"
    )]
    NoSpace {
        /// Bytes of the copy, with what a file system takes beside them.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
    },
    /// Every name for a folder is taken.
    #[error(
        "cannot make a folder for the copy: there are {COPIES_MAX} copies already\n  hint: remove them with `feedline \
         clean`"
    )]
    TooManyCopies,
    /// The target cannot be written.
    #[error("cannot write the copy: {0}")]
    Store(#[from] StoreError),
}
