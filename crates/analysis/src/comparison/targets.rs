//! Two targets of one run.

use record::Axis;
use record::axis::{self, agree, alike};

use super::cells::decided;
use super::comparable::TARGETS;
use super::gaps::Gaps;
use super::label::Labels;
use super::paired::{self, Pair, SideCell};
use super::{Comparison, Difference, NotComparable, Pairing, RunSample, Side, UncomparedReason};
use crate::cell::metric::Margins;

/// Compares two targets of one run. Cells are paired where they do the same: operation, samples, blocks, order, depth,
/// pace and job; engines, connections and threads may differ, since they are how a target is reached.
///
/// # Errors
/// When the run has no target of one of these names.
pub fn compare_targets(
    run: &RunSample,
    before: &str,
    after: &str,
    margins: &Margins,
) -> Result<Comparison, NotComparable> {
    check_names(run, before, after)?;
    let mut gaps = Gaps::default();
    let pairs = pairs(run, before, after, &mut gaps);
    // The client counts: it may have been the limit on one target and not on the other.
    let rules = paired::rules(margins, true);
    let planned = run.run.measure.repetitions;
    let drafts = paired::drafts(&pairs, [before, after], planned, &rules, &mut gaps);
    let (cells, headlines) = decided(drafts, &run.run.targets, &rules, &mut gaps);
    let side = |name: &str| Side { name: name.to_owned(), run_ids: vec![run.run.run_id.clone()] };
    Ok(Comparison {
        pairing: Pairing::Targets,
        scenario: run.run.scenario.clone(),
        before: side(before),
        after: side(after),
        cells,
        headlines,
        gaps: gaps.found,
        lost: gaps.lost,
        notes: Vec::new(),
    })
}

fn check_names(run: &RunSample, before: &str, after: &str) -> Result<(), NotComparable> {
    let known: Vec<&str> = run.run.targets.iter().map(|target| target.name.as_str()).collect();
    if known.contains(&before) && known.contains(&after) {
        return Ok(());
    }
    let words = |name: &str| {
        if known.contains(&name) {
            return name.to_owned();
        }
        format!("{name} (not among {})", known.join(", "))
    };
    let difference =
        Difference { what: TARGETS.to_owned(), before: words(before), after: words(after), may: None };
    Err(NotComparable { differences: vec![difference] })
}

/// Cells that do the same: with one engine where both targets have it, then in the order of the scenario.
fn pairs<'a>(run: &'a RunSample, before: &str, after: &str, gaps: &mut Gaps) -> Vec<Pair<'a>> {
    let labels = Labels::of(&run.run.cells);
    let of_target = |name: &str| {
        SideCell::all(run).into_iter().filter(|side_cell| side_cell.cell.target == name).collect::<Vec<_>>()
    };
    let (ones, mut others) = (of_target(before), of_target(after));
    let mut found: Vec<Option<SideCell<'a>>> = vec![None; ones.len()];
    // Pairs of one engine first: else the first cell of a target takes the partner that another would have matched
    // exactly.
    for is_strict in [true, false] {
        for (one, found) in ones.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let matches = |other: &SideCell<'_>| {
                let same_engine =
                    || agree(&run.run, one.cell, other.cell, &[Axis::Engine, Axis::Advice, Axis::FileAdvice]);
                alike(&run.run, one.cell, other.cell, axis::TARGETS) && (!is_strict || same_engine())
            };
            *found = others.iter().position(matches).map(|index| others.remove(index));
        }
    }
    let none_in = |target: &str| UncomparedReason::NoCounterpart { target: target.to_owned() };
    let mut pairs = Vec::new();
    for (one, found) in ones.into_iter().zip(found) {
        match found {
            Some(other) => pairs.push(Pair { before: one, after: other, label: label(&labels, one, other) }),
            None => gaps.of(&one.cell.cell, none_in(after)),
        }
    }
    // Said for both sides: a cell without a partner is missed by whoever looks for it.
    for other in others {
        gaps.of(&other.cell.cell, none_in(before));
    }
    pairs
}

/// The label of the cell before, with both engines where they differ.
fn label(labels: &Labels<'_>, one: SideCell<'_>, other: SideCell<'_>) -> String {
    let label = labels.label(one.cell);
    if one.cell.engine == other.cell.engine {
        return label;
    }
    let rest = label.strip_prefix(one.cell.engine.as_str()).unwrap_or_default();
    format!("{} -> {}{rest}", one.cell.engine, other.cell.engine)
}
