//! FEEDS, STARVES or UNCERTAIN for each storage target.
//!
//! A verdict rests on the fresh confirmation repetitions of one cell, never on the best of many cells.

mod against;
mod cause;
mod changed;
mod checkpointed;
mod conditions;
mod decision;
mod played;
pub(crate) mod scope;
pub(crate) mod sizing;
mod source;
mod targets;
pub(crate) mod tiers;
pub(crate) mod unreached;

use feed::{Interval, Judgement};

use crate::cell::flag::Gravity;
use crate::verdict::scope::Scope;

pub(crate) use against::judged;
pub use cause::{Cause, NoLine, NothingMeasured};
pub use conditions::Condition;
pub use played::Played;
pub(crate) use source::Source;
pub(crate) use targets::{Judged, rests_on};
pub use targets::{NoVerdict, Unjudged};
pub use unreached::{ClearsOtherwise, Unreached, WayApart};

/// What can be said of one target against the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Name of the target.
    pub target: String,
    /// The judgement.
    pub judgement: Judgement,
    /// What it is about; absent when nothing was measured.
    pub scope: Option<Scope>,
    /// Bytes per second before and after the storage changed during the run, by the deciding cell; absent where it did not.
    pub changed: Option<(f64, f64)>,
    /// Whether feedline started the server itself: then nothing is judged, and the judgement is none.
    // Beside the judgement and no judgement of its own: what was measured is still shown as any other.
    pub demo: bool,
    /// The cell it rests on; absent when nothing was measured.
    pub cell: Option<String>,
    /// Engine of that cell, with what the kernel was told of a map.
    pub engine: Option<String>,
    /// Depth of that cell.
    pub queue_depth: Option<u32>,
    /// The training job of that cell; absent for other loads, and without figures of the repetitions it rests on.
    pub played: Option<Played>,
    /// How that cell was read, as far as the verdict could be taken for one on another way of reading the target.
    pub conditions: Vec<Condition>,
    /// What the accelerators need, `8 x h100 resnet50`.
    pub need: String,
    /// Samples per second of the fresh repetitions, 95 % over all looks at them and all candidates.
    pub samples_per_s: Option<Interval>,
    /// The line, samples per second.
    pub line_samples_per_s: Option<f64>,
    /// Accelerators fed by the lower bound, by division; absent when the need names none, or a flag
    /// forbids FEEDS. Where a flag forbids STARVES the storage may feed more ([`Self::feeds_at_least`]).
    pub feeds: Option<u32>,
    /// Other ways in which the target was read from storage and does not reach the line.
    pub unreached: Vec<Unreached>,
    /// The other ways that do reach it; absent when none does.
    pub clears: Option<ClearsOtherwise>,
    /// Why the judgement is this one.
    pub cause: Cause,
}

impl Verdict {
    /// Accelerators that the rate would feed by division, which no measurement of so many confirmed; absent where the
    /// verdict is that those of the need are fed.
    pub fn feeds_by_division(&self) -> Option<u32> {
        self.feeds.filter(|_| self.judgement != Judgement::Feeds)
    }

    /// Whether the storage may feed more than [`Self::feeds`], since something kept it from showing what it can.
    pub fn feeds_at_least(&self) -> bool {
        self.feeds.is_some() && self.flagged().is_some()
    }

    /// What the flag forbids that decided the judgement; `None` where none did.
    fn flagged(&self) -> Option<Gravity> {
        if let Cause::Flagged(flag) = &self.cause { Some(flag.gravity()) } else { None }
    }

    /// Whether further rounds of fresh repetitions may decide it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.cause, Cause::Straddles { .. } | Cause::TooFewRepetitions { .. })
    }

    /// Whether what was asked for was tried and failed: then a run has not done what it was to do.
    pub fn has_failed(&self) -> bool {
        matches!(self.cause, Cause::AskedFailed { .. } | Cause::ConfirmationFailed { .. })
    }

    /// Its first word: the judgement, or DEMO.
    pub fn word(&self) -> &'static str {
        if self.demo { "DEMO" } else { self.judgement.name() }
    }
}

#[cfg(test)]
mod tests;
