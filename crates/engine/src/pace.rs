//! A paced load: an open loop over a timetable that all workers of a repetition share.

use std::collections::VecDeque;

use backend::Completion;
use hdrhistogram::Histogram;
use plan::{Arrivals, Operation, Pace, Rate};

use crate::timetable::Timetable;
use crate::window::Window;

/// A client that is later than this although it had a slot free was away: the arrival is given up, since issuing
/// all that it missed would be a burst that nobody meant.
// Above any wake-up of a loaded machine (a scheduler's slice is 3 to 6 ms), and below what a person would call a
// stop.
const AWAY_NS: u64 = 10_000_000;

/// What decides a timetable, besides the pace itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// Bytes per second of the feed line.
    pub(crate) line_bps: f64,
    /// Bytes of one training sample.
    pub(crate) sample_bytes: f64,
    /// Bytes of one operation, on average.
    pub(crate) op_bytes: f64,
    /// Time before the window opens.
    pub(crate) warmup_ns: u64,
    /// Length of the window, where it has one.
    pub(crate) window_ns: Option<u64>,
    /// Of Poisson arrivals.
    pub(crate) seed: u64,
}

/// The arrivals of one repetition.
#[derive(Debug)]
pub(crate) struct Paced {
    timetable: Timetable,
    spin_ns: u64,
    warmup_ns: u64,
    /// Bytes per second that are offered.
    pub(crate) offered_bps: f64,
}

impl Paced {
    pub(crate) fn new(pace: &Pace, offer: &Offer) -> Self {
        let offered_bps = match pace.rate {
            Rate::Bytes { per_s } => per_s,
            Rate::OfLine { share } => share * offer.line_bps,
        };
        // From operations of mean size: a timetable by the bytes of each would need the order, and give large reads
        // more room than a loader does.
        let gap_ns = offer.op_bytes / offered_bps * 1e9;
        let timetable = match pace.arrivals {
            Arrivals::Constant => Timetable::constant(gap_ns),
            Arrivals::Poisson => Timetable::poisson(gap_ns, offer.seed),
            Arrivals::Batch { samples } => {
                let ops = (samples as f64 * offer.sample_bytes / offer.op_bytes).round().max(1.0);
                let end_ns = offer.window_ns.map(|window_ns| offer.warmup_ns + window_ns);
                Timetable::batch(ops as u64, gap_ns, end_ns)
            }
        };
        Self { timetable, spin_ns: pace.spin_ns, warmup_ns: offer.warmup_ns, offered_bps }
    }

    /// Arrivals inside the window and before `end_ns` that nobody took.
    pub(crate) fn not_taken(&self, window: &Window, end_ns: u64) -> u64 {
        let start_ns = window.open_ns - self.warmup_ns;
        self.timetable.pass_over(self.warmup_ns, end_ns.saturating_sub(start_ns), |_, _| ())
    }
}

/// When the next arrival of a worker is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// It is; this was its time.
    Now {
        /// When it was meant to be issued.
        intended_ns: u64,
    },
    /// Not before this time: ask again then, or at once if it has passed.
    At(u64),
}

/// One worker's view of the arrivals, and what it counts of them.
#[derive(Debug)]
pub(crate) struct Pacer<'a> {
    paced: &'a Paced,
    window: Window,
    start_ns: u64,
    spin_ns: u64,
    /// An arrival that was taken before its time: this worker has a slot for it and waits.
    held_ns: Option<u64>,
    /// Since when each free slot has been free, the longest first.
    free_since_ns: VecDeque<u64>,
    arrivals: u64,
    given_up: u64,
    clamped: u64,
    lag_ns: Histogram<u64>,
    response_ns: Histogram<u64>,
    apart: Option<ResponsesApart>,
}

/// The same of reads and of writes, each by itself.
#[derive(Debug)]
pub(crate) struct ResponsesApart {
    pub(crate) read_ns: Histogram<u64>,
    pub(crate) write_ns: Histogram<u64>,
}

/// What a worker counted of the arrivals inside the window.
#[derive(Debug)]
pub(crate) struct PacerEnd {
    /// Arrivals that it took.
    pub(crate) arrivals: u64,
    /// Those of them that it did not issue, since it was away when their time came.
    pub(crate) given_up: u64,
    /// Responses beyond the histogram's range.
    pub(crate) clamped: u64,
    /// One that it still held, which may lie beyond the end.
    pub(crate) held_ns: Option<u64>,
    /// How late the client was with arrivals that found a slot free, those given up included.
    pub(crate) lag_ns: Histogram<u64>,
    /// From the intended time to the end, of those that were issued and ended well.
    pub(crate) response_ns: Histogram<u64>,
    /// Of a mix.
    pub(crate) apart: Option<ResponsesApart>,
}

impl<'a> Pacer<'a> {
    /// A worker's view, with `slots` free slots. Where time only passes in a wait, looking would never end.
    pub(crate) fn new(paced: &'a Paced, window: Window, slots: u32, spins: bool) -> Self {
        Self {
            paced,
            window,
            start_ns: window.open_ns - paced.warmup_ns,
            // A timer of a virtual machine wakes 20 to 45 us late. Spinning for the last 60 us made that 0, and took
            // more than half a core at 10,000 a second.
            spin_ns: if spins { paced.spin_ns } else { 0 },
            held_ns: None,
            free_since_ns: (0..slots).map(|_| 0).collect(),
            arrivals: 0,
            given_up: 0,
            clamped: 0,
            lag_ns: record::new_interval_histogram(),
            response_ns: record::new_histogram(),
            apart: None,
        }
    }

    /// The same, which keeps what reads and what writes take apart where there are both.
    pub(crate) fn of(self, operation: Operation) -> Self {
        let new = || ResponsesApart { read_ns: record::new_histogram(), write_ns: record::new_histogram() };
        Self { apart: (operation == Operation::Mix).then(new), ..self }
    }

    /// What is due at `now_ns`, for a worker that has a free slot.
    pub(crate) fn due(&mut self, now_ns: u64) -> Due {
        loop {
            let timetable = &self.paced.timetable;
            let intended_ns =
                self.held_ns.take().unwrap_or_else(|| self.start_ns.saturating_add(timetable.take()));
            if intended_ns > now_ns {
                self.held_ns = Some(intended_ns);
                return Due::At(intended_ns.saturating_sub(self.spin_ns));
            }
            if self.takes(intended_ns, now_ns) {
                self.free_since_ns.pop_front();
                return Due::Now { intended_ns };
            }
        }
    }

    /// An operation that was meant to begin at `intended_ns` ended, and its slot is free.
    pub(crate) fn done(&mut self, completion: &Completion, intended_ns: u64, written: bool) {
        let done_ns = completion.stamps.done_ns;
        // By the completion's stamp and not by when it was seen.
        self.free_since_ns.push_back(done_ns);
        if completion.result.is_ok() && self.window.contains(intended_ns) {
            // From the intended start: this is what a closed loop leaves out (coordinated omission).
            let response_ns = done_ns - intended_ns;
            self.clamped += u64::from(response_ns > self.response_ns.high());
            self.response_ns.saturating_record(response_ns.max(1));
            if let Some(apart) = &mut self.apart {
                let own_ns = if written { &mut apart.write_ns } else { &mut apart.read_ns };
                own_ns.saturating_record(response_ns.max(1));
            }
        }
    }

    /// What was counted by the end at `now_ns`, during which the client may have been away.
    pub(crate) fn into_end(mut self, now_ns: u64) -> PacerEnd {
        if let Some(intended_ns) = self.held_ns.take_if(|ns| now_ns.saturating_sub(*ns) > AWAY_NS) {
            self.give_up(intended_ns, now_ns);
        }
        let Self { arrivals, given_up, clamped, held_ns, lag_ns, response_ns, apart, .. } = self;
        PacerEnd { arrivals, given_up, clamped, held_ns, lag_ns, response_ns, apart }
    }

    /// Whether an arrival whose time has come is issued.
    fn takes(&mut self, intended_ns: u64, now_ns: u64) -> bool {
        if intended_ns < self.window.open_ns && now_ns >= self.window.open_ns {
            // Of a warm-up that could not keep up: its rest would take the place of what is measured.
            self.paced.timetable.pass_over(0, self.window.open_ns - self.start_ns, |_, _| ());
            return false;
        }
        // A late start is the client's only where it had a buffer: otherwise the storage still held them all, and the
        // wait is response time.
        let had_a_slot = self.free_since_ns.front().is_none_or(|since_ns| *since_ns <= intended_ns);
        let late_ns = now_ns - intended_ns;
        if had_a_slot && late_ns > AWAY_NS {
            self.give_up(intended_ns, now_ns);
            return false;
        }
        if self.window.contains(intended_ns) {
            self.arrivals += 1;
            if had_a_slot {
                self.lag_ns.saturating_record(late_ns);
            }
        }
        true
    }

    /// Gives up an arrival and all those that were due while the client was away; what lies inside the window
    /// counts.
    fn give_up(&mut self, intended_ns: u64, now_ns: u64) {
        let Self { paced, start_ns, lag_ns, .. } = self;
        let mut given_up = u64::from(self.window.contains(intended_ns));
        lag_ns.saturating_record_n(now_ns - intended_ns, given_up);
        let to_ns = now_ns - AWAY_NS - *start_ns;
        given_up += paced.timetable.pass_over(paced.warmup_ns, to_ns, |ns, count| {
            lag_ns.saturating_record_n(now_ns - (*start_ns + ns), count);
        });
        self.arrivals += given_up;
        self.given_up += given_up;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One arrival every millisecond, looked for by the clock in the last `spin_ns` before each.
    fn paced(spin_ns: u64) -> Paced {
        let rate = Rate::Bytes { per_s: 1e6 };
        let offer = Offer {
            line_bps: 1.0,
            sample_bytes: 1_000.0,
            op_bytes: 1_000.0,
            warmup_ns: 0,
            window_ns: None,
            seed: 1,
        };
        Paced::new(&Pace { rate, arrivals: Arrivals::Constant, spin_ns }, &offer)
    }

    fn dues(pacer: &mut Pacer<'_>, at_ns: &[u64]) -> Vec<Due> {
        at_ns.iter().map(|now_ns| pacer.due(*now_ns)).collect()
    }

    #[test]
    fn an_arrival_is_waited_for_until_its_spin_begins_and_looked_for_from_then_on() {
        let (paced, window) = (paced(60_000), Window { open_ns: 0, close_ns: u64::MAX });
        let mut pacer = Pacer::new(&paced, window, 4, true);
        let looked = dues(&mut pacer, &[0, 10, 939_999, 940_000, 999_999, 1_000_000, 1_000_001]);
        let (now, at) = (|intended_ns| Due::Now { intended_ns }, Due::At(940_000));
        // From 940,000 on it is no later than now: the clock is looked at again at once.
        assert_eq!(looked, [now(0), at, at, at, at, now(1_000_000), Due::At(1_940_000)]);
        let end = pacer.into_end(1_000_002);
        assert_eq!((end.arrivals, end.given_up, end.held_ns), (2, 0, Some(2_000_000)));
        assert_eq!((end.lag_ns.count_at(0), end.lag_ns.len()), (2, 2));
    }

    #[test]
    fn nobody_looks_where_time_only_passes_in_a_wait() {
        let (paced, window) = (paced(60_000), Window { open_ns: 0, close_ns: u64::MAX });
        let mut pacer = Pacer::new(&paced, window, 4, false);
        assert_eq!(dues(&mut pacer, &[0, 10]), [Due::Now { intended_ns: 0 }, Due::At(1_000_000)]);
    }
}
