//! Why the accelerators of a training job waited.
//!
//! The engine splits every wait by what its batch was spent on; the largest part is the cause where it is most of the
//! stall. What the storage took is split further, by its phases, its refusals and the closed-loop cells beside the job.

pub(crate) mod case;
mod storage;
pub(crate) mod symptom;
#[cfg(test)]
mod tests;

use feed::Cache;

use crate::cell::flag::Flag;
use crate::cell::training::Stall;
use crate::cell::training::bound::Bound;
use crate::cell::training::predicted::STATED_COST;
use crate::cell::validity::NULL_AU_MIN;

use case::Case;
use symptom::{Decoder, Diagnosis, Remedy, Symptom, WaitedFor};

// Of the rest nothing is worth a change: half a percent is a step in two hundred.
/// Utilization from which on nothing is looked for.
const BUSY_MIN: f64 = 0.995;
// Clearly more than half, so that the parts of a stall split by two causes, and by the noise of a repetition, do not take turns
// at being the cause.
/// Share of the stall from which on one part is its cause.
const CAUSE_MIN: f64 = 0.60;
// Below it removing the part entirely would not be seen beside the others.
/// Share of the stall from which on a part of a mixed one is named.
const PART_MIN: f64 = 0.15;

/// The cause; `None` where accelerators hardly waited, or nothing says why they did.
pub(crate) fn of(case: &Case<'_>) -> Option<Diagnosis> {
    if case.trained.au.mean >= BUSY_MIN {
        return None;
    }
    // In this order, since each rule takes what is left by those before: checkpoints and the barrier are no waits of a reader,
    // a slow loop is slow with any storage, and a fill is over before the long run begins.
    let found = checkpoints(case)
        .or_else(|| barrier(case))
        .or_else(|| without_storage(case))
        .or_else(|| first_fill(case))
        .or_else(|| dominant(case))
        .or_else(|| mixed(case))?;
    let mut found = beside_others(case, found);
    found.symptoms.extend(from_memory(case, found.bound));
    found.symptoms.extend((case.cell.cell.cache == Cache::Warm).then_some(Symptom::Warm));
    Some(found)
}

fn stall(case: &Case<'_>) -> f64 {
    1.0 - case.trained.au.mean
}

/// What accelerators waited for themselves.
fn waited(stall: Stall) -> f64 {
    stall.storage + stall.decode + stall.client + stall.startup
}

/// The parts of what accelerators waited for themselves, largest first, as shares of it.
fn parts(stall: Stall) -> Vec<(WaitedFor, f64)> {
    let total = waited(stall);
    let mut parts = vec![
        (WaitedFor::Storage, stall.storage / total),
        (WaitedFor::Decoding, stall.decode / total),
        (WaitedFor::Client, stall.client / total),
        (WaitedFor::Startup, stall.startup / total),
    ];
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

/// What reads have no part in, where it is most of the stall.
fn checkpoints(case: &Case<'_>) -> Option<Diagnosis> {
    let of_time = case.trained.stall.checkpoint;
    let of_stall = of_time / stall(case);
    let symptoms = vec![Symptom::Checkpoints { of_stall: of_stall.min(1.0), of_time }];
    (of_stall >= CAUSE_MIN).then(|| Diagnosis::new(Bound::Checkpoint, symptoms, Remedy::Checkpoints))
}

/// Waiting for others is a cause where it is most of the stall; else it follows from what those wait for.
fn barrier(case: &Case<'_>) -> Option<Diagnosis> {
    let of_time = case.trained.stall.barrier;
    let of_stall = of_time / stall(case);
    let worst = Symptom::Worst { worst_au: case.trained.worst_au, mean_au: case.trained.au.mean };
    let symptoms = vec![Symptom::Barrier { of_stall, of_time }, worst];
    (of_stall >= CAUSE_MIN).then(|| Diagnosis::new(Bound::Barrier, symptoms, Remedy::EvenBatches))
}

/// The loop itself, where it is as slow without storage.
fn without_storage(case: &Case<'_>) -> Option<Diagnosis> {
    let null_au = case.trained.null_au?;
    let of_stall = (1.0 - null_au) / stall(case);
    let symptoms = vec![Symptom::SlowFromMemory { null_au, of_stall: of_stall.min(1.0) }];
    let is_cause = null_au < NULL_AU_MIN && of_stall >= CAUSE_MIN;
    is_cause.then(|| Diagnosis::new(Bound::Client, symptoms, Remedy::Client))
}

/// A job of epochs so short that filling them is most of its stall is bound by that, whatever it waits for in the long
/// run.
fn first_fill(case: &Case<'_>) -> Option<Diagnosis> {
    let trained = case.trained;
    let of_stall = trained.fill / stall(case);
    let is_storage = parts(trained.stall).first().is_some_and(|part| part.0 == WaitedFor::Storage);
    let symptoms =
        vec![Symptom::Fills { first_batch_ns: trained.first_batch_ns, of_stall: of_stall.min(1.0) }];
    let is_cause = is_storage && of_stall >= CAUSE_MIN;
    is_cause.then(|| Diagnosis::new(Bound::FirstFill, symptoms, Remedy::LongerJob))
}

/// Where others held the processors, what looks like the client's own is theirs, and whatever else was found is doubtful.
fn beside_others(case: &Case<'_>, mut found: Diagnosis) -> Diagnosis {
    let Some(crowd) = case.figures.flags.iter().find(|flag| flag.is_crowd()) else { return found };
    let shown = Symptom::Flagged(crowd.clone());
    // A full client has it as its first symptom already.
    found.symptoms.retain(|known| *known != shown);
    found.symptoms.insert(0, shown);
    if found.bound == Bound::Client {
        Diagnosis::new(Bound::Others, found.symptoms, Remedy::OfFlag(crowd.clone()))
    } else {
        found
    }
}

/// The part that is most of what accelerators waited for.
fn dominant(case: &Case<'_>) -> Option<Diagnosis> {
    let (part, share) = parts(case.trained.stall).into_iter().next().filter(|part| part.1 >= CAUSE_MIN)?;
    let mut found = match part {
        // The engine sees a read that has not come back, not why: a client without processor time leaves completions lying,
        // which looks like storage.
        WaitedFor::Storage => client_full(case).or_else(|| storage::refined(case))?,
        WaitedFor::Decoding => {
            Diagnosis::new(Bound::Decode, decoding(case).into_iter().collect(), Remedy::Decoding)
        }
        WaitedFor::Startup => {
            let symptoms = vec![Symptom::Startup { ns: case.job.startup_ns }];
            Diagnosis::new(Bound::Startup, symptoms, Remedy::Startup)
        }
        WaitedFor::Client => Diagnosis::new(Bound::Client, of_client(case), Remedy::Client),
    };
    let of_time = share * waited(case.trained.stall);
    found.symptoms.insert(0, Symptom::Mostly { part, of_waited: share, of_time });
    Some(found)
}

/// No part is most of it: those that count, and what the storage's is.
fn mixed(case: &Case<'_>) -> Option<Diagnosis> {
    let mut parts = parts(case.trained.stall);
    let (largest, share) = *parts.first().filter(|part| part.1.is_finite())?;
    // One cause that nothing could refine is not several.
    if share >= CAUSE_MIN {
        return None;
    }
    parts.retain(|part| part.1 >= PART_MIN);
    let mut symptoms = vec![Symptom::Several { parts }];
    let mut remedy = match largest {
        WaitedFor::Decoding => Remedy::Decoding,
        WaitedFor::Startup => Remedy::Startup,
        WaitedFor::Storage | WaitedFor::Client => Remedy::Client,
    };
    if let Some(storage) = storage::refined(case).filter(|_| case.trained.stall.storage > 0.0) {
        symptoms.push(Symptom::StoragePart(storage.bound));
        symptoms.extend(storage.symptoms);
        if largest == WaitedFor::Storage {
            remedy = storage.remedy;
        }
    }
    Some(Diagnosis::new(Bound::Mixed, symptoms, remedy))
}

/// A client that has nothing left lets every read look slow.
fn client_full(case: &Case<'_>) -> Option<Diagnosis> {
    let flag = case.figures.flags.iter().find(|flag| match flag {
        Flag::ClientLimited { cpu_share, nic_share, core_share, .. } => {
            [cpu_share, nic_share, core_share].iter().any(|share| share.is_some())
        }
        Flag::Waited { .. } => true,
        _ => false,
    })?;
    let symptoms = vec![Symptom::Flagged(flag.clone())];
    Some(Diagnosis::new(Bound::Client, symptoms, Remedy::OfFlag(flag.clone())))
}

fn decoding(case: &Case<'_>) -> Option<Symptom> {
    let work = case.job.decode.clone()?;
    let by = match (case.job.decode_threads, case.job.readers) {
        (Some(threads), _) => Some(Decoder::Threads(threads)),
        (None, Some(_)) => Some(Decoder::Reader),
        (None, None) => None,
    };
    let cost_ns = case.job.decode_cost_ns.filter(|_| work == STATED_COST);
    Some(Symptom::Decoding { work, cost_ns, by })
}

fn of_client(case: &Case<'_>) -> Vec<Symptom> {
    let lag = case.trained.lag_p99_ns.map(|p99_ns| Symptom::Lag { p99_ns });
    let cpu = case.figures.cpu_share.map(|share| Symptom::CpuUsed { share });
    lag.into_iter().chain(cpu).collect()
}

/// The practitioners' test with synthetic data.
fn from_memory(case: &Case<'_>, bound: Bound) -> Option<Symptom> {
    // What practitioners do first: replace the loader's data by noise from memory, and see whether the job runs.
    let null_au = case.trained.null_au.filter(|au| *au >= NULL_AU_MIN)?;
    let storage = [Bound::Latency, Bound::Rate, Bound::Bandwidth, Bound::Metadata];
    storage.contains(&bound).then_some(Symptom::FastFromMemory { null_au })
}
