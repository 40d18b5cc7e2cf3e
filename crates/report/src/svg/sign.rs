//! Signs at a place in pixels, and the samples of marks in the key.

use plotters::prelude::{Circle, Polygon, Rectangle};
use plotters::style::Color as _;

use super::canvas::{Canvas, Refusal, Stroke, boxes, line};
use super::theme::{Ink, STARVING_OPACITY};

/// Half the size of a marker, pixels.
const REACH: i32 = 5;

/// Opacities of steps, in turn: steps that follow each other without a wait can still be counted.
pub(super) const SHADES: [f64; 2] = [0.95, 0.6];
/// Opacity of what is waited for other accelerators.
pub(super) const BARRIER_OPACITY: f64 = 0.45;
/// Opacities of the shares of a heatmap, from the smallest on.
pub(super) const LEVELS: [f64; 6] = [0.22, 0.36, 0.52, 0.68, 0.84, 1.0];
/// Opacity of the range around a mean.
pub(super) const WINDOW_OPACITY: f64 = 0.14;

/// Opacity of a cell of a grid by its share of the whole: text on it can be read in both themes.
pub(super) const fn heat(share: f64) -> f64 {
    0.06 + 0.46 * share.clamp(0.0, 1.0)
}

/// What stands at a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// The marker of a series.
    Point,
    /// The same for a figure that is not the storage's alone.
    Hollow,
    /// A small dot of a course.
    Dot,
    /// A ring around the first depth that clears the line.
    Ring,
    /// A large lozenge for the fresh repetitions on which a verdict rests.
    Deciding,
    /// A cross where every repetition failed.
    Cross,
    /// A short dash at a predicted value.
    Dash,
    /// What a workload demands: a thick bar with a tick up.
    Demand,
    /// Nothing: the interval alone.
    None,
}

impl Sign {
    /// How far it reaches from its centre, pixels.
    pub(super) fn reach(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Dot => 3.0,
            Self::Ring => 11.0,
            Self::Deciding | Self::Demand | Self::Dash => 9.0,
            Self::Point | Self::Hollow | Self::Cross => 7.0,
        }
    }

    /// Draws it.
    pub(super) fn draw(self, canvas: &Canvas<'_>, at: (i32, i32), ink: Ink) -> Result<(), Refusal> {
        let (x, y) = at;
        match self {
            Self::None => Ok(()),
            Self::Point => marker(canvas, at, ink, ink),
            Self::Hollow => marker(canvas, at, ink, Ink::Paper),
            Self::Dot => canvas.draw(&Circle::new(at, 2, ink.colour().filled())),
            // Wider than a marker, since it stands around one.
            Self::Ring => canvas.draw(&Circle::new(at, REACH + 5, ink.colour().stroke_width(2))),
            Self::Deciding => outlined(canvas, at, &lozenge(REACH + 3), (ink, Ink::Text)),
            Self::Cross => {
                line(canvas, &[(x - 4, y - 4), (x + 4, y + 4)], Stroke::solid(ink, 2))?;
                line(canvas, &[(x - 4, y + 4), (x + 4, y - 4)], Stroke::solid(ink, 2))
            }
            Self::Dash => line(canvas, &[(x - 9, y), (x + 9, y)], Stroke::solid(ink, 2)),
            Self::Demand => {
                line(canvas, &[(x - 7, y), (x + 7, y)], Stroke::solid(ink, 3))?;
                line(canvas, &[(x, y), (x, y - 7)], Stroke::solid(ink, 2))
            }
        }
    }
}

fn lozenge(reach: i32) -> Vec<(i32, i32)> {
    vec![(0, -reach), (reach, 0), (0, reach), (-reach, 0)]
}

/// The outline of the marker of a series, around its centre; `None` is a circle.
fn outline(ink: Ink) -> Option<Vec<(i32, i32)>> {
    let (Ink::Series(number), r) = (ink, REACH) else { return None };
    // Shape and colour: who does not tell some of the colours apart tells series by their shapes.
    match number % 5 {
        1 => Some(vec![(1 - r, 1 - r), (r - 1, 1 - r), (r - 1, r - 1), (1 - r, r - 1)]),
        2 => Some(vec![(0, -r - 1), (r + 1, r - 1), (-r - 1, r - 1)]),
        3 => Some(lozenge(r + 1)),
        4 => Some(vec![(0, r + 1), (r + 1, 1 - r), (-r - 1, 1 - r)]),
        _ => None,
    }
}

fn marker(canvas: &Canvas<'_>, at: (i32, i32), ink: Ink, inside: Ink) -> Result<(), Refusal> {
    if let Some(outline) = outline(ink) {
        return outlined(canvas, at, &outline, (inside, ink));
    }
    canvas.draw(&Circle::new(at, REACH, inside.colour().filled()))?;
    canvas.draw(&Circle::new(at, REACH, ink.colour().stroke_width(2)))
}

fn outlined(
    canvas: &Canvas<'_>,
    (x, y): (i32, i32),
    outline: &[(i32, i32)],
    (inside, edge): (Ink, Ink),
) -> Result<(), Refusal> {
    let corners: Vec<(i32, i32)> = outline.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    let closed: Vec<(i32, i32)> = corners.iter().chain(corners.first()).copied().collect();
    canvas.draw(&Polygon::new(corners, inside.colour().filled()))?;
    line(canvas, &closed, Stroke::solid(edge, 2))
}

/// A 95 % interval, from its lower end to its upper.
pub(super) fn whisker(canvas: &Canvas<'_>, x: i32, (low, high): (i32, i32), ink: Ink) -> Result<(), Refusal> {
    line(canvas, &[(x, low), (x, high)], Stroke::solid(ink, 1))?;
    for y in [low, high] {
        line(canvas, &[(x - 4, y), (x + 4, y)], Stroke::solid(ink, 1))?;
    }
    Ok(())
}

/// The outline of a box.
pub(super) fn frame(canvas: &Canvas<'_>, from: (i32, i32), to: (i32, i32)) -> Result<(), Refusal> {
    canvas.draw(&Rectangle::new([from, to], Ink::Text.colour().stroke_width(2)))
}

/// What an entry of the key shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sample {
    /// Words alone.
    Nothing,
    Sign(Sign),
    /// A point with its interval.
    Interval,
    /// A first depth that clears the line.
    Ringed,
    Stroke(Stroke),
    /// A vertical line.
    Down(Stroke),
    /// Blocks side by side, by their opacities.
    Blocks(Ink, &'static [f64]),
    /// The frame of a cell.
    Frame,
}

impl Sample {
    /// Below the line.
    pub(super) const STARVING: Self = Self::Blocks(Ink::Starving, &[STARVING_OPACITY]);
    /// A step of an accelerator, in both of its shades.
    pub(super) const STEP: Self = Self::Blocks(Ink::Series(0), &SHADES);
    /// Waiting for other accelerators.
    pub(super) const BARRIER: Self = Self::Blocks(Ink::Muted, &[BARRIER_OPACITY]);
    /// The range around a mean.
    pub(super) const WINDOW: Self = Self::Blocks(Ink::Series(0), &[WINDOW_OPACITY]);
    /// Cells of a grid, from the lowest to the highest.
    pub(super) const HEAT: Self = Self::Blocks(Ink::Series(0), &[heat(0.0), heat(0.5), heat(1.0)]);
    /// Hollow markers.
    pub(super) const HOLLOW: Self = Self::Sign(Sign::Hollow);

    /// Cells of a heatmap of one shade.
    pub(super) fn level(level: usize) -> Self {
        Self::Blocks(Ink::Series(0), &LEVELS[level..=level])
    }

    /// Draws it around a place.
    pub(super) fn draw(self, canvas: &Canvas<'_>, (x, y): (i32, i32)) -> Result<(), Refusal> {
        match self {
            Self::Nothing => Ok(()),
            Self::Sign(sign) => sign.draw(canvas, (x, y), Ink::Muted),
            Self::Interval => {
                whisker(canvas, x, (y + 9, y - 9), Ink::Muted)?;
                Sign::Point.draw(canvas, (x, y), Ink::Muted)
            }
            Self::Ringed => {
                Sign::Ring.draw(canvas, (x, y), Ink::Muted)?;
                Sign::Point.draw(canvas, (x, y), Ink::Muted)
            }
            Self::Stroke(stroke) => line(canvas, &[(x - 10, y), (x + 11, y)], stroke),
            Self::Down(stroke) => line(canvas, &[(x, y - 10), (x, y + 10)], stroke),
            Self::Blocks(ink, opacities) => {
                let width = 18 / opacities.len() as i32;
                for (from, opacity) in (x - 9..).step_by(width as usize).zip(opacities) {
                    boxes(canvas, &[(from, y - 6), (from + width, y + 6)], (ink, *opacity))?;
                }
                Ok(())
            }
            Self::Frame => frame(canvas, (x - 7, y - 6), (x + 7, y + 6)),
        }
    }
}
