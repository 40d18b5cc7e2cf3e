//! What the machine did second by second beside a run: device and network, processors, memory; what iostat, dstat and free would show.

use analysis::{MachineRate, OverTime, RepOverTime, Summary};

use super::canvas::Stroke;
use super::chart::{At, Chart, Label, Mark, PlotPanel, cut};
use super::scale::Scale;
use super::sign::{Sample, Sign};
use super::strip::Strip;
use super::theme::Ink;
use super::wording::cell_title;
use crate::number::{RateUnit, grouped, three_digits};
use crate::plot::PlotTable;

/// Height of the plot of what moved, and of each of the others below it.
const HEIGHTS: (i32, i32) = (180, 90);
/// Targets that one figure holds: each takes three rows.
const TARGETS_MAX: usize = 3;
/// Ticks that scales of processors and of memory aim at.
const TICKS: f64 = 3.0;
const GB: f64 = 1e9;

/// Something that is drawn over the repetitions: its name, its colour, and what it was in a stretch.
struct Trace {
    name: &'static str,
    series: usize,
    of: fn(&MachineRate) -> Option<f64>,
}

const fn trace(name: &'static str, series: usize, of: fn(&MachineRate) -> Option<f64>) -> Trace {
    Trace { name, series, of }
}

/// What moved, beside what the run read itself, which is drawn first.
const MOVED: [Trace; 4] = [
    trace("device reads", 1, |rate| Some(rate.device?.read_bps)),
    trace("device writes", 3, |rate| Some(rate.device?.write_bps)),
    trace("network in", 2, |rate| Some(rate.network?.received_bps)),
    trace("network out", 4, |rate| Some(rate.network?.sent_bps)),
];
const CORES: [Trace; 2] = [
    trace("all processors", 0, |rate| Some(rate.cores?.all)),
    trace("the busiest", 1, |rate| Some(rate.cores?.busiest)),
];
const MEMORY: [Trace; 4] = [
    trace("available", 0, |rate| Some(rate.memory?.available_bytes as f64)),
    trace("page cache", 2, |rate| Some(rate.memory?.cached_bytes as f64)),
    trace("dirty", 3, |rate| Some(rate.memory?.dirty_bytes as f64)),
    trace("this process", 1, |rate| Some(rate.resident_bytes? as f64)),
];

struct Course<'a> {
    title: String,
    over_time: &'a OverTime,
}

/// Describes the plot; `None` where the machine was not looked at.
pub(super) fn chart(summary: &Summary, over_time: &[OverTime]) -> Option<Chart> {
    let mut courses: Vec<Course<'_>> = over_time.iter().filter_map(|one| course(summary, one)).collect();
    let limit = cut(&mut courses, TARGETS_MAX, "targets");
    if courses.is_empty() {
        return None;
    }
    let rows = courses.iter().flat_map(panels).map(|panel| vec![panel]).collect();
    let condition = "device, network, processors and memory are the whole machine's, whoever keeps it busy";
    let conditions = [condition.to_owned()].into_iter().chain(limit);
    let chart = Chart::of(summary, ("machine", "the machine over time"), conditions)
        .with_rows(rows, 1, table(&courses))
        .key(Sample::Nothing, "the cell that stands for each target, in its interleaved repetitions");
    Some(chart)
}

fn course<'a>(summary: &Summary, over_time: &'a OverTime) -> Option<Course<'a>> {
    if over_time.reps.iter().all(|rep| rep.machine.is_empty()) {
        return None;
    }
    Some(Course { title: cell_title(summary, summary.cell(&over_time.cell)?), over_time })
}

/// One below the other for each kind of thing that the kernel counted, over one time.
fn panels(course: &Course<'_>) -> Vec<PlotPanel> {
    let reps = &course.over_time.reps;
    let strip = Strip::of(&reps.iter().map(|rep| rep.window_s).collect::<Vec<_>>());
    let lines = |traces: &[Trace]| -> Vec<Drawn> {
        let drawn = traces.iter().map(|trace| Drawn::of(trace, reps, &strip));
        drawn.filter(Drawn::is_any).collect()
    };
    let run = Drawn::of_run(reps, &strip).filter(|_| course.over_time.counts_bytes);
    let moved: Vec<Drawn> = run.into_iter().chain(lines(&MOVED)).collect();
    let kinds = [("throughput", moved), ("processors busy", lines(&CORES)), ("memory, GB", lines(&MEMORY))];
    let kinds: Vec<_> = kinds.into_iter().filter(|(_, drawn)| !drawn.is_empty()).collect();
    let count = kinds.len();
    let x = strip.scale(&reps.iter().map(|rep| rep.rep).collect::<Vec<_>>());
    let panel = |(number, (what, drawn)): (usize, (&str, Vec<Drawn>))| {
        let labels = drawn.iter().filter_map(Drawn::label).collect();
        let marks: Vec<Mark> = drawn.into_iter().flat_map(Drawn::marks).collect();
        let extent = Mark::heights(&marks).from(0.0);
        let y = match what {
            "throughput" => Scale::rates(extent, what).0,
            "memory, GB" => gigabytes(extent.high, what),
            _ => Scale::linear(extent.high * 1.05, TICKS, what),
        };
        // The title above the first and the time below the last hold for all.
        let (title, height) =
            if number == 0 { (vec![course.title.clone()], HEIGHTS.0) } else { (Vec::new(), HEIGHTS.1) };
        let x = if number + 1 == count { x.clone() } else { x.clone().unlabelled() };
        PlotPanel::new(title, (x, y), height, marks).labelled(labels)
    };
    kinds.into_iter().enumerate().map(panel).collect()
}

fn gigabytes(high: f64, words: &str) -> Scale {
    let high = if high > 0.0 { high * 1.05 } else { GB };
    let ticks = Scale::linear(high / GB, TICKS, "").ticks;
    Scale::between(0.0, high, ticks.into_iter().map(|(value, name)| (value * GB, name)).collect(), words)
}

/// A trace as drawn: a line for each repetition.
struct Drawn {
    name: &'static str,
    series: usize,
    lines: Vec<Vec<At>>,
}

impl Drawn {
    fn of(trace: &Trace, reps: &[RepOverTime], strip: &Strip) -> Self {
        let line = |(number, rep): (usize, &RepOverTime)| -> Vec<At> {
            let point = |rate: &MachineRate| {
                Some((strip.place(number, f64::midpoint(rate.from_s, rate.to_s)), (trace.of)(rate)?))
            };
            rep.machine.iter().filter_map(point).collect()
        };
        let lines = reps.iter().enumerate().map(line).filter(|line| !line.is_empty()).collect();
        Self { name: trace.name, series: trace.series, lines }
    }

    /// What the run itself moved; `None` without a point.
    fn of_run(reps: &[RepOverTime], strip: &Strip) -> Option<Self> {
        let line = |(number, rep): (usize, &RepOverTime)| -> Vec<At> {
            rep.points.iter().map(|point| (strip.place(number, point.middle_s()), point.per_s)).collect()
        };
        let lines: Vec<_> = reps.iter().enumerate().map(line).filter(|line| !line.is_empty()).collect();
        (!lines.is_empty()).then_some(Self { name: "this run", series: 0, lines })
    }

    /// Whether it was ever more than nothing.
    fn is_any(&self) -> bool {
        self.lines.iter().flatten().any(|point| point.1 > 0.0)
    }

    fn label(&self) -> Option<Label> {
        let end = *self.lines.last()?.last()?;
        Some(Label::of_series(vec![self.name.to_owned()], self.series, end))
    }

    fn marks(self) -> Vec<Mark> {
        let mark = |line: Vec<At>| match line.as_slice() {
            // A single point has no line that would show it.
            [only] => Mark::sign(*only, Sign::Dot, Ink::Series(self.series)),
            _ => Mark::Line(line, Stroke::curve(self.series)),
        };
        self.lines.into_iter().map(mark).collect()
    }
}

/// Heading and text of a column.
type Column = (&'static str, fn(&MachineRate) -> Option<String>);

/// Every figure of `iostat`, `dstat` and `free` by the second.
const COLUMNS: [Column; 12] = [
    ("reads/s", |rate| Some(grouped(rate.device?.reads_per_s))),
    ("read MB/s", |rate| Some(mb(rate.device?.read_bps))),
    ("writes/s", |rate| Some(grouped(rate.device?.writes_per_s))),
    ("written MB/s", |rate| Some(mb(rate.device?.write_bps))),
    ("in MB/s", |rate| Some(mb(rate.network?.received_bps))),
    ("out MB/s", |rate| Some(mb(rate.network?.sent_bps))),
    ("cores busy", |rate| Some(three_digits(rate.cores?.all))),
    ("busiest core", |rate| Some(three_digits(rate.cores?.busiest))),
    ("available GB", |rate| Some(gb(rate.memory?.available_bytes))),
    ("page cache GB", |rate| Some(gb(rate.memory?.cached_bytes))),
    ("dirty GB", |rate| Some(gb(rate.memory?.dirty_bytes))),
    ("this process GB", |rate| Some(gb(rate.resident_bytes?))),
];

fn mb(bps: f64) -> String {
    RateUnit::for_largest(1e6).write(bps)
}

fn gb(bytes: u64) -> String {
    three_digits(bytes as f64 / GB)
}

fn table(courses: &[Course<'_>]) -> PlotTable {
    let row = |cell: &str, rep: &RepOverTime, rate: &MachineRate| {
        let head =
            [cell.to_owned(), (rep.rep + 1).to_string(), three_digits(rate.from_s), three_digits(rate.to_s)];
        let figures = COLUMNS.iter().map(|(_, of)| of(rate).unwrap_or_else(|| "-".to_owned()));
        head.into_iter().chain(figures).collect()
    };
    let of_rep = |rep: &'_ RepOverTime, cell: &str| -> Vec<Vec<String>> {
        rep.machine.iter().map(|rate| row(cell, rep, rate)).collect()
    };
    let of_course = |course: &Course<'_>| -> Vec<Vec<String>> {
        let reps = course.over_time.reps.iter();
        reps.flat_map(|rep| of_rep(rep, &course.over_time.cell)).collect()
    };
    let columns =
        ["cell", "repetition", "from s", "to s"].into_iter().chain(COLUMNS.iter().map(|(name, _)| *name));
    PlotTable {
        columns: columns.map(str::to_owned).collect(),
        rows: courses.iter().flat_map(of_course).collect(),
    }
}
