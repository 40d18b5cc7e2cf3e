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
pub(crate) fn per_operation(short: (f64, u64), long: (f64, u64)) -> Option<f64> {
    let operations = long.1.checked_sub(short.1).filter(|more| *more > 0)?;
    let cost = long.0 - short.0;
    (cost > 0.0).then(|| cost / operations as f64)
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
