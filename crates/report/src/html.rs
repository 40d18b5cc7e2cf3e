//! One self-contained page for a run, or several side by side.

use analysis::Summary;
use record::Environment;

use crate::plot::Plot;

/// What the page shows of one run.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// Figures, verdicts and notes.
    pub summary: &'a Summary,
    /// Its plots, in order.
    pub plots: &'a [Plot],
    /// The scenario as it was run.
    pub scenario: &'a str,
    /// The machine.
    pub environment: &'a Environment,
}

/// The page: complete without JavaScript and without a network.
pub fn html(_pages: &[Page<'_>]) -> String {
    unimplemented!()
}
