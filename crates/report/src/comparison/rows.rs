//! The effects of a comparison as rows of text, and the reasons that several of them share.

use analysis::{CellComparison, Change, Comparison, Effect, Pairing};

use super::words;
use crate::group::by_key;
use crate::words::comparison as said;

// Two may be told beside their rows; from three on the reason would be most of the page.
/// How many effects must share a reason for it to be said once for all of them.
const SHARED_MIN: usize = 3;

/// One metric of one cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) metric: &'static str,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) ratio: String,
    pub(super) detectable: String,
    pub(super) change: Change,
    /// What the table says of it: the change, or nothing where the cell decides nothing.
    pub(super) word: &'static str,
    /// Why it is inconclusive, where few share the reason.
    pub(super) because: Option<String>,
}

/// Reasons of inconclusive effects that many share, with how many.
pub(super) fn shared_reasons(comparison: &Comparison) -> Vec<(String, usize)> {
    let cells = comparison.cells.iter().filter(|cell| cell.excluded.is_none());
    let reasons =
        cells.flat_map(|cell| &cell.effects).filter_map(|effect| effect.because.and_then(said::because));
    let counted = by_key(reasons.map(|reason| (reason, ()))).into_iter();
    let counted = counted.map(|(reason, all)| (reason, all.len()));
    counted.filter(|(_, count)| *count >= SHARED_MIN).collect()
}

/// The rows of a cell; `shared` are reasons that stand elsewhere.
pub(super) fn of_cell(cell: &CellComparison, pairing: Pairing, shared: &[(String, usize)]) -> Vec<Row> {
    let row = |effect: &Effect| {
        let because = effect.because.and_then(said::because);
        let because =
            because.filter(|why| cell.excluded.is_none() && !shared.iter().any(|one| one.0 == *why));
        let word = if cell.excluded.is_some() { "" } else { words::change(effect.change, pairing) };
        Row {
            metric: effect.metric.word(),
            before: words::value(effect.metric, effect.before),
            after: words::value(effect.metric, effect.after),
            ratio: words::with_interval(&effect.ratio),
            detectable: words::detectable(effect),
            change: effect.change,
            word,
            because,
        }
    };
    cell.effects.iter().map(row).collect()
}

/// The gravest change of a cell; a cell that decides nothing comes after all others.
pub(super) fn gravity(cell: &CellComparison) -> u8 {
    let gravest = cell.effects.iter().map(|effect| words::gravity(effect.change)).min();
    match &cell.excluded {
        // Behind all others: nothing may rest on it, whatever it shows.
        Some(_) => u8::MAX,
        None => gravest.unwrap_or(u8::MAX),
    }
}

/// Whether nothing happened in a cell.
pub(super) fn is_unchanged(cell: &CellComparison) -> bool {
    gravity(cell) == words::gravity(Change::Unchanged)
}
