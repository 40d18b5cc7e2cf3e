//! Which fresh repetitions a run makes next.

use std::ops::Range;

use record::{Role, RunRecord};

use crate::cell::lines::Lines;
use crate::cell::looks;
use crate::choice;
use crate::summary::{Summary, summarise};
use crate::verdict::Verdict;

/// Fresh repetitions to make: one of each cell in each round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Names of the cells, in the order of the scenario.
    pub cells: Vec<String>,
    /// Numbers of the rounds.
    pub rounds: Range<u32>,
}

/// The fresh repetitions that a run makes after what its record holds so far; `None` once every verdict is decided, or no
/// round is left.
///
/// The first look is taken of the candidates of every storage target and of their controls. Further rounds are made of
/// those targets that more of them may decide. A server of feedline's own is shown and not judged: it gets the first look,
/// of one cell.
pub fn next_look(record: &RunRecord) -> Option<Look> {
    let summary = summarise(record);
    let lines = Lines::of(record);
    let made = lines.reps.iter().filter(|rep| rep.role == Role::Confirm).map(|rep| rep.rep + 1).max();
    let from = made.unwrap_or(0);
    // From the record and not from a counter of the session: a run that is gone on with after a crash asks the same question
    // and gets the same answer.
    let to = looks::next(&record.run.measure, from)?;
    let of_target = |target: &record::Target| -> Vec<String> {
        // Rounds cost minutes and, on S3, money: a target that is decided gets no more of them.
        if from > 0 && !is_open(&summary, &target.name) {
            return Vec::new();
        }
        let Some(fresh) = choice::fresh(&summary.as_cells(), &target.name) else { return Vec::new() };
        // It is shown once, as nothing is decided by it.
        let cells = fresh.cells().take(if target.demo { 1 } else { usize::MAX });
        cells.map(|cell| cell.cell.cell.clone()).collect()
    };
    let chosen: Vec<String> =
        summary.targets.iter().filter(|target| target.storage).flat_map(of_target).collect();
    let cells: Vec<String> =
        record.run.cells.iter().map(|cell| cell.cell.clone()).filter(|cell| chosen.contains(cell)).collect();
    (!cells.is_empty()).then_some(Look { cells, rounds: from..to })
}

/// Whether further rounds may decide the verdict of a target.
fn is_open(summary: &Summary, target: &str) -> bool {
    let mut verdicts = summary.verdicts.iter().filter(|verdict| !verdict.demo);
    verdicts.any(|verdict| verdict.target == target && Verdict::is_open(verdict))
}
