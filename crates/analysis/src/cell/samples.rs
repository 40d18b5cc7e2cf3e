//! Samples of a dataset.

use record::{Axis, Cell, Dataset};

/// Layout of a dataset whose samples are objects.
pub(crate) const FILES: &str = "files";

/// Samples of a dataset: its objects where it does not say.
pub(crate) fn samples(dataset: &Dataset) -> u64 {
    // Records before packed layouts say nothing of samples, and each of theirs is a file.
    dataset.samples.unwrap_or(dataset.files)
}

/// Whether one pass reads files again, as a list does that names them again.
pub(crate) fn are_read_again(dataset: &Dataset) -> bool {
    // Without a list a file is one sample, and a dataset of files does not say how many it has.
    dataset.layout == FILES && samples(dataset) > dataset.files
}

/// Bytes of a sample as the scenario asks for it; absent for data that were there before.
pub(crate) fn payload(cell: &Cell) -> Option<f64> {
    let said = cell.said_along(Axis::SampleBytes)?;
    said.parse().ok().filter(|bytes: &f64| bytes.is_finite() && *bytes > 0.0)
}
