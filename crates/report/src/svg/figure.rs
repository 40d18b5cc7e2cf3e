//! The whole figure: title, panels side by side, key, command.

use analysis::Summary;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::{Extent, RateAxis};
use super::key;
use super::marker::{Canvas, Refusal};
use super::panel::{Label, PanelFrame, height_for, text};
use super::plan::{self, PanelPlan, SeriesPlan};
use super::theme::Ink;
use super::wording;
use crate::plain::{folded, shortened};

/// Width of the figure, pixels.
const WIDTH: i32 = 1_000;
/// Left and right of everything.
const EDGE: i32 = 20;
/// Height of one panel, and of each of several.
const PANEL: (i32, i32) = (440, 330);
/// Letters of a line of a label, for one panel and for several.
const LABEL_LETTERS: (usize, usize) = (22, 18);
/// Estimated width of a letter, pixels, by its size; wider than that of common fonts.
const LETTER_BY_SIZE: f64 = 0.56;
/// Ratio of the highest values up to which panels share an axis.
const SHARED_UP_TO: f64 = 4.0;

const TITLE_SIZE: f64 = 20.0;
const SUBTITLE_SIZE: f64 = 12.5;
const SUBTITLE_LINE: i32 = 18;

const COMMAND_SIZE: f64 = 12.0;
const COMMAND_LINE: i32 = 16;
const COMMAND_LINES_MAX: usize = 3;

/// A figure, laid out.
pub(super) struct Figure {
    plans: Vec<PanelPlan>,
    axes: Vec<RateAxis>,
    labels: Vec<Vec<Label>>,
    title: String,
    subtitles: Vec<String>,
    key: Vec<key::Entry>,
    command: Vec<String>,
}

impl Figure {
    /// Lays out the figure of a summary; `None` when nothing was measured.
    pub(super) fn of(summary: &Summary) -> Option<Self> {
        let plans = plan::panels(summary);
        if plans.is_empty() {
            return None;
        }
        let axes = axes(&plans);
        let letters = if plans.len() == 1 { LABEL_LETTERS.0 } else { LABEL_LETTERS.1 };
        let labels =
            plans.iter().zip(&axes).map(|(plan, axis)| labels(summary, plan, axis, letters)).collect();
        let across = f64::from(WIDTH - 2 * EDGE);
        let wide = (across / (SUBTITLE_SIZE * LETTER_BY_SIZE)) as usize;
        let mut subtitles: Vec<String> =
            wording::subtitles(summary, wide).iter().flat_map(|line| folded(line, wide)).collect();
        if plans.len() > 1 && axes.iter().any(|axis| *axis != axes[0]) {
            subtitles.push("the rate axes of the panels differ".to_owned());
        }
        Some(Self {
            axes,
            labels,
            title: shortened(&wording::title(summary), (across / (TITLE_SIZE * LETTER_BY_SIZE)) as usize),
            subtitles,
            key: key::entries(&plans, summary.head.repetitions, WIDTH - 2 * EDGE),
            plans,
            command: command_lines(summary),
        })
    }

    fn columns(&self) -> i32 {
        if self.plans.len() == 1 { 1 } else { 2 }
    }

    fn head_height(&self) -> i32 {
        44 + self.subtitles.len() as i32 * SUBTITLE_LINE + 10
    }

    fn panel_height(&self) -> i32 {
        let least = if self.plans.len() == 1 { PANEL.0 } else { PANEL.1 };
        let lines = self.title_lines();
        self.labels.iter().map(|labels| height_for(labels, lines)).fold(least, i32::max)
    }

    /// Lines of conditions above each of several panels.
    fn title_lines(&self) -> i32 {
        if self.plans.len() == 1 {
            return 0;
        }
        self.plans.iter().map(|plan| plan.conditions.len() as i32).max().unwrap_or(0)
    }

    fn panel_rows(&self) -> i32 {
        (self.plans.len() as i32 + self.columns() - 1) / self.columns()
    }

    fn height(&self) -> i32 {
        self.head_height()
            + self.panel_rows() * self.panel_height()
            + key::height(&self.key)
            + self.foot_height()
    }

    fn foot_height(&self) -> i32 {
        34 + (self.command.len() as i32 - 1).max(0) * COMMAND_LINE
    }

    /// The margin that the longest label needs, the same in all panels so that plots align.
    fn margin_right(&self) -> i32 {
        let lines = self.labels.iter().flatten().flat_map(|label| &label.lines);
        let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
        (longest as f64 * 12.0 * LETTER_BY_SIZE) as i32 + 30
    }

    /// Draws the figure; the colours are sentinels.
    pub(super) fn draw(&self) -> Result<String, String> {
        let mut drawn = String::new();
        self.draw_into(&mut drawn).map_err(|refusal| refusal.to_string())?;
        Ok(drawn)
    }

    fn draw_into(&self, drawn: &mut String) -> Result<(), Refusal> {
        let backend = SVGBackend::with_string(drawn, (WIDTH as u32, self.height() as u32));
        let canvas = backend.into_drawing_area();
        canvas.fill(&Ink::Paper.sentinel())?;
        self.head(&canvas)?;
        let (width, height) = ((WIDTH - 2 * EDGE) / self.columns(), self.panel_height());
        for (index, plan) in self.plans.iter().enumerate() {
            let (column, row) = (index as i32 % self.columns(), index as i32 / self.columns());
            let frame = PanelFrame {
                plan,
                rates: self.axes[index].clone(),
                labels: self.labels[index].clone(),
                title_lines: self.title_lines(),
                place: (EDGE + column * width, self.head_height() + row * height, width, height),
                margin_right: self.margin_right(),
            };
            frame.draw(&canvas)?;
        }
        self.foot(&canvas)?;
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

    fn foot(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let below = self.head_height() + self.panel_rows() * self.panel_height();
        key::draw(canvas, &self.key, (EDGE, below))?;
        for (above, line) in self.command.iter().rev().enumerate() {
            let y = self.height() - 14 - above as i32 * COMMAND_LINE;
            text(canvas, line, (EDGE, y), (COMMAND_SIZE, Ink::Muted, HPos::Left))?;
        }
        Ok(())
    }
}

/// The command, folded; what is beyond the last line is marked as cut.
fn command_lines(summary: &Summary) -> Vec<String> {
    let wide = (f64::from(WIDTH - 2 * EDGE) / (COMMAND_SIZE * LETTER_BY_SIZE)) as usize;
    let mut lines = folded(&wording::command(summary), wide);
    if lines.len() > COMMAND_LINES_MAX {
        let rest = lines.split_off(COMMAND_LINES_MAX - 1).join(" ");
        lines.push(shortened(&rest, wide));
    }
    lines
}

/// One axis for all panels where their heights are alike, else one for each.
fn axes(plans: &[PanelPlan]) -> Vec<RateAxis> {
    let extents: Vec<Extent> = plans.iter().map(PanelPlan::extent).collect();
    let high =
        |pick: fn(f64, f64) -> f64| extents.iter().map(|extent| extent.high).reduce(pick).unwrap_or(1.0);
    let shared = extents.iter().copied().reduce(Extent::with);
    match shared {
        Some(shared) if high(f64::max) <= SHARED_UP_TO * high(f64::min) => {
            vec![RateAxis::of(shared); plans.len()]
        }
        _ => extents.into_iter().map(RateAxis::of).collect(),
    }
}

fn labels(summary: &Summary, plan: &PanelPlan, axis: &RateAxis, letters: usize) -> Vec<Label> {
    let of_series = |series: &SeriesPlan| {
        let last = series.last();
        let mut lines = wording::curve_label(summary, &series.curve, letters);
        if last.is_none() {
            lines.push("failed".to_owned());
        }
        let ink = Ink::Series(series.number);
        Label { lines, ink, bps: last.map(|point| point.bps), depth: last.map(|point| point.depth) }
    };
    let mut labels: Vec<Label> = plan.series.iter().map(of_series).collect();
    if let Some(line) = &plan.line {
        let of_line = |lines, bps| Label { lines, ink: Ink::Line, bps: Some(bps), depth: None };
        labels.push(of_line(wording::line_label(summary, line, axis.unit), line.bps));
        if line.demand_bps > line.bps {
            labels.push(of_line(wording::demand_label(line, axis.unit), line.demand_bps));
        }
    }
    labels
}
