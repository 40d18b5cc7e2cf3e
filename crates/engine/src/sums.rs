//! Adding up what several workers counted, whatever they did.

use std::collections::BTreeMap;

use backend::{ErrorKind, QueueReport};
use hdrhistogram::Histogram;
use record::counter;

/// What every queue was granted; where they differ, each answer.
pub(crate) fn granted<'a>(reports: impl Iterator<Item = &'a QueueReport>) -> BTreeMap<String, String> {
    let mut granted: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in reports.flat_map(|report| &report.granted) {
        let known = granted.entry((*name).to_owned()).or_insert_with(|| value.clone());
        // Two sockets of one server may be granted different things; a record that kept one answer would be wrong
        // about the other.
        if !known.split("; ").any(|part| part == value) {
            *known = format!("{known}; {value}");
        }
    }
    granted
}

/// What the queues counted.
pub(crate) fn of_queues<'a>(reports: impl Iterator<Item = &'a QueueReport> + Clone) -> BTreeMap<String, u64> {
    let sum = |of: fn(&QueueReport) -> u64| reports.clone().map(of).sum();
    let mut counters = by_name([
        (counter::SHORT_READS, sum(|report| report.short_reads)),
        (counter::OPENS, sum(|report| report.opens)),
        (counter::ENTERS, sum(|report| report.enters)),
    ]);
    for (name, count) in reports.flat_map(|report| &report.counted) {
        *counters.entry(name.clone()).or_insert(0) += count;
    }
    counters
}

/// Counts by name, as the record has them.
pub(crate) fn by_name<const N: usize>(counts: [(&str, u64); N]) -> BTreeMap<String, u64> {
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

/// Failures by kind.
pub(crate) fn errors(counts: impl Iterator<Item = (ErrorKind, u64)>) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for (kind, count) in counts {
        *errors.entry(kind.name().to_owned()).or_insert(0) += count;
    }
    errors
}

/// Adds a histogram of the same range and precision, for which the sum cannot fail.
pub(crate) fn add(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    let added = sum.add(part);
    debug_assert!(added.is_ok(), "both histograms were made by the same function");
}
