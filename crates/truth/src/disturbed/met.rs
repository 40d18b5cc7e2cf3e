//! What scenes have come to.

/// What scenes have come to, so that a test can tell whether they reached what they are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Met {
    /// Repetitions that were recorded.
    pub repetitions: u64,
    /// Those that met an outage.
    pub outages: u64,
    /// Those that failed.
    pub failed: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Repetitions whose bytes were found to be wrong.
    pub lies_seen: u64,
    /// Operations that never ended.
    pub abandoned: u64,
    /// Runs that were gone on with.
    pub gone_on: u64,
    /// Targets that were said to feed.
    pub feeds: u64,
}

impl Met {
    /// Adds what other scenes came to.
    pub fn add(&mut self, other: &Self) {
        self.repetitions += other.repetitions;
        self.outages += other.outages;
        self.failed += other.failed;
        self.errors += other.errors;
        self.lies_seen += other.lies_seen;
        self.abandoned += other.abandoned;
        self.gone_on += other.gone_on;
        self.feeds += other.feeds;
    }
}
