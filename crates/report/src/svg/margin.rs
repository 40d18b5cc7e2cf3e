//! The margin beside a plot: what each curve and line is called, with a leader from it to its name.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::label::{self, Wish};
use super::marker::{Canvas, Refusal};
use super::sheet::text;
use super::theme::Ink;

/// From the plot to the first letter of a label.
const LEADER: i32 = 22;
/// Height of one line of a label.
const LABEL_LINE: f64 = 15.0;
/// Gap below each label.
const LABEL_GAP: f64 = 5.0;

/// A label with the place of what it names.
#[derive(Debug, Clone)]
pub(super) struct MarginLabel {
    pub(super) lines: Vec<String>,
    pub(super) ink: Ink,
    /// Height of what is named, pixels, unrounded: labels of near neighbours keep their order.
    pub(super) y: f64,
    /// Where a curve ends, which may be short of the margin; absent for a line.
    pub(super) end: Option<(i32, i32)>,
}

/// Height of a label of these lines, pixels.
pub(super) fn height(lines: &[String]) -> f64 {
    lines.len() as f64 * LABEL_LINE + LABEL_GAP
}

/// Draws the labels right of a plot that ends at `edge`.
pub(super) fn draw(
    canvas: &Canvas<'_>,
    labels: &[MarginLabel],
    edge: i32,
    vertical: &Range<i32>,
) -> Result<(), Refusal> {
    let wishes: Vec<Wish> =
        labels.iter().map(|label| Wish { at: label.y, height: height(&label.lines) }).collect();
    let (top, bottom) = (f64::from(vertical.start) - 8.0, f64::from(vertical.end) + 8.0);
    let centres = label::place(&wishes, top, bottom);
    for (label, centre) in labels.iter().zip(centres) {
        leader(canvas, label, edge, centre.round() as i32)?;
        for (number, words) in label.lines.iter().enumerate() {
            let offset = (number as f64 - (label.lines.len() as f64 - 1.0) / 2.0) * LABEL_LINE;
            let at = (edge + LEADER, (centre + offset).round() as i32);
            text(canvas, words, at, (12.0, label.ink, HPos::Left))?;
        }
    }
    Ok(())
}

/// From what is named to its label: dotted inside the plot, where the curve ends before the margin.
fn leader(canvas: &Canvas<'_>, label: &MarginLabel, edge: i32, to: i32) -> Result<(), Refusal> {
    let from = label.y.round() as i32;
    if let (Some(end), Ink::Series(series)) = (label.end, label.ink) {
        let dotted = Ink::Leader(series).sentinel().stroke_width(1);
        canvas.draw(&PathElement::new(vec![(end.0 + 8, end.1), (edge, from)], dotted))?;
    }
    let style = label.ink.sentinel().stroke_width(1);
    canvas.draw(&PathElement::new(vec![(edge + 2, from), (edge + 6, from), (edge + LEADER - 5, to)], style))
}
