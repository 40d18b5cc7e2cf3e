//! What one worker counts. No allocation per operation: a new histogram once a second, nothing else.

use backend::{Completion, ErrorKind};
use hdrhistogram::Histogram;

use crate::worker::Window;

const SECOND_NS: u64 = 1_000_000_000;
const ERROR_KINDS: [ErrorKind; 9] = [
    ErrorKind::Eof,
    ErrorKind::NotFound,
    ErrorKind::Changed,
    ErrorKind::Permission,
    ErrorKind::Io,
    ErrorKind::Corrupt,
    ErrorKind::TooManyOpen,
    ErrorKind::Timeout,
    ErrorKind::Other,
];

/// One second of the window.
#[derive(Debug)]
pub(crate) struct Second {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    pub(crate) service_ns: Histogram<u64>,
}

/// Counters and histograms of one worker.
///
/// Latency counts the operations begun inside the window, whenever they end, so that the tail is not cut
/// off; throughput counts those that ended inside it.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    pub(crate) started: u64,
    pub(crate) warmup_ops: u64,
    pub(crate) verified: u64,
    pub(crate) clamped: u64,
    pub(crate) service_ns: Histogram<u64>,
    pub(crate) seconds: Vec<Second>,
    ended: u64,
    errors: [u64; ERROR_KINDS.len()],
    consecutive_errors: u64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            ops: 0,
            bytes: 0,
            started: 0,
            warmup_ops: 0,
            verified: 0,
            clamped: 0,
            service_ns: record::new_histogram(),
            seconds: Vec::new(),
            ended: 0,
            errors: [0; ERROR_KINDS.len()],
            consecutive_errors: 0,
        }
    }

    /// Counts one completion.
    #[inline]
    pub(crate) fn record(&mut self, completion: &Completion, window: &Window) {
        self.ended += 1;
        match completion.result {
            Ok(bytes) => {
                self.consecutive_errors = 0;
                self.record_success(bytes, completion.stamps.begun_ns, completion.stamps.done_ns, window);
            }
            Err(error) => self.count_error(error.kind),
        }
    }

    #[inline]
    fn record_success(&mut self, bytes: u64, begun_ns: u64, done_ns: u64, window: &Window) {
        let latency_ns = done_ns - begun_ns;
        if window.contains(begun_ns) {
            self.started += 1;
            self.clamped += u64::from(latency_ns > self.service_ns.high());
            self.service_ns.saturating_record(latency_ns.max(1));
        } else if begun_ns < window.open_ns {
            self.warmup_ops += 1;
        }
        if window.contains(done_ns) {
            self.ops += 1;
            self.bytes += bytes;
            let second = self.second(((done_ns - window.open_ns) / SECOND_NS) as usize);
            second.ops += 1;
            second.bytes += bytes;
            second.service_ns.saturating_record(latency_ns.max(1));
        }
    }

    #[inline]
    fn second(&mut self, index: usize) -> &mut Second {
        while self.seconds.len() <= index {
            self.seconds.push(Second { ops: 0, bytes: 0, service_ns: record::new_interval_histogram() });
        }
        &mut self.seconds[index]
    }

    /// Counts a failure.
    pub(crate) fn count_error(&mut self, kind: ErrorKind) {
        self.consecutive_errors += 1;
        if let Some(index) = ERROR_KINDS.iter().position(|known| *known == kind) {
            self.errors[index] += 1;
        }
    }

    /// Reads that ended, well or not, whenever they did.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Failures since the last success.
    pub(crate) fn consecutive_errors(&self) -> u64 {
        self.consecutive_errors
    }

    /// Failures by kind, those that occurred.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (ErrorKind, u64)> + '_ {
        ERROR_KINDS.into_iter().zip(self.errors).filter(|(_, count)| *count > 0)
    }
}
