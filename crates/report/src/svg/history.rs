//! Throughput of comparable runs over time: a panel for each target, a curve for each cell.

use analysis::{Break, Exclusion, History, HistoryCell};
use feed::Compared;

use super::canvas::Stroke;
use super::chart::{Chart, FEED_LINE, Label, Mark, PlotPanel, height_of, packed};
use super::scale::Scale;
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::{RenderError, plot};
use crate::group::place;
use crate::number::RateUnit;
use crate::plain::shortened;
use crate::plot::{Plot, PlotTable};
use crate::words::comparison as said;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 250);
/// Panels that one figure holds, and curves of each.
const PANELS_MAX: usize = 6;
const CURVES_MAX: usize = 8;
/// Breaks that the key tells; more are told by the table of the runs.
const BREAKS_MAX: usize = 6;
/// What the plot shows, in its title.
const SHOWN: &str = "throughput over runs";
/// A line between two runs that are not comparable.
// Grey: a break is of the machine or the scenario, and of no series.
const BREAK: Stroke = Stroke::rule(Ink::Muted, 1);

struct Target<'a> {
    name: &'a str,
    curves: Vec<Curve<'a>>,
    /// Feed lines of its cells, each once.
    lines: Vec<f64>,
}

struct Curve<'a> {
    label: Vec<String>,
    points: Vec<Point<'a>>,
}

struct Point<'a> {
    /// Number of its run, from 0.
    run: usize,
    bps: f64,
    span: Option<(f64, f64)>,
    excluded: &'a [Exclusion],
}

/// The throughput of the cells of a scenario over its stored runs, oldest first. The first six targets and the first
/// eight cells of each are drawn; the table holds every cell. Cells that move no bytes are in neither.
/// [`RenderError::NothingMeasured`] where no run has a throughput.
pub fn history_svg(history: &History) -> Result<Plot, RenderError> {
    let run = history.run_ids.last().cloned().unwrap_or_default();
    let chart = chart(history).ok_or_else(|| RenderError::NothingMeasured { run: run.clone() })?;
    plot(chart, &run)
}

fn chart(history: &History) -> Option<Chart> {
    let all = targets(history);
    let shown = &all[..all.len().min(PANELS_MAX)];
    if shown.is_empty() {
        return None;
    }
    let breaks = breaks(history);
    let of_panel = |target: &Target<'_>| {
        let marks = marks(target, &breaks);
        let scales = (runs(history), Scale::rates(Mark::heights(&marks), "throughput").0);
        let title = vec![target.name.to_owned()];
        PlotPanel::new(title, scales, height_of(shown.len(), PLOT), marks).labelled(labels(target))
    };
    let panels = shown.iter().map(of_panel).collect();
    let runs = feed::counted_noun(history.run_ids.len() as u64, "run");
    let heading = (format!("{}: {SHOWN}", history.scenario), format!("{runs} of {}.", history.scenario));
    let lines = subtitles(history, shown, all.len());
    let mut chart = Chart::new(("history", SHOWN), heading, lines, String::new())
        .with(panels, table(history))
        .key_of_points("lowest and highest repetition", "a run")
        .key(Sample::HOLLOW, "hollow: nothing may rest on it, see the table")
        .key(Sample::Stroke(FEED_LINE), "feed line");
    for (number, one) in history.breaks.iter().take(BREAKS_MAX).enumerate() {
        let words = format!("{}: not comparable {}", number + 1, shortened(&said::broken(one), 120));
        chart = chart.key(Sample::Down(BREAK), words);
    }
    let more = history.breaks.len().saturating_sub(BREAKS_MAX);
    Some(chart.key_if(more > 0, Sample::Nothing, format!("and {more} more")))
}

fn targets(history: &History) -> Vec<Target<'_>> {
    let mut targets: Vec<Target<'_>> = Vec::new();
    for cell in shown(history) {
        let curve = Curve { label: packed(&cell.label), points: points(history, cell) };
        if curve.points.is_empty() {
            continue;
        }
        let made = || Target { name: &cell.target, curves: Vec::new(), lines: Vec::new() };
        let at = place(&mut targets, |target| target.name == cell.target, made);
        if targets[at].curves.len() == CURVES_MAX {
            continue;
        }
        targets[at].curves.push(curve);
        // Cells of a target share a line but for the last bits, and a second one upon it would look bold.
        let is_known = |line: f64| targets[at].lines.iter().any(|known| (known / line - 1.0).abs() < 1e-9);
        if let Some(line) = cell.line_bps.filter(|line| line.is_finite() && *line > 0.0 && !is_known(*line)) {
            targets[at].lines.push(line);
        }
    }
    targets
}

/// Cells whose throughput is in bytes: operations per second have no place on their axis.
fn shown(history: &History) -> impl Iterator<Item = &HistoryCell> {
    history.cells.iter().filter(|cell| cell.counts_bytes)
}

fn points<'a>(history: &History, cell: &'a HistoryCell) -> Vec<Point<'a>> {
    let throughput = |point: &'a analysis::HistoryPoint| point.values.get(&Compared::Throughput);
    let is_rate = |bps: &f64| bps.is_finite() && *bps >= 0.0;
    let of_point = |point: &'a analysis::HistoryPoint| {
        Some(Point {
            run: history.run_ids.iter().position(|id| *id == point.run_id)?,
            bps: throughput(point).map(|of| of.value).filter(is_rate)?,
            span: throughput(point)
                .map(|of| (of.low, of.high))
                .filter(|span| is_rate(&span.0) && is_rate(&span.1)),
            excluded: &point.excluded,
        })
    };
    let mut points: Vec<Point<'_>> = cell.points.iter().filter_map(of_point).collect();
    points.sort_by_key(|point| point.run);
    points
}

fn marks(target: &Target<'_>, breaks: &[usize]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = target.lines.iter().map(|bps| Mark::Across(*bps, FEED_LINE)).collect();
    // Between two runs: the break is between them, and of neither.
    marks.extend(breaks.iter().map(|run| Mark::Down(*run as f64 - 0.5, BREAK)));
    let is_together =
        |one: &Point<'_>, next: &Point<'_>| !breaks.iter().any(|run| one.run < *run && *run <= next.run);
    for (number, curve) in target.curves.iter().enumerate() {
        let ink = Ink::Series(number);
        let at = |point: &Point<'_>| (point.run as f64, point.bps);
        // A line is cut where runs are not comparable.
        for run in curve.points.chunk_by(is_together) {
            marks.push(Mark::Line(run.iter().map(at).collect(), Stroke::solid(ink, 2)));
        }
        marks.extend(curve.points.iter().map(|point| {
            let sign = if point.excluded.is_empty() { Sign::Point } else { Sign::Hollow };
            Mark::Sign { at: at(point), span: point.span, sign, ink, nudge: (0, 0) }
        }));
    }
    let number = |(number, run): (usize, &usize)| {
        let at = (*run as f64 - 0.5, f64::INFINITY);
        Mark::beside(at, (number + 1).to_string(), 11.0, Ink::Muted)
    };
    marks.extend(breaks.iter().enumerate().map(number));
    marks
}

fn labels(target: &Target<'_>) -> Vec<Label> {
    let of_curve = |(number, curve): (usize, &Curve<'_>)| {
        let last = curve.points.last()?;
        Some(Label::of_series(curve.label.clone(), number, (last.run as f64, last.bps)))
    };
    let of_line =
        |bps: &f64| Label::of_line(vec![format!("line {}", feed::format_bps(*bps))], Ink::Line, *bps);
    let curves = target.curves.iter().enumerate().filter_map(of_curve);
    curves.chain(target.lines.iter().map(of_line)).collect()
}

/// Runs one step apart, with the days on which they began, or the times where that was one day.
fn runs(history: &History) -> Scale {
    let mut days = history.cells.iter().flat_map(|cell| &cell.points).map(|point| point.started.get(..10));
    let first_day = days.next().flatten();
    let (part, named) = if days.all(|day| day == first_day) {
        (11..16, "the time of day, UTC")
    } else {
        (5..10, "month and day")
    };
    let started = |id: &String| {
        let points = history.cells.iter().flat_map(|cell| &cell.points);
        let started = points.clone().find(|point| point.run_id == *id).map(|point| point.started.as_str());
        started.and_then(|started| started.get(part.clone())).unwrap_or_default().to_owned()
    };
    let mut before = String::new();
    let mut ticks = Vec::new();
    for (number, id) in history.run_ids.iter().enumerate() {
        let day = started(id);
        if !day.is_empty() && day != before {
            ticks.push((number as f64, day.clone()));
            before = day;
        }
    }
    // Half a step beyond the last run, so that its marker is not cut by the frame.
    let high = (history.run_ids.len() as f64 - 0.5).max(0.5);
    Scale::between(-0.5, high, ticks, &format!("runs, oldest first, with {named}"))
}

/// The number of the first run after each break.
fn breaks(history: &History) -> Vec<usize> {
    let number = |one: &Break| history.run_ids.iter().position(|run_id| *run_id == one.run_id);
    history.breaks.iter().filter_map(number).filter(|run| *run > 0).collect()
}

fn subtitles(history: &History, shown: &[Target<'_>], targets: usize) -> Vec<String> {
    let count = feed::counted_noun(history.run_ids.len() as u64, "run");
    let ends = match history.run_ids.as_slice() {
        [] => String::new(),
        [one] => format!(": {one}"),
        [first, .., last] => format!(" from {first} to {last}"),
    };
    let mut lines =
        vec![format!("{count}{ends}; a point is the geometric mean over the repetitions of a run")];
    let cells: usize = shown.iter().map(|target| target.curves.len()).sum();
    let of_all = self::shown(history).count();
    if cells < of_all || shown.len() < targets {
        lines.push(format!("{cells} of {of_all} cells; the table holds all"));
    }
    let without_bytes = history.cells.len() - of_all;
    if without_bytes > 0 {
        let left_out = feed::counted_noun(without_bytes as u64, "cell");
        lines.push(format!("{left_out} without bytes left out: operations per second are in the CSV"));
    }
    lines
}

fn table(history: &History) -> PlotTable {
    let highest = shown(history).flat_map(|cell| points(history, cell)).map(|point| point.bps);
    let unit = RateUnit::for_largest(highest.fold(0.0, f64::max));
    let names = ["cell", "target", "run", unit.name, "lowest", "highest", "note"];
    let mut rows = Vec::new();
    for cell in shown(history) {
        for point in points(history, cell) {
            let bound = |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), |bps| unit.write(bps));
            rows.push(vec![
                cell.cell.clone(),
                cell.target.clone(),
                history.run_ids[point.run].clone(),
                unit.write(point.bps),
                bound(point.span.map(|span| span.0)),
                bound(point.span.map(|span| span.1)),
                said::exclusions(point.excluded),
            ]);
        }
    }
    PlotTable { columns: names.map(str::to_owned).to_vec(), rows }
}
