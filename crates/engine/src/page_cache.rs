//! The page cache as a cell asks for it: set before a repetition or a copy, and proved after it.

use backend::{CacheAction, Residency, StoreError};
use plan::{Cache, Operation};
use record::CacheProof;

use crate::spec::RepSpec;

/// The page-cache residency before and after a repetition. If an object went missing meanwhile, the residency after it is
/// unknown, and what was counted stands.
pub(crate) fn proof(spec: &RepSpec<'_>, before: &Residency) -> CacheProof {
    let after = spec.store.cache(CacheAction::Inspect, spec.data.objects()).ok();
    CacheProof {
        method: before.method.to_owned(),
        total_bytes: before.total_bytes,
        before_bytes: before.resident_bytes,
        after_bytes: after.and_then(|after| after.resident_bytes),
        names_dropped: before.names_dropped,
    }
}

/// Sets the page cache as the cell asks, and returns what is resident then.
pub(crate) fn set_cache(spec: &RepSpec<'_>) -> Result<Residency, StoreError> {
    let act = |action| spec.store.cache(action, spec.data.objects());
    match (spec.cell.cache, spec.cell.operation()) {
        (Cache::Cold | Cache::ColdStart, Operation::Read | Operation::Restore) | (Cache::DontCache, _) => {
            act(CacheAction::Evict)
        }
        // What opens or looks by name is served by cached names and inodes as much as by pages.
        (Cache::Cold | Cache::ColdStart, _) => act(CacheAction::EvictNames),
        // What is written anew takes nothing of the pages of what was there before.
        (Cache::Warm, Operation::WriteFile) => act(CacheAction::Inspect),
        (Cache::Warm, operation) if operation.is_of_names() => act(CacheAction::WarmNames),
        (Cache::Warm, operation) => {
            // Made in one way, from an empty cache by reading in order: pages that came in by single faults
            // are smaller, and were measured to cost 1.9 times as much.
            act(CacheAction::Evict)?;
            let warm = act(CacheAction::Warm)?;
            if operation == Operation::ReadFile { act(CacheAction::WarmNames) } else { Ok(warm) }
        }
        (Cache::Bypass, _) => {
            // Pages that are resident afterwards show that direct reads were served through the cache, but
            // only if none was there before.
            let found = act(CacheAction::Inspect)?;
            if found.resident_bytes == Some(0) { Ok(found) } else { act(CacheAction::Evict) }
        }
    }
}
