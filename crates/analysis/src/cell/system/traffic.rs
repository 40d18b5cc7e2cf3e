//! Bytes that crossed a counter, and how fast.

/// Bytes, and their rate over the spans in which they were counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    /// Sum over the repetitions.
    pub bytes: u64,
    /// Bytes per second.
    pub bps: f64,
}

impl Traffic {
    /// `None` where no time passed.
    pub(super) fn of(bytes: u64, span_ns: u64) -> Option<Self> {
        (span_ns > 0).then(|| Self { bytes, bps: bytes as f64 / seconds(span_ns) })
    }
}

/// Amounts, each with the time that it took, as one amount by nanosecond; `None` without time.
pub(super) fn by_time(known: impl Iterator<Item = (f64, u64)>) -> Option<f64> {
    let (sum, wall_ns) =
        known.fold((0.0, 0_u64), |(sum, all_ns), (amount, ns)| (sum + amount, all_ns.saturating_add(ns)));
    (wall_ns > 0).then(|| sum / wall_ns as f64)
}

/// A sum that a damaged record cannot make overflow.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
