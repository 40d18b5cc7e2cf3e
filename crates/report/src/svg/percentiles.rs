//! Latency by percentile: one curve for each target and engine, which ends where ten operations are left.

use analysis::{CellSummary, PercentileCurve, Summary};

use super::canvas::Stroke;
use super::chart::{At, Chart, Label, Mark, PlotPanel, packed};
use super::curves::Numbers;
use super::scale::{Scale, quantile_words};
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::wording::target_title;
use crate::number::milliseconds;
use crate::plot::PlotTable;
use crate::words::form;

/// Height of the plot.
const PLOT: i32 = 400;
/// Curves that can be told apart.
// Eight colours are told apart, as many as the palette has.
const CURVES_MAX: usize = 8;

struct Course<'a> {
    number: usize,
    curve: &'a PercentileCurve,
    label: Vec<String>,
}

/// Describes the plot; `None` where no cell has a curve.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let courses = courses(summary);
    let marks: Vec<Mark> = courses.iter().flat_map(marks).collect();
    let heights = Mark::heights(&marks);
    if heights.is_empty() {
        return None;
    }
    let x = Scale::quantiles(Mark::widths(&marks).high, "share of the operations that took no longer");
    let y = Scale::times(heights, "latency, log scale");
    let label = |course: &Course<'_>| {
        let end = points(course.curve).last()?;
        Some(Label::of_series(course.label.clone(), course.number, end))
    };
    let panel =
        PlotPanel::new(Vec::new(), (x, y), PLOT, marks).labelled(courses.iter().filter_map(label).collect());
    let mut conditions =
        vec!["all interleaved repetitions together, for display alone: the repetition, not the read, is the sample of every interval".to_owned()];
    let all = summary.percentiles.len();
    if courses.len() < all {
        conditions.push(format!("{} of {all} curves, those of judged cells first", courses.len()));
    }
    let is_paced =
        |course: &Course<'_>| summary.cell(&course.curve.cell).is_some_and(|cell| cell.cell.pace.is_some());
    let chart = Chart::of(summary, ("percentiles", "latency by percentile"), conditions)
        .with(vec![panel], table(summary, &courses))
        .key(Sample::Sign(Sign::Point), "end: 10 of the n operations are left, at 1 - 10/n")
        .key(Sample::HOLLOW, "end: what is beyond was never served")
        .key_if(
            courses.iter().any(is_paced),
            Sample::Nothing,
            "service: from the submission; response: from the intended start, over all arrivals",
        );
    Some(chart)
}

fn courses(summary: &Summary) -> Vec<Course<'_>> {
    let mut numbers = Numbers::of(summary);
    let mut found: Vec<(bool, Course<'_>)> = Vec::new();
    for curve in &summary.percentiles {
        let Some(cell) = summary.cell(&curve.cell) else { continue };
        // A response shares the cell of a service and must not share its marker and dash.
        let number = numbers.number(cell) + if curve.is_response { CURVES_MAX } else { 0 };
        let course = Course { number, curve, label: label(summary, cell, curve) };
        found.push((!summary.is_judged(cell), course));
    }
    // Stable: judged cells first, each group in the order of the scenario.
    found.sort_by_key(|course| course.0);
    found.truncate(CURVES_MAX);
    found.into_iter().map(|course| course.1).collect()
}

/// Shares with their latencies, nanoseconds.
fn points(curve: &PercentileCurve) -> impl Iterator<Item = At> {
    // A clock may tell no time between two stamps, and zero has no logarithm.
    curve.points.iter().map(|(q, ns)| (*q, (*ns).max(1) as f64))
}

fn marks(course: &Course<'_>) -> Vec<Mark> {
    let points: Vec<At> = points(course.curve).collect();
    let sign = if course.curve.ends_unserved { Sign::Hollow } else { Sign::Point };
    let end = points.last().map(|end| Mark::sign(*end, sign, Ink::Series(course.number)));
    [Mark::Line(points, Stroke::curve(course.number))].into_iter().chain(end).collect()
}

fn label(summary: &Summary, cell: &CellSummary, curve: &PercentileCurve) -> Vec<String> {
    let end = curve.points.last().map_or(0.0, |point| point.0);
    let (title, engine) = (target_title(summary, &cell.cell.target), cell.engine_label());
    // A title that names its engine already need not say it twice.
    let name = if title.ends_with(&engine) { title } else { format!("{title} {engine}") };
    let mut parts = vec![name, format!("depth {}", cell.cell.queue_depth)];
    parts.extend(form::of_cell(&cell.cell));
    if cell.cell.training.is_some() {
        parts.push("training job".to_owned());
    }
    if cell.cell.pace.is_some() {
        parts.push(kind(curve).to_owned());
    }
    let until = if curve.ends_unserved { "served to" } else { "to" };
    parts.push(format!("{until} {}", quantile_words(end)));
    packed(&parts.join(", "))
}

fn kind(curve: &PercentileCurve) -> &'static str {
    if curve.is_response { "response" } else { "service" }
}

/// Percentiles of the table, as shares.
const TABLE: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999];

fn table(summary: &Summary, courses: &[Course<'_>]) -> PlotTable {
    let mut columns: Vec<String> =
        ["target", "engine", "depth", "latency", "operations"].map(str::to_owned).to_vec();
    columns.extend(TABLE.map(|q| format!("p{} ms", quantile_words(q).trim_end_matches(" %"))));
    columns.extend(["last percentile, %", "last, ms"].map(str::to_owned));
    let form = |course: &Course<'_>| form::of_cell(&summary.cell(&course.curve.cell)?.cell);
    // Most scenarios have one form, which is no part of a cell.
    let has_forms = courses.iter().any(|course| form(course).is_some());
    columns.extend(has_forms.then(|| "form".to_owned()));
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
        row.push(quantile_words(last.0).trim_end_matches(" %").to_owned());
        row.push(milliseconds(Some(last.1)));
        row.extend(has_forms.then(|| form(course).unwrap_or_default()));
        Some(row)
    };
    PlotTable { columns, rows: courses.iter().filter_map(row).collect() }
}
