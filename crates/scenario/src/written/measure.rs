//! `measure` as written.

use plan::CellOrder;

use crate::table::{Table, table};
use crate::value::{Count, Duration, Pause, Seed, Size, Whole};
use crate::words::Word;

table! {
    /// How long, how often and in which order.
    pub(crate) struct Measure {
        /// Time before the window opens; reads in it are made and not counted. Default: 2s, and none with
        /// `bytes` or `epochs`, which count from the first read, and with a training load, whose first fill is part of it.
        warmup: Pause,
        /// Length of the window; not together with `bytes` or `epochs`. A training load may end by `training.steps` or
        /// `training.epochs` instead. Default: 10s.
        duration: Duration,
        /// Bytes asked in one repetition.
        bytes: Size,
        /// Passes over the dataset in one repetition.
        epochs: Count,
        /// Repetitions of each cell, and rounds of fresh repetitions before the first look at them. Rounds are added until
        /// the verdicts are decided, up to 28 within the budget; below 3 repetitions none are. Default: 5.
        // One repetition is allowed for a look, and has no interval: the report says that there is no
        // verdict then.
        repetitions: Whole<1, 100>,
        /// Cap on the whole run once the dataset is there; what did not fit is listed. Default: none.
        budget: Duration,
        /// Order of the cells within a round. Default: random.
        cell_order: Word<CellOrder>,
        /// Seed of the order of cells and of the orders of reads. Default: 1.
        seed: Seed,
    }
}

impl Table for Measure {
    const EXAMPLE: &'static str = "{ repetitions = 5 }";
}
