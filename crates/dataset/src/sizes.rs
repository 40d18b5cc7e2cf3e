//! Lognormal sizes, as images and compressed records have them.
//!
//! The size of an object is a pure function of its number, the mean, the standard deviation and the seed. All that
//! is not a single rounded operation (logarithm, exponential, cosine) comes from `libm` and not from the C library,
//! so that every machine makes the same files.

use std::f64::consts::TAU;

use plan::Distribution;

use crate::permutation::mix;

/// Sizes are cut off at this multiple of the mean, so that no single file decides a run and the total fits 64 bits.
/// The cut touches nothing where the standard deviation is up to half the mean. Where it equals the mean, it cuts
/// 0.01 % of the objects and takes 0.03 % from the mean and 0.7 % from the standard deviation; where it is twice
/// the mean, 0.2 % of the objects, 2 % and 18 %.
pub const LARGEST_PER_MEAN: u64 = 16;

/// Keeps the draws of sizes apart from those of the content, which has the same seed.
const STREAM: u64 = 0x7369_7a65_735f_6c6e;

/// One part in 2^53: the distance of the numbers that [`LogNormal::normal`] draws from.
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

/// Sizes of generated samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampleSizes {
    /// All of so many bytes.
    Equal(u64),
    /// Spread.
    LogNormal(LogNormal),
}

impl SampleSizes {
    /// Sizes of the samples of a dataset whose sizes are spread so.
    pub fn of(sample_bytes: u64, distribution: Distribution, seed: u64) -> Self {
        match distribution {
            Distribution::Fixed | Distribution::LogNormal { stdev_bytes: 0 } => Self::Equal(sample_bytes),
            Distribution::LogNormal { stdev_bytes } => {
                Self::LogNormal(LogNormal::new(sample_bytes, stdev_bytes, seed))
            }
        }
    }

    /// Bytes of sample `number`.
    pub fn at(&self, number: u64) -> u64 {
        match self {
            Self::Equal(bytes) => *bytes,
            Self::LogNormal(sizes) => sizes.at(number),
        }
    }
}

/// Lognormal sizes of a given mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    stream: u64,
    mu: f64,
    sigma: f64,
    largest_bytes: f64,
}

impl LogNormal {
    /// Parameters by moments: `sigma^2 = ln(1 + s^2/m^2)` and `mu = ln(m^2 / sqrt(m^2 + s^2)) = ln m - sigma^2/2`
    /// (Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions" 1, 1994, chapter 14).
    pub fn new(mean_bytes: u64, stdev_bytes: u64, seed: u64) -> Self {
        let spread = stdev_bytes as f64 / mean_bytes as f64;
        // log1p: a spread of a percent has a square of 10^-4, of which `log(1 + x)` would lose four digits.
        let variance = libm::log1p(spread * spread);
        Self {
            stream: mix(seed ^ STREAM),
            mu: libm::log(mean_bytes as f64) - variance / 2.0,
            sigma: variance.sqrt(),
            largest_bytes: mean_bytes.saturating_mul(LARGEST_PER_MEAN) as f64,
        }
    }

    /// Bytes of an object or sample: at least one, at most [`LARGEST_PER_MEAN`] times the mean.
    pub fn at(&self, object: u64) -> u64 {
        let bytes = libm::exp(self.mu + self.sigma * self.normal(object));
        libm::round(bytes).clamp(1.0, self.largest_bytes) as u64
    }

    /// A standard normal number (Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958).
    fn normal(&self, object: u64) -> f64 {
        let first = self.stream.wrapping_add(object.wrapping_mul(2));
        // 53 bits: as many as a double holds exactly.
        let draw = |number| (mix(first.wrapping_add(number)) >> 11) as f64;
        // Above 0 by one step, as the logarithm of 0 would be an object of endless size.
        let (radius, angle) = ((draw(0) + 1.0) * UNIT, draw(1) * UNIT);
        (-2.0 * libm::log(radius)).sqrt() * libm::cos(TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 100_000;

    fn sizes(mean: u64, stdev: u64, seed: u64) -> impl Iterator<Item = f64> {
        let sizes = LogNormal::new(mean, stdev, seed);
        (0..u64::from(COUNT)).map(move |object| sizes.at(object) as f64)
    }

    fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let n = f64::from(COUNT);
        let mean = values.clone().sum::<f64>() / n;
        (mean, (values.map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
    }

    /// The numbers come from a second implementation, in another language on another library's functions.
    #[test]
    fn sizes_are_the_same_everywhere() {
        let sizes = LogNormal::new(114_660, 50_000, 42);
        let first: Vec<u64> = (0..8).map(|object| sizes.at(object)).collect();
        assert_eq!(first, [67_822, 181_879, 128_715, 145_018, 70_447, 162_396, 191_231, 58_956]);
        assert_eq!(sizes.at(u64::from(u32::MAX)), 194_503);
    }

    /// The standard error of the mean of 100,000 sizes is s/316; that of their standard deviation follows from the
    /// fourth moment and is below 1 % of it for spreads up to the mean. Four of them are allowed.
    #[test]
    fn mean_and_standard_deviation_are_those_asked_for() {
        for (mean, stdev) in [(114_660, 11_466), (114_660, 57_330), (1_000_000, 470_000), (200_000, 200_000)]
        {
            let (found_mean, found_stdev) = moments(sizes(mean, stdev, 7).collect::<Vec<_>>().into_iter());
            let mean_error = (found_mean - mean as f64) / (stdev as f64 / f64::from(COUNT).sqrt());
            assert!(mean_error.abs() < 4.0, "{mean} +- {stdev}: mean {found_mean}");
            assert!((found_stdev / stdev as f64 - 1.0).abs() < 0.04, "{mean} +- {stdev}: {found_stdev}");
        }
    }

    /// Logarithms of lognormal sizes are normal: a third lies within 0.43 of the mean, 4.55 % beyond two standard
    /// deviations, as many on either side. Bounds are four standard errors.
    #[test]
    fn their_logarithms_are_normal() {
        let logs: Vec<f64> = sizes(1_000_000, 300_000, 3).map(f64::ln).collect();
        let (mean, stdev) = moments(logs.iter().copied());
        let share = |holds: &dyn Fn(f64) -> bool| {
            logs.iter().filter(|log| holds((**log - mean) / stdev)).count() as f64 / f64::from(COUNT)
        };
        assert!((share(&|z| z.abs() < 0.430_727) - 1.0 / 3.0).abs() < 0.006);
        assert!((share(&|z| z > 2.0) - 0.022_75).abs() < 0.001_9);
        assert!((share(&|z| z < -2.0) - 0.022_75).abs() < 0.001_9);
    }

    #[test]
    fn neighbours_and_seeds_have_sizes_of_their_own() {
        let correlation = |a: &[f64], b: &[f64]| {
            let [(mean_a, stdev_a), (mean_b, stdev_b)] = [a, b].map(|sizes| moments(sizes.iter().copied()));
            let product = |(a, b): (&f64, &f64)| (a - mean_a) * (b - mean_b);
            a.iter().zip(b).map(product).sum::<f64>() / f64::from(COUNT) / (stdev_a * stdev_b)
        };
        let [one, other] = [1, 2].map(|seed| sizes(100_000, 30_000, seed).collect::<Vec<_>>());
        let mut shifted = one.clone();
        shifted.rotate_left(1);
        // The standard error of a correlation of 100,000 pairs is 0.0032.
        assert!(correlation(&one, &shifted).abs() < 0.0127);
        assert!(correlation(&one, &other).abs() < 0.0127);
    }

    #[test]
    fn sizes_stay_within_one_byte_and_the_cut() {
        let (mut smallest, mut largest) = (f64::MAX, 0.0_f64);
        for size in sizes(10, 100, 5) {
            (smallest, largest) = (smallest.min(size), largest.max(size));
        }
        assert_eq!((smallest, largest), (1.0, 160.0));
        let vast = LogNormal::new(u64::MAX, u64::MAX, 1);
        assert!((0..1000).all(|object| vast.at(object) > 0));
    }
}
