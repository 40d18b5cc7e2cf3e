//! When to issue the next operation, as a state machine that owns no time.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pace::{Due, Pacer, PacerEnd};

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

    /// The next tickets, as many as are wanted and left.
    #[inline]
    pub(crate) fn take(&self, wanted: u64) -> Range<u64> {
        let first = self.next.fetch_add(wanted, Ordering::Relaxed);
        first.min(self.end)..first.saturating_add(wanted).min(self.end)
    }
}

/// What a worker is to do with a free buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Issue the operation of this ticket now.
    Issue {
        /// Number of the operation in its order.
        ticket: u64,
        /// When it was meant to be issued; now, in a closed loop.
        intended_ns: u64,
    },
    /// Nothing before this time, at which to ask again: at once, where it is no later than now.
    At(u64),
    /// Issue nothing any more.
    Finished,
}

/// The load of one worker, until the end of time or of tickets.
///
/// Closed: every buffer that comes back is sent out again, so the queue depth is the number of buffers. Paced: each
/// operation waits for its time, and for a buffer.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    tickets: &'a Tickets,
    end_ns: u64,
    exhausted_ns: Option<u64>,
    pacer: Option<Pacer<'a>>,
    /// Tickets taken and not issued. A closed loop takes one for each free buffer at once, and issues them all; a
    /// paced one holds a ticket that waits for its time, and an arrival that is given up leaves it to the next.
    held: Range<u64>,
}

impl<'a> Load<'a> {
    /// A load that issues until `end_ns` or until `tickets` run out; closed without a pacer.
    pub(crate) fn new(tickets: &'a Tickets, end_ns: u64, pacer: Option<Pacer<'a>>) -> Self {
        Self { tickets, end_ns, exhausted_ns: None, pacer, held: 0..0 }
    }

    /// What to do at `now_ns` with the first of `free` buffers.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64, free: usize) -> Next {
        if now_ns >= self.end_ns || self.exhausted() {
            return Next::Finished;
        }
        if self.pacer.is_some() {
            return self.next_paced(now_ns);
        }
        let ticket = self.take_ticket(now_ns, free as u64);
        ticket.map_or(Next::Finished, |ticket| Next::Issue { ticket, intended_ns: now_ns })
    }

    fn next_paced(&mut self, now_ns: u64) -> Next {
        let ticket = self.take_ticket(now_ns, 1);
        let (Some(ticket), Some(pacer)) = (ticket, &mut self.pacer) else { return Next::Finished };
        match pacer.due(now_ns) {
            Due::Now { intended_ns } => Next::Issue { ticket, intended_ns },
            Due::At(ns) => {
                self.held = ticket..ticket + 1;
                Next::At(ns)
            }
        }
    }

    #[inline]
    fn take_ticket(&mut self, now_ns: u64, wanted: u64) -> Option<u64> {
        if self.held.is_empty() {
            self.held = self.tickets.take(wanted);
        }
        let ticket = self.held.next();
        if ticket.is_none() {
            self.exhausted_ns = Some(now_ns);
        }
        ticket
    }

    /// The arrivals, where the load is paced.
    #[inline]
    pub(crate) fn pacer(&mut self) -> Option<&mut Pacer<'a>> {
        self.pacer.as_mut()
    }

    /// Whether it ended because no ticket was left.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted_ns.is_some()
    }

    /// When no ticket was left, and what a paced load counted by the end at `now_ns`.
    pub(crate) fn into_end(self, now_ns: u64) -> (Option<u64>, Option<PacerEnd>) {
        (self.exhausted_ns, self.pacer.map(|pacer| pacer.into_end(now_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_handed_out_once_in_order_up_to_their_number() {
        let tickets = Tickets::new(10, Some(3));
        assert_eq!([tickets.take(1), tickets.take(1)], [10..11, 11..12]);
        assert_eq!(tickets.take(5), 12..13, "no more than are left");
        assert!(tickets.take(1).is_empty());
    }

    #[test]
    fn a_closed_loop_ends_with_time_or_with_tickets_and_says_which() {
        let tickets = Tickets::new(0, Some(2));
        let mut by_time = Load::new(&tickets, 100, None);
        assert_eq!(by_time.next(99, 1), Next::Issue { ticket: 0, intended_ns: 99 });
        assert_eq!(by_time.next(100, 1), Next::Finished);
        assert!(!by_time.exhausted());
        let mut by_tickets = Load::new(&tickets, 100, None);
        assert_eq!(by_tickets.next(0, 2), Next::Issue { ticket: 1, intended_ns: 0 });
        assert_eq!(by_tickets.next(0, 1), Next::Finished);
        assert!(by_tickets.exhausted());
    }
}
