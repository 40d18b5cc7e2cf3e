//! Writes against reads: what a storage gives of both at once, and the region that feeds the job.

use analysis::{Plane, PlanePoint, Summary, planes};

use super::canvas::Stroke;
use super::chart::{Chart, FEED_LINE, Label, Mark, PlotPanel, Point, packed, starving};
use super::scale::{Extent, Scale};
use super::sign::Sample;
use super::theme::Ink;
use super::wording::{target_title, too_slow};
use crate::number::RateUnit;
use crate::plot::PlotTable;

/// Height of the plot.
const HEIGHT: i32 = 400;
/// Size of the shares inside the plot.
const SHARE_SIZE: f64 = 11.0;

/// Describes the plot; `None` where nothing was read and written at once.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let planes = planes(summary);
    let line = planes.iter().find_map(|plane| plane.line);
    let mut marks = Vec::new();
    if let Some((read_bps, write_bps)) = line {
        marks.extend([Mark::Down(read_bps, FEED_LINE), Mark::Across(write_bps, FEED_LINE)]);
    }
    marks.extend(planes.iter().enumerate().flat_map(|(series, plane)| of_target(plane, series)));
    let heights = Mark::heights(&marks);
    if planes.is_empty() || heights.is_empty() {
        return None;
    }
    let (x, y) = (side(Mark::widths(&marks), "read"), side(heights, "written at once"));
    let labels = planes.iter().enumerate().filter_map(|(series, plane)| label(summary, plane, series));
    let mut panel =
        PlotPanel::new(Vec::new(), (x, y), HEIGHT, marks).starving_left_of(line.map(|line| line.0));
    if let Some((read_bps, write_bps)) = line {
        panel.regions.push(starving(((read_bps, f64::NEG_INFINITY), (f64::INFINITY, write_bps))));
    }
    let conditions = ["numbers: share of writes; right and high is better".to_owned()];
    let chart = Chart::of(summary, ("plane", "reads and writes at once"), conditions)
        .with(vec![panel.labelled(labels.collect())], table(&planes))
        .key_of_points(
            "the fastest cell of a share: mean of its repetitions, 95 % interval of what is written",
            "the fastest cell of a share: mean; too few repetitions for an interval",
        )
        .key(Sample::HOLLOW, "hollow: client-limited, not valid or a DEMO")
        .key(Sample::Stroke(FEED_LINE), "what the need asks of reads, and of writes")
        .key(Sample::STARVING, format!("left of one or below the other: {}", too_slow(summary)));
    Some(chart)
}

/// A scale of rates from nothing on.
fn side(extent: Extent, words: &str) -> Scale {
    Scale::rates(extent.from(0.0), words).0
}

fn of_target(plane: &Plane, series: usize) -> Vec<Mark> {
    let point = |point: &PlanePoint| Point {
        at: at(point),
        span: point.write_bps.interval.map(|interval| (interval.low, interval.high)),
        is_hollow: plane.demo || point.is_doubtful,
    };
    let share = |point: &PlanePoint| {
        Mark::beside(at(point), format!("{} %", point.write_percent), SHARE_SIZE, Ink::Series(series))
    };
    let path = Mark::Line(plane.points.iter().map(at).collect(), Stroke::curve(series));
    let signs = plane.points.iter().map(|one| Mark::point(&point(one), series));
    std::iter::once(path).chain(signs).chain(plane.points.iter().map(share)).collect()
}

fn at(point: &PlanePoint) -> (f64, f64) {
    (point.read_bps.mean, point.write_bps.mean)
}

fn label(summary: &Summary, plane: &Plane, series: usize) -> Option<Label> {
    // At its end of the reads, which lies next to the margin.
    let end = at(plane.points.first()?);
    Some(Label::of_series(packed(&target_title(summary, &plane.target)), series, end))
}

fn table(planes: &[Plane]) -> PlotTable {
    let rates = planes
        .iter()
        .flat_map(|plane| &plane.points)
        .map(|point| point.read_bps.mean.max(point.write_bps.mean));
    let unit = RateUnit::for_largest(rates.fold(0.0, f64::max));
    let columns =
        ["target", "share of writes, %", &format!("{} read", unit.name), &format!("{} written", unit.name)];
    let row = |plane: &Plane, point: &PlanePoint| {
        let rates = [point.read_bps, point.write_bps].map(|rate| unit.write(rate.mean));
        let named = [plane.target.clone(), point.write_percent.to_string()];
        named.into_iter().chain(rates).collect()
    };
    let rows = planes.iter().flat_map(|plane| plane.points.iter().map(move |point| row(plane, point)));
    PlotTable { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}
