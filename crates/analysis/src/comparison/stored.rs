//! A run against a history of runs.

use std::collections::BTreeMap;

use feed::Compared;
use record::axis::{self, alike};

use super::cells::{CellDraft, Rules, decided};
use super::effect::Samples;
use super::gaps::Gaps;
use super::history::{by_time, cells_by_name};
use super::label::Labels;
use super::paired::Half;
use super::{CellSample, Comparison, Difference, May, NotComparable, Pairing, RunSample, Side, comparable};
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
    may_differ: &[May],
    margins: &Margins,
) -> Result<Comparison, NotComparable> {
    let mut gaps = Gaps::default();
    let Selected { runs, declared } = selected(baseline, run, may_differ, &mut gaps)?;
    if runs.is_empty() {
        gaps.say(format!("{name}: no run to compare with"));
    }
    let rules = Rules { margins, samples_min: runs_min, noun: "run", client_counts: true };
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
        gaps: gaps.words(),
        lost: gaps.lost(),
        notes: notes(&runs, runs_min, &declared),
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
    may_differ: &[May],
    gaps: &mut Gaps,
) -> Result<Selected<'a>, NotComparable> {
    let (mut runs, mut declared, mut newest) = (Vec::new(), Vec::new(), Vec::new());
    for sample in by_time(baseline) {
        if sample.run.run_id == run.run.run_id {
            gaps.say(format!("{}: the run itself is no history of it", sample.run.run_id));
            continue;
        }
        let (refused, allowed) = comparable::split(comparable::stored(sample, run), may_differ);
        if refused.is_empty() {
            runs.push(sample);
            declared.extend(allowed);
            continue;
        }
        let words: Vec<String> = refused.iter().map(Difference::to_string).collect();
        gaps.of_cell(&sample.run.run_id, format!("not comparable: {}", words.join("; ")));
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
    let halves = Half::all(run);
    let names: std::collections::BTreeSet<&str> = halves.iter().map(|half| half.cell.cell.as_str()).collect();
    let newest = histories.last().into_iter().flat_map(BTreeMap::keys);
    for name in newest.filter(|name| !names.contains(**name)) {
        gaps.of_cell(name, "not in the run after");
    }
    halves
        .into_iter()
        .filter_map(|half| {
            let known = histories.iter().zip(runs).enumerate().filter_map(|(index, (cells, sample))| {
                let known = *cells.get(half.cell.cell.as_str())?;
                let cell = sample.run.cells.get(known.index)?;
                Some((index as u32, known, alike(&run.run, cell, half.cell, axis::STORED_RUNS)))
            });
            of_cell(half, &known.collect::<Vec<_>>(), labels.label(half.cell), rules, gaps)
        })
        .collect()
}

fn of_cell(
    half: Half<'_>,
    known: &[(u32, &CellSample, bool)],
    label: String,
    rules: &Rules<'_>,
    gaps: &mut Gaps,
) -> Option<CellDraft> {
    let name = half.cell.cell.as_str();
    let alike: Vec<(u32, &CellSample)> =
        known.iter().filter(|(_, _, alike)| *alike).map(|(index, sample, _)| (*index, *sample)).collect();
    let excluded_runs = alike.iter().filter(|(_, sample)| sample.excluded_as_run().is_some()).count();
    let usable: Vec<(u32, &CellSample)> =
        alike.iter().filter(|(_, sample)| sample.excluded_as_run().is_none()).copied().collect();
    if alike.is_empty() {
        let reason =
            if known.is_empty() { "not in the runs before" } else { "other settings in the runs before" };
        gaps.of_cell(name, reason);
        return None;
    }
    if excluded_runs > 0 {
        let runs = feed::counted_noun(excluded_runs as u64, "run");
        gaps.of_cell(name, format!("{runs} before left out, since nothing may rest on it there"));
    }
    let excluded = half.sample.excluded_as_run();
    let (mut drafts, mut lacking) = (Vec::new(), Vec::new());
    let moves_bytes = !operation::is_metadata(half.cell);
    for metric in Compared::ALL {
        let before: BTreeMap<u32, f64> =
            usable.iter().filter_map(|(index, sample)| Some((*index, sample.logarithm(metric)?))).collect();
        match (before.is_empty(), half.sample.logarithm(metric)) {
            (false, Some(after)) => {
                let samples = Samples::Stored { before, after };
                drafts.extend(rules.draft(Metric::of(metric, moves_bytes), samples, excluded.as_deref()));
            }
            (false, None) => lacking.push(format!("{} before only", metric.name())),
            (true, Some(_)) => lacking.push(format!("{} after only", metric.name())),
            (true, None) => {}
        }
    }
    if drafts.is_empty() {
        let reason = excluded.unwrap_or_else(|| "none before".to_owned());
        gaps.of_cell(name, format!("no figures on both sides: {reason}"));
        if half.sample.reps.is_empty() && usable.iter().any(|(_, sample)| !sample.reps.is_empty()) {
            gaps.lose(half.cell, half.sample);
        }
        return None;
    }
    for reason in lacking {
        gaps.of_cell(name, reason);
    }
    Some(CellDraft {
        cell: name.to_owned(),
        target: half.cell.target.clone(),
        label,
        is_training: half.cell.training.is_some(),
        moves_bytes,
        falls_count: excluded.is_some() && !half.sample.unsteady && half.sample.drift.is_none(),
        excluded,
        drafts,
    })
}

fn notes(runs: &[&RunSample], runs_min: u32, declared: &[Difference]) -> Vec<String> {
    let mut notes = Vec::new();
    let count = runs.len() as u64;
    if count < u64::from(runs_min) {
        notes.push(format!(
            "{count} of {} before: the run is the sample, and repetitions within one say little of the next day",
            feed::counted_noun(u64::from(runs_min), "run")
        ));
    }
    let mut told: Vec<(String, u64)> = Vec::new();
    for words in declared.iter().map(Difference::to_string) {
        match told.iter_mut().find(|(known, _)| *known == words) {
            Some((_, times)) => *times += 1,
            None => told.push((words, 1)),
        }
    }
    let words = |(words, times): (String, u64)| {
        format!("declared to differ, and does in {}: {words}", feed::counted_noun(times, "run"))
    };
    notes.extend(told.into_iter().map(words));
    notes
}
