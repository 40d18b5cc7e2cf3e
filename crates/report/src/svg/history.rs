//! Throughput of comparable runs over time: a panel for each target, a curve for each cell.

use analysis::{History, HistoryCell};
use feed::Compared;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::{Extent, RateAxis};
use super::chart::{Axis, Chart, height_around};
use super::drawn::{margin_of, packed, places, rows};
use super::key::{self, Mark};
use super::margin::{self, MarginLabel};
use super::marker::{self, Canvas, Refusal};
use super::place::Room;
use super::sheet::{EDGE, Sheet, WIDTH, text};
use super::theme::{self, Ink};
use super::{RenderError, ticks};
use crate::number::RateUnit;
use crate::plot::{Plot, PlotTable};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 250);
/// Panels that one figure holds, and curves of each.
const PANELS_MAX: usize = 6;
const CURVES_MAX: usize = 8;
/// Breaks that the key tells; more are told by the table of the runs.
const BREAKS_MAX: usize = 6;
/// What the plot shows, in its title.
const SHOWN: &str = "throughput over runs";

struct Panel<'a> {
    target: &'a str,
    curves: Vec<Curve<'a>>,
    /// Feed lines of its cells, each once.
    lines: Vec<f64>,
}

struct Curve<'a> {
    label: Vec<String>,
    points: Vec<Point<'a>>,
}

struct Point<'a> {
    /// Number of its run, from 0.
    run: usize,
    bps: f64,
    span: Option<(f64, f64)>,
    excluded: Option<&'a str>,
}

/// The throughput of the cells of a scenario over its stored runs, oldest first. The first six targets and the first
/// eight cells of each are drawn; the table holds every cell. Cells that move no bytes are in neither. [`RenderError::NothingMeasured`] where no run has a
/// throughput.
pub fn history_svg(history: &History) -> Result<Plot, RenderError> {
    let run = || history.run_ids.last().cloned().unwrap_or_default();
    let all = panels(history);
    if all.is_empty() {
        return Err(RenderError::NothingMeasured { run: run() });
    }
    let drawn = drawn(history, &all).map_err(|cause| RenderError::Drawing { run: run(), cause })?;
    let title = format!("{}: {SHOWN}", history.scenario);
    let about =
        format!("{} of {}.", feed::counted_noun(history.run_ids.len() as u64, "run"), history.scenario);
    let svg = theme::finish(&drawn, &title, &about);
    Ok(Plot { name: "history", title: SHOWN.to_owned(), svg, table: table(history) })
}

fn drawn(history: &History, all: &[Panel<'_>]) -> Result<String, String> {
    let panels = &all[..all.len().min(PANELS_MAX)];
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let stacks: Vec<Vec<Vec<String>>> = panels.iter().map(labels).collect();
    let (margin_right, needed) = margin_of(stacks.iter().map(Vec::as_slice));
    let height = height_around((if columns == 1 { PLOT.0 } else { PLOT.1 }).max(needed), 1);
    let key = key::flow(entries(history, panels), WIDTH - 2 * EDGE);
    let sheet = sheet(history, panels, all.len());
    let breaks = breaks(history);
    sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        for ((panel, lines), place) in
            panels.iter().zip(&stacks).zip(places(panels.len(), columns, height, top))
        {
            let title = vec![crate::plain::shortened(panel.target, 60)];
            let (y, axis) = rates(panel);
            let x = runs(history, super::chart::length(place.2, margin_right));
            let chart = Chart { place, margin_right, title, x, y };
            draw_panel(canvas, &chart, &axis, (panel, lines), &breaks)?;
        }
        Ok(())
    })
}

fn panels(history: &History) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel<'_>> = Vec::new();
    for cell in shown(history) {
        let curve = Curve { label: packed(&cell.label), points: points(history, cell) };
        if curve.points.is_empty() {
            continue;
        }
        let at = panels.iter().position(|panel| panel.target == cell.target).unwrap_or_else(|| {
            panels.push(Panel { target: &cell.target, curves: Vec::new(), lines: Vec::new() });
            panels.len() - 1
        });
        if panels[at].curves.len() == CURVES_MAX {
            continue;
        }
        panels[at].curves.push(curve);
        let is_known = |line: f64| panels[at].lines.iter().any(|known| (known / line - 1.0).abs() < 1e-9);
        if let Some(line) = cell.line_bps.filter(|line| line.is_finite() && *line > 0.0 && !is_known(*line)) {
            panels[at].lines.push(line);
        }
    }
    panels
}

/// Cells whose throughput is in bytes: operations per second have no place on their axis.
fn shown(history: &History) -> impl Iterator<Item = &HistoryCell> {
    history.cells.iter().filter(|cell| cell.counts_bytes)
}

fn points<'a>(history: &History, cell: &'a HistoryCell) -> Vec<Point<'a>> {
    let throughput = |point: &'a analysis::HistoryPoint| point.values.get(&Compared::Throughput);
    let is_rate = |bps: &f64| bps.is_finite() && *bps >= 0.0;
    let of_point = |point: &'a analysis::HistoryPoint| {
        Some(Point {
            run: history.run_ids.iter().position(|id| *id == point.run_id)?,
            bps: throughput(point).map(|of| of.value).filter(is_rate)?,
            span: throughput(point)
                .map(|of| (of.low, of.high))
                .filter(|span| is_rate(&span.0) && is_rate(&span.1)),
            excluded: point.excluded.as_deref(),
        })
    };
    let mut points: Vec<Point<'_>> = cell.points.iter().filter_map(of_point).collect();
    points.sort_by_key(|point| point.run);
    points
}

/// Labels of the curves, and of the line where there is one.
fn labels(panel: &Panel<'_>) -> Vec<Vec<String>> {
    let curves = panel.curves.iter().map(|curve| curve.label.clone());
    curves.chain(panel.lines.iter().map(|bps| vec![format!("line {}", feed::format_bps(*bps))])).collect()
}

fn rates(panel: &Panel<'_>) -> (Axis, RateAxis) {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let spans = || points().map(|point| point.span.unwrap_or((point.bps, point.bps)));
    let peaks = panel.curves.iter().map(|of| of.points.iter().map(|point| point.bps).fold(0.0, f64::max));
    let lines = || panel.lines.iter().copied();
    let ends = || points().map(|point| point.bps).chain(lines());
    let extent = Extent {
        high: ends().chain(spans().map(|span| span.1)).fold(0.0, f64::max),
        low: ends().chain(spans().map(|span| span.0)).fold(f64::INFINITY, f64::min),
        low_peak: peaks.filter(|peak| *peak > 0.0).chain(lines()).fold(f64::INFINITY, f64::min),
    };
    ticks::rates(extent, "throughput")
}

/// Runs one step apart, with the days on which they began, or the times where that was one day.
fn runs(history: &History, length_px: f64) -> Axis {
    let mut days = history.cells.iter().flat_map(|cell| &cell.points).map(|point| point.started.get(..10));
    let first_day = days.next().flatten();
    let (part, named) = if days.all(|day| day == first_day) {
        (11..16, "the time of day, UTC")
    } else {
        (5..10, "month and day")
    };
    let started = |id: &String| {
        let points = history.cells.iter().flat_map(|cell| &cell.points);
        let started = points.clone().find(|point| point.run_id == *id).map(|point| point.started.as_str());
        started.and_then(|started| started.get(part.clone())).unwrap_or_default().to_owned()
    };
    let mut before = String::new();
    let mut ticks = Vec::new();
    for (number, id) in history.run_ids.iter().enumerate() {
        let day = started(id);
        if !day.is_empty() && day != before {
            ticks.push((number as f64, day.clone()));
            before = day;
        }
    }
    let high = history.run_ids.len() as f64 - 0.5;
    let words = format!("runs, oldest first, with {named}");
    ticks::thinned(Axis { low: -0.5, high: high.max(0.5), ticks, words }, length_px)
}

/// The number of the first run after each break, where its words name one: `from 20261121T…: kernel 6.1 -> 6.6`.
fn breaks(history: &History) -> Vec<usize> {
    let named = |words: &String| {
        let id = words.strip_prefix("from ")?.split([':', ' ']).next()?;
        history.run_ids.iter().position(|known| known == id)
    };
    history.breaks.iter().filter_map(named).filter(|run| *run > 0).collect()
}

fn sheet(history: &History, panels: &[Panel<'_>], all: usize) -> Sheet {
    let count = feed::counted_noun(history.run_ids.len() as u64, "run");
    let ends = match history.run_ids.as_slice() {
        [] => String::new(),
        [one] => format!(": {one}"),
        [first, .., last] => format!(" from {first} to {last}"),
    };
    let mut lines =
        vec![format!("{count}{ends}; a point is the geometric mean over the repetitions of a run")];
    let cells: usize = panels.iter().map(|panel| panel.curves.len()).sum();
    let of_all = shown(history).count();
    if cells < of_all || panels.len() < all {
        lines.push(format!("{cells} of {of_all} cells; the table holds all"));
    }
    let without_bytes = history.cells.len() - of_all;
    if without_bytes > 0 {
        let left_out = feed::counted_noun(without_bytes as u64, "cell");
        lines.push(format!("{left_out} without bytes left out: operations per second are in the CSV"));
    }
    Sheet::with_command(&format!("{}: {SHOWN}", history.scenario), &lines, "")
}

fn entries(history: &History, panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let points = || panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let mut found = if points().any(|point| point.span.is_some()) {
        vec![(Mark::Interval, "lowest and highest repetition".to_owned())]
    } else {
        vec![(Mark::Point, "a run".to_owned())]
    };
    if points().any(|point| point.excluded.is_some()) {
        found.push((Mark::Hollow, "hollow: nothing may rest on it, see the table".to_owned()));
    }
    if panels.iter().any(|panel| !panel.lines.is_empty()) {
        found.push((Mark::Rule, "feed line".to_owned()));
    }
    for (number, words) in history.breaks.iter().take(BREAKS_MAX).enumerate() {
        let words = crate::plain::shortened(words, 120);
        found.push((Mark::Break, format!("{}: not comparable {words}", number + 1)));
    }
    let more = history.breaks.len().saturating_sub(BREAKS_MAX);
    if more > 0 {
        found.push((Mark::Nothing, format!("and {more} more")));
    }
    found
}

fn draw_panel(
    canvas: &Canvas<'_>,
    chart: &Chart,
    axis: &RateAxis,
    (panel, lines): (&Panel<'_>, &[Vec<String>]),
    breaks: &[usize],
) -> Result<(), Refusal> {
    chart.frame(canvas)?;
    let (across, down) = (chart.across(), chart.down());
    let at = |run: usize, bps: f64| chart.px(run as f64, axis.place(bps));
    let mut room = Room::within(&across, &down);
    for (number, run) in breaks.iter().enumerate() {
        let x = chart.px(*run as f64 - 0.5, chart.y.low).0;
        marker::vertical_dashes(canvas, x, (down.start, down.end), (Ink::Muted, 1))?;
        let words = (number + 1).to_string();
        if let Some(spot) = room.find((x - 4, down.start + 10), &words, 11.0) {
            text(canvas, &words, (spot.left, spot.middle), (11.0, Ink::Muted, HPos::Left))?;
        }
    }
    let mut labels = Vec::new();
    for ((number, curve), words) in panel.curves.iter().enumerate().zip(lines) {
        draw_curve(canvas, number, curve, breaks, at)?;
        let Some(last) = curve.points.last() else { continue };
        let (ink, end) = (Ink::Series(number), at(last.run, last.bps));
        let y = chart.height_of(axis.place(last.bps));
        labels.push(MarginLabel { lines: words.clone(), ink, y, end: Some(end) });
    }
    for (bps, words) in panel.lines.iter().zip(&lines[panel.curves.len()..]) {
        let y = chart.height_of(axis.place(*bps));
        marker::dashes(canvas, (across.start, across.end), y.round() as i32, (Ink::Line, 2))?;
        labels.push(MarginLabel { lines: words.clone(), ink: Ink::Line, y, end: None });
    }
    margin::draw(canvas, &labels, across.end, &down)
}

/// A curve whose line is cut where runs are not comparable.
fn draw_curve(
    canvas: &Canvas<'_>,
    number: usize,
    curve: &Curve<'_>,
    breaks: &[usize],
    at: impl Fn(usize, f64) -> (i32, i32),
) -> Result<(), Refusal> {
    let ink = Ink::Series(number);
    let is_cut = |from: usize, to: usize| breaks.iter().any(|run| from < *run && *run <= to);
    for pair in curve.points.windows(2).filter(|pair| !is_cut(pair[0].run, pair[1].run)) {
        let line = pair.iter().map(|point| at(point.run, point.bps)).collect::<Vec<_>>();
        canvas.draw(&PathElement::new(line, ink.sentinel().stroke_width(2)))?;
    }
    for point in &curve.points {
        let centre = at(point.run, point.bps);
        if let Some((low, high)) = point.span {
            marker::whisker(canvas, centre.0, (at(point.run, low).1, at(point.run, high).1), ink)?;
        }
        marker::point(canvas, centre, number, point.excluded.is_some())?;
    }
    Ok(())
}

fn table(history: &History) -> PlotTable {
    let highest = shown(history).flat_map(|cell| points(history, cell)).map(|point| point.bps);
    let unit = RateUnit::for_largest(highest.fold(0.0, f64::max));
    let names = ["cell", "target", "run", unit.name, "lowest", "highest", "note"];
    let mut rows = Vec::new();
    for cell in shown(history) {
        for point in points(history, cell) {
            let bound = |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), |bps| unit.write(bps));
            rows.push(vec![
                cell.cell.clone(),
                cell.target.clone(),
                history.run_ids[point.run].clone(),
                unit.write(point.bps),
                bound(point.span.map(|span| span.0)),
                bound(point.span.map(|span| span.1)),
                point.excluded.unwrap_or_default().to_owned(),
            ]);
        }
    }
    PlotTable { columns: names.map(str::to_owned).to_vec(), rows }
}
