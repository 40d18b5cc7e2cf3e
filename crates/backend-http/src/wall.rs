//! Wall-clock time, as signatures need it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use backend::Clock;

/// A reading is used for this long: services take any within 15 minutes of their own.
const KEPT_NS: u64 = 1_000_000_000;

/// The time now. Signatures carry it, and credentials expire by it; nothing is measured by it.
#[expect(clippy::disallowed_methods, reason = "signatures and expiry are by the calendar")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// A stamp that is renewed once a second.
#[derive(Debug)]
pub struct Wall<S> {
    clock: Clock,
    read_ns: Option<u64>,
    stamp: S,
    format: fn(Duration) -> S,
}

impl<S: Copy> Wall<S> {
    /// Stamps as `format` makes them of the time since 1970.
    pub fn new(clock: &Clock, format: fn(Duration) -> S) -> Self {
        Self { clock: clock.clone(), read_ns: None, stamp: format(Duration::ZERO), format }
    }

    /// The stamp of now, or of a moment less than a second ago.
    pub fn stamp(&mut self) -> S {
        let now_ns = self.clock.now_ns();
        // A stamp for each request would be a clock reading and a calendar for each.
        if self.read_ns.is_none_or(|read_ns| now_ns - read_ns >= KEPT_NS) {
            self.read_ns = Some(now_ns);
            self.stamp = (self.format)(now().duration_since(UNIX_EPOCH).unwrap_or_default());
        }
        self.stamp
    }
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar: whole cycles of 400 years of 146,097
/// days, then year by year.
pub fn date(days: u64) -> (u64, u64, u64) {
    let mut year = 1970 + days / 146_097 * 400;
    let mut rest = days % 146_097;
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while rest >= 365 + u64::from(leap(year)) {
        rest -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for days in months {
        if rest < days {
            break;
        }
        rest -= days;
        month += 1;
    }
    (year, month, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_kept_while_the_clock_stands() {
        let clock = Clock::simulated();
        let mut wall = Wall::new(&clock, |since_epoch| since_epoch);
        let first = wall.stamp();
        assert!(first > Duration::from_hours(24 * 365 * 50), "{first:?}");
        assert_eq!(wall.stamp(), first);
    }
}
