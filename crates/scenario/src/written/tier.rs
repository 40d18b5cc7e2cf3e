//! `cache_tier` as written.

use crate::list::{Axis, List};
use crate::table::{Table, table};
use crate::value::{Size, Text};
use crate::words::{TierWord, Word};

table! {
    /// A local cache before slower storages, which feedline keeps itself: empty as each repetition begins, filled by what is
    /// read.
    pub(crate) struct CacheTier {
        /// Folder on a local disk that the cache is made in. `feedline clean` removes what is made.
        at: Text,
        /// Bytes that it holds, at most.
        capacity: Size,
        /// What makes room when it is full; none reads straight. Default: lru.
        policy: Axis<Word<TierWord>>,
        /// Names of the targets that are read through it. Default: all that are reached over a network.
        // By name and not by a key of each target: one cache on one disk is before all of them, and its
        // capacity is shared knowledge.
        targets: List<Text>,
    }
}

impl Table for CacheTier {
    const EXAMPLE: &'static str = "{ at = \"/nvme/cache\", capacity = \"20 GB\" }";
}
