//! The process's open files, shared out among the tables that hold datasets open.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files left to the rest of the process (rings, the record, listings), where the limit is that high.
const HEADROOM: u64 = 32;

/// Files that one table holds open at most, whatever the limit: each keeps about 2 KiB of kernel memory in use.
const HELD_MAX: u32 = 1 << 20;

/// Assumed where `/proc` does not say how many files are open.
const ELSEWHERE_UNKNOWN: u64 = 64;

/// Promised to all tables together.
// A lock and not an atomic: a claim looks at the limit and at `/proc` between reading and adding.
static PROMISED: Mutex<u64> = Mutex::new(0);

/// Open in all tables together.
static HELD: AtomicU64 = AtomicU64::new(0);

/// A number of open files that a table may hold, given back on drop.
#[derive(Debug)]
pub(crate) struct Share(u64);

impl Share {
    /// As many of `wanted` as the limit of open files allows, and at most `max`.
    pub(crate) fn claim(wanted: u32, max: Option<u32>) -> Self {
        let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
        let granted = u64::from(most(wanted, max)).min(beside(*promised));
        *promised += granted;
        Self(granted)
    }

    /// The number.
    pub(crate) fn files(&self) -> u32 {
        self.0 as u32
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *PROMISED.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
    }
}

/// How many of `wanted` files a table would hold if the process could open any number.
pub(crate) fn most(wanted: u32, max: Option<u32>) -> u32 {
    wanted.min(max.unwrap_or(u32::MAX)).min(HELD_MAX)
}

/// The limit of open files, raised once as far as the process may.
pub(crate) fn limit() -> u64 {
    // The soft limit is often 1024 because select(2) takes no larger descriptor. Nothing here calls it.
    static RAISED: Once = Once::new();
    RAISED.call_once(|| {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        // Refused by some sandboxes; the limit then stays as it is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Files that the process may open beyond those promised to tables.
pub(crate) fn free() -> u64 {
    beside(*PROMISED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn beside(promised: u64) -> u64 {
    // Of a small limit only a quarter is set aside, or no dataset could be opened at all.
    let limit = limit();
    limit.saturating_sub(HEADROOM.min(limit / 4) + elsewhere() + promised)
}

/// Open files of the process outside of the tables.
fn elsewhere() -> u64 {
    // Counted for every claim, as rings and sockets come and go. The descriptor that lists the folder is
    // counted too: one too many is the safe side.
    let open = fs::read_dir("/proc/self/fd").map_or(ELSEWHERE_UNKNOWN, |entries| entries.count() as u64);
    open.saturating_sub(HELD.load(Ordering::Relaxed))
}

/// An open file of a table.
#[derive(Debug)]
pub(crate) struct Held(OwnedFd);

impl Held {
    /// Counts the file as a table's.
    pub(crate) fn new(file: OwnedFd) -> Self {
        HELD.fetch_add(1, Ordering::Relaxed);
        Self(file)
    }

    /// Its number, valid while this lives.
    pub(crate) fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for Held {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_bounded_by_what_is_asked_and_by_the_callers_bound() {
        assert_eq!(Share::claim(3, None).files(), 3);
        assert_eq!(Share::claim(100, Some(5)).files(), 5);
        assert_eq!([most(3, None), most(3, Some(2)), most(u32::MAX, None)], [3, 2, HELD_MAX]);
    }

    #[test]
    fn no_share_exceeds_the_limit_of_the_process() {
        let share = Share::claim(u32::MAX, None);
        assert!(u64::from(share.files()) < limit());
        assert!(share.files() <= HELD_MAX);
    }
}
