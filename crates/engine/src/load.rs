//! When to issue the next operation, as a state machine that owns no time.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use backend::Buf;

use crate::line::Line;
use crate::next::Next;
use crate::pace::{Due, Pacer, PacerEnd};
use crate::trainer::Trainer;

/// Tickets of one repetition, shared by its workers: handed out in order, each once, up to a limit.
#[derive(Debug)]
pub(crate) struct Tickets {
    // Written by every worker for each batch of reads, who look at the other fields as often.
    next: Line<AtomicU64>,
    end: u64,
    /// Once this one is handed out, no more is left to the warm-up.
    opens_with: u64,
    /// When it was; `u64::MAX` until then.
    opened_ns: AtomicU64,
}

impl Tickets {
    /// Tickets from `first` on; at most `count` of them when it is given.
    pub(crate) fn new(first: u64, count: Option<u64>) -> Self {
        let end = count.map_or(u64::MAX, |count| first.saturating_add(count));
        Self {
            next: Line(AtomicU64::new(first)),
            end,
            opens_with: u64::MAX,
            opened_ns: AtomicU64::new(u64::MAX),
        }
    }

    /// Lets the window open with this ticket, if it is not open by then.
    pub(crate) fn opening_with(self, ticket: u64) -> Self {
        Self { opens_with: ticket, ..self }
    }

    /// When the ticket that opens the window was handed out; `u64::MAX` where it was not.
    #[inline]
    pub(crate) fn opened_ns(&self) -> u64 {
        self.opened_ns.load(Ordering::Relaxed)
    }

    #[inline]
    fn handed_out(&self, tickets: &Range<u64>, now_ns: u64) {
        if tickets.end > self.opens_with && self.opened_ns() == u64::MAX {
            // The earliest of the workers that passed the ticket at the same time.
            self.opened_ns.fetch_min(now_ns, Ordering::Relaxed);
        }
    }

    /// The next tickets, as many as are wanted and left.
    #[inline]
    pub(crate) fn take(&self, wanted: u64) -> Range<u64> {
        // Past the end it goes on counting: whoever takes what is not there gets an empty range, without a loop.
        let first = self.next.0.fetch_add(wanted, Ordering::Relaxed);
        first.min(self.end)..first.saturating_add(wanted).min(self.end)
    }
}

/// The load of one worker, until the end of time or of tickets.
///
/// Closed: every buffer that comes back is sent out again, so the queue depth is the number of buffers. Paced: each
/// operation waits for its time, and for a buffer. Training: each waits until a batch that its accelerator has asked
/// for comes to it.
pub(crate) struct Load<'a> {
    tickets: &'a Tickets,
    end_ns: u64,
    exhausted_ns: Option<u64>,
    /// When to issue, where that is not at once.
    timing: Timing<'a>,
    /// Tickets taken and not issued. A closed loop takes one for each free buffer at once, and issues them all; a
    /// paced one holds a ticket that waits for its time, and an arrival that is given up leaves it to the next.
    held: Range<u64>,
}

/// What decides when the next operation is issued.
pub(crate) enum Timing<'a> {
    /// The one before it: a closed loop.
    AtOnce,
    /// A timetable.
    Paced(Box<Pacer<'a>>),
    /// A training job, which has tickets of its own.
    Trained(Trainer<'a>),
}

impl<'a> Load<'a> {
    /// A load that issues until `end_ns` or until `tickets` run out.
    pub(crate) fn new(tickets: &'a Tickets, end_ns: u64, timing: Timing<'a>) -> Self {
        Self { tickets, end_ns, exhausted_ns: None, timing, held: 0..0 }
    }

    /// What to do at `now_ns` with the first of `free` buffers.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64, free: usize) -> Next {
        if now_ns >= self.end_ns || self.exhausted() {
            return Next::Finished;
        }
        match &self.timing {
            Timing::AtOnce => {}
            Timing::Paced(_) => return self.next_paced(now_ns),
            Timing::Trained(trainer) => {
                let next = trainer.next(now_ns);
                self.exhausted_ns = (next == Next::Finished).then_some(now_ns);
                return next;
            }
        }
        let ticket = self.take_ticket(now_ns, free as u64);
        ticket.map_or(Next::Finished, |ticket| Next::Issue { ticket, intended_ns: now_ns })
    }

    fn next_paced(&mut self, now_ns: u64) -> Next {
        let ticket = self.take_ticket(now_ns, 1);
        let (Some(ticket), Timing::Paced(pacer)) = (ticket, &mut self.timing) else { return Next::Finished };
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
            self.tickets.handed_out(&self.held, now_ns);
        }
        let ticket = self.held.next();
        if ticket.is_none() {
            self.exhausted_ns = Some(now_ns);
        }
        ticket
    }

    /// Whether time alone, or another thread, can make it issue an operation.
    #[inline]
    pub(crate) fn goes_by_time(&self) -> bool {
        !matches!(self.timing, Timing::AtOnce)
    }

    /// When the tickets opened the window; `u64::MAX` where they did not.
    #[inline]
    pub(crate) fn opened_ns(&self) -> u64 {
        self.tickets.opened_ns()
    }

    /// The arrivals, where the load is paced.
    #[inline]
    pub(crate) fn pacer(&mut self) -> Option<&mut Pacer<'a>> {
        match &mut self.timing {
            Timing::Paced(pacer) => Some(pacer),
            Timing::AtOnce | Timing::Trained(_) => None,
        }
    }

    /// The training job, where it is one.
    #[inline]
    pub(crate) fn trainer(&mut self) -> Option<&mut Trainer<'a>> {
        match &mut self.timing {
            Timing::Trained(trainer) => Some(trainer),
            Timing::AtOnce | Timing::Paced(_) => None,
        }
    }

    /// Notices what time and other threads have changed by `now_ns`, and adds buffers that these gave back to `free`;
    /// returns when to look again.
    #[inline]
    pub(crate) fn look(&mut self, now_ns: u64, free: &mut Vec<Buf>) -> u64 {
        self.trainer().map_or(u64::MAX, |trainer| trainer.look(now_ns, free))
    }

    /// Whether it ended because nothing was left to issue.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted_ns.is_some()
    }

    /// When no ticket was left, and what a paced load counted by the end at `now_ns`.
    pub(crate) fn into_end(self, now_ns: u64) -> (Option<u64>, Option<PacerEnd>) {
        let pacer = match self.timing {
            Timing::Paced(pacer) => Some(pacer.into_end(now_ns)),
            Timing::AtOnce | Timing::Trained(_) => None,
        };
        (self.exhausted_ns, pacer)
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
        let mut by_time = Load::new(&tickets, 100, Timing::AtOnce);
        assert_eq!(by_time.next(99, 1), Next::Issue { ticket: 0, intended_ns: 99 });
        assert_eq!(by_time.next(100, 1), Next::Finished);
        assert!(!by_time.exhausted());
        let mut by_tickets = Load::new(&tickets, 100, Timing::AtOnce);
        assert_eq!(by_tickets.next(0, 2), Next::Issue { ticket: 1, intended_ns: 0 });
        assert_eq!(by_tickets.next(0, 1), Next::Finished);
        assert!(by_tickets.exhausted());
    }
}
