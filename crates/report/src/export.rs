//! A run or a comparison in the form of another tool.
//!
//! Each form is a pure function of what [`analysis`] computed, so the same record gives the same bytes. What a form cannot
//! hold, and what was not measured, is left out and said in [`Export::gaps`]: no figure is invented and none is `NaN`.
//! Names of benchmarks are the names of the cells, which stay the same from run to run.

mod actions;
mod bmf;
mod fio;
mod hgrm;
mod json;
mod junit;
mod measure;
mod otava;
mod prometheus;
mod summary;
mod tidy;
mod tuning;

use std::collections::BTreeMap;

use analysis::{CellSummary, RepFigures, Summary, by_repetition};
use record::{Cell, RunRecord};

use crate::side::absent;

pub use actions::{Direction, github_action_benchmark};
pub use bmf::bmf;
pub use fio::fio;
pub use hgrm::hgrm;
pub use json::jsonl;
pub use junit::junit;
pub use otava::otava;
pub use prometheus::prometheus;
pub use summary::{JOB_SUMMARY_BYTES_MAX, MARKDOWN_BYTES_MIN, markdown_within};
pub use tidy::csv;
pub use tuning::tuning;

/// What was made, and what is not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// The text of the file, complete with its last line break.
    pub text: String,
    /// What was left out and why, a sentence each.
    // Beside the text and not in it: most forms have no place for what is missing, and a caller prints it.
    pub gaps: Vec<String>,
}

/// Why a cell has no figures; nothing where it has some.
fn gap(cell: &CellSummary) -> Option<String> {
    Some(format!("{}: {}", cell.cell.cell, absent(cell)?))
}

/// Each cell in the order of the scenario, with its repetitions, and why it has no figures.
fn by_cell<'a>(
    record: &'a RunRecord,
    summary: &'a Summary,
) -> impl Iterator<Item = (&'a Cell, Vec<RepFigures<'a>>, Option<String>)> {
    // By cell first: in the record repetitions of all cells are interleaved.
    let mut of_cells: BTreeMap<&str, Vec<RepFigures<'_>>> = BTreeMap::new();
    for figures in by_repetition(record) {
        of_cells.entry(&figures.cell.cell).or_default().push(figures);
    }
    let by_name = summary.by_name();
    record.run.cells.iter().map(move |cell| {
        let reps = of_cells.remove(cell.cell.as_str()).unwrap_or_default();
        let absent = by_name.get(cell.cell.as_str()).and_then(|cell| gap(cell));
        (cell, reps, absent)
    })
}

/// Text without line breaks and other control characters, for forms whose unit is the line.
fn line(words: &str) -> String {
    feed::plain(words)
}
