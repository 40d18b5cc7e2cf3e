//! Waiting for something by asking again and again.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Between two questions.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Asks until the answer is there or `limit_s` have passed.
pub(crate) fn poll<T>(limit_s: i64, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let until_s = now_s() + limit_s;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if now_s() >= until_s {
            return None;
        }
        // Cut short by a signal it only asks earlier.
        let _ = rustix::thread::nanosleep(&PAUSE);
    }
}

fn now_s() -> i64 {
    clock_gettime(ClockId::Monotonic).tv_sec
}
