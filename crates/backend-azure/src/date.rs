//! Dates of HTTP (RFC 9110, section 5.6.7): `Thu, 26 Nov 2026 09:30:00 GMT`.

use std::time::Duration;

use backend_http::date as date_of;

/// A date of HTTP.
pub(crate) type Stamp = [u8; 29];

const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

const SECONDS_OF_A_DAY: u64 = 86_400;

/// The date of a time since 1970.
pub(crate) fn stamp(since_epoch: Duration) -> Stamp {
    let seconds = since_epoch.as_secs();
    let days = seconds / SECONDS_OF_A_DAY;
    let (year, month, day) = date_of(days);
    let mut stamp = *b"Thu, 00 Jan 0000 00:00:00 GMT";
    // 1970 began on a Thursday.
    stamp[..3].copy_from_slice(DAYS[(days % 7) as usize]);
    stamp[8..11].copy_from_slice(MONTHS[(month - 1) as usize]);
    let parts = [
        (5, 2, day),
        (12, 4, year),
        (17, 2, seconds / 3_600 % 24),
        (20, 2, seconds / 60 % 60),
        (23, 2, seconds % 60),
    ];
    for (at, digits, mut value) in parts {
        for place in (at..at + digits).rev() {
            stamp[place] = b'0' + (value % 10) as u8;
            value /= 10;
        }
    }
    stamp
}

/// Nanoseconds since 1970 of a date; `None` of what is none.
pub(crate) fn nanoseconds(date: &[u8]) -> Option<i128> {
    let date: &Stamp = date.try_into().ok()?;
    let number = |at: usize, digits: usize| -> Option<u64> {
        let text = date.get(at..at + digits)?;
        let is_number = text.iter().all(u8::is_ascii_digit);
        is_number.then(|| text.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    };
    let month = MONTHS.iter().position(|name| date[8..11] == name[..])?;
    let (day, year) = (number(5, 2)?, number(12, 4)?);
    let seconds = number(17, 2)? * 3_600 + number(20, 2)? * 60 + number(23, 2)?;
    let days = (first_of(year)?..first_of(year + 1)?).find(|days| {
        // A year has few days, and a listing few dates a second: searching is simple and right.
        date_of(*days) == (year, month as u64 + 1, day)
    })?;
    // Written again and compared: a date that no calendar has is none.
    let whole = Duration::from_secs(days * SECONDS_OF_A_DAY + seconds);
    (stamp(whole) == *date).then(|| i128::from(whole.as_secs()) * 1_000_000_000)
}

/// Days from 1970 to the first of January of a year.
fn first_of(year: u64) -> Option<u64> {
    let before = year.checked_sub(1)?;
    let leaps = before / 4 - before / 100 + before / 400;
    // 719,162 days lie between the first of January of the years 1 and 1970.
    (before * 365 + leaps).checked_sub(719_162)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // Each from `date -u -d @SECONDS '+%a, %d %b %Y %T GMT'`.
        for (seconds, expected) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_435_361_952, "Fri, 26 Jun 2015 23:39:12 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            let date = stamp(Duration::from_secs(seconds));
            assert_eq!(std::str::from_utf8(&date).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "Thu, 01 Jan 1969 00:00:00 GMT",
            "Wed, 30 Feb 2022 00:00:00 GMT",
            "Fri, 01 Jan 1970 00:00:00 GMT",
            "Thu, 01 Jan 1970 25:00:00 GMT",
            "Thu, 01 Jan 1970 00:00:00 CET",
            "Thu, +1 Jan 1970 00:00:00 GMT",
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_date_is_read_as_it_was_written(seconds in 0_u64..32_000_000_000) {
            let date = stamp(Duration::from_secs(seconds));
            prop_assert_eq!(nanoseconds(&date), Some(i128::from(seconds) * 1_000_000_000));
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = nanoseconds(&bytes);
        }
    }
}
