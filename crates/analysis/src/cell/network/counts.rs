//! What repetitions counted of the way to a storage.

use std::collections::BTreeMap;

use record::{Cell, Rep, counter};

use crate::cell::counters::sum;

/// Failed attempts by kind.
pub(super) fn attempt_errors(used: &[&Rep]) -> BTreeMap<String, u64> {
    with_prefix(used, counter::ATTEMPT_ERRORS)
}

pub(super) fn addresses(used: &[&Rep]) -> Vec<(String, u64)> {
    let addresses = with_prefix(used, counter::MESSAGES_TO);
    // One address has all messages by definition.
    if addresses.len() < 2 { Vec::new() } else { addresses.into_iter().collect() }
}

/// Counters whose names begin alike, by what follows, added up.
fn with_prefix(used: &[&Rep], prefix: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in used.iter().flat_map(|rep| &rep.counters) {
        if let Some(rest) = name.strip_prefix(prefix) {
            *sums.entry(rest.to_owned()).or_insert(0) += count;
        }
    }
    sums
}

/// Whether the storage of `cell` is behind a network as far as the record knows.
pub(super) fn is_remote(cell: &Cell, used: &[&Rep]) -> bool {
    cell.connections > 0 || used.iter().any(|rep| rep.system.nfs_mount.is_some())
}

/// The busiest processor of each repetition, which need not be the same in all, by the time of them all.
pub(super) fn busiest_core(used: &[&Rep]) -> Option<f64> {
    // The maximum of each, then the mean: the kernel moves interrupts from processor to processor between repetitions, and a
    // mean first would hide that one was always full.
    let busiest = |rep: &&Rep| Some((*rep.system.core_busy_ns.iter().max()?, rep.usage.wall_ns));
    let known: Vec<(u64, u64)> = used.iter().filter_map(busiest).collect();
    let total = |of: fn(&(u64, u64)) -> u64| known.iter().map(of).fold(0, u64::saturating_add);
    let (busy_ns, wall_ns) = (total(|one| one.0), total(|one| one.1));
    (wall_ns > 0).then(|| busy_ns as f64 / wall_ns as f64)
}

/// Throttled attempts among all, 0 to 1.
pub(super) fn throttled_share(used: &[&Rep]) -> f64 {
    let failed: u64 = used.iter().filter_map(|rep| rep.errors.get("throttled")).sum();
    // Attempts where they are counted: a refusal that a second attempt made good is none of the failed operations.
    let attempts = sum(used, counter::ATTEMPTS);
    if attempts > 0 {
        let throttled = attempt_errors(used).get("throttled").copied().unwrap_or(0);
        return throttled as f64 / attempts as f64;
    }
    let errors: u64 = used.iter().flat_map(|rep| rep.errors.values()).sum();
    let all = sum(used, counter::OPS) + errors;
    if all > 0 { failed as f64 / all as f64 } else { 0.0 }
}
