//! `measure` as written.

use plan::CellOrder;
use schemars::JsonSchema;

use crate::diagnostic::{Problems, Span};
use crate::reader::{Field, TableReader};
use crate::value::{Count, Duration, Pause, Seed, Size, Whole};
use crate::words::Word;

/// How long, how often and in which order.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Measure {
    /// Time before the window opens; reads in it are made and not counted. Default: 2s, and none with
    /// `bytes` or `epochs`, which count from the first read, and with a training load, whose first fill is part of it.
    pub(crate) warmup: Field<Pause>,
    /// Length of the window; not together with `bytes` or `epochs`. A training load may end by `training.steps` or
    /// `training.epochs` instead. Default: 10s.
    pub(crate) duration: Field<Duration>,
    /// Bytes asked in one repetition.
    pub(crate) bytes: Field<Size>,
    /// Passes over the dataset in one repetition.
    pub(crate) epochs: Field<Count>,
    /// Repetitions of each cell, and rounds of fresh repetitions before the first look at them. Rounds are added until
    /// the verdicts are decided, up to 28 within the budget; below 3 repetitions none are. Default: 5.
    pub(crate) repetitions: Field<Whole<1, 100>>,
    /// Cap on the whole run once the dataset is there; what did not fit is listed. Default: none.
    pub(crate) budget: Field<Duration>,
    /// Order of the cells within a round. Default: random.
    pub(crate) cell_order: Field<Word<CellOrder>>,
    /// Seed of the order of cells and of the orders of reads. Default: 1.
    pub(crate) seed: Field<Seed>,
}

impl Measure {
    pub(super) fn read(_: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            warmup: table.field("warmup", problems),
            duration: table.field("duration", problems),
            bytes: table.field("bytes", problems),
            epochs: table.field("epochs", problems),
            repetitions: table.field("repetitions", problems),
            budget: table.field("budget", problems),
            cell_order: table.field("cell_order", problems),
            seed: table.field("seed", problems),
        }
    }
}
