//! Checkpoints of a training job: when one is due, which accelerators stand still for it and until when.
//!
//! A state machine that owns no time and writes nothing. It sends an [`Order`] to the writer, which answers by
//! [`super::Fleet::saved`]. Both work from stamps, so that the wait of a step is exact however late the client looked.

use std::sync::mpsc::Sender;

use plan::Saving;
use record::{Checkpoint, CheckpointOutcome};

/// Checkpoints for which room is allocated at the start.
const KEPT: usize = 1024;

/// A checkpoint to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    /// When its state may be written: it was due, or had been copied by then.
    pub(crate) from_ns: u64,
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    /// When its first byte was written.
    pub(crate) begun_ns: u64,
    /// When the last byte of its slowest file was.
    pub(crate) written_ns: u64,
    /// When all files lay under their names, or when it was given up.
    pub(crate) ended_ns: u64,
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Whether it is whole.
    pub(crate) outcome: CheckpointOutcome,
}

/// A time in which accelerators stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) due_ns: u64,
    /// `u64::MAX` as long as it is not known.
    pub(crate) allowed_ns: u64,
}

impl Pause {
    pub(crate) const NONE: Self = Self { due_ns: 0, allowed_ns: 0 };

    /// How much of a time lies in it.
    pub(crate) fn within(&self, from_ns: u64, to_ns: u64) -> u64 {
        to_ns.min(self.allowed_ns).saturating_sub(from_ns.max(self.due_ns))
    }
}

/// When the checkpoints of a fleet are due, and their results.
#[derive(Debug)]
pub(crate) struct Pauses {
    every_steps: u64,
    mode: Saving,
    /// Where orders go; `None` once nothing is written any more.
    pub(super) orders: Option<Sender<Order>>,
    /// Checkpoints that were due, and the last of them that accelerators may pass.
    pub(super) due: u64,
    pub(super) passed: u64,
    /// Accelerators that have ended the step after which the next one is due, and the latest so far.
    ended: usize,
    latest_ns: u64,
    /// The last time of standing still.
    pause: Pause,
    /// When the one before was given up or whole; `None` while it is written.
    free_ns: Option<u64>,
    /// All of them, with times of the run's clock.
    made: Vec<Checkpoint>,
    /// The one that is being written.
    writing: usize,
}

impl Pauses {
    /// Checkpoints after every `every_steps` steps of all accelerators, written by whoever takes the orders.
    pub(crate) fn new(every_steps: u64, mode: Saving, orders: Sender<Order>) -> Self {
        Self {
            every_steps: every_steps.max(1),
            mode,
            orders: Some(orders),
            due: 0,
            passed: 0,
            ended: 0,
            latest_ns: 0,
            pause: Pause::NONE,
            free_ns: Some(0),
            made: Vec::with_capacity(KEPT),
            writing: 0,
        }
    }

    /// The last time in which accelerators stood still, or stand.
    pub(crate) fn pause(&self) -> Pause {
        self.pause
    }

    /// From when on the step after the first `taken` may begin; `None` if that is not known yet.
    pub(crate) fn allows(&self, taken: u64) -> Option<u64> {
        let mark = taken / self.every_steps;
        if taken == 0 || !taken.is_multiple_of(self.every_steps) {
            return Some(0);
        }
        (self.passed >= mark).then_some(self.pause.allowed_ns)
    }

    /// Takes the end of an accelerator's `taken`th step; returns whether a checkpoint was due with it.
    pub(super) fn ended(&mut self, taken: u64, end_ns: u64, accelerators: usize) -> bool {
        if !taken.is_multiple_of(self.every_steps) {
            return false;
        }
        self.ended += 1;
        self.latest_ns = self.latest_ns.max(end_ns);
        if self.ended < accelerators {
            return false;
        }
        self.ended = 0;
        let due_ns = std::mem::take(&mut self.latest_ns);
        self.due(taken, due_ns);
        true
    }

    fn due(&mut self, step: u64, due_ns: u64) {
        self.due += 1;
        // By stamps: whether the one before was done is a question of when it ended, not of when that was noticed.
        let is_free = self.free_ns.is_some_and(|free_ns| free_ns <= due_ns);
        let from_ns = due_ns.saturating_add(self.mode.copy_ns());
        // An asynchronous save first copies the state to host memory, for which the accelerators stand still.
        let order = Order { from_ns };
        let is_taken = is_free && self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        let allowed_ns = match self.mode {
            // An overrun stops nobody: a trainer that finds the last save still running skips this one, and the
            // record says so.
            _ if !is_taken => due_ns,
            Saving::Sync => u64::MAX,
            Saving::Async { .. } => from_ns,
        };
        self.pause = Pause { due_ns, allowed_ns };
        if allowed_ns < u64::MAX {
            self.passed = self.due;
        }
        if is_taken {
            self.free_ns = None;
            self.writing = self.made.len();
        }
        self.made.push(Checkpoint {
            step,
            due_ns,
            begun_ns: from_ns,
            stall_ns: if is_taken { self.mode.copy_ns() } else { 0 },
            write_ns: 0,
            publish_ns: 0,
            bytes: 0,
            outcome: if is_free { CheckpointOutcome::Unfinished } else { CheckpointOutcome::Overrun },
        });
    }

    pub(super) fn saved(&mut self, saved: Saved) {
        let Some(one) = self.made.get_mut(self.writing).filter(|_| self.free_ns.is_none()) else { return };
        self.free_ns = Some(saved.ended_ns);
        one.begun_ns = saved.begun_ns;
        one.write_ns = saved.written_ns.saturating_sub(saved.begun_ns);
        one.publish_ns = saved.ended_ns.saturating_sub(saved.written_ns);
        one.bytes = saved.bytes;
        one.outcome = saved.outcome;
        if self.mode == Saving::Sync {
            // From when it was due, so that a writer that began late is part of what it cost.
            one.stall_ns = saved.ended_ns.saturating_sub(one.due_ns);
            self.pause.allowed_ns = saved.ended_ns;
            self.passed = self.due;
        }
    }

    /// All checkpoints of a job from `start_ns` to `close_ns`, with times since its start. Those that ended later
    /// count as unfinished.
    pub(crate) fn into_made(self, start_ns: u64, close_ns: u64) -> Vec<Checkpoint> {
        let mode = self.mode;
        let settle = |mut one: Checkpoint| {
            let ended_ns = one.begun_ns.saturating_add(one.write_ns).saturating_add(one.publish_ns);
            if one.outcome != CheckpointOutcome::Overrun && ended_ns > close_ns {
                one.outcome = CheckpointOutcome::Unfinished;
            }
            let is_unfinished = one.outcome == CheckpointOutcome::Unfinished;
            let until_close_ns = close_ns.saturating_sub(one.due_ns);
            if mode == Saving::Sync && is_unfinished {
                one.stall_ns = until_close_ns;
            }
            one.stall_ns = one.stall_ns.min(until_close_ns);
            let left_ns = close_ns.saturating_sub(one.begun_ns);
            one.write_ns = one.write_ns.min(left_ns);
            one.publish_ns = one.publish_ns.min(left_ns - one.write_ns);
            one.due_ns = one.due_ns.saturating_sub(start_ns);
            one.begun_ns = one.begun_ns.saturating_sub(start_ns);
            one
        };
        self.made.into_iter().map(settle).collect()
    }
}
