//! Change of throughput from repetition to repetition of a run, over all closed loops of a target.

use std::collections::BTreeMap;

use record::{Cell, Outcome, Rep, Role, counter};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{FALL_MAX, SECONDS_MIN};
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::counters::counted;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::interval;
use crate::cell::line_fit::LineFit;
use crate::cell::lines::Lines;
use crate::cell::operation;

// Chance then makes one in a hundred targets drift, of which a run has a handful, each tested once.
/// Trends that chance makes no more often than this are no chance.
const P_MAX: f64 = 0.01;

// SNIA's excursion, over a run instead of a window.
/// Change over a run up to which a trend is not worth a word.
const DRIFT_MAX: f64 = 0.10;

/// Degrees of freedom below which a trend of a few points is anybody's guess.
const FREEDOM_MIN: usize = 3;

/// Rounds of each of two levels: one round alone may be the first, or any other accident.
const LEVEL_ROUNDS_MIN: usize = 2;

/// One repetition by the mean of its cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Time of the run by the mean of the cell's, seconds.
    pub(super) from_mean_s: f64,
    /// Logarithm of its throughput by the cell's geometric mean.
    pub(super) ln_of_mean: f64,
    /// Middle of its window, seconds of the run.
    pub(super) at_s: f64,
    pub(super) round: u32,
}

/// Flags the cells of every target whose throughput changed over the run. The confirmation is measured last, at the level
/// to which it came: its figures are not flagged, and a verdict does not change.
pub(crate) fn complete(lines: &Lines<'_>, cells: &mut [CellSummary]) {
    let of_storage = cells.iter().enumerate().filter(|(_, cell)| cell.storage && cell.is_measured());
    let changes = changes(lines, of_storage.map(|(index, cell)| (index, &cell.cell)));
    for (index, flag) in changes {
        add(&flag, &mut cells[index].measured);
    }
}

/// Which of these cells of storage are of a target whose throughput changed over the run, and how.
pub(crate) fn changes<'a>(
    lines: &Lines<'_>,
    cells: impl Iterator<Item = (usize, &'a Cell)>,
) -> BTreeMap<usize, Flag> {
    let cells: BTreeMap<usize, &Cell> = cells.collect();
    let by_cell = closed_loops(lines, &cells);
    let mut targets: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in by_cell.keys() {
        targets.entry(cells[index].target.as_str()).or_default().push(*index);
    }
    let mut changes = BTreeMap::new();
    for of_target in targets.values() {
        let points: Vec<Vec<Point>> = of_target.iter().map(|index| by_cell[index].clone()).collect();
        if let Some(flag) = change(&points) {
            changes.extend(of_target.iter().map(|index| (*index, flag.clone())));
        }
    }
    changes
}

fn add(flag: &Flag, measured: &mut Measurement) {
    let flags = match measured {
        Measurement::Figures(figures) => &mut figures.flags,
        Measurement::Operations(operations) => &mut operations.flags,
        Measurement::Failed { .. } | Measurement::NotRun { .. } => return,
    };
    // What falls in every window says the same, and more.
    if !flags.iter().any(|known| matches!((known, flag), (Flag::Bursts { .. }, Flag::Bursts { .. }))) {
        // All cells of the target: they were interleaved, so that a drift that one of them shows went through all.
        flags.push(flag.clone());
        flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
    }
}

/// The repetitions of each cell that reads in a closed loop, in windows long enough to be compared.
fn closed_loops(lines: &Lines<'_>, cells: &BTreeMap<usize, &Cell>) -> BTreeMap<usize, Vec<Point>> {
    // The rate of a paced load or of a job is the schedule's, which drifts with nothing.
    let closed = cells.iter().filter(|(_, cell)| cell.training.is_none() && cell.pace.is_none());
    let index_of: BTreeMap<&str, usize> = closed.map(|(index, cell)| (cell.cell.as_str(), *index)).collect();
    let mut rates: BTreeMap<usize, Vec<(f64, f64, u32)>> = BTreeMap::new();
    for rep in lines.reps.iter().filter(|rep| rep.role == Role::Measure) {
        if let Some(index) = index_of.get(rep.cell.as_str())
            && let Some(rate) = rate(cells[index], rep)
        {
            rates.entry(*index).or_default().push(rate);
        }
    }
    rates.into_iter().map(|(index, rates)| (index, by_mean(&rates))).collect()
}

/// Middle of the window in seconds, logarithm of the rate, round.
fn rate(cell: &Cell, rep: &Rep) -> Option<(f64, f64, u32)> {
    let is_whole = matches!(rep.outcome, Outcome::Complete | Outcome::Exhausted);
    let window_s = rep.window_ns as f64 / 1e9;
    let name = if operation::is_metadata(cell) { counter::OPS } else { counter::BYTES };
    let moved = counted(rep, name) as f64;
    let says = is_whole && window_s >= SECONDS_MIN as f64 && moved > 0.0;
    says.then(|| (rep.window_start_ns as f64 / 1e9 + window_s / 2.0, (moved / window_s).ln(), rep.round))
}

fn by_mean(rates: &[(f64, f64, u32)]) -> Vec<Point> {
    let mean = |part: fn(&(f64, f64, u32)) -> f64| {
        interval::mean(&rates.iter().map(part).collect::<Vec<_>>()).unwrap_or_default()
    };
    // Logarithms, since cells of one target differ by orders of magnitude and what changes a storage changes them by the same
    // factor.
    let (mean_s, mean_ln) = (mean(|rate| rate.0), mean(|rate| rate.1));
    let point = |(at_s, ln, round): &(f64, f64, u32)| Point {
        from_mean_s: at_s - mean_s,
        ln_of_mean: ln - mean_ln,
        at_s: *at_s,
        round: *round,
    };
    rates.iter().map(point).collect()
}

/// Two levels, else a trend. The points of each cell have a list of their own.
pub(super) fn change(cells: &[Vec<Point>]) -> Option<Flag> {
    let fallen = fall_at_once(cells);
    fallen.map(|fall| Flag::Bursts { fall, in_windows: false, end_of_line: None }).or_else(|| trend(cells))
}

/// By what share the later rounds lie below the earlier ones, where every earlier one is above every later one by more
/// than a trend would take it from one round to the next.
fn fall_at_once(cells: &[Vec<Point>]) -> Option<f64> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let most = cells.iter().map(Vec::len).max()?;
    // A cell that lacks rounds would shift the mean of those it has.
    for point in cells.iter().filter(|points| points.len() == most).flatten() {
        rounds.entry(point.round).or_default().push(point.ln_of_mean);
    }
    let levels: Vec<f64> = rounds.values().filter_map(|round| interval::mean(round)).collect();
    let splits = LEVEL_ROUNDS_MIN..=levels.len().checked_sub(LEVEL_ROUNDS_MIN)?;
    splits.into_iter().find_map(|split| {
        let (before, after) = levels.split_at(split);
        let lowest_before = before.iter().copied().reduce(f64::min)?;
        let highest_after = after.iter().copied().reduce(f64::max)?;
        // A trend that is cut in two has levels too, but its neighbours across the cut lie near to each other: every later
        // round must lie far below every earlier one.
        let falls = highest_after - lowest_before < (1.0 - FALL_MAX).ln();
        let fall = 1.0 - (interval::mean(after)? - interval::mean(before)?).exp();
        falls.then_some(fall)
    })
}

/// The least-squares trend of all points, each cell with a mean of its own: Student's t with as many degrees of freedom as
/// points less cells less one.
fn trend(cells: &[Vec<Point>]) -> Option<Flag> {
    let several: Vec<&Vec<Point>> = cells.iter().filter(|points| points.len() > 1).collect();
    let points: Vec<&Point> = several.iter().flat_map(|points| points.iter()).collect();
    let freedom = points.len().checked_sub(several.len() + 1).filter(|freedom| *freedom >= FREEDOM_MIN)?;
    // Points of a cell lie around its own mean, so that those of all cells lie around none.
    let fit = LineFit::of(points.iter().map(|point| (point.from_mean_s, point.ln_of_mean)))?;
    let LineFit { slope, spread, .. } = fit;
    if spread <= 0.0 {
        return None;
    }
    let rest = |point: &&Point| (point.ln_of_mean - fit.at(point.from_mean_s)).powi(2);
    let error = (points.iter().map(rest).sum::<f64>() / freedom as f64 / spread).sqrt();
    let first = points.iter().map(|point| point.at_s).reduce(f64::min)?;
    let last = points.iter().map(|point| point.at_s).reduce(f64::max)?;
    let change = (slope * (last - first)).exp_m1();
    let is_chance = || {
        let t = StudentsT::new(0.0, 1.0, freedom as f64).map(|student| student.cdf((slope / error).abs()));
        t.is_ok_and(|below| 2.0 * (1.0 - below) >= P_MAX)
    };
    // Points on a line leave no error, and nothing to chance.
    // Both: with many repetitions a drift of a percent is significant and of no consequence, with few a large one may be
    // chance.
    let drifts = change.abs() > DRIFT_MAX && (error <= 0.0 || !is_chance());
    drifts.then_some(Flag::Drifts { change, over_ns: ((last - first) * 1e9) as u64 })
}
