//! `run --variant`: one process for each variant, and a parent that says whose turn it is.
//!
//! Each variant has a session and an ordinary record of its own, because two settings may need other datasets, mounts or
//! binaries. Only one of them measures at a time; the parent draws the order.

mod child;
mod parent;
mod process;
mod protocol;
mod spec;

use std::path::PathBuf;

use analysis::{Comparison, RunSample};

use crate::comparing::{self, Rules};
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

/// Whether every variant has a repetition that counts.
pub(crate) fn all_are_measured(variants: &[RunSample]) -> bool {
    let is_measured = |variant: &RunSample| variant.cells.iter().any(|cell| !cell.reps.is_empty());
    !variants.is_empty() && variants.iter().all(is_measured)
}

/// Prints where the records lie.
pub(crate) fn announce(group: &Group) -> Result<(), Failure> {
    for record in &group.records {
        output::print(&format!("record {}\n", record.display()))?;
    }
    Ok(())
}

/// Prints what changed from the first variant to each of the others; returns the comparisons.
///
/// # Errors
/// When two of them must not be compared.
pub(crate) fn compare(variants: &[RunSample], rules: &Rules) -> Result<Vec<Comparison>, Failure> {
    let comparisons = comparing::variants(variants, rules).map_err(Failure::usage)?;
    for comparison in &comparisons {
        output::print(&format!(
            "{}\n",
            report::comparison_terminal(comparison, output::screen()).trim_end()
        ))?;
    }
    Ok(comparisons)
}
