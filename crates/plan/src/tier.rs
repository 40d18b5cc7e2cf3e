//! A local cache before a slower storage.

use std::path::PathBuf;

/// A read-through cache of blocks on a local path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    /// The folder that it is made in.
    pub at: PathBuf,
    /// Bytes that it holds, at most.
    pub capacity_bytes: u64,
    /// What makes room when it is full.
    pub policy: TierPolicy,
}

/// Which block makes room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TierPolicy {
    /// The one that was read longest ago.
    Lru,
    /// Any, with equal probability.
    // What a cache without bookkeeping does. With data read in the same order each epoch it hits where LRU
    // misses every time, which is worth seeing.
    Random,
}

feed::words!(TierPolicy { Lru = "lru", Random = "random" });
