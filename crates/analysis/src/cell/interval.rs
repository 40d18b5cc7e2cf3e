//! The 95 % interval of a mean over repetitions.

use feed::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Repetitions below which no interval is given: with two, t is 12.7 and the interval says nothing.
pub(crate) const REPETITIONS_MIN: usize = 3;

/// The Student t interval of the mean of `points` with a two-sided error of `error`, or `None` below [`REPETITIONS_MIN`]
/// points.
///
/// The points are rates, so the lower end is cut at zero.
pub(crate) fn of_mean(points: &[f64], error: f64) -> Option<Interval> {
    let (mean, half) = (mean(points)?, half_width(points, error)?);
    Some(Interval { low: (mean - half).max(0.0), mean, high: mean + half })
}

fn half_width(points: &[f64], error: f64) -> Option<f64> {
    // Student's t of the mean, and no bootstrap: at five repetitions the percentile bootstrap is anti-conservative (8 to 9 % of
    // false alarms at a nominal 2.5 %, measured on simulated runs), t is not.
    if points.len() < REPETITIONS_MIN {
        return None;
    }
    let n = points.len() as f64;
    let (_, deviation) = spread(points)?;
    Some(StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(1.0 - error / 2.0) * deviation / n.sqrt())
}

/// Mean and standard deviation (n - 1) of samples; `None` below two.
pub(crate) fn spread(samples: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(samples).filter(|_| samples.len() >= 2)?;
    // Two passes: the textbook sum of squares loses all digits where the spread is a millionth of a rate of 10^10 bytes.
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    Some((mean, (squares / (samples.len() - 1) as f64).sqrt()))
}

/// The mean, or `None` of nothing.
pub(crate) fn mean(points: &[f64]) -> Option<f64> {
    (!points.is_empty()).then(|| points.iter().sum::<f64>() / points.len() as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cell::looks::ERROR;

    fn upper_half(points: &[f64]) -> f64 {
        let interval = of_mean(points, ERROR).unwrap();
        interval.high - interval.mean
    }

    /// Points with mean 0 shift and a standard error of exactly 1, so that the half width is t itself.
    fn unit_error(n: usize) -> Vec<f64> {
        let raw: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let centre = mean(&raw).unwrap();
        let deviation = (raw.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n as f64 - 1.0)).sqrt()
            / (n as f64).sqrt();
        raw.iter().map(|x| 1_000.0 + (x - centre) / deviation).collect()
    }

    #[test]
    fn half_widths_are_the_tabulated_t_values() {
        // Quantile 0.975 of Student's t for 2, 4, 9 and 29 degrees of freedom, from the printed tables.
        for (n, t) in [(3, 4.302_653), (5, 2.776_445), (10, 2.262_157), (30, 2.045_230)] {
            assert!((upper_half(&unit_error(n)) - t).abs() < 1e-5, "n = {n}: {}", upper_half(&unit_error(n)));
        }
    }

    #[test]
    fn a_worked_example() {
        let interval = of_mean(&[10.0, 12.0, 14.0], ERROR).unwrap();
        assert!((interval.mean - 12.0).abs() < 1e-12);
        assert!((interval.low - (12.0 - 4.302_653 * 2.0 / 3.0_f64.sqrt())).abs() < 1e-5);
        assert!((interval.high - (12.0 + 4.302_653 * 2.0 / 3.0_f64.sqrt())).abs() < 1e-5);
    }

    #[test]
    fn two_repetitions_have_a_mean_and_no_interval() {
        assert_eq!(of_mean(&[1.0, 2.0], ERROR), None);
        assert_eq!(mean(&[1.0, 2.0]), Some(1.5));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn a_rate_is_never_below_zero() {
        let interval = of_mean(&[0.0, 0.0, 30.0], ERROR).unwrap();
        assert!(interval.low.abs() < f64::EPSILON);
        assert!(interval.high > 30.0);
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_mean_and_scales(points in prop::collection::vec(1.0..1e9_f64, 3..12), factor in 1e-6..1e6_f64) {
            let one = of_mean(&points, ERROR).unwrap();
            prop_assert!(one.low <= one.mean && one.mean <= one.high);
            let scaled: Vec<f64> = points.iter().map(|point| point * factor).collect();
            let two = of_mean(&scaled, ERROR).unwrap();
            prop_assert!((two.high - one.high * factor).abs() <= 1e-9 * two.high);
        }
    }
}
