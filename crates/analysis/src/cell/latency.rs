//! Latency of single operations, from merged histograms.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use record::{HistogramSum, Rep};

use crate::cell::counters::errors;

/// Name of the histogram in a repetition: submission to completion.
pub(crate) const SERVICE: &str = "service_ns";

/// Reads and writes of one load, and the histogram of each.
const APART: [(&str, &str); 2] = [("reads", "service_read_ns"), ("writes", "service_write_ns")];

/// Parts of reading a whole file, in their order, and the histogram of each; of one that is written anew in the place of another.
/// And of one behind a network: a request is sent, headers or a reply come, then the first byte and the rest.
const PHASES: [(&str, &str); 15] = [
    ("open", "open_ns"),
    ("stat", "stat_ns"),
    ("lookup", "lookup_ns"),
    ("read", "read_ns"),
    ("close", "close_ns"),
    ("create", "create_ns"),
    ("write", "write_ns"),
    ("sync", "sync_ns"),
    ("rename", "rename_ns"),
    ("remove", "remove_ns"),
    ("send", "send_ns"),
    ("reply", "reply_ns"),
    ("headers", "headers_ns"),
    ("first byte", "first_byte_ns"),
    ("body", "body_ns"),
];

// hdr-plot and HdrHistogram's own `.hgrm` draw further; what they draw there is single reads.
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
    /// 99th percentile of all that were asked for: one that failed is later than any that ended.
    pub asked_p99: Percentile,
    /// 99.9th percentile; absent below 10,000 reads.
    pub p999_ns: Option<u64>,
    /// Largest latency seen.
    pub max_ns: Option<u64>,
    /// Repetitions whose histogram was missing or could not be read.
    pub unreadable: u32,
}

/// A percentile over all arrivals, or over all reads that were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Percentile {
    /// Too few of them, or no histogram.
    #[default]
    Unknown,
    /// Its value, nanoseconds.
    At(u64),
    /// Its rank falls among those that were not served.
    NotServed,
}

/// The histograms of repetitions: those of one name are added up once, when they are first asked for.
// Figures, phases and the signs of a network ask for the same ones, and reading their texts is most of the time of a report.
pub(crate) struct Merged<'a> {
    reps: &'a [&'a Rep],
    sums: RefCell<BTreeMap<&'static str, (Rc<HistogramSum>, u32)>>,
}

impl<'a> Merged<'a> {
    pub(crate) fn of(reps: &'a [&'a Rep]) -> Self {
        Self { reps, sums: RefCell::default() }
    }

    /// The sum of the histograms of one name.
    pub(crate) fn named(&self, name: &'static str) -> Rc<HistogramSum> {
        self.counted(name).0
    }

    /// The same, and how many repetitions had none that can be read.
    fn counted(&self, name: &'static str) -> (Rc<HistogramSum>, u32) {
        let sum = || {
            let (sum, unreadable) = merged(self.reps, name);
            (Rc::new(sum), unreadable)
        };
        self.sums.borrow_mut().entry(name).or_insert_with(sum).clone()
    }

    /// How long single operations took.
    pub(crate) fn latency(&self) -> Latency {
        let (sum, unreadable) = self.counted(SERVICE);
        Latency { unreadable, ..Latency::of_histogram(&sum, self.failed()) }
    }

    /// Operations that failed, which no histogram holds.
    fn failed(&self) -> u64 {
        self.reps.iter().map(|rep| errors(rep)).fold(0, u64::saturating_add)
    }
}

impl Latency {
    /// Merges the histograms of one name; those that lack it are not looked for.
    pub(crate) fn named(reps: &[&Rep], name: &str) -> Self {
        Self::of_histogram(&merged(reps, name).0, 0)
    }

    /// Of the operations in a histogram, beside which so many failed.
    pub(crate) fn of_histogram(histogram: &HistogramSum, failed: u64) -> Self {
        let count = histogram.len();
        if count == 0 {
            return Self::default();
        }
        let [p50_ns, p99_ns, p999_ns] = quantiles(histogram, [0.50, 0.99, 0.999]);
        Self {
            count,
            mean_ns: Some(histogram.mean()),
            p50_ns,
            p99_ns,
            asked_p99: percentile(histogram, count.saturating_add(failed), count, 0.99),
            p999_ns,
            max_ns: Some(histogram.max()),
            unreadable: 0,
        }
    }
}

/// One part of what a file or a request takes: `open`, `stat`, `read`, `send`, `first byte`, …; or one kind of what a mix does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Which part.
    pub name: &'static str,
    /// How long it took.
    pub latency: Latency,
    /// Its share of the time of all parts, by the means, 0 to 1.
    pub share: f64,
}

/// The parts of reading whole files that the repetitions recorded, in their order, or reads and writes where both were done; none
/// for other cells.
pub(crate) fn phases(merged: &Merged<'_>) -> Vec<Phase> {
    // Which kind of a mix failed is not recorded: all that failed may have been of either.
    let of_phase = |(name, histogram)| {
        let latency = Latency::of_histogram(&merged.named(histogram), merged.failed());
        (latency.count > 0).then_some(Phase { name, latency, share: 0.0 })
    };
    let apart: Vec<Phase> = APART.into_iter().filter_map(of_phase).collect();
    // A request has phases of its own whichever way its bytes go: those of reads and writes together say nothing of either.
    let mut phases = if apart.is_empty() { PHASES.into_iter().filter_map(of_phase).collect() } else { apart };
    let total: f64 = phases.iter().map(Phase::total_ns).sum();
    for phase in &mut phases {
        phase.share = if total > 0.0 { phase.total_ns() / total } else { 0.0 };
    }
    phases
}

impl Phase {
    fn total_ns(&self) -> f64 {
        self.latency.mean_ns.unwrap_or(0.0) * self.latency.count as f64
    }
}

/// All histograms of one name added up, and how many repetitions had none that can be read.
pub(crate) fn merged(reps: &[&Rep], name: &str) -> (HistogramSum, u32) {
    let mut sum = HistogramSum::of_repetitions();
    let mut unreadable = 0;
    for rep in reps {
        let added = rep.histograms.get(name).is_some_and(|text| sum.add(text).is_ok());
        unreadable += u32::from(!added);
    }
    (sum, unreadable)
}

/// Quantile `q`, where the histogram holds enough to say something about it.
pub(crate) fn quantile(histogram: &HistogramSum, q: f64) -> Option<u64> {
    enough(histogram.len(), q).then(|| histogram.value_at_quantile(q))
}

/// The same of several that rise, in one pass over the histogram.
fn quantiles<const N: usize>(histogram: &HistogramSum, at: [f64; N]) -> [Option<u64>; N] {
    let mut values = histogram.values_at_quantiles(at);
    at.map(|q| values.next().filter(|_| enough(histogram.len(), q)))
}

/// Quantile `q` over `arrivals`, of which the histogram holds the issued ones and `served` ended well.
pub(crate) fn percentile(response: &HistogramSum, arrivals: u64, served: u64, q: f64) -> Percentile {
    if response.is_empty() || !enough(arrivals, q) {
        return Percentile::Unknown;
    }
    let rank = (q * arrivals as f64).ceil();
    // What was never served has no latency. Left out, it would make the percentile better the more is lost, which is
    // coordinated omission by another door.
    if rank > served.min(response.len()) as f64 {
        return Percentile::NotServed;
    }
    Percentile::At(response.value_at_quantile(rank / response.len() as f64))
}

/// Whether `count` reads say anything about quantile `q`.
pub(crate) fn enough(count: u64, q: f64) -> bool {
    // The tolerance admits 1,000 reads for the 99th percentile, where 1 - 0.99 is a hair below 0.01.
    count as f64 * (1.0 - q) >= BEYOND_MIN - 1e-6
}

/// The last quantile about which `count` reads say something: 1 - 10/n, below 0 for fewer than ten.
pub(crate) fn last_quantile(count: u64) -> f64 {
    1.0 - BEYOND_MIN / count.max(1) as f64
}

/// Points of a curve for each nine: 90 %, 99 %, 99.9 %.
const STEPS_BY_NINE: f64 = 20.0;

/// Quantiles evenly spread over the nines, up to 1 - 10 / `count` and below `end`.
pub(crate) fn steps(count: u64, end: f64) -> impl Iterator<Item = f64> {
    let last = last_quantile(count).min(end);
    let nines = if last > 0.0 { -(1.0 - last).max(1e-12).log10() } else { -1.0 };
    let whole = (nines * STEPS_BY_NINE).floor();
    let inner = (0..=whole.max(-1.0) as i64).map(|step| 1.0 - 10_f64.powf(-(step as f64) / STEPS_BY_NINE));
    let inner = inner.filter(move |q| nines >= 0.0 && *q < last - 1e-12);
    inner.chain((nines >= 0.0).then_some(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_count(count: u64) -> Latency {
        let mut histogram = record::new_histogram();
        for value in 1..=count {
            histogram.record(value * 1_000).unwrap();
        }
        let mut one = crate::fixture::rep("c", 0, 1e9);
        one.histograms.insert(SERVICE.to_owned(), record::encode(&histogram));
        Merged::of(&[&one]).latency()
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
    fn phases_are_those_recorded_with_their_share_of_the_time() {
        let mut one = crate::fixture::rep("c", 0, 1e9);
        for (name, ns, count) in
            [("open_ns", 300_000, 1_000), ("read_ns", 700_000, 1_000), ("close_ns", 1, 0)]
        {
            let mut histogram = record::new_histogram();
            histogram.record_n(ns, count).unwrap();
            one.histograms.insert(name.to_owned(), record::encode(&histogram));
        }
        let found = phases(&Merged::of(&[&one]));
        assert_eq!(found.iter().map(|phase| phase.name).collect::<Vec<_>>(), ["open", "read"]);
        assert!((found[0].share - 0.3).abs() < 1e-3 && (found[1].share - 0.7).abs() < 1e-3, "{found:?}");
        assert!(found[0].latency.p99_ns.is_some() && found[0].latency.p999_ns.is_none());
    }

    #[test]
    fn nothing_recorded_is_nothing_claimed() {
        assert_eq!(of_count(0), Latency::default());
    }
}
