//! Why a verdict is what it is.

use crate::cell::flag::Flag;
use crate::cell::gap::Gap;
use crate::cell::need::NoNeed;
use crate::curve::Shape;

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// The whole interval lies on or above the line.
    Clears {
        /// Whether no shallower depth that was measured clears it, and every deeper one stands at it.
        first: bool,
    },
    /// The whole interval lies below the line.
    Short {
        /// Missing share of the line, by the mean, 0 to 1.
        share: f64,
        /// What the curve of this cell says.
        shape: Option<Shape>,
    },
    /// The interval holds the line.
    Straddles {
        /// Rounds that were made.
        made: u32,
        /// About how many would decide; absent where no affordable number would.
        rounds: Option<u32>,
        /// Most rounds that the run was to make.
        most: u32,
        /// The command that makes as many as are needed; absent where the run was to make as many.
        command: Option<String>,
    },
    /// The storage stood on one side of the line for a part of the run, and on the other for the rest.
    Changed {
        /// Bytes per second before and after, by the deciding cell.
        bps: (f64, f64),
    },
    /// This host is fed, and the need is for more of them.
    HostsOpen {
        /// Hosts that were not tested.
        hosts: u32,
    },
    /// The job is fed if one of its processes is always the slowest, and may not be if they are slow in turn.
    NotInStep {
        /// The least utilization that it then has.
        least_au: f64,
    },
    /// The job saved more often than the need has it, and the same job without checkpoints reaches its target.
    SavesTooOften {
        /// Utilization of that job.
        without_au: f64,
    },
    /// It clears at a depth that the stated loader does not reach.
    BeyondLoader {
        /// Reads that the loader has outstanding at most.
        reach: u32,
    },
    /// Another cell read alike stood at the line or above it, and its fresh repetitions do not say otherwise.
    OthersAbove {
        /// Its depth.
        queue_depth: u32,
        /// Its mean by the line.
        share: f64,
    },
    /// What was asked for failed in every repetition; nothing stands in for it.
    AskedFailed {
        /// Why the first of them failed.
        reason: Gap,
    },
    /// No interval can be given.
    TooFewRepetitions {
        /// Confirmation repetitions that make a point.
        made: u32,
    },
    /// A flag forbids the judgement that the interval alone would give.
    Flagged(Flag),
    /// The chosen cell was measured again, and no repetition makes a point.
    ConfirmationFailed {
        /// Why the first of them failed.
        reason: Gap,
    },
    /// The chosen cell was not measured again.
    NotConfirmed {
        /// Why.
        reason: Gap,
    },
    /// No cell of this target has figures.
    NothingMeasured(NothingMeasured),
    /// The server was started by feedline.
    Demo {
        /// Mean of the measured rate by the line; absent without figures. What is doubtful in it stands in its row.
        of_line: Option<f64>,
    },
    /// There is no line to compare with.
    NoLine(NoLine),
}

/// Why no cell of a target has figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NothingMeasured {
    /// What is said of its first cell.
    Cell(Gap),
    /// One of its engines was left out before the run.
    Skipped {
        /// The engine.
        engine: String,
        /// Why.
        reason: String,
    },
    /// No cell of it was planned.
    NotPlanned,
}

/// Why there is no line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoLine {
    /// The record states no need.
    NoNeed(NoNeed),
    /// The size of a sample is not known.
    NoSampleSize,
}

impl NothingMeasured {
    pub(crate) fn skipped(skipped: &record::Skipped) -> Self {
        Self::Skipped { engine: skipped.engine.clone(), reason: skipped.reason.clone() }
    }
}
