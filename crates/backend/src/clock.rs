//! Time, real or virtual.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since the clock was made. There is no sleep here: time passes in `IoQueue::wait` alone.
#[derive(Debug, Clone)]
pub struct Clock(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// `CLOCK_MONOTONIC`: about 20 ns a reading through the vDSO, never adjusted backwards.
    Real { epoch_ns: u64 },
    /// Moved by the simulated backend only.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's monotonic clock, starting at zero now.
    pub fn real() -> Self {
        Self(Kind::Real { epoch_ns: monotonic_ns() })
    }

    /// The same, going on at a time that an earlier clock showed.
    pub fn real_from(ns: u64) -> Self {
        Self(Kind::Real { epoch_ns: monotonic_ns().wrapping_sub(ns) })
    }

    /// A clock at zero that stands still until [`Clock::advance_to`].
    pub fn simulated() -> Self {
        Self(Kind::Virtual(Arc::default()))
    }

    /// Nanoseconds since the clock was made.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match &self.0 {
            Kind::Real { epoch_ns } => monotonic_ns().wrapping_sub(*epoch_ns),
            Kind::Virtual(now) => now.load(Ordering::Acquire),
        }
    }

    /// Whether time passes without a wait: on a virtual clock, who only looks at it looks for ever.
    pub fn runs_by_itself(&self) -> bool {
        matches!(self.0, Kind::Real { .. })
    }

    /// Moves a virtual clock forward; it never goes back. A real clock moves by itself.
    pub fn advance_to(&self, ns: u64) {
        if let Kind::Virtual(now) = &self.0 {
            now.fetch_max(ns, Ordering::AcqRel);
        }
    }
}

#[inline]
fn monotonic_ns() -> u64 {
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
