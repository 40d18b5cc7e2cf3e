//! How latency moved between two runs: the ratio of each percentile, after by before, with its 95 % band.

use analysis::{Shift, ShiftPoint};
use plotters::prelude::*;

use super::chart::{Axis, Chart, height_around};
use super::drawn::{Drawn, margin_of, packed, places, rows};
use super::key::{self, Mark};
use super::margin::{self, MarginLabel};
use super::marker::{self, Canvas, Refusal};
use super::sheet::{EDGE, Sheet, WIDTH};
use super::theme::{self, Ink};
use super::{RenderError, ticks};
use crate::number::three_digits;
use crate::plot::{Plot, PlotTable};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (380, 270);
/// Panels that one figure holds, and curves of each.
const PANELS_MAX: usize = 4;
const CURVES_MAX: usize = 4;
/// Ratios beyond which a band is cut: what lies there says no more than "unknown".
const BAND_MAX: f64 = 100.0;
/// What the plot shows, in its title.
const SHOWN: &str = "shift of latency";

/// One of the two sides of a shift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShiftSide {
    /// How it is called: a variant, a target, a run.
    pub name: String,
    /// Its run.
    pub run_id: String,
}

/// What a shift is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShiftHead {
    /// Title or name of the scenario.
    pub scenario: String,
    /// What is compared with.
    pub before: ShiftSide,
    /// What is compared.
    pub after: ShiftSide,
    /// The machine in words; empty where it is not known.
    pub machine: String,
    /// Command line of the run after.
    pub command: Vec<String>,
}

struct Panel<'a> {
    target: &'a str,
    shifts: Vec<&'a Shift>,
    labels: Vec<Vec<String>>,
}

/// The ratio of each percentile of latency, after by before: a panel for each target. The first four targets and the
/// first four cells of each are drawn; the table holds every cell. [`RenderError::NothingMeasured`] where no cell has a
/// ratio.
pub fn shift_svg(shifts: &[Shift], head: &ShiftHead) -> Result<Plot, RenderError> {
    let run = || head.after.run_id.clone();
    let drawn = drawn(shifts, head).ok_or_else(|| RenderError::NothingMeasured { run: run() })?;
    let svg = drawn.svg.map_err(|cause| RenderError::Drawing { run: run(), cause })?;
    let title = format!("{}: {SHOWN}", head.scenario);
    let about =
        format!("Latency of {} by that of {}, percentile by percentile.", head.after.name, head.before.name);
    let svg = theme::finish(&svg, &title, &about);
    Ok(Plot { name: drawn.name, title: drawn.shown.to_owned(), svg, table: drawn.table })
}

fn drawn(shifts: &[Shift], head: &ShiftHead) -> Option<Drawn> {
    let panels = panels(shifts);
    let y = ratios(&panels)?;
    let points = || panels.iter().flat_map(|panel| &panel.shifts).flat_map(|shift| &shift.points);
    let last = points().map(|point| ticks::nines_of(point.q)).fold(0.1, f64::max);
    let x = ticks::nines(last, "percentile of latency");
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let (margin_right, needed) = margin_of(panels.iter().map(|panel| panel.labels.as_slice()));
    let height = height_around((if columns == 1 { PLOT.0 } else { PLOT.1 }).max(needed), 1);
    let key = key::flow(entries(&panels), WIDTH - 2 * EDGE);
    let sheet = sheet(shifts, head, &panels);
    let svg = sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        for (panel, place) in panels.iter().zip(places(panels.len(), columns, height, top)) {
            let title = vec![crate::plain::shortened(panel.target, 60)];
            let chart = Chart { place, margin_right, title, x: x.clone(), y: y.clone() };
            draw_panel(canvas, chart, panel)?;
        }
        Ok(())
    });
    Some(Drawn { name: "shift", shown: SHOWN, svg, table: table(shifts) })
}

fn panels(shifts: &[Shift]) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel<'_>> = Vec::new();
    for shift in shifts.iter().filter(|shift| shift.points.iter().any(is_ratio)) {
        let at = panels.iter().position(|panel| panel.target == shift.target).unwrap_or_else(|| {
            panels.push(Panel { target: &shift.target, shifts: Vec::new(), labels: Vec::new() });
            panels.len() - 1
        });
        if panels[at].shifts.len() < CURVES_MAX {
            let what = if shift.is_response { ", response" } else { "" };
            let pairs = feed::counted_noun(shift.pairs.into(), "pair");
            panels[at].labels.push(packed(&format!("{}{what}, {pairs}", shift.label)));
            panels[at].shifts.push(shift);
        }
    }
    panels.truncate(PANELS_MAX);
    panels
}

fn is_ratio(point: &ShiftPoint) -> bool {
    point.ratio.mean.is_finite() && point.ratio.mean > 0.0
}

/// The band of a point, cut at a hundred times on either side; `None` without an interval.
fn band(point: &ShiftPoint) -> Option<(f64, f64)> {
    let (low, high) = (point.ratio.low, point.ratio.high);
    let is_known = low > 0.0 && high.is_finite();
    is_known.then(|| {
        let mean = point.ratio.mean;
        (low.max(mean / BAND_MAX), high.min(mean * BAND_MAX))
    })
}

/// Ratios by their logarithm: half and twice are equally far from 1. `None` of nothing.
fn ratios(panels: &[Panel<'_>]) -> Option<Axis> {
    let points =
        || panels.iter().flat_map(|panel| &panel.shifts).flat_map(|of| &of.points).filter(|of| is_ratio(of));
    points().next()?;
    let ends = points().flat_map(|point| {
        let (low, high) = band(point).unwrap_or((point.ratio.mean, point.ratio.mean));
        [low, high]
    });
    let (low, high) = ends.fold((1.0_f64, 1.0_f64), |(low, high), end| (low.min(end), high.max(end)));
    // At least 10 % on either side, so that noise does not look like a change.
    let (low, high) = ((low / 1.03).min(1.0 / 1.1), (high * 1.03).max(1.1));
    let words = "ratio of latency, after by before, log scale".to_owned();
    let all: Vec<f64> = if high / low > 12.0 {
        (-12..=12).flat_map(|decade| [1.0, 2.0, 5.0].map(|of| of * 10_f64.powi(decade))).collect()
    } else if high / low > 2.5 {
        vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0]
    } else {
        vec![0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.25, 2.5]
    };
    let all: Vec<f64> = if high / low > 1e5 { (-12..=12).map(|n| 10_f64.powi(n)).collect() } else { all };
    let inside = all.into_iter().filter(|ratio| (low..=high).contains(ratio));
    let label = |ratio: f64| {
        let words = format!("{ratio:.3}");
        let words = words.trim_end_matches('0').trim_end_matches('.');
        if (1e-3..1e4).contains(&ratio) { format!("{words} x") } else { format!("{ratio:.0e} x") }
    };
    let ticks = inside.map(|ratio| (ratio.log10(), label(ratio))).collect();
    Some(Axis { low: low.log10(), high: high.log10(), ticks, words })
}

fn sheet(shifts: &[Shift], head: &ShiftHead, panels: &[Panel<'_>]) -> Sheet {
    let side = |of: &ShiftSide| {
        if of.name == of.run_id { of.name.clone() } else { format!("{} (run {})", of.name, of.run_id) }
    };
    let mut lines = vec![
        format!("after: {}; before: {}", side(&head.after), side(&head.before)),
        "above 1: slower after; geometric mean over repetitions paired by round".to_owned(),
    ];
    let shown: usize = panels.iter().map(|panel| panel.shifts.len()).sum();
    if shown < shifts.len() {
        lines.push(format!("{shown} of {} cells; the table holds all", shifts.len()));
    }
    lines.extend((!head.machine.is_empty()).then(|| head.machine.clone()));
    let command = super::wording::command_words(&head.command);
    Sheet::with_command(&format!("{}: {SHOWN}", head.scenario), &lines, &command)
}

fn entries(panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let points = || panels.iter().flat_map(|panel| &panel.shifts).flat_map(|shift| &shift.points);
    let mut found = vec![(Mark::Rule, "no change".to_owned())];
    if points().any(|point| band(point).is_some()) {
        found.push((Mark::Window, "95 % interval over pairs of repetitions".to_owned()));
    }
    if points().any(|point| band(point).is_none()) {
        found.push((Mark::Nothing, "without a band: fewer than three pairs".to_owned()));
    }
    found.push((Mark::Point, "end: 10 operations of the shortest repetition are left".to_owned()));
    found
}

fn draw_panel(canvas: &Canvas<'_>, chart: Chart, panel: &Panel<'_>) -> Result<(), Refusal> {
    let chart = Chart { x: ticks::thinned(chart.x.clone(), chart.length()), ..chart };
    chart.frame(canvas)?;
    let (across, down) = (chart.across(), chart.down());
    let one = chart.height_of(0.0).round() as i32;
    marker::dashes(canvas, (across.start, across.end), one, (Ink::Line, 2))?;
    let at = |q: f64, ratio: f64| chart.px(ticks::nines_of(q), ratio.log10());
    let shown = |shift: &Shift| shift.points.iter().copied().filter(is_ratio).collect::<Vec<_>>();
    for (number, shift) in panel.shifts.iter().enumerate() {
        let points = shown(shift);
        let known: Vec<(f64, (f64, f64))> = points.iter().filter_map(|of| Some((of.q, band(of)?))).collect();
        if known.len() > 1 {
            let upper = known.iter().map(|(q, band)| at(*q, band.1));
            let around: Vec<_> = upper.chain(known.iter().rev().map(|(q, band)| at(*q, band.0))).collect();
            let style = Ink::Series(number).sentinel().mix(marker::WINDOW_OPACITY).filled();
            canvas.draw(&Polygon::new(around, style))?;
        }
    }
    let mut labels = Vec::new();
    for ((number, shift), lines) in panel.shifts.iter().enumerate().zip(&panel.labels) {
        let path: Vec<_> = shown(shift).iter().map(|point| at(point.q, point.ratio.mean)).collect();
        let Some(end) = path.last().copied() else { continue };
        canvas.draw(&PathElement::new(path, Ink::Curve(number).sentinel().stroke_width(2)))?;
        marker::point(canvas, end, number, false)?;
        let (ink, y) = (Ink::Series(number), f64::from(end.1));
        labels.push(MarginLabel { lines: lines.clone(), ink, y, end: Some(end) });
    }
    margin::draw(canvas, &labels, across.end, &down)
}

/// Percentiles of the table.
const TABLE: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];

fn table(shifts: &[Shift]) -> PlotTable {
    let columns = ["cell", "latency", "pairs", "percentile, %", "ratio", "low", "high"];
    let mut rows = Vec::new();
    for shift in shifts {
        for q in TABLE {
            // The nearest point from above that the cell has.
            let Some(point) = shift.points.iter().find(|point| point.q >= q - 1e-9) else { break };
            let bound = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), three_digits);
            let known = band(point).is_some();
            rows.push(vec![
                shift.cell.clone(),
                if shift.is_response { "response" } else { "service" }.to_owned(),
                shift.pairs.to_string(),
                ticks::quantile_words(q).trim_end_matches(" %").to_owned(),
                three_digits(point.ratio.mean),
                bound(known.then_some(point.ratio.low)),
                bound(known.then_some(point.ratio.high)),
            ]);
        }
    }
    PlotTable { columns: columns.map(str::to_owned).to_vec(), rows }
}
