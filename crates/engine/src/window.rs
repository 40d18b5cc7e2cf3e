//! When reads count.

/// The span in which reads count, on the run's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// It opens: the end of the warm-up.
    pub(crate) open_ns: u64,
    /// It closes; `u64::MAX` where tickets end it.
    pub(crate) close_ns: u64,
}

impl Window {
    /// The same window, opened at `ns` where that is earlier.
    #[inline]
    pub(crate) fn opened_by(self, ns: u64) -> Self {
        Self { open_ns: self.open_ns.min(ns), ..self }
    }

    /// Whether what began at `begun_ns` was issued inside, and not in the warm-up. What is issued just before the window
    /// closes may begin just behind its end: it counts, so that whatever ended is counted once.
    #[inline]
    pub(crate) fn was_open(&self, begun_ns: u64) -> bool {
        begun_ns >= self.open_ns
    }

    /// Whether `ns` lies inside.
    #[inline]
    pub(crate) fn contains(&self, ns: u64) -> bool {
        ns >= self.open_ns && ns < self.close_ns
    }
}
