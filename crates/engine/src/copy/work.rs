//! What the workers of a copy share, and what they bring back.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use backend::{QueueReport, SharedStore};

use super::place::CopyFolder;
use super::tally::Tally;
use crate::spec::RepSpec;

/// Failures in a row, of all workers together, after which a copy ends, since the rest would fail as well.
const HOPELESS_ERRORS: u64 = 1_000;

/// What the workers of a copy share.
pub(super) struct Copying<'a> {
    pub(super) spec: &'a RepSpec<'a>,
    pub(super) to: &'a SharedStore,
    pub(super) place: &'a CopyFolder,
    /// Objects or shards that are to be made.
    pub(super) count: u32,
    pub(super) next: AtomicU64,
    pub(super) failures_in_a_row: AtomicU64,
    /// Set once the copy was given up.
    pub(super) ends: AtomicBool,
    pub(super) reason: Mutex<Option<String>>,
}

impl Copying<'_> {
    /// The next object or shard that nobody has begun; `None` at the end, and once the copy is to end.
    pub(super) fn next(&self) -> Option<u32> {
        if self.is_over() {
            return None;
        }
        // 64 bits: workers count on past the last object, of which there may be `u32::MAX`.
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        u32::try_from(next).ok().filter(|next| *next < self.count)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.spec.stop.load(Ordering::Relaxed)
    }

    /// Whether it was given up: nothing is written any more.
    pub(super) fn is_hopeless(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_hopeless() || self.is_stopped()
    }

    /// Ends the copy for all workers.
    pub(super) fn give_up(&self, reason: String) {
        // Before the flag, so that whoever sees the flag finds a reason; the first one is the cause.
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.ends.store(true, Ordering::Relaxed);
    }

    pub(super) fn succeeded(&self) {
        self.failures_in_a_row.store(0, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, first: &str) {
        let failures = self.failures_in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= HOPELESS_ERRORS {
            self.give_up(format!("{failures} objects in a row could not be copied; one of them: {first}"));
        }
    }
}

/// What a worker brings back.
pub(super) struct WorkerEnd {
    pub(super) tally: Tally,
    pub(super) report: QueueReport,
    pub(super) verified: u64,
    pub(super) abandoned: u32,
}
