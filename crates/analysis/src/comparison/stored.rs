//! A run against a history of runs.

use std::collections::BTreeMap;

use feed::{Compared, MayDiffer};
use record::axis::{self, alike};

use super::cells::{CellDraft, Rules, decided};
use super::effect::Samples;
use super::gaps::Gaps;
use super::history::{by_time, cells_by_name};
use super::label::Labels;
use super::paired::SideCell;
use super::{
    CellSample, Comparison, ComparisonNote, Difference, Excluded, NoFigures, NotComparable, OneSide, Pairing,
    RunSample, Sampled, Side, Uncompared, UncomparedReason, comparable,
};
use crate::cell::metric::{Margins, Metric};
use crate::cell::operation;

/// Compares a run with the runs of a baseline, at least `runs_min` of them or the answer is inconclusive.
///
/// Runs of the baseline that are not comparable are left out, and said to be. Without any, there is nothing to compare
/// with, which is a gap and no error.
///
/// # Errors
/// When no run of the baseline is comparable: the differences from its newest.
pub fn compare_stored(
    name: &str,
    baseline: &[RunSample],
    run: &RunSample,
    runs_min: u32,
    may_differ: &[MayDiffer],
    margins: &Margins,
) -> Result<Comparison, NotComparable> {
    let mut gaps = Gaps::default();
    let Selected { runs, declared } = selected(baseline, run, may_differ, &mut gaps)?;
    if runs.is_empty() {
        // A gap and no error: the first run of a new scenario has no baseline yet.
        gaps.found.push(Uncompared::NoRun { baseline: name.to_owned() });
    }
    let rules = Rules { margins, samples_min: runs_min, sampled: Sampled::Run, client_counts: true };
    let drafts = if runs.is_empty() { Vec::new() } else { drafts(&runs, run, &rules, &mut gaps) };
    let (cells, headlines) = decided(drafts, &run.run.targets, &rules, &mut gaps);
    let ids = |runs: &[&RunSample]| runs.iter().map(|sample| sample.run.run_id.clone()).collect();
    Ok(Comparison {
        pairing: Pairing::Stored,
        scenario: run.run.scenario.clone(),
        before: Side { name: name.to_owned(), run_ids: ids(&runs) },
        after: Side { name: run.run.run_id.clone(), run_ids: ids(&[run]) },
        cells,
        headlines,
        gaps: gaps.found,
        lost: gaps.lost,
        notes: notes(&runs, runs_min, declared),
    })
}

/// Comparable runs, oldest first, and how they differ where that is declared.
pub(super) struct Selected<'a> {
    pub(super) runs: Vec<&'a RunSample>,
    pub(super) declared: Vec<Difference>,
}

/// The runs of a baseline that can be compared with `run`.
pub(super) fn selected<'a>(
    baseline: &'a [RunSample],
    run: &RunSample,
    may_differ: &[MayDiffer],
    gaps: &mut Gaps,
) -> Result<Selected<'a>, NotComparable> {
    let (mut runs, mut declared, mut newest) = (Vec::new(), Vec::new(), Vec::new());
    for sample in by_time(baseline) {
        // Run and baseline overlap where a run was added before it is compared; against itself nothing ever changes.
        if sample.run.run_id == run.run.run_id {
            gaps.found.push(Uncompared::OwnRun { run_id: sample.run.run_id.clone() });
            continue;
        }
        let (refused, allowed) = comparable::split(comparable::stored(sample, run), may_differ);
        if refused.is_empty() {
            runs.push(sample);
            declared.extend(allowed);
            continue;
        }
        gaps.of(&sample.run.run_id, UncomparedReason::NotComparable(refused.clone()));
        // The newest run is the likeliest to be meant: its differences say best what the user changed.
        newest = refused;
    }
    if runs.is_empty() && !newest.is_empty() {
        return Err(NotComparable { differences: newest });
    }
    Ok(Selected { runs, declared })
}

fn drafts(runs: &[&RunSample], run: &RunSample, rules: &Rules<'_>, gaps: &mut Gaps) -> Vec<CellDraft> {
    let histories: Vec<BTreeMap<&str, &CellSample>> = runs.iter().map(|run| cells_by_name(run)).collect();
    let labels = Labels::of(&run.run.cells);
    let side_cells = SideCell::all(run);
    let names: std::collections::BTreeSet<&str> =
        side_cells.iter().map(|side_cell| side_cell.cell.cell.as_str()).collect();
    let newest = histories.last().into_iter().flat_map(BTreeMap::keys);
    for name in newest.filter(|name| !names.contains(**name)) {
        gaps.of(name, UncomparedReason::NotAfter);
    }
    side_cells
        .into_iter()
        .filter_map(|side_cell| {
            let known = histories.iter().zip(runs).enumerate().filter_map(|(index, (cells, sample))| {
                let known = *cells.get(side_cell.cell.cell.as_str())?;
                let cell = sample.run.cells.get(known.index)?;
                Some((index as u32, known, alike(&run.run, cell, side_cell.cell, axis::STORED_RUNS)))
            });
            of_cell(side_cell, &known.collect::<Vec<_>>(), labels.label(side_cell.cell), rules, gaps)
        })
        .collect()
}

fn of_cell(
    side_cell: SideCell<'_>,
    known: &[(u32, &CellSample, bool)],
    label: String,
    rules: &Rules<'_>,
    gaps: &mut Gaps,
) -> Option<CellDraft> {
    let name = side_cell.cell.cell.as_str();
    // A name need not tell every setting: cells of one name that were read otherwise are not one cell.
    let alike: Vec<(u32, &CellSample)> =
        known.iter().filter(|(_, _, alike)| *alike).map(|(index, sample, _)| (*index, *sample)).collect();
    let usable: Vec<(u32, &CellSample)> =
        alike.iter().filter(|(_, sample)| sample.excluded_as_run().is_empty()).copied().collect();
    if alike.is_empty() {
        gaps.of(
            name,
            if known.is_empty() { UncomparedReason::NotBefore } else { UncomparedReason::OtherSettings },
        );
        return None;
    }
    let left_out = alike.len() - usable.len();
    if left_out > 0 {
        gaps.of(name, UncomparedReason::RunsLeftOut(left_out));
    }
    let excluded = Some(side_cell.sample.excluded_as_run()).filter(|reasons| !reasons.is_empty());
    let excluded = excluded.map(Excluded::After);
    let (mut drafts, mut lacking) = (Vec::new(), Vec::new());
    let moves_bytes = !operation::is_metadata(side_cell.cell);
    for metric in Compared::ALL {
        let before: BTreeMap<u32, f64> =
            usable.iter().filter_map(|(index, sample)| Some((*index, sample.logarithm(metric)?))).collect();
        match (before.is_empty(), side_cell.sample.logarithm(metric)) {
            (false, Some(after)) => {
                let samples = Samples::Stored { before, after };
                drafts.extend(rules.draft(Metric::of(metric, moves_bytes), samples, excluded.is_some()));
            }
            (false, None) => lacking.push(UncomparedReason::OneSided { metric, side: OneSide::Before }),
            (true, Some(_)) => lacking.push(UncomparedReason::OneSided { metric, side: OneSide::After }),
            (true, None) => {}
        }
    }
    if drafts.is_empty() {
        let why = excluded.map_or(NoFigures::NoneBefore, NoFigures::Excluded);
        gaps.of(name, UncomparedReason::NoFigures(why));
        if side_cell.sample.reps.is_empty() && usable.iter().any(|(_, sample)| !sample.reps.is_empty()) {
            gaps.lose(side_cell.cell, side_cell.sample);
        }
        return None;
    }
    for reason in lacking {
        gaps.of(name, reason);
    }
    Some(CellDraft {
        cell: name.to_owned(),
        target: side_cell.cell.target.clone(),
        label,
        is_training: side_cell.cell.training.is_some(),
        moves_bytes,
        falls_count: excluded.is_some() && !side_cell.sample.unsteady && side_cell.sample.drift.is_none(),
        excluded,
        drafts,
    })
}

fn notes(runs: &[&RunSample], runs_min: u32, declared: Vec<Difference>) -> Vec<ComparisonNote> {
    let count = runs.len() as u32;
    let few = (count < runs_min).then_some(ComparisonNote::FewRuns { runs: count, wanted: runs_min });
    let mut told: Vec<(Difference, u32)> = Vec::new();
    for difference in declared {
        match told.iter_mut().find(|(known, _)| *known == difference) {
            // Told once with a count: a new kernel differs from every run of the baseline.
            Some((_, times)) => *times += 1,
            None => told.push((difference, 1)),
        }
    }
    let told = told.into_iter().map(|(difference, runs)| ComparisonNote::Declared { difference, runs });
    few.into_iter().chain(told).collect()
}
