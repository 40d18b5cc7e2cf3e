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

use analysis::{Comparison, Margins, RunSample};
use anyhow::Context as _;
use record::{Gate, RunRecord};

use crate::exit::Failure;
use crate::{output, regression};

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
    let margins = regression::margins(Margins::INTERLEAVED, &first.run.gate.regression);
    let before = RunSample::of(first);
    let compare = |after: &RunRecord| {
        let compared = analysis::compare_variants(&before, &RunSample::of(after), &margins);
        compared
            .map_err(|refused| Failure::usage(regression::refused(name_of(first), name_of(after), &refused)))
    };
    later.iter().map(compare).collect()
}

/// The name of the variant that a record holds.
pub(crate) fn name_of(record: &RunRecord) -> &str {
    record.run.variant.as_ref().map_or("", |variant| &variant.name)
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
pub(crate) fn records(folder: &Path) -> Result<Vec<RunRecord>, Failure> {
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
