//! The worker loop: the only place where reads are issued and stamped completions are counted.

use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Buf, Clock, Completion, ErrorKind, FilePieces, IoQueue, Op, Piece, QueueError, Request};
use dataset::{Cursor, Data, ReadSpan};
use plan::{Cell, Operation, Task};

use crate::epochs::Begun;
use crate::load::Load;
use crate::next::Next;
use crate::outstanding::Outstanding;
use crate::pace::PacerEnd;
use crate::progress::Publisher;
use crate::recorder::{Origin, Recorder};
use crate::retry::{Attempts, Retry, Storm};
use crate::trainer::Issued;
use crate::usage::{Meter, RunDelay};
use crate::window::Window;
use crate::written::{self, Fresh};

/// How long a worker waits at most before it looks at the stop flag again.
// A tenth of a second: a Ctrl-C feels immediate, and ten wake-ups a second cost nothing.
const STOP_LATENCY_NS: u64 = 100_000_000;

/// Time for outstanding reads to end after the window.
// As long as the kernel's own time-out for a command to a disk. Reads that outlast it are abandoned and counted.
const DRAIN_NS: u64 = 30_000_000_000;

/// Failures in a row after which a worker gives up: it would only spin.
const HOPELESS_ERRORS: u64 = 1_000;

/// Time without a single success after which a worker gives up as well, once as many reads failed as it keeps
/// outstanding: a silent server takes its time-out for each, and a repetition may have no other end.
const HOPELESS_NS: u64 = 120_000_000_000;

/// Time with nothing but lost connections after which a repetition that is made again ends.
// A gateway that hands over is back within a second or two. What the repetition would meet after that counts for nothing,
// and the back-off would hide for minutes that there is no server.
const AWAY_NS: u64 = 3_000_000_000;

/// Time in which no operation ends, while some are under way, after which a worker gives up: a hung mount neither answers nor
/// fails, and a repetition by bytes, steps or epochs has no other end. No read of a storage that works takes this long.
pub(crate) const STALLED_NS: u64 = 600_000_000_000;

/// Reads of the warm-up that each worker checks against the written content, or keeps for a second reading.
const VERIFIED_PER_WORKER: u64 = 8;

/// One thread's part of a repetition.
pub(crate) struct Worker<'a> {
    pub(crate) queue: Box<dyn IoQueue>,
    pub(crate) free: Vec<Buf>,
    pub(crate) reads: Cursor<'a>,
    pub(crate) load: Load<'a>,
    pub(crate) cell: &'a Cell,
    pub(crate) window: Window,
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) publisher: Publisher<'a>,
    /// What is written over with, where it is.
    pub(crate) fresh: Option<Fresh>,
    /// What reads are checked against, where they can be.
    pub(crate) data: Option<&'a Data>,
    /// The first worker also reads the process's counters as the window opens and closes.
    pub(crate) meter: Option<Meter>,
    /// How long this thread waits for a processor.
    pub(crate) delay: RunDelay,
    /// What each outstanding token stands for.
    pub(crate) slots: Vec<Outstanding>,
    /// Repeats operations that failed with a transient error, if the cell says so.
    pub(crate) retry: Option<Retry>,
    /// The epochs that it has begun.
    pub(crate) begun: Begun,
    /// Pauses a closed loop that meets nothing but failures; a paced one has none.
    pub(crate) storm: Option<Storm>,
    /// Whether it gives up once it finds no server.
    pub(crate) ends_if_away: bool,
}

impl Outstanding {
    /// What a training job is told of an operation that ended.
    fn issued(&self, completion: &Completion) -> Issued {
        let begun_ns = if self.failures == 0 { completion.stamps.begun_ns } else { self.begun_ns };
        Issued { ticket: self.ticket, intended_ns: self.intended_ns, begun_ns }
    }
}

/// What a worker brings back.
pub(crate) struct WorkerEnd {
    pub(crate) recorder: Recorder,
    /// When it began each epoch.
    pub(crate) begun_ns: Vec<Option<u64>>,
    pub(crate) meter: Option<Meter>,
    /// How long it was runnable and waited for a processor inside the window.
    pub(crate) waited_ns: Option<u64>,
    pub(crate) report: backend::QueueReport,
    pub(crate) abandoned: u32,
    pub(crate) finished_ns: u64,
    /// When no ticket was left.
    pub(crate) exhausted_ns: Option<u64>,
    /// What a paced load counted.
    pub(crate) pacer: Option<PacerEnd>,
    /// What was counted of single attempts, where they may be repeated.
    pub(crate) attempts: Option<Attempts>,
    pub(crate) interrupted: bool,
    /// Why it ended early: a broken queue, or nothing but failures.
    pub(crate) failure: Option<String>,
    /// Writes to be read again.
    pub(crate) written: Vec<written::Kept>,
}

impl Worker<'_> {
    /// Issues reads until the load is finished, then waits for those outstanding.
    pub(crate) fn run(mut self) -> WorkerEnd {
        let mut recorder = Recorder::new(self.cell.operation(), self.queue.phases());
        // An error is kept, not returned: what was counted until then, and the buffers that are out, are dealt with
        // either way.
        let issued = self.issue_until_finished(&mut recorder);
        self.publisher.publish(recorder.ops, recorder.bytes);
        let now_ns = self.clock.now_ns();
        if let Some(meter) = &mut self.meter {
            // Before the outstanding reads are waited for: they end outside the window.
            meter.close(now_ns);
        }
        let waited_ns = self.delay.since_opened_ns();
        let interrupted = self.stop.load(Ordering::Relaxed);
        if let Some(trainer) = self.load.trainer() {
            trainer.close(now_ns);
        }
        let mut done = Vec::with_capacity(self.slots.len());
        // What waits for another attempt has failed by now; what is under way may still end well.
        let waiting = self.retry.as_mut().map(Retry::give_up);
        // Latency counts what began inside the window, however late it ends: to leave these reads out would cut the
        // tail off.
        let outstanding = self.queue.in_flight() as usize;
        if outstanding > 0 {
            // It counts as delivered, so the report must have what it brought. What a broken queue holds is abandoned
            // when it is closed.
            let _ = self.queue.wait(outstanding, now_ns + DRAIN_NS, &mut done);
        }
        let report = self.queue.report();
        let abandoned = self.queue.close(now_ns + DRAIN_NS, &mut done);
        if let Some(retry) = &mut self.retry {
            let attempted = |completion: Completion| {
                let slot = &mut self.slots[completion.token as usize];
                retry.attempted(completion, slot, &self.window)
            };
            done = done.into_iter().filter_map(attempted).collect();
        }
        for completion in waiting.into_iter().flatten().chain(done) {
            let slot = self.slots[completion.token as usize];
            // Closed queues are not asked any more; a read that ended this late is outside every count by tier.
            let origin = Origin { epoch: slot.epoch, from_tier: false, written: slot.writes };
            record(&mut recorder, &completion, origin, &slot, &self.window);
            if let Some(pacer) = self.load.pacer() {
                pacer.done(&completion, slot.intended_ns, slot.writes);
            }
            if let Some(trainer) = self.load.trainer() {
                trainer.done(&completion, slot.issued(&completion));
            }
            // Nothing is timed any more, so what is read now can be checked at leisure.
            verify(self.data, self.cell, &slot, &completion, &mut recorder);
            if self.fresh.is_some() {
                self.slots[completion.token as usize].has_moved = completion.result.is_ok();
                self.free.push(completion.buf);
            }
        }
        if self.load.trainer().is_some() || recorder.looked_at() == 0 {
            verify_kept(&self.free, &self.slots, self.data, self.cell, &mut recorder);
        }
        recorder.settle(&self.window);
        let finished_ns = now_ns.min(self.window.close_ns);
        let (exhausted_ns, pacer) = self.load.into_end(finished_ns);
        WorkerEnd {
            recorder,
            begun_ns: self.begun.into_times(),
            meter: self.meter,
            waited_ns,
            report,
            abandoned,
            finished_ns,
            exhausted_ns,
            pacer,
            attempts: self.retry.map(|retry| retry.attempts),
            interrupted,
            failure: issued.err(),
            written: self.fresh.map_or_else(Vec::new, |_| written::kept(self.free, &self.slots)),
        }
    }

    fn issue_until_finished(&mut self, recorder: &mut Recorder) -> Result<(), String> {
        let mut requests: Vec<Request> = Vec::with_capacity(self.free.len());
        let mut done: Vec<Completion> = Vec::with_capacity(self.free.len());
        let mut well_ns = self.clock.now_ns();
        let (mut moved_ns, mut found_ns) = (well_ns, well_ns);
        let mut ended_ns = None;
        loop {
            // In a closed loop nothing has happened since the last read ended, and the queue has read the clock then.
            let now_ns = ended_ns.take().unwrap_or_else(|| self.clock.now_ns());
            if let Some(meter) = &mut self.meter {
                meter.open_once(now_ns, self.window.open_ns);
            }
            self.delay.open_once(now_ns, self.window.open_ns);
            // One look at the clock for a whole round of the loop: everything issued in it has the same time.
            if now_ns >= self.window.close_ns || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let due_ns = self.fill(now_ns, &mut requests);
            let retries_due_ns = self.retry.as_ref().and_then(Retry::next_due_ns);
            let is_idle = requests.is_empty() && self.queue.in_flight() == 0 && retries_due_ns.is_none();
            if is_idle && self.load.exhausted() {
                return Ok(());
            }
            let due_ns = due_ns.min(retries_due_ns.unwrap_or(u64::MAX));
            let until_ns = self.window.close_ns.min(now_ns + STOP_LATENCY_NS);
            // A queue with nothing under way cannot be woken by another thread; a condition variable can.
            if is_idle && self.rest(now_ns, until_ns) {
                continue;
            }
            let until_ns = until_ns.min(due_ns);
            self.advance(now_ns, until_ns, &mut requests, &mut done).map_err(|error| error.to_string())?;
            self.window = self.window.opened_by(self.load.opened_ns());
            // In this order: a loop in which something ended asks the queue nothing.
            if !done.is_empty() || self.queue.in_flight() == 0 {
                moved_ns = now_ns;
            } else if now_ns - moved_ns >= STALLED_NS {
                return Err(stalled(self.queue.in_flight()));
            }
            if !self.load.goes_by_time() {
                ended_ns = done.last().map(|completion| completion.stamps.done_ns);
            }
            self.collect(&mut done, recorder);
            self.publisher.offer(now_ns, recorder.ops, recorder.bytes);
            let (failed, lost) = (recorder.consecutive_errors(), recorder.consecutive_lost());
            if failed == 0 {
                well_ns = now_ns;
            }
            if lost == 0 {
                found_ns = now_ns;
            }
            // A thousand time-outs of 30 s would take a night.
            let all = self.slots.len() as u64;
            let is_silent = now_ns - well_ns >= HOPELESS_NS && failed >= all;
            let is_away = self.ends_if_away && now_ns - found_ns >= AWAY_NS && lost >= all;
            if failed >= HOPELESS_ERRORS || is_silent || is_away {
                return Err(hopeless(recorder, self.queue.report().first_failure));
            }
        }
    }

    /// Turns free buffers into requests, while the load has something to issue. Returns when it will have more.
    fn fill(&mut self, now_ns: u64, requests: &mut Vec<Request>) -> u64 {
        if let Some(retry) = &mut self.retry {
            let slots = &self.slots;
            // Attempts that are due go first: their operations are the oldest.
            let again = |token: u32| {
                let slot = &slots[token as usize];
                op(self.cell, slot.ticket, slot.span)
            };
            requests.extend(std::iter::from_fn(|| retry.due(now_ns, again)));
        }
        let event_ns = self.load.look(now_ns, &mut self.free);
        // Nothing new while a server refuses everything; what waits for another attempt keeps its own back-off.
        let paused_until_ns = self.storm.as_ref().map_or(0, Storm::until_ns);
        if now_ns < paused_until_ns {
            return paused_until_ns.min(event_ns);
        }
        // The buffer that came back last is used first: it is the one that the processor's cache still holds.
        while let Some(mut buf) = self.free.pop() {
            let (ticket, intended_ns) = match self.load.next(now_ns, self.free.len() + 1) {
                Next::Issue { ticket, intended_ns } => (ticket, intended_ns),
                Next::At(due_ns) => {
                    self.free.push(buf);
                    return due_ns.min(event_ns);
                }
                Next::Finished => {
                    self.free.push(buf);
                    return u64::MAX;
                }
            };
            let span = self.reads.at(ticket);
            // The number of the buffer finds the operation again, so that no table of tokens is kept.
            let token = buf.slot();
            let epoch = self.epoch(ticket, now_ns);
            let op = op(self.cell, ticket, span);
            let writes = matches!(op, Op::Write { .. } | Op::WriteFile { .. });
            let issued = Outstanding::new(span, ticket, epoch, intended_ns);
            self.slots[token as usize] = Outstanding { writes, ..issued };
            if let Some(fresh) = self.fresh.as_ref().filter(|_| writes) {
                // Of a whole object all pieces have the stamp, one after the other.
                let len = span.len.min(u64::from(self.cell.block_bytes)) as usize;
                fresh.stamp(ticket, &mut buf.as_mut_slice()[..len]);
            }
            requests.push(Request { token, op, buf });
        }
        event_ns
    }

    /// The epoch that a ticket belongs to, which is issued now.
    #[inline]
    fn epoch(&mut self, ticket: u64, now_ns: u64) -> u16 {
        if !self.begun.stays(ticket)
            && let Some(epoch) = self.begun.go_to(ticket, now_ns)
            && let Some(meter) = &mut self.meter
        {
            meter.begin_epoch(epoch);
        }
        self.begun.current()
    }

    /// Rests if other threads may give this one something to do. It has nothing under way. Returns whether it rested.
    fn rest(&mut self, now_ns: u64, until_ns: u64) -> bool {
        let is_paused = self.storm.as_ref().is_some_and(|storm| now_ns < storm.until_ns());
        let trainer = self.load.trainer().filter(|trainer| trainer.rests() && !is_paused);
        trainer.inspect(|trainer| trainer.rest(until_ns, !self.free.is_empty())).is_some()
    }

    /// Submits, and waits unless something ended at once. Only polls if `until_ns` is not later than now.
    fn advance(
        &mut self,
        now_ns: u64,
        until_ns: u64,
        requests: &mut Vec<Request>,
        done: &mut Vec<Completion>,
    ) -> Result<(), QueueError> {
        if !requests.is_empty() {
            self.queue.submit(requests, done)?;
        }
        if done.is_empty() {
            // Waiting for half a queue at once costs a third less processor time on a fast device and adds latency;
            // that is a setting of the cell, 1 unless asked for.
            let together = self.cell.complete_batch.clamp(1, self.queue.in_flight().max(1)) as usize;
            self.queue.wait(if until_ns > now_ns { together } else { 0 }, until_ns, done)?;
        }
        Ok(())
    }

    fn collect(&mut self, done: &mut Vec<Completion>, recorder: &mut Recorder) {
        let is_tiered = self.cell.tier.is_some();
        // Drained and not replaced: the vector keeps its memory, and nothing is allocated for an operation.
        for mut completion in done.drain(..) {
            let slot = &mut self.slots[completion.token as usize];
            slot.has_moved = completion.result.is_ok();
            let Outstanding { epoch, writes: written, .. } = *slot;
            let from_tier = is_tiered && self.queue.was_cached(completion.buf.slot());
            let origin = Origin { epoch, from_tier, written };
            if let Some(retry) = &mut self.retry {
                let slot = &mut self.slots[completion.token as usize];
                let Some(ended) = retry.attempted(completion, slot, &self.window) else { continue };
                completion = ended;
                record(recorder, &completion, origin, slot, &self.window);
            } else {
                recorder.record(&completion, origin, &self.window);
            }
            if let (Err(error), Some(storm)) = (completion.result, &mut self.storm)
                && error.kind.is_transient()
            {
                storm.failed(completion.stamps.done_ns, recorder.consecutive_errors());
            }
            if let Some(pacer) = self.load.pacer() {
                pacer.done(&completion, self.slots[completion.token as usize].intended_ns, written);
            }
            // Only of the warm-up: comparing a block costs as much as reading it from the page cache.
            if recorder.looked_at() < VERIFIED_PER_WORKER && completion.stamps.done_ns < self.window.open_ns {
                let slot = self.slots[completion.token as usize];
                verify(self.data, self.cell, &slot, &completion, recorder);
            }
            if let Some(trainer) = self.load.trainer() {
                let slot = &self.slots[completion.token as usize];
                if trainer.done(&completion, slot.issued(&completion)) {
                    trainer.decode(completion, slot.ticket);
                    continue;
                }
            }
            self.free.push(completion.buf);
        }
        recorder.settle(&self.window);
    }
}

/// The operation that a ticket stands for.
#[inline]
fn op(cell: &Cell, ticket: u64, span: ReadSpan) -> Op {
    let ReadSpan { object, offset, len } = span;
    let operation = match cell.task {
        Task::Mix(mix) if mix.writes(ticket) => Operation::Write,
        _ => cell.operation(),
    };
    match operation {
        // A copy has a loop of its own, which reads blocks.
        Operation::Read | Operation::Mix | Operation::Checkpoint | Operation::Restore | Operation::Copy => {
            Op::Read { object, offset, len: len as u32 }
        }
        Operation::ReadFile => Op::ReadFile { object, bytes: len },
        Operation::Stat => Op::Stat { object },
        Operation::GetAttr => Op::GetAttr { object },
        Operation::List => Op::List { folder: object },
        Operation::Write => Op::Write { object, offset, len: len as u32 },
        Operation::WriteFile => Op::WriteFile { object, bytes: len },
        Operation::Names => Op::Names { object },
    }
}

/// Counts an operation that ended, from its first attempt on.
fn record(
    recorder: &mut Recorder,
    completion: &Completion,
    origin: Origin,
    slot: &Outstanding,
    window: &Window,
) {
    if slot.failures == 0 {
        recorder.record(completion, origin, window);
    } else {
        recorder.record_retried(completion, origin, slot.begun_ns, window);
    }
}

fn hopeless(recorder: &Recorder, first_failure: Option<String>) -> String {
    let kinds: Vec<String> = recorder.errors().map(|(kind, count)| format!("{count} {kind}")).collect();
    let first = first_failure.map(|words| format!("; the first: {words}")).unwrap_or_default();
    let count = recorder.consecutive_errors();
    format!("{count} reads in a row failed ({}); the worker gave up{first}", kinds.join(", "))
}

/// Why a worker gives up on operations that do not end.
pub(crate) fn stalled(under_way: u32) -> String {
    let seconds = STALLED_NS / 1_000_000_000;
    format!("none of {under_way} reads under way ended in {seconds} s; the worker gave up")
}

/// Checks what lies in the buffer of an operation that read bytes.
fn verify(
    data: Option<&Data>,
    cell: &Cell,
    slot: &Outstanding,
    completion: &Completion,
    recorder: &mut Recorder,
) {
    if completion.result.is_ok() {
        verify_bytes(data, cell, slot, &completion.buf, recorder);
    }
}

/// Checks what the last reads left in the buffers: a training job has no warm-up whose reads could be checked, nor has a
/// repetition from its first epoch on.
fn verify_kept(
    free: &[Buf],
    slots: &[Outstanding],
    data: Option<&Data>,
    cell: &Cell,
    recorder: &mut Recorder,
) {
    let read = free.iter().filter(|buf| slots[buf.slot() as usize].has_moved);
    for buf in read.take(VERIFIED_PER_WORKER as usize) {
        verify_bytes(data, cell, &slots[buf.slot() as usize], buf, recorder);
    }
}

fn verify_bytes(data: Option<&Data>, cell: &Cell, slot: &Outstanding, buf: &Buf, recorder: &mut Recorder) {
    let read = last_read(op(cell, slot.ticket, slot.span), cell.block_bytes);
    let (Some(data), Some((object, piece))) = (data, read) else { return };
    let bytes = &buf.as_slice()[..piece.len as usize];
    if !data.is_checked() {
        recorder.sample(object, piece.offset, bytes);
        return;
    }
    let checked = data.verify(object, piece.offset, bytes);
    // A wrong block was checked too.
    recorder.verified += u64::from(checked.unwrap_or(true));
    if checked.is_err() {
        recorder.count_error(ErrorKind::Corrupt);
    }
}

/// Object and place of what an operation read last. A whole file is read in pieces, of which the last is still in
/// the buffer.
fn last_read(op: Op, block_bytes: u32) -> Option<(u32, Piece)> {
    match op {
        Op::Read { object, offset, len } => Some((object, Piece { offset, len })),
        Op::ReadFile { object, bytes } => Some((object, FilePieces::new(bytes, block_bytes).last())),
        Op::Stat { .. }
        | Op::GetAttr { .. }
        | Op::List { .. }
        | Op::Write { .. }
        | Op::WriteFile { .. }
        | Op::Names { .. } => None,
    }
}
