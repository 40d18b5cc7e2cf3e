//! Repetitions of several hosts at one time, without a word between them: a timetable that all of them know.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plan::{Limit, Plan};
use rustix::time::Timespec;

use crate::args::RankArgs;
use crate::exit::Failure;
use crate::host;

const NS_PER_S: u64 = 1_000_000_000;

/// Time in a slot for what a repetition takes beside warm-up and window: setting the page cache, opening, reporting.
const SLACK_DEFAULT_NS: u64 = 5 * NS_PER_S;

/// Between two looks at whether a signal came.
const LOOK_NS: u64 = 20_000_000;

/// When the repetitions of this rank begin, and which rank it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slots {
    /// This process, and how many there are.
    pub(crate) rank: (u32, u32),
    /// Beginning of the first slot, nanoseconds since 1970.
    pub(crate) begin_unix_ns: u64,
    /// Length of each.
    pub(crate) slot_ns: u64,
    /// The part of it that is left for what is not measured.
    slack_ns: u64,
    /// Whether the command line says so.
    slack_is_stated: bool,
}

impl Slots {
    /// The timetable that a command line asks for; `None` for a run of one process.
    ///
    /// # Errors
    /// A usage error for times that cannot be read, a rank that is none, and a plan whose repetitions have no length, or
    /// no order, that all ranks know beforehand.
    pub(crate) fn of(args: &RankArgs, plan: &Plan) -> Result<Option<Self>, Failure> {
        let (Some(rank), Some(ranks), Some(start_at)) = (args.rank, args.ranks, &args.start_at) else {
            return Ok(None);
        };
        if rank >= ranks {
            return Err(Failure::usage(format!(
                "error: there is no rank {rank} among {ranks}\n  hint: ranks are numbered from 0 to {}",
                ranks - 1
            )));
        }
        let begin_unix_ns = unix_ns(start_at).ok_or_else(|| {
            Failure::usage(format!(
                "error: --start-at `{start_at}` is no time\n  hint: write 2026-11-21T04:41:23Z, or seconds since 1970, the \
                 same on every host: date +%s"
            ))
        })?;
        let slack_ns = match &args.slack {
            None => SLACK_DEFAULT_NS,
            Some(text) => feed::units::parse_duration_ns(text)
                .map_err(|error| Failure::usage(format!("error: --slack: {error}")))?,
        };
        let window_ns = fixed_window_ns(plan)?;
        let slot_ns = plan.measure.warmup_ns + window_ns + slack_ns;
        Ok(Some(Self {
            rank: (rank, ranks),
            begin_unix_ns,
            slot_ns,
            slack_ns,
            slack_is_stated: args.slack.is_some(),
        }))
    }

    /// What the command line left to a default: a reader of the record is to know it.
    pub(crate) fn unsaid(&self) -> Vec<String> {
        if self.slack_is_stated {
            return Vec::new();
        }
        vec!["--slack".to_owned(), format!("{}s", self.slack_ns / NS_PER_S)]
    }

    /// Waits until the slot of a repetition begins, or until a signal comes. A rank that is late does not wait: the times
    /// of its windows show it.
    pub(crate) fn wait(&self, repetition: u32, stop: &AtomicBool) {
        let begins = self.begins_unix_ns(repetition);
        while !stop.load(Ordering::Relaxed) {
            let left_ns = begins.saturating_sub(unix_now_ns()).min(LOOK_NS);
            if left_ns == 0 {
                return;
            }
            // Cut short by a signal it only looks earlier.
            let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: left_ns.cast_signed() });
        }
    }

    /// How long ago the first slot began; `None` while that is to come.
    pub(crate) fn late_by(&self) -> Option<Duration> {
        unix_now_ns().checked_sub(self.begin_unix_ns).filter(|ns| *ns > 0).map(Duration::from_nanos)
    }

    fn begins_unix_ns(&self, repetition: u32) -> u64 {
        self.begin_unix_ns.saturating_add(self.slot_ns.saturating_mul(u64::from(repetition)))
    }
}

/// Length of the window of every repetition.
fn fixed_window_ns(plan: &Plan) -> Result<u64, Failure> {
    let refused = |what: &str, hint: &str| {
        Err(Failure::usage(format!("error: ranks follow a timetable, and {what}\n  hint: {hint}")))
    };
    let Limit::Duration { duration_ns } = plan.measure.limit else {
        return refused(
            "repetitions that do not end after a time have no place in it",
            "write measure.duration instead of bytes, epochs or steps",
        );
    };
    if plan.measure.budget_ns.is_some() {
        return refused(
            "a budget would end it on one host earlier than on another",
            "remove measure.budget, or give fewer repetitions",
        );
    }
    if plan.cells.iter().any(|cell| cell.auto_group.is_some()) {
        return refused(
            "a search for the queue depth may go on longer on one host than on another",
            "say which depths are measured: --set load.queue_depth=[8,32]",
        );
    }
    Ok(duration_ns)
}

fn unix_now_ns() -> u64 {
    host::unix_time().as_nanos() as u64
}

/// Nanoseconds since 1970 of an RFC 3339 time, or of seconds since 1970.
fn unix_ns(text: &str) -> Option<u64> {
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
            assert_eq!(unix_ns(&host::rfc3339_utc(unix_s)), Some(unix_s * NS_PER_S));
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

    #[test]
    fn slots_follow_each_other_and_a_signal_ends_the_wait_for_one() {
        let slots =
            Slots { rank: (0, 2), begin_unix_ns: 1_000, slot_ns: 50, slack_ns: 10, slack_is_stated: true };
        assert_eq!([0, 1, 7].map(|n| slots.begins_unix_ns(n)), [1_000, 1_050, 1_350]);
        assert!(slots.late_by().is_some());
        let never = Slots { begin_unix_ns: u64::MAX, ..slots };
        assert_eq!(never.late_by(), None);
        never.wait(3, &AtomicBool::new(true));
    }
}
