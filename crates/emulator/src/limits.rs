//! Limits as functions of the time they are told: a rate of requests, a rate of bytes, a head that moves.

use std::collections::HashMap;

/// Requests that may come at once after a pause, as seconds of the rate.
const BURST_S: f64 = 0.1;

/// How far a paced line may fall behind and still make it up. Wake-ups come late; without this a line asked for
/// 90 MB/s made 66 to 78.
const LATE_CREDIT_NS: u64 = 8_000_000;

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
                self.prefixes.retain(|_, bucket| filled(bucket) < burst);
            }
            self.prefixes.insert(prefix.into(), Bucket { tokens: burst, at_ns: now_ns });
        }
        let Some(bucket) = self.prefixes.get_mut(prefix) else { return false };
        bucket.tokens = filled(bucket);
        bucket.at_ns = now_ns;
        let taken = bucket.tokens >= 1.0;
        if taken {
            bucket.tokens -= 1.0;
        }
        taken
    }
}

/// Bytes a second.
#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    bps: f64,
    next_ns: u64,
}

impl Pacer {
    pub(crate) fn new(bps: f64) -> Self {
        Self { bps, next_ns: 0 }
    }

    /// When the next byte may go.
    pub(crate) fn due_ns(&self) -> u64 {
        self.next_ns
    }

    /// Counts bytes that went now. A line that is late makes it up; one that was idle begins anew, or each body after a
    /// pause would have its first milliseconds for nothing.
    pub(crate) fn sent(&mut self, bytes: usize, now_ns: u64) {
        let is_late = now_ns.saturating_sub(self.next_ns) <= LATE_CREDIT_NS;
        let from = if is_late { self.next_ns } else { now_ns };
        self.next_ns = from + (bytes as f64 / self.bps * 1e9) as u64;
    }

    /// Bytes that may go together: a millisecond's worth, so that a line is neither bursty nor busy waking up.
    pub(crate) fn quantum_bytes(&self) -> usize {
        (self.bps * 1e-3).clamp(4096.0, 1_048_576.0) as usize
    }
}

/// A head that serves one read at a time, in the order in which they come.
#[derive(Debug)]
pub(crate) struct Head {
    seek_ns: u64,
    /// Bytes a second off the medium; `None` takes no time.
    bps: Option<f64>,
    free_ns: u64,
    /// Object and offset behind the last read.
    stands_at: Option<(u64, u64)>,
}

impl Head {
    pub(crate) fn new(seek_ns: u64, bps: Option<f64>) -> Self {
        Self { seek_ns, bps, free_ns: 0, stands_at: None }
    }

    /// When a read that comes now has its bytes: after those before it, a move unless it follows the last one, and the
    /// transfer.
    pub(crate) fn read(&mut self, object: u64, at: u64, bytes: u64, now_ns: u64) -> u64 {
        let seek_ns = if self.stands_at == Some((object, at)) { 0 } else { self.seek_ns };
        let transfer_ns = self.bps.map_or(0, |bps| (bytes as f64 / bps * 1e9) as u64);
        self.free_ns = self.free_ns.max(now_ns) + seek_ns + transfer_ns;
        self.stands_at = Some((object, at + bytes));
        self.free_ns
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
    fn a_pacer_keeps_its_rate_though_it_wakes_late() {
        let mut pacer = Pacer::new(90e6);
        let (mut now, mut sent) = (S, 0_usize);
        while now < 2 * S {
            pacer.sent(65_536, now);
            sent += 65_536;
            if pacer.due_ns() > now {
                // A timer of one millisecond that rounds up.
                now = pacer.due_ns().div_ceil(1_000_000) * 1_000_000 + 50_000;
            }
        }
        let ratio = sent as f64 / 90e6;
        assert!((0.99..1.02).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_late_line_makes_it_up_and_a_pause_earns_nothing() {
        let mut pacer = Pacer::new(100e6);
        pacer.sent(1_000_000, S);
        assert_eq!(pacer.due_ns(), S + 10_000_000);
        pacer.sent(1_000_000, S + 10_000_000 + LATE_CREDIT_NS);
        assert_eq!(pacer.due_ns(), S + 20_000_000);
        pacer.sent(1_000_000, 9 * S);
        assert_eq!(pacer.due_ns(), 9 * S + 10_000_000);
    }

    #[test]
    fn a_head_moves_for_what_does_not_follow_and_serves_one_at_a_time() {
        let mut head = Head::new(10_000, Some(1e9));
        assert_eq!(head.read(1, 0, 1000, S), S + 11_000);
        assert_eq!(head.read(1, 1000, 1000, S), S + 12_000, "it follows, and waits");
        assert_eq!(head.read(2, 2000, 1000, S), S + 23_000, "another object");
        assert_eq!(head.read(2, 2000, 1000, 2 * S), 2 * S + 11_000, "read again: a move back");
    }
}
