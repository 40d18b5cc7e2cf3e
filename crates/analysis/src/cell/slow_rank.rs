//! Processes that were slower than the others.

// Hosts of one kind differ by some percent, by where their threads and interrupts lie. A job in step goes at the pace of its
// slowest host: from a tenth on that is what one host in ten brings.
/// Share of the median of the others below which a process is slow.
pub const SLOW_BELOW: f64 = 0.90;

/// The processes of a cell that were clearly slower than the others.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowRanks {
    /// Which, in the order of their numbers; at least one.
    pub slow: Vec<SlowRank>,
    /// How many processes measured together.
    pub ranks: u32,
}

/// One process that was slower than the others.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowRank {
    /// Its number.
    pub rank: u32,
    /// Name of its host, redacted; absent where the record does not say.
    pub host: Option<String>,
    /// The figure that shows it.
    pub by: SlowBy,
    /// What it had of the median of the others, 0 to 1, mean over repetitions.
    pub of_others: f64,
}

/// The figure by which a process is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowBy {
    /// What it read, or looked up, in a second.
    Rate,
    /// Utilization of its least accelerator.
    Utilization,
}
