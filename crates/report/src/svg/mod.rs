//! Plots of a run, of two variants and of runs over time as SVGs that follow the reader's light or dark theme.
//!
//! plotters draws the geometry in sentinel colours; [`theme`] then turns each sentinel into a CSS
//! variable. Text stays text and no font is needed to render. Widths of text are estimates, so whatever
//! must not collide is laid out here: labels of curves and of the line stand in the margin, one below the
//! other, and what stands inside of a plot looks for a place that is free ([`place`]).

mod axis;
mod chart;
mod drawn;
mod figure;
mod heatmap;
mod history;
mod key;
mod label;
mod margin;
mod marker;
mod over_time;
mod panel;
mod percentiles;
mod place;
mod plan;
mod roofline;
mod scale;
mod sheet;
mod shift;
mod sizes;
mod stored;
mod strip;
pub(crate) mod theme;
mod throughput;
mod ticks;
mod tradeoff;
mod training;
mod wording;

use analysis::{OverTime, Summary};

use crate::plot::Plot;
use drawn::Drawn;

pub use history::history_svg;
pub use shift::{ShiftHead, ShiftSide, shift_svg};
pub(crate) use theme::flattened;
pub(crate) use throughput::table as throughput_table;
pub use training::training_svgs;

/// Why no plot was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// No cell that reads in a closed loop has figures.
    #[error(
        "cannot plot run {run}: no cell has a throughput by its depth\n  hint: the table names what each cell has"
    )]
    NothingMeasured {
        /// Which run.
        run: String,
    },
    /// The drawing library refused.
    #[error("cannot plot run {run}: {cause}\n  hint: report it with the record of the run")]
    Drawing {
        /// Which run.
        run: String,
        /// What it said.
        cause: String,
    },
    /// No picture was made of a plot.
    #[error("cannot make a PNG of the plot: {cause}\n  hint: --format svg makes the plot itself")]
    Picture {
        /// Why.
        cause: String,
    },
}

/// Throughput over queue depth with the feed line: one panel for each way of reading, one curve for each
/// target and engine.
pub fn throughput_svg(summary: &Summary) -> Result<String, RenderError> {
    let run = || summary.head.run_id.clone();
    let figure = figure::Figure::of(summary).ok_or_else(|| RenderError::NothingMeasured { run: run() })?;
    let drawn = figure.draw().map_err(|cause| RenderError::Drawing { run: run(), cause })?;
    Ok(theme::finish(&drawn, &wording::title(summary), &wording::description(summary)))
}

/// The plots of a run beside those of throughput by depth and of training jobs, without those that would show nothing.
pub(crate) fn run_svgs(summary: &Summary, over_time: &[OverTime]) -> Result<Vec<Plot>, RenderError> {
    let drawn = [
        percentiles::draw(summary),
        tradeoff::draw(summary),
        heatmap::draw(summary, over_time),
        over_time::draw(summary, over_time),
        sizes::draw(summary),
        roofline::draw(summary),
    ];
    drawn.into_iter().chain(stored::draw(summary)).flatten().map(|drawn| finished(summary, drawn)).collect()
}

/// Gives a drawing its theme, title and description.
fn finished(summary: &Summary, drawn: Drawn) -> Result<Plot, RenderError> {
    let Drawn { name, shown, svg, table } = drawn;
    let run = summary.head.run_id.clone();
    let svg = svg.map_err(|cause| RenderError::Drawing { run, cause })?;
    let svg = theme::finish(&svg, &wording::title_of(summary, shown), &wording::description(summary));
    Ok(Plot { name, title: shown.to_owned(), svg, table })
}
