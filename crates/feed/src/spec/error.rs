//! Why a need cannot be resolved.

use crate::UnitError;
use crate::units::group_digits;

/// Accelerators of one job: no site has more.
// A bound that says what it is for, in place of the end of a type: with more, products with batch and
// sample size left their type somewhere else, far from the mistake.
pub const COUNT_MAX: u32 = 1_000_000;

/// How the need of any job is stated: the figures are examples.
// The figures are ResNet-50's on eight H100: whoever copies the line and forgets to change it gets a need
// that exists.
const STEP: &str = "need = { batch = 400, step_time = \"224ms\", sample_size = \"114660 B\", count = 8 }";

/// What is wrong with a need.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NeedError {
    /// The short form was not recognised.
    #[error(
        "`{text}` is not a need\n  hint: write COUNTxACCELERATOR:WORKLOAD, for example 8xh100:resnet50, or a \
         rate such as 2.5 GB/s"
    )]
    Shape {
        /// As written.
        text: String,
    },
    /// The count in the short form does not fit.
    #[error(
        "`{count}` is not a number of accelerators\n  hint: write a whole number from 1 to {}",
        group_digits(u64::from(COUNT_MAX))
    )]
    Count {
        /// As written.
        count: String,
    },
    /// The short form was taken for a rate, and the rate is wrong.
    #[error(transparent)]
    Rate(#[from] UnitError),
    /// A workload that no profile names.
    #[error(
        "unknown workload `{name}`{}\n  hint: known are {known}; for any other, state {STEP}, or a rate",
        suggested(*suggestion)
    )]
    UnknownWorkload {
        /// As written.
        name: String,
        /// The known name it resembles.
        suggestion: Option<&'static str>,
        /// All known names.
        known: String,
    },
    /// A workload stands where the accelerator belongs, and the reverse.
    #[error(
        "`{workload}` is an accelerator and `{accelerator}` a workload\n  hint: swap \
         them: {workload}:{accelerator} in the short form"
    )]
    // Short forms put the accelerator first, tables the workload; both orders are used in the field.
    Swapped {
        /// What was given as the workload.
        workload: String,
        /// What was given as the accelerator.
        accelerator: String,
    },
    /// There are no figures of the workload on the accelerator, and those of another are not its figures.
    #[error(
        "there is no profile of {workload} on `{accelerator}`\n  hint: state what it does in one step: {STEP}; \
         profiles of {workload}: {known}"
    )]
    // No other accelerator is suggested: the figures of one say nothing of another, and a user in a hurry
    // would take the nearest.
    NoProfile {
        /// The workload.
        workload: String,
        /// The accelerator, as written.
        accelerator: String,
        /// The accelerators that have figures for this workload.
        known: String,
    },
    /// Zero, negative, or not a finite number.
    #[error(
        "{key} is {value}, and a need takes a number above zero\n  hint: write what \
         the training job really uses"
    )]
    NotAboveZero {
        /// The key in the scenario.
        key: &'static str,
        /// Its value, in bytes and seconds.
        value: f64,
    },
    /// The hosts cannot share the accelerators equally.
    #[error(
        "{count} accelerators cannot be shared equally by {hosts} hosts\n  hint: count is \
         that of all hosts together: write a multiple of {hosts}"
    )]
    // A host with one accelerator more than its neighbours has a need of its own, and one line for all
    // would be wrong for each.
    Hosts {
        /// Accelerators of all hosts.
        count: u32,
        /// Hosts.
        hosts: u32,
    },
    /// The line would lie outside the demand.
    #[error(
        "utilization is {utilization}, and the line is drawn above 0 and at most at 1\n  hint: write for \
         example 0.9"
    )]
    Utilization {
        /// As given.
        utilization: f64,
    },
    /// No machine could have this need.
    #[error("impossible need: {why}\n  hint: {hint}")]
    Impossible {
        /// The arithmetic that shows it.
        why: String,
        /// What is probably meant.
        hint: &'static str,
    },
}

/// How many edits a name may be away from a known one to be suggested.
const EDITS_MAX: usize = 3;

impl NeedError {
    pub(super) fn unknown_workload(name: &str, known: &[&'static str]) -> Self {
        Self::UnknownWorkload {
            name: name.to_owned(),
            suggestion: nearest(name, known),
            known: known.join(", "),
        }
    }
}

fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    // People write ResNet50 and H100; only the spelling counts as a mistake, not the case.
    let name = name.to_lowercase();
    let with_distance = known.iter().map(|known| (strsim::osa_distance(&name, known), *known));
    let (distance, nearest) = with_distance.min()?;
    // Half of a short name may not be wrong: `x` resembles nothing.
    (distance <= EDITS_MAX.min(nearest.len() / 2)).then_some(nearest)
}

fn suggested(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}
