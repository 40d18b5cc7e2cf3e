//! One demand of a gate, and what became of it.

use record::Skipped;

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;
use crate::cell::flag::Flag;
use crate::cell::gap::Gap;
use crate::verdict::{NoVerdict, Verdict};

/// How a run, or one target of it, stands against its gate.
#[derive(Debug, Clone, PartialEq)]
pub enum GateResult {
    /// The scenario has no gate.
    None,
    /// All that it asks holds.
    Met,
    /// At least one demand does not hold; these first, then those that could not be decided.
    Missed(Vec<Unmet>),
    /// No demand is known not to hold, and these could not be decided.
    Inconclusive(Vec<Unmet>),
}

impl GateResult {
    pub(super) fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let (mut missed, mut open) = (Vec::new(), Vec::new());
        for outcome in outcomes {
            match outcome {
                Outcome::Holds => {}
                Outcome::Fails(unmet) => missed.push(unmet),
                Outcome::Open(unmet) => open.push(unmet),
            }
        }
        match (missed.is_empty(), open.is_empty()) {
            (true, true) => Self::Met,
            (true, false) => Self::Inconclusive(open),
            // What is open comes along: who mends the one would be surprised by the other in the next run.
            (false, _) => Self::Missed(missed.into_iter().chain(open).collect()),
        }
    }
}

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
    /// The percentile falls among arrivals that were not served, or reads that failed.
    NotServed,
    /// The percentile, which is beyond the limit.
    TooLate(u64),
    /// The same of all reads that were asked for, where those that ended keep within the limit.
    TooLateWithFailed(u64),
    /// It needs 1,000 reads.
    FewReads,
    /// It needs 1,000 of each kind of what a mix does.
    FewOfKind {
        /// `reads` or `writes`.
        kind: &'static str,
        /// So many of them were measured.
        count: u64,
    },
    /// The responses of reads and of writes keep it together, and were not recorded apart.
    ResponsesTogether,
    /// It holds for all that was served, and arrivals that were not may have been reads, or writes, each.
    NotServedOfKind(&'static str),
}

/// Why a target has no verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum NotJudged {
    /// No verdict can rest on what was measured.
    NoVerdict(NoVerdict),
    /// It was left out before the run.
    Skipped(Skipped),
    /// The run has no such storage target.
    // A gate may name a target that `--only` left out, or that another version of the scenario had.
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
    // Open and not failed: a limit that was kept while the storage changed may not be kept tomorrow.
    let excluded = cell.and_then(CellSummary::unsteady).cloned();
    excluded.map_or(Outcome::Holds, |flag| Outcome::Open(unmet(WhyUnmet::Flagged(flag))))
}

pub(super) fn confirmed(cell: &CellSummary) -> Option<&Figures> {
    cell.confirmed.as_ref().and_then(Measurement::figures)
}
