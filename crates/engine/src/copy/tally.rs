//! What one worker of a copy counts: each object once, when it is published.

use backend::{ErrorKind, StoreError};
use hdrhistogram::Histogram;

use crate::recorder::ErrorCounts;
use crate::seconds::{Ended, Seconds};

/// An object or shard that is durable under its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Published {
    /// When its first read was issued.
    pub(super) begun_ns: u64,
    /// When its last read had ended.
    pub(super) read_ns: u64,
    /// When its last byte had been handed over.
    pub(super) written_ns: u64,
    /// When it was durable.
    pub(super) done_ns: u64,
    /// Bytes of the source that it is made of.
    pub(super) bytes: u64,
    /// Bytes written of it.
    pub(super) written_bytes: u64,
}

/// Counters and histograms of a worker.
#[derive(Debug)]
pub(super) struct Tally {
    start_ns: u64,
    pub(super) ops: u64,
    pub(super) bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) clamped: u64,
    pub(super) errors: ErrorCounts,
    pub(super) first_failure: Option<String>,
    /// When the first object was published.
    pub(super) first_ns: Option<u64>,
    /// When the last one was.
    pub(super) last_ns: u64,
    pub(super) service_ns: Histogram<u64>,
    pub(super) read_ns: Histogram<u64>,
    pub(super) publish_ns: Histogram<u64>,
    pub(super) seconds: Seconds,
}

impl Tally {
    /// Nothing yet, of a copy that began at `start_ns`.
    pub(super) fn new(start_ns: u64) -> Self {
        Self {
            start_ns,
            ops: 0,
            bytes: 0,
            written_bytes: 0,
            clamped: 0,
            errors: ErrorCounts::default(),
            first_failure: None,
            first_ns: None,
            last_ns: start_ns,
            service_ns: record::new_histogram(),
            read_ns: record::new_interval_histogram(),
            publish_ns: record::new_interval_histogram(),
            seconds: Seconds::default(),
        }
    }

    pub(super) fn published(&mut self, object: &Published) {
        let Published { begun_ns, read_ns, written_ns, done_ns, bytes, written_bytes } = *object;
        let service_ns = done_ns.saturating_sub(begun_ns).max(1);
        self.ops += 1;
        self.bytes += bytes;
        self.written_bytes += written_bytes;
        self.clamped += u64::from(service_ns > self.service_ns.high());
        self.service_ns.saturating_record(service_ns);
        self.read_ns.saturating_record(read_ns.saturating_sub(begun_ns).max(1));
        self.publish_ns.saturating_record(done_ns.saturating_sub(written_ns).max(1));
        // Objects of one worker are published one after the other, so its first is its earliest.
        self.first_ns.get_or_insert(done_ns);
        self.last_ns = self.last_ns.max(done_ns);
        let ended = Ended { ops: 1, bytes, service_ns };
        self.seconds.count(done_ns.saturating_sub(self.start_ns), ended);
    }

    /// Counts an object that was not copied.
    pub(super) fn failed(&mut self, failure: &Failure) {
        self.errors.add(failure.kind);
        self.first_failure.get_or_insert_with(|| failure.words.clone());
    }
}

/// Why an object was not copied.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) kind: ErrorKind,
    /// As the storage put it.
    pub(super) words: String,
    /// Whether every other object would fail as well.
    pub(super) is_final: bool,
}

impl Failure {
    /// A write that was refused.
    pub(super) fn of_write(error: &StoreError) -> Self {
        Self {
            kind: error.kind(),
            words: error.to_string(),
            is_final: matches!(error, StoreError::Full { .. }),
        }
    }
}
