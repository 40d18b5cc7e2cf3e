//! Throughput of each process: how far hosts are apart, and which of them were slow.

use analysis::{CellRanks, CellSummary, RankFigures, SLOW_BELOW, Summary};

use super::canvas::Stroke;
use super::chart::{Chart, FEED_LINE, Label, Mark, PlotPanel, Point, cut, height_of, packed, span_of};
use super::scale::{Extent, Scale};
use super::sign::{Sample, Sign};
use super::theme::Ink;
use super::wording::{target_title, too_slow};
use crate::number::{RateUnit, percent, three_digits};
use crate::plot::PlotTable;
use crate::ranks::shown;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 250);
/// Panels that one figure holds.
const PANELS_MAX: usize = 4;
/// Processes of which each is drawn; of more some, and all that were slow.
// Closer than markers are wide they are a band, in which nobody tells them apart.
const DRAWN_MAX: usize = 250;
/// Processes from which on they are dots without intervals.
const MARKERS_MAX: usize = 64;
/// Ticks that a scale of ranks aims at.
const TICKS: u32 = 8;
/// Size of the names of slow processes inside the plot.
const NAME_SIZE: f64 = 11.0;
/// Ink of those that were slow: of another series, so that they stand out in both themes.
const SLOW: usize = 1;

/// Describes the plot; `None` where no cell was measured by several processes.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let mut shown = shown(summary);
    // Names that are looked up have no bytes, and no place on this scale.
    shown.retain(|(cell, _)| cell.figures().is_some());
    let limit = cut(&mut shown, PANELS_MAX, "cells");
    let marks: Vec<Vec<Mark>> = shown.iter().map(|one| marks(*one)).collect();
    let heights = marks.iter().map(|marks| Mark::heights(marks)).fold(Extent::EMPTY, Extent::with);
    if heights.is_empty() {
        return None;
    }
    let (y, unit) = Scale::rates(heights.from(0.0), "throughput of each process");
    let of_panel = |((cell, of), marks): (&(&CellSummary, &CellRanks), Vec<Mark>)| {
        let title = if shown.len() == 1 { Vec::new() } else { vec![name(summary, cell)] };
        PlotPanel::new(title, (ranks(of.each.len()), y.clone()), height_of(shown.len(), PLOT), marks)
            .starving_below(part_of_line(cell, of))
            .labelled(labels((cell, of), unit))
    };
    let panels: Vec<PlotPanel> = shown.iter().zip(marks).map(of_panel).collect();
    let conditions = if shown.len() == 1 { vec![name(summary, shown[0].0)] } else { Vec::new() };
    let most = shown.iter().map(|(_, of)| step(of)).max().filter(|step| *step > 1);
    let some = most.map(|step| format!("one in {step} of the processes, and all that were slow"));
    let heading = ("ranks", "throughput of each process");
    let chart = Chart::of(summary, heading, conditions.into_iter().chain(limit).chain(some))
        .with(panels, table(&shown, unit))
        .key_of_points("mean of all repetitions, 95 % interval", "mean; too few repetitions for an interval")
        .key(Sample::Sign(Sign::Dot), "mean of all repetitions")
        .key(Sample::Ringed, format!("slow: below {} of the median of the others", percent(SLOW_BELOW)))
        .key(Sample::Stroke(MEAN), "mean of all processes")
        .key(Sample::Stroke(FEED_LINE), "feed line, shared out equally")
        .key(Sample::STARVING, format!("below the line: {}", too_slow(summary)));
    Some(chart)
}

const MEAN: Stroke = Stroke::rule(Ink::Muted, 1);

/// The numbers of processes, with ticks at some of them.
fn ranks(count: usize) -> Scale {
    let last = count.saturating_sub(1) as u32;
    let step = last.div_ceil(TICKS).max(1);
    let ticks = (0..=last).step_by(step as usize).map(|rank| (f64::from(rank), rank.to_string()));
    // Half a place beside the first and the last: a marker on the frame is half a marker.
    Scale::between(-0.5, f64::from(last) + 0.5, ticks.collect(), "rank")
}

/// What each process must read for its part of the line.
fn part_of_line(cell: &CellSummary, of: &CellRanks) -> Option<f64> {
    cell.line.map(|line| line.bps / of.each.len() as f64)
}

/// Every so manyth of the processes of a cell, so that no more are drawn than can be told apart.
fn step(of: &CellRanks) -> usize {
    of.each.len().div_ceil(DRAWN_MAX).max(1)
}

/// Those that are drawn.
fn drawn(of: &CellRanks) -> impl Iterator<Item = &RankFigures> {
    let step = step(of);
    of.each
        .iter()
        .enumerate()
        .filter(move |(number, one)| number % step == 0 || is_slow(of, one))
        .map(|(_, one)| one)
}

fn is_slow(of: &CellRanks, one: &RankFigures) -> bool {
    of.slow.as_ref().is_some_and(|slow| slow.slow.iter().any(|slow| slow.rank == one.rank))
}

fn mean(of: &CellRanks) -> f64 {
    of.each.iter().map(|one| one.per_s.mean).sum::<f64>() / of.each.len() as f64
}

fn marks((cell, of): (&CellSummary, &CellRanks)) -> Vec<Mark> {
    let line = part_of_line(cell, of).map(|bps| Mark::Across(bps, FEED_LINE));
    let (mut signs, mut names) = (Vec::new(), Vec::new());
    for one in drawn(of) {
        let point =
            Point { at: (f64::from(one.rank), one.per_s.mean), span: span_of(&one.per_s), is_hollow: false };
        if is_slow(of, one) {
            signs.push(Mark::sign(point.at, Sign::Ring, Ink::Series(SLOW)));
            signs.push(Mark::point(&point, SLOW));
            names.push(Mark::beside(point.at, named(one), NAME_SIZE, Ink::Series(SLOW)));
        } else {
            signs.push(if of.each.len() > MARKERS_MAX {
                Mark::sign(point.at, Sign::Dot, Ink::Series(0))
            } else {
                Mark::point(&point, 0)
            });
        }
    }
    line.into_iter().chain([Mark::Across(mean(of), MEAN)]).chain(signs).chain(names).collect()
}

/// `host-2`; the number where the record does not name its host.
fn named(one: &RankFigures) -> String {
    one.host.clone().unwrap_or_else(|| format!("rank {}", one.rank))
}

fn labels((cell, of): (&CellSummary, &CellRanks), unit: RateUnit) -> Vec<Label> {
    let rate = |bps: f64| format!("{} {}", unit.write(bps), unit.name);
    let mean = mean(of);
    let label = |words: String, ink: Ink, bps: f64| Label::of_line(packed(&words), ink, bps);
    let line = part_of_line(cell, of)
        .map(|bps| label(format!("1/{} of the line, {}", of.each.len(), rate(bps)), Ink::Line, bps));
    [label(format!("mean, {}", rate(mean)), Ink::Muted, mean)].into_iter().chain(line).collect()
}

fn name(summary: &Summary, cell: &CellSummary) -> String {
    let target = target_title(summary, &cell.cell.target);
    format!("{target}, {}, depth {}", cell.engine_label(), cell.cell.queue_depth)
}

fn table(shown: &[(&CellSummary, &CellRanks)], unit: RateUnit) -> PlotTable {
    let names = ["target", "engine", "depth", "rank", "host", unit.name, "low", "high", "of mean, %", "note"];
    let row = |(cell, of): &(&CellSummary, &CellRanks), one: &RankFigures| {
        let (low, high) = one.per_s.span();
        vec![
            cell.cell.target.clone(),
            cell.engine_label(),
            cell.cell.queue_depth.to_string(),
            one.rank.to_string(),
            one.host.clone().unwrap_or_else(|| "-".to_owned()),
            unit.write(one.per_s.mean),
            unit.write(low),
            unit.write(high),
            three_digits(one.of_mean * 100.0),
            if is_slow(of, one) { "slow".to_owned() } else { String::new() },
        ]
    };
    let rows = shown.iter().flat_map(|of| drawn(of.1).map(move |one| row(of, one)));
    PlotTable { columns: names.map(str::to_owned).to_vec(), rows: rows.collect() }
}
