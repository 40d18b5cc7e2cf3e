//! Axes of a plot whose values are no rates: frame, grid, ticks, and from values to pixels.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::marker::{Canvas, Refusal};
use super::sheet::text;
use super::theme::Ink;

/// Room for the labels of the vertical axis, pixels.
const LEFT: i32 = 56;
/// Room for the labels and the words of the horizontal axis.
const BOTTOM: i32 = 56;
/// Room for the words of the vertical axis.
const TOP: i32 = 24;
/// Height of a line of the title above.
const TITLE_LINE: i32 = 20;

/// An axis: its ends and ticks, as drawn, and what it shows.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<(f64, String)>,
    pub(super) words: String,
}

impl Axis {
    fn share(&self, place: f64) -> f64 {
        let slack = (self.high - self.low) * 1e-9;
        debug_assert!(
            place >= self.low - slack && place <= self.high + slack,
            "{place} lies outside the axis {} to {}",
            self.low,
            self.high
        );
        (place - self.low) / (self.high - self.low)
    }
}

/// A plot with two axes.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    /// Left, top, width, height, all words included.
    pub(super) place: (i32, i32, i32, i32),
    pub(super) margin_right: i32,
    /// Above it, in lines.
    pub(super) title: Vec<String>,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// Height of a chart around a plot that is `plot` high.
pub(super) fn height_around(plot: i32, title_lines: usize) -> i32 {
    plot + TOP + TITLE_LINE * title_lines as i32 + BOTTOM
}

/// Pixels across the plot of a chart.
pub(super) fn length(width: i32, margin_right: i32) -> f64 {
    f64::from(width - LEFT - margin_right)
}

impl Chart {
    /// Pixels from left to right.
    pub(super) fn across(&self) -> Range<i32> {
        let (left, _, width, _) = self.place;
        left + LEFT..left + width - self.margin_right
    }

    /// Pixels from the top down.
    pub(super) fn down(&self) -> Range<i32> {
        let (_, top, _, height) = self.place;
        top + TOP + TITLE_LINE * self.title.len() as i32..top + height - BOTTOM
    }

    /// Pixels across the plot.
    pub(super) fn length(&self) -> f64 {
        length(self.place.2, self.margin_right)
    }

    /// Where a value stands, unrounded.
    pub(super) fn height_of(&self, place: f64) -> f64 {
        let down = self.down();
        f64::from(down.end) - self.y.share(place) * f64::from(down.end - down.start)
    }

    /// The pixel of two values, as drawn.
    pub(super) fn px(&self, x: f64, y: f64) -> (i32, i32) {
        let across = self.across();
        let right = self.x.share(x) * f64::from(across.end - across.start);
        (across.start + right.round() as i32, self.height_of(y).round() as i32)
    }

    /// Grid, axes, ticks and words.
    pub(super) fn frame(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let (across, down) = (self.across(), self.down());
        let line = |from, to, ink: Ink| {
            canvas.draw(&PathElement::new(vec![from, to], ink.sentinel().stroke_width(1)))
        };
        for (place, words) in &self.y.ticks {
            let y = self.height_of(*place).round() as i32;
            line((across.start, y), (across.end, y), Ink::Grid)?;
            line((across.start - 4, y), (across.start, y), Ink::Muted)?;
            text(canvas, words, (across.start - 8, y), (12.0, Ink::Muted, HPos::Right))?;
        }
        for (place, words) in &self.x.ticks {
            let (x, _) = self.px(*place, self.y.low);
            line((x, down.start), (x, down.end), Ink::Grid)?;
            line((x, down.end), (x, down.end + 4), Ink::Muted)?;
            text(canvas, words, (x, down.end + 15), (12.0, Ink::Muted, HPos::Center))?;
        }
        line((across.start, down.start), (across.start, down.end), Ink::Muted)?;
        line((across.start, down.end), (across.end, down.end), Ink::Muted)?;
        for (number, words) in self.title.iter().enumerate() {
            let at = (self.place.0 + 8, self.place.1 + 10 + TITLE_LINE * number as i32);
            text(canvas, words, at, (13.0, Ink::Text, HPos::Left))?;
        }
        let middle = i32::midpoint(across.start, across.end);
        text(canvas, &self.y.words, (self.place.0 + 8, down.start - 14), (12.0, Ink::Muted, HPos::Left))?;
        text(canvas, &self.x.words, (middle, down.end + 38), (12.0, Ink::Muted, HPos::Center))
    }
}
