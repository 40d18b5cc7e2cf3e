//! What is seen of a repetition while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts that workers publish while they run, for the display of progress.
#[derive(Debug, Default)]
pub struct Progress {
    ops: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { ops: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    #[inline]
    pub(crate) fn add(&self, ops: u64, bytes: u64) {
        self.ops.fetch_add(ops, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Reads and bytes since the run began.
    pub fn get(&self) -> (u64, u64) {
        (self.ops.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// How often a worker publishes.
// Adding up after each read would have all workers write one line of memory, in turn. A display tells the rate of a second, of which
// this is half of a hundredth.
const PUBLISH_NS: u64 = 5_000_000;

/// What one worker publishes of its counts.
#[derive(Debug)]
pub(crate) struct Publisher<'a> {
    progress: &'a Progress,
    ops: u64,
    bytes: u64,
    next_ns: u64,
}

impl<'a> Publisher<'a> {
    pub(crate) fn new(progress: &'a Progress) -> Self {
        Self { progress, ops: 0, bytes: 0, next_ns: 0 }
    }

    /// Publishes the counts of a worker as they are at `now_ns`, if that was not done lately.
    #[inline]
    pub(crate) fn offer(&mut self, now_ns: u64, ops: u64, bytes: u64) {
        if now_ns >= self.next_ns {
            self.next_ns = now_ns + PUBLISH_NS;
            self.publish(ops, bytes);
        }
    }

    /// Publishes the counts of a worker.
    pub(crate) fn publish(&mut self, ops: u64, bytes: u64) {
        self.progress.add(ops - self.ops, bytes - self.bytes);
        (self.ops, self.bytes) = (ops, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_publishes_now_and_then_and_in_the_end_all() {
        let progress = Progress::new();
        let mut publisher = Publisher::new(&progress);
        publisher.offer(0, 1, 10);
        assert_eq!(progress.get(), (1, 10));
        publisher.offer(PUBLISH_NS - 1, 2, 20);
        assert_eq!(progress.get(), (1, 10));
        publisher.offer(PUBLISH_NS, 3, 30);
        assert_eq!(progress.get(), (3, 30));
        publisher.publish(4, 40);
        assert_eq!(progress.get(), (4, 40));
    }
}
