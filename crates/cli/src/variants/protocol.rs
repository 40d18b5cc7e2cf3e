//! What parent and child say to each other: one line of JSON each, strictly in turn but for [`Order::Stop`].

use record::Variant;
use serde::{Deserialize, Serialize};

/// Version of these lines. A child says it before anything else, because it may be another feedline.
// A number of its own: versions of feedline change more often than these lines.
pub(super) const PROTOCOL: u32 = 1;

/// What the parent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(super) enum Order {
    /// Make the datasets ready and begin the record.
    Begin {
        /// Which variant this is.
        variant: Variant,
        /// How many there are.
        variants: u32,
        /// The command line of the whole run.
        command: Vec<String>,
    },
    /// Measure what this client can do without storage.
    Ceilings,
    /// Make a repetition.
    Turn {
        /// Index of the cell.
        cell: usize,
        /// Number of the repetition.
        rep: u32,
        /// Round of interleaving.
        round: u32,
    },
    /// End what is under way as interrupted. Has no answer of its own.
    // Out of turn, since it must reach a child in the middle of a repetition.
    Stop,
    /// End the record.
    End {
        /// Why repetitions are left that were planned; absent where all were made.
        left: Option<String>,
    },
}

/// What a child says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(super) enum Answer {
    /// It runs, and understands this much.
    Hello {
        /// See [`PROTOCOL`].
        protocol: u32,
        /// Version of feedline.
        version: String,
    },
    /// Its datasets are ready and its record is begun.
    Ready {
        /// Cells of its plan.
        cells: usize,
    },
    /// What was asked for is done.
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_as_it_was_written() {
        let variant = Variant {
            name: "a".to_owned(),
            group: "g".to_owned(),
            number: 1,
            settings: vec!["x=1".to_owned()],
        };
        let orders = [
            Order::Begin { variant, variants: 2, command: vec!["feedline".to_owned()] },
            Order::Ceilings,
            Order::Turn { cell: 3, rep: 1, round: 1 },
            Order::Stop,
            Order::End { left: Some("budget".to_owned()) },
        ];
        for order in orders {
            let line = serde_json::to_string(&order).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Order>(&line).unwrap(), order);
        }
        let hello = Answer::Hello { protocol: PROTOCOL, version: "1".to_owned() };
        for answer in [hello, Answer::Ready { cells: 4 }, Answer::Done] {
            let line = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<Answer>(&line).unwrap(), answer);
        }
    }
}
