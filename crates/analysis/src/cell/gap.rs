//! Why a cell has no figures, or not those of all its repetitions.

use std::collections::BTreeMap;

use feed::Operation;
use record::Word;

/// Why repetitions of a cell make no point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What happened.
    pub cause: GapCause,
    /// The first failed operation in the words of the storage; absent for storage that is not behind a network, and where
    /// none failed.
    pub first: Option<String>,
}

/// What happened to repetitions that make no point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GapCause {
    /// What the record says: an error, a budget that was used up.
    Recorded(String),
    /// The record gives no reason.
    NotRecorded,
    /// The run ended before them.
    RunCut,
    /// They were interrupted too early to count.
    Interrupted,
    /// The warm-up read the whole dataset, of which no byte is read twice.
    AllWarmup,
    /// The window had no length.
    EmptyWindow,
    /// Operations failed, and none ended well.
    AllFailed {
        /// What they did.
        operation: Word<Operation>,
        /// How many failed, by kind.
        kinds: BTreeMap<String, u64>,
    },
    /// No operation ended inside the window.
    NothingEnded {
        /// What they did.
        operation: Word<Operation>,
    },
    /// The record does not say how large a sample is.
    NoSampleSize,
    /// Reads and writes were not counted apart.
    NotApart,
    /// They were made, and no figure can be computed of them.
    NotComputed,
    /// The record does not say enough of the training job.
    Job(JobGap),
}

/// What a record lacks of a training job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobGap {
    /// All that became of it.
    NotRecorded,
    /// A job that takes samples, and time for them.
    NoDemand,
    /// Its accelerators.
    NoAccelerator,
    /// The time of an accelerator.
    NoTime,
    /// A time of each accelerator that its computing fits into.
    ComputedTooLong,
}

impl From<GapCause> for Gap {
    fn from(cause: GapCause) -> Self {
        Self { cause, first: None }
    }
}
