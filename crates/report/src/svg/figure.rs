//! The whole figure: title, panels side by side, key, command.

use analysis::Summary;

use super::axis::{Extent, RateAxis};
use super::key;
use super::marker::{Canvas, Refusal};
use super::panel::{Label, PanelFrame, height_for};
use super::plan::{self, PanelPlan, SeriesPlan};
use super::sheet::{EDGE, LETTER_BY_SIZE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of};
use super::theme::Ink;
use super::wording;

/// Height of one panel, and of each of several.
const PANEL: (i32, i32) = (440, 330);
/// Letters of a line of a label, for one panel and for several.
const LABEL_LETTERS: (usize, usize) = (22, 18);
/// Ratio of the highest values up to which panels share an axis.
const SHARED_UP_TO: f64 = 4.0;

/// A figure, laid out.
pub(super) struct Figure {
    plans: Vec<PanelPlan>,
    axes: Vec<RateAxis>,
    labels: Vec<Vec<Label>>,
    sheet: Sheet,
    key: Vec<key::Entry>,
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
        let mut subtitles = wording::subtitles(summary, columns_of(SUBTITLE_SIZE));
        if plans.len() > 1 && axes.iter().any(|axis| *axis != axes[0]) {
            subtitles.push("the rate axes of the panels differ".to_owned());
        }
        Some(Self {
            axes,
            labels,
            sheet: Sheet::of(summary, &wording::title(summary), &subtitles),
            key: key::entries(&plans, summary.head.repetitions, WIDTH - 2 * EDGE),
            plans,
        })
    }

    fn columns(&self) -> i32 {
        if self.plans.len() == 1 { 1 } else { 2 }
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

    /// The margin that the longest label needs, the same in all panels so that plots align.
    fn margin_right(&self) -> i32 {
        let lines = self.labels.iter().flatten().flat_map(|label| &label.lines);
        let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
        (longest as f64 * 12.0 * LETTER_BY_SIZE) as i32 + 30
    }

    /// Draws the figure; the colours are sentinels.
    pub(super) fn draw(&self) -> Result<String, String> {
        let height = self.panel_rows() * self.panel_height();
        self.sheet.drawn(height, &self.key, |canvas, top| self.panels(canvas, top))
    }

    fn panels(&self, canvas: &Canvas<'_>, top: i32) -> Result<(), Refusal> {
        let (width, height) = ((WIDTH - 2 * EDGE) / self.columns(), self.panel_height());
        for (index, plan) in self.plans.iter().enumerate() {
            let (column, row) = (index as i32 % self.columns(), index as i32 / self.columns());
            let frame = PanelFrame {
                plan,
                rates: self.axes[index].clone(),
                labels: self.labels[index].clone(),
                title_lines: self.title_lines(),
                place: (EDGE + column * width, top + row * height, width, height),
                margin_right: self.margin_right(),
            };
            frame.draw(canvas)?;
        }
        Ok(())
    }
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
