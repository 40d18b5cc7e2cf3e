//! How long saves and restores take, against the time that they may.

use record::{Checkpoint, CheckpointOutcome, Outcome, Rep};

use crate::cell::context::Context;
use crate::cell::counters::failed_saves;
use crate::cell::interval::mean;
use crate::cell::point::point_bps;
use crate::cell::rate::Rate;

/// Times of saves, or of restores: one point for each repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Seconds of one, the mean of a repetition; absent where no repetition has any.
    pub time_s: Option<Rate>,
    /// Repetitions with such a time.
    pub repetitions: u32,
    /// Saves or restores that were timed.
    pub made: u64,
    /// Those of them that took longer than they may.
    pub late: u64,
    /// Saves that a window cut when they had taken longer than any that ended, and no longer than they may: how long they would
    /// have taken is not known.
    pub cut: u64,
    /// Saves or restores that failed.
    pub failed: u64,
    /// Why the first of them did.
    pub reason: Option<String>,
}

impl Timed {
    /// Saves, from when each was due until it was durable.
    ///
    /// One that was still being written at the end of a window counts from then on that it is late, with the time that it had
    /// taken so far: no save that is too long is left out for being so. One that was left out because the one before was being
    /// written says nothing that the other does not.
    pub(crate) fn of_saves(reps: &[&Rep], within_s: f64, error: f64) -> Self {
        let times_s = |rep: &Rep| -> Vec<f64> {
            let all = rep.checkpoints.iter();
            all.filter_map(|one| time_s(one, rep.window_ns, within_s)).collect()
        };
        let failures = failed_saves(reps);
        let all = || reps.iter().flat_map(|rep| rep.checkpoints.iter().map(|one| (one, rep.window_ns)));
        let ended = all().filter(|(one, _)| matches!(one.outcome, CheckpointOutcome::Complete));
        let longest_s = ended.filter_map(|(one, ns)| time_s(one, ns, within_s)).fold(0.0, f64::max);
        let cut_after_s = all().filter_map(|(one, ns)| {
            let so_far_s = ns.saturating_sub(one.due_ns) as f64 / 1e9;
            matches!(one.outcome, CheckpointOutcome::Unfinished).then_some(so_far_s)
        });
        Self {
            cut: cut_after_s.filter(|so_far_s| *so_far_s > longest_s && *so_far_s <= within_s).count() as u64,
            failed: failures.len() as u64,
            reason: failures.into_iter().next(),
            ..Self::of(&reps.iter().map(|rep| times_s(rep)).collect::<Vec<_>>(), within_s, error)
        }
    }

    /// Restores of so many bytes, at the rates of the repetitions that make a point. One of `all` that lacks any of its reads has
    /// failed: nothing can be gone on from with a part of a checkpoint.
    pub(crate) fn of_restores(
        context: &Context<'_>,
        (used, all): (&[&Rep], &[&Rep]),
        bytes: u64,
        within_s: f64,
    ) -> Self {
        let time_s = |rep: &&Rep| vec![bytes as f64 / point_bps(context, rep)];
        let failure = |rep: &&Rep| match &rep.outcome {
            Outcome::Failed { reason } => Some(reason.clone()),
            _ => rep.errors.keys().next().cloned(),
        };
        let failures: Vec<String> = all.iter().filter_map(failure).collect();
        Self {
            failed: failures.len() as u64,
            reason: failures.into_iter().next(),
            ..Self::of(&used.iter().map(time_s).collect::<Vec<_>>(), within_s, context.error)
        }
    }

    fn of(times_s: &[Vec<f64>], within_s: f64, error: f64) -> Self {
        let points: Vec<f64> = times_s.iter().filter_map(|of_rep| mean(of_rep)).collect();
        let all = || times_s.iter().flatten();
        Self {
            time_s: Rate::at(&points, error),
            repetitions: points.len() as u32,
            made: all().count() as u64,
            late: all().filter(|seconds| **seconds > within_s).count() as u64,
            cut: 0,
            failed: 0,
            reason: None,
        }
    }
}

/// Seconds of one save in a window of so many nanoseconds; `None` of one that is not timed.
fn time_s(one: &Checkpoint, window_ns: u64, within_s: f64) -> Option<f64> {
    let ended_ns = one.begun_ns.saturating_add(one.write_ns).saturating_add(one.publish_ns);
    let seconds = |ended_ns: u64| ended_ns.saturating_sub(one.due_ns) as f64 / 1e9;
    match one.outcome {
        CheckpointOutcome::Complete => Some(seconds(ended_ns)),
        CheckpointOutcome::Unfinished => Some(seconds(window_ns.max(ended_ns))).filter(|s| *s > within_s),
        CheckpointOutcome::Overrun | CheckpointOutcome::Failed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::rep;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Due at a second, begun one later.
    fn save(due_s: u64, took_s: u64, outcome: CheckpointOutcome) -> Checkpoint {
        Checkpoint {
            step: due_s,
            due_ns: due_s * SECOND_NS,
            begun_ns: (due_s + 1) * SECOND_NS,
            stall_ns: 0,
            write_ns: took_s * SECOND_NS - SECOND_NS,
            publish_ns: 0,
            bytes: 1,
            outcome,
        }
    }

    fn reps(saves: &[&[Checkpoint]]) -> Vec<Rep> {
        let rep = |(number, of_rep): (usize, &&[Checkpoint])| Rep {
            checkpoints: of_rep.to_vec(),
            window_ns: 20 * SECOND_NS,
            ..rep("c", number as u32, 1e9)
        };
        saves.iter().enumerate().map(rep).collect()
    }

    fn timed(saves: &[&[Checkpoint]], within_s: f64) -> Timed {
        let reps = reps(saves);
        Timed::of_saves(&reps.iter().collect::<Vec<_>>(), within_s, 0.05)
    }

    #[test]
    fn a_save_takes_from_when_it_was_due_and_a_repetition_is_one_point() {
        use CheckpointOutcome::Complete;
        let first = [save(0, 2, Complete), save(5, 4, Complete)];
        let found = timed(&[&first, &[save(0, 5, Complete)], &[]], 4.0);
        let time = found.time_s.unwrap();
        assert_eq!((time.mean, time.min, time.max, time.interval), (4.0, 3.0, 5.0, None));
        assert_eq!((found.repetitions, found.made, found.late), (2, 3, 1));
    }

    #[test]
    fn what_is_cut_by_the_window_counts_once_it_is_late() {
        use CheckpointOutcome::{Overrun, Unfinished};
        let cut = [save(12, 2, Unfinished), save(17, 2, Unfinished), save(18, 2, Overrun)];
        let found = timed(&[&cut], 5.0);
        // Eight of twenty seconds were left to the first, three to the second.
        assert_eq!((found.made, found.late, found.time_s.unwrap().mean), (1, 1, 8.0));
        assert_eq!(timed(&[&cut], 10.0).time_s, None);
        // Within the time that it may take, the first says only that it takes longer than the window left it.
        assert_eq!((found.cut, timed(&[&cut], 10.0).cut), (1, 2));
        let quick = [save(0, 4, CheckpointOutcome::Complete), save(17, 2, Unfinished)];
        assert_eq!(timed(&[&quick], 10.0).cut, 0, "three seconds say nothing of one that takes four");
    }

    #[test]
    fn failures_are_counted_and_make_no_time() {
        let failed = |reason: &str| CheckpointOutcome::Failed { reason: reason.to_owned() };
        let found = timed(&[&[save(0, 2, failed("full")), save(3, 2, failed("gone"))]], 5.0);
        assert_eq!((found.failed, found.reason.as_deref(), found.made), (2, Some("full"), 0));
    }
}
