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

use feed::{Interval, Judgement, counted_noun};

use crate::bridge;
use crate::bridge::share::{of_line, percent};
use crate::cell::flag::{Flag, Gravity};
use crate::curve::Shape;
use crate::verdict::scope::Scope;

pub(crate) use against::judged;
pub use cause::Cause;
pub use played::Played;
pub(crate) use source::Source;
pub(crate) use targets::{Judged, rests_on};

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
    pub demo: bool,
    /// The cell it rests on; absent when nothing was measured.
    pub cell: Option<String>,
    /// Engine of that cell, with what the kernel was told of a map.
    pub engine: Option<String>,
    /// Depth of that cell.
    pub queue_depth: Option<u32>,
    /// The training job of that cell; absent for other loads, and without figures of the repetitions it rests on.
    pub played: Option<Played>,
    /// Samples, blocks, order and cache of that cell, when the target was read in several ways or warm.
    pub conditions: Option<String>,
    /// What the accelerators need, `8 x h100 resnet50`.
    pub need: String,
    /// Samples per second of the fresh repetitions, 95 % over all looks at them and all candidates.
    pub samples_per_s: Option<Interval>,
    /// The line, samples per second.
    pub line_samples_per_s: Option<f64>,
    /// Accelerators fed by the lower bound, by division; absent when the need names none, or a flag
    /// forbids FEEDS. Where a flag forbids STARVES the storage may feed more, and the sentence says so.
    pub feeds: Option<u32>,
    /// Other ways in which the target was read from storage and does not reach the line, in words.
    pub unreached: Vec<String>,
    /// The ways that do reach it, in one clause; absent when none does.
    pub clears: Option<String>,
    /// Why the judgement is this one.
    pub cause: Cause,
}

/// What a demo is.
const DEMO_WORDS: &str = "server started by feedline: shown, not judged";

/// A storage target whose figures say nothing of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjudged {
    /// Name of the target.
    pub target: String,
    /// Why, in words.
    pub reason: String,
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

    /// The verdict as one sentence, without its first words (judgement and target).
    pub fn sentence(&self) -> String {
        let mut parts = vec![self.main_clause()];
        parts.extend(self.loader_words());
        if let Some(feeds) = self.feeds_by_division() {
            let at_least = if self.feeds_at_least() { "at least " } else { "" };
            parts.push(format!("feeds {at_least}{feeds} by division"));
        }
        parts.extend(self.because());
        parts.extend(self.advice().map(ToOwned::to_owned));
        if self.demo {
            parts.push(DEMO_WORDS.to_owned());
        }
        parts.extend(self.circumstances());
        parts.extend(self.scope.as_ref().map(Scope::words));
        parts.join("; ")
    }

    /// Why the judgement is this one, clause by clause, for a place where need, number of accelerators, advice and scope
    /// stand by themselves.
    pub fn reasons(&self) -> Vec<String> {
        let main = match &self.cause {
            Cause::Clears { first } if self.played.is_none() => {
                format!("clears {}", self.place(if *first { "from" } else { "at" }))
            }
            Cause::Clears { .. } => {
                let main = self.main_clause();
                main.strip_prefix(&self.need).unwrap_or(&main).trim_start().to_owned()
            }
            Cause::Straddles { .. } => format!("interval straddles the line {}", self.place("at")),
            _ => self.main_clause(),
        };
        let more = match &self.cause {
            Cause::Straddles { made, rounds, most, command } => {
                Some(more_words(*made, *rounds, *most, command.as_deref()))
            }
            _ => None,
        };
        let clauses = std::iter::once(main).chain(more).chain(self.loader_words());
        clauses.chain(self.because()).chain(self.circumstances()).collect()
    }

    /// What to do before measuring again, where a flag forbids a judgement.
    pub fn advice(&self) -> Option<&'static str> {
        match &self.cause {
            Cause::Flagged(flag) => Some(bridge::flag::advice(flag)),
            _ => None,
        }
    }

    /// What the curve and the job say of a storage that falls short.
    fn because(&self) -> Vec<String> {
        let Cause::Short { shape, .. } = &self.cause else { return Vec::new() };
        let diagnosis = self.played.as_ref().and_then(|played| played.diagnosis.as_ref());
        let diagnosis = diagnosis.map(bridge::diagnosis::words);
        shape.as_ref().map(Shape::words).into_iter().chain(diagnosis).chain(self.clears.clone()).collect()
    }

    /// How the storage changed, and how it was read.
    fn circumstances(&self) -> Vec<String> {
        let changed = self.changed.filter(|_| !matches!(self.cause, Cause::Changed { .. }));
        let changed = changed.map(|bps| format!("it changed during the run: {}", changed_words(bps)));
        changed.into_iter().chain(self.conditions.clone()).collect()
    }

    fn main_clause(&self) -> String {
        let at = self.place("at");
        let of_job = self.played.as_ref().zip(self.engine.as_deref());
        if let Some(words) =
            of_job.and_then(|(played, engine)| played.clause(&self.cause, &self.need, engine))
        {
            return words;
        }
        match &self.cause {
            Cause::Clears { first } => {
                format!("{} {}", self.need, self.place(if *first { "from" } else { "at" }))
            }
            Cause::Short { share, .. } => format!("{} short {at}", percent(*share)),
            Cause::Straddles { made, rounds, most, command } => {
                let more = more_words(*made, *rounds, *most, command.as_deref());
                format!("interval straddles the line {at}{}; {more}", self.of_line_words())
            }
            Cause::Changed { bps } => {
                format!("the storage changed across the line {at}: {}", changed_words(*bps))
            }
            Cause::HostsOpen { hosts } => {
                let verb = if *hosts == 1 { "was" } else { "were" };
                format!(
                    "this host is fed {at}; {} more {verb} not tested",
                    feed::group_digits(u64::from(*hosts))
                )
            }
            Cause::BeyondLoader { reach } => {
                format!("clears {at}, and the stated loader has {reach} reads outstanding at most")
            }
            Cause::OthersAbove { queue_depth, share } => {
                format!("short {at}, but depth {queue_depth} stood at {} of the line", of_line(*share))
            }
            Cause::AskedFailed { reason } => format!("what was asked for failed: {reason}"),
            Cause::TooFewRepetitions { made } => {
                format!("too few repetitions {at}: {made} of the 3 that an interval needs")
            }
            // Found among few of the reads of any cell, so it is said of the target.
            Cause::Flagged(flag @ Flag::WrongBytes { .. }) => bridge::flag::words(flag),
            Cause::Flagged(flag) => format!("{} {at}", bridge::flag::words(flag)),
            Cause::ConfirmationFailed { reason } => format!("the confirmation failed {at}: {reason}"),
            Cause::NotConfirmed { reason } => format!("not confirmed {at}: {reason}"),
            Cause::NothingMeasured { reason } => format!("nothing was measured: {reason}"),
            Cause::Demo { of_line: Some(share) } => format!("{} of the line {at}", of_line(*share)),
            Cause::Demo { of_line: None } => format!("measured {at}"),
            Cause::NoLine { reason } => format!("measured {at}, not judged: {reason}"),
        }
    }

    /// `at depth 32 (io_uring)`, `with 8 readers, prefetch 8 (io_uring)`.
    fn place(&self, preposition: &str) -> String {
        if let Some((played, engine)) = self.played.as_ref().zip(self.engine.as_deref()) {
            return played.place(engine);
        }
        match (&self.engine, self.queue_depth) {
            (Some(engine), Some(depth)) => format!("{preposition} depth {depth} ({engine})"),
            _ => "in no cell".to_owned(),
        }
    }

    /// What a closed loop that feeds takes of a loader.
    fn loader_words(&self) -> Option<String> {
        let feeds = matches!(self.cause, Cause::Clears { .. } | Cause::HostsOpen { .. });
        self.scope.as_ref().filter(|_| feeds && self.played.is_none())?.load.words()
    }

    /// `: 97 to 104 % of it`.
    fn of_line_words(&self) -> String {
        self.samples_per_s.zip(self.line_samples_per_s).map_or_else(String::new, |(interval, line)| {
            format!(": {:.0} to {:.0} % of it", interval.low / line * 100.0, interval.high / line * 100.0)
        })
    }
}

/// What would decide a verdict that is open.
fn more_words(made: u32, rounds: Option<u32>, most: u32, command: Option<&str>) -> String {
    let made = counted_noun(u64::from(made), "round");
    match (rounds, command) {
        (None, _) => format!("no number of rounds that pays would decide ({made} made)"),
        (Some(rounds), Some(command)) => {
            format!("about {rounds} rounds would decide ({made} made): {command}")
        }
        (Some(rounds), None) => format!("about {rounds} of {most} rounds would decide ({made} fitted)"),
    }
}

/// `1.56 GB/s, then 1.19 GB/s`.
fn changed_words((before, after): (f64, f64)) -> String {
    format!("{}, then {}", feed::format_bps(before), feed::format_bps(after))
}

#[cfg(test)]
mod tests;
