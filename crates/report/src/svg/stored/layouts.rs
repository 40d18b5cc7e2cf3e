//! Samples per second of files and of shards against queue depth, a panel for each target and size of samples.

use analysis::{CellSummary, Curve, Distinction, Rate, Summary};

use super::super::canvas::Stroke;
use super::super::chart::{self, Chart, FEED_LINE, Label, Mark, PlotPanel, cut, height_of, packed, span_of};
use super::super::scale::{Extent, Scale};
use super::super::sign::Sample;
use super::super::theme::Ink;
use super::super::wording::target_title;
use super::title::layout;
use crate::group::place;
use crate::number::{grouped, three_digits, times};
use crate::plot::PlotTable;
use crate::stored::sample;
use crate::words::curve::{THROUGH_A_CACHE, distinctions};
use crate::words::form;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (380, 270);
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;

struct Target {
    /// Title of the target, and the samples where those of a run differ.
    name: String,
    series: Vec<Series>,
    /// Samples per second of the line.
    line: Option<f64>,
}

struct Series {
    /// The same for one way in all panels.
    number: usize,
    layout: String,
    /// Order, engine and what else tells it from others.
    way: String,
    points: Vec<Point>,
}

struct Point {
    cell: String,
    depth: u32,
    rate: Rate,
    is_hollow: bool,
}

/// Describes the plot; `None` where no samples were read in two layouts.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let mut targets = targets(summary);
    let limit = cut(&mut targets, PANELS_MAX, "panels");
    let marks: Vec<Vec<Mark>> = targets.iter().map(marks).collect();
    let extent = marks.iter().map(|marks| Mark::heights(marks)).fold(Extent::EMPTY, Extent::with);
    if extent.is_empty() {
        return None;
    }
    // By decades: shards deliver small samples a hundred times as fast as files.
    let y = Scale::decades(extent.low / 1.2, extent.high * 1.2, "samples/s, log scale", grouped);
    let of_panel = |(target, marks): (&Target, Vec<Mark>)| {
        let depths = target.series.iter().flat_map(|series| &series.points).map(|point| point.depth);
        let x = Scale::counts(depths, "queue depth (reads outstanding in the client)");
        let title = vec![target.name.clone()];
        PlotPanel::new(title, (x, y.clone()), height_of(targets.len(), PLOT), marks)
            .starving_below(target.line)
            .labelled(labels(target))
    };
    let panels = targets.iter().zip(marks).map(of_panel).collect();
    let heading = ("layouts", "samples per second of files and shards");
    let chart = Chart::of(summary, heading, conditions(summary).into_iter().chain(limit))
        .with(panels, table(summary, &targets))
        .key_of_means(summary.head.repetitions)
        .key(Sample::HOLLOW, "hollow: client-limited, not valid or a DEMO")
        .key(Sample::Stroke(FEED_LINE), "feed line")
        .key(Sample::STARVING, "below it accelerators starve");
    Some(chart)
}

fn targets(summary: &Summary) -> Vec<Target> {
    let mut ways: Vec<String> = Vec::new();
    let mut targets: Vec<Target> = Vec::new();
    let in_panels = summary.panels.iter().flat_map(|panel| panel.curves.iter().filter(|curve| curve.storage));
    for curve in in_panels {
        for index in &curve.cells {
            let Some(cell) = summary.cells.get(*index) else { continue };
            add(summary, &mut targets, &mut ways, (cell, curve));
        }
    }
    for series in targets.iter_mut().flat_map(|panel| &mut panel.series) {
        series.points.sort_by_key(|point| point.depth);
    }
    let layouts = |panel: &Target| {
        let first = panel.series.first().map(|series| series.layout.as_str());
        panel.series.iter().any(|series| Some(series.layout.as_str()) != first)
    };
    // A target of one layout compares nothing, and has its curve in the plot of throughput.
    targets.retain(layouts);
    targets
}

fn add(
    summary: &Summary,
    targets: &mut Vec<Target>,
    ways: &mut Vec<String>,
    (cell, curve): (&CellSummary, &Curve),
) {
    let Some(figures) = cell.figures().filter(|figures| figures.samples_per_s.mean > 0.0) else { return };
    let (layout, way) = (layout(summary, cell).to_owned(), way(cell, curve));
    let name = format!("{layout} {way}");
    let number = place(ways, |known| *known == name, || name.clone());
    // Samples of another size are no other point of a curve.
    let target = match sample(summary, cell) {
        Some(sample) => format!("{}, {sample}", target_title(summary, &cell.cell.target)),
        None => target_title(summary, &cell.cell.target),
    };
    let made = || Target { name: target.clone(), series: Vec::new(), line: None };
    let at = place(targets, |panel| panel.name == target, made);
    let panel = &mut targets[at];
    panel.line = panel.line.or(cell.line.map(|line| line.samples_per_s)).filter(|line| *line > 0.0);
    let point = Point {
        cell: cell.cell.cell.clone(),
        depth: cell.cell.queue_depth,
        rate: figures.samples_per_s,
        is_hollow: curve.demo || figures.is_client_limited() || !figures.is_valid(),
    };
    match panel.series.iter_mut().find(|series| series.number == number) {
        Some(series) => series.points.push(point),
        None => panel.series.push(Series { number, layout, way, points: vec![point] }),
    }
}

/// What tells a curve from others of its layout: form, order, engine, and what else its cells do not share with all.
fn way(cell: &CellSummary, curve: &Curve) -> String {
    let told = Some(distinctions(curve)).filter(|words| !words.is_empty());
    let is_told = curve.distinctions.contains(&Distinction::ThroughCache);
    let tier = cell.cell.tier.as_ref().filter(|_| !is_told);
    let tier = tier.map(|tier| format!("{THROUGH_A_CACHE} ({})", tier.policy));
    let parts = [
        form::of_cell(&cell.cell),
        Some(cell.cell.access.to_string()),
        Some(curve.engine.clone()),
        told,
        tier,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn conditions(summary: &Summary) -> Vec<String> {
    let mut conditions = vec!["each layout in the cells that read it in a closed loop".to_owned()];
    let most = summary.layouts.gains.iter().max_by(|a, b| a.gain.total_cmp(&b.gain));
    conditions.extend(most.map(|gain| {
        let predicted = gain.predicted.map(|one| format!("predicted G {} x (F18), ", times(one.gain)));
        let (predicted, measured) = (predicted.unwrap_or_default(), times(gain.gain));
        let (target, layout, depth) = (&gain.target, &gain.layout, gain.queue_depth);
        let cell = summary.cells.get(gain.packed);
        let of = cell.and_then(|cell| sample(summary, cell)).map_or_else(String::new, |sample| format!(" of {sample}"));
        let form = cell.and_then(|cell| form::of_cell(&cell.cell));
        let form = form.map_or_else(String::new, |form| format!(" ({form})"));
        format!(
            "{target}: {layout}{form} gains most over files{of} at depth {depth}: {predicted}measured G {measured} x"
        )
    }));
    conditions
}

impl Point {
    /// Its samples per second by its depth; an interval that reaches zero has no logarithm, and ends at the mean.
    fn drawn(&self) -> chart::Point {
        let mean = self.rate.mean;
        let positive = |(low, high): (f64, f64)| (if low > 0.0 { low } else { mean }, high);
        let span = span_of(&self.rate).map(positive);
        chart::Point { at: (f64::from(self.depth), mean), span, is_hollow: self.is_hollow }
    }
}

fn marks(target: &Target) -> Vec<Mark> {
    let mut marks: Vec<Mark> = target.line.iter().map(|line| Mark::Across(*line, FEED_LINE)).collect();
    for series in &target.series {
        let points: Vec<chart::Point> = series.points.iter().map(Point::drawn).collect();
        marks.push(Mark::Line(chart::Point::line(&points), Stroke::curve(series.number)));
        marks.extend(points.iter().map(|point| Mark::point(point, series.number)));
    }
    marks
}

fn labels(target: &Target) -> Vec<Label> {
    let of_series = |series: &Series| {
        let end = series.points.last()?.drawn().at;
        let lines = std::iter::once(series.layout.clone()).chain(packed(&series.way)).collect();
        Some(Label::of_series(lines, series.number, end))
    };
    let of_line = |line: f64| {
        let lines = vec![format!("line {}", grouped(line)), "samples/s".to_owned()];
        Label::of_line(lines, Ink::Line, line)
    };
    target.series.iter().filter_map(of_series).chain(target.line.map(of_line)).collect()
}

fn table(summary: &Summary, targets: &[Target]) -> PlotTable {
    let columns =
        ["target", "layout", "way", "depth", "samples/s", "low", "high", "of line, %", "gain", "F18"];
    let mut rows = Vec::new();
    for target in targets {
        for series in &target.series {
            rows.extend(series.points.iter().map(|point| {
                let gain = summary.layouts.gains.iter().find(|gain| {
                    summary.cells.get(gain.packed).is_some_and(|cell| cell.cell.cell == point.cell)
                });
                let known = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), times);
                let share = target.line.map(|line| three_digits(point.rate.mean / line * 100.0));
                vec![
                    target.name.clone(),
                    series.layout.clone(),
                    series.way.clone(),
                    point.depth.to_string(),
                    grouped(point.rate.mean),
                    point.rate.interval.map_or_else(|| "-".to_owned(), |interval| grouped(interval.low)),
                    point.rate.interval.map_or_else(|| "-".to_owned(), |interval| grouped(interval.high)),
                    share.unwrap_or_else(|| "-".to_owned()),
                    known(gain.map(|gain| gain.gain)),
                    known(gain.and_then(|gain| gain.predicted).map(|predicted| predicted.gain)),
                ]
            }));
        }
    }
    PlotTable { columns: columns.map(str::to_owned).into(), rows }
}
