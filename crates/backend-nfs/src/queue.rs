//! A queue of the engine, with what only this protocol counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use backend::{Completion, IoQueue, QueueError, QueueReport, Request};

/// The engine's queue; reports what the protocol knows beside what the engine does.
pub(crate) struct NfsQueue {
    pub(crate) queue: Box<dyn IoQueue>,
    pub(crate) short_reads: Arc<AtomicU64>,
    pub(crate) granted: Vec<(&'static str, String)>,
}

impl IoQueue for NfsQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.queue.submit(requests, done)
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.queue.wait(min, until_ns, done)
    }

    fn in_flight(&self) -> u32 {
        self.queue.in_flight()
    }

    fn phases(&self) -> &'static [&'static str] {
        self.queue.phases()
    }

    fn report(&self) -> QueueReport {
        let mut report = self.queue.report();
        report.short_reads += self.short_reads.load(Ordering::Relaxed);
        report.granted.extend(self.granted.iter().cloned());
        report
    }

    fn close(self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        self.queue.close(until_ns, done)
    }
}
