//! What can be said of the checkpoints that a need asks for.

use feed::Judgement;

use crate::cell::checkpoints::Timed;
use crate::cell::flag::Flag;
use crate::cell::gap::Gap;
use crate::verdict::scope::Scope;

/// What of a checkpoint a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointPart {
    /// Writing one.
    Write,
    /// Reading one back.
    Restore,
}

/// What can be said of one part of the checkpoints of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointVerdict {
    /// Which part.
    pub part: CheckpointPart,
    /// The judgement.
    pub judgement: Judgement,
    /// What is written or read back, as the need calls it.
    pub label: String,
    /// The time that it may take, seconds.
    pub within_s: f64,
    /// Bytes that one host has to write or read.
    pub host_bytes: u64,
    /// Bytes of the checkpoint that was measured.
    pub measured_bytes: u64,
    /// The cell that it rests on.
    pub cell: String,
    /// Whether the cell wrote beside the reads of a training job.
    pub is_beside_reads: bool,
    /// Times of its fresh repetitions; absent where there are none.
    pub timed: Option<Timed>,
    /// Share of a job's time that is lost to saves of this time (F49), from the faster end of the interval to the slower; absent
    /// of restores, of a smaller checkpoint than has to be written, where accelerators go on meanwhile, and where nobody said how
    /// often one is due.
    pub lost_share: Option<(f64, f64)>,
    /// What it is about.
    pub scope: Scope,
    /// Why the judgement is this one.
    pub cause: CheckpointCause,
}

/// Why a part of the checkpoints is judged so.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckpointCause {
    /// The whole interval lies within the time.
    InTime,
    /// The whole interval lies beyond it.
    Late,
    /// The interval holds the time.
    Straddles {
        /// Rounds that were made.
        made: u32,
        /// About how many would decide; absent where no affordable number would.
        rounds: Option<u32>,
    },
    /// Something forbids what the interval alone would say.
    Doubted(Doubt),
    /// A flag does.
    Flagged(Flag),
    /// No interval can be given.
    TooFewRepetitions {
        /// Fresh repetitions with a time.
        made: u32,
    },
    /// It was not measured again.
    NotConfirmed {
        /// Why.
        reason: Gap,
    },
    /// What was asked for failed in every repetition; nothing stands in for it.
    AskedFailed {
        /// Why the first of them failed.
        reason: Gap,
    },
    /// The server was started by feedline.
    Demo,
}

/// Why times alone do not decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// Several processes measured, and times of one are no times of all.
    SeveralRanks {
        /// How many.
        ranks: u32,
    },
    /// Saves or restores failed.
    Lost {
        /// How many.
        count: u64,
        /// Why the first of them did.
        reason: Option<String>,
    },
    /// What was written is not what has to be: a smaller checkpoint may be faster, a larger one slower.
    OtherSize {
        /// Bytes that were written or read.
        bytes: u64,
        /// Bytes that one host has to.
        of: u64,
    },
    /// What was written may lie in this client's memory.
    NotDurable,
    /// Some took longer than they may, though not in the mean.
    SomeLate {
        /// How many.
        late: u64,
        /// Of how many.
        made: u64,
    },
    /// Windows cut some that had taken longer than any that ended.
    Cut {
        /// How many.
        saves: u64,
    },
    /// It was made alone, and the storage is asked for more meanwhile: by the accelerators of its own job, which go on reading while
    /// it is written, or by other jobs.
    Apart {
        /// Whether other jobs ask.
        others: bool,
    },
    /// This host writes and reads in time, and the need is for more of them.
    HostsOpen {
        /// Hosts that were not tested.
        hosts: u32,
    },
}

impl CheckpointVerdict {
    /// Whether further rounds of fresh repetitions may decide it.
    pub fn is_open(&self) -> bool {
        matches!(self.cause, CheckpointCause::Straddles { .. } | CheckpointCause::TooFewRepetitions { .. })
    }

    /// Whether what was asked for was tried and failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.cause, CheckpointCause::AskedFailed { .. })
    }

    /// Bytes per second that one host has to write or read.
    pub fn line_bps(&self) -> f64 {
        self.host_bytes as f64 / self.within_s
    }
}
