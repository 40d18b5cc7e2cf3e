//! Latency against throughput: a point for each depth, joined in their order. Where a curve turns up, more depth buys
//! waiting alone.

use analysis::{Curve, Figures, Summary};

use super::canvas::Stroke;
use super::chart::{Chart, FEED_LINE, Label, Mark, PlotPanel, Point, cut, height_of};
use super::curves::{Shown, shown};
use super::scale::{Extent, Scale};
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::wording;
use crate::number::{RateUnit, milliseconds, three_digits};
use crate::plot::PlotTable;
use crate::words::curve;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (400, 290);
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;
/// Size of the depths inside the plot.
const DEPTH_SIZE: f64 = 11.0;
/// Letters of a line of a label.
const LABEL_LETTERS: usize = 20;

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

/// Describes the plot; `None` where no curve has two points.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let mut shown = shown(summary);
    let percentile = percentile(summary, &shown);
    let has_curve =
        |one: &Shown<'_>| one.curves.iter().any(|(_, of)| points(summary, of, percentile).len() > 1);
    shown.retain(has_curve);
    let limit = cut(&mut shown, PANELS_MAX, "ways of reading");
    let marks: Vec<Vec<Mark>> = shown.iter().map(|one| marks(summary, one, percentile)).collect();
    let heights = marks.iter().map(|marks| Mark::heights(marks)).fold(Extent::EMPTY, Extent::with);
    if heights.is_empty() {
        return None;
    }
    let y = Scale::times(heights, &format!("{} latency, log scale", percentile.name()));
    let of_panel = |(one, marks): (&Shown<'_>, Vec<Mark>)| {
        let title = if shown.len() == 1 { Vec::new() } else { curve::conditions_in_lines(one.panel) };
        let x = Scale::rates(Mark::widths(&marks), "throughput").0;
        PlotPanel::new(title, (x, y.clone()), height_of(shown.len(), PLOT), marks)
            .starving_left_of(one.panel.line.map(|line| line.bps))
            .labelled(labels(summary, one, percentile))
    };
    let panels: Vec<PlotPanel> = shown.iter().zip(marks).map(of_panel).collect();
    let mut conditions =
        if shown.len() == 1 { curve::conditions_in_lines(shown[0].panel) } else { Vec::new() };
    conditions.push("numbers: queue depth; right and low is better".to_owned());
    let heading = ("tradeoff", "latency against throughput");
    let chart = Chart::of(summary, heading, conditions.into_iter().chain(limit))
        .with(panels, table(summary, percentile, &shown))
        .key(Sample::Sign(Sign::Point), "mean throughput and latency of all repetitions at one depth")
        .key(Sample::HOLLOW, "hollow: client-limited, not valid or a DEMO")
        .key_of_line()
        .key(Sample::STARVING, format!("left of it {}", wording::too_slow(summary)));
    Some(chart)
}

/// The 99th percentile where every measured cell has one, else the median.
fn percentile(summary: &Summary, shown: &[Shown<'_>]) -> Percentile {
    let mut cells = shown.iter().flat_map(|one| &one.curves).flat_map(|(_, curve)| &curve.cells);
    let has = |index: &usize| {
        summary.cells[*index].figures().is_none_or(|figures| figures.latency.p99_ns.is_some())
    };
    // One percentile for all: curves of two percentiles in one plot would be compared.
    if cells.all(has) { Percentile::P99 } else { Percentile::P50 }
}

/// Throughput and latency of a curve, each with its depth.
fn points(summary: &Summary, curve: &Curve, percentile: Percentile) -> Vec<(u32, Point)> {
    let of_cell = |index: &usize| {
        let cell = &summary.cells[*index];
        let figures = cell.figures()?;
        let at = (figures.bps.mean, percentile.of(figures)?.max(1) as f64);
        let is_hollow = curve.demo || figures.is_client_limited() || !figures.is_valid();
        Some((cell.cell.queue_depth, Point { at, span: None, is_hollow }))
    };
    curve.cells.iter().filter_map(of_cell).collect()
}

fn marks(summary: &Summary, shown: &Shown<'_>, percentile: Percentile) -> Vec<Mark> {
    let line = shown.panel.line.map(|line| Mark::Down(line.bps, FEED_LINE));
    let (mut marks, mut signs, mut depths) = (Vec::from_iter(line), Vec::new(), Vec::new());
    for (number, curve) in &shown.curves {
        let points = points(summary, curve, percentile);
        let path = points.iter().map(|(_, point)| point.at).collect();
        marks.push(Mark::Line(path, Stroke::curve(*number)));
        signs.extend(points.iter().map(|(_, point)| Mark::point(point, *number)));
        // The deepest points are what readers look for: they find their places first.
        let words = |(depth, point): &(u32, Point)| {
            Mark::beside(point.at, depth.to_string(), DEPTH_SIZE, Ink::Series(*number))
        };
        depths.extend(points.iter().rev().map(words));
    }
    marks.into_iter().chain(signs).chain(depths).collect()
}

fn labels(summary: &Summary, shown: &Shown<'_>, percentile: Percentile) -> Vec<Label> {
    let label = |(number, curve): &(usize, &Curve)| {
        let (_, last) = *points(summary, curve, percentile).last()?;
        Some(Label::of_series(wording::curve_label(summary, curve, LABEL_LETTERS), *number, last.at))
    };
    shown.curves.iter().filter_map(label).collect()
}

fn table(summary: &Summary, percentile: Percentile, shown: &[Shown<'_>]) -> PlotTable {
    let mut rows: Vec<(Vec<String>, Point, Vec<String>)> = Vec::new();
    // Also for one panel of several: rows of the table must say which of the ways they are of.
    let way = shown.len() > 1 || summary.panels.len() > 1;
    for one in shown {
        let conditions = way.then(|| curve::conditions_in_lines(one.panel).join(", "));
        for (_, curve) in &one.curves {
            rows.extend(points(summary, curve, percentile).into_iter().map(|(depth, point)| {
                let share = one.panel.line.map(|line| three_digits(point.at.0 / line.bps * 100.0));
                let named = vec![curve.target.clone(), curve.engine.clone(), depth.to_string()];
                let share = share.unwrap_or_else(|| "-".to_owned());
                (named, point, std::iter::once(share).chain(conditions.clone()).collect())
            }));
        }
    }
    let unit = RateUnit::for_largest(rows.iter().map(|(_, point, _)| point.at.0).fold(0.0, f64::max));
    let figures = |point: Point| [unit.write(point.at.0), milliseconds(Some(point.at.1 as u64))];
    let rows = rows
        .into_iter()
        .map(|(named, point, rest)| named.into_iter().chain(figures(point)).chain(rest).collect());
    let latency = format!("{} ms", percentile.name());
    let names = ["target", "engine", "depth", unit.name, &latency, "of line, %"];
    let columns = names.into_iter().chain(way.then_some("conditions")).map(str::to_owned);
    PlotTable { columns: columns.collect(), rows: rows.collect() }
}
