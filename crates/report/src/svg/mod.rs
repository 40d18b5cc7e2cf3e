//! Plots of a run, of two variants and of runs over time as SVGs that follow the reader's light or dark theme.
//!
//! Each plot is a function from a summary to a description ([`chart`]): panels with scales ([`scale`]) and marks in the
//! units of the data, and the words around them. One renderer ([`draw`]) lays a description out and draws it through
//! plotters, whose backend here ([`canvas`]) writes plain colours with a class each; a style sheet in the plot replaces
//! them by those of the reader's theme ([`theme`]). Text stays text and no font is needed to render.

mod canvas;
mod chart;
mod curves;
mod draw;
mod grid;
mod heatmap;
mod history;
mod label;
mod machine;
mod over_time;
mod percentiles;
mod place;
mod plane;
mod ranks;
mod roofline;
mod scale;
mod sheet;
mod shift;
mod sign;
mod sizes;
mod stored;
mod strip;
pub(crate) mod theme;
mod throughput;
mod tradeoff;
mod training;
mod wording;

use analysis::{OverTime, Summary};

use crate::plot::Plot;
use chart::Chart;

pub use history::history_svg;
pub use shift::{ShiftHead, ShiftSide, shift_svg};

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

/// Every plot that a run has something to show in, `throughput` first. `over_time` is what
/// [`analysis::over_time`] made of its seconds.
pub fn plots(summary: &Summary, over_time: &[OverTime]) -> Result<Vec<Plot>, RenderError> {
    let charts = [
        throughput::chart(summary),
        percentiles::chart(summary),
        tradeoff::chart(summary),
        heatmap::chart(summary, over_time),
        over_time::chart(summary, over_time),
        machine::chart(summary, over_time),
        sizes::chart(summary),
        roofline::chart(summary),
        ranks::chart(summary),
        plane::chart(summary),
    ];
    let charts = charts.into_iter().chain(stored::charts(summary)).chain(training::charts(summary));
    charts.flatten().map(|chart| plot(chart, &summary.head.run_id)).collect()
}

/// Draws a description.
fn plot(chart: Chart, run: &str) -> Result<Plot, RenderError> {
    let refused =
        |refusal: canvas::Refusal| RenderError::Drawing { run: run.to_owned(), cause: refusal.to_string() };
    let svg = draw::drawn(&chart).map_err(refused)?;
    let narrow_svg = draw::drawn_narrow(&chart).map_err(refused)?;
    Ok(Plot { name: chart.name, title: chart.shown.to_owned(), svg, narrow_svg, table: chart.table })
}
