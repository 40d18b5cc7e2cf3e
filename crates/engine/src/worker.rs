//! The worker loop: the only place where reads are issued and stamped completions are counted.

use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Buf, Clock, Completion, ErrorKind, IoQueue, Op, QueueError, Request};
use dataset::{Order, ReadSpan, payload};
use plan::Operation;

use crate::load::{ClosedLoop, Next};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::usage::Meter;

/// How long a worker waits at most before it looks at the stop flag again.
const STOP_LATENCY_NS: u64 = 100_000_000;

/// Time for outstanding reads to end after the window.
const DRAIN_NS: u64 = 30_000_000_000;

/// Failures in a row after which a worker gives up: it would only spin.
const HOPELESS_ERRORS: u64 = 1_000;

/// Reads of the warm-up that each worker checks against the written content.
const VERIFIED_PER_WORKER: u64 = 8;

/// The span in which reads count, on the run's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// It opens: the end of the warm-up.
    pub(crate) open_ns: u64,
    /// It closes; `u64::MAX` where tickets end it.
    pub(crate) close_ns: u64,
}

impl Window {
    /// Whether `ns` lies inside.
    #[inline]
    pub(crate) fn contains(&self, ns: u64) -> bool {
        ns >= self.open_ns && ns < self.close_ns
    }
}

/// One thread's part of a repetition.
pub(crate) struct Worker<'a> {
    pub(crate) queue: Box<dyn IoQueue>,
    pub(crate) free: Vec<Buf>,
    pub(crate) order: &'a Order,
    pub(crate) load: ClosedLoop<'a>,
    pub(crate) operation: Operation,
    pub(crate) window: Window,
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) progress: &'a Progress,
    /// Seed of the content, where reads can be checked.
    pub(crate) verify_seed: Option<u64>,
    /// The first worker also reads the process's counters as the window opens and closes.
    pub(crate) meter: Option<Meter>,
    /// What each outstanding token reads.
    pub(crate) spans: Vec<ReadSpan>,
}

/// What a worker brings back.
pub(crate) struct WorkerEnd {
    pub(crate) recorder: Recorder,
    pub(crate) meter: Option<Meter>,
    pub(crate) report: backend::QueueReport,
    pub(crate) abandoned: u32,
    pub(crate) finished_ns: u64,
    pub(crate) exhausted: bool,
    pub(crate) interrupted: bool,
    /// Why it ended early: a broken queue, or nothing but failures.
    pub(crate) failure: Option<String>,
}

impl Worker<'_> {
    /// Issues reads until the load is finished, then waits for those outstanding.
    pub(crate) fn run(mut self) -> WorkerEnd {
        let mut recorder = Recorder::new();
        let issued = self.issue_until_finished(&mut recorder);
        let now_ns = self.clock.now_ns();
        if let Some(meter) = &mut self.meter {
            meter.close(now_ns);
        }
        let interrupted = self.stop.load(Ordering::Relaxed);
        let report = self.queue.report();
        let mut done = Vec::with_capacity(self.spans.len());
        let abandoned = self.queue.close(now_ns + DRAIN_NS, &mut done);
        for completion in done {
            recorder.record(&completion, &self.window);
            // Nothing is timed any more, so what is read now can be checked at leisure.
            verify(self.verify_seed, &self.spans, &completion, &mut recorder);
        }
        WorkerEnd {
            recorder,
            meter: self.meter,
            report,
            abandoned,
            finished_ns: now_ns.min(self.window.close_ns),
            exhausted: self.load.exhausted(),
            interrupted,
            failure: issued.err(),
        }
    }

    fn issue_until_finished(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        let mut requests: Vec<Request> = Vec::with_capacity(self.free.len());
        let mut done: Vec<Completion> = Vec::with_capacity(self.free.len());
        loop {
            let now_ns = self.clock.now_ns();
            if let Some(meter) = &mut self.meter {
                meter.open_once(now_ns, self.window.open_ns);
            }
            if now_ns >= self.window.close_ns || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.fill(now_ns, &mut requests);
            if requests.is_empty() && self.load.exhausted() && self.queue.in_flight() == 0 {
                return Ok(());
            }
            self.advance(now_ns, &mut requests, &mut done).map_err(|error| error.to_string())?;
            self.collect(&mut done, recorder);
            if recorder.consecutive_errors() >= HOPELESS_ERRORS {
                return Err(hopeless(recorder));
            }
        }
    }

    /// Turns free buffers into requests, as far as the load has something to issue.
    fn fill(&mut self, now_ns: u64, requests: &mut Vec<Request>) {
        while let Some(buf) = self.free.pop() {
            let Next::Issue { ticket } = self.load.next(now_ns) else {
                self.free.push(buf);
                return;
            };
            let span = self.order.at(ticket);
            let token = buf.slot();
            self.spans[token as usize] = span;
            let op = op(self.operation, span);
            requests.push(Request { token, op, buf });
        }
    }

    /// Submits, and waits unless something ended at once.
    fn advance(
        &mut self,
        now_ns: u64,
        requests: &mut Vec<Request>,
        done: &mut Vec<Completion>,
    ) -> Result<(), QueueError> {
        if !requests.is_empty() {
            self.queue.submit(requests, done)?;
        }
        if done.is_empty() {
            let until_ns = self.window.close_ns.min(now_ns + STOP_LATENCY_NS);
            self.queue.wait(1, until_ns, done)?;
        }
        Ok(())
    }

    fn collect(&mut self, done: &mut Vec<Completion>, recorder: &mut Recorder) {
        let (ops, bytes) = (recorder.ops, recorder.bytes);
        for completion in done.drain(..) {
            recorder.record(&completion, &self.window);
            if recorder.verified < VERIFIED_PER_WORKER && completion.stamps.done_ns < self.window.open_ns {
                verify(self.verify_seed, &self.spans, &completion, recorder);
            }
            self.free.push(completion.buf);
        }
        self.progress.add(recorder.ops - ops, recorder.bytes - bytes);
    }
}

/// The operation that a ticket stands for.
#[inline]
fn op(operation: Operation, span: ReadSpan) -> Op {
    let ReadSpan { object, offset, len } = span;
    match operation {
        Operation::Read => Op::Read { object, offset, len: len as u32 },
        Operation::ReadFile => Op::ReadFile { object, bytes: len },
        Operation::Stat => Op::Stat { object },
        Operation::List => Op::List { folder: object },
    }
}

fn hopeless(recorder: &Recorder) -> String {
    let kinds: Vec<String> = recorder.errors().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!("{HOPELESS_ERRORS} reads in a row failed ({}); the worker gave up", kinds.join(", "))
}

fn verify(seed: Option<u64>, spans: &[ReadSpan], completion: &Completion, recorder: &mut Recorder) {
    let (Some(seed), Ok(bytes)) = (seed, completion.result) else { return };
    let span = spans[completion.token as usize];
    recorder.verified += 1;
    if payload::verify(seed, span.object, span.offset, &completion.buf.as_slice()[..bytes as usize]).is_err()
    {
        recorder.count_error(ErrorKind::Corrupt);
    }
}
