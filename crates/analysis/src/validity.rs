//! When a number may lie: what is checked, what it forbids, and what to do about it.

use std::fmt;

use record::{Ceiling, Cell, Measure, Outcome, Rep, counter};

use crate::repetitions::{Repetitions, by_kind, counted, errors};

/// Share of the null ceiling above which the client, not the storage, is being measured.
const CEILING_SHARE_MAX: f64 = 0.70;
/// Share of the processor time this process may use, from which on the client is the limit.
const CPU_SHARE_MAX: f64 = 0.85;
/// Share of the dataset that may be resident before a cold repetition.
const COLD_RESIDENT_MAX: f64 = 0.01;
/// Share of the dataset that must be resident before a warm repetition.
const WARM_RESIDENT_MIN: f64 = 0.99;
/// Share of the planned window below which a repetition is too short.
const WINDOW_SHARE_MIN: f64 = 0.20;
/// A window shorter than this is too short whatever was planned, nanoseconds.
const WINDOW_NS_MIN: u64 = 100_000_000;
/// Share of failed reads above which no verdict is given.
const ERROR_SHARE_MAX: f64 = 0.01;
/// Share of processor time taken by the hypervisor above which it is said.
const STEAL_SHARE_MAX: f64 = 0.05;

/// What a flag forbids a verdict to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// Said beside the figure; the verdict stands.
    Informs,
    /// The storage may do more than was measured: STARVES cannot be said.
    ForbidsStarves,
    /// What was measured leaves out the bad part: FEEDS cannot be said.
    ForbidsFeeds,
    /// The figure is not what it is called: neither can be said.
    ForbidsVerdict,
}

/// A reason to doubt the figures of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Flag {
    /// Too near to what this client can do without storage, or out of processor time.
    ClientLimited {
        /// Share of the null ceiling, 0 to 1, when above its limit.
        ceiling_share: Option<f64>,
        /// Share of usable processor time, 0 to 1, when above its limit.
        cpu_share: Option<f64>,
    },
    /// A cold cell that was not cold, or not proven so.
    NotCold {
        /// Largest share of the dataset resident before a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// A warm cell that was not warm, or not proven so.
    NotWarm {
        /// Smallest share of the dataset resident before a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// Windows too short to stand for anything.
    TooShort {
        /// How many repetitions.
        repetitions: u32,
        /// The shortest window.
        window_ns: u64,
    },
    /// The files were no longer the same after the run.
    DatasetChanged,
    /// Reads that failed.
    Errors {
        /// How many.
        failed: u64,
        /// Share of all reads, 0 to 1.
        share: f64,
        /// `12 io, 3 timeout`.
        kinds: String,
    },
    /// Repetitions that failed as a whole.
    FailedRepetitions {
        /// How many.
        failed: u32,
        /// Of how many.
        made: u32,
        /// Why the first of them did.
        reason: String,
    },
    /// Repetitions that were planned and are not in the figures.
    Missing {
        /// How many.
        repetitions: u32,
        /// Why.
        reason: String,
    },
    /// Processor time went to other machines on the same host.
    Stolen {
        /// Share of usable processor time, 0 to 1.
        share: f64,
    },
    /// Reads that had not come back when a repetition was closed.
    Abandoned {
        /// How many.
        reads: u64,
    },
    /// The dataset was read once before the planned window was over.
    Exhausted {
        /// How many repetitions.
        repetitions: u32,
    },
    /// Latencies beyond the histogram's range.
    Clamped {
        /// How many.
        reads: u64,
    },
    /// Latency histograms that could not be read.
    NoHistogram {
        /// How many repetitions.
        repetitions: u32,
    },
    /// Another engine was asked for.
    StandsIn {
        /// Which, and why it is not there.
        asked: String,
    },
}

impl Flag {
    /// What this flag forbids.
    pub fn gravity(&self) -> Gravity {
        match self {
            Self::ClientLimited { .. } => Gravity::ForbidsStarves,
            Self::FailedRepetitions { .. } => Gravity::ForbidsFeeds,
            Self::NotCold { .. } | Self::NotWarm { .. } | Self::TooShort { .. } | Self::DatasetChanged => {
                Gravity::ForbidsVerdict
            }
            Self::Errors { share, .. } if *share > ERROR_SHARE_MAX => Gravity::ForbidsVerdict,
            _ => Gravity::Informs,
        }
    }

    /// Whether this is the client's own limit.
    pub fn is_client_limit(&self) -> bool {
        matches!(self, Self::ClientLimited { .. })
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::ClientLimited { ceiling_share: None, .. } => {
                "give the client more processors, larger blocks or fewer threads"
            }
            Self::ClientLimited { .. } => "use larger blocks, more threads or more processors",
            Self::NotCold { resident: None } => {
                "use load.cache = \"bypass\", or a file system whose residency the kernel reports"
            }
            Self::NotCold { .. } => "stop what else reads these files, or use load.cache = \"bypass\"",
            Self::NotWarm { .. } => "use a dataset that fits into memory, or load.cache = \"bypass\"",
            Self::TooShort { .. } => "use a longer measure.duration, or a larger dataset for a cold cell",
            Self::DatasetChanged => "leave the files alone during a run, and run again",
            Self::Errors { .. } => "look for the first error in cells.jsonl and in the kernel's log",
            Self::FailedRepetitions { .. } => "remove the cause and run again",
            Self::Missing { .. } => "raise measure.budget or run fewer cells",
            Self::Stolen { .. } => "measure on a machine whose processors are not shared",
            Self::Abandoned { .. } => "the storage stalled at the end; look at the tail of the latencies",
            Self::Exhausted { .. } => "use a larger dataset for a full window",
            Self::Clamped { .. } => "reads took longer than 60 s; p99.9 is a lower bound",
            Self::NoHistogram { .. } => "latencies are of the other repetitions alone",
            Self::StandsIn { .. } => "see the reason; compare it with no figure of the engine asked for",
        }
    }
}

impl fmt::Display for Flag {
    /// Short, for the end of a table row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientLimited { ceiling_share, cpu_share } => write_client(f, *ceiling_share, *cpu_share),
            Self::NotCold { resident: Some(share) } => write!(f, "not cold: {} resident", percent(*share)),
            Self::NotCold { resident: None } => f.write_str("cold not proven"),
            Self::NotWarm { resident: Some(share) } => write!(f, "not warm: {} resident", percent(*share)),
            Self::NotWarm { resident: None } => f.write_str("warm not proven"),
            Self::TooShort { window_ns, .. } => {
                write!(f, "window of {} is too short", feed::format_duration_ns(*window_ns))
            }
            Self::DatasetChanged => f.write_str("the files changed during the run"),
            Self::Errors { share, kinds, .. } => write!(f, "{} errors: {kinds}", percent(*share)),
            Self::FailedRepetitions { failed, made, reason } => {
                write!(f, "{failed} of {made} repetitions failed: {reason}")
            }
            Self::Missing { repetitions, reason } => write!(f, "{repetitions} repetitions not run: {reason}"),
            Self::Stolen { share } => write!(f, "{} of CPU stolen", percent(*share)),
            Self::Abandoned { reads } => write!(f, "{} reads abandoned", feed::group_digits(*reads)),
            Self::Exhausted { .. } => f.write_str("dataset read once before the window ended"),
            Self::Clamped { reads } => write!(f, "{} latencies above 60 s", feed::group_digits(*reads)),
            Self::NoHistogram { repetitions } => write!(f, "latencies of {repetitions} repetitions missing"),
            Self::StandsIn { asked } => write!(f, "stands in for {asked}"),
        }
    }
}

fn write_client(f: &mut fmt::Formatter<'_>, ceiling: Option<f64>, cpu: Option<f64>) -> fmt::Result {
    f.write_str("CLIENT-LIMITED")?;
    if let Some(share) = ceiling {
        write!(f, ", {} of ceiling", percent(share))?;
    }
    if let Some(share) = cpu {
        write!(f, ", CPU {}", percent(share))?;
    }
    Ok(())
}

/// `97 %`, and one digit more below 10.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value < 0.05 {
        "under 0.1 %".to_owned()
    } else if value < 9.95 {
        format!("{value:.1} %")
    } else {
        format!("{value:.0} %")
    }
}

/// How busy the client was.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ClientShares {
    /// Of the null ceiling; absent without one.
    pub(crate) ceiling: Option<f64>,
    /// Of the processor time this process may use; absent when it was not taken.
    pub(crate) cpu: Option<f64>,
}

/// Share of the null ceiling: reads per second for direct reads, bytes per second where each read is copied.
///
/// Of several ceilings of one cell the lowest decides.
pub(crate) fn ceiling_share(cell: &str, ops_per_s: f64, bps: f64, ceilings: &[&Ceiling]) -> Option<f64> {
    ceilings
        .iter()
        .filter(|ceiling| ceiling.window_ns > 0 && ceiling.cells.iter().any(|name| name == cell))
        .map(|ceiling| {
            let (rate, count) = if ceiling.copies { (bps, ceiling.bytes) } else { (ops_per_s, ceiling.ops) };
            rate / (count as f64 / (ceiling.window_ns as f64 / 1e9))
        })
        .filter(|share| share.is_finite())
        .reduce(f64::max)
}

/// All flags of a cell's repetitions in one role, gravest first.
pub(crate) fn flags(
    cell: &Cell,
    storage: bool,
    reps: &Repetitions<'_>,
    client: ClientShares,
    measure: &Measure,
) -> Vec<Flag> {
    let used = reps.used.as_slice();
    let all: Vec<&Rep> = used.iter().chain(&reps.failed).copied().collect();
    let mut flags: Vec<Flag> = [
        client_limited(storage, client),
        cache(cell, storage, used),
        too_short(used, measure),
        read_errors(&all),
        failed_repetitions(reps),
        stolen(used),
        abandoned(&all),
        exhausted(used),
        clamped(used),
        cell.stands_in_for.clone().map(|asked| Flag::StandsIn { asked }),
    ]
    .into_iter()
    .flatten()
    .collect();
    flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
    flags
}

fn client_limited(storage: bool, client: ClientShares) -> Option<Flag> {
    let ceiling_share = client.ceiling.filter(|share| *share > CEILING_SHARE_MAX);
    let cpu_share = client.cpu.filter(|share| *share >= CPU_SHARE_MAX);
    // The null target is the client's limit by design.
    (storage && (ceiling_share.is_some() || cpu_share.is_some()))
        .then_some(Flag::ClientLimited { ceiling_share, cpu_share })
}

fn cache(cell: &Cell, storage: bool, used: &[&Rep]) -> Option<Flag> {
    // The null target has no bytes that a cache could hold.
    if !storage {
        return None;
    }
    let shares: Option<Vec<f64>> = used.iter().map(|rep| resident_before(rep)).collect();
    match cell.cache.as_str() {
        "cold" => {
            let resident = shares.and_then(|shares| shares.into_iter().reduce(f64::max));
            resident.is_none_or(|share| share > COLD_RESIDENT_MAX).then_some(Flag::NotCold { resident })
        }
        "warm" => {
            let resident = shares.and_then(|shares| shares.into_iter().reduce(f64::min));
            resident.is_none_or(|share| share < WARM_RESIDENT_MIN).then_some(Flag::NotWarm { resident })
        }
        _ => None,
    }
}

/// Share of the dataset resident before a repetition; `None` when nothing could tell.
pub(crate) fn resident_before(rep: &Rep) -> Option<f64> {
    let total = rep.cache.total_bytes;
    rep.cache.before_bytes.filter(|_| total > 0).map(|before| before as f64 / total as f64)
}

fn too_short(used: &[&Rep], measure: &Measure) -> Option<Flag> {
    let least = measure
        .duration_ns
        .map_or(0, |planned| (planned as f64 * WINDOW_SHARE_MIN) as u64)
        .max(WINDOW_NS_MIN);
    let short: Vec<u64> = used.iter().map(|rep| rep.window_ns).filter(|window| *window < least).collect();
    let window_ns = short.iter().copied().min()?;
    Some(Flag::TooShort { repetitions: short.len() as u32, window_ns })
}

fn read_errors(all: &[&Rep]) -> Option<Flag> {
    let failed: u64 = all.iter().map(|rep| errors(rep)).sum();
    let good: u64 = all.iter().map(|rep| counted(rep, counter::OPS)).sum();
    let mut kinds = std::collections::BTreeMap::new();
    for (kind, count) in all.iter().flat_map(|rep| &rep.errors) {
        *kinds.entry(kind.clone()).or_insert(0) += count;
    }
    (failed > 0).then(|| Flag::Errors {
        failed,
        share: failed as f64 / (failed + good) as f64,
        kinds: by_kind(&kinds),
    })
}

fn failed_repetitions(reps: &Repetitions<'_>) -> Option<Flag> {
    let reason = reps.reasons.first()?.clone();
    let failed = reps.failed.len() as u32;
    Some(Flag::FailedRepetitions { failed, made: failed + reps.used.len() as u32, reason })
}

fn stolen(used: &[&Rep]) -> Option<Flag> {
    let (mut steal, mut available) = (0.0, 0.0);
    for rep in used {
        if let Some(ns) = rep.usage.steal_ns {
            steal += ns as f64;
            available += available_ns(rep);
        }
    }
    let share = steal / available;
    (share.is_finite() && share > STEAL_SHARE_MAX).then_some(Flag::Stolen { share })
}

/// Processor time that this process could have had.
pub(crate) fn available_ns(rep: &Rep) -> f64 {
    rep.usage.wall_ns as f64 * f64::from(rep.usage.cores)
}

fn abandoned(all: &[&Rep]) -> Option<Flag> {
    let reads = all.iter().map(|rep| counted(rep, counter::ABANDONED)).sum();
    (reads > 0).then_some(Flag::Abandoned { reads })
}

fn exhausted(used: &[&Rep]) -> Option<Flag> {
    let repetitions = used.iter().filter(|rep| rep.outcome == Outcome::Exhausted).count() as u32;
    (repetitions > 0).then_some(Flag::Exhausted { repetitions })
}

fn clamped(used: &[&Rep]) -> Option<Flag> {
    let reads = used.iter().map(|rep| counted(rep, counter::CLAMPED)).sum();
    (reads > 0).then_some(Flag::Clamped { reads })
}

#[cfg(test)]
mod tests;
