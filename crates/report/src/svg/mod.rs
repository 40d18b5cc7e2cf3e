//! Throughput against queue depth, and training jobs, as SVGs that follow the reader's light or dark theme.
//!
//! plotters draws the geometry in sentinel colours; [`theme`] then turns each sentinel into a CSS
//! variable. Text stays text and no font is needed to render. Widths of text are estimates, so whatever
//! must not collide is laid out here: labels of curves and of the line stand in the margin, one below the
//! other, and no text stands inside the plot.

mod axis;
mod figure;
mod key;
mod label;
mod margin;
mod marker;
mod panel;
mod plan;
mod scale;
mod sheet;
pub(crate) mod theme;
mod training;
mod wording;

use analysis::Summary;

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
}

/// Throughput over queue depth with the feed line: one panel for each way of reading, one curve for each
/// target and engine.
pub fn throughput_svg(summary: &Summary) -> Result<String, RenderError> {
    let run = || summary.head.run_id.clone();
    let figure = figure::Figure::of(summary).ok_or_else(|| RenderError::NothingMeasured { run: run() })?;
    let drawn = figure.draw().map_err(|cause| RenderError::Drawing { run: run(), cause })?;
    Ok(theme::finish(&drawn, &wording::title(summary), &wording::description(summary)))
}
