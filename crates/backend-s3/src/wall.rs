//! Wall-clock time, as signatures need it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use backend::Clock;

/// `20261121T093000Z`.
pub(crate) type Stamp = [u8; 16];

/// A reading is used for this long: a service takes any within 15 minutes of its own.
const KEPT_NS: u64 = 1_000_000_000;

/// The time now. Signatures carry it, and credentials expire by it; nothing is measured by it.
#[expect(clippy::disallowed_methods, reason = "signatures and expiry are by the calendar")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// A stamp that is renewed once a second.
#[derive(Debug)]
pub(crate) struct Wall {
    clock: Clock,
    read_ns: Option<u64>,
    stamp: Stamp,
}

impl Wall {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), read_ns: None, stamp: stamp(Duration::ZERO) }
    }

    pub(crate) fn stamp(&mut self) -> Stamp {
        let now_ns = self.clock.now_ns();
        // A stamp for each request would be a clock reading and a calendar for each.
        if self.read_ns.is_none_or(|read_ns| now_ns - read_ns >= KEPT_NS) {
            self.read_ns = Some(now_ns);
            self.stamp = stamp(now().duration_since(UNIX_EPOCH).unwrap_or_default());
        }
        self.stamp
    }
}

/// The stamp of a time since 1970.
pub(crate) fn stamp(since_epoch: Duration) -> Stamp {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let mut stamp = *b"00000000T000000Z";
    let parts = [
        (0, 4, year),
        (4, 2, month),
        (6, 2, day),
        (9, 2, seconds / 3_600 % 24),
        (11, 2, seconds / 60 % 60),
        (13, 2, seconds % 60),
    ];
    for (at, digits, mut value) in parts {
        for place in (at..at + digits).rev() {
            stamp[place] = b'0' + (value % 10) as u8;
            value /= 10;
        }
    }
    stamp
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar: whole cycles of 400 years of 146,097
/// days, then year by year.
fn date(days: u64) -> (u64, u64, u64) {
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

    fn text(seconds: u64) -> String {
        String::from_utf8(stamp(Duration::from_secs(seconds)).to_vec()).unwrap()
    }

    #[test]
    fn stamps_are_dates_of_the_calendar() {
        // Each from `date -u -d @SECONDS +%Y%m%dT%H%M%SZ`.
        for (seconds, expected) in [
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (1_369_353_600, "20130524T000000Z"),
            (1_709_251_199, "20240229T235959Z"),
            (1_798_761_599, "20261231T235959Z"),
            (4_107_542_400, "21000301T000000Z"),
            (13_574_563_200, "24000229T000000Z"),
        ] {
            assert_eq!(text(seconds), expected);
        }
    }

    #[test]
    fn a_stamp_is_kept_while_the_clock_stands() {
        let clock = Clock::simulated();
        let mut wall = Wall::new(&clock);
        let first = wall.stamp();
        assert!(first.starts_with(b"20"));
        assert_eq!(wall.stamp(), first);
    }
}
