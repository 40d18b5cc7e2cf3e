//! What is left to chance: delays and faults, drawn from a seed by a counter, so that the same requests in the same
//! order meet the same fate.

use std::sync::atomic::{AtomicU64, Ordering};

use dataset::payload::Stream;
use plan::{Delay, Faults};

/// 99 % of a standard normal variable lie below this.
const NORMAL_P99: f64 = 2.326_347_874_040_841;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Reset,
    ServerError,
    Stall,
    Truncated,
    SlowDown,
    Stale,
    Corrupted,
}

impl Fault {
    /// In the order in which they are drawn.
    pub(crate) const ALL: [Self; 7] = [
        Self::Reset,
        Self::ServerError,
        Self::Stall,
        Self::Truncated,
        Self::SlowDown,
        Self::Stale,
        Self::Corrupted,
    ];

    /// The word used in scenarios and records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::ServerError => "server_error",
            Self::Stall => "stall",
            Self::Truncated => "truncated",
            Self::SlowDown => "slow_down",
            Self::Stale => "stale",
            Self::Corrupted => "corrupted",
        }
    }

    /// How often it is asked for.
    pub(crate) fn share(self, of: &Faults) -> f64 {
        match self {
            Self::Reset => of.reset,
            Self::ServerError => of.server_error,
            Self::Stall => of.stall,
            Self::Truncated => of.truncated,
            Self::SlowDown => of.slow_down,
            Self::Stale => of.stale,
            Self::Corrupted => of.corrupted,
        }
    }
}

/// Makes bytes others, the same ones however often they are asked for.
pub(crate) fn corrupt(data: &mut [u8]) {
    for byte in data {
        // No byte inverted is itself, so every byte is wrong.
        *byte = !*byte;
    }
}

/// A source of delays or faults with its own place in the sequence.
#[derive(Debug)]
pub(crate) struct Draws {
    stream: Stream,
    next: AtomicU64,
}

impl Draws {
    /// The draws of one `purpose`, which differ from those of any other.
    pub(crate) fn new(seed: u64, purpose: u32) -> Self {
        Self { stream: Stream::of(seed, purpose), next: AtomicU64::new(0) }
    }

    /// The fault that befalls the next request.
    pub(crate) fn fault(&self, faults: &Faults) -> Option<Fault> {
        // One draw for all kinds: their shares add up, and another kind in the scenario moves no draw.
        let mut left = self.uniform(self.next.fetch_add(1, Ordering::Relaxed));
        Fault::ALL.into_iter().find(|fault| {
            let share = fault.share(faults);
            let befalls = left < share;
            left -= share;
            befalls
        })
    }

    /// How long the next request takes.
    pub(crate) fn delay_ns(&self, delay: Delay) -> u64 {
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

    /// 5 standard deviations of a binomial count around each share.
    #[test]
    fn faults_come_as_often_as_asked_and_the_same_for_a_seed() {
        let faults = Faults { reset: 0.01, stall: 0.002, slow_down: 0.05, ..Faults::default() };
        let count = |seed| {
            let draws = Draws::new(seed, 0);
            let drawn: Vec<_> = (0..DRAWS).filter_map(|_| draws.fault(&faults)).collect();
            Fault::ALL.map(|kind| drawn.iter().filter(|fault| **fault == kind).count())
        };
        assert_eq!(count(1), count(1));
        assert_ne!(count(1), count(2));
        for (kind, counted) in Fault::ALL.into_iter().zip(count(1)) {
            let share = kind.share(&faults);
            let (mean, spread) = (share * DRAWS as f64, (DRAWS as f64 * share * (1.0 - share)).sqrt());
            assert!((counted as f64 - mean).abs() <= 5.0 * spread, "{}: {counted} for {mean}", kind.name());
        }
    }

    #[test]
    fn a_share_of_one_befalls_every_request_and_none_befalls_by_default() {
        let draws = Draws::new(3, 0);
        let always = Faults { stale: 1.0, ..Faults::default() };
        assert!((0..1000).all(|_| draws.fault(&always) == Some(Fault::Stale)));
        assert!((0..1000).all(|_| draws.fault(&Faults::default()).is_none()));
    }
}
