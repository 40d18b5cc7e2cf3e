//! One demand of a gate, and what became of it.

use record::Skipped;

use super::GateResult;
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;
use crate::cell::flag::Flag;
use crate::cell::gap::Gap;
use crate::verdict::{NoVerdict, Verdict};

/// One demand of a gate on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Name of the target.
    pub target: String,
    /// What is demanded: `feeds`, `p99`.
    pub what: &'static str,
    /// What became of it; never [`GateResult::None`].
    pub result: GateResult,
}

/// A requirement that is not known to hold, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmet {
    /// Name of the target.
    pub target: String,
    /// What is required of it.
    pub requirement: Requirement,
    /// Why it is not known to hold.
    pub why: WhyUnmet,
}

impl Unmet {
    pub(super) fn of(target: &str, requirement: Requirement, why: WhyUnmet) -> Self {
        Self { target: target.to_owned(), requirement, why }
    }
}

/// What a gate requires of a target.
#[derive(Debug, Clone, PartialEq)]
pub enum Requirement {
    /// It must FEED.
    Feeds,
    /// It must FEED by a proof of so many runs; absent where the record does not say how many.
    Proof(Option<record::Proof>),
    /// It must reach this share of the demand.
    Utilization(f64),
    /// The 99th percentile of latency stays within a limit.
    P99 {
        /// The limit.
        limit_ns: u64,
        /// Where; absent for the cell that the verdict rests on.
        at: Option<AtDepth>,
    },
}

/// The cells of a target at one depth, or one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtDepth {
    /// The depth.
    pub queue_depth: u32,
    /// Name of the cell, where there are several.
    pub cell: Option<String>,
}

/// Why a requirement is not known to hold.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyUnmet {
    /// Its server was started by feedline.
    Demo,
    /// The target has no verdict.
    NotJudged(NotJudged),
    /// Its verdict says why.
    Verdict(Box<Verdict>),
    /// It would hold, of a cell that is in no steady state or on which no verdict may rest.
    Flagged(Flag),
    /// One run is a screen, and no proof.
    OneRun,
    /// Arrivals offered no more than this share of the demand.
    Offered(f64),
    /// From so much to so much of the demand was reached.
    Reached(f64, f64),
    /// No interval can be given.
    TooFewRepetitions,
    /// No cell at the depth reads samples.
    NothingAtDepth,
    /// The cell was not measured, and why.
    Unmeasured(Gap),
    /// The cell moves no bytes.
    NoBytes,
    /// The percentile falls among arrivals that were not served.
    NotServed,
    /// The percentile, which is beyond the limit.
    TooLate(u64),
    /// It needs 1,000 reads.
    FewReads,
}

/// Why a target has no verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum NotJudged {
    /// No verdict can rest on what was measured.
    NoVerdict(NoVerdict),
    /// It was left out before the run.
    Skipped(Skipped),
    /// The run has no such storage target.
    NoTarget,
}

/// What became of a requirement.
pub(super) enum Outcome {
    Holds,
    Fails(Unmet),
    Open(Unmet),
}

/// What holds, unless the cell is in no steady state.
pub(super) fn holds_if_steady(cell: Option<&CellSummary>, unmet: impl Fn(WhyUnmet) -> Unmet) -> Outcome {
    let excluded = cell.and_then(CellSummary::unsteady).cloned();
    excluded.map_or(Outcome::Holds, |flag| Outcome::Open(unmet(WhyUnmet::Flagged(flag))))
}

pub(super) fn confirmed(cell: &CellSummary) -> Option<&Figures> {
    cell.confirmed.as_ref().and_then(Measurement::figures)
}
