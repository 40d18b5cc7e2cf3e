//! How long steps waited for their batch: for each share of the steps, what they waited at most, up to the last step.

use analysis::Summary;
use plotters::prelude::*;

use super::super::chart::{Axis, Chart, height_around};
use super::super::key::{self, Mark};
use super::super::margin::{self, MarginLabel};
use super::super::marker::{self, Canvas, Refusal};
use super::super::sheet::{EDGE, LETTER_BY_SIZE, WIDTH};
use super::super::theme::Ink;
use super::super::ticks;
use super::{label, shared_settings, sheet, shown};
use crate::training::Job;

/// Height of the plot.
const PLOT: i32 = 340;
/// How far below the shortest wait, in decades, the place of those that did not wait is.
const NONE_BELOW: f64 = 0.7;

/// A step that did not wait is recorded with the shortest wait there is.
const WAITED_MIN_NS: u64 = 2;

/// The course of the waits of one job, as drawn.
struct Course {
    /// Place on the axis of shares and nanoseconds; `None` for no wait.
    points: Vec<(f64, Option<u64>)>,
    label: Vec<String>,
}

/// Draws the figure; `None` where no wait was recorded.
pub(super) fn draw(summary: &Summary) -> Option<Result<String, String>> {
    let (jobs, left_out) = shown(summary);
    let courses: Vec<Course> = jobs
        .iter()
        .filter(|job| job.training.steps > 0 && !job.training.waits.is_empty())
        .map(|job| Course { points: points(job), label: course_label(summary, job, &jobs) })
        .collect();
    if courses.is_empty() {
        return None;
    }
    let conditions = shared_settings(&jobs).into_iter().chain(left_out).collect();
    let sheet = sheet(summary, "how long steps waited for their batch", conditions);
    let compute = compute(&jobs);
    let lines = courses.iter().map(|course| &course.label).chain(compute.as_ref().map(|(_, words)| words));
    let longest = lines.clone().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let margin_right = (longest as f64 * 12.0 * LETTER_BY_SIZE) as i32 + 30;
    let needed = lines.map(|lines| margin::height(lines)).sum::<f64>() as i32;
    let height = height_around(PLOT.max(needed), 0);
    let (x, y) = (share_axis(&courses), wait_axis(&jobs));
    let words = "a curve ends at the last step: with the longest wait there is".to_owned();
    let key = key::flow(vec![(Mark::Point, words)], WIDTH - 2 * EDGE);
    Some(sheet.drawn(height, &key, |canvas, top| {
        let place = (EDGE, top, WIDTH - 2 * EDGE, height);
        let chart = Chart { place, margin_right, title: Vec::new(), x: x.clone(), y: y.clone() };
        draw_chart(canvas, &chart, &courses, compute.as_ref())
    }))
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
    let is_one = compute_ns >= WAITED_MIN_NS && jobs.iter().all(|job| job.plan.compute_ns == compute_ns);
    let words = vec!["a step computes".to_owned(), feed::format_duration_ns(compute_ns)];
    is_one.then_some((compute_ns, words))
}

/// Each wait from the share below it to its own. With `n` steps nothing is known beyond the share (n - 1) / n.
fn points(job: &Job<'_>) -> Vec<(f64, Option<u64>)> {
    let last = (job.training.steps as f64).log10();
    let mut before = 0.0;
    let mut points = Vec::new();
    for (share, ns) in &job.training.waits {
        let place = if *share < 1.0 { ticks::nines_of(*share).min(last) } else { last };
        let ns = (*ns >= WAITED_MIN_NS).then_some(*ns);
        points.extend([(before, ns), (place, ns)]);
        before = place;
    }
    points
}

fn share_axis(courses: &[Course]) -> Axis {
    let last = courses.iter().flat_map(|course| &course.points).map(|point| point.0).fold(1.0, f64::max);
    ticks::nines(last, "share of the steps that waited no longer")
}

/// Decades of time, and below them a place for none.
fn wait_axis(jobs: &[Job<'_>]) -> Axis {
    let waits = || jobs.iter().flat_map(|job| &job.training.waits).map(|(_, ns)| *ns);
    let known =
        || waits().chain(jobs.iter().map(|job| job.plan.compute_ns)).filter(|ns| *ns >= WAITED_MIN_NS);
    let low = (known().min().unwrap_or(WAITED_MIN_NS) as f64).log10().floor();
    let high = ((known().max().unwrap_or(WAITED_MIN_NS) as f64) * 1.3).log10().max(low + 1.0);
    let none = low - NONE_BELOW;
    let multiples: &[u64] = if high - low > 3.0 { &[1] } else { &[1, 2, 5] };
    let all = (low as u32..=high.floor() as u32)
        .flat_map(|decade| multiples.iter().map(move |multiple| multiple * 10_u64.pow(decade.min(18))));
    let times = all.map(|ns| ((ns as f64).log10(), feed::format_duration_ns(ns)));
    let ticks =
        std::iter::once((none, "none".to_owned())).chain(times.filter(|tick| tick.0 <= high)).collect();
    Axis { low: none, high, ticks, words: "wait of a step, log scale; none: its batch was there".to_owned() }
}

fn draw_chart(
    canvas: &Canvas<'_>,
    chart: &Chart,
    courses: &[Course],
    compute: Option<&(u64, Vec<String>)>,
) -> Result<(), Refusal> {
    chart.frame(canvas)?;
    let (across, down) = (chart.across(), chart.down());
    let height = |ns: Option<u64>| ns.map_or(chart.y.low, |ns| (ns as f64).log10());
    let mut labels = Vec::new();
    if let Some((compute_ns, lines)) = compute {
        let y = chart.height_of(height(Some(*compute_ns)));
        marker::dashes(canvas, (across.start, across.end), y.round() as i32, (Ink::Muted, 1))?;
        labels.push(MarginLabel { lines: lines.clone(), ink: Ink::Muted, y, end: None });
    }
    for (number, course) in courses.iter().enumerate() {
        let mut path: Vec<(i32, i32)> =
            course.points.iter().map(|(place, ns)| chart.px(*place, height(*ns))).collect();
        path.dedup();
        let Some(end) = path.last().copied() else { continue };
        let last = course.points.last().and_then(|point| point.1);
        canvas.draw(&PathElement::new(path, Ink::Curve(number).sentinel().stroke_width(2)))?;
        marker::point(canvas, end, number, false)?;
        let y = chart.height_of(height(last));
        labels.push(MarginLabel { lines: course.label.clone(), ink: Ink::Series(number), y, end: Some(end) });
    }
    margin::draw(canvas, &labels, across.end, &down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_of_shares_ends_where_the_steps_end() {
        let course = |last| Course { points: vec![(0.0, None), (last, Some(5))], label: Vec::new() };
        let axis = share_axis(&[course(3.3)]);
        assert!((axis.high - 3.3).abs() < 1e-12);
        let words: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(words, ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
    }
}
