//! Planned looks at fresh repetitions, and the error that each of them may spend.
//!
//! Rounds of fresh repetitions are added until a verdict is decided. Each look at them is a chance to be wrong, so the
//! looks are planned and share the error of 5 %: the share spent up to a part of all rounds is the function of Lan and
//! DeMets that resembles the bounds of Pocock (Discrete sequential boundaries for clinical trials, Biometrika 70, 1983,
//! 659-663). Each look gets what its part adds. Their sum is 5 % whatever the dependence between looks, by Bonferroni's
//! inequality, so Student's t holds at each of them as it stands. Candidates of one target divide the error of a look in
//! the same way. The round is the unit: all cells of a round are measured at one time.

use std::f64::consts::E;

use feed::Interval;
use record::Measure;

use crate::cell::interval::REPETITIONS_MIN;

/// Candidates of one target: the cell to be named, and the fastest.
pub(crate) const CANDIDATES_MAX: usize = 2;

/// Two-sided error of a verdict, over all looks and candidates.
pub(crate) const ERROR: f64 = 0.05;

// A look after every round would cut the error into slices too thin to decide by, while the interval hardly narrows from one
// round to the next.
/// Rounds at which fresh repetitions are looked at: from one to the next they grow by about the root of two, so that an
/// interval narrows by a sixth or more.
const LOOKS: [u32; 6] = [5, 7, 10, 14, 20, 28];

// Of twenty-second rounds this is three hours: nobody waits longer for a verdict on one cell.
/// Rounds beyond which it is no use to say how many would decide.
const ROUNDS_SAID_MAX: f64 = 500.0;

/// The rounds at which a run looks at its fresh repetitions: the first look is the number of repetitions.
fn planned(first: u32, most: u32) -> Vec<u32> {
    let first = first.min(most);
    let later = LOOKS.into_iter().chain((1..).map(|step| LOOKS[5].saturating_mul(1 << step.min(16))));
    let later = later.take_while(|rounds| *rounds < most).filter(|rounds| *rounds > first);
    let mut looks: Vec<u32> = std::iter::once(first).chain(later).collect();
    if most > first {
        looks.push(most);
    }
    looks
}

/// Rounds after which the next look is taken, once `made` of them are there; `None` after the last.
pub(crate) fn next(measure: &Measure, made: u32) -> Option<u32> {
    let looks = planned(measure.repetitions, most(measure));
    looks.into_iter().find(|look| *look > made)
}

/// Error that an interval over `rounds` rounds may have, where `candidates` cells may decide. A budget may end the rounds
/// between two looks: that is the look then.
pub(crate) fn error_at(measure: &Measure, rounds: u32, candidates: u32) -> f64 {
    let most = most(measure).max(rounds).max(1);
    let before = planned(measure.repetitions, most).into_iter().filter(|look| *look < rounds).max();
    // Pocock-like and not O'Brien-Fleming-like spending: it leaves early looks error enough to decide at all, and most targets
    // are far from the line and decided at the first.
    let spent = |rounds: u32| ERROR * (1.0 + (E - 1.0) * f64::from(rounds) / f64::from(most)).ln();
    (spent(rounds) - before.map_or(0.0, spent)) / f64::from(candidates.max(1))
}

/// Records before format 1.6 looked once.
fn most(measure: &Measure) -> u32 {
    measure.fresh_rounds.unwrap_or(measure.repetitions)
}

/// About how many rounds would decide, if mean and spread stay as they are: the width of an interval falls with the root
/// of its rounds. `None` where the mean lies so near to the line that no affordable number would.
pub(crate) fn rounds_to_decide(interval: Interval, line: f64, made: u32) -> Option<u32> {
    let half = (interval.high - interval.low) / 2.0;
    let distance = (interval.mean - line).abs();
    // The half width falls with the root of the rounds, also because t falls; that second part is left out, which errs on the
    // side of too many.
    let rounds = (f64::from(made) * (half / distance).powi(2)).ceil();
    let rounds = rounds.max(f64::from(made) + 1.0).max(REPETITIONS_MIN as f64);
    (rounds <= ROUNDS_SAID_MAX).then_some(rounds as u32)
}

/// Most rounds of fresh repetitions that a run was to make.
pub(crate) fn most_rounds(measure: &Measure) -> u32 {
    measure.fresh_rounds.unwrap_or(measure.repetitions)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::Builder;

    fn measure(repetitions: u32, fresh_rounds: Option<u32>) -> Measure {
        Measure { repetitions, fresh_rounds, ..Builder::new().run.measure }
    }

    #[test]
    fn looks_begin_with_the_repetitions_and_end_with_the_last_round() {
        assert_eq!(planned(5, 28), [5, 7, 10, 14, 20, 28]);
        assert_eq!(planned(3, 28), [3, 5, 7, 10, 14, 20, 28]);
        assert_eq!(planned(8, 12), [8, 10, 12]);
        assert_eq!(planned(5, 100), [5, 7, 10, 14, 20, 28, 56, 100]);
        assert_eq!((planned(2, 2), planned(40, 28)), (vec![2], vec![28]));
        let measure = measure(5, Some(28));
        assert_eq!(
            [0, 5, 6, 27, 28].map(|made| next(&measure, made)),
            [5, 7, 7, 28, 0].map(|n| (n > 0).then_some(n))
        );
    }

    #[test]
    fn a_record_that_looked_once_spends_all_of_it() {
        for rounds in [3, 5] {
            assert!((error_at(&measure(rounds, None), rounds, 1) - 0.05).abs() < 1e-12);
        }
    }

    #[test]
    fn the_first_of_28_rounds_spend_what_the_function_says() {
        // 0.05 ln(1 + 1.71828 x 5 / 28) by hand.
        assert!((error_at(&measure(5, Some(28)), 5, 1) - 0.013_381).abs() < 1e-6);
        assert!((error_at(&measure(5, Some(28)), 5, 2) - 0.006_690).abs() < 1e-6);
    }

    #[test]
    fn rounds_grow_with_the_square_of_what_is_lacking() {
        let interval = |mean: f64| Interval { low: mean - 4.0, mean, high: mean + 4.0 };
        assert_eq!(rounds_to_decide(interval(102.0), 100.0, 5), Some(20));
        assert_eq!(rounds_to_decide(interval(100.0), 100.0, 5), None);
    }

    proptest! {
        #[test]
        fn all_looks_together_spend_the_error_and_no_more(first in 3..40_u32, more in 0..200_u32, candidates in 1..4_u32) {
            let measure = measure(first, Some(first + more));
            let looks = planned(first, first + more);
            let sum: f64 = looks.iter().map(|look| error_at(&measure, *look, candidates)).sum();
            prop_assert!((sum * f64::from(candidates) - ERROR).abs() < 1e-9, "{looks:?}: {sum}");
        }
    }
}
