//! Samples for the decoding threads.

/// Samples that arrived with one read, for a thread to decode one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    /// The accelerator, by its index in the fleet, and its batch.
    pub(super) index: usize,
    pub(super) batch: u64,
    /// How many.
    pub(crate) samples: u32,
    /// When they were read.
    pub(super) read_ns: u64,
}
