//! A rate over repetitions.

use feed::Interval;

use crate::cell::interval;
use crate::cell::looks::ERROR;

/// A rate over repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Mean of the repetitions.
    pub mean: f64,
    /// 95 % interval of the mean; absent below three repetitions. That of fresh repetitions holds 95 % over all looks at
    /// them and all candidates.
    pub interval: Option<Interval>,
    /// Slowest repetition.
    pub min: f64,
    /// Fastest repetition.
    pub max: f64,
}

impl Rate {
    pub(crate) fn of(points: &[f64]) -> Option<Self> {
        Self::at(points, ERROR)
    }

    /// The same with an interval of another error than 5 %.
    pub(crate) fn at(points: &[f64], error: f64) -> Option<Self> {
        Some(Self {
            mean: interval::mean(points)?,
            interval: interval::of_mean(points, error),
            // Kept beside the interval because five points hide a slow one well: the interval is symmetric, storage is not.
            min: points.iter().copied().reduce(f64::min)?,
            max: points.iter().copied().reduce(f64::max)?,
        })
    }

    /// The lowest and the highest value that a picture of this rate shows.
    pub fn span(&self) -> (f64, f64) {
        self.interval.map_or((self.mean, self.mean), |interval| (interval.low, interval.high))
    }
}
