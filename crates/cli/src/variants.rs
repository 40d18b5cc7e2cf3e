//! `run --variant`: one process for each variant, and a parent that says whose turn it is.
//!
//! Each variant has a session and an ordinary record of its own, because two settings may need other datasets, mounts or
//! binaries. Only one of them measures at a time; the parent draws the order.

mod child;
mod parent;
mod process;
mod protocol;
mod spec;

use std::path::{Path, PathBuf};

use analysis::{Change, Comparison, Margins, Metric, NotComparable, RunSample};
use anyhow::Context as _;
use record::{Gate, RunRecord};

use crate::exit::Failure;
use crate::output;

pub(crate) use child::follow;
pub(crate) use parent::run;
pub(crate) use spec::VariantSpec;

/// The records of a run that compared variants.
#[derive(Debug)]
pub(crate) struct Group {
    /// The folder that holds them.
    pub(crate) folder: PathBuf,
    /// The folder of each record, in the order of the command line.
    pub(crate) records: Vec<PathBuf>,
    /// Whether a signal ended it.
    pub(crate) interrupted: bool,
}

/// Holds every later variant of a group against the first.
///
/// # Errors
/// When a record cannot be read, is none of a variant, or two of them must not be compared.
pub(crate) fn compare_group(folder: &Path) -> Result<Vec<Comparison>, Failure> {
    let records = records(folder)?;
    let Some((first, later)) = records.split_first() else {
        return Err(Failure::usage(format!("error: `{}` holds no variants", folder.display())));
    };
    let margins = margins(&first.run.gate);
    let before = RunSample::of(first);
    let compare = |after: &RunRecord| {
        let compared = analysis::compare_variants(&before, &RunSample::of(after), &margins);
        compared.map_err(|refused| Failure::Error(anyhow::anyhow!(apart(first, after, &refused))))
    };
    later.iter().map(compare).collect()
}

/// Whether a metric that the gate names, or any where it names none, got worse in a later variant.
pub(crate) fn regressed(comparisons: &[Comparison], gate: &Gate) -> bool {
    let gated = |metric: Metric| gate.regression.iter().any(|margin| margin.metric == metric.name());
    let mut judged = comparisons.iter().flat_map(Comparison::judged);
    judged.any(|(_, effect)| effect.change == Change::Regressed && gated(effect.metric))
}

/// Whether every variant has a repetition that counts.
pub(crate) fn all_are_measured(group: &Group) -> Result<bool, Failure> {
    let is_measured =
        |record: &RunRecord| analysis::summarise(record).cells.iter().any(analysis::CellSummary::is_measured);
    Ok(records(&group.folder)?.iter().all(is_measured))
}

/// What the scenario of a group gates.
pub(crate) fn gate(folder: &Path) -> Result<Gate, Failure> {
    Ok(records(folder)?.first().map(|record| record.run.gate.clone()).unwrap_or_default())
}

/// The records of a group, in the order of the command line.
fn records(folder: &Path) -> Result<Vec<RunRecord>, Failure> {
    let reading = || format!("cannot read the variants in `{}`", folder.display());
    let mut records = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        if path.join(record::RUN_FILE).is_file() {
            records.push(record::read_run(&path)?);
        }
    }
    records.retain(|record| record.run.variant.is_some());
    records.sort_by_key(|record| record.run.variant.as_ref().map(|variant| variant.number));
    Ok(records)
}

fn margins(gate: &Gate) -> Margins {
    let named = gate.regression.iter().filter_map(|one| Some((Metric::of_name(&one.metric)?, one.share)));
    named.fold(Margins::INTERLEAVED, |margins, (metric, share)| margins.with(metric, share))
}

fn apart(before: &RunRecord, after: &RunRecord, refused: &NotComparable) -> String {
    let name = |record: &RunRecord| record.run.variant.as_ref().map_or("?", |one| &one.name).to_owned();
    let lines: Vec<String> = refused
        .differences
        .iter()
        .map(|one| format!("\n  {}: {} -> {}", one.what, one.before, one.after))
        .collect();
    format!("variants `{}` and `{}` cannot be compared:{}", name(before), name(after), lines.concat())
}

/// Prints where the records lie, and what changed where that is asked for; returns the comparisons.
pub(crate) fn conclude(group: &Group, compares: bool) -> Result<Vec<Comparison>, Failure> {
    for record in &group.records {
        output::print(&format!("record {}\n", record.display()))?;
    }
    let comparisons = if compares { compare_group(&group.folder)? } else { Vec::new() };
    for comparison in &comparisons {
        output::print(&format!("{}\n", report::comparison_terminal(comparison).trim_end()))?;
    }
    Ok(comparisons)
}

#[cfg(test)]
mod tests {
    use analysis::{CellComparison, Effect, Pairing, Ratio, Side};
    use record::Margin;

    use super::*;

    fn comparison(metric: Metric, change: Change, excluded: Option<&str>) -> Comparison {
        let effect = Effect {
            metric,
            before: 1.0,
            after: 2.0,
            ratio: Ratio { low: 1.9, mean: 2.0, high: 2.1 },
            samples_before: 5,
            samples_after: 5,
            detectable: None,
            margin: 0.1,
            change,
            because: None,
        };
        let side = |name: &str| Side { name: name.to_owned(), run_ids: Vec::new() };
        let cell = CellComparison {
            cell: "c".to_owned(),
            target: "disk".to_owned(),
            label: "pread".to_owned(),
            effects: vec![effect],
            excluded: excluded.map(str::to_owned),
        };
        Comparison {
            pairing: Pairing::Variants,
            scenario: "s".to_owned(),
            before: side("a"),
            after: side("b"),
            cells: vec![cell],
            headlines: Vec::new(),
            gaps: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn only_a_metric_that_is_gated_and_counts_ends_a_run_as_a_regression() {
        let gate =
            Gate { regression: vec![Margin { metric: "p99".to_owned(), share: 0.3 }], ..Gate::default() };
        let ends = |metric, change, excluded| {
            regressed(
                &[comparison(Metric::P99, Change::Unchanged, None), comparison(metric, change, excluded)],
                &gate,
            )
        };
        assert!(ends(Metric::P99, Change::Regressed, None));
        assert!(!ends(Metric::P99, Change::Regressed, Some("not steady")));
        assert!(!ends(Metric::P99, Change::Inconclusive, None));
        assert!(!ends(Metric::Throughput, Change::Regressed, None));
        assert!(!regressed(&[comparison(Metric::P99, Change::Regressed, None)], &Gate::default()));
        let margins = margins(&gate);
        assert_eq!((margins.of(Metric::P99), margins.of(Metric::Throughput)), (0.3, 0.05));
    }
}
