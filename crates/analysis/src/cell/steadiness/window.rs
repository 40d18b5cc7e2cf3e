//! Steady state within each window, and the fall of burst credits.

use record::{Cell, Rep};

use super::{FALL_MAX, SECONDS_MIN, has_rate_of_its_own, total, whole_seconds};
use crate::cell::context::Context;
use crate::cell::flag::SLOPE_MAX;
use crate::cell::flag::{Flag, TURNS_MIN};
use crate::cell::interval;
use crate::cell::line_fit::LineFit;

/// Rounds of SNIA's measurement window.
const ROUNDS_MIN: usize = 5;

// SNIA gives up after 25 rounds without a steady state.
/// Rounds beyond which a long window only has longer ones.
const ROUNDS_MAX: usize = 25;

/// Seconds of one of SNIA's rounds: longer windows have more rounds rather than longer ones.
const ROUND_SECONDS: usize = 60;

/// Operations of a round below which their number, or the spread of their sizes, is noise: at 400, sizes that spread by
/// their mean make the range of five rounds 12 % in the mean.
const ROUND_OPS_MIN: f64 = 400.0;

/// Largest minus smallest round by their average, up to which a state is steady (SNIA).
const RANGE_MAX: f64 = 0.20;

/// What a limit is exceeded by only in the last bits of a sum.
const TOLERANCE: f64 = 1e-9;

/// What the windows of a cell say of its state; nothing where they are steady, or too short to tell.
pub(crate) fn within_windows(context: &Context<'_>, used: &[&Rep]) -> Option<Flag> {
    let windows: Vec<Window> = used.iter().filter_map(|rep| Window::of(context.cell, rep)).collect();
    let of_line = |bps: Option<f64>| Some(bps? / context.line_bps().filter(|line| *line > 0.0)?);
    // In every window, as credits refill between repetitions: a single window that falls may have met a neighbour.
    if let Some(fall) = fall_of_all(&windows) {
        let ends: Vec<f64> = windows.iter().map(|window| window.last_third).collect();
        return Some(Flag::Bursts { fall, in_windows: true, end_of_line: of_line(interval::mean(&ends)) });
    }
    let unsteady: Vec<&Window> = windows.iter().filter(|window| !window.is_steady()).collect();
    let ends: Vec<f64> = unsteady.iter().map(|window| window.end).collect();
    let slopes = unsteady.iter().map(|window| window.slope);
    Some(Flag::NotSteady {
        repetitions: unsteady.len() as u32,
        made: windows.len() as u32,
        range: unsteady.iter().map(|window| window.range).reduce(f64::max)?,
        slope: slopes.reduce(|worst, slope| if slope.abs() > worst.abs() { slope } else { worst })?,
        end_of_line: of_line(interval::mean(&ends)),
    })
}

/// By what share throughput falls from the first third to the last, where it does so in every window.
fn fall_of_all(windows: &[Window]) -> Option<f64> {
    let left: Vec<f64> = windows.iter().map(|window| window.last_third / window.first_third).collect();
    let all = left.iter().all(|left| *left < 1.0 - FALL_MAX - TOLERANCE);
    interval::mean(&left).filter(|_| all).map(|left| 1.0 - left)
}

/// The rounds of one window, in what moved per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    /// Largest minus smallest round by their average.
    pub(super) range: f64,
    /// Change of the fitted line from the middle of the first round to that of the last by their average.
    pub(super) slope: f64,
    /// The fitted line in the middle of the last round.
    pub(super) end: f64,
    pub(super) first_third: f64,
    pub(super) last_third: f64,
}

impl Window {
    /// `None` where the window is too short, or moved too little, to tell.
    pub(super) fn of(cell: &Cell, rep: &Rep) -> Option<Self> {
        let seconds = whole_seconds(cell, rep);
        if seconds.len() < SECONDS_MIN || !has_rate_of_its_own(cell) {
            return None;
        }
        // Of the seconds that are looked at, as a record may hold more or fewer counts of the one kind than of the other.
        let ops = total(&rep.second_ops[..rep.second_ops.len().min(seconds.len())]);
        // An open loop has no queue of its own that could be cut at the edges of a round.
        let depth = if cell.pace.is_none() { f64::from(cell.queue_depth) } else { 0.0 };
        let rounds = number_of_rounds(seconds.len(), ops / ROUND_OPS_MIN.max(TURNS_MIN * depth))?;
        // Thirds and not halves: credits that end in the middle leave the middle third to whichever side it falls, and both
        // outer ones whole.
        let third = seconds.len() / 3;
        let per_s = |part: &[u64]| total(part) / part.len() as f64;
        let (range, slope, end) = fit(&in_rounds(seconds, rounds))?;
        Some(Self {
            range,
            slope,
            end,
            first_third: per_s(&seconds[..third]),
            last_third: per_s(&seconds[seconds.len() - third..]),
        })
    }

    pub(super) fn is_steady(&self) -> bool {
        self.range <= RANGE_MAX + TOLERANCE && self.slope.abs() <= SLOPE_MAX + TOLERANCE
    }
}

/// Rounds of a window of so many seconds, whose operations are enough for `affordable` of them.
pub(super) fn number_of_rounds(seconds: usize, affordable: f64) -> Option<usize> {
    let rounds = seconds.div_ceil(ROUND_SECONDS).clamp(ROUNDS_MIN, ROUNDS_MAX);
    // Fewer rounds where operations are few, and silence below five: a second with eight reads in it scatters by a third from
    // counting alone, and would make every slow storage unsteady.
    let rounds = rounds.min(affordable as usize);
    (rounds >= ROUNDS_MIN).then_some(rounds)
}

/// Middle of each round in seconds, and what moved in it per second. Rounds differ by a second where they do not divide
/// the window, so that none of it is lost.
pub(super) fn in_rounds(seconds: &[u64], rounds: usize) -> Vec<(f64, f64)> {
    let edge = |round: usize| round * seconds.len() / rounds;
    let of_round = |round: usize| {
        let (from, to) = (edge(round), edge(round + 1));
        ((from + to) as f64 / 2.0, total(&seconds[from..to]) / (to - from) as f64)
    };
    (0..rounds).map(of_round).collect()
}

/// Range and slope excursion by the average, and the end of the fitted line; `None` where nothing moved.
fn fit(rounds: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let fit = LineFit::of(rounds.iter().copied())?;
    let (first, last) = (rounds.first()?.0, rounds.last()?.0);
    if fit.y <= 0.0 || fit.spread <= 0.0 {
        return None;
    }
    let largest = rounds.iter().map(|(_, y)| *y).reduce(f64::max)?;
    let smallest = rounds.iter().map(|(_, y)| *y).reduce(f64::min)?;
    Some(((largest - smallest) / fit.y, fit.slope * (last - first) / fit.y, fit.at(last).max(0.0)))
}
