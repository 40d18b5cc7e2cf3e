//! Why the accelerators of a training job waited.
//!
//! The engine splits every wait by what its batch was spent on; the largest part is the cause where it is most of the
//! stall. What the storage took is split further, by its phases, its refusals and the closed-loop cells beside the job.

mod case;
mod storage;
#[cfg(test)]
mod tests;

pub(crate) use case::Case;
use case::Found;

use crate::cell::flag::{Flag, percent, utilization};
use crate::cell::training::{Bound, Diagnosis, Stall};
use crate::cell::validity::NULL_AU_MIN;

/// Utilization from which on nothing is looked for.
const BUSY_MIN: f64 = 0.995;
/// Share of the stall from which on one part is its cause.
const CAUSE_MIN: f64 = 0.60;
/// Share of the stall from which on a part of a mixed one is named.
const PART_MIN: f64 = 0.15;

/// The cause; `None` where accelerators hardly waited, or nothing says why they did.
pub(crate) fn of(case: &Case<'_>) -> Option<Diagnosis> {
    if case.trained.au.mean >= BUSY_MIN {
        return None;
    }
    let found = checkpoints(case)
        .or_else(|| barrier(case))
        .or_else(|| without_storage(case))
        .or_else(|| first_fill(case))
        .or_else(|| dominant(case))
        .or_else(|| mixed(case))?;
    let found = beside_others(case, found);
    let mut evidence = found.evidence;
    evidence.extend(from_memory(case, found.bound));
    evidence.extend(warm(case));
    Some(Diagnosis { bound: found.bound, evidence, advice: found.advice })
}

impl Diagnosis {
    /// `latency-bound: 4 times as much in flight would do`.
    pub fn words(&self) -> String {
        format!("{}: {}", self.bound.words(), self.advice)
    }
}

fn stall(case: &Case<'_>) -> f64 {
    1.0 - case.trained.au.mean
}

/// What accelerators waited for themselves.
fn waited(stall: Stall) -> f64 {
    stall.storage + stall.decode + stall.client + stall.startup
}

/// The parts of what accelerators waited for themselves, largest first.
fn parts(stall: Stall) -> Vec<(Bound, &'static str, f64)> {
    let total = waited(stall);
    let mut parts = vec![
        // A stand-in for whatever the storage turns out to be bound by.
        (Bound::Latency, "storage", stall.storage / total),
        (Bound::Decode, "decoding", stall.decode / total),
        (Bound::Client, "reads not yet issued", stall.client / total),
        (Bound::Startup, "readers to start", stall.startup / total),
    ];
    parts.sort_by(|a, b| b.2.total_cmp(&a.2));
    parts
}

/// What reads have no part in, where it is most of the stall.
fn checkpoints(case: &Case<'_>) -> Option<Found> {
    let share = case.trained.stall.checkpoint / stall(case);
    let evidence = vec![format!(
        "{} of the stall is standing still for checkpoints ({} of the time)",
        percent(share.min(1.0)),
        percent(case.trained.stall.checkpoint)
    )];
    let advice = "asynchronous checkpoints, fewer of them, or storage that takes them faster would do";
    (share >= CAUSE_MIN).then(|| Found::new(Bound::Checkpoint, evidence, advice))
}

/// Waiting for others is a cause where it is most of the stall; else it follows from what those wait for.
fn barrier(case: &Case<'_>) -> Option<Found> {
    let share = case.trained.stall.barrier / stall(case);
    let evidence = vec![
        format!(
            "{} of the stall is waiting for other accelerators at the barrier ({} of the time)",
            percent(share),
            percent(case.trained.stall.barrier)
        ),
        format!(
            "the worst accelerator reaches AU {}, the mean is {}",
            utilization(case.trained.worst_au),
            utilization(case.trained.au.mean)
        ),
    ];
    let advice = "batches that come at even times would do: look at the tail of the latencies";
    (share >= CAUSE_MIN).then(|| Found::new(Bound::Barrier, evidence, advice))
}

/// The loop itself, where it is as slow without storage.
fn without_storage(case: &Case<'_>) -> Option<Found> {
    let null_au = case.trained.null_au?;
    let share = (1.0 - null_au) / stall(case);
    let evidence = vec![format!(
        "with data from memory (null target) the same job reaches AU {}: {} of the stall needs no storage",
        utilization(null_au),
        percent(share.min(1.0))
    )];
    (null_au < NULL_AU_MIN && share >= CAUSE_MIN).then(|| Found::new(Bound::Client, evidence, CLIENT_ADVICE))
}

/// A job of epochs so short that filling them is most of its stall is bound by that, whatever it waits for in the long
/// run.
fn first_fill(case: &Case<'_>) -> Option<Found> {
    let trained = case.trained;
    let share = trained.fill / stall(case);
    let is_storage = parts(trained.stall).first().is_some_and(|part| part.1 == "storage");
    let evidence = vec![format!(
        "the first batch came after {}: {} of the stall is first batches of epochs, so that waiting in the long run is the \
         smaller part",
        feed::format_duration_ns(trained.first_batch_ns),
        percent(share.min(1.0))
    )];
    let advice = "a longer job, or longer epochs, would show what it does in the long run";
    (is_storage && share >= CAUSE_MIN).then(|| Found::new(Bound::FirstFill, evidence, advice))
}

/// Where others held the processors, what looks like the client's own is theirs, and whatever else was found is doubtful.
fn beside_others(case: &Case<'_>, mut found: Found) -> Found {
    let Some(crowd) = case.figures.flags.iter().find(|flag| flag.is_crowd()) else { return found };
    let words = crowd.to_string();
    found.evidence.retain(|known| *known != words);
    found.evidence.insert(0, words);
    if found.bound == Bound::Client {
        Found::new(Bound::Others, found.evidence, crowd.advice())
    } else {
        found
    }
}

const CLIENT_ADVICE: &str = "more processors, or fewer accelerators on this client";
const DECODE_ADVICE: &str = "faster decoding, or more readers or threads that decode";
const STARTUP_ADVICE: &str = "readers that persist over epochs, or longer epochs";

/// The part that is most of what accelerators waited for.
fn dominant(case: &Case<'_>) -> Option<Found> {
    let (bound, name, share) =
        parts(case.trained.stall).into_iter().next().filter(|part| part.2 >= CAUSE_MIN)?;
    let first = format!(
        "{} of what accelerators waited for is {name} ({} of the time)",
        percent(share),
        percent(share * waited(case.trained.stall))
    );
    let mut found = match bound {
        Bound::Latency => client_full(case).or_else(|| storage::refined(case))?,
        Bound::Decode => Found::new(bound, decode_evidence(case), DECODE_ADVICE),
        Bound::Startup => Found::new(bound, startup_evidence(case), STARTUP_ADVICE),
        _ => Found::new(bound, client_evidence(case), CLIENT_ADVICE),
    };
    found.evidence.insert(0, first);
    Some(found)
}

/// No part is most of it: those that count, and what the storage's is.
fn mixed(case: &Case<'_>) -> Option<Found> {
    let all = parts(case.trained.stall);
    let (largest, .., share) = *all.first().filter(|part| part.2.is_finite())?;
    // One cause that nothing could refine is not several.
    if share >= CAUSE_MIN {
        return None;
    }
    let named: Vec<String> = all
        .iter()
        .filter(|part| part.2 >= PART_MIN)
        .map(|(_, name, share)| format!("{name} ({})", percent(*share)))
        .collect();
    let mut evidence =
        vec![format!("no cause is most of what accelerators waited for: {}", named.join(", "))];
    let mut advice = match largest {
        Bound::Decode => DECODE_ADVICE.to_owned(),
        Bound::Startup => STARTUP_ADVICE.to_owned(),
        _ => CLIENT_ADVICE.to_owned(),
    };
    if let Some(storage) = storage::refined(case).filter(|_| case.trained.stall.storage > 0.0) {
        evidence.push(format!("the storage's part is {}", storage.bound.words()));
        evidence.extend(storage.evidence);
        if largest == Bound::Latency {
            advice = storage.advice;
        }
    }
    let advice = format!("{advice}; one cause alone removed leaves the others");
    Some(Found { bound: Bound::Mixed, evidence, advice })
}

/// A client that has nothing left lets every read look slow.
fn client_full(case: &Case<'_>) -> Option<Found> {
    let flag = case.figures.flags.iter().find(|flag| match flag {
        Flag::ClientLimited { cpu_share, nic_share, core_share, .. } => {
            [cpu_share, nic_share, core_share].iter().any(|share| share.is_some())
        }
        Flag::Waited { .. } => true,
        _ => false,
    })?;
    Some(Found::new(Bound::Client, vec![flag.to_string()], flag.advice()))
}

fn decode_evidence(case: &Case<'_>) -> Vec<String> {
    let how = match (case.job.decode.as_deref(), case.job.decode_cost_ns) {
        (Some("cost"), Some(ns)) => {
            format!("each sample takes {} to decode, as stated", feed::format_duration_ns(ns))
        }
        (Some(work), _) => format!("each sample is decoded ({work})"),
        (None, _) => return Vec::new(),
    };
    let who = match (case.job.decode_threads, case.job.readers) {
        (Some(threads), _) => format!(" by one of {}", feed::counted_noun(u64::from(threads), "thread")),
        (None, Some(_)) => " by the reader that has read it, before it reads the next".to_owned(),
        (None, None) => String::new(),
    };
    vec![format!("{how}{who}")]
}

fn startup_evidence(case: &Case<'_>) -> Vec<String> {
    let startup = feed::format_duration_ns(case.job.startup_ns);
    vec![format!("readers take {startup} to start before each epoch, and fetch nothing meanwhile")]
}

fn client_evidence(case: &Case<'_>) -> Vec<String> {
    let lag = case.trained.lag_p99_ns.map(|ns| {
        format!("the client noticed ends of steps up to {} late (p99)", feed::format_duration_ns(ns))
    });
    let cpu = case
        .figures
        .cpu_share
        .map(|share| format!("its threads used {} of their processors", percent(share)));
    lag.into_iter().chain(cpu).collect()
}

/// The practitioners' test with synthetic data.
fn from_memory(case: &Case<'_>, bound: Bound) -> Option<String> {
    let null_au = case.trained.null_au.filter(|au| *au >= NULL_AU_MIN)?;
    let storage = [Bound::Latency, Bound::Rate, Bound::Bandwidth, Bound::Metadata];
    storage.contains(&bound).then(|| {
        format!(
            "with data from memory (null target) the same job runs at {}: the storage, not the loop, is what it waits for",
            utilization(null_au)
        )
    })
}

fn warm(case: &Case<'_>) -> Option<String> {
    (case.cell.cell.cache == feed::Cache::Warm).then(|| {
        "its bytes came from this client's page cache (warm): no storage behind it was waited for".to_owned()
    })
}
