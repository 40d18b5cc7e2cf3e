//! A local cache before a slower storage.

use std::path::PathBuf;

use feed::TierPolicy;

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
