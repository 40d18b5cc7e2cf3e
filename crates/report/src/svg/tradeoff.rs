//! Latency against throughput: a point for each depth, joined in their order. Where a curve turns up, more depth buys
//! waiting alone.

use analysis::{Figures, Summary};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::{Extent, RateAxis};
use super::chart::{Axis, Chart, height_around};
use super::drawn::{Drawn, margin_of, places, rows};
use super::key::{self, Mark};
use super::margin::{self, MarginLabel};
use super::marker::{self, Canvas, Refusal};
use super::place::Room;
use super::plan::{self, PanelPlan, SeriesPlan};
use super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of, text};
use super::theme::{Ink, STARVING_OPACITY};
use super::{ticks, wording};
use crate::number::{RateUnit, milliseconds, three_digits};
use crate::plot::PlotTable;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (400, 290);
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;
/// Size of the depths inside the plot.
const DEPTH_SIZE: f64 = 11.0;

/// Which percentile the plot shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Percentile {
    P99,
    P50,
}

impl Percentile {
    fn of(self, figures: &Figures) -> Option<u64> {
        match self {
            Self::P99 => figures.latency.p99_ns,
            Self::P50 => figures.latency.p50_ns,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::P99 => "p99",
            Self::P50 => "p50",
        }
    }
}

struct Panel {
    conditions: Vec<String>,
    line_bps: Option<f64>,
    series: Vec<Series>,
}

struct Series {
    number: usize,
    target: String,
    engine: String,
    label: Vec<String>,
    points: Vec<Point>,
}

#[derive(Clone, Copy)]
struct Point {
    depth: u32,
    bps: f64,
    ns: u64,
    is_hollow: bool,
}

/// Draws the figure; `None` where no curve has two points.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let percentile = percentile(summary);
    let mut panels: Vec<Panel> =
        plan::panels(summary).iter().map(|plan| panel(summary, plan, percentile)).collect();
    panels.retain(|panel| panel.series.iter().any(|series| series.points.len() > 1));
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    let points = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let (low, high) = (points().map(|point| point.ns).min()?, points().map(|point| point.ns).max()?);
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let stacks: Vec<Vec<Vec<String>>> =
        panels.iter().map(|panel| panel.series.iter().map(|series| series.label.clone()).collect()).collect();
    let (margin_right, needed) = margin_of(stacks.iter().map(Vec::as_slice));
    let title_lines =
        if columns == 1 { 0 } else { panels.iter().map(|panel| panel.conditions.len()).max()? };
    let plot = if columns == 1 { PLOT.0 } else { PLOT.1 };
    let height = height_around(plot.max(needed), title_lines);
    let words = format!("{} latency, log scale", percentile.name());
    let y = ticks::times(low as f64, high as f64, &words);
    let key = key::flow(entries(&panels), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, &panels, all);
    let svg = sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        for (panel, place) in panels.iter().zip(places(panels.len(), columns, height, top)) {
            let title = (0..title_lines).map(|n| panel.conditions.get(n).cloned().unwrap_or_default());
            let (x, axis) = rates(panel);
            let chart = Chart { place, margin_right, title: title.collect(), x, y: y.clone() };
            draw_panel(canvas, chart, &axis, panel)?;
        }
        Ok(())
    });
    let table = table(summary, percentile, &panels);
    Some(Drawn { name: "tradeoff", shown: "latency against throughput", svg, table })
}

/// The 99th percentile where every measured cell has one, else the median.
fn percentile(summary: &Summary) -> Percentile {
    let mut plans = plan::panels(summary).into_iter();
    let has = |index: &usize| {
        summary.cells[*index].figures().is_none_or(|figures| figures.latency.p99_ns.is_some())
    };
    let all = plans.all(|plan| plan.series.iter().flat_map(|series| &series.curve.cells).all(has));
    if all { Percentile::P99 } else { Percentile::P50 }
}

fn panel(summary: &Summary, plan: &PanelPlan, percentile: Percentile) -> Panel {
    let of_series = |series: &SeriesPlan| Series {
        number: series.number,
        target: series.curve.target.clone(),
        engine: series.curve.engine.clone(),
        label: wording::curve_label(summary, &series.curve, 20),
        points: points(summary, series, percentile),
    };
    let series: Vec<Series> = plan.series.iter().map(of_series).collect();
    Panel {
        conditions: plan.conditions.clone(),
        line_bps: plan.line.map(|line| line.bps),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
    }
}

fn points(summary: &Summary, series: &SeriesPlan, percentile: Percentile) -> Vec<Point> {
    let of_cell = |index: &usize| {
        let cell = &summary.cells[*index];
        let figures = cell.figures()?;
        Some(Point {
            depth: cell.cell.queue_depth,
            bps: figures.bps.mean,
            ns: percentile.of(figures)?.max(1),
            is_hollow: series.curve.demo || figures.is_client_limited() || !figures.is_valid(),
        })
    };
    series.curve.cells.iter().filter_map(of_cell).collect()
}

fn rates(panel: &Panel) -> (Axis, RateAxis) {
    let bps = || panel.series.iter().flat_map(|series| &series.points).map(|point| point.bps);
    let peaks =
        panel.series.iter().map(|series| series.points.iter().map(|point| point.bps).fold(0.0, f64::max));
    let extent = Extent {
        high: bps().chain(panel.line_bps).fold(0.0, f64::max),
        low: bps().chain(panel.line_bps).fold(f64::INFINITY, f64::min),
        low_peak: peaks.chain(panel.line_bps).fold(f64::INFINITY, f64::min),
    };
    ticks::rates(extent, "throughput")
}

fn sheet(summary: &Summary, panels: &[Panel], all: usize) -> Sheet {
    let mut conditions = if panels.len() == 1 { panels[0].conditions.clone() } else { Vec::new() };
    conditions.push("numbers: queue depth; right and low is better".to_owned());
    if panels.len() < all {
        conditions.push(format!("the first {} of {all} ways of reading", panels.len()));
    }
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, "latency against throughput"), &lines)
}

fn entries(panels: &[Panel]) -> Vec<(Mark, String)> {
    let mut found =
        vec![(Mark::Point, "mean throughput and latency of all repetitions at one depth".to_owned())];
    let points = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    if points().any(|point| point.is_hollow) {
        found.push((Mark::Hollow, "hollow: client-limited, not valid or a DEMO".to_owned()));
    }
    if let Some(line) = key::feed_line(panels.iter().filter_map(|panel| panel.line_bps)) {
        found.push(line);
        found.push((Mark::Starving, "left of it accelerators starve".to_owned()));
    }
    found
}

fn draw_panel(canvas: &Canvas<'_>, chart: Chart, axis: &RateAxis, panel: &Panel) -> Result<(), Refusal> {
    let chart = Chart { x: ticks::thinned(chart.x.clone(), chart.length()), ..chart };
    let (across, down) = (chart.across(), chart.down());
    let line_x = panel.line_bps.map(|bps| chart.px(axis.place(bps), chart.y.low).0);
    if let Some(x) = line_x {
        let corners = ((across.start, down.start), (x, down.end));
        marker::block(canvas, corners, Ink::Starving, STARVING_OPACITY)?;
    }
    chart.frame(canvas)?;
    if let Some(x) = line_x {
        marker::vertical_dashes(canvas, x, (down.start, down.end), (Ink::Line, 2))?;
    }
    let at = |point: &Point| chart.px(axis.place(point.bps), (point.ns as f64).log10());
    let mut room = Room::within(&across, &down);
    if let Some(x) = line_x {
        room.line((x, down.start), (x, down.end));
    }
    let mut labels = Vec::new();
    for series in &panel.series {
        let path: Vec<(i32, i32)> = series.points.iter().map(at).collect();
        path.windows(2).for_each(|pair| room.line(pair[0], pair[1]));
        for point in &path {
            room.mark(*point, 7.0);
        }
        let (Some(end), Some(last)) = (path.last().copied(), series.points.last()) else { continue };
        let style = Ink::Curve(series.number).sentinel().stroke_width(2);
        canvas.draw(&PathElement::new(path, style))?;
        let y = chart.height_of((last.ns as f64).log10());
        // Its leader runs to the margin.
        room.line((end.0 + 8, end.1), (across.end, end.1));
        let ink = Ink::Series(series.number);
        labels.push(MarginLabel { lines: series.label.clone(), ink, y, end: Some(end) });
    }
    for series in &panel.series {
        for point in &series.points {
            marker::point(canvas, at(point), series.number, point.is_hollow)?;
        }
    }
    // The deepest points are what readers look for: they find their places first.
    for series in &panel.series {
        for point in series.points.iter().rev() {
            let words = point.depth.to_string();
            if let Some(spot) = room.find(at(point), &words, DEPTH_SIZE) {
                let style = (DEPTH_SIZE, Ink::Series(series.number), HPos::Left);
                text(canvas, &words, (spot.left, spot.middle), style)?;
            }
        }
    }
    margin::draw(canvas, &labels, across.end, &down)
}

fn table(summary: &Summary, percentile: Percentile, panels: &[Panel]) -> PlotTable {
    let highest = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let unit = RateUnit::for_largest(highest.map(|point| point.bps).fold(0.0, f64::max));
    let way = panels.len() > 1 || summary.panels.len() > 1;
    let mut columns = vec!["target".to_owned(), "engine".to_owned(), "depth".to_owned()];
    columns.extend([unit.name.to_owned(), format!("{} ms", percentile.name()), "of line, %".to_owned()]);
    columns.extend(way.then(|| "conditions".to_owned()));
    let mut rows = Vec::new();
    for panel in panels {
        for series in &panel.series {
            rows.extend(series.points.iter().map(|point| {
                let share = panel.line_bps.map(|line| three_digits(point.bps / line * 100.0));
                let mut row = vec![series.target.clone(), series.engine.clone(), point.depth.to_string()];
                row.extend([unit.write(point.bps), milliseconds(Some(point.ns))]);
                row.push(share.unwrap_or_else(|| "-".to_owned()));
                row.extend(way.then(|| panel.conditions.join(", ")));
                row
            }));
        }
    }
    PlotTable { columns, rows }
}
