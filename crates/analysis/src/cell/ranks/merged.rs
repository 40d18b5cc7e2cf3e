//! Epochs and checkpoints that several hosts made at the same time.

use std::collections::BTreeMap;

use record::{Checkpoint, CheckpointOutcome, Epoch, Rep};

/// One epoch of all: it begins with the first of them and is over with the last.
pub(super) fn epochs(of_ranks: &[&Rep]) -> Vec<Epoch> {
    let mut of_number: BTreeMap<u64, Vec<&Epoch>> = BTreeMap::new();
    for epoch in of_ranks.iter().flat_map(|rep| &rep.epochs) {
        of_number.entry(epoch.epoch).or_default().push(epoch);
    }
    let one = |(epoch, all): (u64, Vec<&Epoch>)| {
        let sum = |of: fn(&Epoch) -> u64| all.iter().map(|one| of(one)).fold(0, u64::saturating_add);
        let least = |of: fn(&Epoch) -> u64| all.iter().map(|one| of(one)).min().unwrap_or(0);
        // What one host does not know is not known of all.
        let known = |of: fn(&Epoch) -> Option<u64>| {
            all.iter().map(|one| of(one)).try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
        };
        Epoch {
            epoch,
            begun_ns: least(|one| one.begun_ns),
            first_ns: least(|one| one.first_ns),
            first_batch_ns: all.iter().filter_map(|one| one.first_batch_ns).max(),
            ended_ns: all.iter().map(|one| one.ended_ns).max().unwrap_or(0),
            ops: sum(|one| one.ops),
            bytes: sum(|one| one.bytes),
            storage_bytes: known(|one| one.storage_bytes),
            tier_bytes: known(|one| one.tier_bytes),
            // An epoch that a host did not come to read a part of the data.
            complete: all.len() == of_ranks.len() && all.iter().all(|one| one.complete),
        }
    };
    of_number.into_iter().map(one).collect()
}

/// One checkpoint of all, by the step after which it was due: as slow as the slowest, and whole where each part is.
pub(super) fn checkpoints(of_ranks: &[&Rep]) -> Vec<Checkpoint> {
    let mut of_step: BTreeMap<u64, Vec<&Checkpoint>> = BTreeMap::new();
    for one in of_ranks.iter().flat_map(|rep| &rep.checkpoints) {
        of_step.entry(one.step).or_default().push(one);
    }
    let one = |(step, all): (u64, Vec<&Checkpoint>)| {
        let most = |of: fn(&Checkpoint) -> u64| all.iter().map(|one| of(one)).max().unwrap_or(0);
        let least = |of: fn(&Checkpoint) -> u64| all.iter().map(|one| of(one)).min().unwrap_or(0);
        Checkpoint {
            step,
            due_ns: least(|one| one.due_ns),
            begun_ns: least(|one| one.begun_ns),
            stall_ns: most(|one| one.stall_ns),
            write_ns: most(|one| one.write_ns),
            publish_ns: most(|one| one.publish_ns),
            bytes: all.iter().map(|one| one.bytes).fold(0, u64::saturating_add),
            outcome: outcome(&all, of_ranks.len()),
        }
    };
    of_step.into_iter().map(one).collect()
}

/// The gravest of all; one that a host did not come to is not finished.
fn outcome(all: &[&Checkpoint], ranks: usize) -> CheckpointOutcome {
    // A checkpoint is restored from all its parts: one that failed on one host is no checkpoint.
    let gravity = |outcome: &CheckpointOutcome| match outcome {
        CheckpointOutcome::Complete => 0,
        CheckpointOutcome::Unfinished => 1,
        CheckpointOutcome::Overrun => 2,
        CheckpointOutcome::Failed { .. } => 3,
    };
    let missing = (all.len() < ranks).then_some(CheckpointOutcome::Unfinished);
    let outcomes = all.iter().map(|one| one.outcome.clone()).chain(missing);
    outcomes.max_by_key(gravity).unwrap_or(CheckpointOutcome::Unfinished)
}
