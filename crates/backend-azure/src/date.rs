//! Dates of HTTP (RFC 9110, section 5.6.7): `Thu, 26 Nov 2026 09:30:00 GMT`.

use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use httpdate::HttpDate;

/// A date of HTTP.
pub(crate) type Stamp = [u8; 29];

/// The date of a time since 1970.
pub(crate) fn stamp(since_epoch: Duration) -> Stamp {
    let mut stamp = [0; 29];
    // Dates have 29 bytes up to the year 9999.
    let _ = write!(&mut stamp[..], "{}", HttpDate::from(UNIX_EPOCH + since_epoch));
    stamp
}

/// Nanoseconds since 1970 of a date; `None` of what is none.
pub(crate) fn nanoseconds(date: &[u8]) -> Option<i128> {
    let read: HttpDate = std::str::from_utf8(date).ok()?.parse().ok()?;
    let whole = SystemTime::from(read).duration_since(UNIX_EPOCH).ok()?;
    // Written again and compared: the two older forms of dates are none, nor are days that no calendar has.
    (stamp(whole) == *date).then(|| i128::from(whole.as_secs()) * 1_000_000_000)
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
