//! The accelerators of a training job, as a state machine that owns no time.
//!
//! An accelerator takes one batch for each step and computes. A step begins at the end of the one before it, or when
//! its batch was ready, whichever is later: both follow from stamps, so that the exact time is known however late the
//! client looked. Nobody sleeps for an accelerator.

mod accelerator;
mod coming;
mod job;
mod lanes;
mod members;
mod ops_left;
mod pauses;
mod readers;
mod saving;
mod servers;
mod shared;
mod tally;
mod task;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use plan::Fetch;
use record::{Checkpoint, TrainedAccelerator};

use crate::next::Next;
use accelerator::{Accelerator, Batch, State};
use readers::Readers;
use shared::Shared;

pub(crate) use job::{Coming, Decoding, Job, JobData, Position, Steps};
pub(crate) use members::Members;
pub(crate) use pauses::{Order, Pauses, Saved};
pub(crate) use servers::Servers;
pub(crate) use tally::Tally;
use task::{Arrival, BatchId};
pub(crate) use task::{Span, Task};

/// An operation that ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) ticket: u64,
    /// When it was meant to be issued.
    pub(crate) intended_ns: u64,
    /// When its first attempt began.
    pub(crate) begun_ns: u64,
    pub(crate) done_ns: u64,
    /// Whether it ended well.
    pub(crate) is_ok: bool,
}

/// Who reads.
#[derive(Debug)]
enum Fetchers {
    Readers(Readers),
    Shared(Shared),
}

/// Where accelerators wait for each other.
#[derive(Debug, Default)]
struct Barrier {
    /// Steps that all have ended.
    passed: u64,
    /// When the last of them ended.
    passed_ns: u64,
    /// Those that have ended the step after these, and the latest so far.
    ended: usize,
    latest_ns: u64,
}

/// Accelerators that are fed together.
#[derive(Debug)]
pub(crate) struct Fleet {
    job: Job,
    members: Members,
    accelerators: Vec<Accelerator>,
    fetchers: Fetchers,
    servers: Option<Arc<Mutex<Servers>>>,
    barrier: Option<Barrier>,
    pauses: Option<Pauses>,
    start_ns: Option<u64>,
    close_ns: u64,
    /// Up to when all that was known has been folded in.
    folded_ns: u64,
    /// When the next accelerator changes its state.
    wake_ns: u64,
    /// Accelerators that have steps to make.
    running: usize,
    /// Samples for the decoding threads, where reads bring several.
    tasks: VecDeque<Task>,
    tally: Tally,
}

/// What a fleet counted.
#[derive(Debug)]
pub(crate) struct FleetEnd {
    /// Accelerators with their numbers in the job.
    pub(crate) accelerators: Vec<(u32, TrainedAccelerator)>,
    pub(crate) tally: Tally,
    /// Checkpoints that were due.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Whether every accelerator made all its steps.
    pub(crate) is_complete: bool,
}

impl Fleet {
    /// Accelerators of `job` on a queue of `slots`; stated costs of decoding are paid by `servers`.
    pub(crate) fn new(job: Job, members: Members, slots: u32, servers: Option<Arc<Mutex<Servers>>>) -> Self {
        let count = members.count(job.training.accelerators);
        let batches = job.training.prefetch.max(1) as usize;
        let fetchers = match job.training.fetch {
            Fetch::Readers { count: readers } => {
                Fetchers::Readers(Readers::new(&job, members, job.readers(readers)))
            }
            Fetch::Shared => Fetchers::Shared(Shared::new(&job, count as usize, batches, slots)),
        };
        Self {
            job,
            members,
            accelerators: (0..count).map(|_| Accelerator::new(batches)).collect(),
            fetchers,
            servers,
            barrier: job.training.barrier.then(Barrier::default),
            pauses: None,
            start_ns: None,
            close_ns: u64::MAX,
            folded_ns: 0,
            wake_ns: u64::MAX,
            running: count as usize,
            tasks: VecDeque::new(),
            tally: Tally::new(batches),
        }
    }

    /// Begins the job, the first time; its window closes at `close_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64, close_ns: u64) {
        if self.start_ns.is_some() {
            return;
        }
        (self.start_ns, self.close_ns) = (Some(start_ns), close_ns);
        let started_ns = start_ns.saturating_add(self.job.training.startup_ns);
        if let Some(barrier) = &mut self.barrier {
            barrier.passed_ns = start_ns;
        }
        for accelerator in &mut self.accelerators {
            accelerator.begin(start_ns, started_ns);
            self.wake_ns = started_ns;
        }
    }

    /// Ends the window at `at_ns`, if it has not ended before. Later events are not counted, except those that another thread
    /// has already folded in.
    pub(crate) fn close(&mut self, at_ns: u64) {
        self.close_ns = self.close_ns.min(at_ns.max(self.folded_ns));
    }

    /// Folds in all that happened by `now_ns`.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        let now_ns = now_ns.min(self.close_ns);
        self.folded_ns = self.folded_ns.max(now_ns);
        // An event may bring others that lie before now: a step that ends opens batches, and a reader that is free
        // goes on.
        while self.event_ns() <= now_ns {
            self.wake_all(now_ns);
            while let Fetchers::Readers(readers) = &mut self.fetchers
                && let Some((batch, at_ns)) = readers.decoded(now_ns)
            {
                let opened = self.accelerators[batch.index].opened;
                readers.sample_done(&self.job, batch, at_ns, opened);
                self.take_rests();
            }
        }
    }

    fn wake_all(&mut self, now_ns: u64) {
        while self.wake_ns <= now_ns {
            self.wake_ns = u64::MAX;
            for index in 0..self.accelerators.len() {
                // Several steps at once where the client was away for longer than one: each at its own time, so that
                // none is lost.
                while self.accelerators[index].wake_ns <= now_ns {
                    self.wake(index, now_ns);
                }
                self.wake_ns = self.wake_ns.min(self.accelerators[index].wake_ns);
            }
        }
    }

    /// What to do at `now_ns` with a free buffer.
    pub(crate) fn next(&mut self, now_ns: u64) -> Next {
        self.advance(now_ns);
        if self.is_over(now_ns) {
            return Next::Finished;
        }
        self.issue().unwrap_or_else(|| Next::At(self.look_ns()))
    }

    /// When a client that has nothing else to do looks at the clock again: as the next event comes, or from so long before it on
    /// as the job says.
    pub(crate) fn look_ns(&self) -> u64 {
        match self.event_ns() {
            u64::MAX => u64::MAX,
            event_ns => event_ns.saturating_sub(self.job.training.spin_ns),
        }
    }

    /// Time of the next event that no completion announces; `u64::MAX` without one.
    pub(crate) fn event_ns(&self) -> u64 {
        let decoded_ns = match &self.fetchers {
            Fetchers::Readers(readers) => readers.decoded_ns(),
            Fetchers::Shared(_) => None,
        };
        self.wake_ns.min(decoded_ns.unwrap_or(u64::MAX))
    }

    /// Whether an operation may be issued at once.
    pub(crate) fn may_issue(&self) -> bool {
        match &self.fetchers {
            Fetchers::Readers(readers) => readers.may_issue(),
            Fetchers::Shared(shared) => shared.may_issue(),
        }
    }

    /// Whether nothing is to be issued any more at `now_ns`: every accelerator has ended its last step, or the window is
    /// closed, perhaps by another thread that had to give up.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        self.running == 0 || now_ns >= self.close_ns
    }

    /// Takes an operation that ended, after its last attempt. Returns whether its sample is to be decoded by another
    /// thread, which then calls [`Fleet::decoded`].
    pub(crate) fn done(&mut self, ended: &Ended) -> bool {
        let (index, position) = self.position(ended.ticket);
        let id = BatchId { index, number: position.batch };
        let done_ns = ended.done_ns;
        // What a read takes beyond the end of the window is nobody's wait.
        let close_ns = self.close_ns;
        let within_ns = |ns: u64| ns.min(close_ns);
        let Some(batch) = self.batch(id) else { return false };
        batch.spent.client_ns += within_ns(ended.begun_ns).saturating_sub(ended.intended_ns);
        batch.spent.storage_ns += within_ns(done_ns).saturating_sub(ended.begun_ns);
        let is_handed_over =
            ended.is_ok && self.job.decoding == Decoding::Elsewhere && !self.job.is_streamed();
        let is_whole = match &mut self.fetchers {
            Fetchers::Readers(readers) => {
                let Some(is_whole) = readers.op_done(&self.job, id, (position.sample, ended.is_ok), done_ns)
                else {
                    return false;
                };
                is_whole
            }
            Fetchers::Shared(shared) => {
                if !is_handed_over {
                    shared.free(done_ns);
                }
                let Some(is_whole) = shared.op_done(id, position.sample, ended.is_ok) else {
                    return false;
                };
                is_whole
            }
        };
        if done_ns > self.close_ns {
            return false;
        }
        if is_whole && is_handed_over {
            return true;
        }
        // Its batch goes on without it, as a loader that skips a broken sample does; the verdict sees the loss in the
        // count.
        if !is_whole {
            self.accelerators[index].lose_sample();
        }
        let samples = if is_whole { self.job.brought(position) } else { 0 };
        self.bring(id, Arrival { samples, at_ns: done_ns });
        self.read_ended(id, done_ns);
        false
    }

    /// Takes a sample that another thread decoded, well or not, in the time since it was read.
    pub(crate) fn decoded(&mut self, ticket: u64, decoding: Span, is_ok: bool) {
        let (index, position) = self.position(ticket);
        let batch = BatchId { index, number: position.batch };
        if let Fetchers::Shared(shared) = &mut self.fetchers {
            shared.free(decoding.to_ns);
        }
        if self.batch(batch).is_none() {
            return;
        }
        self.spend_decoding(batch, decoding);
        if decoding.to_ns > self.close_ns {
            return;
        }
        if !is_ok {
            self.accelerators[index].lose_sample();
            self.tally.decode_failures += 1;
        }
        self.sample_ready(batch, decoding.to_ns);
    }

    /// The counts up to `at_ns`, or to the end of the window if that was before.
    pub(crate) fn into_end(mut self, at_ns: u64) -> FleetEnd {
        self.close(at_ns);
        self.advance(self.close_ns);
        let start_ns = self.start_ns.unwrap_or(self.close_ns);
        let counts = |(index, accelerator): (usize, &Accelerator)| {
            let window = Span { from_ns: start_ns, to_ns: self.close_ns };
            let counts = accelerator.counts(&self.job, window, self.pause());
            (self.members.number(index), counts)
        };
        let accelerators = self.accelerators.iter().enumerate().map(counts).collect();
        // A step under way as the window closes is shown up to there.
        let cut_ns = self.close_ns.saturating_sub(start_ns);
        for step in &mut self.tally.timeline {
            step.end_ns = step.end_ns.min(cut_ns);
        }
        let checkpoints = self.pauses.map(|pauses| pauses.into_made(start_ns, self.close_ns));
        let checkpoints = checkpoints.unwrap_or_default();
        FleetEnd { accelerators, is_complete: self.running == 0, tally: self.tally, checkpoints }
    }

    #[inline]
    fn batch(&mut self, id: BatchId) -> Option<&mut Batch> {
        self.accelerators[id.index].batch(id.number)
    }

    #[inline]
    fn position(&self, ticket: u64) -> (usize, Position) {
        let position = self.job.position(ticket);
        (self.members.index(position.accelerator), position)
    }

    fn issue(&mut self) -> Option<Next> {
        let (index, position, free_ns) = match &mut self.fetchers {
            Fetchers::Readers(readers) => {
                let (index, reader) = readers.next(&self.job)?;
                let (batch, sample, op) = (reader.batch, reader.sample, reader.op);
                (index, Position { accelerator: 0, batch, sample, op }, reader.free_ns)
            }
            Fetchers::Shared(shared) => {
                let ((index, position), free_ns) = shared.next(&self.job, &self.accelerators)?;
                (index, position, free_ns)
            }
        };
        let allowed_ns = self.accelerators[index].batch(position.batch).map_or(0, |batch| batch.allowed_ns);
        let ticket = self.job.ticket(Position { accelerator: self.members.number(index), ..position });
        // Meant for when both the batch was allowed and a slot was free; what is issued later than that is the
        // client's delay.
        Some(Next::Issue { ticket, intended_ns: allowed_ns.max(free_ns) })
    }

    fn spend_decoding(&mut self, batch: BatchId, Span { from_ns, to_ns }: Span) {
        self.tally.decode_ns.saturating_record(tally::least_one(to_ns.saturating_sub(from_ns)));
        let within_ns = to_ns.min(self.close_ns).saturating_sub(from_ns);
        if let Some(batch) = self.batch(batch) {
            batch.spent.decode_ns += within_ns;
        }
    }

    /// A sample became ready at `at_ns`, or was lost then: its batch goes on.
    fn sample_ready(&mut self, id: BatchId, at_ns: u64) {
        let BatchId { index, number } = id;
        let accelerator = &mut self.accelerators[index];
        let (is_next, opened) = (number == accelerator.taken, accelerator.opened);
        let Some(batch) = accelerator.batch(number) else { return };
        batch.left -= 1;
        batch.ready_ns = batch.ready_ns.max(at_ns);
        if batch.left == 0 {
            let fetch_ns = batch.ready_ns.saturating_sub(batch.allowed_ns);
            self.tally.fetch_ns.saturating_record(tally::least_one(fetch_ns));
            self.tally.batch_ready(number / self.job.steps_per_epoch, batch.ready_ns);
            if is_next {
                self.plan_step(index);
            }
        }
        if let Fetchers::Readers(readers) = &mut self.fetchers {
            // A reader that decodes by a stated cost is free at a time that may not have come.
            if matches!(self.job.decoding, Decoding::Cost { .. }) {
                readers.decode(&self.job, id, at_ns);
            } else {
                readers.sample_done(&self.job, id, at_ns, opened);
                self.take_rests();
            }
        }
    }

    fn wake(&mut self, index: usize, now_ns: u64) {
        let at_ns = self.accelerators[index].wake_ns;
        match self.accelerators[index].state {
            State::Starting => {
                let accelerator = &mut self.accelerators[index];
                accelerator.epoch_end = self.job.epoch_end(accelerator.taken);
                accelerator.state = State::Idle;
                accelerator.wake_ns = u64::MAX;
                self.open_batches(index, at_ns);
            }
            State::Computing => self.end_step(index, now_ns),
            State::Idle => self.begin_step(index, at_ns),
            State::Ended => self.accelerators[index].wake_ns = u64::MAX,
        }
    }

    /// Lets an accelerator that is idle begin its next step as soon as that is possible, if that is known.
    fn plan_step(&mut self, index: usize) {
        let allowed_ns = self.allowed_ns(self.accelerators[index].taken);
        let accelerator = &mut self.accelerators[index];
        if accelerator.state != State::Idle {
            return;
        }
        // The steps that all have passed must be as many as this one has taken: the barrier is the all-reduce behind
        // every step.
        let others_ns = match &self.barrier {
            Some(barrier) if barrier.passed < accelerator.taken => None,
            Some(barrier) => Some(barrier.passed_ns),
            None => Some(0),
        };
        accelerator.wake_ns = match (accelerator.ready_ns(), others_ns, allowed_ns) {
            (Some(ready_ns), Some(others_ns), Some(allowed_ns)) => {
                ready_ns.max(others_ns).max(allowed_ns).max(accelerator.idle_since_ns)
            }
            _ => u64::MAX,
        };
        self.wake_ns = self.wake_ns.min(accelerator.wake_ns);
    }

    fn begin_step(&mut self, index: usize, start_ns: u64) {
        let pause = self.pause();
        let accelerator = &mut self.accelerators[index];
        let compute_ns = self.job.compute_ns(self.members.number(index), accelerator.taken);
        if start_ns >= self.close_ns {
            accelerator.wake_ns = u64::MAX;
            return;
        }
        // Before the batch is taken, which forgets when it was ready.
        let ready_ns = accelerator.ready_ns().unwrap_or(start_ns);
        accelerator.take(&self.job, start_ns, compute_ns, pause, &mut self.tally);
        if self.members.number(index) == 0 {
            let step = accelerator.step(self.start_ns.unwrap_or(0), ready_ns);
            self.tally.step(step);
        }
        self.open_batches(index, start_ns);
    }

    fn end_step(&mut self, index: usize, now_ns: u64) {
        let accelerator = &mut self.accelerators[index];
        accelerator.end_step(now_ns, &mut self.tally);
        let end_ns = accelerator.idle_since_ns;
        // The end of the job before the end of an epoch: with the last step no reader starts anew.
        if accelerator.taken == self.job.steps.count {
            accelerator.state = State::Ended;
            self.running -= 1;
        } else if accelerator.taken == accelerator.epoch_end {
            accelerator.state = State::Starting;
            accelerator.started_ns = end_ns.saturating_add(self.job.training.startup_ns);
            accelerator.wake_ns = accelerator.started_ns;
        } else {
            self.open_batches(index, end_ns);
            self.plan_step(index);
        }
        if let Some(barrier) = &mut self.barrier {
            barrier.ended += 1;
            barrier.latest_ns = barrier.latest_ns.max(end_ns);
            if barrier.ended == self.accelerators.len() {
                barrier.passed += 1;
                barrier.ended = 0;
                barrier.passed_ns = std::mem::take(&mut barrier.latest_ns);
                (0..self.accelerators.len()).for_each(|other| self.plan_step(other));
            }
        }
        // Last: a checkpoint that is due with this step also holds the accelerators that the barrier has just let go.
        self.step_saved(index);
    }

    /// Allows, from `at_ns` on, the batches that an accelerator has asked for: as far ahead as the job says, and the
    /// one that it waits for.
    fn open_batches(&mut self, index: usize, at_ns: u64) {
        let accelerator = &mut self.accelerators[index];
        // With `prefetch = 0` nothing is fetched ahead; the batch that is waited for has to be all the same.
        let least = u64::from(accelerator.state == State::Idle);
        let ahead = u64::from(self.job.training.prefetch).max(least);
        let end = (accelerator.taken + ahead).min(accelerator.epoch_end);
        let first = accelerator.opened;
        while accelerator.opened < end {
            let batch = BatchId { index, number: accelerator.opened };
            let number = self.members.number(index);
            let reads = self.job.reads(number, batch.number);
            accelerator.open(reads, self.job.has_rest(number, batch.number), at_ns);
            match &mut self.fetchers {
                Fetchers::Readers(readers) => readers.opened(&self.job, batch),
                Fetchers::Shared(shared) => shared.opened(batch, reads),
            }
        }
        self.take_opened(index, first);
    }
}
