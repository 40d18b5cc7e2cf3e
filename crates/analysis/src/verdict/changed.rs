//! Whether a storage changed during a run, and what the deciding cell read before and after.

use record::Role;

use super::source::Source;
use crate::cell;
use crate::cell::cell_summary::CellSummary;
use crate::cell::context::Context;
use crate::cell::operation;
use crate::cell::point::point_bps;
use crate::cell::repetitions::Repetitions;
use crate::cell::steadiness::level::{self, Change, Point};
use crate::curve::treatment::{self, FromMemory};

/// Where the level of a target changed, if it did. The repetitions of all its cells tell, but for those that may come from
/// this client's memory; cells in `chosen` were chosen by their figures.
pub(super) fn of_target(source: &Source<'_>, target: &str, chosen: &[&CellSummary]) -> Option<Change> {
    let cells = source.cells.all.iter().enumerate();
    let of_target = cells.filter(|(_, cell)| {
        cell.cell.target == target
            && operation::moves_samples(&cell.cell)
            && treatment::from_cache(&cell.cell) == FromMemory::Nothing
    });
    // All cells of the target: a change of the storage shows in each, and any one alone has too few repetitions to tell
    // it from noise.
    let points: Vec<Point> = of_target
        .flat_map(|(index, cell)| {
            let is_chosen = chosen.iter().any(|one| std::ptr::eq(*one, cell));
            [Role::Measure, Role::Confirm].into_iter().flat_map(move |role| {
                of_cell(source, cell, role, |context, reps| {
                    level::points(index, context, &reps.used, is_chosen).collect()
                })
            })
        })
        .collect();
    level::change(&points)
}

/// Bytes per second of a cell before and after a change, by its fresh repetitions; `None` without any.
pub(super) fn before_and_after(
    source: &Source<'_>,
    cell: &CellSummary,
    change: Change,
) -> Option<(f64, f64)> {
    let before: Vec<f64> = of_cell(source, cell, Role::Confirm, |context, reps| {
        let used = reps.used.iter();
        used.map(|rep| point_bps(context, rep).ln() - change.at(rep.order)).collect()
    });
    let before = crate::cell::interval::mean(&before)?;
    Some((before.exp(), (before + change.in_all()).exp()))
}

fn of_cell<T>(
    source: &Source<'_>,
    cell: &CellSummary,
    role: Role,
    read: impl FnOnce(&Context<'_>, &Repetitions<'_>) -> Vec<T>,
) -> Vec<T> {
    let measure = &source.record.run.measure;
    let Some(context) = cell::context(source.record, source.lines, &cell.cell, measure) else {
        return Vec::new();
    };
    let reps = Repetitions::of(source.lines.of_cell(&cell.cell.cell), &cell.cell, role, measure);
    read(&context, &reps)
}
