//! When the operations of a paced load are meant to begin: one timetable, shared by the workers of a repetition.
//!
//! Times are nanoseconds since the repetition began. Arrivals are handed out in order, each once; none is held in
//! memory, so a timetable far beyond what can be issued costs nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use dataset::mix;

use crate::line::Line;

/// Shortest mean distance of two arrivals: no client comes near a thousand arrivals in one nanosecond.
const GAP_NS_MIN: f64 = 1e-3;

/// Longest mean distance: nothing arrives in nearly three hours.
const GAP_NS_MAX: f64 = 1e13;

/// Steps of Poisson arrivals in one nanosecond: distances of a few nanoseconds keep their mean. 2^64 of them are
/// 208 days.
const TICKS_PER_NS: u64 = 1024;

/// Poisson arrivals that are passed over one by one, 1 or 2 ms of it; beyond them their mean number is taken, which
/// is then right within 0.3 %.
const PASSED_ONE_BY_ONE_MAX: u32 = 100_000;

/// The most parts in which skipped arrivals are reported, each at its middle.
const PARTS_MAX: u64 = 1_000;

/// The arrivals of one repetition.
#[derive(Debug)]
pub(crate) enum Timetable {
    /// Some at once, at equal distances.
    Steps(Steps),
    /// Independent of each other.
    Poisson(Poisson),
}

impl Timetable {
    /// One at a time, `gap_ns` apart, the first at once.
    pub(crate) fn constant(gap_ns: f64) -> Self {
        Self::Steps(Steps {
            next: Line(AtomicU64::new(0)),
            per_step: 1,
            period_ns: bounded(gap_ns),
            first_ns: 0,
        })
    }

    /// `per_step` at once, `gap_ns` apart on average. Where the end is known, steps are laid so that one would
    /// begin there: each before it then has its whole period to be served.
    pub(crate) fn batch(per_step: u64, gap_ns: f64, end_ns: Option<u64>) -> Self {
        let period_ns = bounded(gap_ns * per_step as f64);
        let first_ns = end_ns.map_or(0, |end_ns| {
            // An end that is a whole number of periods must not lose one to the last digit of a quotient.
            let periods = (end_ns as f64 / period_ns + 1e-9).floor();
            end_ns.saturating_sub((periods * period_ns).round() as u64)
        });
        Self::Steps(Steps { next: Line(AtomicU64::new(0)), per_step, period_ns, first_ns })
    }

    /// One at a time, exponentially distributed distances of `gap_ns` on average, drawn by `seed`.
    pub(crate) fn poisson(gap_ns: f64, seed: u64) -> Self {
        let mean_ticks = bounded(gap_ns) * TICKS_PER_NS as f64;
        let poisson = Poisson { next_ticks: Line(AtomicU64::new(0)), mean_ticks, seed: mix(seed) };
        poisson.take();
        Self::Poisson(poisson)
    }

    /// The next arrival.
    pub(crate) fn take(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.at_ns(steps.next.0.fetch_add(1, Ordering::Relaxed)),
            Self::Poisson(poisson) => poisson.take() / TICKS_PER_NS,
        }
    }

    /// Skips every arrival before `to_ns`. Returns how many of them lie at `from_ns` or later, and calls `each` with
    /// their times and numbers. Very many arrivals are reported together, within 0.1 % of their span.
    pub(crate) fn pass_over(&self, from_ns: u64, to_ns: u64, each: impl FnMut(u64, u64)) -> u64 {
        match self {
            Self::Steps(steps) => steps.pass_over(from_ns, to_ns, each),
            Self::Poisson(poisson) => poisson.pass_over(from_ns, to_ns, each),
        }
    }
}

fn bounded(gap_ns: f64) -> f64 {
    if gap_ns.is_nan() { GAP_NS_MAX } else { gap_ns.clamp(GAP_NS_MIN, GAP_NS_MAX) }
}

/// Arrivals whose times follow from their numbers.
#[derive(Debug)]
pub(crate) struct Steps {
    /// Number of the next arrival.
    next: Line<AtomicU64>,
    per_step: u64,
    period_ns: f64,
    first_ns: u64,
}

impl Steps {
    fn at_ns(&self, arrival: u64) -> u64 {
        self.step_ns(arrival / self.per_step)
    }

    fn step_ns(&self, step: u64) -> u64 {
        self.first_ns.saturating_add((step as f64 * self.period_ns).round() as u64)
    }

    /// Arrivals before `ns`.
    fn before(&self, ns: u64) -> u64 {
        let Some(after_first_ns) = ns.checked_sub(self.first_ns) else { return 0 };
        let mut steps = (after_first_ns as f64 / self.period_ns).ceil() as u64;
        // A quotient may be off by the rounding of a time.
        while steps > 0 && self.step_ns(steps - 1) >= ns {
            steps -= 1;
        }
        while self.step_ns(steps) < ns {
            steps += 1;
        }
        steps.saturating_mul(self.per_step)
    }

    fn pass_over(&self, from_ns: u64, to_ns: u64, mut each: impl FnMut(u64, u64)) -> u64 {
        let to = self.before(to_ns);
        // Another worker may have taken some of them meanwhile; those are not passed over twice.
        let next = self.next.0.fetch_max(to, Ordering::Relaxed);
        let first = next.max(self.before(from_ns));
        let passed = to.saturating_sub(first);
        in_parts(passed, |middle, count| each(self.at_ns(first + middle), count));
        passed
    }
}

/// Arrivals each of which is drawn from the time of the one before: the time is all there is to share.
#[derive(Debug)]
pub(crate) struct Poisson {
    next_ticks: Line<AtomicU64>,
    mean_ticks: f64,
    seed: u64,
}

impl Poisson {
    fn take(&self) -> u64 {
        let next = |ticks| Some(self.after(ticks));
        self.next_ticks
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .unwrap_or_else(|ticks| ticks)
    }

    /// The arrival after one at `ticks`.
    fn after(&self, ticks: u64) -> u64 {
        // 53 random bits, in (0, 1].
        // A hash of the last time and no shared generator: whoever takes an arrival can reckon the next, so the time
        // is all that threads share.
        let uniform = ((mix(self.seed ^ ticks) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let gap = (-uniform.ln() * self.mean_ticks).round() as u64;
        // Never the same time again: it would be the same draw for ever.
        ticks.saturating_add(gap.max(1))
    }

    fn pass_over(&self, from_ns: u64, to_ns: u64, mut each: impl FnMut(u64, u64)) -> u64 {
        let ticks = |ns: u64| ns.saturating_mul(TICKS_PER_NS);
        let (from, to) = (ticks(from_ns), ticks(to_ns));
        let next = |at| (at < to).then(|| self.after(at));
        let mut passed = 0;
        for _ in 0..PASSED_ONE_BY_ONE_MAX {
            match self.next_ticks.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
                Ok(at) if at >= from => {
                    each(at / TICKS_PER_NS, 1);
                    passed += 1;
                }
                Ok(_) => {}
                Err(_) => return passed,
            }
        }
        // What arrives after a time does not depend on what arrived before it, so the rest may be drawn anew.
        let first = self.next_ticks.0.fetch_max(self.after(to), Ordering::Relaxed).max(from);
        let rest = (to.saturating_sub(first) as f64 / self.mean_ticks).round() as u64;
        in_parts(rest, |middle, count| {
            each((first + (middle as f64 * self.mean_ticks) as u64) / TICKS_PER_NS, count);
        });
        passed + rest
    }
}

/// Goes through numbers up to `count` in parts as equal as can be: the number in the middle, and how many there are.
fn in_parts(count: u64, mut each: impl FnMut(u64, u64)) {
    let parts = count.min(PARTS_MAX);
    // A product of 64 bits would overflow for what is beyond all issuing.
    let bound = |part: u64| (u128::from(count) * u128::from(part) / u128::from(parts)) as u64;
    for part in 0..parts {
        let (first, end) = (bound(part), bound(part + 1));
        each(first + (end - first) / 2, end - first);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first(timetable: &Timetable, count: usize) -> Vec<u64> {
        (0..count).map(|_| timetable.take()).collect()
    }

    #[test]
    fn constant_arrivals_are_at_equal_distances() {
        assert_eq!(first(&Timetable::constant(2.5), 5), [0, 3, 5, 8, 10]);
    }

    #[test]
    fn a_batch_arrives_at_once_and_has_a_whole_period_before_the_end() {
        assert_eq!(first(&Timetable::batch(3, 10.0, None), 7), [0, 0, 0, 30, 30, 30, 60]);
        // 100 = 10 + 3 periods of 30: steps at 10, 40 and 70.
        assert_eq!(first(&Timetable::batch(2, 15.0, Some(100)), 5), [10, 10, 40, 40, 70]);
        assert_eq!(first(&Timetable::batch(2, 15.0, Some(90)), 3), [0, 0, 30]);
    }

    #[test]
    fn poisson_arrivals_have_the_asked_mean_and_replay_exactly() {
        let arrivals = first(&Timetable::poisson(1_000.0, 5), 100_000);
        assert_eq!(arrivals, first(&Timetable::poisson(1_000.0, 5), 100_000));
        assert_ne!(arrivals[..10], first(&Timetable::poisson(1_000.0, 6), 10));
        let gaps: Vec<f64> = arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        // The mean of n exponential gaps has a standard deviation of mean / sqrt(n), here 0.32 %.
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1_000.0 - 1.0).abs() < 0.013, "{mean}");
        // Of exponential gaps 1 - 1/e = 63.2 % are below the mean (standard deviation 0.15 %).
        let below = gaps.iter().filter(|gap| **gap < 1_000.0).count() as f64 / gaps.len() as f64;
        assert!((below - 0.632).abs() < 0.006, "{below}");
    }

    #[test]
    fn threads_take_every_arrival_once_and_together_the_same_ones() {
        let alone = timetables(3.0, 4, 1_000, 9);
        for (alone, shared) in alone.iter().zip(timetables(3.0, 4, 1_000, 9)) {
            let mut taken = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| first(&shared, 10_000))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
            });
            taken.sort_unstable();
            assert_eq!(taken, first(alone, 40_000));
        }
    }

    #[test]
    fn what_is_beyond_all_issuing_is_counted_without_being_made() {
        // 10^12 arrivals in a second.
        let constant = Timetable::constant(1e-3);
        assert_eq!(constant.pass_over(0, 1_000_000_000, |_, _| ()).abs_diff(1_000_000_000_000), 500);
        let poisson = Timetable::poisson(1e-3, 1);
        let passed = poisson.pass_over(0, 1_000_000_000, |_, _| ()) as f64;
        assert!((passed / 1e12 - 1.0).abs() < 0.01, "{passed}");
        assert!(poisson.take() >= 1_000_000_000);
    }

    #[test]
    fn very_many_that_are_passed_over_are_told_of_in_parts_over_their_span() {
        for timetable in timetables(1e-3, 4, 1_000_000_000, 1) {
            let (mut told, mut count) = (Vec::new(), 0);
            let passed = timetable.pass_over(500_000_000, 1_000_000_000, |ns, ops| {
                told.push(ns);
                count += ops;
            });
            assert!(count == passed && told.len() as u64 <= PARTS_MAX + u64::from(PASSED_ONE_BY_ONE_MAX));
            assert!(told.is_sorted() && told.iter().all(|ns| (500_000_000..1_000_000_000).contains(ns)));
            let mean = told[told.len() - 900..].iter().sum::<u64>() as f64 / 900.0;
            assert!((mean / 775e6 - 1.0).abs() < 0.01, "{mean}");
        }
    }

    #[test]
    fn a_rate_of_nothing_brings_at_most_a_first_arrival() {
        for gap_ns in [f64::INFINITY, f64::NAN, 1e300] {
            assert_eq!(Timetable::constant(gap_ns).pass_over(1, 1_000_000_000_000, |_, _| ()), 0);
        }
    }

    fn timetables(gap_ns: f64, per_step: u64, end_ns: u64, seed: u64) -> [Timetable; 3] {
        [
            Timetable::constant(gap_ns),
            Timetable::batch(per_step, gap_ns, Some(end_ns)),
            Timetable::poisson(gap_ns, seed),
        ]
    }

    proptest! {
        /// What is passed over is what would have been taken.
        #[test]
        fn passing_over_counts_what_taking_would_have_found(
            gap_ns in 0.3_f64..500.0, per_step in 1_u64..9, seed: u64,
            from_ns in 0_u64..2_000, to_ns in 0_u64..5_000, taken in 0_usize..50,
        ) {
            let again = timetables(gap_ns, per_step, 7_000, seed);
            for (timetable, again) in timetables(gap_ns, per_step, 7_000, seed).iter().zip(again) {
                first(timetable, taken);
                first(&again, taken);
                let mut told = Vec::new();
                let passed = timetable.pass_over(from_ns, to_ns, |ns, count| told.push((ns, count)));
                let rest = std::iter::from_fn(|| Some(again.take())).take_while(|ns| *ns < to_ns);
                let rest: Vec<u64> = rest.filter(|ns| *ns >= from_ns).collect();
                prop_assert_eq!(passed, rest.len() as u64);
                prop_assert_eq!(told.iter().map(|(_, count)| count).sum::<u64>(), passed);
                if passed <= PARTS_MAX {
                    prop_assert_eq!(told, rest.into_iter().map(|ns| (ns, 1)).collect::<Vec<_>>());
                }
                prop_assert!(timetable.take() >= to_ns);
            }
        }

        #[test]
        fn arrivals_never_go_back(gap_ns in 0.001_f64..1e6, per_step in 1_u64..100, seed: u64) {
            for timetable in timetables(gap_ns, per_step, 1_000_000, seed) {
                prop_assert!(first(&timetable, 1_000).is_sorted());
            }
        }
    }
}
