//! When bytes may go to a client: at the rate of their connection, and at that of all connections together.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use crate::clock;
use crate::limits::Pacer;
use crate::timer::{Timer, Until};

/// Bytes of a reply that go first, so that its first byte comes when it is due and not a millisecond's worth later.
const FIRST_BYTES: u64 = 4096;

/// The limits of one connection.
#[derive(Debug)]
pub(crate) struct SendLimits {
    connection: Option<Mutex<Pacer>>,
    /// Shared by all connections.
    total: Option<Arc<Mutex<Pacer>>>,
}

impl SendLimits {
    /// The limits of a new connection; `None` where nothing holds its bytes back.
    pub(crate) fn new(connection_bps: Option<f64>, total: Option<&Arc<Mutex<Pacer>>>) -> Option<Arc<Self>> {
        let connection = connection_bps.map(|bps| Mutex::new(Pacer::new(bps)));
        let total = total.map(Arc::clone);
        (connection.is_some() || total.is_some()).then(|| Arc::new(Self { connection, total }))
    }

    /// The limits, always locked in the same order.
    fn pacers(&self) -> [Option<MutexGuard<'_, Pacer>>; 2] {
        [self.connection.as_ref(), self.total.as_deref()]
            .map(|pacer| pacer.map(|pacer| pacer.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// When the last of `bytes` that are ready at `ready_ns` has arrived, by the schedule.
    fn reserve(&self, ready_ns: u64, bytes: u64) -> u64 {
        let pacers = self.pacers().into_iter().flatten();
        pacers.map(|mut pacer| pacer.reserve(ready_ns, bytes)).max().unwrap_or(ready_ns)
    }

    /// Lets `bytes` that are due go, or says when they may.
    fn release(&self, bytes: u64, now_ns: u64) -> Result<(), u64> {
        let mut pacers = self.pacers();
        // Both are asked before either is counted: who waits for the line of all must not use up the rate of
        // its own.
        let opens_ns = pacers.iter().flatten().map(|pacer| pacer.opens_ns(bytes)).max();
        if let Some(opens_ns) = opens_ns.filter(|opens_ns| now_ns < *opens_ns) {
            return Err(opens_ns);
        }
        pacers.iter_mut().flatten().for_each(|pacer| pacer.pass(bytes, now_ns));
        Ok(())
    }

    /// Bytes of a reply that may go together, of which `sent` have gone.
    pub(crate) fn piece_bytes(&self, sent: u64) -> u64 {
        let pacers = self.pacers().into_iter().flatten();
        let most = pacers.map(|pacer| pacer.quantum_bytes()).min().unwrap_or(u64::MAX);
        if sent == 0 { most.min(FIRST_BYTES) } else { most }
    }

    /// Sends `bytes` that were ready at `ready_ns`: over when the last of them may arrive.
    pub(crate) fn send(self: &Arc<Self>, ready_ns: u64, bytes: u64, timer: &Arc<Timer>) -> Sending {
        // Reserved when the bytes are ready and not when they are sent: then the order of wake-ups does not
        // matter.
        let end_ns = self.reserve(ready_ns, bytes);
        Sending {
            limits: Arc::clone(self),
            bytes,
            end_ns,
            waiting: timer.until(end_ns),
            timer: Arc::clone(timer),
        }
    }
}

/// See [`SendLimits::send`]. Its output is the end by the schedule: what follows was ready then, however late it is.
pub(crate) struct Sending {
    limits: Arc<SendLimits>,
    bytes: u64,
    end_ns: u64,
    timer: Arc<Timer>,
    waiting: Until,
}

impl Future for Sending {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        loop {
            ready!(Pin::new(&mut self.waiting).poll(cx));
            match self.limits.release(self.bytes, clock::now_ns()) {
                Ok(()) => return Poll::Ready(self.end_ns),
                // Woken in time, but others were late: what they make up for must not exceed the rate.
                Err(opens_ns) => self.waiting = self.timer.until(opens_ns),
            }
        }
    }
}

#[cfg(test)]
mod tests;
