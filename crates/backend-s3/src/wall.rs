//! Wall-clock time as signatures write it.

use std::time::Duration;

use backend_http::date;

/// `20261121T093000Z`.
pub(crate) type Stamp = [u8; 16];

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
}
