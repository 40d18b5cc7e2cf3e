//! Comparisons, histories and calibrations as text.

use analysis::{Calibration, Comparison, History};

/// The comparison as a page of a terminal, 80 columns wide.
pub fn comparison_terminal(_comparison: &Comparison) -> String {
    unimplemented!()
}

/// The comparison as a Markdown table with its headline: a job's summary, a comment.
pub fn comparison_markdown(_comparison: &Comparison) -> String {
    unimplemented!()
}

/// Cells over time, one row for each, with a line of blocks that shows the throughput of each run.
pub fn history_terminal(_history: &History) -> String {
    unimplemented!()
}

/// What a machine can gate.
pub fn calibration_terminal(_calibration: &Calibration) -> String {
    unimplemented!()
}
