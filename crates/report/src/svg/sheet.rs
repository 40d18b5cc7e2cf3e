//! What stands around every plot: title, what the reader must know first, key, command.

use analysis::Summary;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::key::{self, Entry};
use super::marker::{Canvas, Refusal};
use super::theme::Ink;
use super::wording;
use crate::plain::{folded, shortened};

/// Width of a figure, pixels.
pub(super) const WIDTH: i32 = 1_000;
/// Left and right of everything.
pub(super) const EDGE: i32 = 20;
/// Estimated width of a letter, pixels, by its size; wider than that of common fonts.
pub(super) const LETTER_BY_SIZE: f64 = 0.56;

const TITLE_SIZE: f64 = 20.0;
/// Size of the lines below the title.
pub(super) const SUBTITLE_SIZE: f64 = 12.5;
const SUBTITLE_LINE: i32 = 18;

const COMMAND_SIZE: f64 = 12.0;
const COMMAND_LINE: i32 = 16;
const COMMAND_LINES_MAX: usize = 3;

/// Letters of a size that fit across a figure.
pub(super) fn columns_of(size: f64) -> usize {
    (f64::from(WIDTH - 2 * EDGE) / (size * LETTER_BY_SIZE)) as usize
}

/// Text at a place.
pub(super) fn text(
    canvas: &Canvas<'_>,
    words: &str,
    at: (i32, i32),
    (size, ink, h_pos): (f64, Ink, HPos),
) -> Result<(), Refusal> {
    // plotters divides sizes by 1.24 on their way into an SVG.
    let font = ("sans-serif", size * 1.24).into_font();
    canvas.draw_text(words, &font.color(&ink.sentinel()).pos(Pos::new(h_pos, VPos::Center)), at)
}

/// The words around a plot, laid out.
pub(super) struct Sheet {
    title: String,
    subtitles: Vec<String>,
    command: Vec<String>,
}

impl Sheet {
    /// With a title, which is cut where it is too long, and lines below it, which are folded.
    pub(super) fn of(summary: &Summary, title: &str, subtitles: &[String]) -> Self {
        Self::with_command(title, subtitles, &wording::command(summary))
    }

    /// The same of no single run; `command` may be empty.
    pub(super) fn with_command(title: &str, subtitles: &[String], command: &str) -> Self {
        let wide = columns_of(SUBTITLE_SIZE);
        Self {
            title: shortened(title, columns_of(TITLE_SIZE)),
            subtitles: subtitles.iter().flat_map(|line| folded(line, wide)).collect(),
            command: command_lines(command),
        }
    }

    /// Draws all of a figure, whose body `draw` draws below the height that it is given; the colours are sentinels.
    pub(super) fn drawn(
        &self,
        body_height: i32,
        key: &[Entry],
        draw: impl FnOnce(&Canvas<'_>, i32) -> Result<(), Refusal>,
    ) -> Result<String, String> {
        let mut drawn = String::new();
        self.draw_into(&mut drawn, body_height, key, draw).map_err(|refusal| refusal.to_string())?;
        Ok(drawn)
    }

    fn draw_into(
        &self,
        drawn: &mut String,
        body_height: i32,
        key: &[Entry],
        draw: impl FnOnce(&Canvas<'_>, i32) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let below = self.head_height() + body_height;
        let height = below + key::height(key) + self.foot_height();
        let backend = SVGBackend::with_string(drawn, (WIDTH as u32, height as u32));
        let canvas = backend.into_drawing_area();
        canvas.fill(&Ink::Paper.sentinel())?;
        self.head(&canvas)?;
        draw(&canvas, self.head_height())?;
        key::draw(&canvas, key, (EDGE, below))?;
        for (above, line) in self.command.iter().rev().enumerate() {
            let y = height - 14 - above as i32 * COMMAND_LINE;
            text(&canvas, line, (EDGE, y), (COMMAND_SIZE, Ink::Muted, HPos::Left))?;
        }
        canvas.present()
    }

    fn head(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        text(canvas, &self.title, (EDGE, 28), (TITLE_SIZE, Ink::Text, HPos::Left))?;
        for (number, line) in self.subtitles.iter().enumerate() {
            let y = 54 + number as i32 * SUBTITLE_LINE;
            text(canvas, line, (EDGE, y), (SUBTITLE_SIZE, Ink::Muted, HPos::Left))?;
        }
        Ok(())
    }

    fn head_height(&self) -> i32 {
        44 + self.subtitles.len() as i32 * SUBTITLE_LINE + 10
    }

    fn foot_height(&self) -> i32 {
        34 + (self.command.len() as i32 - 1).max(0) * COMMAND_LINE
    }
}

/// The command, folded; what is beyond the last line is marked as cut.
fn command_lines(command: &str) -> Vec<String> {
    if command.is_empty() {
        return Vec::new();
    }
    let wide = columns_of(COMMAND_SIZE);
    let mut lines = folded(command, wide);
    if lines.len() > COMMAND_LINES_MAX {
        let rest = lines.split_off(COMMAND_LINES_MAX - 1).join(" ");
        lines.push(shortened(&rest, wide));
    }
    lines
}

/// Places of blocks side by side as the sheet is wide, `gap` apart, and the height of all.
pub(super) fn side_by_side(sizes: impl Iterator<Item = (i32, i32)>, gap: i32) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut y, mut row_height) = (0, 0, 0);
    let mut found = Vec::new();
    for (width, height) in sizes {
        if x > 0 && x + width > WIDTH - 2 * EDGE {
            (x, y, row_height) = (0, y + row_height + gap, 0);
        }
        found.push((x, y));
        row_height = row_height.max(height);
        x += width + gap;
    }
    (found, y + row_height + gap)
}
