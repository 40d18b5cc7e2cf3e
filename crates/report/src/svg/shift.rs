//! How latency moved between two runs: the ratio of each percentile, after by before, with its 95 % band.

use analysis::{Shift, ShiftPoint};

use super::canvas::Stroke;
use super::chart::{At, Chart, FEED_LINE, Label, Mark, PlotPanel, Span, height_of, packed};
use super::scale::{Extent, Scale, quantile_words};
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::{RenderError, plot, wording};
use crate::number::three_digits;
use crate::plot::{Plot, PlotTable};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (380, 270);
/// Panels that one figure holds, and curves of each.
const PANELS_MAX: usize = 4;
// Fewer than elsewhere: each has a band, and five bands upon each other are mud.
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

/// The ratio of each percentile of latency, after by before: a panel for each target. The first four targets and the
/// first four cells of each are drawn; the table holds every cell. [`RenderError::NothingMeasured`] where no cell has a
/// ratio.
pub fn shift_svg(shifts: &[Shift], head: &ShiftHead) -> Result<Plot, RenderError> {
    let run = || head.after.run_id.clone();
    let chart = chart(shifts, head).ok_or_else(|| RenderError::NothingMeasured { run: run() })?;
    plot(chart, &run())
}

fn chart(shifts: &[Shift], head: &ShiftHead) -> Option<Chart> {
    let targets = targets(shifts);
    let marks: Vec<Vec<Mark>> = targets.iter().map(|shifts| marks(shifts)).collect();
    let all = || marks.iter().flatten().cloned().collect::<Vec<_>>();
    let x = Scale::quantiles(Mark::widths(&all()).high, "percentile of latency");
    let y = ratios(Mark::heights(&all()));
    let of_panel = |(shifts, marks): (&Vec<&Shift>, Vec<Mark>)| {
        let title = vec![shifts[0].target.clone()];
        PlotPanel::new(title, (x.clone(), y.clone()), height_of(targets.len(), PLOT), marks)
            .labelled(labels(shifts))
    };
    let panels: Vec<PlotPanel> = targets.iter().zip(marks.clone()).map(of_panel).collect();
    if panels.is_empty() {
        return None;
    }
    let points = || targets.iter().flatten().flat_map(|shift| &shift.points);
    let about =
        format!("Latency of {} by that of {}, percentile by percentile.", head.after.name, head.before.name);
    let heading = (format!("{}: {SHOWN}", head.scenario), about);
    let lines = subtitles(shifts, head, targets.iter().map(Vec::len).sum());
    let chart = Chart::new(("shift", SHOWN), heading, lines, wording::command(&head.command))
        .with(panels, table(shifts))
        .key(Sample::Stroke(FEED_LINE), "no change")
        .key(Sample::WINDOW, "95 % interval over pairs of repetitions")
        .key_if(
            points().any(|point| band(point).is_none()),
            Sample::Nothing,
            "without a band: fewer than three pairs",
        )
        .key(Sample::Sign(Sign::Point), "end: 10 operations of the shortest repetition are left");
    Some(chart)
}

/// The shifts that are drawn, by their targets.
fn targets(shifts: &[Shift]) -> Vec<Vec<&Shift>> {
    let mut targets: Vec<Vec<&Shift>> = Vec::new();
    for shift in shifts.iter().filter(|shift| shift.points.iter().any(is_ratio)) {
        match targets.iter_mut().find(|known| known[0].target == shift.target) {
            Some(known) if known.len() < CURVES_MAX => known.push(shift),
            Some(_) => {}
            None => targets.push(vec![shift]),
        }
    }
    targets.truncate(PANELS_MAX);
    targets
}

fn is_ratio(point: &ShiftPoint) -> bool {
    point.ratio.mean.is_finite() && point.ratio.mean > 0.0
}

/// The band of a point, cut at a hundred times on either side; `None` without an interval.
fn band(point: &ShiftPoint) -> Option<Span> {
    let (low, high) = (point.ratio.low, point.ratio.high);
    let is_known = low > 0.0 && high.is_finite();
    is_known.then(|| {
        let mean = point.ratio.mean;
        (low.max(mean / BAND_MAX), high.min(mean * BAND_MAX))
    })
}

/// The mean ratios of a shift, percentile by percentile.
fn points(shift: &Shift) -> Vec<At> {
    shift.points.iter().filter(|point| is_ratio(point)).map(|point| (point.q, point.ratio.mean)).collect()
}

/// The bands of all lie below the curves.
fn marks(shifts: &[&Shift]) -> Vec<Mark> {
    let of_band = |(number, shift): (usize, &&Shift)| {
        let known = shift.points.iter().filter(|point| is_ratio(point));
        Mark::Band(known.filter_map(|of| Some((of.q, band(of)?))).collect(), Ink::Series(number))
    };
    let of_curve = |(number, shift): (usize, &&Shift)| {
        let points = points(shift);
        let end = points.last().map(|end| Mark::sign(*end, Sign::Point, Ink::Series(number)));
        [Mark::Line(points, Stroke::curve(number))].into_iter().chain(end)
    };
    // All bands first: a curve below the band of another one would be pale.
    let bands = shifts.iter().enumerate().map(of_band);
    let curves = shifts.iter().enumerate().flat_map(of_curve);
    [Mark::Across(1.0, FEED_LINE)].into_iter().chain(bands).chain(curves).collect()
}

fn labels(shifts: &[&Shift]) -> Vec<Label> {
    let label = |(number, shift): (usize, &&Shift)| {
        let what = if shift.is_response { ", response" } else { "" };
        let pairs = feed::counted_noun(shift.pairs.into(), "pair");
        let lines = packed(&format!("{}{what}, {pairs}", shift.label));
        Some(Label::of_series(lines, number, *points(shift).last()?))
    };
    shifts.iter().enumerate().filter_map(label).collect()
}

/// Ratios by their logarithm: half and twice are equally far from 1.
fn ratios(extent: Extent) -> Scale {
    // At least 10 % on either side, so that noise does not look like a change.
    let (low, high) = ((extent.low / 1.03).min(1.0 / 1.1), (extent.high * 1.03).max(1.1));
    let all: Vec<f64> = if high / low > 12.0 {
        (-12..=12).flat_map(|decade| [1.0, 2.0, 5.0].map(|of| of * 10_f64.powi(decade))).collect()
    } else if high / low > 2.5 {
        vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0]
    } else {
        vec![0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.25, 2.5]
    };
    let all: Vec<f64> = if high / low > 1e5 { (-12..=12).map(|n| 10_f64.powi(n)).collect() } else { all };
    let label = |ratio: f64| {
        let words = format!("{ratio:.3}");
        let words = words.trim_end_matches('0').trim_end_matches('.');
        if (1e-3..1e4).contains(&ratio) { format!("{words} x") } else { format!("{ratio:.0e} x") }
    };
    let ticks = all.into_iter().map(|ratio| (ratio, label(ratio))).collect();
    Scale::logarithms(low, high, ticks, "ratio of latency, after by before, log scale")
}

fn subtitles(shifts: &[Shift], head: &ShiftHead, shown: usize) -> Vec<String> {
    let side = |of: &ShiftSide| {
        if of.name == of.run_id { of.name.clone() } else { format!("{} (run {})", of.name, of.run_id) }
    };
    let mut lines = vec![
        format!("after: {}; before: {}", side(&head.after), side(&head.before)),
        "above 1: slower after; geometric mean over repetitions paired by round".to_owned(),
    ];
    if shown < shifts.len() {
        lines.push(format!("{shown} of {} cells; the table holds all", shifts.len()));
    }
    lines.extend((!head.machine.is_empty()).then(|| head.machine.clone()));
    lines
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
                quantile_words(q).trim_end_matches(" %").to_owned(),
                three_digits(point.ratio.mean),
                bound(known.then_some(point.ratio.low)),
                bound(known.then_some(point.ratio.high)),
            ]);
        }
    }
    PlotTable { columns: columns.map(str::to_owned).to_vec(), rows }
}
