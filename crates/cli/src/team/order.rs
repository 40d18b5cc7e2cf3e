//! What rank 0 tells the others, and what they hand over.

use engine::Turn;
use record::{Rep, RepIntervals, Role};
use serde::{Deserialize, Serialize};

/// What rank 0 tells the others to do. It is the answer to nothing: whoever is told hands over what it made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(super) enum Order {
    /// Wait for the next order, which is being decided.
    Wait,
    /// Measure what this client can do without storage, for the shapes of these cells, by their indices.
    Ceilings {
        /// Which.
        cells: Vec<usize>,
    },
    /// Make a repetition.
    Repeat {
        /// Index of the cell.
        cell: usize,
        /// Number of the repetition.
        rep: u32,
        /// Round of interleaving.
        round: u32,
        /// How often it was made before.
        again: u32,
        /// Why it is made.
        role: Role,
    },
    /// Look at the data a last time, and end.
    End,
}

impl Order {
    /// The order to make a repetition.
    pub(super) fn repeat(turn: Turn, role: Role) -> Self {
        let Turn { cell, rep, round, again } = turn;
        Self::Repeat { cell, rep, round, again, role }
    }
}

/// A repetition that a process made, and its seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) rep: Box<Rep>,
    pub(super) intervals: RepIntervals,
}
