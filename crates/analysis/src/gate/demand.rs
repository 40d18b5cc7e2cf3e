//! One demand of a gate, and what became of it.

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;

pub(super) enum Demand {
    Holds,
    Fails(String),
    Open(String),
}

/// What holds, unless the cell is in no steady state.
pub(super) fn holds_if_steady(cell: Option<&CellSummary>, demand: impl Fn() -> String) -> Demand {
    let excluded = cell.and_then(CellSummary::unsteady).map(crate::bridge::flag::words);
    excluded.map_or(Demand::Holds, |reason| Demand::Open(format!("{}: not decided: {reason}", demand())))
}

/// What is said of a server that feedline started, whatever is asked of it.
pub(super) const DEMO_WORDS: &str =
    "not decided: a demo cannot be judged, its server was started by feedline";

pub(super) fn confirmed(cell: &CellSummary) -> Option<&Figures> {
    cell.confirmed.as_ref().and_then(Measurement::figures)
}
