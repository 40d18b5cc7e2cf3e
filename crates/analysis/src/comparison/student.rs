//! Intervals and p-values of a mean logarithm, by Student's t.

use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::cell::interval::{REPETITIONS_MIN, spread};

/// Two-sided 95 %.
const UPPER: f64 = 0.975;

/// Four times in five.
// The usual power of a test: what fails to show in one run of five shows in the next.
const POWER: f64 = 0.80;

/// Degrees of freedom whose quantiles are kept: inverting the distribution takes longer than all else here.
const KEPT: usize = 128;

static QUANTILES: LazyLock<Vec<[f64; 2]>> =
    LazyLock::new(|| (1..=KEPT).map(|freedom| [UPPER, POWER].map(|q| quantile(q, freedom as f64))).collect());

/// Quantile `q` of Student's t with `freedom` degrees.
pub(super) fn quantile(q: f64, freedom: f64) -> f64 {
    // No degree of freedom gives no interval, and an infinite one says that.
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(q))
}

/// Quantiles 0.975 and 0.80.
fn quantiles(freedom: usize) -> [f64; 2] {
    match freedom.checked_sub(1).and_then(|index| QUANTILES.get(index)) {
        Some(known) => *known,
        // More repetitions than are kept are rare, and then one inversion takes nothing beside reading them.
        None => [UPPER, POWER].map(|q| quantile(q, freedom as f64)),
    }
}

/// The logarithm of a ratio, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// The logarithm.
    pub(super) mean: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// Degrees of freedom of the standard error.
    pub(super) freedom: usize,
}

impl Estimate {
    /// The mean of paired differences: s / sqrt(n) with n - 1 degrees of freedom. `None` below three.
    pub(super) fn of_pairs(differences: &[f64]) -> Option<Self> {
        let n = differences.len();
        let (mean, deviation) = spread(differences).filter(|_| n >= REPETITIONS_MIN)?;
        Some(Self { mean, error: deviation / (n as f64).sqrt(), freedom: n - 1 })
    }

    /// One new sample against a history: s * sqrt(1 + 1/n) with n - 1 degrees of freedom, the prediction interval of one
    /// further observation (Hahn and Meeker, Statistical Intervals, 2.3.1). `None` below three.
    pub(super) fn of_next(history: &[f64], next: f64) -> Option<Self> {
        let n = history.len();
        let (mean, deviation) = spread(history).filter(|_| n >= REPETITIONS_MIN)?;
        Some(Self { mean: next - mean, error: deviation * (1.0 + 1.0 / n as f64).sqrt(), freedom: n - 1 })
    }

    /// Ends of the 95 % interval.
    pub(super) fn interval(&self) -> (f64, f64) {
        let half = quantiles(self.freedom)[0] * self.error;
        (self.mean - half, self.mean + half)
    }

    /// The smallest difference that is told from none four times in five: (t(0.975) + t(0.80)) standard errors. It is
    /// within 2 % of the figure by the noncentral t.
    pub(super) fn detectable(&self) -> f64 {
        quantiles(self.freedom).iter().sum::<f64>() * self.error
    }

    /// Two-sided p-value of the difference lying outside of `low` to `high`: twice the smaller of the two one-sided ones,
    /// each against the end of the range that is nearest to it. It is below 0.05 exactly where the whole 95 % interval lies
    /// beyond one end.
    pub(super) fn p_outside(&self, low: f64, high: f64) -> f64 {
        let below = self.tail((low - self.mean) / self.error);
        let above = self.tail((self.mean - high) / self.error);
        (2.0 * below.min(above)).min(1.0)
    }

    /// Probability that t exceeds `t`. Without any spread, what is beyond an end is so for certain.
    fn tail(&self, t: f64) -> f64 {
        // No difference and no spread: nothing speaks for a change.
        if t.is_nan() {
            return 1.0;
        }
        if t.is_infinite() {
            return if t > 0.0 { 0.0 } else { 1.0 };
        }
        StudentsT::new(0.0, 1.0, self.freedom as f64).map_or(1.0, |student| student.cdf(-t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{found} for {expected}");
    }

    #[test]
    fn a_paired_interval_by_hand() {
        // Differences 1, 2, 3, 4, 5: mean 3, s = sqrt(2.5), error = sqrt(0.5), t(0.975; 4) = 2.776445.
        let one = Estimate::of_pairs(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        close(one.mean, 3.0);
        close(one.error, 0.5_f64.sqrt());
        let (low, high) = one.interval();
        close(low, 3.0 - 2.776_445_105 * 0.5_f64.sqrt());
        close(high, 3.0 + 2.776_445_105 * 0.5_f64.sqrt());
    }

    #[test]
    fn a_prediction_interval_by_hand() {
        // History 1, 2, 3, 4, 5, next 9: 9 - 3 with the error sqrt(2.5) * sqrt(1 + 1/5) = sqrt(3).
        let one = Estimate::of_next(&[1.0, 2.0, 3.0, 4.0, 5.0], 9.0).unwrap();
        close(one.mean, 6.0);
        close(one.error, 3.0_f64.sqrt());
        let (low, high) = one.interval();
        close(low, 6.0 - 2.776_445_105 * 3.0_f64.sqrt());
        close(high, 6.0 + 2.776_445_105 * 3.0_f64.sqrt());
    }

    #[test]
    fn fewer_than_three_samples_have_no_interval() {
        assert_eq!(Estimate::of_pairs(&[1.0, 2.0]), None);
        assert_eq!(Estimate::of_next(&[1.0, 2.0], 1.0), None);
        assert_eq!(spread(&[1.0]), None);
    }

    #[test]
    fn the_detectable_effect_is_that_of_the_noncentral_t_within_two_per_cent() {
        // By the noncentral t, k of paired differences, and of two groups of n, whose error is sqrt(2/n) with 2n - 2 degrees.
        let paired = [(5, 1.68), (10, 1.00), (20, 0.66)].map(|(n, k)| (1.0 / f64::from(n), n - 1, k));
        let groups = [(3, 3.07), (5, 2.02), (10, 1.32), (20, 0.91)];
        let groups = groups.map(|(n, k)| (2.0 / f64::from(n), 2 * n - 2, k));
        for (variance, freedom, k) in paired.into_iter().chain(groups) {
            let one = Estimate { mean: 0.0, error: variance.sqrt(), freedom: freedom as usize };
            assert!((one.detectable() / k - 1.0).abs() < 0.02, "{} for {k}", one.detectable());
        }
    }

    #[test]
    fn a_p_value_is_below_five_per_cent_exactly_where_the_interval_is_beyond_the_margin() {
        for step in 0..400 {
            let one = Estimate { mean: f64::from(step) * 0.01 - 2.0, error: 0.3, freedom: 7 };
            let (low, high) = one.interval();
            assert_eq!(one.p_outside(-0.2, 0.1) < 0.05, high < -0.2 || low > 0.1, "{}", one.mean);
        }
        // t = 2.364624 is the quantile 0.975 for 7 degrees.
        let edge = Estimate { mean: 0.1 + 0.3 * 2.364_624_252, error: 0.3, freedom: 7 };
        close(edge.p_outside(-0.2, 0.1), 0.05);
    }

    #[test]
    fn without_spread_what_lies_beyond_is_certain_and_what_lies_within_is_not() {
        let certain = |mean| Estimate { mean, error: 0.0, freedom: 4 }.p_outside(-0.1, 0.1) < 0.5;
        assert_eq!([-0.2, 0.2, 0.0, 0.1].map(certain), [true, true, false, false]);
    }

    #[test]
    fn kept_quantiles_are_those_that_are_computed() {
        for freedom in [1, 9, KEPT, KEPT + 1] {
            close(quantiles(freedom)[0], quantile(UPPER, freedom as f64));
            close(quantiles(freedom)[1], quantile(POWER, freedom as f64));
        }
    }
}
