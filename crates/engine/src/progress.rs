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
