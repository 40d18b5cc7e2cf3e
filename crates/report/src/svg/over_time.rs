//! Throughput second by second of each repetition, with its least-squares line and SNIA's window around its mean.

use analysis::{OverTime, RepOverTime, Summary};
use plotters::prelude::*;

use super::axis::{Extent, RateAxis};
use super::chart::{Axis, Chart, height_around};
use super::drawn::{Drawn, Numbers, places, rows, target_title};
use super::key::{self, Mark};
use super::marker::{self, Canvas, Refusal};
use super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of};
use super::strip::Strip;
use super::theme::Ink;
use super::{ticks, wording};
use crate::number::{RateUnit, three_digits};
use crate::plot::PlotTable;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 230);
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;
/// Points up to which each is marked.
const MARKED_MAX: usize = 60;
/// What the plot shows, in its title.
const SHOWN: &str = "throughput over time";

struct Panel<'a> {
    number: usize,
    title: String,
    over_time: &'a OverTime,
    line_bps: Option<f64>,
}

/// Draws the figure; `None` where no cell that stands for a target has two points in one repetition.
pub(super) fn draw(summary: &Summary, over_time: &[OverTime]) -> Option<Drawn> {
    let mut numbers = Numbers::of(summary);
    let mut panels: Vec<Panel<'_>> =
        over_time.iter().filter_map(|one| panel(summary, &mut numbers, one)).collect();
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    if panels.is_empty() {
        return None;
    }
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let height = height_around(if columns == 1 { PLOT.0 } else { PLOT.1 }, 1);
    let key = key::flow(entries(&panels), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, &panels, all);
    let svg = sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        for (panel, place) in panels.iter().zip(places(panels.len(), columns, height, top)) {
            draw_panel(canvas, panel, place)?;
        }
        Ok(())
    });
    Some(Drawn { name: "over-time", shown: SHOWN, svg, table: table(&panels) })
}

fn panel<'a>(summary: &Summary, numbers: &mut Numbers, one: &'a OverTime) -> Option<Panel<'a>> {
    if !one.stands_for_target || !one.counts_bytes || one.reps.iter().all(|rep| rep.points.len() < 2) {
        return None;
    }
    let cell = summary.cell(&one.cell)?;
    let target = target_title(summary, &cell.cell.target);
    let title = format!("{target} {}, depth {}", cell.engine_label(), cell.cell.queue_depth);
    // A training job takes what its accelerators leave: the line is not what its reads are held against.
    let line_bps = cell.line.filter(|_| cell.cell.training.is_none()).map(|line| line.bps);
    let number = numbers.number(summary, cell);
    Some(Panel { number, title: crate::plain::shortened(&title, 60), over_time: one, line_bps })
}

fn sheet(summary: &Summary, panels: &[Panel<'_>], all: usize) -> Sheet {
    let mut conditions =
        vec!["the cell that stands for each target, in its interleaved repetitions".to_owned()];
    let steps: Vec<u32> = panels.iter().map(|panel| panel.over_time.step_s).collect();
    if let Some(longest) = steps.iter().max().filter(|step| **step > 1) {
        let words = feed::format_duration_ns(u64::from(*longest) * 1_000_000_000);
        let most = if steps.iter().all(|step| step == longest) { "" } else { "up to " };
        conditions.push(format!("a point is the mean of {most}{words}"));
    }
    if panels.len() < all {
        conditions.push(format!("the first {} of {all} targets", panels.len()));
    }
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn entries(panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let mut found = Vec::new();
    if panels.iter().any(|panel| panel.over_time.reps.iter().any(|rep| rep.fit.is_some())) {
        found.push((
            Mark::Fit,
            "least-squares line of a repetition; steady: it gains or loses at most 10 %".to_owned(),
        ));
        found.push((Mark::Window, "steady (SNIA): every point within 10 % of the mean".to_owned()));
    }
    found.extend(key::feed_line(panels.iter().filter_map(|panel| panel.line_bps)));
    found
}

fn rates(panel: &Panel<'_>) -> (Axis, RateAxis) {
    let reps = || panel.over_time.reps.iter();
    let points = reps().flat_map(|rep| &rep.points).map(|point| point.per_s);
    let fits = reps().filter_map(|rep| rep.fit).flat_map(|fit| [fit.first, fit.last, fit.window().1]);
    let high = points.chain(fits).chain(panel.line_bps).fold(0.0, f64::max);
    // Linear and from zero: what is judged here is how flat a course is.
    ticks::rates(Extent { high, low: 0.0, low_peak: high }, "throughput")
}

fn draw_panel(canvas: &Canvas<'_>, panel: &Panel<'_>, place: (i32, i32, i32, i32)) -> Result<(), Refusal> {
    let reps = &panel.over_time.reps;
    let lengths: Vec<f64> = reps.iter().map(|rep| rep.window_s).collect();
    let strip = Strip::of(&lengths);
    let numbers: Vec<u32> = reps.iter().map(|rep| rep.rep).collect();
    let margin_right = 18;
    let x = strip.axis(&numbers, super::chart::length(place.2, margin_right));
    let (y, axis) = rates(panel);
    let chart = Chart { place, margin_right, title: vec![panel.title.clone()], x, y };
    chart.frame(canvas)?;
    let across = chart.across();
    if let Some(bps) = panel.line_bps {
        let y = chart.height_of(axis.place(bps)).round() as i32;
        marker::dashes(canvas, (across.start, across.end), y, (Ink::Line, 2))?;
    }
    let marked = reps.iter().map(|rep| rep.points.len()).sum::<usize>() <= MARKED_MAX;
    for (number, rep) in reps.iter().enumerate() {
        let px = |seconds: f64, bps: f64| chart.px(strip.place(number, seconds), axis.place(bps.max(0.0)));
        draw_rep(canvas, panel.number, rep, marked, px)?;
    }
    Ok(())
}

fn draw_rep(
    canvas: &Canvas<'_>,
    number: usize,
    rep: &RepOverTime,
    marked: bool,
    px: impl Fn(f64, f64) -> (i32, i32),
) -> Result<(), Refusal> {
    let (Some(first), Some(last)) = (rep.points.first(), rep.points.last()) else { return Ok(()) };
    if let Some(fit) = rep.fit {
        let (low, high) = fit.window();
        let corners = (px(first.from_s, high), px(last.to_s.min(rep.window_s), low));
        marker::block(canvas, corners, Ink::Series(number), marker::WINDOW_OPACITY)?;
    }
    let path: Vec<(i32, i32)> = rep.points.iter().map(|point| px(point.middle_s(), point.per_s)).collect();
    for at in path.iter().filter(|_| marked || path.len() == 1) {
        canvas.draw(&Circle::new(*at, 2, Ink::Series(number).sentinel().filled()))?;
    }
    if path.len() > 1 {
        canvas.draw(&PathElement::new(path, Ink::Series(number).sentinel().stroke_width(2)))?;
    }
    let Some(fit) = rep.fit else { return Ok(()) };
    let (from, to) = (px(first.middle_s(), fit.first), px(last.middle_s(), fit.last));
    let style = Ink::Fit.sentinel().stroke_width(2);
    canvas.draw(&PathElement::new(vec![from, to], style))
}

fn table(panels: &[Panel<'_>]) -> PlotTable {
    let reps = || panels.iter().flat_map(|panel| panel.over_time.reps.iter().map(move |rep| (panel, rep)));
    let high = reps().flat_map(|(_, rep)| &rep.points).map(|point| point.per_s).fold(0.0, f64::max);
    let unit = RateUnit::for_largest(high);
    let columns = [
        "cell".to_owned(),
        "repetition".to_owned(),
        "from s".to_owned(),
        "to s".to_owned(),
        unit.name.to_owned(),
        "line gains, %".to_owned(),
    ];
    let mut rows = Vec::new();
    for (panel, rep) in reps() {
        let gain = rep.fit.map_or_else(|| "-".to_owned(), |fit| format!("{:.1}", fit.excursion() * 100.0));
        rows.extend(rep.points.iter().map(|point| {
            vec![
                panel.over_time.cell.clone(),
                (rep.rep + 1).to_string(),
                three_digits(point.from_s),
                three_digits(point.to_s),
                unit.write(point.per_s),
                gain.clone(),
            ]
        }));
    }
    PlotTable { columns: columns.to_vec(), rows }
}
