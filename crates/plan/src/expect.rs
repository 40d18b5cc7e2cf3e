//! What is said of a storage beforehand, as plain figures: by a claim, or by the settings of an emulated server.

use feed::bounds::Settings;

use crate::{Delay, Emulation};

/// A claim about a storage, in the figures that follow from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// In words.
    pub claim: String,
    /// Who claims it, and where.
    pub source: Option<String>,
    /// Its figures; prefixes are those of each target.
    pub settings: Settings,
}

/// How operations reach a target, as far as a prediction depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Prefixes over which objects are spread; 0 where a storage has none.
    pub prefixes: u32,
    /// Whether a connection has one request at a time.
    pub one_at_a_time: bool,
    /// Requests for names or attributes before those for the data of a whole file.
    pub lookups_per_file: u32,
    /// Whether a whole file is fetched in parts over several connections at once, which no formula here covers.
    pub in_parts: bool,
}

impl Emulation {
    /// The figures of this server, delays by their means.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            first_byte_s: self.first_byte.map(Delay::mean_s),
            metadata_s: self.metadata.map(Delay::mean_s),
            connection_bps: self.connection_bps,
            total_bps: self.total_bps,
            requests_per_s: self.requests_per_s,
            byte_burst: self.byte_burst,
            request_burst: self.request_burst,
            prefixes: 1,
            seek_s: self.seek_ns.map(|ns| ns as f64 / 1e9),
        }
    }
}

/// The 99th percentile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874;

impl Delay {
    /// Mean, seconds. Of a lognormal delay `p50 exp(s^2 / 2)`, where `s` is `ln(p99 / p50)` by the normal
    /// distribution's 99th percentile: longer than its median.
    pub fn mean_s(self) -> f64 {
        let mean_ns = match self {
            Self::Constant { ns } => ns as f64,
            Self::Uniform { from_ns, to_ns } => f64::midpoint(from_ns as f64, to_ns as f64),
            // The logarithm of a quotient by zero would make the prediction NaN, and NaN is dropped from
            // tables without a word.
            Self::LogNormal { p50_ns: 0, .. } => 0.0,
            Self::LogNormal { p50_ns, p99_ns } => {
                // A mean and not the median: Little's law counts with means, and a skewed latency has a
                // mean well above its median.
                let spread = (p99_ns as f64 / p50_ns as f64).ln() / NORMAL_P99;
                p50_ns as f64 * (spread * spread / 2.0).exp()
            }
        };
        mean_ns / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_mean_ms(delay: Delay, expected: f64) {
        let mean_ms = delay.mean_s() * 1e3;
        assert!((mean_ms / expected - 1.0).abs() < 1e-3, "{mean_ms} is not {expected}");
    }

    #[test]
    fn a_delay_has_a_mean() {
        assert_mean_ms(Delay::Constant { ns: 30_000_000 }, 30.0);
        assert_mean_ms(Delay::Uniform { from_ns: 20_000_000, to_ns: 100_000_000 }, 60.0);
        assert_mean_ms(Delay::LogNormal { p50_ns: 30_000_000, p99_ns: 30_000_000 }, 30.0);
        // A spread of ln(10) / 2.326 = 0.9898, and exp(0.9898^2 / 2) = 1.632.
        assert_mean_ms(Delay::LogNormal { p50_ns: 20_000_000, p99_ns: 200_000_000 }, 32.64);
        assert!(Delay::LogNormal { p50_ns: 0, p99_ns: 1 }.mean_s().abs() < f64::EPSILON);
    }

    #[test]
    fn an_emulated_server_is_what_it_was_asked_to_be() {
        let emulation = Emulation {
            first_byte: Some(Delay::Constant { ns: 10_000_000 }),
            seek_ns: Some(7_500_000),
            requests_per_s: Some(5_500.0),
            ..Emulation::default()
        };
        let settings = Settings {
            first_byte_s: Some(0.010),
            seek_s: Some(0.0075),
            requests_per_s: Some(5_500.0),
            prefixes: 1,
            ..Settings::default()
        };
        assert_eq!(emulation.settings(), settings);
    }
}
