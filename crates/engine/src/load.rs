//! When to issue the next read, as a state machine that owns no time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Tickets of one repetition, shared by its workers: handed out in order, each once, up to a limit.
#[derive(Debug)]
pub(crate) struct Tickets {
    next: AtomicU64,
    end: u64,
}

impl Tickets {
    /// Tickets from `first` on; at most `count` of them when it is given.
    pub(crate) fn new(first: u64, count: Option<u64>) -> Self {
        Self { next: AtomicU64::new(first), end: count.map_or(u64::MAX, |count| first.saturating_add(count)) }
    }

    /// The next ticket, if one is left.
    #[inline]
    pub(crate) fn take(&self) -> Option<u64> {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        (ticket < self.end).then_some(ticket)
    }
}

/// What a worker is to do with a free buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Issue the read of this ticket now.
    Issue {
        /// Number of the read in its order.
        ticket: u64,
    },
    /// Issue nothing any more.
    Finished,
}

/// A closed loop: every buffer that comes back is sent out again, until the end of time or of tickets.
/// The queue depth is the number of buffers.
#[derive(Debug)]
pub(crate) struct ClosedLoop<'a> {
    tickets: &'a Tickets,
    end_ns: u64,
    exhausted: bool,
}

impl<'a> ClosedLoop<'a> {
    /// A loop that issues until `end_ns` or until `tickets` run out.
    pub(crate) fn new(tickets: &'a Tickets, end_ns: u64) -> Self {
        Self { tickets, end_ns, exhausted: false }
    }

    /// What to do at `now_ns`.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64) -> Next {
        if now_ns >= self.end_ns || self.exhausted {
            return Next::Finished;
        }
        let ticket = self.tickets.take();
        self.exhausted = ticket.is_none();
        ticket.map_or(Next::Finished, |ticket| Next::Issue { ticket })
    }

    /// Whether it ended because no ticket was left.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_handed_out_once_in_order_up_to_their_number() {
        let tickets = Tickets::new(10, Some(3));
        let taken: Vec<_> = std::iter::from_fn(|| tickets.take()).collect();
        assert_eq!(taken, [10, 11, 12]);
    }

    #[test]
    fn a_closed_loop_ends_with_time_or_with_tickets_and_says_which() {
        let tickets = Tickets::new(0, Some(2));
        let mut by_time = ClosedLoop::new(&tickets, 100);
        assert_eq!(by_time.next(99), Next::Issue { ticket: 0 });
        assert_eq!(by_time.next(100), Next::Finished);
        assert!(!by_time.exhausted());
        let mut by_tickets = ClosedLoop::new(&tickets, 100);
        assert_eq!(by_tickets.next(0), Next::Issue { ticket: 1 });
        assert_eq!(by_tickets.next(0), Next::Finished);
        assert!(by_tickets.exhausted());
    }
}
