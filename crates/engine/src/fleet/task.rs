//! What happens to a batch: samples that arrive for it, and those that are handed to the decoding threads.

/// A batch of one of the fleet's accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchId {
    /// The accelerator, by its index in the fleet.
    pub(super) index: usize,
    /// Numbered over all epochs.
    pub(super) number: u64,
}

/// Samples that arrived together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) samples: u32,
    pub(super) at_ns: u64,
}

/// From one time to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

/// Samples that arrived with one read, for a thread to decode one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(super) batch: BatchId,
    /// How many.
    pub(crate) samples: u32,
    /// When they were read.
    pub(super) read_ns: u64,
}
