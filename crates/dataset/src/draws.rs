//! Delays and chances, drawn from a seed by a counter, so that the same requests in the same order meet the same fate.

use std::sync::atomic::{AtomicU64, Ordering};

use plan::Delay;

use crate::payload::Stream;

/// 99 % of a standard normal variable lie below this.
const NORMAL_P99: f64 = 2.326_347_874_040_841;

/// A source of delays or chances with its own place in the sequence.
#[derive(Debug)]
pub struct Draws {
    stream: Stream,
    next: AtomicU64,
}

impl Draws {
    /// The draws of one `purpose`, which differ from those of any other.
    pub fn new(seed: u64, purpose: u32) -> Self {
        Self { stream: Stream::of(seed, purpose), next: AtomicU64::new(0) }
    }

    /// A chance in `0..1`.
    pub fn chance(&self) -> f64 {
        self.uniform(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// How long the next request takes.
    pub fn delay_ns(&self, delay: Delay) -> u64 {
        // Two words for each delay, of whatever distribution, so that draws of a seed keep their places.
        let first = self.next.fetch_add(2, Ordering::Relaxed);
        match delay {
            Delay::Constant { ns } => ns,
            Delay::Uniform { from_ns, to_ns } => {
                from_ns + (self.uniform(first) * to_ns.saturating_sub(from_ns) as f64) as u64
            }
            Delay::LogNormal { p50_ns, p99_ns } => {
                // libm gives the same bits on every machine. std's functions are the platform's.
                let sigma = libm::log(p99_ns as f64 / p50_ns.max(1) as f64).max(0.0) / NORMAL_P99;
                (p50_ns as f64 * libm::exp(sigma * self.normal(first))) as u64
            }
        }
    }

    /// In `0..1`.
    fn uniform(&self, index: u64) -> f64 {
        // 53 bits, as many as a double has.
        (self.stream.word(index) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal variable, from two uniform ones (Box and Muller, 1958).
    fn normal(&self, index: u64) -> f64 {
        // In (0, 1]: the logarithm of 0 is never taken.
        let radius = 1.0 - self.uniform(index);
        let angle = self.uniform(index + 1);
        (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;

    fn sorted(delay: Delay) -> Vec<u64> {
        let draws = Draws::new(11, 1);
        let mut delays: Vec<u64> = (0..DRAWS).map(|_| draws.delay_ns(delay)).collect();
        delays.sort_unstable();
        delays
    }

    fn is_near(measured: u64, wanted: u64, tolerance: f64) {
        let ratio = measured as f64 / wanted as f64;
        assert!((ratio - 1.0).abs() < tolerance, "{measured} for {wanted}");
    }

    #[test]
    fn a_constant_delay_is_always_as_long() {
        let delays = sorted(Delay::Constant { ns: 500 });
        assert_eq!((delays[0], delays[DRAWS - 1]), (500, 500));
    }

    /// The standard error of a quantile of 100,000 uniform draws is below 0.2 % of the range.
    #[test]
    fn uniform_delays_fill_their_range_evenly() {
        let delays = sorted(Delay::Uniform { from_ns: 10_000_000, to_ns: 30_000_000 });
        assert!(delays[0] >= 10_000_000 && delays[DRAWS - 1] < 30_000_000);
        for (share, wanted) in [(0.1, 12_000_000), (0.5, 20_000_000), (0.9, 28_000_000)] {
            is_near(delays[(DRAWS as f64 * share) as usize], wanted, 0.01);
        }
    }

    #[test]
    fn lognormal_delays_have_the_two_percentiles_asked_for() {
        let delays = sorted(Delay::LogNormal { p50_ns: 30_000_000, p99_ns: 200_000_000 });
        is_near(delays[DRAWS / 2], 30_000_000, 0.02);
        is_near(delays[DRAWS / 100 * 99], 200_000_000, 0.05);
    }

    #[test]
    fn a_lognormal_delay_without_spread_is_constant() {
        let delays = sorted(Delay::LogNormal { p50_ns: 1_000_000, p99_ns: 1_000_000 });
        assert_eq!((delays[0], delays[DRAWS - 1]), (1_000_000, 1_000_000));
    }
}
