//! Time as the server reads it: the clock that `timerfd` waits by.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds of the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Processor time of this process.
pub(crate) fn cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

/// Time of day since 1970, for modification times.
pub(crate) fn unix_time() -> (u32, u32) {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec as u32, now.tv_nsec as u32)
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
