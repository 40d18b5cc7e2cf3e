//! FEEDS, STARVES or UNCERTAIN for each storage target.
//!
//! A verdict rests on the fresh confirmation repetitions of one cell, never on the best of many cells.

mod against;
mod alone;
mod cause;
mod changed;
mod checkpoint_needs;
pub(crate) mod checkpoint_verdict;
mod checkpointed;
mod conditions;
mod decision;
mod narrower;
mod played;
pub(crate) mod read_verdict;
pub(crate) mod scope;
pub(crate) mod sizing;
mod source;
mod targets;
pub(crate) mod tiers;
pub(crate) mod unreached;
mod way_apart;

use feed::Judgement;

use crate::verdict::checkpoint_verdict::CheckpointVerdict;
use crate::verdict::read_verdict::ReadVerdict;
use crate::verdict::scope::Scope;

pub(crate) use against::judged;
pub use cause::{Cause, NoLine, NothingMeasured};
pub use conditions::Condition;
pub(crate) use narrower::narrower;
pub use played::Played;
pub(crate) use source::Source;
pub(crate) use targets::{Judged, rests_on};
pub use targets::{NoVerdict, Unjudged};
pub use unreached::{ClearsOtherwise, Unreached};
pub use way_apart::WayApart;

/// What can be said of one target against all that the need asks of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Name of the target.
    pub target: String,
    /// Whether feedline started the server itself: then nothing is judged, and the judgement is none.
    // Beside the judgement and no judgement of its own: what was measured is still shown as any other.
    pub demo: bool,
    /// Its reads; absent where the need asks for none.
    pub reads: Option<ReadVerdict>,
    /// Its checkpoints, part by part; empty where the need asks for none, and where they are written elsewhere.
    pub checkpoints: Vec<CheckpointVerdict>,
}

impl Verdict {
    /// The gravest of all that is asked for: a storage that feeds the reads and is late with checkpoints does not do for the job.
    pub fn judgement(&self) -> Judgement {
        let parts = self.reads.iter().map(|reads| reads.judgement);
        let parts = parts.chain(self.checkpoints.iter().map(|one| one.judgement));
        parts.reduce(Judgement::graver).unwrap_or(Judgement::Uncertain)
    }

    /// What is said of the reads alone, where the need asks for any.
    pub fn of_reads(&self) -> Option<&ReadVerdict> {
        self.reads.as_ref()
    }

    /// The cell by which the reads are judged; absent when nothing was measured.
    pub fn cell(&self) -> Option<&str> {
        self.reads.as_ref()?.cell.as_deref()
    }

    /// What each part is about.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        let reads = self.reads.iter().filter_map(|reads| reads.scope.as_ref());
        reads.chain(self.checkpoints.iter().map(|one| &one.scope))
    }

    /// Whether any part of it rests on the cell of this name.
    pub fn rests_on(&self, cell: &str) -> bool {
        self.cell() == Some(cell) || self.checkpoints.iter().any(|one| one.cell == cell)
    }

    /// Whether further rounds of fresh repetitions may decide a part of it.
    pub(crate) fn is_open(&self) -> bool {
        self.reads.as_ref().is_some_and(ReadVerdict::is_open)
            || self.checkpoints.iter().any(CheckpointVerdict::is_open)
    }

    /// Whether what was asked for was tried and failed: then a run has not done what it was to do.
    pub fn has_failed(&self) -> bool {
        self.reads.as_ref().is_some_and(ReadVerdict::has_failed)
            || self.checkpoints.iter().any(CheckpointVerdict::has_failed)
    }

    /// Its first word: the judgement, or DEMO.
    pub fn word(&self) -> &'static str {
        if self.demo { "DEMO" } else { self.judgement().name() }
    }
}

#[cfg(test)]
mod checkpoint_tests;
#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_tests;
