//! What the reads of a training job do second by second while checkpoints are written, and when accelerators stand still.

use analysis::{CheckpointTimeline, CheckpointedJob, Summary};

use super::super::canvas::Stroke;
use super::super::chart::{At, Chart, Mark, PlotPanel, cut, height_of, starving};
use super::super::scale::{Extent, Scale};
use super::super::sign::{BARRIER_OPACITY, Sample, Sign};
use super::super::theme::Ink;
use super::title::title;
use crate::number::{RateUnit, cut_percent, three_digits};
use crate::plain::shortened;
use crate::plot::PlotTable;

/// Height of the plot of one job, and of each of several.
const PLOT: (i32, i32) = (320, 200);
/// Jobs that one figure holds.
const PANELS_MAX: usize = 4;
/// Room above the highest rate for the band that shows stalls, and where that begins.
// The band at the top would else lie upon the highest seconds.
const ROOM: f64 = 1.12;
const BAND_FROM: f64 = 0.95;

struct Course<'a> {
    title: String,
    cell: String,
    timeline: &'a CheckpointTimeline,
}

/// Describes the plot; `None` where no job made a checkpoint in a repetition with seconds.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let jobs = summary.checkpoints.jobs.iter();
    let mut courses: Vec<Course<'_>> = jobs.filter_map(|job| course(summary, job)).collect();
    let limit = cut(&mut courses, PANELS_MAX, "jobs");
    if courses.is_empty() {
        return None;
    }
    let rows = courses.iter().map(|course| vec![panel(course, height_of(courses.len(), PLOT))]).collect();
    let condition = "one repetition of each job; read throughput is the mean of each second".to_owned();
    let heading = ("checkpoints", "reads beside checkpoints");
    let chart = Chart::of(summary, heading, [condition].into_iter().chain(limit))
        .with_rows(rows, 1, table(&courses))
        .key(Sample::Nothing, "line: read throughput")
        .key(Sample::STARVING, "a checkpoint is written and published")
        .key(Sample::BARRIER, "at the top: accelerators stand still for it")
        .key(Sample::Sign(Sign::Cross), "due, and overrun, unfinished or failed");
    Some(chart)
}

fn course<'a>(summary: &Summary, job: &'a CheckpointedJob) -> Option<Course<'a>> {
    let timeline = job.timeline.as_ref().filter(|one| !one.reads.is_empty() && one.window_s > 0.0)?;
    let cell = summary.cells.get(job.cell)?;
    let without = job.without.map(|without| format!(" ({} % without)", cut_percent(without.au.mean)));
    let au = job.au.map(|au| format!(": AU {} %{}", cut_percent(au.mean), without.unwrap_or_default()));
    let title = shortened(&title(summary, cell), 90) + &au.unwrap_or_default();
    Some(Course { title, cell: cell.cell.cell.clone(), timeline })
}

fn panel(course: &Course<'_>, height: i32) -> PlotPanel {
    let timeline = course.timeline;
    // Each second is a step: a slope between two would claim what was not counted.
    let steps: Vec<At> = timeline
        .reads
        .iter()
        .flat_map(|point| [point.from_s, point.to_s].map(|seconds| (seconds, point.per_s)))
        .collect();
    let line = vec![Mark::Line(steps, Stroke::solid(Ink::Series(0), 2))];
    let extent = Mark::heights(&line).from(0.0);
    let room = if extent.high > 0.0 { extent.high * ROOM } else { 1.0 };
    let y = Scale::rates(Extent { high: room, ..extent }, "reads").0;
    let last_s = Mark::widths(&line).high.max(timeline.window_s);
    // A checkpoint that is written when the window closes ends behind the scale.
    let at = |seconds: f64| seconds.clamp(0.0, last_s);
    let (mut regions, mut marks) = (Vec::new(), Vec::new());
    for span in &timeline.spans {
        if at(span.durable_s) > at(span.begun_s) {
            regions.push(starving(((at(span.begun_s), 0.0), (at(span.durable_s), f64::INFINITY))));
        }
        let (from, to) = (at(span.due_s), at(span.stalled_until_s));
        if to > from {
            let band = ((from, y.at(BAND_FROM)), (to, f64::INFINITY));
            marks.push(Mark::Boxes(vec![band], Ink::Muted, BARRIER_OPACITY));
        }
        if span.outcome != "whole" {
            let (sign, ink, nudge) = (Sign::Cross, Ink::Line, (5, 0));
            marks.push(Mark::Sign { at: (from, y.at(0.9)), span: None, sign, ink, nudge });
        }
    }
    let marks = marks.into_iter().chain(line).collect();
    let x = Scale::linear(last_s, 10.0, "time since the window opened, s");
    PlotPanel { regions, ..PlotPanel::new(vec![course.title.clone()], (x, y), height, marks) }
}

fn table(courses: &[Course<'_>]) -> PlotTable {
    let reads = courses.iter().flat_map(|course| &course.timeline.reads).map(|point| point.per_s);
    let unit = RateUnit::for_largest(reads.fold(0.0, f64::max));
    let columns = ["cell", "repetition", "what", "from s", "to s", unit.name];
    let mut rows = Vec::new();
    for course in courses {
        let first = |what: &str, from_s: f64, to_s: f64, rate: String| {
            let rep = (course.timeline.rep + 1).to_string();
            vec![course.cell.clone(), rep, what.to_owned(), three_digits(from_s), three_digits(to_s), rate]
        };
        for span in &course.timeline.spans {
            let what = format!("checkpoint after step {}, {}", span.step, span.outcome);
            rows.push(first(&what, span.begun_s, span.durable_s, "-".to_owned()));
            if span.stalled_until_s > span.due_s {
                rows.push(first(
                    "accelerators stand still",
                    span.due_s,
                    span.stalled_until_s,
                    "-".to_owned(),
                ));
            }
        }
        let point =
            |point: &analysis::RatePoint| first("reads", point.from_s, point.to_s, unit.write(point.per_s));
        rows.extend(course.timeline.reads.iter().map(point));
    }
    PlotTable { columns: columns.map(str::to_owned).into(), rows }
}
