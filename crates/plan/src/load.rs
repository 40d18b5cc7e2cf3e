//! When operations are issued.

use crate::Training;

/// When operations are issued.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// One is issued as soon as another has ended: the depth is kept full.
    Closed,
    /// Each has its time, whatever became of those before it: an open loop.
    // Paced at the line it shows latency as an accelerator meets it: a closed loop slows down with the
    // storage and hides its stalls (coordinated omission).
    Paced(Pace),
    /// As a training job wants them: batch by batch, in time for each step.
    Training(Training),
}

impl Load {
    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Paced(_) => "paced",
            Self::Training(_) => "training",
        }
    }
}

/// The schedule of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// How fast.
    pub rate: Rate,
    /// How the arrivals are spread.
    pub arrivals: Arrivals,
    /// How long before an arrival a thread stops sleeping and looks at the clock instead.
    // 0 by default: a sleep wakes some 50 us late (the timer slack of Linux), as a loader's does, and
    // spinning takes a core from what is measured.
    pub spin_ns: u64,
}

/// The rate of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Bytes per second.
    Bytes {
        /// Bytes per second.
        per_s: f64,
    },
    /// A share of the feed line: 1 is the line itself.
    OfLine {
        /// The share.
        share: f64,
    },
}

/// How the arrivals of an open loop are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    Constant,
    /// Independently of each other (exponential distances, seeded).
    Poisson,
    /// A training step at a time: all samples of a global batch are wanted at once.
    Batch {
        /// Samples of one step.
        // Loaders ask for whole batches, so that arrivals at equal distances flatter a storage.
        samples: u64,
    },
}

impl Arrivals {
    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
            Self::Batch { .. } => "batch",
        }
    }
}
