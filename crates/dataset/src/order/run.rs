//! Tickets whose reads follow each other in one object.

use super::span::ReadSpan;
use crate::Extent;

/// Tickets one after the other that read the blocks of one part of an object, from its first to its last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) first_ticket: u64,
    pub(super) part: Extent,
    pub(super) block_bytes: u64,
}

impl Run {
    /// The block that a ticket reads, if it is one of these.
    #[inline]
    pub(super) fn at(&self, ticket: u64) -> Option<ReadSpan> {
        let block = ticket.checked_sub(self.first_ticket)?;
        let offset = block.checked_mul(self.block_bytes).filter(|offset| *offset < self.part.bytes)?;
        Some(ReadSpan::within(self.part, offset, self.block_bytes))
    }
}
