//! What a worker counts in each second of a window, in memory that hardly grows with the window.

use std::collections::VecDeque;
use std::fmt;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use record::Interval;

use crate::sums;

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds that are kept open: a batch whose stamps lie before the end of a second may be counted after one behind it.
const OPEN_MAX: usize = 2;

/// Operations that ended in one second.
#[derive(Debug)]
struct Open {
    ops: u64,
    bytes: u64,
    service_ns: Histogram<u64>,
}

/// A second that is over. Its histogram is plain V2: a few hundred bytes, where an open one has 30 KiB.
#[derive(Debug)]
struct Over {
    ops: u64,
    bytes: u64,
    service_ns: Vec<u8>,
}

/// The seconds of a window, as one worker counts them.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    over: Vec<Over>,
    open: VecDeque<Open>,
    encoder: Encoder,
}

/// Operations of one latency that ended together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    /// Service time of each.
    pub(crate) service_ns: u64,
}

impl Seconds {
    /// Counts operations that ended so long after the window opened.
    #[inline]
    pub(crate) fn count(&mut self, since_opened_ns: u64, ended: Ended) {
        let second = (since_opened_ns / SECOND_NS) as usize;
        while second >= self.len() {
            self.go_on();
        }
        match second.checked_sub(self.over.len()) {
            Some(open) => self.open[open].count(ended),
            None => self.count_late(second, ended),
        }
    }

    /// Seconds from the first to the last that counted anything.
    pub(crate) fn len(&self) -> usize {
        self.over.len() + self.open.len()
    }

    /// Adds the latencies of a second to `service_ns`, and returns its operations and their bytes.
    pub(crate) fn add_to(&self, second: usize, service_ns: &mut Histogram<u64>) -> (u64, u64) {
        match second.checked_sub(self.over.len()) {
            None => {
                let over = &self.over[second];
                sums::add(service_ns, &decoded(&over.service_ns));
                (over.ops, over.bytes)
            }
            Some(open) => self.open.get(open).map_or((0, 0), |open| {
                sums::add(service_ns, &open.service_ns);
                (open.ops, open.bytes)
            }),
        }
    }

    /// Begins the next second, in the memory of one that is over.
    // Encoding takes some microseconds, once a second. Unlike the 30 KiB of a new histogram it touches no fresh page.
    fn go_on(&mut self) {
        if self.open.len() < OPEN_MAX {
            return self.open.push_back(Open::default());
        }
        let Some(mut oldest) = self.open.pop_front() else { return };
        self.over.push(self.encoder.over(&oldest));
        (oldest.ops, oldest.bytes) = (0, 0);
        oldest.service_ns.reset();
        self.open.push_back(oldest);
    }

    /// Counts what ended in a second that is over: a clock that steps back, or a batch that was held up for two seconds.
    #[cold]
    fn count_late(&mut self, second: usize, ended: Ended) {
        let over = &mut self.over[second];
        let mut open = Open { ops: over.ops, bytes: over.bytes, service_ns: decoded(&over.service_ns) };
        open.count(ended);
        *over = self.encoder.over(&open);
    }
}

/// The seconds of all workers, from those of each.
pub(crate) fn of_all<'a>(workers: &(impl Iterator<Item = &'a Seconds> + Clone)) -> Vec<Interval> {
    // A worker that ended early, or had no read in the last second, has fewer.
    let length = workers.clone().map(Seconds::len).max().unwrap_or(0);
    let at = |index: usize| {
        let mut service_ns = record::new_interval_histogram();
        let (mut ops, mut bytes) = (0, 0);
        for seconds in workers.clone().filter(|seconds| index < seconds.len()) {
            let counted = seconds.add_to(index, &mut service_ns);
            ops += counted.0;
            bytes += counted.1;
        }
        Interval { second: index as u32, ops, bytes, service_ns: record::encode(&service_ns) }
    };
    (0..length).map(at).collect()
}

impl Default for Open {
    fn default() -> Self {
        Self { ops: 0, bytes: 0, service_ns: record::new_interval_histogram() }
    }
}

impl Open {
    fn count(&mut self, ended: Ended) {
        self.ops += ended.ops;
        self.bytes += ended.bytes;
        self.service_ns.saturating_record_n(ended.service_ns, ended.ops);
    }
}

/// Encodes seconds, in one buffer.
#[derive(Default)]
struct Encoder(V2Serializer);

impl Encoder {
    fn over(&mut self, open: &Open) -> Over {
        let mut service_ns = Vec::new();
        let written = self.0.serialize(&open.service_ns, &mut service_ns);
        debug_assert!(written.is_ok(), "counts below 2^63 are written to memory");
        Over { ops: open.ops, bytes: open.bytes, service_ns }
    }
}

fn decoded(mut service_ns: &[u8]) -> Histogram<u64> {
    let decoded = Deserializer::new().deserialize(&mut service_ns);
    debug_assert!(decoded.is_ok(), "it was encoded here");
    decoded.unwrap_or_else(|_| record::new_interval_histogram())
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Encoder").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Of all, what each second has: operations, bytes, and its histogram.
    fn of(seconds: &Seconds) -> Vec<(u64, u64, Histogram<u64>)> {
        let one = |second| {
            let mut service_ns = record::new_interval_histogram();
            let (ops, bytes) = seconds.add_to(second, &mut service_ns);
            (ops, bytes, service_ns)
        };
        (0..seconds.len()).map(one).collect()
    }

    proptest! {
        #[test]
        fn each_second_has_what_ended_in_it_whatever_the_order(
            ended in vec((0..20_000_000_000_u64, 1..33_u64, 1..80_000_000_000_u64), 0..200),
        ) {
            let mut seconds = Seconds::default();
            let mut expected: Vec<(u64, u64, Histogram<u64>)> = Vec::new();
            for (at_ns, ops, service_ns) in ended {
                seconds.count(at_ns, Ended { ops, bytes: ops * 4_096, service_ns });
                let second = (at_ns / SECOND_NS) as usize;
                while expected.len() <= second {
                    expected.push((0, 0, record::new_interval_histogram()));
                }
                let one = &mut expected[second];
                one.0 += ops;
                one.1 += ops * 4_096;
                one.2.saturating_record_n(service_ns, ops);
            }
            prop_assert_eq!(of(&seconds), expected);
        }
    }

    #[test]
    fn a_second_that_is_over_takes_a_hundredth_of_an_open_one() {
        let mut seconds = Seconds::default();
        for second in 0..100 {
            for latency in 0..50 {
                let ended = Ended { ops: 1, bytes: 0, service_ns: 80_000 + latency * 4_000 };
                seconds.count(second * SECOND_NS, ended);
            }
        }
        let most = seconds.over.iter().map(|over| over.service_ns.capacity()).max();
        assert!(most.is_some_and(|bytes| bytes < 300), "{most:?}");
    }
}
