//! The tables beside the main one: names looked up, paced loads, where a file's time goes.

use analysis::{CellSummary, Figures, Measurement, Operations, Paced, Percentile, Summary};

use record::Axis;

use crate::grid::{Grid, GridRow};
use crate::number::{RateUnit, milliseconds, of_line, percent, three_digits, two_digits};

/// Cells up to which every one of them is shown on a terminal.
const SHOWN_MAX: usize = 12;

/// Cells that look up or list names.
pub(crate) fn metadata(summary: &Summary) -> Grid {
    let cells: Vec<&CellSummary> = summary.metadata().collect();
    let fastest = summary.metadata().filter_map(|cell| Some(cell.operations()?.ops_per_s.mean));
    let (unit, divisor) = match fastest.fold(0.0, f64::max) {
        1e6.. => ("M ops/s", 1e6),
        1e3.. => ("k ops/s", 1e3),
        _ => ("ops/s", 1.0),
    };
    let row = |cell: &&CellSummary| GridRow {
        names: vec![
            cell.cell.target.clone(),
            cell.cell.operation.to_string(),
            cell.engine_label(),
            cell.cell.queue_depth.to_string(),
        ],
        figures: cell.operations().map_or_else(Vec::new, |operations| names_figures(operations, divisor)),
        note: absent(cell).unwrap_or_else(|| noted([apart(cell, &cells), names_note(cell)])),
    };
    Grid {
        title: "metadata: names looked up (stat) and listed (list); no bytes, no line".to_owned(),
        names: vec!["target", "what", "engine", "QD"],
        figures: [unit, "95 % interval", "p50 ms", "p99 ms"].map(str::to_owned).into(),
        rows: cells.iter().map(row).collect(),
        foot: String::new(),
    }
}

fn names_figures(operations: &Operations, divisor: f64) -> Vec<String> {
    let rate = |value: f64| three_digits(value / divisor);
    let interval = operations.ops_per_s.interval;
    vec![
        rate(operations.ops_per_s.mean),
        interval.map_or_else(|| "-".to_owned(), |of| format!("{} - {}", rate(of.low), rate(of.high))),
        milliseconds(operations.latency.p50_ns),
        milliseconds(operations.latency.p99_ns),
    ]
}

fn names_note(cell: &CellSummary) -> String {
    let entries = cell.operations().and_then(|operations| operations.entries_per_s);
    let entries = entries.map(|rate| format!("{} entries/s", feed::format_count(rate.mean)));
    let flags = cell.doubts().into_iter().map(|(_, words)| words);
    entries.into_iter().chain(flags).collect::<Vec<_>>().join("; ")
}

/// Parts of a note, without the empty ones.
pub(crate) fn noted<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Why a cell has no figures.
pub(crate) fn absent(cell: &CellSummary) -> Option<String> {
    match &cell.measured {
        Measurement::Failed { reason, .. } => Some(format!("failed: {reason}")),
        Measurement::NotRun { reason } => Some(format!("not run: {reason}")),
        Measurement::Figures(_) | Measurement::Operations(_) => None,
    }
}

/// Cells whose reads begin by a schedule, in a few columns.
pub(crate) fn paced(summary: &Summary, unit: RateUnit) -> Grid {
    let cells: Vec<&CellSummary> = summary.paced().collect();
    let row = |cell: &&CellSummary| {
        let figures = cell.figures().and_then(|figures| Some((figures, figures.paced?)));
        GridRow {
            names: names(cell),
            figures: figures.map_or_else(Vec::new, |(figures, paced)| paced_figures(figures, &paced, unit)),
            note: absent(cell).unwrap_or_else(|| noted([apart(cell, &cells), paced_note(cell, unit)])),
        }
    };
    let figures = [unit.name, "of line", "arrivals", "served", "service ms", "response ms", "lag p99"];
    Grid {
        title:
            "paced: offered, and p50/p99 from the submission (service) and from the intended time (response)"
                .to_owned(),
        names: vec!["target", "engine", "QD"],
        figures: figures.map(str::to_owned).into(),
        rows: cells.iter().map(row).collect(),
        foot: String::new(),
    }
}

pub(crate) fn names(cell: &CellSummary) -> Vec<String> {
    vec![cell.cell.target.clone(), cell.engine_label(), cell.cell.queue_depth.to_string()]
}

fn paced_figures(figures: &Figures, paced: &Paced, unit: RateUnit) -> Vec<String> {
    vec![
        unit.write(paced.offered_bps),
        paced.of_line.map_or_else(|| "-".to_owned(), of_line),
        count(paced.arrivals),
        served(paced),
        pair(&milliseconds(figures.latency.p50_ns), &milliseconds(figures.latency.p99_ns)),
        pair(&response(paced.response_p50), &response(paced.response_p99)),
        milliseconds(paced.lag_p99_ns),
    ]
}

fn pair(p50: &str, p99: &str) -> String {
    format!("{p50}/{p99}")
}

/// A rank among those that were not served has no value.
fn response(percentile: Percentile) -> String {
    match percentile {
        Percentile::At(ns) => milliseconds(Some(ns)),
        Percentile::Unknown => "-".to_owned(),
        Percentile::NotServed => "none".to_owned(),
    }
}

/// Cut, not rounded: 99.99 % is not all.
fn served(paced: &Paced) -> String {
    if paced.not_served() == 0 {
        return "100 %".to_owned();
    }
    format!("{:.1} %", (paced.served_share() * 1e3).floor() / 10.0)
}

/// `27.0 k`, `900`.
fn count(count: u64) -> String {
    match count as f64 {
        many @ 1e6.. => format!("{} M", three_digits(many / 1e6)),
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
    let behind = !paced.keeps_up() && paced.kept_share < paced.served_share();
    let achieved = (paced.not_served() > 0 || behind).then(|| {
        let late = if behind { ", the rest after the window" } else { "" };
        format!("achieved {} {}{late}", unit.write(figures.bps.mean), unit.name)
    });
    let not_issued =
        (paced.not_issued > 0).then(|| format!("{} never issued", feed::group_digits(paced.not_issued)));
    let beyond =
        (paced.response_p99 == Percentile::NotServed).then(|| "no p99: its rank was not served".to_owned());
    let parts = pace.into_iter().chain(below).chain(achieved).chain(not_issued).chain(beyond);
    let flags = cell.doubts().into_iter().map(|(_, words)| words);
    parts.chain(flags).collect::<Vec<_>>().join("; ")
}

/// Where the time of a whole file goes; on a terminal the judged cells alone where there are many.
pub(crate) fn phases(summary: &Summary, all: bool) -> Grid {
    let shown = Shown::of(summary, all, |cell| {
        cell.figures().is_some_and(|figures| !steps(figures, true).is_empty())
    });
    let row = |cell: &&CellSummary| GridRow {
        names: names(cell),
        figures: cell.figures().map_or_else(Vec::new, |figures| phase_figures(figures, all)),
        note: apart(cell, &shown.of_kind),
    };
    let foot = if shown.cells.iter().any(|cell| is_ring(cell)) { RING_FOOT } else { "" };
    Grid {
        title: format!("where a file's time goes: p50/p99 of each step, ms{}", shown.words()),
        names: vec!["target", "engine", "QD"],
        figures: STEPS.map(str::to_owned).into(),
        rows: shown.cells.iter().map(row).collect(),
        foot: foot.to_owned(),
    }
}

/// Where the time of a request goes, for storage behind a network: a table for each protocol and operation, whose
/// phases are its own.
pub(crate) fn requests(summary: &Summary, all: bool) -> Vec<Grid> {
    let of_cell = |cell: &CellSummary| cell.figures().map_or_else(Vec::new, |figures| steps(figures, false));
    let shown = Shown::of(summary, all, |cell| !of_cell(cell).is_empty());
    let mut kinds: Vec<Vec<&'static str>> = Vec::new();
    for steps in shown.cells.iter().map(|cell| of_cell(cell)) {
        if !kinds.contains(&steps) {
            kinds.push(steps);
        }
    }
    let grid = |kind: Vec<&'static str>| {
        let cells = shown.cells.iter().filter(|cell| of_cell(cell) == kind);
        let row = |cell: &&CellSummary| GridRow {
            names: names(cell),
            figures: cell.figures().map_or_else(Vec::new, |figures| step_figures(figures, &kind, all)),
            note: apart(cell, &shown.of_kind),
        };
        let is_known = |row: &GridRow| all || row.figures.iter().any(|figure| figure != UNKNOWN);
        let rows = cells.map(row).filter(is_known).collect();
        Grid {
            title: format!("where a request's time goes: p50/p99 of each phase, ms{}", shown.words()),
            names: vec!["target", "engine", "QD"],
            figures: kind.iter().map(|step| (*step).to_owned()).collect(),
            rows,
            foot: String::new(),
        }
    };
    kinds.into_iter().map(grid).collect()
}

/// A phase of which there are too few samples for a percentile.
const UNKNOWN: &str = "-/-";

/// The phases of a cell, where they are those of a file (`local`) or of a request.
fn steps(figures: &Figures, local: bool) -> Vec<&'static str> {
    let names: Vec<&'static str> = figures.phases.iter().map(|phase| phase.name).collect();
    let is_local = names.contains(&"open");
    if is_local == local { names } else { Vec::new() }
}

/// Why a row of `io_uring` has no step of its own for the size.
const RING_FOOT: &str = "a ring checks the size while reading: no stat";

/// Whether a cell was read by a ring, which has no step for the size.
fn is_ring(cell: &CellSummary) -> bool {
    let has_stat = |figures: &Figures| figures.phases.iter().any(|phase| phase.name == "stat");
    cell.cell.engine == "io_uring" && !cell.figures().is_some_and(has_stat)
}

/// Steps of reading a whole file, as `analysis` names them.
const STEPS: [&str; 4] = ["open", "stat", "read", "close"];

fn phase_figures(figures: &Figures, with_share: bool) -> Vec<String> {
    step_figures(figures, &STEPS, with_share)
}

fn step_figures(figures: &Figures, steps: &[&str], with_share: bool) -> Vec<String> {
    let of_step = |step: &str| {
        let phase = figures.phases.iter().find(|phase| phase.name == step)?;
        let both = pair(&of_phase(phase.latency.p50_ns), &of_phase(phase.latency.p99_ns));
        Some(if with_share { format!("{both} ({})", percent(phase.share)) } else { both })
    };
    steps.iter().map(|step| of_step(step).unwrap_or_else(|| "-".to_owned())).collect()
}

/// A phase that took no time is recorded as the shortest there is: what came with the phase before took none.
pub(crate) fn of_phase(ns: Option<u64>) -> String {
    milliseconds(ns.map(|ns| if ns == 1 { 0 } else { ns }))
}

/// Coordinates that stand in columns of their own, or follow from those that do; of a training job, whose table they
/// name, its own too.
const IN_COLUMNS: [Axis; 9] = [
    Axis::Target,
    Axis::Engine,
    Axis::Advice,
    Axis::Operation,
    Axis::Depth,
    Axis::Threads,
    Axis::Accelerators,
    Axis::Readers,
    Axis::Prefetch,
];

/// What tells a cell apart from all of its kind, shown or not, beside the columns of its table: its values along the
/// axes that vary.
pub(crate) fn apart(cell: &CellSummary, cells: &[&CellSummary]) -> String {
    let value = |cell: &CellSummary, name: &str| {
        cell.cell
            .axes
            .iter()
            .find(|axis| axis.name == name)
            .map(|axis| (axis.value.clone(), axis.unit.clone()))
    };
    let mut names: Vec<&str> = Vec::new();
    for axis in cells.iter().flat_map(|cell| &cell.cell.axes) {
        if !IN_COLUMNS.contains(&axis.axis()) && !names.contains(&axis.name.as_str()) {
            names.push(&axis.name);
        }
    }
    let varies = |name: &&&str| cells.iter().any(|other| value(other, name) != value(cells[0], name));
    let words = names.iter().filter(varies).filter_map(|name| value(cell, name)).map(|(value, unit)| {
        match value.parse().ok().filter(|_| unit == "B") {
            Some(bytes) => feed::format_bytes(bytes),
            None => format!("{value}{unit}"),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The cells of one kind, and those of them that a table shows.
pub(crate) struct Shown<'a> {
    pub(crate) of_kind: Vec<&'a CellSummary>,
    /// All of them, or the judged ones where a page has room for few.
    pub(crate) cells: Vec<&'a CellSummary>,
}

impl<'a> Shown<'a> {
    /// The cells that have something to show.
    pub(crate) fn of(summary: &'a Summary, all: bool, has: impl Fn(&CellSummary) -> bool) -> Self {
        let of_kind: Vec<&CellSummary> = summary.cells.iter().filter(|cell| has(cell)).collect();
        let fits = all || of_kind.len() <= SHOWN_MAX;
        let cells = of_kind.iter().copied().filter(|cell| fits || summary.is_judged(cell)).collect();
        Self { of_kind, cells }
    }

    /// What a title says where some are not shown; else nothing.
    pub(crate) fn words(&self) -> String {
        if self.cells.len() == self.of_kind.len() {
            return String::new();
        }
        format!(" (the judged cells; all {} in report.md)", self.of_kind.len())
    }
}

/// Page faults by read, of memory maps: `0.002 minor and 1.0 major faults per read`.
pub(crate) fn faults(cell: &CellSummary) -> Option<String> {
    let system = cell.system.as_ref().filter(|_| cell.cell.engine == "mmap")?;
    let (minor, major) = (system.minor_faults_per_op?, system.major_faults_per_op?);
    Some(format!("{} minor and {} major faults per read", two_digits(minor), two_digits(major)))
}
