//! What is known of the client's page cache while a cell was measured.

use feed::Cache;
use record::{Rep, Word};

use crate::cell::context::Context;
use crate::cell::validity::{left_after, resident_before};

/// How a record says that reads never pass the kernel's file systems, and so not its page cache.
pub(crate) const USER_SPACE: &str = "user_space";

/// What is known of the client's page cache while a cell was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct PageCache {
    /// What the cell asks of it.
    pub asked: Word<Cache>,
    /// Share of the dataset that was resident in the worst repetition: after its reads where those are to leave nothing,
    /// before them elsewhere. Absent when nothing could tell in some repetition.
    pub resident: Option<f64>,
    /// What told, in the word of the record: `mincore`, `none`.
    pub method: String,
    /// Whether reads never pass the kernel's file systems, and so not its page cache.
    pub is_user_space: bool,
    /// Whether the server runs on this machine, so that its page cache is this machine's.
    pub server_is_local: bool,
}

impl PageCache {
    pub(crate) fn of(context: &Context<'_>, used: &[&Rep]) -> Self {
        let asked = &context.cell.cache;
        let method = used.first().map_or("none", |rep| rep.cache.method.as_str());
        let leaves_nothing = asked.is_any(&[Cache::Bypass, Cache::DontCache]);
        // A cold cell fills the page cache with what it reads, so only before tells. Reads that bypass it leave nothing, so
        // only after does: they were begun with an empty one.
        let share = if leaves_nothing { left_after } else { resident_before };
        // One repetition that cannot tell may be the one that was served from memory.
        let shares: Option<Vec<f64>> = used.iter().map(|rep| share(rep)).collect();
        let worst = if *asked == Cache::Warm { f64::min } else { f64::max };
        Self {
            asked: asked.clone(),
            resident: shares.and_then(|shares| shares.into_iter().reduce(worst)),
            method: method.to_owned(),
            is_user_space: method == USER_SPACE,
            server_is_local: context.server_is_local,
        }
    }

    /// Whether it is known at all what of it was resident.
    pub fn is_known(&self) -> bool {
        !self.server_is_local && self.resident.is_some()
    }
}
