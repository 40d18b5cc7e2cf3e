//! Operations that failed in a way that may pass are issued again, after a back-off; and a closed loop that meets
//! nothing but such failures pauses.
//!
//! An operation that waits keeps its slot and its buffer, so that a retry never raises the queue depth. It is one
//! operation to every other count: its latency runs from the beginning of its first attempt to the last byte of its
//! last, back-offs included. One that still waits as the window closes is given its last error.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use backend::{Completion, Op, Request};
use dataset::{mix, scale};
use hdrhistogram::Histogram;

use crate::outstanding::Outstanding;
use crate::recorder::ErrorCounts;
use crate::window::Window;

/// Limit of the first back-off.
// Several round trips even to far storage: a retry that comes at once meets the same overload.
const BASE_NS: u64 = 50_000_000;

/// Limit of any.
const CAP_NS: u64 = 5_000_000_000;

/// Failures in a row from which on a closed loop pauses, where its queue is not deeper than this.
const STORM_ERRORS_MIN: u64 = 8;

/// Full jitter: any time up to a limit that doubles, equally likely: `random_between(0, min(cap, base * 2 ** attempt))`
/// (AWS Architecture Blog, "Exponential Backoff And Jitter",
/// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
#[derive(Debug)]
pub(crate) struct BackOff {
    state: u64,
}

impl BackOff {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// A time to wait after this many failures in a row, of which the last is the first where it is 1.
    pub(crate) fn draw_ns(&mut self, failures: u32) -> u64 {
        self.state = mix(self.state);
        // The shift is bounded: a scenario may allow any number of attempts.
        let limit_ns = BASE_NS.saturating_mul(1 << failures.saturating_sub(1).min(32)).min(CAP_NS);
        scale(self.state, limit_ns + 1)
    }
}

/// The attempts of one worker.
#[derive(Debug)]
pub(crate) struct Retry {
    /// Further attempts that an operation has.
    retries: u32,
    back_off: BackOff,
    /// Operations that wait for their next attempt, the earliest first.
    waiting: BinaryHeap<Reverse<Waiting>>,
    pub(crate) attempts: Attempts,
}

/// Counts of single attempts, of operations that began inside the window.
#[derive(Debug)]
pub(crate) struct Attempts {
    pub(crate) count: u64,
    pub(crate) recovered: u64,
    pub(crate) errors: ErrorCounts,
    /// How long each took, well or not.
    pub(crate) attempt_ns: Histogram<u64>,
}

impl Retry {
    /// Up to `retries` further attempts at each of `depth` operations; `None` where there are none.
    pub(crate) fn new(retries: u32, depth: usize, seed: u64) -> Option<Self> {
        (retries > 0).then(|| Self {
            retries,
            back_off: BackOff::new(seed),
            waiting: BinaryHeap::with_capacity(depth),
            attempts: Attempts {
                count: 0,
                recovered: 0,
                errors: ErrorCounts::default(),
                attempt_ns: record::new_histogram(),
            },
        })
    }

    /// Takes an attempt that ended. Returned is one that was the last of its operation; another waits.
    pub(crate) fn attempted(
        &mut self,
        completion: Completion,
        slot: &mut Outstanding,
        window: &Window,
    ) -> Option<Completion> {
        let stamps = completion.stamps;
        if slot.failures == 0 {
            // The latency of an operation counts from its first attempt, or a retry would make a failure look fast.
            slot.begun_ns = stamps.begun_ns;
        }
        // By the operation's beginning, so that its attempts are all counted or none is.
        let counts = window.was_open(slot.begun_ns);
        if counts {
            self.attempts.count += 1;
            self.attempts.attempt_ns.saturating_record((stamps.done_ns - stamps.begun_ns).max(1));
        }
        match completion.result {
            Ok(_) => {
                self.attempts.recovered += u64::from(counts && slot.failures > 0);
                Some(completion)
            }
            Err(error) => {
                if counts {
                    self.attempts.errors.add(error.kind);
                }
                if !error.kind.is_transient() || slot.failures >= self.retries {
                    return Some(completion);
                }
                slot.failures += 1;
                let due_ns = stamps.done_ns + self.back_off.draw_ns(slot.failures);
                self.waiting.push(Reverse(Waiting { due_ns, failed: completion }));
                None
            }
        }
    }

    /// The next attempt that is due at `now_ns`, as a request; `op` says what its slot stands for.
    pub(crate) fn due(&mut self, now_ns: u64, op: impl FnOnce(u32) -> Op) -> Option<Request> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let Reverse(Waiting { failed: Completion { token, buf, .. }, .. }) = self.waiting.pop()?;
        Some(Request { token, op: op(token), buf })
    }

    /// When the next attempt is due.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse(waiting)| waiting.due_ns)
    }

    /// Ends all retrying. Returns the waiting operations with their last errors; a failure from now on is final.
    pub(crate) fn give_up(&mut self) -> impl Iterator<Item = Completion> + use<> {
        self.retries = 0;
        std::mem::take(&mut self.waiting).into_iter().map(|Reverse(waiting)| waiting.failed)
    }
}

/// An operation between two attempts.
#[derive(Debug)]
struct Waiting {
    due_ns: u64,
    failed: Completion,
}

impl Waiting {
    fn order(&self) -> (u64, u32) {
        (self.due_ns, self.failed.token)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

/// Keeps a closed loop from spinning on a server that refuses everything: after as many transient failures in a row
/// as the worker has slots (8 at least) it begins nothing new for a back-off, which doubles with each such pause until
/// something ends well. A paced load keeps its schedule.
#[derive(Debug)]
pub(crate) struct Storm {
    back_off: BackOff,
    least: u64,
    pauses: u32,
    until_ns: u64,
}

impl Storm {
    /// Of a worker with `depth` slots.
    pub(crate) fn new(depth: usize, seed: u64) -> Self {
        Self {
            // Another stream of draws than the attempts of the same worker have.
            back_off: BackOff::new(!seed),
            least: STORM_ERRORS_MIN.max(depth as u64),
            pauses: 0,
            until_ns: 0,
        }
    }

    /// Takes a transient failure, the last of `in_a_row`.
    pub(crate) fn failed(&mut self, done_ns: u64, in_a_row: u64) {
        if in_a_row < self.least {
            self.pauses = 0;
        } else if done_ns >= self.until_ns {
            self.pauses += 1;
            self.until_ns = done_ns + self.back_off.draw_ns(self.pauses);
        }
    }

    /// Until when nothing new begins; in the past where nothing is wrong.
    #[inline]
    pub(crate) fn until_ns(&self) -> u64 {
        self.until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_off_is_anything_up_to_a_limit_that_doubles_to_its_cap() {
        let mut back_off = BackOff::new(7);
        for (failures, limit_ns) in
            [(1, BASE_NS), (2, 2 * BASE_NS), (7, 64 * BASE_NS), (8, CAP_NS), (99, CAP_NS)]
        {
            let drawn: Vec<u64> = (0..2_000).map(|_| back_off.draw_ns(failures)).collect();
            assert!(drawn.iter().all(|ns| *ns <= limit_ns), "{failures}");
            let below = |share: u64| drawn.iter().filter(|ns| **ns < limit_ns / 10 * share).count();
            // Of 2,000 uniform draws 200 lie in each tenth, give or take 67 (five standard deviations).
            for tenth in 1..10 {
                let count = below(tenth + 1) - below(tenth);
                assert!((133..=267).contains(&count), "{count} draws in tenth {tenth} after {failures}");
            }
        }
    }

    #[test]
    fn back_offs_follow_from_their_seed() {
        let drawn = |seed| {
            let mut back_off = BackOff::new(seed);
            [1, 2, 3].map(|failures| back_off.draw_ns(failures))
        };
        assert_eq!(drawn(3), drawn(3));
        assert_ne!(drawn(3), drawn(4));
    }

    #[test]
    fn a_storm_pauses_once_for_each_round_of_failures_and_longer_each_time() {
        let mut storm = Storm::new(16, 1);
        (1..16).for_each(|in_a_row| storm.failed(5, in_a_row));
        assert_eq!(storm.until_ns(), 0, "fewer than slots");
        storm.failed(5, 16);
        let first = storm.until_ns();
        assert!((5..=5 + BASE_NS).contains(&first));
        storm.failed(first - 1, 17);
        assert_eq!(storm.until_ns(), first, "what was under way ends in the pause");
        let seldom = (18..40).map(|in_a_row| storm.failed(storm.until_ns(), in_a_row));
        assert_eq!(seldom.count(), 22);
        assert_eq!(storm.pauses, 23);
        storm.failed(u64::MAX / 2, 1);
        assert_eq!(storm.pauses, 0, "something ended well");
    }
}
