//! Checkpoints beside a training job: one thread takes the orders of the fleet and writes them.

use std::sync::mpsc::Receiver;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use backend::Clock;

use super::rotation::Rotation;
use super::save::Writing;
use crate::fleet::{Order, Saved};

/// Orders for the thread that writes checkpoints, and their end.
#[derive(Debug)]
pub(crate) struct SaveOrders {
    orders: Mutex<Receiver<Order>>,
    is_closed: Mutex<bool>,
    bell: Condvar,
}

impl SaveOrders {
    /// Writes what comes by `orders`.
    pub(crate) fn new(orders: Receiver<Order>) -> Self {
        Self { orders: Mutex::new(orders), is_closed: Mutex::new(false), bell: Condvar::new() }
    }

    /// Whether nothing is to be written any more.
    pub(super) fn is_closed(&self) -> bool {
        *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up the checkpoint that is being written.
    pub(super) fn close(&self) {
        *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_all();
    }

    /// The thread that writes: takes orders until no more come, and hands the result of each to `take`. Removes what
    /// is left then; what cannot be removed is left to `feedline clean`.
    pub(super) fn run(&self, writing: &Writing<'_>, take: impl Fn(Saved)) {
        let mut rotation = Rotation::new(writing.plan.keep);
        // For as long as it runs: there is one thread that takes orders, and the lock only makes the receiver
        // shareable.
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(order) = orders.recv() {
            // A snapshot to host memory comes first where the mode is asynchronous; the order says when it is done.
            self.wait_until(order.from_ns, writing.clock);
            let slot = rotation.next();
            let written = writing.save(slot);
            let is_whole = written.error.is_none() && !self.is_closed();
            take(written.saved);
            let gone = if is_whole { rotation.keep(slot) } else { Some(slot) };
            // A checkpoint that could not be removed takes room, which the next one will say if it matters.
            let _ = gone.map(|slot| writing.remove(slot));
        }
        let _ = rotation.kept().try_for_each(|slot| writing.remove(slot));
    }

    /// Waits for a time, or for the end of everything.
    fn wait_until(&self, ns: u64, clock: &Clock) {
        let mut is_closed = self.is_closed.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_closed {
            let left_ns = ns.saturating_sub(clock.now_ns());
            if left_ns == 0 {
                break;
            }
            is_closed = match self.bell.wait_timeout(is_closed, Duration::from_nanos(left_ns)) {
                Ok((is_closed, _)) => is_closed,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}
