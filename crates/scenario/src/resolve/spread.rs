//! How the sizes of generated files spread about the sample size.

use plan::Distribution;

use crate::diagnostic::{Problem, Problems, Span};
use crate::reader::Field;
use crate::words::Sizes;
use crate::written::{Dataset, Needs};

use super::block::Sample;
use super::need;
use super::packing;

/// Beyond it most of the bytes lie in a few files, and no dataset of a usual length has the mean that was asked.
const STDEV_PER_MEAN_MAX: u64 = 10;

/// Workload whose need has a spread, and that spread. MLPerf Storage,
/// <https://github.com/mlcommons/storage>, `configs/dlio/workload/unet3d_h100.yaml`:
/// `record_length_bytes_stdev: 68341808` (as for the a100 and b200). Its other workloads state none.
// Only where the sample size is the workload's own: a spread of 68 MB about another mean is nobody's.
const STATED_STDEV: (&str, u64) = ("unet3d", 68_341_808);

/// The distribution of sizes; `None` when it was wrong, after saying why.
pub(super) fn resolve(
    written: &Dataset,
    need: &Field<Needs>,
    samples: &[Sample],
    problems: &mut Problems,
) -> Option<Distribution> {
    match written.distribution.value_or(Sizes::default())? {
        Sizes::Fixed => Some(Distribution::Fixed),
        Sizes::LogNormal => {
            let stdev_bytes = stdev(written, need, samples, written.distribution.span()?, problems)?;
            Some(Distribution::LogNormal { stdev_bytes })
        }
    }
}

/// Refuses sizes that spread in an array of rows; `None` when they do.
pub(super) fn refuse_layout(
    written: &Dataset,
    of: packing::Written,
    distribution: Distribution,
    problems: &mut Problems,
) -> Option<()> {
    if !of.layout.is_array() || distribution == Distribution::Fixed {
        return Some(());
    }
    let message = format!("samples of {} are rows of an array, which all have one size", of.layout.name());
    let problem = match written.distribution.span().or(of.span) {
        Some(at) => Problem::new(message).at(at, "spreads sizes"),
        None => Problem::new(message),
    };
    problems.push(
        problem.also_if(of.span, "has rows of one size").help(
            "write dataset.distribution = \"fixed\", or layout = \"indexed\", whose records may differ",
        ),
    );
    None
}

fn stdev(
    written: &Dataset,
    need: &Field<Needs>,
    samples: &[Sample],
    lognormal: Span,
    problems: &mut Problems,
) -> Option<u64> {
    // Scaling it with each size would be a guess about data that nobody measured.
    if let [_, _, ..] = samples {
        let problem = Problem::new("one standard deviation cannot be that of several sample sizes")
            .at(written.sample_size_stdev.span().unwrap_or(lognormal), "spreads one of them")
            .also_if(written.sample_size.span(), format!("{} sample sizes", samples.len()));
        problems.push(problem.help("write one dataset.sample_size, and a scenario for each of the others"));
        return None;
    }
    let Some(entry) = written.sample_size_stdev.entry()? else {
        return by_need(written, need, lognormal, problems);
    };
    let mean = samples.first()?;
    let bytes = mean.bytes?;
    if entry.value.0 > bytes.saturating_mul(STDEV_PER_MEAN_MAX) {
        let problem = Problem::new("the sizes spread so far that most bytes would lie in a few files")
            .at(entry.span, "the standard deviation")
            .also_if(mean.span, "the mean");
        let most = feed::group_digits(bytes.saturating_mul(STDEV_PER_MEAN_MAX));
        problems.push(problem.help(format!("write at most ten times the sample size: \"{most} B\"")));
        return None;
    }
    Some(entry.value.0)
}

/// What the need's workload states; it belongs to that workload's own sample size.
fn by_need(written: &Dataset, need: &Field<Needs>, lognormal: Span, problems: &mut Problems) -> Option<u64> {
    let (workload, bytes) = STATED_STDEV;
    if written.sample_size.is_absent() && need::workload(need).is_some_and(|found| found == workload) {
        return Some(bytes);
    }
    let problem = Problem::absent("`dataset.sample_size_stdev` is missing: how far do the sizes spread?")
        .at(lognormal, "has a standard deviation");
    problems.push(problem.help(format!(
        "for example dataset.sample_size_stdev = \"50 kB\"; only the {workload} workload states its own"
    )));
    None
}
