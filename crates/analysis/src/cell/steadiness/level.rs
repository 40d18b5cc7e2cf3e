//! Whether a target stood at two levels during one run, by the order of its rounds.
//!
//! A window of any length will do, since a round is a point: what is tested is the logarithm of the rate of each
//! repetition by the mean of its cell. Cells that were chosen by their figures won the rounds that they were chosen in, so
//! their fresh repetitions have a mean of their own; those of all other cells, the control among them, share one mean with
//! the interleaved ones, and tie both parts of the run together.

use std::collections::{BTreeMap, BTreeSet};

use record::{Rep, Role};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::cell::context::Context;
use crate::cell::point::point_bps;

// A change makes the verdict UNCERTAIN, so that chance must not make one in a run that anybody sees.
/// Chance makes a step no more often than this, over all rounds at which it might lie.
const P_MAX: f64 = 0.01;

/// Rounds on each side of a step: one alone may be any accident.
const ROUNDS_MIN: usize = 2;

/// Repetitions on each side of a step.
const POINTS_MIN: usize = 2;

/// Degrees of freedom below which a change is anybody's guess.
const FREEDOM_MIN: usize = 3;

/// Places at which a step is looked for.
const PLACES_MAX: usize = 64;

/// How the level of a target changed, in the order of its repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// From one level to another.
    Step {
        /// Logarithm of the later level by the earlier one.
        ln_change: f64,
        /// The first repetition of the later level, by its place in the run.
        from: u32,
    },
    /// Steadily.
    Trend {
        /// Logarithm by which the level changes from one repetition to the next.
        ln_each: f64,
        /// Places of the first and of the last repetition.
        places: (u32, u32),
    },
}

impl Change {
    /// Logarithm of the level at a place by that at the beginning.
    pub(crate) fn at(self, place: u32) -> f64 {
        match self {
            Self::Step { ln_change, from } => {
                if place >= from {
                    ln_change
                } else {
                    0.0
                }
            }
            Self::Trend { ln_each, places } => ln_each * (f64::from(place) - f64::from(places.0)),
        }
    }

    /// The same at the end.
    pub(crate) fn in_all(self) -> f64 {
        match self {
            Self::Step { from, .. } => self.at(from),
            Self::Trend { places, .. } => self.at(places.1),
        }
    }
}

/// One repetition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Repetitions with one mean: its cell, and its role where that cell was chosen by its figures.
    group: usize,
    round: u32,
    /// Its place in the run.
    place: u32,
    ln_rate: f64,
}

/// Round of a repetition, fresh rounds numbered after the interleaved ones.
fn round_of(rep: &Rep, context: &Context<'_>) -> u32 {
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
        // The winner's curse: a cell chosen for its luck falls back in fresh rounds, which with one mean for both would look
        // like a storage that slowed down.
        let apart = usize::from(chosen && rep.role == Role::Confirm);
        let round = round_of(rep, context);
        let point = Point { group: 2 * index + apart, round, place: rep.order, ln_rate: rate.ln() };
        (rate > 0.0 && rate.is_finite()).then_some(point)
    })
}

/// The step or the trend that fits the repetitions best, where chance does not explain it.
pub(crate) fn change(points: &[Point]) -> Option<Change> {
    let rounds = count_of(points.iter().map(|point| point.round));
    let freedom = rounds.checked_sub(2).filter(|freedom| *freedom >= FREEDOM_MIN)?;
    let places = places(points);
    let steps = places.iter().filter_map(|from| {
        let fit = Fit::of(points, rounds, |point| f64::from(u8::from(point.place >= *from)))?;
        Some((fit.t, Change::Step { ln_change: fit.slope, from: *from }))
    });
    let (first, last) =
        (points.iter().map(|point| point.place).min()?, points.iter().map(|point| point.place).max()?);
    let trend = Fit::of(points, rounds, |point| f64::from(point.place));
    let trend = trend.map(|fit| (fit.t, Change::Trend { ln_each: fit.slope, places: (first, last) }));
    let (t, change) = steps.chain(trend).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let below = StudentsT::new(0.0, 1.0, freedom as f64).ok()?.cdf(t);
    // Bonferroni over the places and the trend: the best of sixty-four splits of pure noise lies below 0.01 far more often than
    // once in a hundred.
    let p = 2.0 * (1.0 - below) * (places.len() + 1) as f64;
    (p < P_MAX).then_some(change)
}

fn count_of(values: impl Iterator<Item = u32>) -> usize {
    values.collect::<BTreeSet<u32>>().len()
}

/// Places at which a step may lie: with enough of the run on either side.
fn places(points: &[Point]) -> Vec<u32> {
    let mut sorted: Vec<(u32, u32)> = points.iter().map(|point| (point.place, point.round)).collect();
    sorted.sort_unstable();
    let is_enough = |part: &[(u32, u32)]| {
        part.len() >= POINTS_MIN && count_of(part.iter().map(|(_, round)| *round)) >= ROUNDS_MIN
    };
    // Of a long run not every place is tried: more of them cost power by the division of p, and a step is found by a neighbour
    // as well.
    let every = sorted.len().div_ceil(PLACES_MAX).max(1);
    let at =
        (1..sorted.len()).step_by(every).filter(|at| is_enough(&sorted[..*at]) && is_enough(&sorted[*at..]));
    let mut places: Vec<u32> = at.map(|at| sorted[at].0).collect();
    places.dedup();
    places
}

struct Fit {
    slope: f64,
    /// Size of the slope by its standard error.
    t: f64,
}

impl Fit {
    /// Least squares with a mean for each group. What all cells of a round have in common is one observation, so the
    /// standard error is the larger of that of independent repetitions and that of rounds as clusters (Cameron and Miller,
    /// A Practitioner's Guide to Cluster-Robust Inference, J. Human Resources 50, 2015, 317-372, section II).
    fn of(points: &[Point], rounds: usize, along: impl Fn(&Point) -> f64) -> Option<Self> {
        let means = group_means(points, &along);
        let centred: Vec<(u32, f64, f64)> = points
            .iter()
            .map(|point| {
                let (x, y) = means[&point.group];
                (point.round, along(point) - x, point.ln_rate - y)
            })
            .collect();
        let spread: f64 = centred.iter().map(|(_, x, _)| x * x).sum();
        let freedom = points.len().checked_sub(means.len() + 1).filter(|freedom| *freedom > 0)?;
        if spread <= 0.0 {
            return None;
        }
        let slope = centred.iter().map(|(_, x, y)| x * y).sum::<f64>() / spread;
        let rest = |x: f64, y: f64| y - slope * x;
        let single =
            centred.iter().map(|(_, x, y)| rest(*x, *y).powi(2)).sum::<f64>() / freedom as f64 / spread;
        let mut clusters: BTreeMap<u32, f64> = BTreeMap::new();
        for (round, x, y) in &centred {
            *clusters.entry(*round).or_default() += x * rest(*x, *y);
        }
        // The small-sample correction of clusters: without it five rounds have an error that is a tenth too small.
        let few = rounds as f64 / (rounds as f64 - 1.0);
        let clustered = clusters.values().map(|sum| sum * sum).sum::<f64>() * few / (spread * spread);
        let error = single.max(clustered).sqrt();
        // Points without any scatter leave nothing to chance.
        let t = if error > f64::EPSILON {
            (slope / error).abs()
        } else if slope.abs() > 1e-9 {
            f64::MAX
        } else {
            0.0
        };
        Some(Self { slope, t })
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
            place: round * 8 + cell as u32,
            ln_rate: (f64::from(1 << cell) * level(round) * noise(cell, round)).ln(),
        };
        (0..cells).flat_map(of_cell).map(point).collect()
    }

    #[test]
    fn a_storage_that_slows_down_in_the_fourth_round_is_found_there() {
        let found = change(&run(4, 10, 0.05, |round| if round < 3 { 1.74 } else { 1.2 })).unwrap();
        assert!(matches!(found, Change::Step { from: 24, .. }), "{found:?}");
        assert!((found.in_all().exp() - 1.2 / 1.74).abs() < 0.03, "{}", found.in_all().exp());
    }

    #[test]
    fn a_change_that_nothing_blurs_is_found_too() {
        for scatter in [0.0, 1e-9, 1e-4, 0.003] {
            let found = change(&run(1, 10, scatter, |round| if round < 3 { 2.0 } else { 0.87 }));
            assert!(matches!(found, Some(Change::Step { from: 24, .. })), "{scatter}: {found:?}");
        }
    }

    #[test]
    fn a_steady_change_has_its_levels_at_both_ends() {
        let found = change(&run(4, 10, 0.02, |round| 1.0 - 0.04 * f64::from(round))).unwrap();
        assert!(matches!(found, Change::Trend { .. }), "{found:?}");
        assert!((found.in_all().exp() - 0.64).abs() < 0.05, "{}", found.in_all().exp());
    }

    #[test]
    fn a_steady_storage_has_one_level_however_noisy() {
        for scatter in [0.0, 0.01, 0.1, 0.3] {
            assert_eq!(change(&run(4, 10, scatter, |_| 1.0)), None, "{scatter}");
            assert_eq!(change(&run(1, 28, scatter, |_| 1.0)), None, "{scatter}");
        }
    }

    #[test]
    fn one_odd_round_is_no_level() {
        assert_eq!(change(&run(4, 10, 0.02, |round| if round == 6 { 0.5 } else { 1.0 })), None);
    }

    #[test]
    fn a_change_common_to_all_cells_of_a_round_counts_once() {
        // Each round is somewhere else, for all cells together: 12 cells are no better evidence than one.
        let level = |round: u32| [1.0, 1.2, 0.9, 1.1, 0.85, 1.15, 0.95, 1.05][round as usize];
        assert_eq!(change(&run(6, 8, 0.001, level)), None);
    }

    #[test]
    fn a_chosen_cell_that_was_lucky_before_is_no_change() {
        let mut points = run(3, 5, 0.02, |_| 1.0);
        let lucky = |round: u32| Point {
            group: 6,
            round,
            place: round * 8 + 6,
            ln_rate: (4.0_f64 * 1.3).ln() + f64::from(round) * 1e-3,
        };
        points.extend((0..5).map(lucky));
        points.extend((5..10).map(|round| Point { group: 7, ln_rate: 4.0_f64.ln(), ..lucky(round) }));
        assert_eq!(change(&points), None);
    }

    #[test]
    fn four_rounds_say_nothing() {
        assert_eq!(change(&run(4, 4, 0.001, |round| if round < 2 { 2.0 } else { 1.0 })), None);
    }
}
