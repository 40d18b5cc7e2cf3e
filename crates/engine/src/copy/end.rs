//! What a copy measured: the counts of its workers, added up.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use record::{CacheProof, HistogramText, Interval, Outcome, counter};

use crate::outcome::{RepOutcome, add};
use crate::usage::Meter;

use super::tally::Tally;
use super::work::WorkerEnd;

/// A copy whose workers have ended.
pub(super) struct Ended {
    pub(super) start_ns: u64,
    pub(super) meter: Meter,
    pub(super) workers: Vec<WorkerEnd>,
    /// Why it gave up.
    pub(super) reason: Option<String>,
    /// Whether a signal was seen.
    pub(super) stopped: bool,
    /// Objects or shards that were asked for.
    pub(super) count: u32,
}

impl Ended {
    /// Adds up the workers. The window begins with the copy and ends with the last object that was published.
    pub(super) fn outcome(self, cache: CacheProof) -> RepOutcome {
        let (usage, system) = self.meter.measured();
        let tallies = || self.workers.iter().map(|worker| &worker.tally);
        let last_ns = tallies().map(|tally| tally.last_ns).max().unwrap_or(self.start_ns);
        RepOutcome {
            outcome: self.how(),
            window_start_ns: self.start_ns,
            window_ns: last_ns.saturating_sub(self.start_ns),
            counters: self.counters(),
            errors: self.errors(),
            histograms: self.histograms(),
            usage,
            system,
            cache,
            granted: self.granted(),
            emulated: None,
            sampled: Vec::new(),
            trained: None,
            epochs: Vec::new(),
            checkpoints: Vec::new(),
            seconds: self.seconds(),
        }
    }

    fn sum(&self, of: fn(&WorkerEnd) -> u64) -> u64 {
        self.workers.iter().map(of).sum()
    }

    fn how(&self) -> Outcome {
        if let Some(reason) = &self.reason {
            return Outcome::Failed { reason: reason.clone() };
        }
        let published = self.sum(|worker| worker.tally.ops);
        let failed: u64 = self.errors().values().sum();
        if self.stopped && published + failed < u64::from(self.count) {
            return Outcome::Interrupted;
        }
        if published == 0 {
            let kinds: Vec<String> =
                self.errors().iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            let first = self.first_failure().map(|words| format!("; the first: {words}")).unwrap_or_default();
            return Outcome::Failed {
                reason: format!("nothing could be copied ({}){first}", kinds.join(", ")),
            };
        }
        Outcome::Complete
    }

    fn first_failure(&self) -> Option<String> {
        let of_storage = || self.workers.iter().find_map(|worker| worker.report.first_failure.clone());
        self.workers.iter().find_map(|worker| worker.tally.first_failure.clone()).or_else(of_storage)
    }

    fn errors(&self) -> BTreeMap<String, u64> {
        let mut errors = BTreeMap::new();
        for (kind, count) in self.workers.iter().flat_map(|worker| worker.tally.errors.iter()) {
            *errors.entry(kind.name().to_owned()).or_insert(0) += count;
        }
        errors
    }

    fn counters(&self) -> BTreeMap<String, u64> {
        let ops = self.sum(|worker| worker.tally.ops);
        let mut counters: BTreeMap<String, u64> = [
            (counter::OPS, ops),
            (counter::BYTES, self.sum(|worker| worker.tally.bytes)),
            (counter::WRITTEN_BYTES, self.sum(|worker| worker.tally.written_bytes)),
            (counter::STARTED, ops),
            (counter::WARMUP_OPS, 0),
            (counter::VERIFIED, self.sum(|worker| worker.verified)),
            (counter::CLAMPED, self.sum(|worker| worker.tally.clamped)),
            (counter::SHORT_READS, self.sum(|worker| worker.report.short_reads)),
            (counter::OPENS, self.sum(|worker| worker.report.opens)),
            (counter::ENTERS, self.sum(|worker| worker.report.enters)),
            (counter::ABANDONED, self.sum(|worker| u64::from(worker.abandoned))),
        ]
        .map(|(name, count)| (name.to_owned(), count))
        .into();
        for (name, count) in self.workers.iter().flat_map(|worker| &worker.report.counted) {
            *counters.entry(name.clone()).or_insert(0) += count;
        }
        let first_ns = self.workers.iter().filter_map(|worker| worker.tally.first_ns).min();
        counters.extend(
            first_ns.map(|first| (counter::FIRST_OBJECT_NS.to_owned(), first.saturating_sub(self.start_ns))),
        );
        counters
    }

    fn histograms(&self) -> BTreeMap<String, HistogramText> {
        let sum = |empty: Histogram<u64>, of: fn(&Tally) -> &Histogram<u64>| {
            let mut sum = empty;
            self.workers.iter().for_each(|worker| add(&mut sum, of(&worker.tally)));
            record::encode(&sum)
        };
        BTreeMap::from([
            ("service_ns".to_owned(), sum(record::new_histogram(), |tally| &tally.service_ns)),
            ("read_ns".to_owned(), sum(record::new_interval_histogram(), |tally| &tally.read_ns)),
            ("publish_ns".to_owned(), sum(record::new_interval_histogram(), |tally| &tally.publish_ns)),
        ])
    }

    /// What every queue was granted; where they differ, each answer.
    fn granted(&self) -> BTreeMap<String, String> {
        let mut granted: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in self.workers.iter().flat_map(|worker| &worker.report.granted) {
            let known = granted.entry((*name).to_owned()).or_insert_with(|| value.clone());
            if !known.split("; ").any(|part| part == value) {
                *known = format!("{known}; {value}");
            }
        }
        granted.extend(self.first_failure().map(|words| ("first_failure".to_owned(), words)));
        granted
    }

    fn seconds(&self) -> Vec<Interval> {
        let length = self.workers.iter().map(|worker| worker.tally.seconds.len()).max().unwrap_or(0);
        let at = |index: usize| {
            let (mut ops, mut bytes, mut service_ns) = (0, 0, record::new_interval_histogram());
            for second in self.workers.iter().filter_map(|worker| worker.tally.seconds.get(index)) {
                ops += second.ops;
                bytes += second.bytes;
                add(&mut service_ns, &second.service_ns);
            }
            Interval { second: index as u32, ops, bytes, service_ns: record::encode(&service_ns) }
        };
        (0..length).map(at).collect()
    }
}
