//! The samples of one dataset.

use plan::Layout;

use crate::diagnostic::Span;

/// A sample size, where it was written, and how such samples lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// `None` for files of the user's whose size nobody stated.
    pub(super) bytes: Option<u64>,
    pub(super) span: Option<Span>,
    /// `None` for files of the user's whose layout nobody stated.
    pub(super) layout: Option<Layout>,
}

impl Sample {
    /// Bytes of the file that a sample is, where it is one.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        self.bytes.filter(|_| self.layout == Some(Layout::Files))
    }
}
