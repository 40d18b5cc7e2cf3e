//! A cell second by second.

use record::{RecordedIntervals, RunRecord};

/// One repetition of a cell over time.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTime {
    /// Name of the cell.
    pub cell: String,
}

/// The cells of a run over time: from their seconds with histograms where those were kept, else from the counts of each
/// repetition.
pub fn over_time(_record: &RunRecord, _intervals: &RecordedIntervals) -> Vec<OverTime> {
    Vec::new()
}
