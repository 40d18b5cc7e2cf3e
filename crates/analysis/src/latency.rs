//! Latency of single reads, from merged histograms.

use hdrhistogram::Histogram;
use record::Rep;

/// Name of the histogram in a repetition: submission to completion.
const SERVICE: &str = "service_ns";

/// Reads that must lie beyond a percentile before it is printed.
///
/// With fewer, a percentile is the story of a few reads: curves of percentiles are ended at 1 - 10/n for
/// that reason. It is stricter than the order-statistic bound, which has no finite 95 % upper end below
/// 368 reads for the 99th percentile and 3,688 for the 99.9th.
const BEYOND_MIN: f64 = 10.0;

/// Service latency over the repetitions used; for display, never for a decision between cells.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Latency {
    /// Reads in the histograms.
    pub count: u64,
    /// Mean, nanoseconds.
    pub mean_ns: Option<f64>,
    /// Median; absent below 20 reads.
    pub p50_ns: Option<u64>,
    /// 99th percentile; absent below 1,000 reads.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile; absent below 10,000 reads.
    pub p999_ns: Option<u64>,
    /// Largest latency seen.
    pub max_ns: Option<u64>,
    /// Repetitions whose histogram was missing or could not be read.
    pub unreadable: u32,
}

impl Latency {
    /// Merges the histograms of `reps`.
    pub(crate) fn of(reps: &[&Rep]) -> Self {
        let mut merged = record::new_histogram();
        let mut unreadable = 0;
        for rep in reps {
            let decoded = rep.histograms.get(SERVICE).and_then(|text| text.decode().ok());
            let added = decoded.is_some_and(|histogram| merged.add(histogram).is_ok());
            unreadable += u32::from(!added);
        }
        Self { unreadable, ..Self::of_histogram(&merged) }
    }

    fn of_histogram(histogram: &Histogram<u64>) -> Self {
        let count = histogram.len();
        if count == 0 {
            return Self::default();
        }
        let quantile = |q: f64| enough(count, q).then(|| histogram.value_at_quantile(q));
        Self {
            count,
            mean_ns: Some(histogram.mean()),
            p50_ns: quantile(0.50),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: Some(histogram.max()),
            unreadable: 0,
        }
    }
}

/// Whether `count` reads say anything about quantile `q`.
fn enough(count: u64, q: f64) -> bool {
    // The tolerance admits 1,000 reads for the 99th percentile, where 1 - 0.99 is a hair below 0.01.
    count as f64 * (1.0 - q) >= BEYOND_MIN - 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_count(count: u64) -> Latency {
        let mut histogram = record::new_histogram();
        for value in 1..=count {
            histogram.record(value * 1_000).unwrap();
        }
        Latency::of_histogram(&histogram)
    }

    #[test]
    fn a_percentile_needs_ten_reads_beyond_it() {
        assert!(of_count(19).p50_ns.is_none() && of_count(20).p50_ns.is_some());
        assert!(of_count(999).p99_ns.is_none() && of_count(1_000).p99_ns.is_some());
        assert!(of_count(9_999).p999_ns.is_none() && of_count(10_000).p999_ns.is_some());
    }

    #[test]
    fn percentiles_are_those_of_the_histogram_to_three_digits() {
        let latency = of_count(10_000);
        for (found, expected) in [(latency.p50_ns, 5.0e6), (latency.p99_ns, 9.9e6), (latency.p999_ns, 9.99e6)]
        {
            let found = found.unwrap() as f64;
            assert!((found / expected - 1.0).abs() < 2e-3, "{found} for {expected}");
        }
        assert_eq!(latency.count, 10_000);
    }

    #[test]
    fn nothing_recorded_is_nothing_claimed() {
        assert_eq!(of_count(0), Latency::default());
    }
}
