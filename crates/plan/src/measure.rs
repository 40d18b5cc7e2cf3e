//! How long, how often, in which order, and what decides the exit code.

/// The measurement settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Time before the window opens; reads in it are made and not counted.
    pub warmup_ns: u64,
    /// What ends a repetition's window.
    pub limit: Limit,
    /// Repetitions of each cell, and of the confirmation.
    pub repetitions: u32,
    /// Cap on the whole run after the dataset is prepared; what did not fit is listed.
    pub budget_ns: Option<u64>,
    /// Order of cells within a round.
    pub cell_order: CellOrder,
    /// Seed of the order of cells and of the access orders.
    pub seed: u64,
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
        otherwise_ns: u64,
    },
    /// Whole passes over the dataset.
    Epochs {
        /// Passes.
        epochs: u64,
    },
}

/// Order of cells within a round; every round runs each cell once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellOrder {
    /// A new seeded random order each round, so that drift hits all cells alike.
    #[default]
    Random,
    /// The order of the file.
    File,
}

/// What turns the verdict into an exit code; empty: nothing does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gate {
    /// Targets that must FEED.
    pub feeds: Vec<String>,
    /// Largest 99th percentile of a read's latency in the confirmation of each gated target.
    pub p99_ns: Option<u64>,
}
