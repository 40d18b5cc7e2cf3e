//! `gate` as written.

use schemars::JsonSchema;

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::List;
use crate::reader::{Field, TableReader};
use crate::value::{Duration, Text};

/// What turns the verdict into an exit code.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("required" = ["feeds"]))]
pub(crate) struct Gate {
    /// Targets that must FEED.
    pub(crate) feeds: Field<List<Text>>,
    /// Largest 99th percentile of a read's latency in the confirmation of each of these targets.
    pub(crate) p99: Field<Duration>,
}

impl Gate {
    pub(super) fn read(at: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        let gate = Self { feeds: table.field("feeds", problems), p99: table.field("p99", problems) };
        if gate.feeds.is_absent() {
            problems.push(missing_feeds(at, &gate));
        }
        gate
    }
}

fn missing_feeds(at: Span, gate: &Gate) -> Problem {
    let (place, label) = match gate.p99.key() {
        Some(p99) => (p99, "holds for the targets in `feeds`"),
        None => (at, "gates nothing"),
    };
    Problem::absent("`gate.feeds` is missing: which targets must feed?")
        .at(place, label)
        .help("for example gate = { feeds = [\"data\"] }")
}
