//! The turns of a queue over a ring: entries are handed over in batches, completions are looked at and waited for.

use std::collections::VecDeque;
use std::io;

use backend::{Clock, Completion, QueueError};
use io_uring::squeue;

use super::recover::recover;
use super::ring::Ring;

/// A ring, and the entries filled and not handed over.
pub(crate) struct Outbox {
    pub(crate) ring: Ring,
    /// Numbers of the entries, in order.
    filled: VecDeque<u32>,
    submit_batch: usize,
    enters: u64,
}

impl Outbox {
    /// Room for `depth` entries, handed over at most `submit_batch` at a time.
    pub(crate) fn new(ring: Ring, depth: u32, submit_batch: u32) -> Self {
        let filled = VecDeque::with_capacity(depth as usize);
        Self { ring, filled, submit_batch: submit_batch.max(1) as usize, enters: 0 }
    }

    /// Puts an entry behind those filled.
    ///
    /// # Safety
    /// As [`Ring::push`].
    #[inline]
    pub(crate) unsafe fn push(&mut self, number: u32, entry: squeue::Entry) {
        // SAFETY: the caller's promise is the one that is asked for here.
        let pushed = unsafe { self.ring.push(&entry.user_data(u64::from(number))) };
        debug_assert!(pushed, "the ring has an entry for every number");
        self.filled.push_back(number);
    }

    /// Whether an entry is filled and was not handed over.
    pub(crate) fn holds(&self, number: u32) -> bool {
        self.filled.contains(&number)
    }

    /// Calls into the kernel so far.
    pub(crate) fn enters(&self) -> u64 {
        self.enters
    }
}

/// What a queue over a ring adds to its turns.
pub(crate) trait Turns {
    /// Its ring.
    fn outbox(&mut self) -> &mut Outbox;

    /// Its clock.
    fn clock(&self) -> &Clock;

    /// Stamps the operation of a number that is about to be handed over.
    fn begin(&mut self, number: u32, now_ns: u64);

    /// Takes what has completed, and fills what follows from it.
    fn look(&mut self, done: &mut Vec<Completion>);

    /// Operations taken and not ended.
    fn outstanding(&self) -> u32;

    /// Completions to wait for at once where `missing` operations have still to end.
    fn want(&self, missing: u32) -> u32 {
        missing
    }

    /// As [`backend::IoQueue::wait`].
    fn turn_until(
        &mut self,
        min: usize,
        until_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<(), QueueError> {
        let goal = done.len() + min;
        // A look at an idle ring finds nothing, and a wait that nothing can end is not begun.
        while self.outstanding() > 0 || (min > 0 && until_ns != u64::MAX) {
            let time_up = match self.turn(goal, until_ns, done) {
                Ok(time_up) => time_up,
                Err(error) => recover(&error)? || self.clock().now_ns() >= until_ns,
            };
            if time_up || done.len() >= goal {
                break;
            }
        }
        Ok(())
    }

    /// Everything is handed over, and what is missing is waited for. Returns whether the time was up.
    fn turn(&mut self, goal: usize, until_ns: u64, done: &mut Vec<Completion>) -> io::Result<bool> {
        self.flush_full_batches(done)?;
        let want = self.want(goal.saturating_sub(done.len()) as u32);
        let waited = self.flush_and_wait(want, until_ns);
        self.look(done);
        waited
    }

    /// Hands over all but the last batch, looking in between for what ended at once.
    fn flush_full_batches(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        while self.outbox().filled.len() > self.outbox().submit_batch {
            let batch = self.outbox().submit_batch;
            let now_ns = self.clock().now_ns();
            self.stamp(batch, now_ns);
            let outbox = self.outbox();
            outbox.enters += 1;
            let taken = outbox.ring.hand_over(batch as u32)?;
            if taken == 0 {
                return Err(io::Error::from_raw_os_error(libc::EAGAIN));
            }
            outbox.filled.drain(..taken as usize);
            self.look(done);
        }
        Ok(())
    }

    /// Hands over the last batch, and waits for `want` completions until `until_ns`. Returns whether the time
    /// was up before.
    fn flush_and_wait(&mut self, want: u32, until_ns: u64) -> io::Result<bool> {
        let now_ns = self.clock().now_ns();
        let submit = self.outbox().filled.len();
        self.stamp(submit, now_ns);
        let time_up = want > 0 && now_ns >= until_ns;
        let want = if time_up { 0 } else { want };
        let timeout_ns = (want > 0 && until_ns != u64::MAX).then(|| until_ns - now_ns);
        let outbox = self.outbox();
        outbox.enters += 1;
        let taken = outbox.ring.enter(submit as u32, want, timeout_ns)?;
        outbox.filled.drain(..taken as usize);
        Ok(time_up)
    }

    /// Stamps the next entries to be handed over; one clock reading serves them all.
    fn stamp(&mut self, entries: usize, now_ns: u64) {
        for index in 0..entries {
            let number = self.outbox().filled[index];
            self.begin(number, now_ns);
        }
    }
}
