//! Samples of a dataset.

use record::{Axis, Cell, Dataset};

/// Layout of a dataset whose samples are objects.
pub(crate) const FILES: &str = "files";

/// Samples of a dataset: its objects where it does not say.
pub(crate) fn samples(dataset: &Dataset) -> u64 {
    // Records before packed layouts say nothing of samples, and each of theirs is a file.
    dataset.samples.unwrap_or(dataset.files)
}

/// Bytes of a sample as the scenario asks for it; absent for data that were there before.
pub(crate) fn payload(cell: &Cell) -> Option<f64> {
    let words = cell.axes.iter().find(|words| words.axis() == Axis::SampleBytes)?;
    words.value.parse().ok().filter(|bytes: &f64| bytes.is_finite() && *bytes > 0.0)
}
