//! Limits as functions of the time they are told: a rate of requests, a rate of bytes, a head that moves.

use std::collections::HashMap;

/// Requests that may come at once after a pause, as seconds of the rate.
// A client issues its queue depth at once. Without a burst most of that would be refused at any rate.
const BURST_S: f64 = 0.1;

/// How far a line whose wake-ups come late may fall behind and still make it up. Without any it would be slower than
/// declared by the lateness of every wake-up; no span of time carries more than its share and that of this.
// 8 ms were allowed once, and a line that had been idle for less was taken for a late one: 64 KiB at 2 ms and
// 25 MB/s came 378 times a second, where 216 is the most possible.
pub(crate) const LATE_NS: u64 = 1_000_000;

/// Prefixes that are remembered. Beyond it those that have rested long enough to be full are forgotten.
const PREFIXES_MAX: usize = 10_000;

/// A token bucket.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at_ns: u64,
}

/// Requests a second, for each prefix its own.
#[derive(Debug)]
pub(crate) struct RequestRate {
    per_s: f64,
    prefixes: HashMap<Box<str>, Bucket>,
}

impl RequestRate {
    pub(crate) fn new(per_s: f64) -> Self {
        Self { per_s, prefixes: HashMap::new() }
    }

    fn burst(&self) -> f64 {
        (self.per_s * BURST_S).max(1.0)
    }

    /// Whether one more request to `prefix` is taken now.
    pub(crate) fn take(&mut self, prefix: &str, now_ns: u64) -> bool {
        let (per_s, burst) = (self.per_s, self.burst());
        let filled =
            |of: &Bucket| (of.tokens + now_ns.saturating_sub(of.at_ns) as f64 * 1e-9 * per_s).min(burst);
        if !self.prefixes.contains_key(prefix) {
            if self.prefixes.len() >= PREFIXES_MAX {
                // A full bucket is as good as none: the next request would make the same.
                self.prefixes.retain(|_, bucket| filled(bucket) < burst);
            }
            self.prefixes.insert(prefix.into(), Bucket { tokens: burst, at_ns: now_ns });
        }
        let Some(bucket) = self.prefixes.get_mut(prefix) else { return false };
        // A refused request costs no token: clients that try again would otherwise keep a prefix empty.
        bucket.tokens = filled(bucket);
        bucket.at_ns = now_ns;
        let taken = bucket.tokens >= 1.0;
        if taken {
            bucket.tokens -= 1.0;
        }
        taken
    }
}

/// What serves one after another: the bytes on a line, the reads below a head.
///
/// Each use is given its place when it is ready, by the schedule, and let through when it is over, by the clock. A server
/// that wakes up late keeps its schedule, as far as [`LATE_NS`]; one that had nothing to do has earned nothing.
#[derive(Debug, Clone, Default)]
struct Turns {
    /// Where the schedule ends.
    free_ns: u64,
    /// Where the schedule of what was let through ends, and never more than [`LATE_NS`] before that happened.
    through_ns: u64,
}

impl Turns {
    /// When a use that is ready at `ready_ns` and takes `cost_ns` is over.
    fn reserve(&mut self, ready_ns: u64, cost_ns: u64) -> u64 {
        // It begins when the schedule is free, when what was let through is over, and when it is ready,
        // whichever is last.
        self.free_ns = self.free_ns.max(self.through_ns).max(ready_ns) + cost_ns;
        self.free_ns
    }

    /// When a use that is over by the schedule may be let through at the earliest.
    fn opens_ns(&self, cost_ns: u64) -> u64 {
        self.through_ns + cost_ns
    }

    /// Counts a use that was let through now.
    fn pass(&mut self, cost_ns: u64, now_ns: u64) {
        self.through_ns = (self.through_ns + cost_ns).max(now_ns.saturating_sub(LATE_NS));
    }
}

/// Bytes a second.
#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    bps: f64,
    turns: Turns,
}

impl Pacer {
    pub(crate) fn new(bps: f64) -> Self {
        Self { bps, turns: Turns::default() }
    }

    fn cost_ns(&self, bytes: u64) -> u64 {
        (bytes as f64 / self.bps * 1e9).ceil() as u64
    }

    /// When the last of `bytes` that are ready at `ready_ns` has gone, by the schedule.
    pub(crate) fn reserve(&mut self, ready_ns: u64, bytes: u64) -> u64 {
        let cost_ns = self.cost_ns(bytes);
        self.turns.reserve(ready_ns, cost_ns)
    }

    /// When `bytes` that are due may go at the earliest.
    pub(crate) fn opens_ns(&self, bytes: u64) -> u64 {
        self.turns.opens_ns(self.cost_ns(bytes))
    }

    /// Counts bytes that went now.
    pub(crate) fn pass(&mut self, bytes: u64, now_ns: u64) {
        let cost_ns = self.cost_ns(bytes);
        self.turns.pass(cost_ns, now_ns);
    }

    /// Bytes that may go together: a millisecond's worth, so that a line is neither bursty nor busy waking up.
    pub(crate) fn quantum_bytes(&self) -> u64 {
        (self.bps * 1e-3).clamp(4096.0, 1_048_576.0) as u64
    }
}

/// A head that serves one read at a time, in the order in which they come.
#[derive(Debug)]
pub(crate) struct Head {
    seek_ns: u64,
    /// Bytes a second off the medium; `None` takes no time.
    bps: Option<f64>,
    turns: Turns,
    /// Object and offset behind the last read.
    stands_at: Option<(u64, u64)>,
}

impl Head {
    pub(crate) fn new(seek_ns: u64, bps: Option<f64>) -> Self {
        Self { seek_ns, bps, turns: Turns::default(), stands_at: None }
    }

    /// When a read that comes now has its bytes, and how long it holds the head: after those before it, a move unless it
    /// follows the last one, and the transfer.
    pub(crate) fn read(&mut self, object: u64, at: u64, bytes: u64, now_ns: u64) -> (u64, u64) {
        let seek_ns = if self.stands_at == Some((object, at)) { 0 } else { self.seek_ns };
        let transfer_ns = self.bps.map_or(0, |bps| (bytes as f64 / bps * 1e9).ceil() as u64);
        // In the order of arrival: the head is moved by the schedule, not by who is woken first.
        self.stands_at = Some((object, at + bytes));
        let cost_ns = seek_ns + transfer_ns;
        (self.turns.reserve(now_ns, cost_ns), cost_ns)
    }

    /// Lets a read through that held the head for `cost_ns`, or says when it may be.
    pub(crate) fn release(&mut self, cost_ns: u64, now_ns: u64) -> Result<(), u64> {
        let opens_ns = self.turns.opens_ns(cost_ns);
        if now_ns < opens_ns {
            return Err(opens_ns);
        }
        self.turns.pass(cost_ns, now_ns);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_rate_takes_its_burst_and_then_its_rate() {
        let mut rate = RequestRate::new(1000.0);
        let taken_at = |rate: &mut RequestRate, now| (0..5000).filter(|_| rate.take("a", now)).count();
        assert_eq!(taken_at(&mut rate, S), 100);
        assert_eq!(taken_at(&mut rate, S), 0);
        assert_eq!(taken_at(&mut rate, S + S / 100), 10);
        assert_eq!(taken_at(&mut rate, 10 * S), 100);
    }

    #[test]
    fn over_a_second_of_offers_the_rate_is_kept() {
        let mut rate = RequestRate::new(5500.0);
        let taken = (0..90_000_u64).filter(|index| rate.take("a", S + index * S / 90_000)).count();
        assert!((6040..=6051).contains(&taken), "{taken}: one second's worth and the burst");
    }

    #[test]
    fn prefixes_do_not_share_a_rate() {
        let mut rate = RequestRate::new(10.0);
        assert!(rate.take("a", S));
        assert!(!rate.take("a", S));
        assert!(rate.take("b", S));
    }

    #[test]
    fn prefixes_that_rest_are_forgotten() {
        let mut rate = RequestRate::new(10.0);
        for index in 0..3 * PREFIXES_MAX as u64 {
            assert!(rate.take(&index.to_string(), index * S / 10));
        }
        assert!(rate.prefixes.len() <= PREFIXES_MAX);
    }

    #[test]
    fn a_head_moves_for_what_does_not_follow_and_serves_one_at_a_time() {
        let mut head = Head::new(10_000, Some(1e9));
        assert_eq!(head.read(1, 0, 1000, S), (S + 11_000, 11_000));
        assert_eq!(head.read(1, 1000, 1000, S), (S + 12_000, 1000), "it follows, and waits");
        assert_eq!(head.read(2, 2000, 1000, S), (S + 23_000, 11_000), "another object");
        assert_eq!(head.read(2, 2000, 1000, 2 * S).0, 2 * S + 11_000, "read again: a move back");
    }

    #[test]
    fn a_head_that_was_held_up_does_not_serve_all_that_waited_at_once() {
        let mut head = Head::new(10_000_000, None);
        let costs: Vec<u64> = (0..4).map(|object| head.read(object, 0, 1, S).1).collect();
        assert_eq!(head.release(costs[0], 2 * S), Ok(()));
        assert_eq!(head.release(costs[1], 2 * S), Err(2 * S - LATE_NS + 10_000_000));
    }
}
