//! Every plot that a run has, each with the table of what it shows.

use analysis::{OverTime, Summary};

use crate::svg::{self, RenderError};

/// A plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Name of its file, without `.svg`.
    pub name: &'static str,
    /// What it shows, in words.
    pub title: String,
    /// The plot.
    pub svg: String,
    /// The same for a window as narrow as a phone's.
    pub narrow_svg: String,
    /// The figures that it shows.
    pub table: PlotTable,
}

/// The figures of a plot, for those who cannot or would rather not look at it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlotTable {
    /// Names of the columns, with units.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

/// Every plot that a run has something to show in, `throughput` first. `over_time` is what
/// [`analysis::over_time`] made of its seconds.
pub fn plots(summary: &Summary, over_time: &[OverTime]) -> Result<Vec<Plot>, RenderError> {
    svg::run_svgs(summary, over_time)
}
