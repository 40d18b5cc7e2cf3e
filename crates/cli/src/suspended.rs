//! Whether this process was away: stopped by a signal, or its machine suspended.
//!
//! The clock of a window goes on while nothing is read: without this the storage would answer for the time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::SIGCONT;

/// The shortest suspension that counts: two clocks that are read one after the other differ by less.
// Two clocks read one after the other differ by what lies between: microseconds, and milliseconds on a
// machine that is busy. A suspension takes a second at least.
const SUSPENDED_NS_MIN: u64 = 100_000_000;

/// How often both clocks are read: between two readings this thread may wait for a processor.
// The smallest of several: a thread that loses the processor between two readings sees a difference that is
// none.
const READINGS: u32 = 5;

/// Notices when the process is continued after a stop, and when the machine wakes.
pub(crate) struct Suspensions {
    /// Set by SIGCONT, which the kernel delivers whoever stopped the process.
    // By the signal and not by a gap in time: a gap may be a slow read, which is what is measured.
    continued: Arc<AtomicBool>,
    /// Time spent suspended since the machine started, as of the last question.
    asleep_ns: AtomicU64,
}

impl Suspensions {
    /// Begins to listen.
    pub(crate) fn heard() -> io::Result<Self> {
        let continued = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGCONT, Arc::clone(&continued))?;
        Ok(Self { continued, asleep_ns: AtomicU64::new(asleep_ns()) })
    }

    /// Whether the process was away since this was last asked.
    pub(crate) fn any_since(&self) -> bool {
        let asleep_ns = asleep_ns();
        let before_ns = self.asleep_ns.swap(asleep_ns, Ordering::Relaxed);
        let is_continued = self.continued.swap(false, Ordering::Relaxed);
        is_continued || asleep_ns.saturating_sub(before_ns) >= SUSPENDED_NS_MIN
    }
}

/// Time since the machine started, with what it spent suspended.
pub(crate) fn with_sleep_ns() -> u64 {
    now_ns(ClockId::Boottime)
}

/// Time that the machine spent suspended: `CLOCK_BOOTTIME` counts it, `CLOCK_MONOTONIC` does not (clock_gettime(2)).
fn asleep_ns() -> u64 {
    let reading = |_| {
        let awake_ns = now_ns(ClockId::Monotonic);
        now_ns(ClockId::Boottime).saturating_sub(awake_ns)
    };
    (0..READINGS).map(reading).min().unwrap_or(0)
}

fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continued_process_was_away_once() {
        let suspensions = Suspensions::heard().unwrap();
        assert!(!suspensions.any_since());
        // The kernel sends it to whoever it continues; this process was not stopped, and is told all the same.
        signal_hook::low_level::raise(SIGCONT).unwrap();
        assert_eq!([suspensions.any_since(), suspensions.any_since()], [true, false]);
    }
}
