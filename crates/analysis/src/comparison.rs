//! What changed between two runs, two variants or two targets, and what noise could have hidden.
//!
//! The repetition is the sample where both sides were interleaved in one run; the run is the sample where they were
//! stored on different days. The single read never is: a thousand reads of one bad second are one observation.
//!
//! All arithmetic is on natural logarithms: a ratio is a difference there, and noise that scales with the figure has one
//! spread.

mod calibration;
mod cells;
mod comparable;
mod correction;
mod difference;
mod effect;
mod gaps;
mod gate;
mod history;
mod label;
mod paired;
mod sample;
mod shift;
mod stored;
mod student;
mod targets;
mod variants;
mod why;

pub use calibration::{Calibration, CalibrationNote, Noise, calibrate, calibrate_history};
pub use comparable::{NotComparable, RefusalHint};
pub use difference::Difference;
pub use gate::{Regression, RegressionResult, Undecided};
pub use history::{Break, History, HistoryCell, HistoryPoint, HistoryValue, history};
pub use sample::{CellSample, RepSample, RunSample};
pub use shift::{Shift, ShiftPoint, shift};
pub use stored::compare_stored;
pub use targets::compare_targets;
pub use variants::compare_variants;
pub use why::{
    Because, ComparisonNote, Excluded, Exclusion, NoFigures, OneSide, Sampled, SideExclusions, Uncompared,
    UncomparedReason,
};

use crate::cell::metric::Metric;
use student::Estimate;

/// Fewest comparable runs of a baseline by default: an interval over fewer says little about the next run.
pub const RUNS_MIN: u32 = 8;

/// What a comparison found of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The whole interval lies beyond the margin, in the bad direction.
    Regressed,
    /// The whole interval lies beyond the margin, in the good direction.
    Improved,
    /// The whole interval lies within the margin on both sides.
    Unchanged,
    /// None of these: the data cannot tell.
    Inconclusive,
}

/// A ratio of after to before with its 95 % interval. 1 is no change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Lower end; 0 where the data give none.
    pub low: f64,
    /// Geometric mean.
    pub mean: f64,
    /// Upper end; infinite where the data give none.
    pub high: f64,
}

/// One metric of one cell, or of a target's cells together.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Which metric.
    pub metric: &'static Metric,
    /// Geometric mean of the samples before, in base units: bytes or operations per second, nanoseconds, share.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// After by before; its interval is absent (0 to infinity) where there are too few samples for one.
    pub ratio: Ratio,
    /// Samples before: repetitions of an interleaved run, or runs.
    pub samples_before: u32,
    /// Samples after; equal to those before where they are paired.
    pub samples_after: u32,
    /// The smallest change that such data show four times in five, as a share (80 % power, 5 % two-sided); absent
    /// without an interval.
    pub detectable: Option<f64>,
    /// Changes up to this share are no regression.
    pub margin: f64,
    /// What it comes to, after the correction for many cells.
    pub change: Change,
    /// Why it is inconclusive; absent otherwise.
    pub because: Option<Because>,
}

/// A cell on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct CellComparison {
    /// Its name in the record before.
    pub cell: String,
    /// Name of the target (before, where targets are compared).
    pub target: String,
    /// Engine and queue depth and what else tells it from its neighbours, in words: `io_uring, depth 32`.
    pub label: String,
    /// Metrics that both sides have, in the order of [`Compared::ALL`](feed::Compared::ALL).
    pub effects: Vec<Effect>,
    /// Why nothing may rest on it: not steady, drifting, client-limited, failed operations. It has its figures and
    /// decides nothing.
    pub excluded: Option<Excluded>,
    /// Whether a fall beyond the margin counts although it is excluded: the side before is sound, and what is wrong with the
    /// side after (too few operations, errors) is what a collapse looks like.
    pub falls_count: bool,
}

/// A cell that had figures before and has none after.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// Its name.
    pub cell: String,
    /// Name of its target.
    pub target: String,
    /// Whether it was measured, and every repetition failed.
    pub failed: bool,
    /// Why it has no figures.
    pub reasons: Vec<Exclusion>,
}

/// All cells of a target together: the geometric mean of their throughput ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// Name of the target.
    pub target: String,
    /// Cells that it rests on.
    pub cells: u32,
    /// Throughput, or AU where every cell of the target plays a training job.
    pub effect: Effect,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// How it is called: a variant, a target, a run, a baseline.
    pub name: String,
    /// Runs it rests on, oldest first.
    pub run_ids: Vec<String>,
}

/// Where the samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Repetitions of variants, interleaved in rounds.
    Variants,
    /// Repetitions of targets of one run, interleaved in rounds.
    Targets,
    /// Runs: one after, and a history before.
    Stored,
}

/// Everything a rendering of a comparison needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Where the samples come from.
    pub pairing: Pairing,
    /// Name of the scenario.
    pub scenario: String,
    /// What is compared with.
    pub before: Side,
    /// What is compared.
    pub after: Side,
    /// Cells that both sides have, in the order of the scenario.
    pub cells: Vec<CellComparison>,
    /// One for each target that has comparable cells, in the order of the scenario.
    pub headlines: Vec<Headline>,
    /// Cells that had figures before and have none after.
    pub lost: Vec<Lost>,
    /// What could not be compared: cells of one side alone, cells without figures.
    pub gaps: Vec<Uncompared>,
    /// What a reader must know: few runs, what was declared to differ and does.
    pub notes: Vec<ComparisonNote>,
}

impl Comparison {
    /// Every effect that something may rest on, headlines first, with the name of its target or cell.
    pub fn judged(&self) -> impl Iterator<Item = (&str, &Effect)> {
        let headlines = self.headlines.iter().map(|one| (one.target.as_str(), &one.effect));
        let cells = self.cells.iter().filter(|cell| cell.excluded.is_none());
        headlines.chain(cells.flat_map(|cell| cell.effects.iter().map(|effect| (cell.cell.as_str(), effect))))
    }
}

impl Ratio {
    /// A ratio about which nothing is known but its estimate.
    fn bare(mean: f64) -> Self {
        Self { low: 0.0, mean, high: f64::INFINITY }
    }

    /// A ratio with the interval of its logarithm, where that is known.
    fn of(mean: f64, estimate: Option<Estimate>) -> Self {
        let Some(estimate) = estimate else { return Self::bare(mean) };
        let (low, high) = estimate.interval();
        Self { low: low.exp(), mean, high: high.exp() }
    }
}

#[cfg(test)]
mod tests;
