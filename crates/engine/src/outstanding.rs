//! An operation that is outstanding.

use dataset::ReadSpan;

/// An operation that is outstanding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outstanding {
    pub(crate) span: ReadSpan,
    pub(crate) ticket: u64,
    pub(crate) intended_ns: u64,
    /// When its first attempt began; kept where attempts are repeated.
    pub(crate) begun_ns: u64,
    /// Attempts that failed and were not the last.
    pub(crate) failures: u32,
    /// Epoch that it belongs to.
    pub(crate) epoch: u16,
    /// Whether it writes.
    pub(crate) writes: bool,
    /// Whether it ended well. The buffer keeps the bytes until it is used again.
    pub(crate) has_moved: bool,
}

impl Outstanding {
    /// Nothing is outstanding.
    pub(crate) const FREE: Self = Self::new(ReadSpan { object: 0, offset: 0, len: 0 }, 0, 0, 0);

    pub(crate) const fn new(span: ReadSpan, ticket: u64, epoch: u16, intended_ns: u64) -> Self {
        Self { span, ticket, intended_ns, begun_ns: 0, failures: 0, epoch, writes: false, has_moved: false }
    }
}
