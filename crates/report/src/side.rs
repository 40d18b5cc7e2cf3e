//! The tables beside the main one: names looked up, paced loads, where a file's time goes.

use analysis::{CellSummary, Measurement, Paced, Percentile, Plane, PlanePoint, Rate, Summary, Table, View};

use record::{Axis, AxisWords};

use crate::grid::{Column, Filling, Grid, Width};
use crate::group::distinct;
use crate::number::{
    RateUnit, cut_percent, interval, latency, milliseconds, of_line, percent, three_digits, two_digits,
};
use crate::words;

/// Cells up to which every one of them is shown on a terminal; of more, the judged ones.
// Fewer than in the table of cells: several of these tables stand above the verdicts.
pub(crate) const SHOWN_MAX: usize = 12;
pub(crate) const SHOWN: &str = "the judged cells";

/// A table of cells, with the columns that tell them apart.
pub(crate) fn of_cells<T>(
    title: impl Into<String>,
    items: &[T],
    cell: impl Fn(&T) -> &CellSummary,
) -> Filling<'_, T> {
    Grid::of(title, items)
        .name("target", |item| cell(item).cell.target.clone())
        .name("engine", |item| cell(item).engine_label())
        .number("QD", |item| cell(item).cell.queue_depth.to_string())
}

/// A table of measured cells, of which a terminal shows the judged ones where they are many.
pub(crate) fn of_measured<'a>(
    summary: &Summary,
    title: impl Into<String>,
    cells: &'a [&CellSummary],
) -> Filling<'a, &'a CellSummary> {
    of_cells(title, cells, |cell| cell).brief(SHOWN_MAX, SHOWN, |cell| summary.is_judged(cell))
}

/// Cells that look up, list or change names.
pub(crate) fn metadata(summary: &Summary) -> Grid {
    let cells: Vec<&CellSummary> = summary.metadata().collect();
    let fastest = summary.metadata().filter_map(|cell| Some(cell.operations()?.ops_per_s.mean));
    // By the fastest, as rates in bytes are: one unit for the column.
    let (unit, divisor) = match fastest.fold(0.0, f64::max) {
        1e6.. => ("M ops/s", 1e6),
        1e3.. => ("k ops/s", 1e3),
        _ => ("ops/s", 1.0),
    };
    let rate = |value: f64| three_digits(value / divisor);
    let apart = Apart::among(&cells);
    Grid::of("metadata: names looked up, listed and changed; no bytes, no line", &cells)
        .name("target", |cell| cell.cell.target.clone())
        .name("what", |cell| cell.cell.operation.to_string())
        .name("engine", |cell| cell.engine_label())
        .number("QD", |cell| cell.cell.queue_depth.to_string())
        .figure(unit, |cell| Some(rate(cell.operations()?.ops_per_s.mean)))
        .figure("95 % interval", |cell| interval(&cell.operations()?.ops_per_s, rate))
        .metrics(Table::Cells, |cell| View::of_cell(cell))
        .note(|cell| absent(cell).unwrap_or_else(|| noted([apart.words(cell), names_note(cell)])))
        .done()
}

fn names_note(cell: &CellSummary) -> String {
    let entries = cell.operations().and_then(|operations| operations.entries_per_s);
    let entries = entries.map(|rate| format!("{} entries/s", feed::format_count(rate.mean)));
    noted([entries.unwrap_or_default(), doubts(cell)])
}

/// Reasons to doubt a cell.
pub(crate) fn doubts(cell: &CellSummary) -> String {
    words::flag::doubts(cell).into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; ")
}

/// Parts of a note, without the empty ones.
pub(crate) fn noted<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Why a cell has no figures.
pub(crate) fn absent(cell: &CellSummary) -> Option<String> {
    match &cell.measured {
        Measurement::Failed { reason, .. } => Some(format!("failed: {}", words::gap::words(reason))),
        Measurement::NotRun { reason } => Some(format!("not run: {}", words::gap::words(reason))),
        Measurement::Figures(_) | Measurement::Operations(_) => None,
    }
}

/// Cells whose reads begin by a schedule, in a few columns.
pub(crate) fn paced(summary: &Summary, unit: RateUnit) -> Grid {
    let cells: Vec<&CellSummary> = summary.paced().collect();
    let of = |cell: &CellSummary| cell.figures().and_then(|figures| figures.paced);
    let service = |cell: &CellSummary| {
        let latency = cell.figures().filter(|figures| figures.paced.is_some())?.latency;
        Some(pair(&milliseconds(latency.p50_ns), &milliseconds(latency.p99_ns)))
    };
    let apart = Apart::among(&cells);
    let title =
        "paced: offered, and p50/p99 from the submission (service) and from the intended time (response)";
    of_cells(title, &cells, |cell| cell)
        .figure(unit.name, |cell| Some(unit.write(of(cell)?.offered_bps)))
        .figure("of line", |cell| of(cell)?.of_line.map(of_line))
        .figure("arrivals", |cell| Some(count(of(cell)?.arrivals)))
        .figure("served", |cell| Some(served(&of(cell)?)))
        .figure("service ms", |cell| service(cell))
        .figure("response ms", |cell| {
            let of = of(cell)?;
            Some(pair(&response(of.response_p50), &response(of.response_p99)))
        })
        .figure("lag p99", |cell| latency(of(cell)?.lag_p99_ns))
        .note(|cell| absent(cell).unwrap_or_else(|| noted([apart.words(cell), paced_note(cell, unit)])))
        .done()
}

/// What storages gave of reads and writes at once, for each share of writes.
pub(crate) fn planes(summary: &Summary) -> Grid {
    let planes = analysis::planes(summary);
    let rows: Vec<(&Plane, &PlanePoint, &CellSummary)> = planes
        .iter()
        .flat_map(|plane| plane.points.iter().map(move |point| (plane, point)))
        .filter_map(|(plane, point)| Some((plane, point, summary.cell(&point.cell)?)))
        .collect();
    let both = rows.iter().map(|(_, point, _)| point.read_bps.mean + point.write_bps.mean);
    let unit = RateUnit::for_largest(both.fold(0.0, f64::max));
    let rate = |rate: &Rate| (rate.mean > 0.0).then(|| unit.write(rate.mean));
    let share = |rate: &Rate, line: Option<f64>| {
        line.filter(|_| rate.mean > 0.0).map(|line| of_line(rate.mean / line))
    };
    let title = "reads and writes at once: the fastest cell for each share of writes";
    of_cells(title, &rows, |(_, _, cell)| cell)
        .figure("written", |(_, point, _)| Some(format!("{} %", point.write_percent)))
        .figure(&format!("read {}", unit.name), |(_, point, _)| rate(&point.read_bps))
        .figure("of need", |(plane, point, _)| share(&point.read_bps, plane.line.map(|line| line.0)))
        .figure(&format!("write {}", unit.name), |(_, point, _)| rate(&point.write_bps))
        .figure("of need", |(plane, point, _)| share(&point.write_bps, plane.line.map(|line| line.1)))
        .note(|(_, point, _)| if point.is_doubtful { "doubtful".to_owned() } else { String::new() })
        .done()
        .without_unknown()
}

fn pair(p50: &str, p99: &str) -> String {
    format!("{p50}/{p99}")
}

/// A rank among those that were not served has no value.
fn response(percentile: Percentile) -> String {
    match percentile {
        Percentile::At(ns) => milliseconds(Some(ns)),
        Percentile::Unknown => "-".to_owned(),
        // A dash would say that nobody counted; here it is known that the wait had no end in the window.
        Percentile::NotServed => "none".to_owned(),
    }
}

/// Cut, not rounded: 99.99 % is not all.
fn served(paced: &Paced) -> String {
    if paced.not_served() == 0 {
        return "100 %".to_owned();
    }
    format!("{} %", cut_percent(paced.served_share()))
}

/// `27.0 k`, `900`.
fn count(count: u64) -> String {
    match count as f64 {
        many @ 1e6.. => format!("{} M", three_digits(many / 1e6)),
        // From ten thousand on: four digits are read as they stand.
        some @ 1e4.. => format!("{} k", three_digits(some / 1e3)),
        _ => count.to_string(),
    }
}

fn paced_note(cell: &CellSummary, unit: RateUnit) -> String {
    let Some(figures) = cell.figures() else { return String::new() };
    let Some(paced) = figures.paced else { return "no arrival was counted".to_owned() };
    let pace = cell.cell.pace.as_ref().map(|pace| format!("{} arrivals", pace.arrivals));
    let below = paced.of_line.filter(|_| !paced.offers_line);
    let below = below.map(|share| format!("offers {} of the line: no verdict", of_line(share)));
    // Served, and late: the queue grew through the window, and what ended behind it was not kept up with.
    let behind = !paced.keeps_up() && paced.kept_share < paced.served_share();
    let achieved = (paced.not_served() > 0 || behind).then(|| {
        let late = if behind { ", the rest after the window" } else { "" };
        format!("achieved {}{late}", unit.said(figures.bps.mean))
    });
    let not_issued =
        (paced.not_issued > 0).then(|| format!("{} never issued", feed::group_digits(paced.not_issued)));
    let beyond =
        (paced.response_p99 == Percentile::NotServed).then(|| "no p99: its rank was not served".to_owned());
    let parts = pace.into_iter().chain(below).chain(achieved).chain(not_issued).chain(beyond);
    parts.chain(Some(doubts(cell)).filter(|words| !words.is_empty())).collect::<Vec<_>>().join("; ")
}

/// Steps of reading a whole file, as `analysis` names them.
const STEPS: [&str; 4] = ["open", "stat", "read", "close"];

/// Where the time of a whole file goes.
pub(crate) fn phases(summary: &Summary) -> Grid {
    let cells = phased(summary, |cell| !steps(cell, true).is_empty());
    let has_ring = cells.iter().any(|cell| is_ring(cell));
    let grid = of_measured(summary, "where a file's time goes: p50/p99 of each step, ms", &cells);
    let apart = Apart::among(&cells);
    let grid = with_steps(grid, &STEPS).note(|cell| apart.words(cell));
    if has_ring { grid.foot(RING_FOOT).done() } else { grid.done() }
}

/// Where the time of a request goes, for storage behind a network: a table for each protocol and operation, whose
/// phases are its own.
pub(crate) fn requests(summary: &Summary) -> Vec<Grid> {
    let of_cell = |cell: &CellSummary| steps(cell, false);
    let all = phased(summary, |cell| !steps(cell, false).is_empty());
    let apart = Apart::among(&all);
    // Phases of two protocols have no column in common, and a table of both would be half empty.
    let kinds = distinct(all.iter().map(|cell| of_cell(cell)));
    let grid = |kind: Vec<&'static str>| {
        let cells: Vec<&CellSummary> = all.iter().copied().filter(|cell| of_cell(cell) == kind).collect();
        let title = match kind.as_slice() {
            ["reads", "writes"] => "reads and writes apart: p50/p99 of each, ms",
            _ => "where a request's time goes: p50/p99 of each phase, ms",
        };
        let grid = of_measured(summary, title, &cells);
        with_steps(grid, &kind).note(|cell| apart.words(cell)).done()
    };
    kinds.into_iter().map(grid).collect()
}

fn phased(summary: &Summary, has: impl Fn(&CellSummary) -> bool) -> Vec<&CellSummary> {
    summary.cells.iter().filter(|cell| has(cell)).collect()
}

/// The phases of a cell, where they are those of a file (`local`) or of a request.
fn steps(cell: &CellSummary, local: bool) -> Vec<&'static str> {
    let names: Vec<&'static str> = cell.phases().iter().map(|phase| phase.name).collect();
    // Nobody opens anything on a network: objects and handles are read by their names.
    let is_local = names.contains(&"open");
    if is_local == local { names } else { Vec::new() }
}

/// Why a row of `io_uring` has no step of its own for the size.
const RING_FOOT: &str = "a ring checks the size while reading: no stat";

/// Whether a cell was read by a ring, which has no step for the size.
fn is_ring(cell: &CellSummary) -> bool {
    cell.cell.engine == "io_uring" && !cell.phases().iter().any(|phase| phase.name == "stat")
}

/// A column for each step; with its share of the time where there is room for that.
fn with_steps<'a>(
    grid: Filling<'a, &'a CellSummary>,
    steps: &[&'static str],
) -> Filling<'a, &'a CellSummary> {
    let figure = |cell: &CellSummary, step: &str, room: Width| {
        let phase = cell.phases().iter().find(|phase| phase.name == step)?;
        let both = pair(&of_phase(phase.latency.p50_ns), &of_phase(phase.latency.p99_ns));
        Some(if room == Width::Wide { format!("{both} ({})", percent(phase.share)) } else { both })
    };
    steps.iter().fold(grid, |grid, step| {
        // Two columns of one name, of which each page has one: the share does not fit on a terminal.
        [Width::Narrow, Width::Wide].into_iter().fold(grid, |grid, room| {
            grid.column(Column::figure(*step).only(room), |cell| figure(cell, step, room))
        })
    })
}

/// A phase that took no time is recorded as the shortest there is: what came with the phase before took none.
pub(crate) fn of_phase(ns: Option<u64>) -> String {
    milliseconds(ns.map(|ns| if ns == 1 { 0 } else { ns }))
}

/// Coordinates that stand in columns of their own, or follow from those that do; of a training job, whose table they
/// name, its own too.
const IN_COLUMNS: [Axis; 10] = [
    Axis::Target,
    Axis::Engine,
    Axis::Advice,
    Axis::Operation,
    Axis::Depth,
    Axis::Threads,
    Axis::Accelerators,
    Axis::Readers,
    Axis::Fetches,
    Axis::Prefetch,
];

/// What tells cells of one kind apart, shown or not, beside the columns of their table: the axes along which they vary.
// Found once for a table: looked for row by row, it makes pages of thousands of cells that nobody waits for.
pub(crate) struct Apart<'a> {
    names: Vec<&'a str>,
}

impl<'a> Apart<'a> {
    pub(crate) fn among(cells: &[&'a CellSummary]) -> Self {
        let axes = cells.iter().flat_map(|cell| &cell.cell.axes);
        let mut names: Vec<&str> =
            distinct(axes.filter(|axis| !IN_COLUMNS.contains(&axis.axis())).map(|axis| axis.name.as_str()));
        // Held against the first cell: an axis varies if any differs from it.
        names.retain(|name| cells.iter().any(|other| value(other, name) != value(cells[0], name)));
        Self { names }
    }

    /// The values of one of them.
    pub(crate) fn words(&self, cell: &CellSummary) -> String {
        let along =
            self.names.iter().filter_map(|name| cell.cell.axes.iter().find(|axis| axis.name == *name));
        let words = along.map(|along| {
            let AxisWords { value, unit, .. } = along;
            let plain = || match value.parse().ok().filter(|_| unit == "B") {
                // Axes hold plain numbers of bytes, so that records can be read by programs.
                Some(bytes) => feed::format_bytes(bytes),
                // A process is what takes part, whether or not it has a host of its own.
                None if along.axis() == Axis::Hosts && value == "1" => "1 process".to_owned(),
                None if along.axis() == Axis::Hosts => format!("{value} processes"),
                None => format!("{value}{unit}"),
            };
            words::form::words(along).unwrap_or_else(plain)
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The same without an axis, where that is seen already.
    pub(crate) fn without(mut self, axis: Axis) -> Self {
        self.names.retain(|name| Axis::named(name) != axis);
        self
    }
}

/// The value of a cell along an axis, and its unit.
fn value<'a>(cell: &'a CellSummary, name: &str) -> Option<(&'a str, &'a str)> {
    let axis = cell.cell.axes.iter().find(|axis| axis.name == name)?;
    Some((axis.value.as_str(), axis.unit.as_str()))
}

/// Page faults by read, of memory maps: `0.002 minor and 1.0 major faults per read`.
pub(crate) fn faults(cell: &CellSummary) -> Option<String> {
    // Other engines fault for buffers of their own, which says nothing of the storage.
    let system = cell.system.as_ref().filter(|_| cell.cell.engine == "mmap")?;
    let (minor, major) = (system.minor_faults_per_op?, system.major_faults_per_op?);
    Some(format!("{} minor and {} major faults per read", two_digits(minor), two_digits(major)))
}
