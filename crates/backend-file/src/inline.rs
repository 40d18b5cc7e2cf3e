//! A queue whose operations are carried out in line: each ends inside `submit`, and nothing is ever outstanding.

use backend::{Clock, Completion, IoQueue, OpError, PHASE_STAMPS, QueueError, QueueReport, Request, Stamps};
use rustix::time::Timespec;

/// Carries out operations, one after the other.
pub(crate) trait Serve {
    /// Carries out one operation, and writes down the ends of its phases where it has some.
    fn serve(&mut self, request: &mut Request, phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError>;

    /// As [`IoQueue::phases`].
    fn phases(&self) -> &'static [&'static str] {
        &[]
    }

    /// As [`IoQueue::report`].
    fn report(&self) -> QueueReport;
}

/// One thread's queue over what serves it.
pub(crate) struct Inline<S> {
    served: S,
    clock: Clock,
}

impl<S: Serve> Inline<S> {
    /// A queue with stamps from `clock`.
    pub(crate) fn new(served: S, clock: &Clock) -> Self {
        Self { served, clock: clock.clone() }
    }
}

impl<S: Serve> IoQueue for Inline<S> {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // The end of one operation is the beginning of the next: one reading of the clock serves both.
        let mut begun_ns = self.clock.now_ns();
        for mut request in requests.drain(..) {
            let mut phase_ns = [0; PHASE_STAMPS];
            let result = self.served.serve(&mut request, &mut phase_ns);
            let done_ns = self.clock.now_ns();
            let stamps = Stamps { begun_ns, phase_ns, done_ns };
            done.push(Completion { token: request.token, buf: request.buf, result, stamps });
            begun_ns = done_ns;
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let left_ns = until_ns.saturating_sub(self.clock.now_ns());
        // Nothing is outstanding, so only time can end this wait. A wait without an end would never return.
        if min > 0 && left_ns > 0 && until_ns != u64::MAX {
            pause(left_ns);
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        0
    }

    fn phases(&self) -> &'static [&'static str] {
        self.served.phases()
    }

    fn report(&self) -> QueueReport {
        self.served.report()
    }

    fn close(self: Box<Self>, _until_ns: u64, _done: &mut Vec<Completion>) -> u32 {
        0
    }
}

/// Lets time pass; a signal ends it early, as it ends any wait.
fn pause(ns: u64) {
    // Measured to wake 20-45 µs late on a virtual machine. Spinning would be earlier, and take the core that
    // the reader needs.
    let time =
        Timespec { tv_sec: (ns / 1_000_000_000).cast_signed(), tv_nsec: (ns % 1_000_000_000).cast_signed() };
    let _ = rustix::thread::nanosleep(&time);
}
