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
        "unknown workload `{name}`{}\n  hint: {}known are {known}; for any other, state {STEP}, or a rate",
        suggested(*suggestion),
        advised(advice)
    )]
    UnknownWorkload {
        /// As written.
        name: String,
        /// The known name it resembles.
        suggestion: Option<&'static str>,
        /// Why there is no profile of a job that people ask for, and what stands nearest; empty for every other name.
        advice: &'static str,
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
        let advice = advice(name);
        Self::UnknownWorkload {
            name: name.to_owned(),
            // A name that is understood is no slip of another one: a job of 7B is not that of 8B.
            suggestion: nearest(name, known).filter(|_| advice.is_empty()),
            advice,
            known: known.join(", "),
        }
    }
}

/// Names under which people ask for jobs that have no profile of that name, and what to write instead.
// Refused and not taken for the nearest: a line drawn by the figures of another model is a wrong line.
const WITHOUT_FIGURES: [(&[&str], &str); 4] = [
    // 304e6 parameters x 197 patches x 6 FLOP are 359 GFLOP an image, and the peak of an H100 is 0.989e15 FLOP/s in bf16.
    // The rates that articles give are above it.
    (
        &["vit", "vit-l", "vit_l", "vitl", "vit-large", "vit-l-16", "vit-l/16"],
        "ViT-L has a profile of one RTX 3090, vit-l16; for another accelerator state a step that you measured (an H100 at \
         its peak takes no more than 2,752 images/s of 224 x 224)",
    ),
    (
        &["7b", "llm-7b", "llama-7b", "llama2-7b", "llama3-7b", "gpt-7b"],
        "no profile is of 7B, so take llama3-8b, or state tokens_per_second and token_size",
    ),
    (
        &["70b", "llm-70b", "llama-70b", "llama2-70b", "gpt-70b"],
        "the profile of 70B is llama3-70b; for another model state tokens_per_second and token_size",
    ),
    // 16 frames of 224 x 224 in three bytes are 2,408,448 B. An encoder decides what is stored of them.
    (
        &["video", "videos", "clips", "video-clips"],
        "clips have no size of their own (16 frames of 224 x 224 are 2.41 MB raw, and less encoded), so state that of \
         yours",
    ),
];

fn advice(name: &str) -> &'static str {
    let name = name.to_lowercase();
    let found = WITHOUT_FIGURES.iter().find(|(names, _)| names.contains(&name.as_str()));
    found.map_or("", |(_, advice)| advice)
}

fn advised(advice: &str) -> String {
    if advice.is_empty() { String::new() } else { format!("{advice}; ") }
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
