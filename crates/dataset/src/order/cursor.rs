//! The reads of one worker, each found from the one before.

use super::Order;
use super::span::ReadSpan;
use crate::uneven::Way;

/// Where the last ticket of a worker led.
///
/// The tickets of a worker rise, mostly by one: the next block is then the next of the same object, or the first of the object
/// that the epoch has next. Both are found without drawing again what led to the last.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    order: &'a Order,
    pub(super) run: Run,
    pub(super) way: Way,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(order: &'a Order, way: Way) -> Self {
        Self { order, run: Run::default(), way }
    }

    /// The read of a ticket, as [`Order::at`] has it.
    #[inline]
    pub fn at(&mut self, ticket: u64) -> ReadSpan {
        self.run.at(ticket).unwrap_or_else(|| self.order.found(self, ticket))
    }
}

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
