//! The queue over a ring: it hands entries over in batches, looks for completions and waits for them.

use std::collections::VecDeque;
use std::io;

use backend::{Clock, Completion, IoQueue, QueueError, QueueReport, Request};
use io_uring::squeue;

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

/// What the operations of a queue over a ring are.
pub(crate) trait Turns {
    /// Its ring.
    fn outbox(&mut self) -> &mut Outbox;

    /// Its clock.
    fn clock(&self) -> &Clock;

    /// Takes one request; one that cannot even begin comes back ended.
    fn take(&mut self, request: Request) -> Result<(), Completion>;

    /// Stamps the operation of a number that is about to be handed over.
    fn begin(&mut self, number: u32, now_ns: u64);

    /// Takes completions, and fills the entries that follow from them.
    fn look(&mut self, done: &mut Vec<Completion>);

    /// Operations that may be outstanding at once.
    fn depth(&self) -> usize;

    /// Numbers that no operation has.
    fn free(&self) -> usize;

    /// As [`IoQueue::phases`].
    fn phases(&self) -> &'static [&'static str] {
        &[]
    }

    /// As [`IoQueue::report`].
    fn report(&self) -> QueueReport;

    /// Operations taken and not ended.
    fn outstanding(&self) -> u32 {
        (self.depth() - self.free()) as u32
    }

    /// Completions to wait for at once where `missing` operations have still to end.
    fn want(&self, missing: u32) -> u32 {
        missing
    }

    /// As [`IoQueue::wait`].
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
        // Measured: from 3 neighbouring entries in one call on the block layer merges them, into device
        // requests of up to 4 MiB; sequential reads of 1 MiB then ran at 0.8 of their rate. A benchmark must
        // not read in other blocks than it was asked to.
        while self.outbox().filled.len() > self.outbox().submit_batch {
            let batch = self.outbox().submit_batch;
            let now_ns = self.clock().now_ns();
            self.stamp(batch, now_ns);
            let outbox = self.outbox();
            outbox.enters += 1;
            let taken = outbox.ring.hand_over(batch as u32)?;
            if taken == 0 {
                // `recover` lets the thread yield and tries again; a loop here would spin.
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
            // A reading for each entry would add 31 ns to a read (measured).
            let number = self.outbox().filled[index];
            self.begin(number, now_ns);
        }
    }
}

/// One thread's queue over a ring; `T` says what an operation is.
pub(crate) struct RingQueue<T>(pub(crate) T);

impl<T: Turns> IoQueue for RingQueue<T> {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let taken = requests.len().min(self.0.free());
        for request in requests.drain(..taken) {
            done.extend(self.0.take(request).err());
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.0.turn_until(min, until_ns, done)
    }

    fn in_flight(&self) -> u32 {
        self.0.outstanding()
    }

    fn phases(&self) -> &'static [&'static str] {
        self.0.phases()
    }

    fn report(&self) -> QueueReport {
        self.0.report()
    }

    fn close(mut self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        let outstanding = self.in_flight() as usize;
        // A broken ring returns nothing more; what is outstanding on it is abandoned.
        let _ = self.wait(outstanding, until_ns, done);
        self.in_flight()
    }
}

/// Whether the time is up, after an error that allows another try; an error after any other.
fn recover(error: &io::Error) -> Result<bool, QueueError> {
    match error.raw_os_error() {
        Some(libc::ETIME) => Ok(true),
        Some(libc::EINTR) => Ok(false),
        // The kernel is short of memory, or of room for completions; those that are there were reaped.
        Some(libc::EAGAIN | libc::EBUSY) => {
            std::thread::yield_now();
            Ok(false)
        }
        errno => Err(QueueError {
            engine: "io_uring",
            action: "enter the ring",
            hint: "set `engine = \"pread\"` for this target to see whether the storage itself works"
                .to_owned(),
            source: errno.map_or_else(|| io::Error::other("no error number"), io::Error::from_raw_os_error),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_tried_again_does_not_break_the_queue() {
        let recovered = |errno| recover(&io::Error::from_raw_os_error(errno));
        assert!(recovered(libc::ETIME).unwrap());
        for errno in [libc::EINTR, libc::EAGAIN, libc::EBUSY] {
            assert!(!recovered(errno).unwrap());
        }
        let error = recovered(libc::EEXIST).unwrap_err().to_string();
        assert!(error.starts_with("io_uring: cannot enter the ring"), "{error}");
    }
}
