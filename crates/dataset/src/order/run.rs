//! Tickets whose reads follow each other in one object.

use super::span::ReadSpan;

/// Tickets one after the other that read the blocks of one part of an object, from its first to its last.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) first_ticket: u64,
    /// How many; none before the first ticket.
    pub(super) tickets: u64,
    pub(super) object: u32,
    pub(super) begins: u64,
    pub(super) bytes: u64,
    pub(super) block_bytes: u64,
}

impl Run {
    /// The block that a ticket reads, if it is one of these.
    #[inline]
    pub(super) fn at(&self, ticket: u64) -> Option<ReadSpan> {
        let block = ticket.wrapping_sub(self.first_ticket);
        (block < self.tickets).then(|| {
            let offset = block * self.block_bytes;
            let len = self.block_bytes.min(self.bytes - offset);
            ReadSpan { object: self.object, offset: self.begins + offset, len }
        })
    }
}
