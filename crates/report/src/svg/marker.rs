//! Marks in pixel coordinates: points, rings, crosses, whiskers.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::theme::Ink;

/// Where plots are drawn.
pub(super) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What the drawing library says when it refuses.
pub(super) type Refusal = DrawingAreaErrorKind<std::io::Error>;

/// Half the size of a marker, pixels.
const REACH: i32 = 5;

/// The outline of the marker of a series; `None` is a circle.
fn outline(number: usize) -> Option<Vec<(i32, i32)>> {
    let r = REACH;
    match number % 5 {
        1 => Some(vec![(1 - r, 1 - r), (r - 1, 1 - r), (r - 1, r - 1), (1 - r, r - 1)]),
        2 => Some(vec![(0, -r - 1), (r + 1, r - 1), (-r - 1, r - 1)]),
        3 => Some(vec![(0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)]),
        4 => Some(vec![(0, r + 1), (r + 1, 1 - r), (-r - 1, 1 - r)]),
        _ => None,
    }
}

/// The marker of a series; hollow for a figure that is not the storage's alone.
pub(super) fn point(
    canvas: &Canvas<'_>,
    (x, y): (i32, i32),
    series: usize,
    is_hollow: bool,
) -> Result<(), Refusal> {
    let ink = Ink::Series(series).sentinel();
    let inside = if is_hollow { Ink::Paper.sentinel() } else { ink };
    let Some(outline) = outline(series) else {
        canvas.draw(&Circle::new((x, y), REACH, inside.filled()))?;
        return canvas.draw(&Circle::new((x, y), REACH, ink.stroke_width(2)));
    };
    let corners: Vec<(i32, i32)> = outline.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    let closed: Vec<(i32, i32)> = corners.iter().chain(corners.first()).copied().collect();
    canvas.draw(&Polygon::new(corners, inside.filled()))?;
    canvas.draw(&PathElement::new(closed, ink.stroke_width(2)))
}

/// A ring around the first depth that clears the line.
pub(super) fn ring(canvas: &Canvas<'_>, at: (i32, i32), ink: Ink) -> Result<(), Refusal> {
    canvas.draw(&Circle::new(at, REACH + 5, ink.sentinel().stroke_width(2)))
}

/// A large lozenge for the fresh repetitions on which a verdict rests.
pub(super) fn deciding(canvas: &Canvas<'_>, (x, y): (i32, i32), ink: Ink) -> Result<(), Refusal> {
    let reach = REACH + 3;
    let corners = vec![(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)];
    let closed: Vec<(i32, i32)> = corners.iter().chain(corners.first()).copied().collect();
    canvas.draw(&Polygon::new(corners, ink.sentinel().filled()))?;
    canvas.draw(&PathElement::new(closed, Ink::Text.sentinel().stroke_width(2)))
}

/// A cross for a depth at which every repetition failed.
pub(super) fn cross(canvas: &Canvas<'_>, (x, y): (i32, i32), ink: Ink) -> Result<(), Refusal> {
    let style = ink.sentinel().stroke_width(2);
    canvas.draw(&PathElement::new(vec![(x - 4, y - 4), (x + 4, y + 4)], style))?;
    canvas.draw(&PathElement::new(vec![(x - 4, y + 4), (x + 4, y - 4)], style))
}

/// A 95 % interval.
pub(super) fn whisker(canvas: &Canvas<'_>, x: i32, (low, high): (i32, i32), ink: Ink) -> Result<(), Refusal> {
    let style = ink.sentinel().stroke_width(1);
    canvas.draw(&PathElement::new(vec![(x, low), (x, high)], style))?;
    for y in [low, high] {
        canvas.draw(&PathElement::new(vec![(x - 4, y), (x + 4, y)], style))?;
    }
    Ok(())
}

/// Opacities of steps, in turn: steps that follow each other without a wait can still be counted.
pub(super) const SHADES: [f64; 2] = [0.95, 0.6];

/// Opacity of what is waited for other accelerators.
pub(super) const BARRIER_OPACITY: f64 = 0.45;

/// Opacity of a cell of a grid by its share of the whole: text on it can be read in both themes.
pub(super) fn heat(share: f64) -> f64 {
    0.06 + 0.46 * share.clamp(0.0, 1.0)
}

/// A filled block between two corners.
pub(super) fn block(
    canvas: &Canvas<'_>,
    (from, to): ((i32, i32), (i32, i32)),
    ink: Ink,
    opacity: f64,
) -> Result<(), Refusal> {
    canvas.draw(&Rectangle::new([from, to], ink.sentinel().mix(opacity).filled()))
}

/// The outline of a block that stands out among others.
pub(super) fn frame(canvas: &Canvas<'_>, (from, to): ((i32, i32), (i32, i32))) -> Result<(), Refusal> {
    canvas.draw(&Rectangle::new([from, to], Ink::Text.sentinel().stroke_width(2)))
}

/// A short dash at a value that was predicted.
pub(super) fn dash(canvas: &Canvas<'_>, (x, y): (i32, i32), ink: Ink) -> Result<(), Refusal> {
    canvas.draw(&PathElement::new(vec![(x - 9, y), (x + 9, y)], ink.sentinel().stroke_width(2)))
}

/// A horizontal dashed line.
pub(super) fn dashes(
    canvas: &Canvas<'_>,
    (from, to): (i32, i32),
    y: i32,
    (ink, width): (Ink, u32),
) -> Result<(), Refusal> {
    for start in (from..to).step_by(13) {
        let style = ink.sentinel().stroke_width(width);
        canvas.draw(&PathElement::new(vec![(start, y), ((start + 8).min(to), y)], style))?;
    }
    Ok(())
}

/// A vertical dashed line.
pub(super) fn vertical_dashes(
    canvas: &Canvas<'_>,
    x: i32,
    (from, to): (i32, i32),
    (ink, width): (Ink, u32),
) -> Result<(), Refusal> {
    for start in (from..to).step_by(13) {
        let style = ink.sentinel().stroke_width(width);
        canvas.draw(&PathElement::new(vec![(x, start), (x, (start + 8).min(to))], style))?;
    }
    Ok(())
}

/// What a workload demands: a thick horizontal bar with a tick up.
pub(super) fn demand(canvas: &Canvas<'_>, (x, y): (i32, i32), ink: Ink) -> Result<(), Refusal> {
    let style = ink.sentinel().stroke_width(3);
    canvas.draw(&PathElement::new(vec![(x - 7, y), (x + 7, y)], style))?;
    canvas.draw(&PathElement::new(vec![(x, y), (x, y - 7)], ink.sentinel().stroke_width(2)))
}

/// Opacities of the shares of a heatmap, from the smallest on.
pub(super) const LEVELS: [f64; 6] = [0.22, 0.36, 0.52, 0.68, 0.84, 1.0];

/// Opacity of the range in which a steady rate stays.
pub(super) const WINDOW_OPACITY: f64 = 0.14;
