//! Times of day as RFC 3339 writes them.

const NS_PER_S: u64 = 1_000_000_000;

/// `2026-11-21T04:41:23Z`, from seconds since 1970 (civil-from-days: Howard Hinnant, "chrono-compatible
/// low-level date algorithms").
pub(crate) fn rfc3339_utc(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// Nanoseconds since 1970 of an RFC 3339 time, or of seconds since 1970.
pub(crate) fn unix_ns(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse::<u64>() {
        return seconds.checked_mul(NS_PER_S);
    }
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, offset_s) = zone(time)?;
    let (whole, fraction) = time.split_once('.').map_or((time, None), |(whole, part)| (whole, Some(part)));
    let [hour, minute, second] = numbers(whole, ':', [2, 2, 2])?;
    let in_range = (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let fraction_ns = fraction.map_or(Some(0), fraction_ns)?;
    let clock_s = i64::try_from(hour * 3_600 + minute * 60 + second).ok()?;
    let unix_s = days_since_1970(year, month, day)? * 86_400 + clock_s - offset_s;
    let unix_s = u64::try_from(unix_s).ok().filter(|_| in_range)?;
    unix_s.checked_mul(NS_PER_S)?.checked_add(fraction_ns)
}

/// The time of day, and its seconds ahead of UTC.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(utc) = time.strip_suffix(['Z', 'z']) {
        return Some((utc, 0));
    }
    let sign = time.rfind(['+', '-'])?;
    let [hours, minutes] = numbers(&time[sign + 1..], ':', [2, 2])?;
    let ahead_s = i64::try_from(hours * 3_600 + minutes * 60).ok().filter(|_| hours < 24 && minutes < 60)?;
    Some((&time[..sign], if time[sign..].starts_with('-') { -ahead_s } else { ahead_s }))
}

/// Numbers of so many digits each.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[u64; N]> {
    let parts: Vec<&str> = text.split(between).collect();
    let mut numbers = [0; N];
    if parts.len() != N {
        return None;
    }
    for ((number, part), digits) in numbers.iter_mut().zip(parts).zip(digits) {
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|_| is_number)?;
    }
    Some(numbers)
}

fn fraction_ns(digits: &str) -> Option<u64> {
    let is_fraction = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    format!("{digits:0<9}").parse().ok().filter(|_| is_fraction)
}

fn days_of_month(year: u64, month: u64) -> u64 {
    let leaps = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leaps => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from civil (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<i64> {
    let (year, month, day) =
        (i64::try_from(year).ok()?, i64::try_from(month).ok()?, i64::try_from(day).ok()?);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        assert_eq!(rfc3339_utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339_utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339_utc(1_795_236_083), "2026-11-21T04:41:23Z");
        assert_eq!(rfc3339_utc(4_102_444_799), "2099-12-31T23:59:59Z");
    }

    #[test]
    fn times_of_all_zones_and_seconds_since_1970_are_the_same_instant() {
        let expected = Some(1_795_236_083 * NS_PER_S);
        for text in [
            "2026-11-21T04:41:23Z",
            "2026-11-21t04:41:23z",
            "2026-11-21 04:41:23.000Z",
            "2026-11-21T06:11:23+01:30",
            "2026-11-20T23:41:23-05:00",
            "1795236083",
        ] {
            assert_eq!(unix_ns(text), expected, "{text}");
        }
        assert_eq!(unix_ns("1970-01-01T00:00:00.25Z"), Some(250_000_000));
        assert_eq!(unix_ns("2000-02-29T00:00:00Z"), Some(951_782_400 * NS_PER_S));
    }

    #[test]
    fn every_day_is_written_and_read_alike() {
        for day in 0..60_000 {
            let unix_s = day * 86_400 + 12_345;
            assert_eq!(unix_ns(&rfc3339_utc(unix_s)), Some(unix_s * NS_PER_S));
        }
    }

    #[test]
    fn what_is_no_absolute_time_is_refused() {
        for text in [
            "",
            "+30s",
            "now",
            "2026-11-21",
            "2026-11-21T04:41:23",
            "2026-13-21T04:41:23Z",
            "2026-02-29T04:41:23Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T04:41Z",
            "2026-11-21T04:41:23.Z",
            "26-11-21T04:41:23Z",
            "1969-12-31T23:59:59Z",
            "2026-11-21T04:41:23+0100",
            "99999999999999999999",
        ] {
            assert_eq!(unix_ns(text), None, "{text}");
        }
    }
}
