//! The key below the plots: what each mark means, and only those that occur.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::marker::{self, Canvas, Refusal};
use super::plan::{PanelPlan, SeriesPlan};
use super::sheet::text;
use super::theme::{Ink, STARVING_OPACITY};

/// From a mark to its words.
const GAP: i32 = 16;
/// Between two entries.
const SPACE: i32 = 28;
/// Height of a row.
pub(super) const ROW: i32 = 24;
/// Estimated width of a letter at the size of the key; wider than that of common fonts.
const LETTER: f64 = 6.6;

/// What an entry shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Interval,
    Point,
    Hollow,
    Ring,
    /// The fresh repetitions on which a verdict rests.
    Deciding,
    Cross,
    Starving,
    Model,
    /// A step of an accelerator, in both of its shades.
    Step,
    /// Waiting for other accelerators.
    Barrier,
    /// A short dash at a predicted value.
    Predicted,
    /// Cells of a grid, from the lowest to the highest.
    Heat,
    /// The frame of a cell that clears the threshold.
    Frame,
    /// Words alone.
    Nothing,
    /// A dashed line across a plot.
    Rule,
    /// A dashed line that was fitted.
    Fit,
    /// The range around a mean.
    Window,
    /// A cell of a heatmap: a step of its opacities.
    Level(usize),
    /// What a workload demands.
    Demand,
    /// A vertical line where two runs are not comparable.
    Break,
}

/// The feed line of panels: with its rate where all of them have the same, nothing where none has one.
pub(super) fn feed_line(mut lines: impl Iterator<Item = f64>) -> Option<(Mark, String)> {
    let first = lines.next()?;
    let is_one = lines.all(|bps| (bps / first - 1.0).abs() < 1e-9);
    let words =
        if is_one { format!("feed line {}", feed::format_bps(first)) } else { "feed line".to_owned() };
    Some((Mark::Rule, words))
}

/// An entry with the place of its mark.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    mark: Mark,
    words: String,
    at: (i32, i32),
}

/// Lays the key out in rows of at most `width` pixels; the places are relative to its upper left corner.
pub(super) fn entries(plans: &[PanelPlan], repetitions: u32, width: i32) -> Vec<Entry> {
    let series = || plans.iter().flat_map(|plan| &plan.series);
    let any_point = |test: fn(&super::plan::Point) -> bool| series().flat_map(SeriesPlan::points).any(test);
    let mut found = Vec::new();
    if any_point(|point| point.interval.is_some()) {
        found.push((Mark::Interval, format!("mean of {repetitions} repetitions, 95 % interval")));
    } else {
        found.push((Mark::Point, "mean; too few repetitions for an interval".to_owned()));
    }
    if any_point(|point| point.clears_first) {
        found.push((Mark::Ring, "first depth whose interval clears the line".to_owned()));
    }
    if any_point(|point| point.deciding.is_some()) {
        found.push((
            Mark::Deciding,
            "fresh rounds, 95 % over all looks: the verdict rests on them".to_owned(),
        ));
    }
    if series().any(|series| series.curve.demo) {
        found.push((Mark::Hollow, "DEMO: a server that feedline started, shown and not judged".to_owned()));
    }
    let of_storage = || series().filter(|series| !series.curve.demo).flat_map(SeriesPlan::points);
    if of_storage().any(|point| point.is_hollow) {
        found.push((Mark::Hollow, "hollow: client-limited or not valid, see the table".to_owned()));
    }
    if series().any(|series| !series.failed.is_empty()) {
        found.push((Mark::Cross, "on the axis: every repetition failed".to_owned()));
    }
    if plans.iter().any(|plan| plan.line.is_some()) {
        found.push((Mark::Starving, "below the line: accelerators starve".to_owned()));
    }
    let has_model = |is_predicted: bool| {
        series().filter_map(|series| series.curve.model).any(|model| model.is_predicted == is_predicted)
    };
    if has_model(false) {
        let words = "dashed: QD x block / latency at depth 1, up to the highest rate".to_owned();
        found.push((Mark::Model, words));
    }
    if has_model(true) {
        let words = "dashed: predicted from the claim or the emulated server's settings".to_owned();
        found.push((Mark::Model, words));
    }
    flow(found, width)
}

/// Lays entries out in rows of at most `width` pixels.
pub(super) fn flow(found: Vec<(Mark, String)>, width: i32) -> Vec<Entry> {
    let (mut x, mut y) = (0, 0);
    let mut entries = Vec::new();
    for (mark, words) in found {
        let gap = if mark == Mark::Nothing { 0 } else { GAP };
        let length = gap + (words.chars().count() as f64 * LETTER) as i32;
        if x > 0 && x + length > width {
            (x, y) = (0, y + ROW);
        }
        entries.push(Entry { mark, words, at: (x, y) });
        x += length + SPACE;
    }
    entries
}

/// Height of the laid out key.
pub(super) fn height(entries: &[Entry]) -> i32 {
    entries.last().map_or(0, |entry| entry.at.1 + ROW)
}

/// Draws the key with its upper left corner at `origin`.
pub(super) fn draw(canvas: &Canvas<'_>, entries: &[Entry], origin: (i32, i32)) -> Result<(), Refusal> {
    for entry in entries {
        let at = (origin.0 + entry.at.0 + 10, origin.1 + entry.at.1 + ROW / 2);
        mark(canvas, entry.mark, at)?;
        let gap = if entry.mark == Mark::Nothing { -10 } else { GAP };
        text(canvas, &entry.words, (at.0 + gap, at.1), (12.0, Ink::Muted, HPos::Left))?;
    }
    Ok(())
}

fn mark(canvas: &Canvas<'_>, mark: Mark, (x, y): (i32, i32)) -> Result<(), Refusal> {
    let muted = Ink::Muted.sentinel();
    let dot = |radius: i32, fill: Ink| {
        canvas.draw(&Circle::new((x, y), radius, fill.sentinel().filled()))?;
        canvas.draw(&Circle::new((x, y), radius, muted.stroke_width(2)))
    };
    match mark {
        Mark::Interval => {
            marker::whisker(canvas, x, (y + 9, y - 9), Ink::Muted)?;
            dot(4, Ink::Muted)
        }
        Mark::Point => dot(4, Ink::Muted),
        Mark::Hollow => dot(4, Ink::Paper),
        Mark::Ring => {
            marker::ring(canvas, (x, y), Ink::Muted)?;
            dot(4, Ink::Muted)
        }
        Mark::Deciding => marker::deciding(canvas, (x, y), Ink::Muted),
        Mark::Model => {
            let style = muted.stroke_width(1);
            canvas.draw(&PathElement::new(vec![(x - 9, y), (x - 2, y)], style))?;
            canvas.draw(&PathElement::new(vec![(x + 2, y), (x + 9, y)], style))
        }
        Mark::Cross => marker::cross(canvas, (x, y), Ink::Muted),
        Mark::Starving => {
            let style = Ink::Starving.sentinel().mix(STARVING_OPACITY).filled();
            canvas.draw(&Rectangle::new([(x - 7, y - 6), (x + 7, y + 6)], style))
        }
        _ => of_job(canvas, mark, (x, y)),
    }
}

/// Marks of training jobs.
fn of_job(canvas: &Canvas<'_>, mark: Mark, (x, y): (i32, i32)) -> Result<(), Refusal> {
    let block = |from: i32, to: i32, ink: Ink, opacity: f64| {
        marker::block(canvas, ((x + from, y - 6), (x + to, y + 6)), ink, opacity)
    };
    match mark {
        Mark::Step => {
            block(-9, 0, Ink::Series(0), marker::SHADES[0])?;
            block(0, 9, Ink::Series(0), marker::SHADES[1])
        }
        Mark::Barrier => block(-7, 7, Ink::Muted, marker::BARRIER_OPACITY),
        Mark::Predicted => marker::dash(canvas, (x, y), Ink::Muted),
        Mark::Nothing => Ok(()),
        Mark::Rule => marker::dashes(canvas, (x - 10, x + 11), y, (Ink::Line, 2)),
        Mark::Fit => marker::dashes(canvas, (x - 10, x + 11), y, (Ink::Text, 2)),
        Mark::Window => block(-9, 9, Ink::Series(0), marker::WINDOW_OPACITY),
        Mark::Level(level) => block(-7, 7, Ink::Series(0), marker::LEVELS[level % marker::LEVELS.len()]),
        Mark::Demand => marker::demand(canvas, (x, y + 3), Ink::Muted),
        Mark::Break => marker::vertical_dashes(canvas, x, (y - 10, y + 10), (Ink::Muted, 1)),
        Mark::Heat => {
            block(-9, -3, Ink::Series(0), marker::heat(0.0))?;
            block(-3, 3, Ink::Series(0), marker::heat(0.5))?;
            block(3, 9, Ink::Series(0), marker::heat(1.0))
        }
        _ => marker::frame(canvas, ((x - 7, y - 6), (x + 7, y + 6))),
    }
}
