//! The worker loop: the only place where reads are issued and stamped completions are counted.

use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Buf, Clock, Completion, ErrorKind, FilePieces, IoQueue, Op, Piece, QueueError, Request};
use dataset::{Order, ReadSpan, payload};
use plan::{Cell, Operation};

use crate::load::{Load, Next};
use crate::pace::PacerEnd;
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
    pub(crate) load: Load<'a>,
    pub(crate) cell: &'a Cell,
    pub(crate) window: Window,
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) progress: &'a Progress,
    /// Seed of the content, where reads can be checked.
    pub(crate) verify_seed: Option<u64>,
    /// The first worker also reads the process's counters as the window opens and closes.
    pub(crate) meter: Option<Meter>,
    /// What each outstanding token stands for.
    pub(crate) slots: Vec<Slot>,
}

/// An operation that is outstanding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    span: ReadSpan,
    intended_ns: u64,
}

impl Slot {
    /// Nothing is outstanding.
    pub(crate) const FREE: Self = Self { span: ReadSpan { object: 0, offset: 0, len: 0 }, intended_ns: 0 };
}

/// What a worker brings back.
pub(crate) struct WorkerEnd {
    pub(crate) recorder: Recorder,
    pub(crate) meter: Option<Meter>,
    pub(crate) report: backend::QueueReport,
    pub(crate) abandoned: u32,
    pub(crate) finished_ns: u64,
    /// When no ticket was left.
    pub(crate) exhausted_ns: Option<u64>,
    /// What a paced load counted.
    pub(crate) pacer: Option<PacerEnd>,
    pub(crate) interrupted: bool,
    /// Why it ended early: a broken queue, or nothing but failures.
    pub(crate) failure: Option<String>,
}

impl Worker<'_> {
    /// Issues reads until the load is finished, then waits for those outstanding.
    pub(crate) fn run(mut self) -> WorkerEnd {
        let mut recorder = Recorder::new(self.cell.operation, self.queue.phases());
        let issued = self.issue_until_finished(&mut recorder);
        let now_ns = self.clock.now_ns();
        if let Some(meter) = &mut self.meter {
            meter.close(now_ns);
        }
        let interrupted = self.stop.load(Ordering::Relaxed);
        let report = self.queue.report();
        let mut done = Vec::with_capacity(self.slots.len());
        let abandoned = self.queue.close(now_ns + DRAIN_NS, &mut done);
        for completion in done {
            let slot = self.slots[completion.token as usize];
            recorder.record(&completion, &self.window);
            if let Some(pacer) = self.load.pacer() {
                pacer.done(&completion, slot.intended_ns);
            }
            // Nothing is timed any more, so what is read now can be checked at leisure.
            verify(self.verify_seed, self.cell, slot.span, &completion, &mut recorder);
        }
        recorder.settle(&self.window);
        let finished_ns = now_ns.min(self.window.close_ns);
        let (exhausted_ns, pacer) = self.load.into_end(finished_ns);
        WorkerEnd {
            recorder,
            meter: self.meter,
            report,
            abandoned,
            finished_ns,
            exhausted_ns,
            pacer,
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
            let due_ns = self.fill(now_ns, &mut requests);
            if requests.is_empty() && self.load.exhausted() && self.queue.in_flight() == 0 {
                return Ok(());
            }
            let until_ns = self.window.close_ns.min(now_ns + STOP_LATENCY_NS).min(due_ns);
            self.advance((now_ns, until_ns), &mut requests, &mut done).map_err(|error| error.to_string())?;
            self.collect(&mut done, recorder);
            if recorder.consecutive_errors() >= HOPELESS_ERRORS {
                return Err(hopeless(recorder));
            }
        }
    }

    /// Turns free buffers into requests, as far as the load has something to issue; returns when it will have more.
    fn fill(&mut self, now_ns: u64, requests: &mut Vec<Request>) -> u64 {
        while let Some(buf) = self.free.pop() {
            let (ticket, intended_ns) = match self.load.next(now_ns, self.free.len() + 1) {
                Next::Issue { ticket, intended_ns } => (ticket, intended_ns),
                Next::At(due_ns) => {
                    self.free.push(buf);
                    return due_ns;
                }
                Next::Finished => {
                    self.free.push(buf);
                    return u64::MAX;
                }
            };
            let span = self.order.at(ticket);
            let token = buf.slot();
            self.slots[token as usize] = Slot { span, intended_ns };
            let op = op(self.cell.operation, span);
            requests.push(Request { token, op, buf });
        }
        u64::MAX
    }

    /// Submits, and waits unless something ended at once; where `until_ns` is not later than now, it only looks.
    fn advance(
        &mut self,
        (now_ns, until_ns): (u64, u64),
        requests: &mut Vec<Request>,
        done: &mut Vec<Completion>,
    ) -> Result<(), QueueError> {
        if !requests.is_empty() {
            self.queue.submit(requests, done)?;
        }
        if done.is_empty() {
            let together = self.cell.complete_batch.clamp(1, self.queue.in_flight().max(1)) as usize;
            self.queue.wait(if until_ns > now_ns { together } else { 0 }, until_ns, done)?;
        }
        Ok(())
    }

    fn collect(&mut self, done: &mut Vec<Completion>, recorder: &mut Recorder) {
        let (ops, bytes) = (recorder.ops, recorder.bytes);
        for completion in done.drain(..) {
            recorder.record(&completion, &self.window);
            if let Some(pacer) = self.load.pacer() {
                pacer.done(&completion, self.slots[completion.token as usize].intended_ns);
            }
            if recorder.verified < VERIFIED_PER_WORKER && completion.stamps.done_ns < self.window.open_ns {
                let slot = self.slots[completion.token as usize];
                verify(self.verify_seed, self.cell, slot.span, &completion, recorder);
            }
            self.free.push(completion.buf);
        }
        recorder.settle(&self.window);
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

/// Checks what lies in the buffer of an operation that read bytes.
fn verify(seed: Option<u64>, cell: &Cell, span: ReadSpan, completion: &Completion, recorder: &mut Recorder) {
    let read = last_read(op(cell.operation, span), cell.block_bytes);
    let (Some(seed), Some((object, piece))) = (seed, read) else { return };
    if completion.result.is_ok() && piece.len > 0 {
        recorder.verified += 1;
        let data = &completion.buf.as_slice()[..piece.len as usize];
        if payload::verify(seed, object, piece.offset, data).is_err() {
            recorder.count_error(ErrorKind::Corrupt);
        }
    }
}

/// Object and place of what an operation read last. A whole file is read in pieces, of which the last is still in
/// the buffer.
fn last_read(op: Op, block_bytes: u32) -> Option<(u32, Piece)> {
    match op {
        Op::Read { object, offset, len } => Some((object, Piece { offset, len })),
        Op::ReadFile { object, bytes } => Some((object, FilePieces::new(bytes, block_bytes).last())),
        Op::Stat { .. } | Op::List { .. } => None,
    }
}
