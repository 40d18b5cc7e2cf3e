//! How long steps waited for their batch: for each share of the steps, what they waited at most, up to the last step.

use analysis::Summary;

use super::super::canvas::Stroke;
use super::super::chart::{At, Chart, Label, Mark, PlotPanel};
use super::super::scale::{Extent, Scale, duration};
use super::super::sign::{Sample, Sign};
use super::super::theme::Ink;
use super::jobs::{label, shared_settings, shown};
use super::tables;
use crate::training::Job;

/// Height of the plot.
const PLOT: i32 = 340;
/// How far below the shortest wait the place of those that did not wait is, as a factor.
// Apart from the shortest wait: none is no short wait.
const NONE_BELOW: f64 = 5.0;
/// A step that did not wait is recorded with the shortest wait there is.
const WAITED_MIN_NS: u64 = 2;

/// Describes the plot; `None` where no wait was recorded.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let (jobs, left_out) = shown(summary);
    let waited = |job: &&Job<'_>| job.training.steps > 0 && !job.training.waits.is_empty();
    let courses: Vec<(&Job<'_>, Vec<At>)> =
        jobs.iter().filter(waited).map(|job| (job, points(job))).collect();
    let last = courses.iter().filter_map(|(_, points)| Some(points.last()?.0)).reduce(f64::max)?;
    let compute = compute(&jobs);
    let (mut marks, mut labels) = (Vec::new(), Vec::new());
    if let Some((ns, lines)) = &compute {
        marks.push(Mark::Across(*ns as f64, Stroke::rule(Ink::Muted, 1)));
        labels.push(Label::of_line(lines.clone(), Ink::Muted, *ns as f64));
    }
    for (number, (job, points)) in courses.iter().enumerate() {
        let Some(end) = points.last() else { continue };
        marks.push(Mark::Line(points.clone(), Stroke::curve(number)));
        marks.push(Mark::sign(*end, Sign::Point, Ink::Series(number)));
        labels.push(Label::of_series(course_label(summary, job, &jobs), number, *end));
    }
    let scales = (Scale::quantiles(last.max(0.9), "share of the steps that waited no longer"), times(&jobs));
    let panel = PlotPanel::new(Vec::new(), scales, PLOT, marks).labelled(labels);
    let conditions = shared_settings(&jobs).into_iter().chain(left_out);
    let heading = ("training-waits", "how long steps waited for their batch");
    let words = "a curve ends at the last step: with the longest wait there is";
    let chart = Chart::of(summary, heading, conditions).with(vec![panel], tables::waits(summary));
    Some(chart.key(Sample::Sign(Sign::Point), words))
}

fn course_label(summary: &Summary, job: &Job<'_>, jobs: &[Job<'_>]) -> Vec<String> {
    let longest = match job.training.waits.last() {
        Some((_, ..WAITED_MIN_NS)) | None => "no step waited".to_owned(),
        Some((_, ns)) => format!("longest {}", feed::format_duration_ns(*ns)),
    };
    label(summary, job, jobs).into_iter().chain([longest]).collect()
}

/// Time of a step, where it is the same in all jobs, with its label.
fn compute(jobs: &[Job<'_>]) -> Option<(u64, Vec<String>)> {
    let compute_ns = jobs.first()?.plan.compute_ns;
    // Two such lines would be two yardsticks for one curve.
    let is_one = compute_ns >= WAITED_MIN_NS && jobs.iter().all(|job| job.plan.compute_ns == compute_ns);
    let words = vec!["a step computes".to_owned(), feed::format_duration_ns(compute_ns)];
    is_one.then_some((compute_ns, words))
}

/// Each wait from the share below it to its own, 0 for none. With `n` steps nothing is known beyond the share
/// (n - 1) / n.
fn points(job: &Job<'_>) -> Vec<At> {
    let last = 1.0 - 1.0 / job.training.steps as f64;
    let mut before = 0.0;
    let mut points = Vec::new();
    for (share, ns) in &job.training.waits {
        let share = share.min(last);
        let ns = if *ns >= WAITED_MIN_NS { *ns as f64 } else { 0.0 };
        points.extend([(before, ns), (share, ns)]);
        before = share;
    }
    points
}

/// Decades of time, and below them a place for none, whose logarithm is the lower end.
fn times(jobs: &[Job<'_>]) -> Scale {
    let waits = jobs.iter().flat_map(|job| &job.training.waits).map(|(_, ns)| *ns);
    let known = waits.chain(jobs.iter().map(|job| job.plan.compute_ns)).filter(|ns| *ns >= WAITED_MIN_NS);
    let known = known.fold(Extent::EMPTY, |extent, ns| {
        let ns = ns as f64;
        extent.with(Extent { low: ns, high: ns, low_peak: ns })
    });
    // Where no step waited the scale still needs two ends.
    let known = if known.is_empty() { Extent { low: 2.0, high: 2.0, low_peak: 2.0 } } else { known };
    let (low, high) = (10_f64.powf(known.low.log10().floor()), (known.high * 1.3).max(known.low * 10.0));
    let times = Scale::decades(low, high, "", duration).ticks.into_iter().filter(|tick| tick.0 >= low);
    let ticks = std::iter::once((0.0, "none".to_owned())).chain(times).collect();
    let words = "wait of a step, log scale; none: its batch was there";
    Scale::logarithms(low / NONE_BELOW, high, ticks, words)
}
