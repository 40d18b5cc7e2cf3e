//! Whether a target stood at two levels during one run, by the order of its rounds.
//!
//! A window of any length will do, since a round is a point: what is tested is the logarithm of the rate of each
//! repetition by the mean of its cell. Cells that were chosen by their figures won the rounds that they were chosen in, so
//! their fresh repetitions have a mean of their own; those of all other cells, the control among them, share one mean with
//! the interleaved ones, and tie both parts of the run together.

use std::collections::BTreeMap;

use record::{Rep, Role};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::figures::{Context, point_bps};

/// Chance makes a step no more often than this, over all rounds at which it might lie.
const P_MAX: f64 = 0.01;

/// Rounds on each side of a step: one alone may be any accident.
const ROUNDS_MIN: usize = 2;

/// Degrees of freedom below which a step is anybody's guess.
const FREEDOM_MIN: usize = 3;

/// A step from one level to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// Logarithm of the later level by the earlier one.
    pub(crate) ln_change: f64,
    /// The first round of the later level, fresh rounds numbered after the interleaved ones.
    pub(crate) from: u32,
}

/// One repetition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Repetitions with one mean: its cell, and its role where that cell was chosen by its figures.
    group: usize,
    round: u32,
    ln_rate: f64,
}

/// Round of a repetition, fresh rounds numbered after the interleaved ones.
pub(crate) fn round_of(rep: &Rep, context: &Context<'_>) -> u32 {
    match rep.role {
        Role::Measure => rep.round,
        Role::Confirm => context.measure.repetitions.saturating_add(rep.round),
    }
}

/// The repetitions of one cell as points, `index` its number; those of a cell that was `chosen` by its figures are of two
/// groups.
pub(crate) fn points<'a>(
    index: usize,
    context: &'a Context<'_>,
    used: &'a [&Rep],
    chosen: bool,
) -> impl Iterator<Item = Point> + 'a {
    used.iter().filter_map(move |rep| {
        let rate = point_bps(context, rep);
        let apart = usize::from(chosen && rep.role == Role::Confirm);
        let point = Point { group: 2 * index + apart, round: round_of(rep, context), ln_rate: rate.ln() };
        (rate > 0.0 && rate.is_finite()).then_some(point)
    })
}

/// The step that divides the rounds best, where chance does not explain it.
pub(crate) fn step(points: &[Point]) -> Option<Step> {
    let mut rounds: Vec<u32> = points.iter().map(|point| point.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let freedom = rounds.len().checked_sub(2).filter(|freedom| *freedom >= FREEDOM_MIN)?;
    let splits = rounds.get(ROUNDS_MIN..=rounds.len().checked_sub(ROUNDS_MIN)?)?;
    let tested = splits.iter().filter_map(|from| Some((*from, Fit::of(points, *from, rounds.len())?)));
    let (from, fit) = tested.max_by(|a, b| a.1.t.total_cmp(&b.1.t))?;
    let below = StudentsT::new(0.0, 1.0, freedom as f64).ok()?.cdf(fit.t);
    let p = 2.0 * (1.0 - below) * splits.len() as f64;
    (p < P_MAX).then_some(Step { ln_change: fit.ln_change, from })
}

struct Fit {
    ln_change: f64,
    /// Size of the change by its standard error.
    t: f64,
}

impl Fit {
    /// Least squares with a mean for each group. What all cells of a round have in common is one observation, so the
    /// standard error is the larger of that of independent repetitions and that of rounds as clusters (Cameron and Miller,
    /// A Practitioner's Guide to Cluster-Robust Inference, J. Human Resources 50, 2015, 317-372, section II).
    fn of(points: &[Point], from: u32, rounds: usize) -> Option<Self> {
        let later = |point: &Point| f64::from(u8::from(point.round >= from));
        let means = group_means(points, later);
        let centred: Vec<(u32, f64, f64)> = points
            .iter()
            .map(|point| {
                let (x, y) = means[&point.group];
                (point.round, later(point) - x, point.ln_rate - y)
            })
            .collect();
        let spread: f64 = centred.iter().map(|(_, x, _)| x * x).sum();
        let freedom = points.len().checked_sub(means.len() + 1).filter(|freedom| *freedom > 0)?;
        if spread <= 0.0 {
            return None;
        }
        let ln_change = centred.iter().map(|(_, x, y)| x * y).sum::<f64>() / spread;
        let rest = |x: f64, y: f64| y - ln_change * x;
        let single =
            centred.iter().map(|(_, x, y)| rest(*x, *y).powi(2)).sum::<f64>() / freedom as f64 / spread;
        let mut clusters: BTreeMap<u32, f64> = BTreeMap::new();
        for (round, x, y) in &centred {
            *clusters.entry(*round).or_default() += x * rest(*x, *y);
        }
        let few = rounds as f64 / (rounds as f64 - 1.0);
        let clustered = clusters.values().map(|sum| sum * sum).sum::<f64>() * few / (spread * spread);
        let error = single.max(clustered).sqrt();
        // Points without any scatter leave nothing to chance.
        let t = if error > f64::EPSILON {
            (ln_change / error).abs()
        } else if ln_change.abs() > 1e-9 {
            f64::MAX
        } else {
            0.0
        };
        Some(Self { ln_change, t })
    }
}

/// Mean abscissa and ordinate of each group.
fn group_means(points: &[Point], x: impl Fn(&Point) -> f64) -> BTreeMap<usize, (f64, f64)> {
    let mut sums: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for point in points {
        let sum = sums.entry(point.group).or_default();
        *sum = (sum.0 + 1.0, sum.1 + x(point), sum.2 + point.ln_rate);
    }
    sums.into_iter().map(|(group, (n, x, y))| (group, (x / n, y / n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of 1, 2, 4, … with a deterministic scatter, at `level` of each round.
    fn run(cells: usize, rounds: u32, scatter: f64, level: impl Fn(u32) -> f64) -> Vec<Point> {
        let noise = |cell: usize, round: u32| {
            // A fixed low-discrepancy sequence: no generator, no seed.
            let x = (cell as f64 * 0.754_877 + f64::from(round) * 0.569_840 + 0.5).fract();
            1.0 + scatter * (2.0 * x - 1.0)
        };
        let of_cell = |cell: usize| (0..rounds).map(move |round| (cell, round));
        let point = |(cell, round): (usize, u32)| Point {
            group: cell,
            round,
            ln_rate: (f64::from(1 << cell) * level(round) * noise(cell, round)).ln(),
        };
        (0..cells).flat_map(of_cell).map(point).collect()
    }

    #[test]
    fn a_storage_that_slows_down_in_the_fourth_round_is_found_there() {
        let found = step(&run(4, 10, 0.05, |round| if round < 3 { 1.74 } else { 1.2 })).unwrap();
        assert_eq!(found.from, 3);
        assert!((found.ln_change.exp() - 1.2 / 1.74).abs() < 0.03, "{}", found.ln_change.exp());
    }

    #[test]
    fn a_steady_storage_has_one_level_however_noisy() {
        for scatter in [0.0, 0.01, 0.1, 0.3] {
            assert_eq!(step(&run(4, 10, scatter, |_| 1.0)), None, "{scatter}");
            assert_eq!(step(&run(1, 28, scatter, |_| 1.0)), None, "{scatter}");
        }
    }

    #[test]
    fn one_odd_round_is_no_level() {
        assert_eq!(step(&run(4, 10, 0.02, |round| if round == 6 { 0.5 } else { 1.0 })), None);
    }

    #[test]
    fn a_change_common_to_all_cells_of_a_round_counts_once() {
        // Each round is somewhere else, for all cells together: 12 cells are no better evidence than one.
        let level = |round: u32| [1.0, 1.2, 0.9, 1.1, 0.85, 1.15, 0.95, 1.05][round as usize];
        assert_eq!(step(&run(6, 8, 0.001, level)), None);
    }

    #[test]
    fn a_chosen_cell_that_was_lucky_before_is_no_change() {
        let mut points = run(3, 5, 0.02, |_| 1.0);
        let lucky =
            |round: u32| Point { group: 6, round, ln_rate: (4.0_f64 * 1.3).ln() + f64::from(round) * 1e-3 };
        points.extend((0..5).map(lucky));
        points.extend((5..10).map(|round| Point { group: 7, ln_rate: 4.0_f64.ln(), ..lucky(round) }));
        assert_eq!(step(&points), None);
    }

    #[test]
    fn four_rounds_say_nothing() {
        assert_eq!(step(&run(4, 4, 0.001, |round| if round < 2 { 2.0 } else { 1.0 })), None);
    }
}
