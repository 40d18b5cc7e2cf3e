//! Checkpoints against the time that they may take.

use analysis::{CheckpointCause, CheckpointPart, CheckpointVerdict, Doubt};
use feed::{counted_noun, format_bytes, format_duration_ns, group_digits};

use super::share::percent;
use super::{flag, gap, read_verdict};

/// `write`, `restore`: the need in a word.
pub(crate) fn part(of: CheckpointPart) -> &'static str {
    match of {
        CheckpointPart::Write => "write",
        CheckpointPart::Restore => "restore",
    }
}

/// What is said of one part as one sentence, without its first words.
pub(crate) fn sentence(of: &CheckpointVerdict) -> String {
    let advice = match &of.cause {
        CheckpointCause::Flagged(flag) => Some(flag::advice(flag).to_owned()),
        _ => None,
    };
    let scope = Some(read_verdict::scope(&of.scope)).filter(|_| of.cause != CheckpointCause::Demo);
    reasons(of).into_iter().chain(advice).chain(scope).collect::<Vec<_>>().join("; ")
}

/// Why the judgement is this one, clause by clause.
pub(crate) fn reasons(of: &CheckpointVerdict) -> Vec<String> {
    let lost = of.lost_share.filter(|_| !matches!(of.cause, CheckpointCause::Demo));
    let lost = lost.map(|(low, high)| {
        let share = match (percent(low), percent(high)) {
            (_, high) if low <= 0.0 => format!("at most {high}"),
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        };
        format!("saves of that time take {share} of the job's")
    });
    std::iter::once(main_clause(of)).chain(lost).collect()
}

fn main_clause(of: &CheckpointVerdict) -> String {
    let (done, within) = (done(of), seconds(of.within_s));
    let times = times(of).map(|times| format!(" in {times}")).unwrap_or_default();
    match &of.cause {
        CheckpointCause::InTime => format!("{done}{times} of the {within} that it may take"),
        CheckpointCause::Late => format!("{done}{times}, and may take {within}"),
        CheckpointCause::Straddles { made, rounds } => {
            let made = counted_noun(u64::from(*made), "round");
            let more = match rounds {
                Some(rounds) => format!("about {rounds} rounds would decide ({made} made)"),
                None => format!("no number of rounds that pays would decide ({made} made)"),
            };
            format!("{done}{times}, which straddles the {within} that it may take; {more}")
        }
        CheckpointCause::Doubted(doubt) => {
            format!("{done}{times}, may take {within}; {}", doubted(of, doubt))
        }
        CheckpointCause::Flagged(flag) => format!("{done}{times}, may take {within}; {}", flag::words(flag)),
        CheckpointCause::TooFewRepetitions { made } => {
            format!("too few repetitions to say how long it takes: {made} of the 3 that an interval needs")
        }
        CheckpointCause::NotConfirmed { reason } => format!("not confirmed: {}", gap::words(reason)),
        CheckpointCause::AskedFailed { reason } => {
            format!("what was asked for failed: {}", gap::words(reason))
        }
        CheckpointCause::Demo => "server started by feedline: shown, not judged".to_owned(),
    }
}

fn doubted(of: &CheckpointVerdict, doubt: &Doubt) -> String {
    match doubt {
        Doubt::SeveralRanks { ranks } => {
            format!("times of {} processes are not judged together", group_digits(u64::from(*ranks)))
        }
        Doubt::Lost { count, reason } => {
            let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            let what = match of.part {
                CheckpointPart::Write => "save",
                CheckpointPart::Restore => "restore",
            };
            format!("{} failed{why}", counted_noun(*count, what))
        }
        Doubt::OtherSize { bytes, of } => {
            let (bytes, of) = (format_bytes(*bytes), format_bytes(*of));
            format!("{bytes} were measured, and one host has {of}")
        }
        Doubt::NotDurable => "what was written was not made durable".to_owned(),
        Doubt::SomeLate { late, made } => {
            format!("{} of {} took longer", group_digits(*late), counted_noun(*made, part(of.part)))
        }
        Doubt::Cut { saves } => format!(
            "{} cut by the end of a window had taken longer than any that ended: measure for longer with measure.duration",
            counted_noun(*saves, "save")
        ),
        Doubt::Apart { others: true } => {
            "it was made alone, and other jobs of the need use the storage meanwhile; of one job, write checkpoint into its need"
                .to_owned()
        }
        Doubt::Apart { others: false } => {
            "it was written alone, and accelerators go on reading meanwhile: load.mode = \"training\" plays both"
                .to_owned()
        }
        Doubt::HostsOpen { hosts } => {
            let verb = if *hosts == 1 { "was" } else { "were" };
            format!("this host is in time; {} more {verb} not tested", group_digits(u64::from(*hosts)))
        }
    }
}

/// `15.3 GB written beside the reads of the job`.
fn done(of: &CheckpointVerdict) -> String {
    let bytes = format_bytes(of.measured_bytes);
    match of.part {
        CheckpointPart::Write if of.is_beside_reads => format!("{bytes} written beside the reads of the job"),
        CheckpointPart::Write => format!("{bytes} written"),
        CheckpointPart::Restore => format!("{bytes} read back"),
    }
}

/// `12.1 to 12.9 s`: the interval, or the mean where there is none.
fn times(of: &CheckpointVerdict) -> Option<String> {
    let time = of.timed.as_ref()?.time_s?;
    let (low, high) = time.span();
    // An interval of few repetitions may reach down to no time at all.
    if low <= 0.0 {
        return Some(format!("at most {}", seconds(high)));
    }
    let (low, high) = (seconds(low), seconds(high));
    Some(if low == high { low } else { format!("{low} to {high}") })
}

fn seconds(seconds: f64) -> String {
    format_duration_ns((seconds * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use analysis::{Evidence, GapCause, LoadScope, Rate, Scope, Timed};
    use feed::{Interval, Judgement};

    use super::*;

    fn verdict(cause: CheckpointCause) -> CheckpointVerdict {
        let interval = Some(Interval { low: 12.1, mean: 12.5, high: 12.9 });
        CheckpointVerdict {
            part: CheckpointPart::Write,
            judgement: Judgement::Uncertain,
            label: "llama3-70b".to_owned(),
            within_s: 30.0,
            host_bytes: 15_300_000_000,
            measured_bytes: 15_300_000_000,
            cell: "c".to_owned(),
            is_beside_reads: false,
            timed: Some(Timed {
                time_s: Some(Rate { mean: 12.5, interval, min: 12.0, max: 13.0 }),
                repetitions: 5,
                made: 15,
                late: 0,
                cut: 0,
                failed: 0,
                reason: None,
            }),
            lost_share: None,
            scope: Scope {
                hosts_measured: 1,
                hosts_needed: 64,
                caches_open: Vec::new(),
                caches_excluded: Vec::new(),
                under_load_ns: 1,
                bytes_read: 0,
                rounds: 5,
                load: LoadScope::Closed { outstanding: 1, accelerators: 0 },
                evidence: Evidence::Screen,
                extrapolated: false,
            },
            cause,
        }
    }

    #[test]
    fn a_time_is_told_beside_the_time_that_it_may_take() {
        let in_time = verdict(CheckpointCause::InTime);
        assert_eq!(
            sentence(&in_time),
            "15.3 GB written in 12.1 s to 12.9 s of the 30 s that it may take; screen, 1 of 64 hosts"
        );
        let back = CheckpointVerdict { part: CheckpointPart::Restore, ..verdict(CheckpointCause::Late) };
        assert_eq!(reasons(&back), ["15.3 GB read back in 12.1 s to 12.9 s, and may take 30 s"]);
        let beside = CheckpointVerdict {
            is_beside_reads: true,
            lost_share: Some((0.004, 0.017)),
            ..verdict(CheckpointCause::Straddles { made: 5, rounds: Some(14) })
        };
        assert_eq!(
            reasons(&beside),
            [
                "15.3 GB written beside the reads of the job in 12.1 s to 12.9 s, which straddles the 30 s that it may \
                 take; about 14 rounds would decide (5 rounds made)",
                "saves of that time take 0.4 % to 1.7 % of the job's"
            ]
        );
    }

    #[test]
    fn an_interval_that_reaches_down_to_nothing_says_the_most_alone() {
        let interval = Some(Interval { low: -0.1, mean: 0.4, high: 0.612 });
        let timed = verdict(CheckpointCause::InTime)
            .timed
            .map(|timed| Timed { time_s: Some(Rate { mean: 0.4, interval, min: 0.2, max: 0.6 }), ..timed });
        let wide =
            CheckpointVerdict { timed, lost_share: Some((0.0, 0.001)), ..verdict(CheckpointCause::InTime) };
        assert_eq!(
            reasons(&wide),
            [
                "15.3 GB written in at most 612 ms of the 30 s that it may take",
                "saves of that time take at most 0.1 % of the job's"
            ]
        );
    }

    #[test]
    fn every_doubt_says_what_is_in_doubt() {
        let clause = |doubt: Doubt| {
            let words = reasons(&verdict(CheckpointCause::Doubted(doubt))).concat();
            words.strip_prefix("15.3 GB written in 12.1 s to 12.9 s, may take 30 s; ").unwrap().to_owned()
        };
        let reason = Some("no space".to_owned());
        assert_eq!(clause(Doubt::Lost { count: 1, reason }), "1 save failed (no space)");
        let other = Doubt::OtherSize { bytes: 2_000_000_000, of: 15_300_000_000 };
        assert_eq!(clause(other), "2 GB were measured, and one host has 15.3 GB");
        assert_eq!(clause(Doubt::SomeLate { late: 2, made: 15 }), "2 of 15 writes took longer");
        assert!(clause(Doubt::Cut { saves: 3 }).starts_with("3 saves cut by the end of a window"));
        assert_eq!(clause(Doubt::NotDurable), "what was written was not made durable");
        assert_eq!(clause(Doubt::HostsOpen { hosts: 63 }), "this host is in time; 63 more were not tested");
        assert_eq!(clause(Doubt::SeveralRanks { ranks: 4 }), "times of 4 processes are not judged together");
        assert!(clause(Doubt::Apart { others: false }).contains("load.mode = \"training\" plays both"));
        assert!(clause(Doubt::Apart { others: true }).starts_with("it was made alone, and other jobs"));
    }

    #[test]
    fn what_was_not_timed_says_why() {
        let reason = GapCause::Recorded("no space".to_owned()).into();
        let failed = verdict(CheckpointCause::AskedFailed { reason });
        assert_eq!(reasons(&failed), ["what was asked for failed: no space"]);
        let few = verdict(CheckpointCause::TooFewRepetitions { made: 2 });
        assert!(reasons(&few)[0].contains("2 of the 3"), "{:?}", reasons(&few));
        assert_eq!(
            sentence(&verdict(CheckpointCause::Demo)),
            "server started by feedline: shown, not judged"
        );
    }
}
