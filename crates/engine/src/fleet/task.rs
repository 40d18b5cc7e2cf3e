//! Samples that others decode.

/// Samples that were brought together, to be decoded one after the other by someone else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    /// The accelerator, by its index in the fleet, and its batch.
    pub(super) index: usize,
    pub(super) batch: u64,
    /// How many.
    pub(crate) samples: u32,
    /// When they were there.
    pub(super) read_ns: u64,
}
