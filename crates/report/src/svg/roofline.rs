//! Supply and demand by the size of a sample: what each target delivers, and what workloads take.

use analysis::{DemandPoint, Roofline, Summary, Supply, SupplyPoint};

use super::canvas::Stroke;
use super::chart::{At, Chart, Label, Mark, PlotPanel, Point, cut, packed, span_of};
use super::scale::Scale;
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::wording::target_title;
use crate::number::{grouped, three_digits};
use crate::plot::PlotTable;

/// Height of the plot.
const PLOT: i32 = 420;
/// Size of the names of workloads.
const NAME_SIZE: f64 = 11.5;
/// Points of a line that is computed.
// Fine enough that the line ends within a pixel or two of the frame.
const STEPS: u32 = 400;
/// Targets whose supply can be told apart.
const SUPPLIES_MAX: usize = 8;

/// Describes the plot; `None` where no target was measured.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let mut roofline = analysis::roofline(summary)?;
    let limit = cut(&mut roofline.supplies, SUPPLIES_MAX, "targets");
    // The workload of the need is shown once: as the need.
    if let Some(need) = roofline.need.clone() {
        roofline.demands.retain(|demand| !is_same(demand, &need));
    }
    let (x, y) = scales(&roofline)?;
    let (mut marks, mut labels) = (Vec::new(), Vec::new());
    for (number, supply) in roofline.supplies.iter().enumerate() {
        let path = roof(&x, &y, supply);
        let last = supply.points.last().map(|point| (point.sample_bytes, point.samples_per_s.mean));
        // The line leads to the label; where it leaves the plot below, the last point does.
        let end = path.last().copied().filter(|end| y.share(end.1) > 0.01).or(last);
        labels.extend(end.map(|end| Label::of_series(label(summary, supply), number, end)));
        let is_roof = supply.roofs.is_some();
        // Dotted where only one size was measured: a roof needs two.
        let stroke = if is_roof { Stroke::curve(number) } else { Stroke::leader(number) };
        marks.push(Mark::Line(path, stroke));
        marks.extend(supply.points.iter().map(|of| Mark::point(&point(supply, of), number)));
    }
    marks.extend(demands(&x, &y, &roofline));
    let panel = PlotPanel::new(Vec::new(), (x, y), PLOT, marks).labelled(labels);
    let heading = ("roofline", "supply and demand by sample size");
    let has_roof = |is_known: bool| roofline.supplies.iter().any(|of| of.roofs.is_some() == is_known);
    let chart = Chart::of(summary, heading, conditions(&roofline).into_iter().chain(limit))
        .with(vec![panel], table(summary, &roofline))
        .key_of_points("best mean of a size, 95 % interval", "best mean of a size")
        .key(Sample::HOLLOW, "hollow: client-limited, not valid or a DEMO")
        .key_if(
            has_roof(true),
            Sample::Nothing,
            "line: the most samples/s, then the most bytes/s, that any size reached",
        )
        .key_if(has_roof(false), Sample::Nothing, "dotted: the same bytes/s at other sizes, not measured")
        .key_if(!roofline.demands.is_empty(), Sample::Sign(Sign::Demand), "demand of a workload");
    Some(chart)
}

fn is_same(demand: &DemandPoint, need: &DemandPoint) -> bool {
    // Within a percent: a need may be stated in rounded figures.
    let near = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a / b - 1.0).abs() < 0.01);
    near(demand.sample_bytes, need.sample_bytes) && near(demand.samples_per_s, need.samples_per_s)
}

/// Scales that hold every point.
fn scales(roofline: &Roofline) -> Option<(Scale, Scale)> {
    let points = || roofline.supplies.iter().flat_map(|supply| &supply.points);
    let demands = || roofline.demands.iter().chain(&roofline.need);
    let sizes = || points().map(|point| point.sample_bytes).chain(demands().filter_map(|of| of.sample_bytes));
    // A bound at zero has no logarithm: its interval ends with the scale.
    let spans = points().flat_map(|point| {
        let (low, high) = point.samples_per_s.span();
        [low, point.samples_per_s.mean, high]
    });
    let widest = sizes().fold(0.0, f64::max);
    let narrowest = sizes().fold(f64::INFINITY, f64::min);
    // A need in bytes crosses the sizes that are shown.
    let of_bytes = roofline.need.iter().filter(|need| need.sample_bytes.is_none());
    // In the middle of the sizes: a need in bytes is a slanted line, and a scale that held both of its ends would press
    // all else together.
    let crossings = of_bytes.map(|need| need.bps / (narrowest * widest).sqrt());
    let rates: Vec<f64> = spans.chain(demands().filter_map(|of| of.samples_per_s)).chain(crossings).collect();
    let low = rates.iter().copied().filter(|rate| *rate > 0.0).reduce(f64::min)?;
    let high = rates.iter().copied().reduce(f64::max)?;
    let x = Scale::decades(narrowest / 2.0, widest * 2.0, "size of a sample, log scale", size);
    Some((x, Scale::decades(low / 1.5, high * 1.5, "samples/s, log scale", short)))
}

/// `500 B`, `20 kB`, `1 MB`.
fn size(bytes: f64) -> String {
    match bytes {
        // A power of ten that was computed may lie just below it.
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

fn point(supply: &Supply, point: &SupplyPoint) -> Point {
    Point {
        at: (point.sample_bytes, point.samples_per_s.mean),
        span: span_of(&point.samples_per_s),
        is_hollow: supply.demo || point.is_doubtful,
    }
}

/// The part of a rate by sample size that lies inside the plot: straight but for `knee`, where its slope changes.
fn line(x: &Scale, y: &Scale, rate: impl Fn(f64) -> f64, knee: Option<f64>) -> Vec<At> {
    let (bottom, top) = (y.at(0.0), y.at(1.0));
    let at = |size: f64| Some((size, rate(size))).filter(|at| (bottom..=top).contains(&at.1));
    let mut inside = (0..=STEPS).map(|step| x.at(f64::from(step) / f64::from(STEPS))).filter_map(at);
    let (first, last) = (inside.next(), inside.next_back());
    let is_between = |size: f64| first.is_some_and(|of| of.0 < size) && last.is_some_and(|of| size < of.0);
    let knee = knee.filter(|size| is_between(*size)).and_then(at);
    first.into_iter().chain(knee).chain(last).collect()
}

fn roof(x: &Scale, y: &Scale, supply: &Supply) -> Vec<At> {
    match (supply.roofs, supply.points.first()) {
        (Some((samples_per_s, bps)), _) => {
            let rate = |size| supply.roof_at(size).unwrap_or(f64::NAN);
            line(x, y, rate, Some(bps / samples_per_s))
        }
        (None, Some(point)) => line(x, y, |size| point.samples_per_s.mean * point.sample_bytes / size, None),
        (None, None) => Vec::new(),
    }
}

/// Workloads and the need, with their names beside them: that of the need finds its place first.
fn demands(x: &Scale, y: &Scale, roofline: &Roofline) -> Vec<Mark> {
    let at = |demand: &DemandPoint| Some((demand.sample_bytes?, demand.samples_per_s?));
    let (mut signs, mut names) = (Vec::new(), Vec::new());
    if let Some(need) = &roofline.need {
        let place = if let Some(at) = at(need) {
            signs.push(Mark::sign(at, Sign::Demand, Ink::Line));
            Some(at)
        } else {
            let path = line(x, y, |size| need.bps / size, None);
            let ends = path.first().copied().zip(path.last().copied());
            signs.push(Mark::Line(path, Stroke::solid(Ink::Line, 2)));
            ends.map(|(from, to)| ((from.0 * to.0).sqrt(), (from.1 * to.1).sqrt()))
        };
        let words = format!("need: {}", need.name);
        // First of the names, so that it has the best place: the plot was made for it.
        names.extend(place.map(|at| Mark::beside(at, words, NAME_SIZE, Ink::Line)));
    }
    for (at, name) in roofline.demands.iter().filter_map(|demand| Some((at(demand)?, &demand.name))) {
        signs.push(Mark::sign(at, Sign::Demand, Ink::Text));
        names.push(Mark::beside(at, name.clone(), NAME_SIZE, Ink::Text));
    }
    signs.into_iter().chain(names).collect()
}

fn conditions(roofline: &Roofline) -> Vec<String> {
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
    conditions
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
