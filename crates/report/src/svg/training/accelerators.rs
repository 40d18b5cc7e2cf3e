//! Utilization by the number of accelerators: a panel for each target, a curve for each way of fetching.

use analysis::Summary;
use plotters::prelude::*;

use super::super::axis::DepthAxis;
use super::super::chart::{Axis, Chart, height_around, length};
use super::super::drawn::packed;
use super::super::key::{self, Mark};
use super::super::margin::{self, MarginLabel};
use super::super::marker::{self, Canvas, Refusal};
use super::super::sheet::{EDGE, LETTER_BY_SIZE, WIDTH};
use super::super::theme::{Ink, STARVING_OPACITY};
use super::{shared_but_accelerators, sheet, target};
use crate::number::cut_percent;
use crate::side;
use crate::training::{Job, jobs};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 250);
/// Steps of the axis of utilization.
const STEP: f64 = 0.2;

struct Panel<'a> {
    target: String,
    series: Vec<Series<'a>>,
}

/// Jobs that differ in their accelerators alone.
struct Series<'a> {
    /// The same for one way in all panels.
    number: usize,
    way: String,
    jobs: Vec<Job<'a>>,
}

/// Draws the figure; `None` where no target was measured with more than one number of accelerators.
pub(super) fn draw(summary: &Summary) -> Option<Result<String, String>> {
    let jobs = jobs(summary);
    let panels = panels(summary, &jobs);
    if panels.is_empty() {
        return None;
    }
    let sheet = sheet(summary, "utilization by accelerators", shared_but_accelerators(&jobs));
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let labels: Vec<Vec<Vec<String>>> = panels.iter().map(labels).collect();
    let longest = labels.iter().flatten().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let margin_right = (longest as f64 * 12.0 * LETTER_BY_SIZE) as i32 + 30;
    let needed = labels.iter().map(|of| of.iter().map(|lines| margin::height(lines)).sum::<f64>() as i32);
    let plot = needed.fold(if columns == 1 { PLOT.0 } else { PLOT.1 }, i32::max);
    let (width, height) = ((WIDTH - 2 * EDGE) / columns, height_around(plot, 1));
    let rows = (panels.len() as i32 + columns - 1) / columns;
    let key = key::flow(entries(summary, &panels), WIDTH - 2 * EDGE);
    Some(sheet.drawn(rows * height, &key, |canvas, top| {
        for (index, (panel, labels)) in (0_i32..).zip(panels.iter().zip(&labels)) {
            let (column, row) = (index % columns, index / columns);
            let place = (EDGE + column * width, top + row * height, width, height);
            draw_panel(canvas, panel, labels, (place, margin_right))?;
        }
        Ok(())
    }))
}

fn panels<'a>(summary: &Summary, jobs: &[Job<'a>]) -> Vec<Panel<'a>> {
    let mut ways: Vec<String> = Vec::new();
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for job in jobs {
        let target = target(summary, job.cell);
        let is_alike = |other: &&Job<'_>| other.cell.cell.target == job.cell.cell.target;
        let of_target: Vec<_> = jobs.iter().filter(is_alike).copied().collect();
        let way = way(job, &of_target);
        let number = ways.iter().position(|known| *known == way).unwrap_or_else(|| {
            ways.push(way.clone());
            ways.len() - 1
        });
        let at = panels.iter().position(|panel| panel.target == target).unwrap_or_else(|| {
            panels.push(Panel { target, series: Vec::new() });
            panels.len() - 1
        });
        let series = &mut panels[at].series;
        match series.iter_mut().find(|series| series.number == number) {
            Some(series) => series.jobs.push(*job),
            None => series.push(Series { number, way, jobs: vec![*job] }),
        }
    }
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.jobs.sort_by_key(|job| job.plan.accelerators);
    }
    panels.retain(|panel| numbers(panel).len() > 1);
    panels
}

/// Engine, fetch and prefetch of a job, and its other settings where those of its target differ.
fn way(job: &Job<'_>, of_target: &[Job<'_>]) -> String {
    let cells: Vec<_> = of_target.iter().map(|job| job.cell).collect();
    let engine = job.cell.engine_label();
    let engine = of_target.iter().any(|other| other.cell.engine_label() != engine).then_some(engine);
    // The depth of reads that share one grows with the accelerators; it is not what tells the ways apart.
    let fetch = match job.plan.readers {
        Some(readers) => feed::counted_noun(readers.into(), "reader"),
        None => "shared".to_owned(),
    };
    let settings = format!("{fetch}, prefetch {}", job.plan.prefetch);
    let parts = engine.into_iter().chain([settings, side::apart(job.cell, &cells)]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The numbers of accelerators of a panel, sorted.
fn numbers(panel: &Panel<'_>) -> Vec<u32> {
    let jobs = panel.series.iter().flat_map(|series| &series.jobs);
    let mut numbers: Vec<u32> = jobs.map(|job| job.plan.accelerators).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The thresholds of a panel: one, unless it was varied.
fn thresholds(panel: &Panel<'_>) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for job in panel.series.iter().flat_map(|series| &series.jobs) {
        if !found.contains(&job.plan.threshold) {
            found.push(job.plan.threshold);
        }
    }
    found
}

fn labels(panel: &Panel<'_>) -> Vec<Vec<String>> {
    let ways = panel.series.iter().map(|series| packed(&series.way));
    let lines = thresholds(panel).into_iter().map(|share| vec![format!("AU {} %", whole(share))]);
    ways.chain(lines).collect()
}

/// `90`, `92.5`.
fn whole(share: f64) -> String {
    let percent = cut_percent(share);
    percent.strip_suffix(".0").map_or(percent.clone(), str::to_owned)
}

fn entries(summary: &Summary, panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let jobs = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.jobs);
    let repetitions = summary.head.repetitions;
    let mut found = if jobs().any(|job| job.training.au.interval.is_some()) {
        vec![(Mark::Interval, format!("mean of {repetitions} repetitions, 95 % interval"))]
    } else {
        vec![(Mark::Point, "mean; too few repetitions for an interval".to_owned())]
    };
    if jobs().any(|job| is_hollow(job)) {
        found.push((Mark::Hollow, "hollow: client-limited or not valid, see the table".to_owned()));
    }
    if jobs().any(|job| job.training.predicted.is_some()) {
        found.push((Mark::Predicted, "dash: predicted from reads in a closed loop".to_owned()));
    }
    found.push((Mark::Starving, "below the threshold: accelerators starve".to_owned()));
    found
}

fn is_hollow(job: &Job<'_>) -> bool {
    job.figures.is_client_limited() || !job.figures.is_valid()
}

/// An axis from 0 to 100 %, wider only where an interval is.
fn utilization(panel: &Panel<'_>) -> Axis {
    let jobs = || panel.series.iter().flat_map(|series| &series.jobs);
    let spans = || jobs().map(|job| job.training.au.span());
    let predicted = || jobs().filter_map(|job| job.training.predicted.as_ref().map(|predicted| predicted.au));
    let low = spans().map(|span| span.0).chain(predicted()).fold(0.0, f64::min);
    let high = spans().map(|span| span.1).chain(predicted()).fold(1.0, f64::max);
    let (low, high) = (if low < 0.0 { low - 0.02 } else { 0.0 }, high + 0.02);
    let (first, last) = ((low / STEP).ceil() as i32, (high / STEP).floor() as i32);
    let ticks = (first..=last).map(|step| (f64::from(step) * STEP, (20 * step).to_string())).collect();
    Axis { low, high, ticks, words: "accelerator utilization (AU), %".to_owned() }
}

fn draw_panel(
    canvas: &Canvas<'_>,
    panel: &Panel<'_>,
    labels: &[Vec<String>],
    (place, margin_right): ((i32, i32, i32, i32), i32),
) -> Result<(), Refusal> {
    let numbers = DepthAxis::of(numbers(panel));
    let ticks = numbers.tick_places(length(place.2, margin_right));
    let ticks = ticks.into_iter().map(|place| (place, DepthAxis::tick_label(place))).collect();
    let words = "accelerators on this client".to_owned();
    let chart = Chart {
        place,
        margin_right,
        title: vec![panel.target.clone()],
        x: Axis { low: numbers.low, high: numbers.high, ticks, words },
        y: utilization(panel),
    };
    let (across, down) = (chart.across(), chart.down());
    let thresholds = thresholds(panel);
    let height = |share: f64| chart.height_of(share).round() as i32;
    if let Some(lowest) = thresholds.iter().copied().reduce(f64::min) {
        let corners = ((across.start, height(lowest)), (across.end, down.end));
        marker::block(canvas, corners, Ink::Starving, STARVING_OPACITY)?;
    }
    chart.frame(canvas)?;
    for share in &thresholds {
        marker::dashes(canvas, (across.start, across.end), height(*share), (Ink::Line, 2))?;
    }
    for series in &panel.series {
        draw_series(canvas, &chart, series, &numbers)?;
    }
    let of_series = |series: &Series<'_>| {
        let last = series.jobs.last()?;
        let au = last.training.au.mean;
        let end = chart.px(numbers.place(last.plan.accelerators), au);
        Some((Ink::Series(series.number), chart.height_of(au), Some(end)))
    };
    let of_line = |share: &f64| (Ink::Line, chart.height_of(*share), None);
    let named = panel.series.iter().filter_map(of_series).chain(thresholds.iter().map(of_line));
    let labels: Vec<MarginLabel> = named
        .zip(labels)
        .map(|((ink, y, end), lines)| MarginLabel { lines: lines.clone(), ink, y, end })
        .collect();
    margin::draw(canvas, &labels, across.end, &down)
}

fn draw_series(
    canvas: &Canvas<'_>,
    chart: &Chart,
    series: &Series<'_>,
    numbers: &DepthAxis,
) -> Result<(), Refusal> {
    let at = |job: &Job<'_>, au: f64| chart.px(numbers.place(job.plan.accelerators), au);
    let points: Vec<(i32, i32)> = series.jobs.iter().map(|job| at(job, job.training.au.mean)).collect();
    let style = Ink::Curve(series.number).sentinel().stroke_width(2);
    canvas.draw(&PathElement::new(points, style))?;
    let ink = Ink::Series(series.number);
    for job in &series.jobs {
        let au = &job.training.au;
        if let Some(predicted) = &job.training.predicted {
            marker::dash(canvas, at(job, predicted.au), ink)?;
        }
        let point = at(job, au.mean);
        if au.interval.is_some() {
            let (low, high) = au.span();
            marker::whisker(canvas, point.0, (at(job, low).1, at(job, high).1), ink)?;
        }
        marker::point(canvas, point, series.number, is_hollow(job))?;
    }
    Ok(())
}
