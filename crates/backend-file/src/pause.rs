//! A wait that time alone ends, for queues of which nothing is ever outstanding.

use rustix::time::Timespec;

/// Lets time pass; a signal ends it early, as it ends any wait.
pub(crate) fn pause(ns: u64) {
    let time =
        Timespec { tv_sec: (ns / 1_000_000_000).cast_signed(), tv_nsec: (ns % 1_000_000_000).cast_signed() };
    let _ = rustix::thread::nanosleep(&time);
}
