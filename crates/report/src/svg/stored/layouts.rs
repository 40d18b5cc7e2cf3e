//! Samples per second of files and of shards against queue depth, a panel for each target and size of samples.

use analysis::{CellSummary, Curve, Rate, Summary};
use plotters::prelude::*;

use super::super::axis::DepthAxis;
use super::super::chart::{Axis, Chart, height_around, length};
use super::super::drawn::{Drawn, margin_of, packed, places, rows, target_title};
use super::super::key::{self, Mark};
use super::super::margin::{self, MarginLabel};
use super::super::marker::{self, Canvas, Refusal};
use super::super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of};
use super::super::theme::{Ink, STARVING_OPACITY};
use super::super::{ticks, wording};
use super::layout;
use crate::number::{grouped, three_digits, times};
use crate::plot::PlotTable;
use crate::stored::sample;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (380, 270);
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;
/// What the plot shows, in its title.
const SHOWN: &str = "samples per second of files and shards";

/// Words of a cell that has a cache tier.
const THROUGH_A_CACHE: &str = "through a cache";

struct Panel {
    /// Title of the target, and the samples where those of a run differ.
    target: String,
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

/// Draws the figure; `None` where no samples were read in two layouts.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let mut panels = panels(summary);
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    let y = axis(&panels)?;
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let labels: Vec<Vec<Vec<String>>> = panels.iter().map(labels).collect();
    let (margin_right, needed) = margin_of(labels.iter().map(Vec::as_slice));
    let height = height_around(if columns == 1 { PLOT.0 } else { PLOT.1 }.max(needed), 1);
    let key = key::flow(entries(summary, &panels), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, panels.len(), all);
    let svg = sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        let places = places(panels.len(), columns, height, top);
        for ((panel, labels), place) in panels.iter().zip(&labels).zip(places) {
            draw_panel(canvas, panel, labels, (place, margin_right, &y))?;
        }
        Ok(())
    });
    Some(Drawn { name: "layouts", shown: SHOWN, svg, table: table(summary, &panels) })
}

fn panels(summary: &Summary) -> Vec<Panel> {
    let mut ways: Vec<String> = Vec::new();
    let mut panels: Vec<Panel> = Vec::new();
    let in_panels = summary.panels.iter().flat_map(|panel| panel.curves.iter().filter(|curve| curve.storage));
    for curve in in_panels {
        for index in &curve.cells {
            let Some(cell) = summary.cells.get(*index) else { continue };
            add(summary, &mut panels, &mut ways, (cell, curve));
        }
    }
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.points.sort_by_key(|point| point.depth);
    }
    let layouts = |panel: &Panel| {
        let first = panel.series.first().map(|series| series.layout.as_str());
        panel.series.iter().any(|series| Some(series.layout.as_str()) != first)
    };
    panels.retain(layouts);
    panels
}

fn add(
    summary: &Summary,
    panels: &mut Vec<Panel>,
    ways: &mut Vec<String>,
    (cell, curve): (&CellSummary, &Curve),
) {
    let Some(figures) = cell.figures().filter(|figures| figures.samples_per_s.mean > 0.0) else { return };
    let (layout, way) = (layout(summary, cell).to_owned(), way(cell, curve));
    let name = format!("{layout} {way}");
    let number = ways.iter().position(|known| *known == name).unwrap_or_else(|| {
        ways.push(name);
        ways.len() - 1
    });
    // Samples of another size are no other point of a curve.
    let target = match sample(summary, cell) {
        Some(sample) => format!("{}, {sample}", target_title(summary, &cell.cell.target)),
        None => target_title(summary, &cell.cell.target),
    };
    let at = panels.iter().position(|panel| panel.target == target).unwrap_or_else(|| {
        panels.push(Panel { target, series: Vec::new(), line: None });
        panels.len() - 1
    });
    let panel = &mut panels[at];
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

/// What tells a curve from others of its layout: order, engine, and what else its cells do not share with all.
fn way(cell: &CellSummary, curve: &Curve) -> String {
    let told = Some(curve.distinction.clone()).filter(|words| !words.is_empty());
    let tier = cell.cell.tier.as_ref().filter(|_| !curve.distinction.contains(THROUGH_A_CACHE));
    let tier = tier.map(|tier| format!("{THROUGH_A_CACHE} ({})", tier.policy));
    let parts = [Some(cell.cell.access.to_string()), Some(curve.engine.clone()), told, tier];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn axis(panels: &[Panel]) -> Option<Axis> {
    let points = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let lines = || panels.iter().filter_map(|panel| panel.line);
    let low = points().map(|point| positive(point.rate)).chain(lines()).reduce(f64::min)?;
    let high = points().map(|point| point.rate.span().1).chain(lines()).reduce(f64::max)?;
    Some(ticks::decades(low / 1.2, high * 1.2, "samples/s, log scale", grouped))
}

/// The lower end of what is drawn of a rate: an interval that reaches zero has no logarithm.
fn positive(rate: Rate) -> f64 {
    let low = rate.span().0;
    if low > 0.0 { low } else { rate.mean }
}

fn sheet(summary: &Summary, shown: usize, all: usize) -> Sheet {
    let mut conditions = vec!["each layout in the cells that read it in a closed loop".to_owned()];
    let most = summary.layouts.gains.iter().max_by(|a, b| a.gain.total_cmp(&b.gain));
    conditions.extend(most.map(|gain| {
        let predicted = gain.predicted.map(|one| format!("predicted G {} x (F18), ", times(one.gain)));
        let (predicted, measured) = (predicted.unwrap_or_default(), times(gain.gain));
        let (target, layout, depth) = (&gain.target, &gain.layout, gain.queue_depth);
        let cell = summary.cells.get(gain.packed);
        let of = cell.and_then(|cell| sample(summary, cell)).map_or_else(String::new, |sample| format!(" of {sample}"));
        format!(
            "{target}: {layout} gains most over files{of} at depth {depth}: {predicted}measured G {measured} x"
        )
    }));
    conditions.extend((shown < all).then(|| format!("the first {shown} of {all} panels")));
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn labels(panel: &Panel) -> Vec<Vec<String>> {
    let line = panel.line.map(|line| vec![format!("line {}", grouped(line)), "samples/s".to_owned()]);
    let of_series = |series: &Series| {
        let mut lines = vec![series.layout.clone()];
        lines.extend(packed(&series.way));
        lines
    };
    panel.series.iter().map(of_series).chain(line).collect()
}

fn entries(summary: &Summary, panels: &[Panel]) -> Vec<(Mark, String)> {
    let points = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let mut found = vec![if points().any(|point| point.rate.interval.is_some()) {
        (Mark::Interval, format!("mean of {} repetitions, 95 % interval", summary.head.repetitions))
    } else {
        (Mark::Point, "mean; too few repetitions for an interval".to_owned())
    }];
    if points().any(|point| point.is_hollow) {
        found.push((Mark::Hollow, "hollow: client-limited, not valid or a DEMO".to_owned()));
    }
    if panels.iter().any(|panel| panel.line.is_some()) {
        found.push((Mark::Rule, "feed line".to_owned()));
        found.push((Mark::Starving, "below it accelerators starve".to_owned()));
    }
    found
}

type Place<'a> = ((i32, i32, i32, i32), i32, &'a Axis);

fn draw_panel(
    canvas: &Canvas<'_>,
    panel: &Panel,
    labels: &[Vec<String>],
    (place, margin_right, y): Place<'_>,
) -> Result<(), Refusal> {
    let mut depths: Vec<u32> =
        panel.series.iter().flat_map(|series| &series.points).map(|point| point.depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let depths = DepthAxis::of(depths);
    let across = depths.tick_places(length(place.2, margin_right));
    let x = Axis {
        low: depths.low,
        high: depths.high,
        ticks: across.into_iter().map(|at| (at, DepthAxis::tick_label(at))).collect(),
        words: "queue depth (reads outstanding in the client)".to_owned(),
    };
    let chart = Chart { place, margin_right, title: vec![panel.target.clone()], x, y: y.clone() };
    let (across, down) = (chart.across(), chart.down());
    let line_y = panel.line.map(|line| chart.height_of(line.log10()));
    if let Some(at) = line_y {
        let corners = ((across.start, at.round() as i32), (across.end, down.end));
        marker::block(canvas, corners, Ink::Starving, STARVING_OPACITY)?;
    }
    chart.frame(canvas)?;
    if let Some(at) = line_y {
        marker::dashes(canvas, (across.start, across.end), at.round() as i32, (Ink::Line, 2))?;
    }
    let mut names = Vec::new();
    for (series, lines) in panel.series.iter().zip(labels) {
        let end = curve(canvas, &chart, &depths, series)?;
        let last = series.points.last().map_or(0.0, |point| chart.height_of(point.rate.mean.log10()));
        names.push(MarginLabel { lines: lines.clone(), ink: Ink::Series(series.number), y: last, end });
    }
    if let (Some(at), Some(lines)) = (line_y, labels.get(panel.series.len())) {
        names.push(MarginLabel { lines: lines.clone(), ink: Ink::Line, y: at, end: None });
    }
    margin::draw(canvas, &names, across.end, &down)
}

/// Draws one curve, and says where it ends.
fn curve(
    canvas: &Canvas<'_>,
    chart: &Chart,
    depths: &DepthAxis,
    series: &Series,
) -> Result<Option<(i32, i32)>, Refusal> {
    let at = |point: &Point, rate: f64| chart.px(depths.place(point.depth), rate.log10());
    let path: Vec<(i32, i32)> = series.points.iter().map(|point| at(point, point.rate.mean)).collect();
    let end = path.last().copied();
    if path.len() > 1 {
        let style = Ink::Curve(series.number).sentinel().stroke_width(2);
        canvas.draw(&PathElement::new(path, style))?;
    }
    for point in &series.points {
        let mean = at(point, point.rate.mean);
        if point.rate.interval.is_some() {
            let (low, high) = (at(point, positive(point.rate)).1, at(point, point.rate.span().1).1);
            marker::whisker(canvas, mean.0, (low, high), Ink::Series(series.number))?;
        }
        marker::point(canvas, mean, series.number, point.is_hollow)?;
    }
    Ok(end)
}

fn table(summary: &Summary, panels: &[Panel]) -> PlotTable {
    let columns =
        ["target", "layout", "way", "depth", "samples/s", "low", "high", "of line, %", "gain", "F18"];
    let mut rows = Vec::new();
    for panel in panels {
        for series in &panel.series {
            rows.extend(series.points.iter().map(|point| {
                let gain = summary.layouts.gains.iter().find(|gain| {
                    summary.cells.get(gain.packed).is_some_and(|cell| cell.cell.cell == point.cell)
                });
                let known = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), times);
                let share = panel.line.map(|line| three_digits(point.rate.mean / line * 100.0));
                vec![
                    panel.target.clone(),
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
