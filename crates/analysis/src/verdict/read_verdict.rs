//! What can be said of the reads that a need asks for.

use feed::{Flow, Interval, Judgement};
use record::AxisWords;

use super::cause::Cause;
use super::conditions::Condition;
use super::played::Played;
use super::unreached::{ClearsOtherwise, Unreached};
use crate::cell::flag::Gravity;
use crate::cell::slow_rank::SlowRanks;
use crate::verdict::scope::Scope;

/// What one of several rates would be told if it alone were asked for: a storage that starves two jobs may feed either.
///
/// It is a rate of bytes, whatever the samples are, since bytes are what is added up.
#[derive(Debug, Clone, PartialEq)]
pub struct AloneVerdict {
    /// Its need in words.
    pub need: String,
    /// Bytes per second that it asks for at the utilization target.
    pub line_bps: f64,
    /// What the deciding cell of all of them reaches, by this line.
    pub of_line: Interval,
    /// The judgement.
    pub judgement: Judgement,
    /// What keeps it open where the interval alone would not; `None` where that holds the line, and where it is judged.
    pub open: Option<Cause>,
}

/// What can be said of the reads of one target against the line.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadVerdict {
    /// Which way bytes are asked to go.
    pub asked: Flow,
    /// The judgement.
    pub judgement: Judgement,
    /// What it is about; absent when nothing was measured.
    pub scope: Option<Scope>,
    /// Bytes per second before and after the storage changed during the run, by the deciding cell; absent where it did not.
    pub changed: Option<(f64, f64)>,
    /// The cell it rests on; absent when nothing was measured.
    pub cell: Option<String>,
    /// Engine of that cell, with what the kernel was told of a map.
    pub engine: Option<String>,
    /// Depth of that cell.
    pub queue_depth: Option<u32>,
    /// What sets the dataset of that cell apart from others of its layout and sample size; empty where the scenario lists no
    /// several.
    pub form: Vec<AxisWords>,
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
    /// Processes that were slower than the others in the cell it rests on; absent where none was.
    pub slow: Option<SlowRanks>,
    /// What each of several rates would be told by itself, where the need is their sum.
    pub alone: Vec<AloneVerdict>,
    /// Why the judgement is this one.
    pub cause: Cause,
}

impl ReadVerdict {
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
    pub(super) fn flagged(&self) -> Option<Gravity> {
        if let Cause::Flagged(flag) = &self.cause { Some(flag.gravity()) } else { None }
    }

    /// Whether further rounds of fresh repetitions may decide it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.cause, Cause::Straddles { .. } | Cause::TooFewRepetitions { .. })
    }

    /// Whether what was asked for was tried and failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.cause, Cause::AskedFailed { .. } | Cause::ConfirmationFailed { .. })
    }

    /// Whether feedline started the server itself: then nothing is judged, and the judgement is none.
    pub fn is_demo(&self) -> bool {
        matches!(self.cause, Cause::Demo { .. })
    }
}
