//! The arithmetic: difference quotients, medians, ratios of one round.

use serde::{Deserialize, Serialize};

/// What repeated values come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// The middle one, or the mean of the two in the middle.
    pub(crate) median: f64,
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
}

impl Spread {
    /// Of no values there is none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Self { median, min, max })
    }
}

/// What one more operation costs, from a short and a long run as (cost, operations): what both runs pay once, such as
/// starting up, cancels. None where the long run did not do more, or seems to have cost less.
fn per_operation(short: (f64, u64), long: (f64, u64)) -> Option<f64> {
    let operations = long.1.checked_sub(short.1).filter(|more| *more > 0)?;
    let cost = long.0 - short.0;
    (cost > 0.0).then(|| cost / operations as f64)
}

/// The short and the long run of a round, as (cost, operations).
type Runs = [(f64, u64); 2];

/// A difference must be so many times the noise of what is subtracted.
// Then the noise takes no more than a tenth of it.
const NOISES_MIN: f64 = 10.0;

/// What one more operation costs in each round. A round whose difference is
/// below ten times the noise has none: the noise is how far what both runs pay once lies from its median, by the median of
/// these distances over the rounds.
pub(crate) fn per_operation_of_rounds(rounds: &[Option<Runs>]) -> Vec<Option<f64>> {
    let quotients: Vec<Option<f64>> =
        rounds.iter().map(|round| (*round).and_then(|[short, long]| per_operation(short, long))).collect();
    // The short run's cost itself will not do: it grows with what the run did.
    let paid_once = |(round, quotient): (&Option<Runs>, &Option<f64>)| {
        let ([(cost, operations), _], quotient) = ((*round)?, (*quotient)?);
        Some(cost - quotient * operations as f64)
    };
    let paid_once: Vec<f64> = rounds.iter().zip(&quotients).filter_map(paid_once).collect();
    let noise = Spread::of(paid_once.iter().copied()).and_then(|middle| {
        Spread::of(paid_once.iter().map(|value| (value - middle.median).abs())).map(|spread| spread.median)
    });
    let is_clear = |round: &Option<Runs>| {
        round.zip(noise).is_some_and(|([short, long], noise)| long.0 - short.0 >= NOISES_MIN * noise)
    };
    rounds.iter().zip(quotients).map(|(round, quotient)| quotient.filter(|_| is_clear(round))).collect()
}

/// Ratios of values that belong together; a pair of which one is missing has none.
pub(crate) fn ratios(ours: &[Option<f64>], theirs: &[Option<f64>]) -> Vec<f64> {
    let pairs = ours.iter().zip(theirs);
    pairs.filter_map(|(ours, theirs)| Some((*ours)? / (*theirs)?)).filter(|ratio| ratio.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_up_cancels() {
        // 0.3 s to start, 2 us for each operation.
        let cost = |operations: u64| 0.3 + operations as f64 * 2e-6;
        let found = per_operation((cost(100_000), 100_000), (cost(700_000), 700_000)).unwrap();
        assert!((found - 2e-6).abs() < 1e-15, "{found}");
    }

    #[test]
    fn a_long_run_that_did_no_more_has_no_quotient() {
        assert_eq!(per_operation((1.0, 100), (2.0, 100)), None);
        assert_eq!(per_operation((1.0, 100), (2.0, 50)), None);
        assert_eq!(per_operation((1.0, 100), (0.9, 200)), None);
    }

    /// Of runs that start up in these times and do as much as these, at 1 us an operation.
    fn rounds(started_s: [f64; 3], operations: [u64; 3], more: u64) -> Vec<Option<Runs>> {
        let run = |started_s: f64, operations: u64| (started_s + operations as f64 * 1e-6, operations);
        let pairs = started_s.iter().zip(operations);
        // Both runs of a round start up alike but for a hundredth of a second.
        pairs.map(|(s, count)| Some([run(*s, count), run(s + 0.01, count + more)])).collect()
    }

    #[test]
    fn a_difference_that_drowns_in_noise_is_no_figure() {
        let (quiet, noisy) = ([0.300, 0.302, 0.298], [0.3, 0.2, 0.5]);
        let some = |rounds: &[_]| per_operation_of_rounds(rounds).iter().flatten().count();
        assert_eq!(some(&rounds(quiet, [100_000; 3], 500_000)), 3);
        assert_eq!(some(&rounds(noisy, [100_000; 3], 500_000)), 0, "0.5 s is less than ten times 0.1 s");
        assert_eq!(some(&rounds(noisy, [100_000; 3], 5_000_000)), 3);
        assert_eq!(some(&rounds(quiet, [100_000, 400_000, 50_000], 500_000)), 3, "more work is no noise");
        let mut missing = rounds(quiet, [100_000; 3], 500_000);
        missing[1] = None;
        assert_eq!(some(&missing), 2);
        assert_eq!(some(&[None, None]), 0);
    }

    #[test]
    fn medians_are_in_the_middle() {
        let odd = Spread::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!(odd, Spread { median: 2.0, min: 1.0, max: 3.0 });
        let even = Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(even, Spread { median: 2.5, min: 1.0, max: 4.0 });
        assert_eq!(Spread::of([]), None);
    }

    /// The median of ratios is not the ratio of medians: drift between rounds cancels within each.
    #[test]
    fn ratios_are_of_one_round() {
        let ours = [Some(1.0), Some(10.0), Some(100.0)];
        let theirs = [Some(2.0), Some(20.0), Some(50.0)];
        assert_eq!(ratios(&ours, &theirs), [0.5, 0.5, 2.0]);
        assert_eq!(Spread::of(ratios(&ours, &theirs)), Some(Spread { median: 0.5, min: 0.5, max: 2.0 }));
        assert_eq!(ratios(&[Some(1.0), None], &[None, Some(2.0)]), [0.0; 0]);
        assert_eq!(ratios(&[Some(1.0)], &[Some(0.0)]), [0.0; 0]);
    }
}
