//! What the first accelerator of each job did from its start on: steps as bars, and the gaps in which it waited.

use analysis::Summary;
use record::TrainedStep;

use super::super::chart::{Chart, Mark, PlotPanel};
use super::super::scale::Scale;
use super::super::sign::{BARRIER_OPACITY, SHADES, Sample};
use super::super::theme::{Ink, STARVING_OPACITY};
use super::jobs::{name, shared_settings, shown};
use super::tables;
use crate::number::cut_percent;
use crate::training::Job;

/// Steps that a lane shows at most: narrower ones could not be told apart.
const STEPS_MAX: usize = 40;
/// Ticks that the scale of time aims at.
const TICKS: f64 = 8.0;
/// Height of a lane.
const LANE: i32 = 30;

struct Lane<'a> {
    words: String,
    steps: &'a [TrainedStep],
}

/// A stretch of time, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    kind: Pastime,
    from_ns: u64,
    to_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pastime {
    /// A step; the number tells neighbours apart.
    Step(usize),
    /// No batch was ready.
    Wait,
    /// One was, and other accelerators were waited for.
    Barrier,
}

/// Describes the plot; `None` where no step was recorded.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let (jobs, left_out) = shown(summary);
    let lane = |job: &Job<'_>| format!("{}: {}", name(summary, job, &jobs).join(", "), outcome(job));
    let has_steps = |job: &&Job<'_>| job.training.timeline.last().is_some_and(|step| step.end_ns > 0);
    let lanes: Vec<Lane<'_>> = jobs
        .iter()
        .filter(has_steps)
        .map(|job| Lane { words: lane(job), steps: &job.training.timeline })
        .collect();
    let span_ns = span(&lanes)?;
    let stretches: Vec<Vec<Stretch>> = lanes.iter().map(|lane| stretches(lane.steps, span_ns)).collect();
    let x = times(span_ns, is_cut(&lanes, span_ns));
    let panel = |(number, (lane, stretches)): (usize, (&Lane<'_>, &Vec<Stretch>))| {
        // The time below the last lane holds for all.
        let x = if number + 1 == lanes.len() { x.clone() } else { x.clone().unlabelled() };
        let y = Scale::between(0.0, 1.0, Vec::new(), "");
        let marks = stretches.iter().map(mark).collect();
        vec![PlotPanel::new(vec![lane.words.clone()], (x, y), LANE, marks)]
    };
    let rows = lanes.iter().zip(&stretches).enumerate().map(panel).collect();
    let conditions = shared_settings(&jobs).into_iter().chain(left_out);
    let heading = ("training-timeline", "the first steps of one accelerator");
    let chart = Chart::of(summary, heading, conditions)
        .with_rows(rows, 1, tables::timeline(summary))
        .key(Sample::STEP, "steps, in two shades in turn")
        .key(Sample::STARVING, "waited for a batch")
        .key(Sample::BARRIER, "waited for other accelerators");
    Some(chart)
}

/// `AU 71.8 %, first batch after 120 ms`.
fn outcome(job: &Job<'_>) -> String {
    let first = feed::format_duration_ns(job.training.first_batch_ns);
    format!("AU {} %, first batch after {first}", cut_percent(job.training.au.mean))
}

/// The time shown: until the fastest lane has done as many steps as can be told apart, or the last recorded one ends.
fn span(lanes: &[Lane<'_>]) -> Option<u64> {
    let full = lanes.iter().filter_map(|lane| lane.steps.get(STEPS_MAX)).map(|step| step.start_ns).min();
    let ends = lanes.iter().filter_map(|lane| lane.steps.last()).map(|step| step.end_ns).max();
    full.or(ends).filter(|span_ns| *span_ns > 0)
}

fn is_cut(lanes: &[Lane<'_>], span_ns: u64) -> bool {
    lanes.iter().filter_map(|lane| lane.steps.last()).any(|step| step.end_ns > span_ns)
}

/// What a lane shows until `span_ns`; what is recorded beyond is left to the words of the axis.
fn stretches(steps: &[TrainedStep], span_ns: u64) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut before_ns = 0;
    for (number, step) in steps.iter().enumerate() {
        // A batch that was ready before the step before it ended was not waited for.
        let ready_ns = step.ready_ns.clamp(before_ns, step.start_ns.max(before_ns));
        let parts = [
            (Pastime::Wait, before_ns, ready_ns),
            (Pastime::Barrier, ready_ns, step.start_ns),
            (Pastime::Step(number), step.start_ns, step.end_ns),
        ];
        let inside = parts.map(|(kind, from_ns, to_ns)| Stretch { kind, from_ns, to_ns: to_ns.min(span_ns) });
        found.extend(inside.into_iter().filter(|stretch| stretch.from_ns < stretch.to_ns));
        before_ns = step.end_ns;
    }
    found
}

fn times(span_ns: u64, is_cut: bool) -> Scale {
    let (unit, unit_ns) = match span_ns {
        2_000_000_000.. => ("s", 1e9),
        2_000_000.. => ("ms", 1e6),
        _ => ("us", 1e3),
    };
    // Said at the axis: a job that ends at the edge of the plot would look finished.
    let goes_on = if is_cut { "; the record goes on beyond the right edge" } else { "" };
    let ticks = Scale::linear(span_ns as f64 / unit_ns, TICKS, "").ticks;
    let ticks = ticks.into_iter().map(|(value, words)| (value * unit_ns, words)).collect();
    Scale::between(0.0, span_ns as f64, ticks, &format!("time since the job began, {unit}{goes_on}"))
}

fn mark(stretch: &Stretch) -> Mark {
    let (ink, opacity) = match stretch.kind {
        Pastime::Step(number) => (Ink::Series(0), SHADES[number % 2]),
        Pastime::Wait => (Ink::Starving, STARVING_OPACITY),
        Pastime::Barrier => (Ink::Muted, BARRIER_OPACITY),
    };
    let (from, to) = (stretch.from_ns as f64, stretch.to_ns as f64);
    Mark::Boxes(vec![((from, 0.0), (to, 1.0))], ink, opacity)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step(ready_ns: u64, start_ns: u64, end_ns: u64) -> TrainedStep {
        TrainedStep { ready_ns, start_ns, end_ns }
    }

    #[test]
    fn time_is_either_a_step_or_a_wait_or_a_barrier() {
        let steps = [step(30, 30, 50), step(40, 50, 70), step(80, 90, 110)];
        let found: Vec<_> =
            stretches(&steps, 110).into_iter().map(|one| (one.kind, one.from_ns, one.to_ns)).collect();
        let expected = [
            (Pastime::Wait, 0, 30),
            (Pastime::Step(0), 30, 50),
            (Pastime::Step(1), 50, 70),
            (Pastime::Wait, 70, 80),
            (Pastime::Barrier, 80, 90),
            (Pastime::Step(2), 90, 110),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_the_span_cuts_ends_at_it() {
        let found = stretches(&[step(30, 30, 50), step(60, 60, 80)], 40);
        assert_eq!(found.last().map(|one| (one.kind, one.to_ns)), Some((Pastime::Step(0), 40)));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn the_span_ends_with_the_last_step_that_can_be_told_apart() {
        let steps: Vec<TrainedStep> = (0..100).map(|n| step(n * 10, n * 10, n * 10 + 10)).collect();
        let slow = [step(5_000, 5_000, 5_010)];
        let lane = |steps| Lane { words: String::new(), steps };
        assert_eq!(span(&[lane(&steps), lane(&slow)]), Some(400));
        assert_eq!(span(&[lane(&steps[..3]), lane(&slow)]), Some(5_010));
        assert_eq!(span(&[]), None);
    }

    proptest! {
        #[test]
        fn a_lane_has_neither_holes_nor_overlaps(
            lengths in prop::collection::vec((0..50_u64, 0..50_u64, 0..50_u64), 0..30),
            span_ns in 1..2_000_u64
        ) {
            let mut end_ns = 0;
            let steps: Vec<TrainedStep> = lengths
                .into_iter()
                .map(|(wait, barrier, compute)| {
                    let ready_ns = end_ns + wait;
                    let start_ns = ready_ns + barrier;
                    end_ns = start_ns + compute;
                    step(ready_ns, start_ns, end_ns)
                })
                .collect();
            let found = stretches(&steps, span_ns);
            let mut at_ns = 0;
            for stretch in &found {
                prop_assert_eq!(stretch.from_ns, at_ns);
                prop_assert!(stretch.to_ns > at_ns);
                at_ns = stretch.to_ns;
            }
            prop_assert_eq!(at_ns, end_ns.min(span_ns));
        }
    }
}
