//! One repetition as a picture shows it: reads second by second, and when checkpoints were written and waited for.

use record::{Checkpoint, CheckpointOutcome, Rep};

use crate::cell::over_time::RatePoint;

/// Seconds that a picture shows; what comes later is left out.
const SECONDS_MAX: usize = 3_600;
// More could not be told apart in a picture, and a damaged record may have any number.
/// Checkpoints that a picture shows.
const SPANS_MAX: usize = 200;
/// Part of a second below which the last one of a window is left out: its rate would be of a few operations.
const LAST_SECOND_MIN: f64 = 0.5;

/// A repetition with checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointTimeline {
    /// Its number.
    pub rep: u32,
    /// Length of its window, seconds; what is shown of it.
    pub window_s: f64,
    /// Bytes read per second; empty for records that do not hold seconds.
    pub reads: Vec<RatePoint>,
    /// Its checkpoints, in order.
    pub spans: Vec<CheckpointSpan>,
}

/// When one checkpoint was due, written and waited for. Seconds since the window opened, cut at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointSpan {
    /// Step after which it was due.
    pub step: u64,
    /// When it was due.
    pub due_s: f64,
    /// When accelerators went on.
    pub stalled_until_s: f64,
    /// When its first byte was written.
    pub begun_s: f64,
    /// When all of its files were durable.
    pub durable_s: f64,
    /// What became of it: `whole`, `overrun`, `unfinished`, `failed`.
    pub outcome: &'static str,
}

/// The first repetition that has a checkpoint and the seconds of its reads, else the first that has a checkpoint.
pub(super) fn of_reps(reps: &[&Rep]) -> Option<CheckpointTimeline> {
    let has = || reps.iter().filter(|rep| !rep.checkpoints.is_empty() && rep.window_ns > 0);
    // A repetition without seconds still shows when it wrote, but not what that did to its reads.
    let rep = has().find(|rep| !rep.second_bytes.is_empty()).or_else(|| has().next())?;
    let mut spans = spans(rep);
    spans.truncate(SPANS_MAX);
    let window_s = (rep.window_ns as f64 / 1e9).min(SECONDS_MAX as f64);
    spans.retain(|span| span.due_s < window_s);
    Some(CheckpointTimeline { rep: rep.rep, window_s, reads: whole_seconds(rep), spans })
}

/// The checkpoints of a repetition, in the order in which they were due.
pub(super) fn spans(rep: &Rep) -> Vec<CheckpointSpan> {
    let mut found: Vec<CheckpointSpan> = rep.checkpoints.iter().map(|one| span(rep, one)).collect();
    found.sort_by(|a, b| a.due_s.total_cmp(&b.due_s));
    found
}

fn span(rep: &Rep, one: &Checkpoint) -> CheckpointSpan {
    let end_ns = rep.window_ns;
    let at = |ns: u64| ns.min(end_ns) as f64 / 1e9;
    // One that was left out, or could not be begun, was never written.
    let begun_ns = if one.outcome == CheckpointOutcome::Overrun { one.due_ns } else { one.begun_ns };
    let durable_ns = match one.outcome {
        CheckpointOutcome::Complete | CheckpointOutcome::Failed { .. } => {
            begun_ns.saturating_add(one.write_ns).saturating_add(one.publish_ns)
        }
        CheckpointOutcome::Unfinished => end_ns.max(begun_ns),
        CheckpointOutcome::Overrun => begun_ns,
    };
    CheckpointSpan {
        step: one.step,
        due_s: at(one.due_ns),
        stalled_until_s: at(one.due_ns.saturating_add(one.stall_ns)),
        begun_s: at(begun_ns),
        durable_s: at(durable_ns),
        outcome: word(&one.outcome),
    }
}

fn word(outcome: &CheckpointOutcome) -> &'static str {
    match outcome {
        CheckpointOutcome::Complete => "whole",
        CheckpointOutcome::Overrun => "overrun",
        CheckpointOutcome::Unfinished => "unfinished",
        CheckpointOutcome::Failed { .. } => "failed",
    }
}

/// Reads of each second of a window, without one that was cut too short to say anything.
pub(super) fn whole_seconds(rep: &Rep) -> Vec<RatePoint> {
    let window_s = rep.window_ns as f64 / 1e9;
    let point = |(second, bytes): (usize, &u64)| {
        let from_s = second as f64;
        let to_s = (from_s + 1.0).min(window_s);
        (to_s - from_s >= LAST_SECOND_MIN).then(|| RatePoint {
            from_s,
            to_s,
            per_s: *bytes as f64 / (to_s - from_s),
        })
    };
    rep.second_bytes.iter().take(SECONDS_MAX).enumerate().filter_map(point).collect()
}
