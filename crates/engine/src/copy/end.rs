//! What a copy measured: the counts of its workers, added up.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use plan::Cell;
use record::{CacheProof, HistogramText, Outcome, Rep, counter};

use crate::outcome::Measured;
use crate::seconds;
use crate::sums;
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
    pub(super) fn measured(self, cell: &Cell, cache: CacheProof) -> Measured {
        let (usage, system) = self.meter.measured();
        let tallies = || self.workers.iter().map(|worker| &worker.tally);
        let last_ns = tallies().map(|tally| tally.last_ns).max().unwrap_or(self.start_ns);
        let rep = Rep {
            window_start_ns: self.start_ns,
            window_ns: last_ns.saturating_sub(self.start_ns),
            counters: self.counters(),
            errors: self.errors(),
            histograms: self.histograms(),
            usage,
            system,
            cache,
            granted: self.granted(),
            ..Rep::empty(&cell.slug, self.outcome())
        };
        let seconds = seconds::of_all(&tallies().map(|tally| &tally.seconds));
        Measured::new(rep, seconds, Vec::new()).beside(self.meter.looks())
    }

    fn sum(&self, of: fn(&WorkerEnd) -> u64) -> u64 {
        self.workers.iter().map(of).sum()
    }

    fn outcome(&self) -> Outcome {
        if let Some(reason) = &self.reason {
            return Outcome::Failed { reason: reason.clone() };
        }
        let published = self.sum(|worker| worker.tally.ops);
        let failed: u64 = self.errors().values().sum();
        if self.stopped && published + failed < u64::from(self.count) {
            return Outcome::Interrupted;
        }
        // Nothing at all is a failure with its reason, and not a complete copy of no bytes.
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
        sums::errors(self.workers.iter().flat_map(|worker| worker.tally.errors.iter()))
    }

    fn counters(&self) -> BTreeMap<String, u64> {
        let ops = self.sum(|worker| worker.tally.ops);
        let mut counters = sums::by_name([
            (counter::OPS, ops),
            (counter::BYTES, self.sum(|worker| worker.tally.bytes)),
            (counter::WRITTEN_BYTES, self.sum(|worker| worker.tally.written_bytes)),
            (counter::STARTED, ops),
            // A copy has none: what is published first is a part of what it takes.
            (counter::WARMUP_OPS, 0),
            (counter::VERIFIED, self.sum(|worker| worker.verified)),
            (counter::CLAMPED, self.sum(|worker| worker.tally.clamped)),
            (counter::ABANDONED, self.sum(|worker| u64::from(worker.abandoned))),
        ]);
        counters.extend(sums::of_queues(self.workers.iter().map(|worker| &worker.report)));
        let first_ns = self.workers.iter().filter_map(|worker| worker.tally.first_ns).min();
        counters.extend(
            first_ns.map(|first| (counter::FIRST_OBJECT_NS.to_owned(), first.saturating_sub(self.start_ns))),
        );
        counters
    }

    fn histograms(&self) -> BTreeMap<String, HistogramText> {
        let sum = |empty: Histogram<u64>, of: fn(&Tally) -> &Histogram<u64>| {
            let mut sum = empty;
            self.workers.iter().for_each(|worker| sums::add(&mut sum, of(&worker.tally)));
            record::encode(&sum)
        };
        BTreeMap::from([
            ("service_ns".to_owned(), sum(record::new_histogram(), |tally| &tally.service_ns)),
            ("read_ns".to_owned(), sum(record::new_interval_histogram(), |tally| &tally.read_ns)),
            ("publish_ns".to_owned(), sum(record::new_interval_histogram(), |tally| &tally.publish_ns)),
        ])
    }

    fn granted(&self) -> BTreeMap<String, String> {
        let mut granted = sums::granted(self.workers.iter().map(|worker| &worker.report));
        granted.extend(self.first_failure().map(|words| ("first_failure".to_owned(), words)));
        granted
    }
}
