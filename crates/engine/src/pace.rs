//! A paced load: an open loop over a timetable that all workers of a repetition share.

use std::collections::VecDeque;

use backend::Completion;
use hdrhistogram::Histogram;
use plan::{Arrivals, Pace, Rate};

use crate::timetable::Timetable;
use crate::worker::Window;

/// A client that is later than this although it had a slot free was away: the arrival is given up, since issuing
/// all that it missed would be a burst that nobody meant.
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
        self.timetable.pass_over(self.warmup_ns, end_ns.saturating_sub(start_ns))
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
    /// Ask again at this time, or at once where it is no later than now.
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
    not_issued: u64,
    clamped: u64,
    lag_ns: Histogram<u64>,
    response_ns: Histogram<u64>,
}

/// What a worker counted of the arrivals inside the window.
#[derive(Debug)]
pub(crate) struct PacerEnd {
    /// Arrivals that it took.
    pub(crate) arrivals: u64,
    /// Those of them that it did not issue.
    pub(crate) not_issued: u64,
    /// Responses beyond the histogram's range.
    pub(crate) clamped: u64,
    /// One that it still held, which may lie beyond the end.
    pub(crate) held_ns: Option<u64>,
    /// How late the client was with arrivals that found a slot free.
    pub(crate) lag_ns: Histogram<u64>,
    /// From the intended time to the end, of those that were issued and ended well.
    pub(crate) response_ns: Histogram<u64>,
}

impl<'a> Pacer<'a> {
    /// A worker's view, with `slots` free slots. Where time only passes in a wait, looking would never end.
    pub(crate) fn new(paced: &'a Paced, window: Window, slots: u32, spins: bool) -> Self {
        Self {
            paced,
            window,
            start_ns: window.open_ns - paced.warmup_ns,
            spin_ns: if spins { paced.spin_ns } else { 0 },
            held_ns: None,
            free_since_ns: (0..slots).map(|_| 0).collect(),
            arrivals: 0,
            not_issued: 0,
            clamped: 0,
            lag_ns: record::new_interval_histogram(),
            response_ns: record::new_histogram(),
        }
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
    pub(crate) fn done(&mut self, completion: &Completion, intended_ns: u64) {
        let done_ns = completion.stamps.done_ns;
        self.free_since_ns.push_back(done_ns);
        if completion.result.is_ok() && self.window.contains(intended_ns) {
            let response_ns = done_ns - intended_ns;
            self.clamped += u64::from(response_ns > self.response_ns.high());
            self.response_ns.saturating_record(response_ns.max(1));
        }
    }

    pub(crate) fn into_end(self) -> PacerEnd {
        let Self { arrivals, not_issued, clamped, held_ns, lag_ns, response_ns, .. } = self;
        PacerEnd { arrivals, not_issued, clamped, held_ns, lag_ns, response_ns }
    }

    /// Whether an arrival whose time has come is issued.
    fn takes(&mut self, intended_ns: u64, now_ns: u64) -> bool {
        if intended_ns < self.window.open_ns && now_ns >= self.window.open_ns {
            // Of a warm-up that could not keep up: its rest would take the place of what is measured.
            self.pass_over(self.window.open_ns);
            return false;
        }
        let counts = u64::from(self.window.contains(intended_ns));
        self.arrivals += counts;
        let had_a_slot = self.free_since_ns.front().is_none_or(|since_ns| *since_ns <= intended_ns);
        let late_ns = now_ns - intended_ns;
        if had_a_slot && late_ns > AWAY_NS {
            let missed = self.pass_over(now_ns - AWAY_NS);
            self.arrivals += missed;
            self.not_issued += counts + missed;
            return false;
        }
        if had_a_slot && counts > 0 {
            self.lag_ns.saturating_record(late_ns);
        }
        true
    }

    /// Gives up what was to be issued before `to_ns`; returns how much of it lies inside the window.
    fn pass_over(&self, to_ns: u64) -> u64 {
        self.paced.timetable.pass_over(self.paced.warmup_ns, to_ns - self.start_ns)
    }
}
