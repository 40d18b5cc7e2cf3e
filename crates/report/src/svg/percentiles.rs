//! Latency by percentile: one curve for each target and engine, which ends where ten operations are left.

use analysis::{CellSummary, PercentileCurve, Summary};
use plotters::prelude::*;

use super::chart::{Chart, height_around};
use super::drawn::{Drawn, Numbers, margin_of, packed, target_title};
use super::key::{self, Mark};
use super::margin::{self, MarginLabel};
use super::marker::{self, Canvas, Refusal};
use super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of};
use super::theme::Ink;
use super::{ticks, wording};
use crate::number::milliseconds;
use crate::plot::PlotTable;

/// Height of the plot.
const PLOT: i32 = 400;
/// Curves that can be told apart.
const CURVES_MAX: usize = 8;
/// What the plot shows, in its title.
const SHOWN: &str = "latency by percentile";

struct Course<'a> {
    number: usize,
    curve: &'a PercentileCurve,
    label: Vec<String>,
}

/// Draws the figure; `None` where no cell has a curve.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let courses = courses(summary);
    let latencies = || courses.iter().flat_map(|course| &course.curve.points).map(|point| point.1.max(1));
    let (low, high) = (latencies().min()?, latencies().max()?);
    let labels: Vec<Vec<String>> = courses.iter().map(|course| course.label.clone()).collect();
    let (margin_right, needed) = margin_of(std::iter::once(labels.as_slice()));
    let height = height_around(PLOT.max(needed), 0);
    let last =
        courses.iter().filter_map(|course| course.curve.points.last()).map(|point| ticks::nines_of(point.0));
    let x = ticks::nines(last.fold(0.1, f64::max), "share of the operations that took no longer");
    let chart = Chart {
        place: (EDGE, 0, WIDTH - 2 * EDGE, height),
        margin_right,
        title: Vec::new(),
        x,
        y: ticks::times(low as f64, high as f64, "latency, log scale"),
    };
    let key = key::flow(entries(summary, &courses), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, courses.len());
    let svg = sheet.drawn(height, &key, |canvas, top| {
        let place = (EDGE, top, WIDTH - 2 * EDGE, height);
        draw_chart(canvas, &Chart { place, ..chart }, &courses)
    });
    Some(Drawn { name: "percentiles", shown: SHOWN, svg, table: table(summary, &courses) })
}

fn sheet(summary: &Summary, shown: usize) -> Sheet {
    let mut conditions =
        vec!["all interleaved repetitions together, for display alone: the repetition, not the read, is the sample of every interval".to_owned()];
    let all = summary.percentiles.len();
    if shown < all {
        conditions.push(format!("{shown} of {all} curves, those of judged cells first"));
    }
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn courses(summary: &Summary) -> Vec<Course<'_>> {
    let mut numbers = Numbers::of(summary);
    let mut found: Vec<(bool, Course<'_>)> = Vec::new();
    for curve in &summary.percentiles {
        let Some(cell) = summary.cell(&curve.cell) else { continue };
        // A response shares the cell of a service and must not share its marker and dash.
        let number = numbers.number(summary, cell) + if curve.is_response { CURVES_MAX } else { 0 };
        let course = Course { number, curve, label: label(summary, cell, curve) };
        found.push((!summary.is_judged(cell), course));
    }
    // Stable: judged cells first, each group in the order of the scenario.
    found.sort_by_key(|course| course.0);
    found.truncate(CURVES_MAX);
    found.into_iter().map(|course| course.1).collect()
}

fn label(summary: &Summary, cell: &CellSummary, curve: &PercentileCurve) -> Vec<String> {
    let end = curve.points.last().map_or(0.0, |point| point.0);
    let (title, engine) = (target_title(summary, &cell.cell.target), cell.engine_label());
    let name = if title.ends_with(&engine) { title } else { format!("{title} {engine}") };
    let mut parts = vec![name, format!("depth {}", cell.cell.queue_depth)];
    if cell.cell.training.is_some() {
        parts.push("training job".to_owned());
    }
    if cell.cell.pace.is_some() {
        parts.push(kind(curve).to_owned());
    }
    let until = if curve.ends_unserved { "served to" } else { "to" };
    parts.push(format!("{until} {}", ticks::quantile_words(end)));
    packed(&parts.join(", "))
}

fn kind(curve: &PercentileCurve) -> &'static str {
    if curve.is_response { "response" } else { "service" }
}

fn entries(summary: &Summary, courses: &[Course<'_>]) -> Vec<(Mark, String)> {
    let mut found = vec![(Mark::Point, "end: 10 of the n operations are left, at 1 - 10/n".to_owned())];
    if courses.iter().any(|course| course.curve.ends_unserved) {
        found.push((Mark::Hollow, "end: what is beyond was never served".to_owned()));
    }
    let is_paced =
        |course: &Course<'_>| summary.cell(&course.curve.cell).is_some_and(|cell| cell.cell.pace.is_some());
    if courses.iter().any(is_paced) {
        let words = "service: from the submission; response: from the intended start, over all arrivals";
        found.push((Mark::Nothing, words.to_owned()));
    }
    found
}

fn draw_chart(canvas: &Canvas<'_>, chart: &Chart, courses: &[Course<'_>]) -> Result<(), Refusal> {
    chart.frame(canvas)?;
    let mut labels = Vec::new();
    for course in courses {
        let log = |ns: u64| (ns.max(1) as f64).log10();
        let mut path: Vec<(i32, i32)> =
            course.curve.points.iter().map(|(q, ns)| chart.px(ticks::nines_of(*q), log(*ns))).collect();
        path.dedup();
        let (Some(end), Some(last)) = (path.last().copied(), course.curve.points.last()) else { continue };
        canvas.draw(&PathElement::new(path, Ink::Curve(course.number).sentinel().stroke_width(2)))?;
        marker::point(canvas, end, course.number, course.curve.ends_unserved)?;
        let y = chart.height_of(log(last.1));
        let ink = Ink::Series(course.number);
        labels.push(MarginLabel { lines: course.label.clone(), ink, y, end: Some(end) });
    }
    margin::draw(canvas, &labels, chart.across().end, &chart.down())
}

/// Percentiles of the table, as shares.
const TABLE: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999];

fn table(summary: &Summary, courses: &[Course<'_>]) -> PlotTable {
    let mut columns: Vec<String> =
        ["target", "engine", "depth", "latency", "operations"].map(str::to_owned).to_vec();
    columns.extend(TABLE.map(|q| format!("p{} ms", ticks::quantile_words(q).trim_end_matches(" %"))));
    columns.extend(["last percentile, %", "last, ms"].map(str::to_owned));
    let row = |course: &Course<'_>| {
        let cell = summary.cell(&course.curve.cell)?;
        let last = course.curve.points.last()?;
        let mut row = vec![
            cell.cell.target.clone(),
            cell.engine_label(),
            cell.cell.queue_depth.to_string(),
            kind(course.curve).to_owned(),
            course.curve.count.to_string(),
        ];
        // The nearest point from above: a percentile is never told too low.
        let at = |q: f64| course.curve.points.iter().find(|point| point.0 >= q - 1e-9).map(|point| point.1);
        row.extend(TABLE.map(|q| milliseconds(at(q))));
        row.push(ticks::quantile_words(last.0).trim_end_matches(" %").to_owned());
        row.push(milliseconds(Some(last.1)));
        Some(row)
    };
    PlotTable { columns, rows: courses.iter().filter_map(row).collect() }
}
