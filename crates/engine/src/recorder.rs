//! What one worker counts. No allocation per operation: some hundred bytes once a second, nothing else.

use backend::{Completion, ErrorKind, Stamps};
use hdrhistogram::Histogram;
use plan::{Operation, Words};

use crate::epochs::{self, EpochCount};
use crate::sampled::Sample;
use crate::seconds::{Ended, Seconds};
use crate::window::Window;

/// Reads that a worker keeps for a second reading, at most.
// Several workers offer theirs and 64 are kept of a cell; more would only be hashed.
const SAMPLED_MAX: usize = 16;

/// Failures by kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct ErrorCounts([u64; ErrorKind::ALL.len()]);

impl ErrorCounts {
    pub(crate) fn add(&mut self, kind: ErrorKind) {
        if let Some(index) = ErrorKind::ALL.iter().position(|known| *known == kind) {
            self.0[index] += 1;
        }
    }

    /// Those that occurred.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ErrorKind, u64)> + '_ {
        ErrorKind::ALL.iter().copied().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

/// Of which epoch an operation is, whether a cache tier served it, and which way its bytes went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Number of the epoch in the repetition.
    pub(crate) epoch: u16,
    /// Whether a cache before the storage had it.
    pub(crate) from_tier: bool,
    /// Whether it wrote.
    pub(crate) written: bool,
}

/// What is counted of reads and writes of one load, each by itself.
#[derive(Debug)]
pub(crate) struct Apart {
    /// Bytes of the writes that ended inside the window.
    pub(crate) written_bytes: u64,
    pub(crate) read_ns: Histogram<u64>,
    pub(crate) write_ns: Histogram<u64>,
}

/// Operations in a row with the same stamps and origin, as a queue that reads the clock once for a batch returns them: the
/// histograms count them at once.
#[derive(Debug, Clone, Copy, Default)]
struct Batch {
    stamps: Stamps,
    origin: Origin,
    ops: u64,
    /// Sum of what they answered.
    answers: u64,
}

/// Counters and histograms of one worker.
///
/// Latency counts the operations issued inside the window, whenever they end, so that the tail is not cut
/// off; throughput counts those that ended inside it.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    /// Names found, where folders are listed.
    pub(crate) entries: u64,
    pub(crate) started: u64,
    pub(crate) warmup_ops: u64,
    /// Bytes of all that ended well, whenever it did.
    pub(crate) delivered_bytes: u64,
    pub(crate) verified: u64,
    /// Reads of bytes that feedline did not write.
    pub(crate) sampled: Vec<Sample>,
    pub(crate) clamped: u64,
    pub(crate) service_ns: Histogram<u64>,
    /// Reads and writes, where there are both.
    pub(crate) apart: Option<Apart>,
    /// Phases of operations, where there are some.
    pub(crate) phases_ns: Vec<(&'static str, Histogram<u64>)>,
    pub(crate) seconds: Seconds,
    /// What it counted of each epoch.
    pub(crate) epochs: Vec<EpochCount>,
    /// Whether folders are listed: a completion then counts entries and no bytes.
    pub(crate) lists: bool,
    batch: Batch,
    ended: u64,
    errors: ErrorCounts,
    consecutive_errors: u64,
    /// The last of these in a row for which there was no server.
    lost: u64,
}

impl Recorder {
    /// A recorder for operations of one kind, whose phases have these names.
    pub(crate) fn new(operation: Operation, phases: &[&'static str]) -> Self {
        Self {
            ops: 0,
            bytes: 0,
            entries: 0,
            started: 0,
            warmup_ops: 0,
            delivered_bytes: 0,
            verified: 0,
            // All room before the window: no allocation for a read.
            sampled: Vec::with_capacity(SAMPLED_MAX),
            clamped: 0,
            service_ns: record::new_histogram(),
            apart: (operation == Operation::Mix).then(|| Apart {
                written_bytes: 0,
                read_ns: record::new_histogram(),
                write_ns: record::new_histogram(),
            }),
            phases_ns: phases.iter().map(|name| (*name, record::new_interval_histogram())).collect(),
            seconds: Seconds::default(),
            epochs: Vec::new(),
            lists: operation == Operation::List,
            batch: Batch::default(),
            ended: 0,
            errors: ErrorCounts::default(),
            consecutive_errors: 0,
            lost: 0,
        }
    }

    /// Keeps a read for a second reading, while there is room.
    pub(crate) fn sample(&mut self, object: u32, offset: u64, bytes: &[u8]) {
        if self.sampled.len() < SAMPLED_MAX {
            self.sampled.push(Sample::of(object, offset, bytes));
        }
    }

    /// Reads whose bytes were looked at.
    #[inline]
    pub(crate) fn looked_at(&self) -> u64 {
        self.verified + self.sampled.len() as u64
    }

    /// Takes one completion. It is in the figures after the next [`Recorder::settle`].
    #[inline]
    pub(crate) fn record(&mut self, completion: &Completion, origin: Origin, window: &Window) {
        self.ended += 1;
        match completion.result {
            Ok(answer) => {
                self.consecutive_errors = 0;
                // A queue that reaps 32 reads reads the clock once; one record of 32 equal values instead of 32
                // records saves most of the 3 ns that each takes.
                if self.batch.stamps != completion.stamps || self.batch.origin != origin {
                    self.settle(window);
                    (self.batch.stamps, self.batch.origin) = (completion.stamps, origin);
                }
                self.batch.ops += 1;
                self.batch.answers += answer;
            }
            Err(error) => {
                self.count_error(error.kind);
                let done_ns = completion.stamps.done_ns;
                if window.contains(done_ns) {
                    let failed = EpochCount { ended: 1, ..EpochCount::at(done_ns) };
                    epochs::count(&mut self.epochs, origin.epoch, &failed);
                }
            }
        }
    }

    /// Takes the last completion of an operation whose first attempt began at `begun_ns`; its phases are those of its
    /// last attempt.
    pub(crate) fn record_retried(
        &mut self,
        completion: &Completion,
        origin: Origin,
        begun_ns: u64,
        window: &Window,
    ) {
        let Ok(answer) = completion.result else { return self.record(completion, origin, window) };
        self.settle(window);
        self.ended += 1;
        self.consecutive_errors = 0;
        self.count(&Batch { stamps: completion.stamps, origin, ops: 1, answers: answer }, begun_ns, window);
    }

    /// Counts what was taken since the last time.
    pub(crate) fn settle(&mut self, window: &Window) {
        let batch = std::mem::take(&mut self.batch);
        if batch.ops > 0 {
            self.count(&batch, batch.stamps.begun_ns, window);
        }
    }

    fn count(&mut self, batch: &Batch, begun_ns: u64, window: &Window) {
        let Batch { stamps, origin, ops, answers } = *batch;
        let done_ns = stamps.done_ns;
        // No saturation: stamps of one clock are in order by contract of the queue, and a suite holds every backend
        // to it.
        let latency_ns = done_ns - begun_ns;
        if window.was_open(begun_ns) {
            self.started += ops;
            self.clamped += if latency_ns > self.service_ns.high() { ops } else { 0 };
            // A histogram begins at 1; beyond its end a latency is counted there, and `clamped` says how many were.
            self.service_ns.saturating_record_n(latency_ns.max(1), ops);
            if let Some(apart) = &mut self.apart {
                let own_ns = if origin.written { &mut apart.write_ns } else { &mut apart.read_ns };
                own_ns.saturating_record_n(latency_ns.max(1), ops);
            }
            self.record_phases(&stamps, ops);
        } else {
            self.warmup_ops += ops;
        }
        let (bytes, entries) = if self.lists { (0, answers) } else { (answers, 0) };
        self.delivered_bytes += bytes;
        if window.contains(done_ns) {
            self.ops += ops;
            self.bytes += bytes;
            self.entries += entries;
            if let Some(apart) = self.apart.as_mut().filter(|_| origin.written) {
                apart.written_bytes += bytes;
            }
            let tier_bytes = if origin.from_tier { bytes } else { 0 };
            let added = EpochCount { ended: ops, ops, bytes, tier_bytes, ..EpochCount::at(done_ns) };
            epochs::count(&mut self.epochs, origin.epoch, &added);
            let ended = Ended { ops, bytes, service_ns: latency_ns.max(1) };
            self.seconds.count(done_ns - window.open_ns, ended);
        }
    }

    /// A phase lasts from the end of the one before to its own; one that was not reached is left out.
    fn record_phases(&mut self, stamps: &Stamps, ops: u64) {
        let mut begun_ns = stamps.begun_ns;
        let last = self.phases_ns.len().saturating_sub(1);
        for (index, (_, phase_ns)) in self.phases_ns.iter_mut().enumerate() {
            let ended_ns = if index == last { stamps.done_ns } else { stamps.phase_ns[index] };
            if ended_ns > 0 {
                phase_ns.saturating_record_n(ended_ns.saturating_sub(begun_ns).max(1), ops);
                begun_ns = ended_ns;
            }
        }
    }

    /// Counts a failure.
    pub(crate) fn count_error(&mut self, kind: ErrorKind) {
        self.lost = if kind.is_lost() { self.consecutive_lost() + 1 } else { 0 };
        self.consecutive_errors += 1;
        self.errors.add(kind);
    }

    /// Reads that ended, well or not, whenever they did.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Failures since the last success.
    pub(crate) fn consecutive_errors(&self) -> u64 {
        self.consecutive_errors
    }

    /// Lost connections since the last success or another failure.
    pub(crate) fn consecutive_lost(&self) -> u64 {
        // A success resets one counter alone: it is counted some hundred million times a second.
        self.lost.min(self.consecutive_errors)
    }

    /// Failures by kind, those that occurred.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (ErrorKind, u64)> + '_ {
        self.errors.iter()
    }
}
