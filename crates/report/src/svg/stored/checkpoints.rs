//! What the reads of a training job do second by second while checkpoints are written, and when accelerators stand still.

use analysis::{CheckpointSpan, CheckpointTimeline, CheckpointedJob, Summary};
use plotters::prelude::*;

use super::super::axis::{Extent, RateAxis};
use super::super::chart::{Axis, Chart, height_around};
use super::super::drawn::{Drawn, places};
use super::super::key::{self, Mark};
use super::super::marker::{self, Canvas, Refusal};
use super::super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of};
use super::super::theme::{Ink, STARVING_OPACITY};
use super::super::{ticks, wording};
use super::title;
use crate::number::{RateUnit, cut_percent, three_digits};
use crate::plain::shortened;
use crate::plot::PlotTable;

/// Height of the plot of one job, and of each of several.
const PLOT: (i32, i32) = (320, 200);
/// Jobs that one figure holds.
const PANELS_MAX: usize = 4;
/// Height of the band at the top that shows stalls, pixels.
const BAND: i32 = 12;
/// What the plot shows, in its title.
const SHOWN: &str = "reads beside checkpoints";

struct Panel<'a> {
    title: String,
    cell: String,
    timeline: &'a CheckpointTimeline,
}

/// Draws the figure; `None` where no job made a checkpoint in a repetition with seconds.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let panel = |job| panel(summary, job);
    let mut panels: Vec<Panel<'_>> = summary.checkpoints.jobs.iter().filter_map(panel).collect();
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    if panels.is_empty() {
        return None;
    }
    let height = height_around(if panels.len() == 1 { PLOT.0 } else { PLOT.1 }, 1);
    let key = key::flow(entries(&panels), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, &panels, all);
    let svg = sheet.drawn(panels.len() as i32 * height, &key, |canvas, top| {
        for (panel, place) in panels.iter().zip(places(panels.len(), 1, height, top)) {
            draw_panel(canvas, panel, place)?;
        }
        Ok(())
    });
    Some(Drawn { name: "checkpoints", shown: SHOWN, svg, table: table(&panels) })
}

fn panel<'a>(summary: &Summary, job: &'a CheckpointedJob) -> Option<Panel<'a>> {
    let timeline = job.timeline.as_ref().filter(|one| !one.reads.is_empty() && one.window_s > 0.0)?;
    let cell = summary.cells.get(job.cell)?;
    let without = job.without.map(|without| format!(" ({} % without)", cut_percent(without.au.mean)));
    let au = job.au.map(|au| format!(": AU {} %{}", cut_percent(au.mean), without.unwrap_or_default()));
    let title = shortened(&title(summary, cell), 90) + &au.unwrap_or_default();
    Some(Panel { title, cell: cell.cell.cell.clone(), timeline })
}

fn sheet(summary: &Summary, panels: &[Panel<'_>], all: usize) -> Sheet {
    let mut conditions =
        vec!["one repetition of each job; read throughput is the mean of each second".to_owned()];
    conditions.extend((panels.len() < all).then(|| format!("the first {} of {all} jobs", panels.len())));
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn entries(panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let any =
        |test: fn(&CheckpointSpan) -> bool| panels.iter().flat_map(|panel| &panel.timeline.spans).any(test);
    let mut found = vec![(Mark::Nothing, "line: read throughput".to_owned())];
    if any(|span| span.durable_s > span.begun_s) {
        found.push((Mark::Starving, "a checkpoint is written and published".to_owned()));
    }
    if any(|span| span.stalled_until_s > span.due_s) {
        found.push((Mark::Barrier, "at the top: accelerators stand still for it".to_owned()));
    }
    if any(|span| span.outcome != "whole") {
        found.push((Mark::Cross, "due, and overrun, unfinished or failed".to_owned()));
    }
    found
}

fn rates(panel: &Panel<'_>) -> (Axis, RateAxis) {
    let high = panel.timeline.reads.iter().map(|point| point.per_s).fold(0.0, f64::max);
    // Room for the band of stalls above the line.
    ticks::rates(Extent { high: high * 1.12, low: 0.0, low_peak: high }, "reads")
}

fn draw_panel(canvas: &Canvas<'_>, panel: &Panel<'_>, place: (i32, i32, i32, i32)) -> Result<(), Refusal> {
    let timeline = panel.timeline;
    let last_s = timeline.reads.iter().map(|point| point.to_s).fold(timeline.window_s, f64::max);
    let x = ticks::linear(last_s, 10.0, "time since the window opened, s");
    let (y, rates) = rates(panel);
    let chart = Chart { place, margin_right: 18, title: vec![panel.title.clone()], x, y };
    let down = chart.down();
    let at = |seconds: f64| chart.px(seconds.clamp(0.0, chart.x.high), chart.y.low).0;
    for span in &timeline.spans {
        let (from, to) = (at(span.begun_s), at(span.durable_s));
        if to > from {
            marker::block(canvas, ((from, down.start), (to, down.end)), Ink::Starving, STARVING_OPACITY)?;
        }
    }
    chart.frame(canvas)?;
    for span in &timeline.spans {
        let (from, to) = (at(span.due_s), at(span.stalled_until_s));
        if to > from {
            let corners = ((from, down.start), (to, down.start + BAND));
            marker::block(canvas, corners, Ink::Muted, marker::BARRIER_OPACITY)?;
        }
        if span.outcome != "whole" {
            marker::cross(canvas, (from.max(chart.across().start + 5), down.start + BAND + 9), Ink::Line)?;
        }
    }
    // Each second is a step: a slope between two would claim what was not counted.
    let steps: Vec<(i32, i32)> = timeline
        .reads
        .iter()
        .flat_map(|point| {
            [point.from_s, point.to_s].map(|seconds| chart.px(seconds, rates.place(point.per_s)))
        })
        .collect();
    canvas.draw(&PathElement::new(steps, Ink::Series(0).sentinel().stroke_width(2)))
}

fn table(panels: &[Panel<'_>]) -> PlotTable {
    let reads = panels.iter().flat_map(|panel| &panel.timeline.reads).map(|point| point.per_s);
    let unit = RateUnit::for_largest(reads.fold(0.0, f64::max));
    let columns = ["cell", "repetition", "what", "from s", "to s", unit.name];
    let mut rows = Vec::new();
    for panel in panels {
        let first = |what: &str, from_s: f64, to_s: f64, rate: String| {
            let rep = (panel.timeline.rep + 1).to_string();
            vec![panel.cell.clone(), rep, what.to_owned(), three_digits(from_s), three_digits(to_s), rate]
        };
        for span in &panel.timeline.spans {
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
        rows.extend(panel.timeline.reads.iter().map(point));
    }
    PlotTable { columns: columns.map(str::to_owned).into(), rows }
}
