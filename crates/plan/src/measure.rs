//! How long, how often, in which order, and what decides the exit code.

use feed::{Compared, MayDiffer};

/// The measurement settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Time before the window opens; reads in it are made and not counted.
    pub warmup_ns: u64,
    /// What ends a repetition's window.
    pub limit: Limit,
    /// Repetitions of each cell, and rounds of fresh repetitions before the first look at them.
    pub repetitions: u32,
    /// Most rounds of fresh repetitions; further ones are made at planned looks, until the verdicts are decided.
    // Bounded beforehand: looks share the error that is left for wrong verdicts, and how many there may be
    // must be known before the first.
    pub fresh_rounds: u32,
    /// Cap on the whole run after the dataset is prepared; what did not fit is listed.
    pub budget_ns: Option<u64>,
    /// Order of cells within a round.
    pub cell_order: CellOrder,
    /// Seed of the order of cells and of the access orders.
    pub seed: u64,
}

/// What setting up a repetition and measuring ceilings take beyond its window and its warm-up, roughly, nanoseconds.
// Threads and buffers are set up outside the window. A budget corrects it by the longest repetition so far.
pub const OVERHEAD_NS: u64 = 150_000_000;

impl Measure {
    /// What one repetition takes, roughly, nanoseconds; `None` where that depends on the storage.
    pub fn repetition_ns(&self) -> Option<u64> {
        let window_ns = match self.limit {
            Limit::Duration { duration_ns } => duration_ns,
            Limit::Steps { otherwise_ns, .. } => otherwise_ns,
            Limit::Bytes { .. } | Limit::Epochs { .. } => return None,
        };
        Some(self.warmup_ns.saturating_add(window_ns).saturating_add(OVERHEAD_NS))
    }
}

/// What ends a repetition's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A length of time.
    Duration {
        /// Length of the window.
        duration_ns: u64,
    },
    /// A number of bytes asked.
    Bytes {
        /// Bytes.
        bytes: u64,
    },
    /// Steps of each accelerator of a training load.
    Steps {
        /// Steps.
        steps: u64,
        /// Length of the window of cells that play no training: that of the steps if no batch came late.
        // A closed loop beside the job has no steps; without a length of its own its window would never
        // close.
        otherwise_ns: u64,
    },
    /// Whole epochs.
    Epochs {
        /// Passes.
        epochs: u64,
    },
}

/// Order of cells within a round; every round runs each cell once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
// In the order of the file every target's first cells meet a fresh burst credit and its last ones an empty
// one, so that it is for debugging.
pub enum CellOrder {
    /// A new seeded random order each round, so that drift hits all cells alike.
    #[default]
    Random,
    /// The order of the file.
    File,
}

/// What turns verdicts and comparisons into an exit code; empty: nothing does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gate {
    /// Targets that must FEED.
    pub feeds: Vec<String>,
    /// Largest 99th percentile of a read's latency in the confirmation of each gated target.
    pub p99_ns: Option<u64>,
    /// Share of the demand that the gated targets must reach; the need's where absent.
    pub utilization: Option<f64>,
    /// Queue depth whose cells are held against `p99_ns`; the chosen cells where absent.
    pub at_depth: Option<u32>,
    /// How much worse than before each metric may be; empty: nothing is compared.
    pub regression: Vec<Margin>,
    /// Path of the calibration that says so instead, as it was written; with it `regression` is empty.
    pub calibration: Option<String>,
    /// Name of the runs that are compared with.
    pub baseline: Option<String>,
    /// Fewest comparable runs of the baseline; absent: as many as feedline asks for by itself.
    pub runs: Option<u32>,
    /// What may differ between those runs.
    pub may_differ: Vec<MayDiffer>,
    /// What the FEEDS of each gated target must rest on.
    pub evidence: Evidence,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Evidence {
    /// One run.
    #[default]
    Screen,
    /// Several runs on all hosts, spread over time.
    Proof {
        /// Fewest runs.
        runs: u32,
        /// Shortest time from the start of the first to the end of the last.
        // Runs in a row see one state of a shared storage. What varies by the time of day needs a day.
        span_ns: u64,
    },
}

impl Evidence {
    /// As scenarios and records write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Proof { .. } => "proof",
        }
    }
}

/// How much worse a metric may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// Which metric.
    pub metric: Compared,
    /// Share of the value before, above 0.
    pub share: f64,
}
