//! Cells over time.

use std::collections::BTreeMap;

use feed::Compared;

use super::{CellSample, Difference, Exclusion, RunSample, comparable, label::Labels};
use crate::cell::{line, operation};

/// One run of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    /// Which run.
    pub run_id: String,
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// What it has of each metric.
    pub values: BTreeMap<Compared, HistoryValue>,
    /// Why nothing may rest on it; empty where something may.
    pub excluded: Vec<Exclusion>,
}

/// What a run has of one metric, in its base unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryValue {
    /// Geometric mean over its repetitions.
    pub value: f64,
    /// Lowest repetition.
    pub low: f64,
    /// Highest repetition.
    pub high: f64,
}

/// A cell over time.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryCell {
    /// Its name.
    pub cell: String,
    /// Name of its target.
    pub target: String,
    /// What tells it from its neighbours, in words.
    pub label: String,
    /// Whether its throughput is in bytes per second; operations per second where no bytes are moved.
    pub counts_bytes: bool,
    /// The line that the throughput is held against, bytes per second; absent where it has none.
    pub line_bps: Option<f64>,
    /// Runs that have it, oldest first.
    pub points: Vec<HistoryPoint>,
}

/// Comparable runs of one scenario over time.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Name of the scenario.
    pub scenario: String,
    /// Runs, oldest first.
    pub run_ids: Vec<String>,
    /// Cells in the order of the newest run.
    pub cells: Vec<HistoryCell>,
    /// Where comparability breaks between neighbours.
    pub breaks: Vec<Break>,
}

/// A run that must not be compared with the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The run.
    pub run_id: String,
    /// In what the two differ; never empty.
    pub differences: Vec<Difference>,
}

/// The cells of comparable runs over time, oldest first: those of the scenario, and of the variant's settings, that the
/// newest run has; others are left out. `None` without runs.
pub fn history(runs: &[RunSample]) -> Option<History> {
    let ordered = by_time(runs);
    let newest = *ordered.last()?;
    let settings = |sample: &RunSample| sample.run.variant.as_ref().map(|variant| variant.settings.clone());
    let is_kin = |sample: &&RunSample| {
        // Runs of a variant set something else than those of the scenario as it stands, under the same name.
        sample.run.scenario == newest.run.scenario && settings(sample) == settings(newest)
    };
    let kin: Vec<&RunSample> = ordered.into_iter().filter(is_kin).collect();
    // Neighbours and not all against the newest: each change is told once, at the run that brought it.
    let breaks = kin.windows(2).filter_map(|pair| broken(pair[0], pair[1])).collect();
    let by_name: Vec<BTreeMap<&str, &CellSample>> = kin.iter().map(|sample| cells_by_name(sample)).collect();
    let labels = Labels::of(&newest.run.cells);
    let of_cell = |cell: &record::Cell| HistoryCell {
        cell: cell.cell.clone(),
        target: cell.target.clone(),
        label: labels.label(cell),
        counts_bytes: !operation::is_metadata(cell),
        line_bps: line(&newest.run, cell).map(|line| line.bps),
        points: kin
            .iter()
            .zip(&by_name)
            .filter_map(|(sample, cells)| Some(point(sample, cells.get(cell.cell.as_str())?)))
            .collect(),
    };
    Some(History {
        scenario: newest.run.scenario.clone(),
        run_ids: kin.iter().map(|sample| sample.run.run_id.clone()).collect(),
        cells: newest.run.cells.iter().map(of_cell).collect(),
        breaks,
    })
}

/// Runs from the oldest to the newest, each once.
pub(super) fn by_time(runs: &[RunSample]) -> Vec<&RunSample> {
    let mut ordered: Vec<&RunSample> = runs.iter().collect();
    ordered.sort_by_key(|sample| (&sample.run.started, &sample.run.run_id));
    // A run that is both in a baseline and among results is one run.
    ordered.dedup_by_key(|sample| &sample.run.run_id);
    ordered
}

/// The samples of a run by the names of their cells.
pub(super) fn cells_by_name(sample: &RunSample) -> BTreeMap<&str, &CellSample> {
    let name = |cell: &CellSample| Some(sample.run.cells.get(cell.index)?.cell.as_str());
    sample.cells.iter().filter_map(|cell| Some((name(cell)?, cell))).collect()
}

fn broken(before: &RunSample, after: &RunSample) -> Option<Break> {
    let differences = comparable::stored(before, after);
    (!differences.is_empty()).then(|| Break { run_id: after.run.run_id.clone(), differences })
}

fn point(sample: &RunSample, cell: &CellSample) -> HistoryPoint {
    let value = |metric: Compared| {
        let all = || cell.logarithms(metric).map(|(_, logarithm)| logarithm.exp());
        let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
        // The geometric mean, as comparisons take it: a ratio of two points is then what a comparison says.
        Some((metric, HistoryValue { value: cell.logarithm(metric)?.exp(), low, high }))
    };
    HistoryPoint {
        run_id: sample.run.run_id.clone(),
        started: sample.run.started.clone(),
        values: Compared::ALL.into_iter().filter_map(value).collect(),
        excluded: cell.excluded_as_run(),
    }
}

#[cfg(test)]
mod tests;
