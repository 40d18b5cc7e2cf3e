//! Throughput of each epoch, and below it the share of its bytes that a cache served.

use analysis::{CellEpochs, EpochFigures, Rate, Summary};

use super::super::canvas::Stroke;
use super::super::chart::{At, Chart, FEED_LINE, Mark, PlotPanel, cut, height_of, span_of};
use super::super::scale::{Extent, Scale};
use super::super::sign::{SHADES, Sample, Sign, WINDOW_OPACITY};
use super::super::theme::Ink;
use super::title::title;
use crate::number::{RateUnit, three_digits};
use crate::plot::PlotTable;

/// Height of the upper plot of one panel and of each of several, and of the lower one.
const UPPER: (i32, i32) = (260, 190);
const LOWER: (i32, i32) = (150, 110);
/// Panels that one figure holds, and those side by side.
const PANELS_MAX: usize = 6;
const COLUMNS: usize = 2;
/// Shortest epoch with a number or an interval on its bar, as a share of the time shown.
// A narrower bar has no room for two digits.
const NUMBERED_MIN: f64 = 0.05;
/// What was predicted of an epoch.
const PREDICTED: Stroke = Stroke::model(Ink::Text, 2);

struct Course<'a> {
    title: String,
    figures: &'a CellEpochs,
    line_bps: Option<f64>,
}

/// What the lower plot shows of an epoch: hits of a tier where there is one, else what storage was not asked for.
fn cached(epoch: &EpochFigures) -> Option<Rate> {
    // The tier first: its hits are counted, where the other share is what is left of two counts.
    epoch.tier_hits.or(epoch.cache_share)
}

/// Describes the plot; `None` where no cell made two epochs.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let several = summary.epochs.iter().filter(|figures| figures.epochs.len() > 1);
    let mut courses: Vec<Course<'_>> = several.filter_map(|figures| course(summary, figures)).collect();
    let limit = cut(&mut courses, PANELS_MAX, "cells");
    if courses.is_empty() {
        return None;
    }
    let count = courses.len();
    let pair = |courses: &[Course<'_>]| {
        let upper = courses.iter().map(|course| throughput(course, height_of(count, UPPER)));
        let lower = courses.iter().map(|course| shares(course, height_of(count, LOWER)));
        [upper.collect::<Vec<_>>(), lower.collect()]
    };
    let rows = courses.chunks(COLUMNS).flat_map(pair).collect();
    let condition = "each bar is an epoch, as long as it took; the mean of the repetitions".to_owned();
    let heading = ("epochs", "epochs: throughput and cache");
    let chart = Chart::of(summary, heading, [condition].into_iter().chain(limit))
        .with_rows(rows, count.min(COLUMNS), table(summary, &courses))
        .key(Sample::STEP, "epochs, in two shades in turn")
        .key(Sample::WINDOW, "cut by the end of the window")
        .key(Sample::Stroke(PREDICTED), "predicted hits, from the size of the cache and the order")
        .key_of_line();
    Some(chart)
}

fn course<'a>(summary: &Summary, figures: &'a CellEpochs) -> Option<Course<'a>> {
    let cell = summary.cells.get(figures.cell)?;
    // A job takes what its accelerators leave, and no line is what its reads are held against.
    let line_bps = cell.line.filter(|_| cell.cell.training.is_none()).map(|line| line.bps);
    Some(Course { title: title(summary, cell), figures, line_bps })
}

impl Course<'_> {
    fn end_s(&self) -> f64 {
        self.figures.epochs.iter().map(|epoch| epoch.ended_s).fold(0.0, f64::max)
    }

    fn seconds(&self) -> Scale {
        Scale::linear(self.end_s(), 8.0, "time since the window opened, s")
    }
}

/// A bar from zero up.
fn bar((index, epoch): (usize, &EpochFigures), height: f64) -> Mark {
    let opacity = if epoch.complete { SHADES[index % 2] * 0.7 } else { WINDOW_OPACITY };
    let corners = ((epoch.begun_s.max(0.0), 0.0), (epoch.ended_s.max(0.0), height));
    Mark::Boxes(vec![corners], Ink::Series(0), opacity)
}

fn throughput(course: &Course<'_>, height: i32) -> PlotPanel {
    let epochs = || course.figures.epochs.iter().enumerate();
    let is_long = |epoch: &EpochFigures| epoch.ended_s - epoch.begun_s > NUMBERED_MIN * course.end_s();
    let middle = |epoch: &EpochFigures| f64::midpoint(epoch.begun_s, epoch.ended_s);
    let mut marks: Vec<Mark> = epochs().map(|(index, epoch)| bar((index, epoch), epoch.bps.mean)).collect();
    for (_, epoch) in epochs().filter(|(_, epoch)| is_long(epoch)) {
        let at: At = (middle(epoch), epoch.bps.mean);
        let (span, sign) = (span_of(&epoch.bps), Sign::None);
        marks.push(Mark::Sign { at, span, sign, ink: Ink::Text, nudge: (0, 0) });
    }
    marks.extend(course.line_bps.map(|bps| Mark::Across(bps, FEED_LINE)));
    // Bars begin at zero.
    let extent = Mark::heights(&marks).from(0.0);
    let numbered =
        |(_, epoch): &(usize, &EpochFigures)| is_long(epoch) && epoch.bps.mean > extent.high * 0.28;
    // Off the feed line, which would run through them.
    let is_free = |share: f64| course.line_bps.is_none_or(|bps| (bps / extent.high - share).abs() > 0.06);
    let share = if is_free(0.07) { 0.07 } else { 0.2 };
    marks.extend(epochs().filter(numbered).map(|(_, epoch)| {
        let at = (middle(epoch), extent.high * share);
        Mark::words(at, (epoch.epoch + 1).to_string(), 12.0, Ink::Text)
    }));
    let y = Scale::rates(extent, "throughput of an epoch").0;
    PlotPanel::new(vec![course.title.clone()], (course.seconds(), y), height, marks)
}

fn shares(course: &Course<'_>, height: i32) -> PlotPanel {
    let epochs = || course.figures.epochs.iter().enumerate();
    let is_tier = epochs().any(|(_, epoch)| epoch.tier_hits.is_some());
    let is_known = epochs().any(|(_, epoch)| cached(epoch).is_some());
    let words = match (is_known, is_tier) {
        (true, true) => "hits of the cache tier, % of bytes",
        (true, false) => "not asked of storage, % of bytes",
        (false, _) => "share from a cache: none, or not known",
    };
    let mut marks = Vec::new();
    for (index, epoch) in epochs() {
        marks.extend(cached(epoch).map(|share| bar((index, epoch), share.mean)));
        let across = |hits| Mark::Line(vec![(epoch.begun_s, hits), (epoch.ended_s, hits)], PREDICTED);
        marks.extend(epoch.predicted_hits.map(across));
    }
    let y = Scale::percents(Extent::EMPTY, 0.25, words);
    PlotPanel::new(Vec::new(), (course.seconds(), y), height, marks)
}

fn table(summary: &Summary, courses: &[Course<'_>]) -> PlotTable {
    let epochs = || courses.iter().flat_map(|course| &course.figures.epochs);
    let unit = RateUnit::for_largest(epochs().map(|epoch| epoch.bps.mean).fold(0.0, f64::max));
    let columns =
        ["cell", "epoch", "begun s", "ended s", unit.name, "cache share, %", "tier hits, %", "predicted, %"];
    let percent =
        |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| three_digits(share * 100.0));
    let mut rows = Vec::new();
    for course in courses {
        let cell =
            summary.cells.get(course.figures.cell).map(|cell| cell.cell.cell.clone()).unwrap_or_default();
        rows.extend(course.figures.epochs.iter().map(|epoch| {
            vec![
                cell.clone(),
                (epoch.epoch + 1).to_string(),
                three_digits(epoch.begun_s),
                three_digits(epoch.ended_s),
                unit.write(epoch.bps.mean),
                percent(epoch.cache_share.map(|rate| rate.mean)),
                percent(epoch.tier_hits.map(|rate| rate.mean)),
                percent(epoch.predicted_hits),
            ]
        }));
    }
    PlotTable { columns: columns.map(str::to_owned).into(), rows }
}
