//! What the figures of a cell are computed with.

use record::{Ceiling, Cell, Measure};

use crate::cell::facts::FlushedMedium;

/// What the figures of a cell are computed with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) storage: bool,
    pub(crate) sample_bytes: f64,
    pub(crate) line_samples_per_s: Option<f64>,
    pub(crate) ceilings: &'a [&'a Ceiling],
    pub(crate) measure: &'a Measure,
    /// Two-sided error of intervals.
    pub(crate) error: f64,
    /// Processors of the machine; absent when the record does not say.
    pub(crate) cores_online: Option<u32>,
    /// Share of the dataset's bytes without storage.
    pub(crate) unallocated_share: f64,
    /// Whether the file system compresses.
    pub(crate) compresses: bool,
    /// Name of the device below, where that is memory.
    pub(crate) memory_device: Option<&'a str>,
    /// What the device below is, where writes are kept only by flushes of its cache.
    pub(crate) flushed_medium: Option<FlushedMedium>,
    /// Whether the server of the storage, which is not a demo, runs on this machine.
    pub(crate) server_is_local: bool,
}

impl Context<'_> {
    /// The line in bytes of this cell's samples.
    pub(crate) fn line_bps(&self) -> Option<f64> {
        self.line_samples_per_s.map(|line| line * self.sample_bytes)
    }
}
