//! What a repetition counted, and what several did together.

use record::{Checkpoint, CheckpointOutcome, Rep};

/// A counter, zero when it was not written.
pub(crate) fn counted(rep: &Rep, name: &str) -> u64 {
    // Counters that stayed zero are not written, and older records know fewer of them: absent is zero.
    rep.counters.get(name).copied().unwrap_or(0)
}

/// Failed operations of all kinds.
pub(crate) fn errors(rep: &Rep) -> u64 {
    rep.errors.values().sum()
}

/// Why each save that failed did.
pub(crate) fn failed_saves(reps: &[&Rep]) -> Vec<String> {
    let reason = |one: &Checkpoint| match &one.outcome {
        CheckpointOutcome::Failed { reason } => Some(reason.clone()),
        _ => None,
    };
    reps.iter().flat_map(|rep| &rep.checkpoints).filter_map(reason).collect()
}

pub(crate) fn per_s(rep: &Rep, name: &str) -> f64 {
    counted(rep, name) as f64 / (rep.window_ns as f64 / 1e9)
}

pub(crate) fn sum(used: &[&Rep], name: &str) -> u64 {
    used.iter().map(|rep| counted(rep, name)).fold(0, u64::saturating_add)
}

pub(crate) fn cpu_ns(used: &[&Rep]) -> f64 {
    used.iter().map(|rep| (rep.usage.cpu_user_ns + rep.usage.cpu_system_ns) as f64).sum()
}
