//! Throughput over queue depth with the feed line.

use analysis::{CellSummary, Curve, Figures, Measurement, Summary};

use super::canvas::Stroke;
use super::chart::{Chart, FEED_LINE, Label, Mark, PlotPanel, Point, cut, height_of, span_of};
use super::curves::{Shown, shown};
use super::scale::{Extent, Scale};
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::wording;
use crate::number::{RateUnit, milliseconds, three_digits};
use crate::plot::PlotTable;
use crate::side;
use crate::words::{self, curve};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (360, 232);
/// Panels that one figure holds.
// Two side by side: what lies beyond a dozen rows nobody compares, and each panel is some hundred kilobytes of page.
const PANELS_MAX: usize = 24;
/// Letters of a line of a label, for one panel and for several.
// Panels side by side have half of the sheet each, margins included.
const LABEL_LETTERS: (i32, i32) = (22, 18);
// Panels on one scale can be compared; beyond this the lowest would be a strip at the bottom.
/// Ratio of the highest values up to which panels share a scale.
const SHARED_UP_TO: f64 = 4.0;
/// Curves up to which bands are drawn; more of them would be mud, and intervals remain.
const BANDS_MAX: usize = 6;
// Beside and not upon it: both have an interval, and two on one line would be read as one.
/// From a point to the mark of the fresh repetitions beside it, pixels.
const BESIDE: i32 = 13;
/// Points of a curve that is computed.
const MODEL_STEPS: u32 = 64;

/// Describes the plot; `None` when nothing was measured.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let mut shown = shown(summary);
    if shown.is_empty() {
        return None;
    }
    let limit = cut(&mut shown, PANELS_MAX, "panels");
    let marks: Vec<Vec<Mark>> = shown.iter().map(|one| marks(summary, one)).collect();
    let scales = scales(&marks);
    let mut conditions = match summary.panels.as_slice() {
        [panel] => vec![curve::conditions(panel)],
        _ => Vec::new(),
    };
    if scales.iter().any(|scale| scale.0 != scales[0].0) {
        conditions.push("the rate axes of the panels differ".to_owned());
    }
    let letters = height_of(shown.len(), LABEL_LETTERS) as usize;
    let of_panel = |((one, marks), (y, unit)): ((&Shown<'_>, Vec<Mark>), (Scale, RateUnit))| {
        let title = if shown.len() == 1 { Vec::new() } else { curve::conditions_in_lines(one.panel) };
        let scales = (Scale::counts(depths(summary, one), depth_words(one)), y);
        PlotPanel::new(title, scales, height_of(shown.len(), PLOT), marks)
            .starving_below(one.panel.line.map(|line| line.bps))
            .labelled(labels(summary, one, unit, letters))
    };
    let panels = shown.iter().zip(marks).zip(scales).map(of_panel).collect();
    let chart = Chart::of(
        summary,
        ("throughput", "throughput against queue depth"),
        conditions.into_iter().chain(limit),
    );
    Some(key(summary, &shown, chart.with(panels, table(summary, &shown))))
}

/// One scale for all panels where their heights are alike, else one for each.
fn scales(marks: &[Vec<Mark>]) -> Vec<(Scale, RateUnit)> {
    let extents: Vec<Extent> = marks.iter().map(|marks| Mark::heights(marks)).collect();
    let highest = extents.iter().map(|extent| extent.high).fold(f64::NEG_INFINITY, f64::max);
    let lowest = extents.iter().map(|extent| extent.high).fold(f64::INFINITY, f64::min);
    let all = extents.iter().copied().fold(Extent::EMPTY, Extent::with);
    let of = |extent: Extent| if highest <= SHARED_UP_TO * lowest { all } else { extent };
    extents.into_iter().map(|extent| Scale::rates(of(extent), "")).collect()
}

fn depth_words(shown: &Shown<'_>) -> &'static str {
    match shown.panel.pieces.operation.as_str() {
        // A file under way may have several reads outstanding.
        "read_file" => "files under way",
        "write" => "queue depth (writes outstanding in the client)",
        "mix" => "queue depth (reads and writes outstanding in the client)",
        _ => "queue depth (reads outstanding in the client)",
    }
}

/// Cells of a curve, with the figures of those that have some.
fn cells<'a>(
    summary: &'a Summary,
    curve: &'a Curve,
) -> impl Iterator<Item = (&'a CellSummary, Option<&'a Figures>)> {
    curve.cells.iter().map(|index| &summary.cells[*index]).map(|cell| (cell, cell.figures()))
}

fn has_failed(cell: &CellSummary) -> bool {
    matches!(cell.measured, Measurement::Failed { .. })
}

fn depth_of(cell: &CellSummary) -> f64 {
    f64::from(cell.cell.queue_depth)
}

/// Depths of everything that is drawn.
fn depths<'a>(summary: &'a Summary, shown: &'a Shown<'a>) -> impl Iterator<Item = u32> + 'a {
    let cells = shown.curves.iter().flat_map(|(_, curve)| cells(summary, curve));
    cells
        .filter(|(cell, figures)| figures.is_some() || has_failed(cell))
        .map(|(cell, _)| cell.cell.queue_depth)
}

fn point(curve: &Curve, cell: &CellSummary, figures: &Figures) -> Point {
    let is_doubtful = figures.is_client_limited() || !figures.is_valid() || figures.is_unsteady();
    let at = (depth_of(cell), figures.bps.mean);
    Point { at, span: span_of(&figures.bps), is_hollow: is_doubtful || curve.demo }
}

fn marks(summary: &Summary, shown: &Shown<'_>) -> Vec<Mark> {
    let mut marks = Vec::new();
    if let Some(line) = shown.panel.line {
        marks.push(Mark::Across(line.bps, FEED_LINE));
        if line.demand_bps > line.bps {
            marks.push(Mark::Across(line.demand_bps, Stroke::solid(Ink::Line, 1)));
        }
    }
    let shallowest = depths(summary, shown).min().unwrap_or(1);
    marks.extend(shown.curves.iter().filter_map(|(number, curve)| model(*number, curve, shallowest)));
    for (number, curve) in &shown.curves {
        // A line through a failed depth would claim what was not measured.
        for run in curve.cells.split(|index| summary.cells[*index].figures().is_none()) {
            let figures = run.iter().filter_map(|index| {
                let cell = &summary.cells[*index];
                Some(point(curve, cell, cell.figures()?))
            });
            let points: Vec<Point> = figures.collect();
            let edges = points.iter().filter_map(|point| Some((point.at.0, point.span?)));
            if shown.curves.len() <= BANDS_MAX {
                marks.push(Mark::Band(edges.collect(), Ink::Series(*number)));
            }
            marks.push(Mark::Line(Point::line(&points), Stroke::curve(*number)));
        }
    }
    marks.extend(crosses(summary, shown));
    for (number, curve) in &shown.curves {
        for (cell, figures) in cells(summary, curve) {
            let Some(figures) = figures else { continue };
            marks.extend(signs(summary, (*number, curve), cell, figures));
        }
    }
    marks
}

/// Thin and dashed: what latency at depth 1 and the highest rate alone would give.
fn model(number: usize, curve: &Curve, shallowest: u32) -> Option<Mark> {
    let model = curve.model.filter(|model| model.deepest > shallowest)?;
    let (first, last) = (f64::from(shallowest.max(1)).log2(), f64::from(model.deepest.max(1)).log2());
    // Steps that are equal on the logarithmic axis: else the bend of the course would be drawn with two points.
    let depth = |step: u32| (first + (last - first) * f64::from(step) / f64::from(MODEL_STEPS)).exp2();
    let points = (0..=MODEL_STEPS).map(depth).map(|depth| (depth, model.bps_at(depth)));
    Some(Mark::Line(points.collect(), Stroke::model(Ink::Series(number), 1)))
}

/// Crosses on the depth axis, stacked where several series failed at one depth.
fn crosses(summary: &Summary, shown: &Shown<'_>) -> Vec<Mark> {
    let mut found: Vec<(f64, Mark)> = Vec::new();
    for (number, curve) in &shown.curves {
        for (cell, _) in cells(summary, curve).filter(|(cell, _)| has_failed(cell)) {
            let depth = depth_of(cell);
            // Stacked: two crosses at one place look like one.
            let below = found.iter().filter(|(other, _)| (other - depth).abs() < 0.5).count() as i32;
            let (sign, ink, nudge) = (Sign::Cross, Ink::Series(*number), (0, -7 - 12 * below));
            let at = (depth, f64::NEG_INFINITY);
            found.push((depth, Mark::Sign { at, span: None, sign, ink, nudge }));
        }
    }
    found.into_iter().map(|(_, mark)| mark).collect()
}

/// The point of a cell, and what the verdict rests on beside it.
fn signs(
    summary: &Summary,
    (number, curve): (usize, &Curve),
    cell: &CellSummary,
    figures: &Figures,
) -> Vec<Mark> {
    let (point, ink) = (point(curve, cell, figures), Ink::Series(number));
    let is_at = |index: usize| summary.cells[index].cell.cell == cell.cell.cell;
    let ring = curve.clears_at.filter(|index| is_at(*index)).map(|_| Mark::sign(point.at, Sign::Ring, ink));
    let fresh = summary.deciding(cell).map(|fresh| Mark::Sign {
        at: (point.at.0, fresh.bps.mean),
        span: span_of(&fresh.bps),
        sign: Sign::Deciding,
        ink,
        nudge: (BESIDE, 0),
    });
    ring.into_iter().chain([Mark::point(&point, number)]).chain(fresh).collect()
}

fn labels(summary: &Summary, shown: &Shown<'_>, unit: RateUnit, letters: usize) -> Vec<Label> {
    let of_curve = |(number, curve): &(usize, &Curve)| {
        let mut lines = wording::curve_label(summary, curve, letters);
        let measured = cells(summary, curve).filter_map(|(cell, figures)| Some((cell, figures?)));
        if let Some((cell, figures)) = measured.last() {
            return Label::of_series(lines, *number, (depth_of(cell), figures.bps.mean));
        }
        // Named all the same: a curve that is missing would look as if nobody had asked for it.
        lines.push("failed".to_owned());
        Label::of_line(lines, Ink::Series(*number), f64::NEG_INFINITY)
    };
    let mut labels: Vec<Label> = shown.curves.iter().map(of_curve).collect();
    if let Some(line) = &shown.panel.line {
        labels.push(Label::of_line(wording::line_label(summary, line, unit), Ink::Line, line.bps));
        if line.demand_bps > line.bps {
            labels.push(Label::of_line(wording::demand_label(line, unit), Ink::Line, line.demand_bps));
        }
    }
    labels
}

fn key(summary: &Summary, shown: &[Shown<'_>], chart: Chart) -> Chart {
    let curves = || shown.iter().flat_map(|one| &one.curves).map(|(_, curve)| *curve);
    let points = || {
        curves().flat_map(|curve| cells(summary, curve).map(move |(cell, figures)| (curve, cell, figures)))
    };
    // Two dashed lines mean two things: what depth 1 and the rate say, and what was claimed.
    let has_model =
        |is_predicted| curves().filter_map(|of| of.model).any(|model| model.is_predicted == is_predicted);
    let is_doubtful = |(curve, cell, figures): (&Curve, &CellSummary, Option<&Figures>)| {
        !curve.demo && figures.is_some_and(|figures| point(curve, cell, figures).is_hollow)
    };
    chart
        .key_of_means(summary.head.repetitions)
        .key(Sample::Ringed, "first depth whose interval clears the line")
        .key(Sample::Sign(Sign::Deciding), "fresh rounds, 95 % over all looks: the verdict rests on them")
        .key_if(
            curves().any(|curve| curve.demo),
            Sample::HOLLOW,
            "DEMO: a server that feedline started, shown and not judged",
        )
        .key_if(
            points().any(is_doubtful),
            Sample::HOLLOW,
            "hollow: client-limited or not valid, see the table",
        )
        .key(Sample::Sign(Sign::Cross), "on the axis: every repetition failed")
        .key(Sample::STARVING, format!("below the line: {}", wording::too_slow(summary)))
        .key_if(
            has_model(false),
            Sample::Stroke(Stroke::model(Ink::Muted, 1)),
            "dashed: QD x block / latency at depth 1, up to the highest rate",
        )
        .key_if(
            has_model(true),
            Sample::Stroke(Stroke::model(Ink::Muted, 1)),
            "dashed: predicted from the claim or the emulated server's settings",
        )
}

/// Every point of the plot, and every depth that failed.
fn table(summary: &Summary, shown: &[Shown<'_>]) -> PlotTable {
    let heights = shown.iter().map(|one| Mark::heights(&marks(summary, one)).high);
    let unit = RateUnit::for_largest(heights.fold(0.0, f64::max));
    let names = ["target", "engine", "depth", unit.name, "low", "high", "of line, %", "p50 ms", "p99 ms"];
    let mut columns = names.map(str::to_owned).to_vec();
    columns.extend((shown.len() > 1).then(|| "conditions".to_owned()));
    columns.push("note".to_owned());
    let mut rows = Vec::new();
    for one in shown {
        let conditions = (shown.len() > 1).then(|| curve::conditions_in_lines(one.panel).join(", "));
        let cells = one.curves.iter().flat_map(|(_, curve)| cells(summary, curve));
        rows.extend(cells.map(|(cell, figures)| row((cell, figures), conditions.as_deref(), unit)));
    }
    PlotTable { columns, rows }
}

fn row(
    (cell, figures): (&CellSummary, Option<&Figures>),
    conditions: Option<&str>,
    unit: RateUnit,
) -> Vec<String> {
    let rate = |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), |bps| unit.write(bps));
    let span = figures.and_then(|figures| span_of(&figures.bps));
    let share = figures.and_then(|figures| figures.of_line);
    let mut row = vec![
        cell.cell.target.clone(),
        cell.engine_label(),
        cell.cell.queue_depth.to_string(),
        rate(figures.map(|figures| figures.bps.mean)),
        rate(span.map(|span| span.0)),
        rate(span.map(|span| span.1)),
        share.map_or_else(|| "-".to_owned(), |share| three_digits(share * 100.0)),
        milliseconds(figures.and_then(|figures| figures.latency.p50_ns)),
        milliseconds(figures.and_then(|figures| figures.latency.p99_ns)),
    ];
    row.extend(conditions.map(str::to_owned));
    let doubts = words::flag::doubts(cell).into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; ");
    row.push(side::absent(cell).unwrap_or(doubts));
    row
}
