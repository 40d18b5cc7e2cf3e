//! Supply and demand by the size of a sample: what each target delivers, and what workloads take.

use analysis::{DemandPoint, Roofline, Summary, Supply, SupplyPoint};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::chart::{Chart, height_around};
use super::drawn::{Drawn, margin_of, packed, target_title};
use super::key::{self, Mark};
use super::margin::{self, MarginLabel};
use super::marker::{self, Canvas, Refusal};
use super::place::Room;
use super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of, text};
use super::theme::Ink;
use super::{ticks, wording};
use crate::number::{grouped, three_digits};
use crate::plot::PlotTable;

/// Height of the plot.
const PLOT: i32 = 420;
/// Size of the names of workloads.
const NAME_SIZE: f64 = 11.5;
/// Points of a line that is computed.
const STEPS: u32 = 400;
/// Targets whose supply can be told apart.
const SUPPLIES_MAX: usize = 8;
/// What the plot shows, in its title.
const SHOWN: &str = "supply and demand by sample size";

/// Draws the figure; `None` where no target was measured.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let mut roofline = analysis::roofline(summary)?;
    let all = roofline.supplies.len();
    roofline.supplies.truncate(SUPPLIES_MAX);
    // The workload of the need is shown once: as the need.
    if let Some(need) = roofline.need.clone() {
        roofline.demands.retain(|demand| !is_same(demand, &need));
    }
    let chart = chart(&roofline)?;
    let labels: Vec<Vec<String>> = roofline.supplies.iter().map(|supply| label(summary, supply)).collect();
    let (margin_right, needed) = margin_of(std::iter::once(labels.as_slice()));
    let height = height_around(PLOT.max(needed), 0);
    let key = key::flow(entries(&roofline), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, &roofline, all);
    let svg = sheet.drawn(height, &key, |canvas, top| {
        let place = (EDGE, top, WIDTH - 2 * EDGE, height);
        draw_chart(canvas, &Chart { place, margin_right, ..chart }, &roofline, &labels)
    });
    Some(Drawn { name: "roofline", shown: SHOWN, svg, table: table(summary, &roofline) })
}

fn is_same(demand: &DemandPoint, need: &DemandPoint) -> bool {
    let near = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a / b - 1.0).abs() < 0.01);
    near(demand.sample_bytes, need.sample_bytes) && near(demand.samples_per_s, need.samples_per_s)
}

/// Axes that hold every point, without a place yet.
fn chart(roofline: &Roofline) -> Option<Chart> {
    let points = || roofline.supplies.iter().flat_map(|supply| &supply.points);
    let demands = || roofline.demands.iter().chain(&roofline.need);
    let sizes = || points().map(|point| point.sample_bytes).chain(demands().filter_map(|of| of.sample_bytes));
    let spans = points().flat_map(|point| {
        let (low, high) = point.samples_per_s.span();
        // A bound at zero has no logarithm: its whisker ends at the axis.
        [if low > 0.0 { low } else { point.samples_per_s.mean }, high]
    });
    // A need in bytes crosses the sizes that are shown.
    let widest = sizes().fold(0.0, f64::max);
    let narrowest = sizes().fold(f64::INFINITY, f64::min);
    let of_bytes = roofline.need.iter().filter(|need| need.sample_bytes.is_none());
    let crossings = of_bytes.map(|need| need.bps / (narrowest * widest).sqrt());
    let rates: Vec<f64> = spans.chain(demands().filter_map(|of| of.samples_per_s)).chain(crossings).collect();
    let low = rates.iter().copied().filter(|rate| *rate > 0.0).reduce(f64::min)?;
    let high = rates.iter().copied().reduce(f64::max)?;
    let x = ticks::decades(narrowest / 2.0, widest * 2.0, "size of a sample, log scale", size);
    let y = ticks::decades(low / 1.5, high * 1.5, "samples/s, log scale", short);
    Some(Chart { place: (0, 0, 0, 0), margin_right: 0, title: Vec::new(), x, y })
}

/// `500 B`, `20 kB`, `1 MB`.
fn size(bytes: f64) -> String {
    match bytes {
        0.999e12.. => format!("{} TB", trimmed(bytes / 1e12)),
        0.999e9.. => format!("{} GB", trimmed(bytes / 1e9)),
        0.999e6.. => format!("{} MB", trimmed(bytes / 1e6)),
        0.999e3.. => format!("{} kB", trimmed(bytes / 1e3)),
        _ => format!("{} B", trimmed(bytes)),
    }
}

/// `500`, `20 k`, `1 M`.
fn short(rate: f64) -> String {
    match rate {
        0.999e6.. => format!("{} M", trimmed(rate / 1e6)),
        0.999e3.. => format!("{} k", trimmed(rate / 1e3)),
        _ => trimmed(rate),
    }
}

fn trimmed(value: f64) -> String {
    let decimals = (-value.log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

fn label(summary: &Summary, supply: &Supply) -> Vec<String> {
    let best = supply.points.iter().map(|point| point.samples_per_s.mean * point.sample_bytes);
    let best = feed::format_bps(best.fold(0.0, f64::max));
    let mut lines = packed(&target_title(summary, &supply.target));
    lines.push(if supply.roofs.is_some() { format!("up to {best}") } else { best });
    lines
}

fn sheet(summary: &Summary, roofline: &Roofline, all: usize) -> Sheet {
    let mut conditions = vec![
        "a target could supply a workload whose mark lies below its line; supply: the best cell of each size of \
         samples, the client's page cache left out"
            .to_owned(),
    ];
    if let Some((kind, count)) = roofline.accelerators.as_ref().filter(|_| !roofline.demands.is_empty()) {
        conditions.push(format!(
            "demand: {count} x {kind} on the workloads of MLPerf Storage, at the utilization that each asks for"
        ));
    }
    if roofline.supplies.len() < all {
        conditions.push(format!("the first {} of {all} targets", roofline.supplies.len()));
    }
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn entries(roofline: &Roofline) -> Vec<(Mark, String)> {
    let points = || roofline.supplies.iter().flat_map(|supply| &supply.points);
    let mut found = if points().any(|point| point.samples_per_s.interval.is_some()) {
        vec![(Mark::Interval, "best mean of a size, 95 % interval".to_owned())]
    } else {
        vec![(Mark::Point, "best mean of a size".to_owned())]
    };
    if points().any(|point| point.is_doubtful) || roofline.supplies.iter().any(|supply| supply.demo) {
        found.push((Mark::Hollow, "hollow: client-limited, not valid or a DEMO".to_owned()));
    }
    if roofline.supplies.iter().any(|supply| supply.roofs.is_some()) {
        let words = "line: the most samples/s, then the most bytes/s, that any size reached".to_owned();
        found.push((Mark::Nothing, words));
    }
    if roofline.supplies.iter().any(|supply| supply.roofs.is_none()) {
        found.push((Mark::Nothing, "dotted: the same bytes/s at other sizes, not measured".to_owned()));
    }
    if !roofline.demands.is_empty() {
        found.push((Mark::Demand, "demand of a workload".to_owned()));
    }
    found
}

fn draw_chart(
    canvas: &Canvas<'_>,
    chart: &Chart,
    roofline: &Roofline,
    labels: &[Vec<String>],
) -> Result<(), Refusal> {
    let x = ticks::thinned(chart.x.clone(), chart.length());
    let chart = &Chart { x, ..chart.clone() };
    chart.frame(canvas)?;
    let (across, down) = (chart.across(), chart.down());
    let mut room = Room::within(&across, &down);
    let mut named = Vec::new();
    for (number, (supply, lines)) in roofline.supplies.iter().zip(labels).enumerate() {
        let path = roof_path(chart, supply);
        path.windows(2).for_each(|pair| room.line(pair[0], pair[1]));
        let ink = if supply.roofs.is_some() { Ink::Curve(number) } else { Ink::Leader(number) };
        let width = if supply.roofs.is_some() { 2 } else { 1 };
        if path.len() > 1 {
            canvas.draw(&PathElement::new(path.clone(), ink.sentinel().stroke_width(width)))?;
        }
        for point in &supply.points {
            let at = draw_point(canvas, chart, number, supply, point)?;
            room.mark(at, 9.0);
        }
        let last = supply.points.last().map(|point| px(chart, point.sample_bytes, point.samples_per_s.mean));
        // The line leads to the label; where it leaves the plot below, the last point does.
        let end = path.last().copied().filter(|end| end.1 < down.end - 1).or(last);
        if let Some(end) = end {
            room.line((end.0 + 8, end.1), (across.end, end.1));
            let y = f64::from(end.1);
            named.push(MarginLabel { lines: lines.clone(), ink: Ink::Series(number), y, end: Some(end) });
        }
    }
    draw_demands(canvas, chart, roofline, &mut room)?;
    margin::draw(canvas, &named, across.end, &down)
}

fn px(chart: &Chart, sample_bytes: f64, samples_per_s: f64) -> (i32, i32) {
    chart.px(sample_bytes.log10(), samples_per_s.log10())
}

/// The part of a rate by sample size that lies inside the plot: straight but for `knee`, where its slope changes.
fn line_path(chart: &Chart, rate: impl Fn(f64) -> f64, knee: Option<f64>) -> Vec<(i32, i32)> {
    let place = |step: u32| chart.x.low + (chart.x.high - chart.x.low) * f64::from(step) / f64::from(STEPS);
    let at = |x: f64| {
        let y = rate(10_f64.powf(x)).log10();
        (chart.y.low..=chart.y.high).contains(&y).then(|| (x, chart.px(x, y)))
    };
    let mut inside = (0..=STEPS).map(place).filter_map(at);
    let (first, last) = (inside.next(), inside.next_back());
    let is_between = |x: f64| first.is_some_and(|of| of.0 < x) && last.is_some_and(|of| x < of.0);
    let knee = knee.map(f64::log10).filter(|x| is_between(*x)).and_then(at);
    first.into_iter().chain(knee).chain(last).map(|of| of.1).collect()
}

fn roof_path(chart: &Chart, supply: &Supply) -> Vec<(i32, i32)> {
    match (supply.roofs, supply.points.first()) {
        (Some((samples_per_s, bps)), _) => {
            line_path(chart, |size| supply.roof_at(size).unwrap_or(f64::NAN), Some(bps / samples_per_s))
        }
        (None, Some(point)) => {
            line_path(chart, |size| point.samples_per_s.mean * point.sample_bytes / size, None)
        }
        (None, None) => Vec::new(),
    }
}

fn draw_point(
    canvas: &Canvas<'_>,
    chart: &Chart,
    number: usize,
    supply: &Supply,
    point: &SupplyPoint,
) -> Result<(i32, i32), Refusal> {
    let at = px(chart, point.sample_bytes, point.samples_per_s.mean);
    if point.samples_per_s.interval.is_some() {
        let (low, high) = point.samples_per_s.span();
        let low = if low > 0.0 { px(chart, point.sample_bytes, low).1 } else { chart.down().end };
        let high = px(chart, point.sample_bytes, high).1;
        marker::whisker(canvas, at.0, (low, high), Ink::Series(number))?;
    }
    marker::point(canvas, at, number, supply.demo || point.is_doubtful)?;
    Ok(at)
}

fn draw_demands(
    canvas: &Canvas<'_>,
    chart: &Chart,
    roofline: &Roofline,
    room: &mut Room,
) -> Result<(), Refusal> {
    let at = |demand: &DemandPoint| Some(px(chart, demand.sample_bytes?, demand.samples_per_s?));
    for demand in roofline.demands.iter().chain(&roofline.need) {
        if let Some(at) = at(demand) {
            room.mark(at, 9.0);
        }
    }
    let write = |room: &mut Room, at: (i32, i32), words: &str, ink: Ink| match room.find(at, words, NAME_SIZE)
    {
        Some(spot) => text(canvas, words, (spot.left, spot.middle), (NAME_SIZE, ink, HPos::Left)),
        None => Ok(()),
    };
    if let Some(need) = &roofline.need {
        let words = format!("need: {}", need.name);
        if let Some(at) = at(need) {
            marker::demand(canvas, at, Ink::Line)?;
            write(room, at, &words, Ink::Line)?;
        } else {
            let path = line_path(chart, |size| need.bps / size, None);
            path.windows(2).for_each(|pair| room.line(pair[0], pair[1]));
            let middle = path
                .first()
                .zip(path.last())
                .map(|(from, to)| (i32::midpoint(from.0, to.0), i32::midpoint(from.1, to.1)));
            canvas.draw(&PathElement::new(path, Ink::Line.sentinel().stroke_width(2)))?;
            middle.map_or(Ok(()), |at| write(room, at, &words, Ink::Line))?;
        }
    }
    for demand in &roofline.demands {
        let Some(at) = at(demand) else { continue };
        marker::demand(canvas, at, Ink::Text)?;
        write(room, at, &demand.name, Ink::Text)?;
    }
    Ok(())
}

fn table(summary: &Summary, roofline: &Roofline) -> PlotTable {
    let columns = ["", "name", "sample B", "samples/s", "low", "high", "GB/s", "cell"];
    let gbps = |bps: f64| three_digits(bps / 1e9);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for supply in &roofline.supplies {
        rows.extend(supply.points.iter().map(|point| {
            let rate = point.samples_per_s;
            let bound = |get: fn(feed::Interval) -> f64| {
                rate.interval.map_or_else(|| "-".to_owned(), |interval| grouped(get(interval)))
            };
            vec![
                "supply".to_owned(),
                target_title(summary, &supply.target),
                grouped(point.sample_bytes),
                grouped(rate.mean),
                bound(|interval| interval.low),
                bound(|interval| interval.high),
                gbps(rate.mean * point.sample_bytes),
                point.cell.clone(),
            ]
        }));
    }
    let demands = roofline.demands.iter().map(|demand| ("demand", demand));
    for (kind, demand) in demands.chain(roofline.need.iter().map(|need| ("need", need))) {
        let dash = || "-".to_owned();
        rows.push(vec![
            kind.to_owned(),
            demand.name.clone(),
            demand.sample_bytes.map_or_else(dash, grouped),
            demand.samples_per_s.map_or_else(dash, grouped),
            dash(),
            dash(),
            gbps(demand.bps),
            String::new(),
        ]);
    }
    PlotTable { columns: columns.map(str::to_owned).to_vec(), rows }
}
