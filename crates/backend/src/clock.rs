//! Time, real or virtual.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since the clock was made. There is no sleep here: time passes in `IoQueue::wait` alone.
#[derive(Debug, Clone)]
pub struct Clock(Time);

#[derive(Debug, Clone)]
enum Time {
    /// `CLOCK_MONOTONIC`: about 20 ns a reading through the vDSO, never adjusted backwards.
    Real { epoch_ns: u64 },
    /// Moved by the simulated backend only.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's monotonic clock, starting at zero now.
    pub fn real() -> Self {
        Self(Time::Real { epoch_ns: monotonic_ns() })
    }

    /// The machine's monotonic clock, starting at `ns` now: it goes on where an earlier clock ended.
    pub fn real_from(ns: u64) -> Self {
        Self(Time::Real { epoch_ns: monotonic_ns().wrapping_sub(ns) })
    }

    /// A clock at zero that stands still until [`Clock::advance_to`].
    pub fn simulated() -> Self {
        Self(Time::Virtual(Arc::default()))
    }

    /// Nanoseconds since the clock was made.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match &self.0 {
            Time::Real { epoch_ns } => monotonic_ns().wrapping_sub(*epoch_ns),
            // Acquire: who sees a later time must see what was done before it passed.
            Time::Virtual(now) => now.load(Ordering::Acquire),
        }
    }

    /// Whether time passes without a wait. A loop that only looks at a virtual clock never ends.
    pub fn runs_by_itself(&self) -> bool {
        matches!(self.0, Time::Real { .. })
    }

    /// Moves a virtual clock forward; it never goes back. A real clock moves by itself.
    pub fn advance_to(&self, ns: u64) {
        if let Time::Virtual(now) = &self.0 {
            // Several queues share a virtual clock: one that asks for an earlier time than another has reached must
            // not move it back.
            now.fetch_max(ns, Ordering::AcqRel);
        }
    }
}

#[inline]
fn monotonic_ns() -> u64 {
    // Plain nanoseconds and no `Instant`: a run that is gone on with starts its clock where the last part ended. The
    // processor's counter would save 12 ns a reading, but needs calibration, and is not steady on every machine.
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_clock_moves_when_told_and_never_back() {
        let clock = Clock::simulated();
        let other = clock.clone();
        clock.advance_to(50);
        other.advance_to(20);
        assert_eq!((clock.now_ns(), other.now_ns()), (50, 50));
        assert!(!clock.runs_by_itself() && Clock::real().runs_by_itself());
    }

    #[test]
    fn a_real_clock_is_monotonic_and_ignores_advance() {
        let clock = Clock::real();
        let before = clock.now_ns();
        clock.advance_to(u64::MAX);
        let after = clock.now_ns();
        assert!(after >= before && after < u64::MAX / 2);
        // Later than this machine has been up.
        let later = 1 << 60;
        assert!((later..later + (1 << 50)).contains(&Clock::real_from(later).now_ns()));
    }
}
