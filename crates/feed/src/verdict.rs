//! The verdict rule: an interval against a line.

use std::fmt;

/// A mean with its 95 % interval, in the unit of the line it is judged against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// The mean of the repetitions.
    pub mean: f64,
    /// Upper bound.
    pub high: f64,
}

/// What an interval says about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The whole interval reaches the line.
    Feeds,
    /// The whole interval lies below the line.
    Starves,
    /// The interval straddles the line, or a bound is not a number.
    Uncertain,
}

impl Judgement {
    /// The word printed in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Feeds => "FEEDS",
            Self::Starves => "STARVES",
            Self::Uncertain => "UNCERTAIN",
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Judges `interval` against `line`, both in the same unit.
pub fn judge(interval: Interval, line: f64) -> Judgement {
    // Comparisons with NaN are false, so that a bound that is no number falls through to UNCERTAIN: the one
    // answer that claims nothing.
    if interval.low >= line {
        Judgement::Feeds
    } else if interval.high < line {
        Judgement::Starves
    } else {
        Judgement::Uncertain
    }
}

/// Judges a time against the time that something may take, both in the same unit: the whole interval within it feeds.
pub fn judge_time(interval: Interval, within: f64) -> Judgement {
    if interval.high <= within {
        Judgement::Feeds
    } else if interval.low > within {
        Judgement::Starves
    } else {
        Judgement::Uncertain
    }
}

impl Judgement {
    /// The graver of two: one need that is not met is not made up for by another that is.
    #[must_use]
    pub fn graver(self, other: Self) -> Self {
        match (self, other) {
            (Self::Starves, _) | (_, Self::Starves) => Self::Starves,
            (Self::Uncertain, _) | (_, Self::Uncertain) => Self::Uncertain,
            (Self::Feeds, Self::Feeds) => Self::Feeds,
        }
    }
}

/// How many accelerators `low_samples_per_s` feeds by division, when `line_samples_per_s` is what
/// `accelerators` of them need. Zero when the need names no accelerators.
///
/// Division only: that the rate scales down with the number of accelerators is not measured here.
pub fn accelerators_fed(low_samples_per_s: f64, line_samples_per_s: f64, accelerators: u32) -> u32 {
    // A need without accelerators has nothing to divide by. Zero is printed as a dash.
    if accelerators == 0 || line_samples_per_s.is_nan() || line_samples_per_s <= 0.0 {
        return 0;
    }
    let fed = (low_samples_per_s / (line_samples_per_s / f64::from(accelerators))).floor() as u32;
    // Division rounds; the count must agree with the verdict on both sides of the line.
    if low_samples_per_s >= line_samples_per_s { fed.max(accelerators) } else { fed.min(accelerators - 1) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, mean: f64::midpoint(low, high), high }
    }

    #[test]
    fn the_line_itself_feeds_and_only_the_line_itself() {
        assert_eq!(judge(interval(10.0, 12.0), 10.0), Judgement::Feeds);
        assert_eq!(judge(interval(8.0, 9.999), 10.0), Judgement::Starves);
        assert_eq!(judge(interval(8.0, 10.0), 10.0), Judgement::Uncertain);
        assert_eq!(judge(interval(9.0, 11.0), 10.0), Judgement::Uncertain);
    }

    #[test]
    fn a_bound_that_is_no_number_is_uncertain() {
        assert_eq!(judge(interval(f64::NAN, f64::NAN), 10.0), Judgement::Uncertain);
        assert_eq!(judge(interval(1.0, 2.0), f64::NAN), Judgement::Uncertain);
    }

    #[test]
    fn a_time_feeds_up_to_the_limit_itself() {
        assert_eq!(judge_time(interval(8.0, 10.0), 10.0), Judgement::Feeds);
        assert_eq!(judge_time(interval(10.0, 10.1), 10.0), Judgement::Uncertain);
        assert_eq!(judge_time(interval(10.1, 12.0), 10.0), Judgement::Starves);
        assert_eq!(judge_time(interval(f64::NAN, f64::NAN), 10.0), Judgement::Uncertain);
        assert_eq!(judge_time(interval(1.0, 2.0), f64::NAN), Judgement::Uncertain);
    }

    #[test]
    fn the_gravest_of_several_decides() {
        use Judgement::{Feeds, Starves, Uncertain};
        assert_eq!((Feeds.graver(Feeds), Feeds.graver(Uncertain)), (Feeds, Uncertain));
        assert_eq!((Uncertain.graver(Starves), Starves.graver(Feeds)), (Starves, Starves));
    }

    #[test]
    fn the_invented_table_of_the_vocabulary_feeds_six() {
        let line_samples_per_s = 0.9 * 8.0 * 400.0 / 0.224;
        let low_samples_per_s = 1.16e9 / 114_660.07;
        assert_eq!(accelerators_fed(low_samples_per_s, line_samples_per_s, 8), 6);
    }

    #[test]
    fn a_rate_below_the_line_feeds_fewer_however_division_rounds() {
        // 0.9999999999999999 / (1 / 3) is 3 in binary.
        for accelerators in [3, 6, 7] {
            assert_eq!(accelerators_fed(1.0_f64.next_down(), 1.0, accelerators), accelerators - 1);
            assert_eq!(accelerators_fed(1.0, 1.0, accelerators), accelerators);
        }
    }

    #[test]
    fn each_judgement_has_its_word() {
        let all = [Judgement::Feeds, Judgement::Starves, Judgement::Uncertain];
        assert_eq!(all.map(|one| one.to_string()), ["FEEDS", "STARVES", "UNCERTAIN"]);
    }

    #[test]
    fn nothing_is_fed_without_accelerators_or_a_line() {
        assert_eq!((accelerators_fed(1e9, 1.0, 0), accelerators_fed(0.5, 1.0, 0)), (0, 0));
        assert_eq!(accelerators_fed(1e9, 0.0, 8), 0);
        assert_eq!(accelerators_fed(f64::NAN, 1.0, 8), 0);
    }

    proptest! {
        #[test]
        fn a_verdict_follows_from_the_bounds(
            low in 0.0..1e12f64, width in 0.0..1e12f64, line in 1e-3..1e12f64,
        ) {
            let interval = interval(low, low + width);
            match judge(interval, line) {
                Judgement::Feeds => prop_assert!(interval.low >= line && interval.high >= line),
                Judgement::Starves => prop_assert!(interval.high < line && interval.low < line),
                Judgement::Uncertain => prop_assert!(interval.low < line && interval.high >= line),
            }
        }

        #[test]
        fn all_are_fed_exactly_when_the_lower_bound_reaches_the_line(
            low in 0.0..1e12f64, line in 1e-3..1e12f64, accelerators in 1..100_000u32, at_line: bool,
        ) {
            let low = if at_line { line } else { low };
            let feeds = judge(Interval { low, mean: low, high: low }, line) == Judgement::Feeds;
            prop_assert_eq!(accelerators_fed(low, line, accelerators) >= accelerators, feeds);
        }

        #[test]
        fn more_throughput_never_feeds_fewer(
            low in 0.0..1e9f64, more in 0.0..1e9f64, line in 1e-3..1e9f64, accelerators in 1..10_000u32,
        ) {
            prop_assert!(
                accelerators_fed(low + more, line, accelerators) >= accelerators_fed(low, line, accelerators)
            );
        }
    }
}
