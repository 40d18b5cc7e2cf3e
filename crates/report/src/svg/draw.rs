//! Lays a description out and draws it.
//!
//! Widths of text are estimates, so whatever must not collide is laid out here: labels of curves and lines stand in the
//! margin, one below the other, and what stands inside of a plot looks for a place that is free (`place.rs`).

use std::ops::Range;

use plotters::prelude::Polygon;
use plotters::style::Color as _;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Refusal, Stroke, boxes, line, svg, text};
use super::chart::{At, Chart, Label, Mark, PlotPanel};
use super::label::{self, Wish};
use super::place::Room;
use super::sheet::{EDGE, LETTER_BY_SIZE, SUBTITLE_SIZE, Sheet, columns_in};
use super::sign::{Sample, WINDOW_OPACITY, frame, whisker};
use super::theme::Ink;
use crate::plain::{folded, shortened};

/// Least width of what is drawn between the words of a narrow plot, and letters of a line of its labels.
// With both margins this is about the width of a phone's window.
const NARROW_ACROSS: i32 = 210;
const NARROW_LABEL_LETTERS: usize = 13;
const TITLE_SIZE: f64 = 20.0;
const SUBTITLE_LINE: i32 = 18;
/// Size and height of the titles of panels, and the lines that one of them takes at most.
const PANEL_TITLE_SIZE: f64 = 13.0;
const PANEL_TITLE_LINE: i32 = 20;
const PANEL_TITLE_LINES_MAX: usize = 2;
/// Lines of the title at most.
const TITLE_LINES_MAX: usize = 3;
const TITLE_LINE: i32 = 26;
/// Size of labels and of the words of scales.
const LABEL_SIZE: f64 = 12.0;
const COMMAND_LINE: i32 = 16;
const COMMAND_LINES_MAX: usize = 3;

/// Least room for the labels of a vertical scale.
const LEFT_MIN: i32 = 52;
/// Room right of a plot without labels.
const RIGHT_MIN: i32 = 18;
/// Right of panels whose width is their own.
const GAP: i32 = 20;
/// From a plot to the first letter of a label.
const LEADER: i32 = 22;
/// Height of one line of a label, and the gap below each label.
const LABEL_LINE: f64 = 15.0;
const LABEL_GAP: f64 = 5.0;

/// From a sample of the key to its words, between two entries, and the height of a row.
const KEY_GAP: i32 = 16;
const KEY_SPACE: i32 = 28;
const KEY_ROW: i32 = 24;
/// Estimated width of a letter of the key.
const KEY_LETTER: f64 = 6.6;

/// `text` in at most `lines_max` lines; what is beyond the last is marked as cut.
fn clipped(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
    let mut lines = folded(text, columns);
    if lines.len() > lines_max {
        // The rest as one line, so that the mark of the cut stands at its end.
        let rest = lines.split_off(lines_max - 1).join(" ");
        lines.push(shortened(&rest, columns));
    }
    lines
}

/// Pixels that the longest of several lines takes.
fn width_of<'a>(lines: impl Iterator<Item = &'a String>) -> i32 {
    let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
    (longest as f64 * LABEL_SIZE * LETTER_BY_SIZE) as i32
}

/// The plot as SVG.
pub(super) fn drawn(chart: &Chart) -> Result<String, Refusal> {
    drawn_on(chart, Sheet::WIDE)
}

/// The same for a window as narrow as a phone's: panels one below the other, labels in shorter lines.
pub(super) fn drawn_narrow(chart: &Chart) -> Result<String, Refusal> {
    // A second layout and no scaled one: letters that shrink to a third are no letters on a phone.
    let mut chart = Chart { columns: 1, ..chart.clone() };
    for label in chart.rows.iter_mut().flatten().flat_map(|panel| &mut panel.labels) {
        label.lines = label.lines.iter().flat_map(|line| folded(line, NARROW_LABEL_LETTERS)).collect();
    }
    let Margins { left, right } = Margins::of(&chart);
    // A grid of cells has the width of its columns, and sets that of the sheet where it is wider.
    let own = chart.rows.iter().flatten().filter_map(|panel| panel.width);
    let across = own.map(|width| width + GAP).chain([NARROW_ACROSS + right]).max().unwrap_or(0);
    drawn_on(&chart, Sheet { width: 2 * EDGE + left + across })
}

fn drawn_on(chart: &Chart, sheet: Sheet) -> Result<String, Refusal> {
    let title = clipped(&chart.title, sheet.columns(TITLE_SIZE), TITLE_LINES_MAX);
    let columns = sheet.columns(SUBTITLE_SIZE);
    let subtitles: Vec<String> = chart.subtitles.iter().flat_map(|line| folded(line, columns)).collect();
    let command = command_lines(&chart.command, sheet);
    // All text before the height of the sheet: lines that fold make it taller.
    let key = flowed(&chart.key, sheet);
    let first_subtitle = 54 + (title.len() as i32 - 1) * TITLE_LINE;
    let (plots, below) = placed(chart, sheet, first_subtitle + subtitles.len() as i32 * SUBTITLE_LINE);
    let key_height = key.last().map_or(0, Entry::end);
    let height = below + key_height + 34 + (command.len() as i32 - 1).max(0) * COMMAND_LINE;
    svg((sheet.width, height), &chart.title, &chart.description, |canvas| {
        for (y, line) in (28..).step_by(TITLE_LINE as usize).zip(&title) {
            text(canvas, line, (EDGE, y), (TITLE_SIZE, Ink::Text, HPos::Left))?;
        }
        for (y, line) in (first_subtitle..).step_by(SUBTITLE_LINE as usize).zip(&subtitles) {
            text(canvas, line, (EDGE, y), (SUBTITLE_SIZE, Ink::Muted, HPos::Left))?;
        }
        for plot in &plots {
            plot.draw(canvas)?;
        }
        draw_key(canvas, &key, below)?;
        let first = height - 14 - (command.len() as i32 - 1) * COMMAND_LINE;
        for (y, line) in (first..).step_by(COMMAND_LINE as usize).zip(&command) {
            text(canvas, line, (EDGE, y), (LABEL_SIZE, Ink::Muted, HPos::Left))?;
        }
        Ok(())
    })
}

fn command_lines(command: &str, sheet: Sheet) -> Vec<String> {
    if command.is_empty() {
        return Vec::new();
    }
    clipped(command, sheet.columns(LABEL_SIZE), COMMAND_LINES_MAX)
}

/// An entry of the key.
struct Entry {
    /// Its upper left corner in the key.
    corner: (i32, i32),
    sample: Sample,
    lines: Vec<String>,
}

impl Entry {
    /// Where the row ends that it makes.
    fn end(&self) -> i32 {
        self.corner.1 + KEY_ROW + (self.lines.len() as i32 - 1) * LABEL_LINE as i32
    }

    /// From its corner to its words.
    fn gap(&self) -> i32 {
        if self.sample == Sample::Nothing { 0 } else { KEY_GAP + 10 }
    }
}

/// Entries in rows as wide as the plot.
fn flowed(key: &[(Sample, String)], sheet: Sheet) -> Vec<Entry> {
    let letters = (f64::from(sheet.within() - KEY_GAP - 10) / KEY_LETTER) as usize;
    let (mut x, mut y) = (0, 0);
    let mut entries: Vec<Entry> = Vec::new();
    for (sample, words) in key {
        let gap = if *sample == Sample::Nothing { 0 } else { KEY_GAP };
        let length = gap + (words.chars().count() as f64 * KEY_LETTER) as i32;
        if x > 0 && x + length > sheet.within() {
            (x, y) = (0, entries.last().map_or(0, Entry::end));
        }
        entries.push(Entry { corner: (x, y), sample: *sample, lines: folded(words, letters) });
        x += length + KEY_SPACE;
    }
    entries
}

fn draw_key(canvas: &Canvas<'_>, entries: &[Entry], top: i32) -> Result<(), Refusal> {
    for entry in entries {
        let (x, y) = (EDGE + entry.corner.0, top + entry.corner.1 + KEY_ROW / 2);
        entry.sample.draw(canvas, (x + 10, y))?;
        for (y, words) in (y..).step_by(LABEL_LINE as usize).zip(&entry.lines) {
            text(canvas, words, (x + entry.gap(), y), (LABEL_SIZE, Ink::Muted, HPos::Left))?;
        }
    }
    Ok(())
}

/// Room left and right of what is drawn, the same for all panels.
struct Margins {
    left: i32,
    right: i32,
}

impl Margins {
    fn of(chart: &Chart) -> Self {
        let panels = || chart.rows.iter().flatten();
        // One margin for all panels, so that their plots stand below each other and depths can be compared by eye.
        let names = panels().flat_map(|panel| &panel.y.ticks).map(|tick| &tick.1);
        let labels = panels().flat_map(|panel| &panel.labels).flat_map(|label| &label.lines);
        Self {
            left: match width_of(names) {
                0 => 0,
                // Room for the longest label of the scale and its tick, and the same place for short ones.
                width => LEFT_MIN.max(width + 18),
            },
            right: match width_of(labels) {
                0 => RIGHT_MIN,
                width => width + LEADER + 8,
            },
        }
    }
}

/// A panel with its place.
struct Plot<'a> {
    panel: &'a PlotPanel,
    title: Vec<String>,
    /// The words of its horizontal scale.
    x_words: Vec<String>,
    /// Upper left corner, words included.
    corner: (i32, i32),
    /// Pixels of the plot itself, from left to right and from the top down.
    across: Range<i32>,
    down: Range<i32>,
}

/// Every panel with its place below `top`, and where the last ends.
fn placed(chart: &Chart, sheet: Sheet, top: i32) -> (Vec<Plot<'_>>, i32) {
    let Margins { left, right } = Margins::of(chart);
    let page = sheet.within() / chart.columns as i32;
    let width = |panel: &PlotPanel| panel.width.map_or(page, |width| left + width + GAP);
    let (mut plots, mut y) = (Vec::new(), top);
    for row in chart.rows.iter().flat_map(|panels| wrapped(panels, sheet, width)) {
        let of_panel = |panel: &&PlotPanel| title_lines(panel, width(panel));
        let titles: Vec<Vec<String>> = row.iter().map(of_panel).collect();
        // The most lines of any title in the row, so that the plots of a row begin at one height.
        let lines = titles.iter().map(Vec::len).max().unwrap_or(0) as i32;
        let highest = row.iter().map(|panel| plot_height(panel)).max().unwrap_or(0);
        let (mut x, mut end) = (EDGE, y);
        for (panel, title) in row.into_iter().zip(titles) {
            let from = y + lines * PANEL_TITLE_LINE + if panel.y.words.is_empty() { 8 } else { 24 };
            // Panels of one row are equally high, since they share the heights of their scale.
            let to = from + if panel.width.is_some() { panel.height } else { highest };
            let across = x + left..x + width(panel) - panel.width.map_or(right, |_| GAP);
            let x_words = folded(&panel.x.words, columns_in(width(panel), LABEL_SIZE));
            end = end.max(to + below(panel) + (x_words.len() as i32 - 1) * LABEL_LINE as i32);
            plots.push(Plot { panel, title, x_words, corner: (x, y), across, down: from..to });
            x += width(panel);
        }
        y = end;
    }
    (plots, y)
}

/// Panels in rows as wide as the plot.
fn wrapped(panels: &[PlotPanel], sheet: Sheet, width: impl Fn(&PlotPanel) -> i32) -> Vec<Vec<&PlotPanel>> {
    let mut rows: Vec<Vec<&PlotPanel>> = Vec::new();
    let mut x = 0;
    for panel in panels {
        x += width(panel);
        match rows.last_mut() {
            Some(row) if x <= sheet.within() => row.push(panel),
            _ => {
                rows.push(vec![panel]);
                x = width(panel);
            }
        }
    }
    rows
}

fn title_lines(panel: &PlotPanel, width: i32) -> Vec<String> {
    let columns = columns_in(width - 8, PANEL_TITLE_SIZE);
    panel.title.iter().flat_map(|line| clipped(line, columns, PANEL_TITLE_LINES_MAX)).collect()
}

/// Height of the plot of a panel: its labels need their room.
fn plot_height(panel: &PlotPanel) -> i32 {
    let labels = panel.labels.iter().map(label_height).sum::<f64>().ceil() as i32;
    panel.height.max(labels)
}

fn label_height(label: &Label) -> f64 {
    label.lines.len() as f64 * LABEL_LINE + LABEL_GAP
}

/// Room below a plot for the labels and the words of its horizontal scale.
fn below(panel: &PlotPanel) -> i32 {
    let has_labels = panel.x.ticks.iter().any(|tick| !tick.1.is_empty());
    match (panel.x.words.is_empty(), has_labels) {
        (false, _) => 56,
        (true, true) => 30,
        (true, false) => 8,
    }
}

impl Plot<'_> {
    /// Where a value stands, unrounded.
    fn height_of(&self, y: f64) -> f64 {
        f64::from(self.down.end) - self.panel.y.share(y) * f64::from(self.down.end - self.down.start)
    }

    /// The pixel of two values.
    fn px(&self, (x, y): At) -> (i32, i32) {
        let right = self.panel.x.share(x) * f64::from(self.across.end - self.across.start);
        (self.across.start + right.round() as i32, self.height_of(y).round() as i32)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        // Regions below the grid, marks above it, words last: they look for what is free.
        for mark in &self.panel.regions {
            self.mark(canvas, mark)?;
        }
        self.scales(canvas)?;
        self.titles(canvas)?;
        for mark in &self.panel.marks {
            self.mark(canvas, mark)?;
        }
        self.words_beside(canvas)?;
        self.labels(canvas)
    }

    /// Grid, axes, ticks and their labels.
    fn scales(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let (Range { start: left, end: right }, Range { start: top, end: bottom }) =
            (self.across.clone(), self.down.clone());
        let (x, y) = (&self.panel.x, &self.panel.y);
        let (grid, axis) = (Stroke::solid(Ink::Grid, 1), Stroke::solid(Ink::Muted, 1));
        for (value, words) in &y.ticks {
            let height = self.height_of(*value).round() as i32;
            if y.has_grid() {
                line(canvas, &[(left, height), (right, height)], grid)?;
                line(canvas, &[(left - 4, height), (left, height)], axis)?;
            }
            text(canvas, words, (left - 8, height), (LABEL_SIZE, Ink::Muted, HPos::Right))?;
        }
        for (value, words) in x.ticks_within(f64::from(right - left)) {
            let at = self.px((value, f64::NEG_INFINITY)).0;
            if x.has_grid() {
                line(canvas, &[(at, top), (at, bottom)], grid)?;
                line(canvas, &[(at, bottom), (at, bottom + 4)], axis)?;
            }
            if !words.is_empty() {
                text(canvas, words, (at, bottom + 15), (LABEL_SIZE, Ink::Muted, HPos::Center))?;
            }
        }
        if y.has_grid() {
            line(canvas, &[(left, top), (left, bottom)], axis)?;
        }
        if x.has_grid() {
            line(canvas, &[(left, bottom), (right, bottom)], axis)?;
        }
        Ok(())
    }

    /// Title, and the words of both scales.
    fn titles(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let (x, y) = self.corner;
        for (height, words) in (y + 8..).step_by(PANEL_TITLE_LINE as usize).zip(&self.title) {
            text(canvas, words, (x, height), (PANEL_TITLE_SIZE, Ink::Text, HPos::Left))?;
        }
        let style = |h_pos| (LABEL_SIZE, Ink::Muted, h_pos);
        let middle = i32::midpoint(self.across.start, self.across.end);
        if !self.panel.y.words.is_empty() {
            text(canvas, &self.panel.y.words, (x, self.down.start - 14), style(HPos::Left))?;
        }
        if !self.panel.x.words.is_empty() {
            // Long words below a narrow plot begin where its panel does.
            let middle = middle.max(x + width_of(self.x_words.iter()) / 2);
            for (y, words) in (self.down.end + 38..).step_by(LABEL_LINE as usize).zip(&self.x_words) {
                text(canvas, words, (middle, y), style(HPos::Center))?;
            }
        }
        Ok(())
    }

    fn mark(&self, canvas: &Canvas<'_>, mark: &Mark) -> Result<(), Refusal> {
        match mark {
            Mark::Line(points, stroke) => {
                let mut path: Vec<(i32, i32)> = points.iter().map(|at| self.px(*at)).collect();
                // Points of one pixel draw nothing more, and would make the file of a long run large.
                path.dedup();
                line(canvas, &path, *stroke)
            }
            Mark::Band(edges, ink) => {
                let upper = edges.iter().map(|(x, span)| self.px((*x, span.1)));
                let lower = edges.iter().rev().map(|(x, span)| self.px((*x, span.0)));
                let around: Vec<(i32, i32)> = upper.chain(lower).collect();
                if edges.len() < 2 {
                    return Ok(());
                }
                canvas.draw(&Polygon::new(around, ink.colour().mix(WINDOW_OPACITY).filled()))
            }
            Mark::Sign { at, span, sign, ink, nudge } => {
                let beside = |(x, y): (i32, i32)| (x + nudge.0, y + nudge.1);
                let (x, y) = beside(self.px(*at));
                if let Some((low, high)) = span {
                    let ends = (beside(self.px((at.0, *low))).1, beside(self.px((at.0, *high))).1);
                    whisker(canvas, x, ends, *ink)?;
                }
                sign.draw(canvas, (x, y), *ink)
            }
            Mark::Boxes(corners, ink, opacity) => {
                let corners: Vec<_> = corners.iter().filter_map(|of| self.corners(*of, *ink)).collect();
                boxes(canvas, corners.as_flattened(), (*ink, *opacity))
            }
            Mark::Frame(from, to) => match self.corners((*from, *to), Ink::Text) {
                Some([from, to]) => frame(canvas, from, to),
                None => Ok(()),
            },
            Mark::Across(y, stroke) => {
                let ends = [(f64::NEG_INFINITY, *y), (f64::INFINITY, *y)];
                line(canvas, &ends.map(|at| self.px(at)), *stroke)
            }
            Mark::Down(x, stroke) => {
                let ends = [(*x, f64::INFINITY), (*x, f64::NEG_INFINITY)];
                line(canvas, &ends.map(|at| self.px(at)), *stroke)
            }
            // Those look for a free place, which is known once all marks are drawn.
            Mark::Words { beside: true, .. } => Ok(()),
            Mark::Words { at, words, size, ink, .. } => {
                text(canvas, words, self.px(*at), (*size, *ink, HPos::Center))
            }
        }
    }

    /// Upper left and lower right pixel of a box; `None` where nothing would be seen. What belongs to a series is seen
    /// however thin it is, a region of less than half a pixel is not.
    fn corners(&self, (from, to): (At, At), ink: Ink) -> Option<[(i32, i32); 2]> {
        let ((x1, y1), (x2, y2)) = (self.px(from), self.px(to));
        // A step of a microsecond in a job of minutes is narrower than a pixel, and was made all the same.
        let width_min = i32::from(matches!(ink, Ink::Series(_)));
        let (left, top, bottom) = (x1.min(x2), y1.min(y2), y1.max(y2));
        let right = x1.max(x2).max(left + width_min);
        (left < right && top < bottom).then_some([(left, top), (right, bottom)])
    }

    /// Words beside what they name, in their order, where they touch neither a mark nor a line nor each other.
    fn words_beside(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let is_beside = |mark: &&Mark| matches!(mark, Mark::Words { beside: true, .. });
        let mut wanted = self.panel.marks.iter().filter(is_beside).peekable();
        // Most plots have no such words, and finding what is free looks at every piece of every line.
        if wanted.peek().is_none() {
            return Ok(());
        }
        let mut room = self.room();
        for mark in wanted {
            if let Mark::Words { at, words, size, ink, .. } = mark
                && let Some(spot) = room.find(self.px(*at), words, *size)
            {
                text(canvas, words, (spot.left, spot.middle), (*size, *ink, HPos::Left))?;
            }
        }
        Ok(())
    }

    /// What lines, signs and leaders leave free.
    fn room(&self) -> Room {
        let mut room = Room::within(&self.across, &self.down);
        for mark in &self.panel.marks {
            match mark {
                Mark::Line(points, _) => {
                    let path: Vec<(i32, i32)> = points.iter().map(|at| self.px(*at)).collect();
                    path.windows(2).for_each(|pair| room.line(pair[0], pair[1]));
                }
                Mark::Sign { at, sign, nudge, .. } => {
                    let (x, y) = self.px(*at);
                    room.mark((x + nudge.0, y + nudge.1), sign.reach());
                }
                Mark::Across(y, _) => {
                    room.line(self.px((f64::NEG_INFINITY, *y)), self.px((f64::INFINITY, *y)));
                }
                Mark::Down(x, _) => {
                    room.line(self.px((*x, f64::INFINITY)), self.px((*x, f64::NEG_INFINITY)));
                }
                // Words upon a surface can be read; beside lines and signs they cannot.
                Mark::Band(..) | Mark::Boxes(..) | Mark::Frame(..) | Mark::Words { .. } => {}
            }
        }
        for label in self.panel.labels.iter().filter(|label| label.at.0.is_finite()) {
            let end = self.px(label.at);
            room.line((end.0 + 8, end.1), (self.across.end, end.1));
        }
        room
    }

    /// Labels in the margin, each with a leader from what it names.
    fn labels(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let labels = &self.panel.labels;
        // Unrounded: labels of near neighbours keep their order.
        let wish = |label: &Label| Wish { at: self.height_of(label.at.1), height: label_height(label) };
        let wishes: Vec<Wish> = labels.iter().map(wish).collect();
        // Half a line beyond the plot on either side: a label of the highest value is as high as its middle.
        let (top, bottom) = (f64::from(self.down.start) - 8.0, f64::from(self.down.end) + 8.0);
        for (label, centre) in labels.iter().zip(label::place(&wishes, top, bottom)) {
            self.leader(canvas, label, centre.round() as i32)?;
            for (number, words) in label.lines.iter().enumerate() {
                let offset = (number as f64 - (label.lines.len() as f64 - 1.0) / 2.0) * LABEL_LINE;
                let at = (self.across.end + LEADER, (centre + offset).round() as i32);
                text(canvas, words, at, (LABEL_SIZE, label.ink, HPos::Left))?;
            }
        }
        Ok(())
    }

    /// From what is named to its label: dotted inside the plot, where a curve ends before the margin.
    fn leader(&self, canvas: &Canvas<'_>, label: &Label, to: i32) -> Result<(), Refusal> {
        let (end, from) = (self.px(label.at), self.height_of(label.at.1).round() as i32);
        let edge = self.across.end;
        if let Ink::Series(series) = label.ink
            && end.0 + 8 < edge
        {
            line(canvas, &[(end.0 + 8, end.1), (edge, from)], Stroke::leader(series))?;
        }
        let bent = [(edge + 2, from), (edge + 6, from), (edge + LEADER - 5, to)];
        line(canvas, &bent, Stroke::solid(label.ink, 1))
    }
}
