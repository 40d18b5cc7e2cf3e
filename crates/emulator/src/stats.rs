//! What a server did in a span: counted here, encoded when the span ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use record::{Emulated, Histogram, HistogramText};

use crate::clock;
use crate::draw::Fault;

/// Delays asked for and delays as they became.
struct Delays {
    asked: Histogram<u64>,
    achieved: Histogram<u64>,
}

impl Delays {
    fn new() -> Self {
        Self { asked: record::new_histogram(), achieved: record::new_histogram() }
    }

    fn texts(&self) -> (Option<HistogramText>, Option<HistogramText>) {
        if self.asked.is_empty() {
            return (None, None);
        }
        (Some(record::encode(&self.asked)), Some(record::encode(&self.achieved)))
    }
}

struct Span {
    requests: u64,
    throttled: u64,
    faults: BTreeMap<&'static str, u64>,
    data: Delays,
    metadata: Delays,
    cpu_before_ns: u64,
    sent_bytes: u64,
}

impl Span {
    fn begin() -> Self {
        Self {
            requests: 0,
            throttled: 0,
            faults: BTreeMap::new(),
            data: Delays::new(),
            metadata: Delays::new(),
            cpu_before_ns: clock::cpu_ns(),
            sent_bytes: 0,
        }
    }
}

/// The span under way.
pub(crate) struct Stats(Mutex<Span>);

impl Stats {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Span::begin()))
    }

    fn span(&self) -> MutexGuard<'_, Span> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a span; what was counted before is forgotten.
    pub(crate) fn begin(&self) {
        let begun = Span::begin();
        *self.span() = begun;
    }

    /// What happened since the span began.
    pub(crate) fn end(&self) -> Emulated {
        let span = self.span();
        let (asked_ns, achieved_ns) = span.data.texts();
        let (metadata_asked_ns, metadata_achieved_ns) = span.metadata.texts();
        Emulated {
            requests: span.requests,
            throttled: span.throttled,
            faults: span.faults.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect(),
            asked_ns,
            achieved_ns,
            metadata_asked_ns,
            metadata_achieved_ns,
            cpu_ns: clock::cpu_ns() - span.cpu_before_ns,
            sent_bytes: span.sent_bytes,
        }
    }

    pub(crate) fn request(&self) {
        self.span().requests += 1;
    }

    pub(crate) fn throttled(&self) {
        self.span().throttled += 1;
    }

    pub(crate) fn fault(&self, fault: Fault) {
        *self.span().faults.entry(fault.name()).or_default() += 1;
    }

    /// Bytes of data on their way to a client.
    pub(crate) fn sent(&self, bytes: u64) {
        self.span().sent_bytes += bytes;
    }

    /// One delay, in nanoseconds from the request.
    pub(crate) fn delayed(&self, metadata: bool, asked_ns: u64, achieved_ns: u64) {
        let mut span = self.span();
        let delays = if metadata { &mut span.metadata } else { &mut span.data };
        // Beyond 60 s the histogram keeps its last value instead of an error.
        delays.asked.saturating_record(asked_ns);
        delays.achieved.saturating_record(achieved_ns);
    }
}
