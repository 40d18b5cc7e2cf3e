//! What of the storage is waited for: its refusals, its names, its bytes, its requests or its latency.

use feed::formula;

use super::case::Case;
use super::symptom::{Diagnosis, LittlesLaw, LoopPair, Remedy, Symptom};
use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::flag::Flag;
use crate::cell::training::bound::Bound;
use crate::cell::training::figures::demand_samples_per_s;

// S3's 503 SlowDown and NFS's JUKEBOX are the storage saying itself that requests are too many: a hundredth refused holds up
// many more, as each waits for a back-off.
/// Share of attempts that were told to come back later from which on requests are what is scarce.
const THROTTLED_MIN: f64 = 0.01;
// As for a cause in general; where reading is 40 % of a file's time, halving the rest by larger files helps less than it looks.
/// Share of a file's time that names and attributes take from which on they are the cause.
const METADATA_MIN: f64 = 0.60;
// Four times the depth brings four times as much from latency alone. A tenth is within the scatter of two cells that were
// measured next to each other.
/// What four times the depth adds in a closed loop, below which it adds nothing.
const FLAT_GAIN_MAX: f64 = 0.10;
// The loop reads all the time, the job stops between epochs and for its steps: it never has quite all.
/// What the job moves by the most that a closed loop moves in the same way, from which on it has all there is.
const ALL_MIN: f64 = 0.85;
// Where bytes are scarce larger reads move as many; twice as many leave no doubt that requests were the limit.
/// Bytes per second of larger reads by those of the job's own, from which on bytes are not what is scarce.
const LARGER_MIN: f64 = 2.0;
// Readers are between two reads for a part of the time, in which they put a batch together.
/// Share of the depth in flight from which on every reader has something to read.
const FULL_MIN: f64 = 0.80;

/// Phases that move no bytes.
const METADATA_PHASES: [&str; 4] = ["open", "stat", "lookup", "close"];

/// The first rule that holds; `None` where the record says nothing.
pub(super) fn refined(case: &Case<'_>) -> Option<Diagnosis> {
    // A refusal is said by the storage, phases are measured; what two cells in closed loops suggest comes after both.
    throttled(case)
        .or_else(|| metadata(case))
        .or_else(|| rate(case))
        .or_else(|| bandwidth(case))
        .or_else(|| latency(case))
}

fn throttled(case: &Case<'_>) -> Option<Diagnosis> {
    let share = case.figures.flags.iter().find_map(|flag| match flag {
        Flag::Throttled { share, .. } => Some(*share),
        _ => None,
    })?;
    let symptoms = vec![Symptom::Refused { share, ops_per_s: case.figures.ops_per_s }];
    (share >= THROTTLED_MIN).then(|| Diagnosis::new(Bound::Rate, symptoms, Remedy::FewerRefusals))
}

fn metadata(case: &Case<'_>) -> Option<Diagnosis> {
    let phases = case.figures.phases.iter().filter(|phase| METADATA_PHASES.contains(&phase.name));
    let phases: Vec<(&'static str, f64)> = phases.map(|phase| (phase.name, phase.share)).collect();
    let share: f64 = phases.iter().map(|phase| phase.1).sum();
    let symptoms = vec![Symptom::NoBytes { share, phases }];
    (share >= METADATA_MIN).then(|| Diagnosis::new(Bound::Metadata, symptoms, Remedy::FewerFiles))
}

/// Closed loops at the depth of the job and at four times that, or more.
struct Pair<'a> {
    same: (&'a CellSummary, &'a Figures),
    deeper: (&'a CellSummary, &'a Figures),
    /// What the job moves, which its depth gives too.
    job_bps: f64,
}

impl<'a> Pair<'a> {
    /// Not where the client is the limit of either: what it does not move, storage might.
    fn of(case: &Case<'a>) -> Option<Self> {
        let with_figures = |cell: &'a CellSummary| {
            Some((cell, cell.figures().filter(|figures| !figures.is_client_limited())?))
        };
        let (same, deeper) = (with_figures(case.same?)?, with_figures(case.deeper?)?);
        Some(Self { same, deeper, job_bps: case.figures.bps.mean })
    }

    /// What the deeper one moves beyond what the depth of the job was seen to give, 0 where it moves the same.
    fn gain(&self) -> f64 {
        // One repetition of the shallow loop may have been slow. The job itself moved as much at that depth, which is a second
        // witness.
        self.deeper.1.bps.mean / self.same.1.bps.mean.max(self.job_bps) - 1.0
    }

    /// Samples per second of the faster loop by what the job is to have; absent where that is not known.
    fn of_target(&self, case: &Case<'_>) -> Option<f64> {
        let best = self.deeper.1.samples_per_s.mean.max(self.same.1.samples_per_s.mean);
        Some(best / target_samples_per_s(case)?)
    }

    fn best_bps(&self) -> f64 {
        self.deeper.1.bps.mean.max(self.same.1.bps.mean)
    }

    fn symptom(&self) -> Symptom {
        Symptom::Loops(LoopPair {
            deeper_depth: self.deeper.0.cell.queue_depth,
            deeper_bps: self.deeper.1.bps.mean,
            depth: self.same.0.cell.queue_depth,
            bps: self.same.1.bps.mean,
        })
    }
}

/// Four times the depth makes no more requests, and larger reads of the same storage move far more bytes.
fn rate(case: &Case<'_>) -> Option<Diagnosis> {
    let pair = Pair::of(case).filter(|pair| pair.gain() < FLAT_GAIN_MAX)?;
    let (other, figures) = case.other_size?;
    let times = figures.bps.mean / pair.best_bps();
    let ops_per_s = pair.deeper.1.ops_per_s.max(pair.same.1.ops_per_s);
    let larger = Symptom::LargerReads { ops_per_s, cell: other.cell.cell.clone(), times };
    let symptoms = vec![pair.symptom(), larger];
    (times >= LARGER_MIN).then(|| Diagnosis::new(Bound::Rate, symptoms, Remedy::FewerRequests))
}

/// Four times the depth moves no more bytes, and the job moves nearly as many, or they are too few for it.
fn bandwidth(case: &Case<'_>) -> Option<Diagnosis> {
    let pair = Pair::of(case).filter(|pair| pair.gain() < FLAT_GAIN_MAX)?;
    let bps = case.figures.bps.mean;
    let of_most = bps / pair.best_bps();
    let mut symptoms = vec![pair.symptom(), Symptom::JobMoves { bps, of_most }];
    let bound = |symptoms, with_prefetch| {
        Some(Diagnosis::new(Bound::Bandwidth, symptoms, Remedy::MoreBandwidth { with_prefetch }))
    };
    if of_most >= ALL_MIN {
        return bound(symptoms, false);
    }
    // Where all readers are busy, something else holds their reads up.
    let is_idle = littles_law(case).is_some_and(|little| waits_for_batches(case, &little));
    let of_target = pair.of_target(case).filter(|share| is_idle && *share < 1.0)?;
    symptoms.push(Symptom::MostIsShort { of_target });
    bound(symptoms, true)
}

/// Where the storage has more to give, or where nothing but Little's law is known and all readers are busy.
fn latency(case: &Case<'_>) -> Option<Diagnosis> {
    let pair = Pair::of(case);
    let little = littles_law(case);
    // Without a deeper loop nobody knows whether more would help; readers that are all busy at least explain the rate.
    let is_told = pair.is_some() || little.as_ref().is_some_and(|little| little.full() >= FULL_MIN);
    if !is_told {
        return None;
    }
    let loops = pair.as_ref().map_or(Symptom::DeeperNotMeasured, Pair::symptom);
    let symptoms = little.map(Symptom::InFlight).into_iter().chain([loops]).collect();
    Some(Diagnosis::new(Bound::Latency, symptoms, remedy(case, pair.as_ref(), little)))
}

/// What the job is to have.
fn target_samples_per_s(case: &Case<'_>) -> Option<f64> {
    Some(demand_samples_per_s(case.job)? * case.job.threshold)
}

/// `None` where the latency of the job's reads, or what it is to have, is not known.
fn littles_law(case: &Case<'_>) -> Option<LittlesLaw> {
    let figures = case.figures;
    let latency_ns = figures.latency.mean_ns.filter(|ns| *ns > 0.0)?;
    let latency_s = latency_ns / 1e9;
    // A sample of several blocks takes several reads, one of many in a block takes a part of one.
    let reads_per_sample = case.cell.sample_bytes? * figures.ops as f64 / figures.bytes.max(1) as f64;
    let needed_ops_per_s = formula::device_reads_per_s(target_samples_per_s(case)?, reads_per_sample);
    let little = LittlesLaw {
        depth: f64::from(case.cell.cell.queue_depth.max(1)),
        latency_ns,
        in_flight: formula::in_flight(figures.ops_per_s, latency_s),
        ops_per_s: figures.ops_per_s,
        target_au: case.job.threshold,
        needed_ops_per_s,
        needed: formula::in_flight(needed_ops_per_s, latency_s),
        reading: reading(case),
    };
    (little.in_flight.is_finite() && little.needed.is_finite()).then_some(little)
}

/// Share of its busy time in which a reader reads.
fn reading(case: &Case<'_>) -> f64 {
    let (storage, decode) = (case.trained.stall.storage, case.trained.stall.decode);
    let decodes = case.job.readers.is_some() && case.job.decode_threads.is_none();
    if decodes && storage > 0.0 { storage / (storage + decode) } else { 1.0 }
}

/// Whether readers stand still as they have no batch to fetch. Those that have several reads under way also do with a part of them, as
/// each batch ends.
fn waits_for_batches(case: &Case<'_>, little: &LittlesLaw) -> bool {
    little.full() < FULL_MIN && case.job.fetches == 1
}

fn remedy(case: &Case<'_>, pair: Option<&Pair<'_>>, little: Option<LittlesLaw>) -> Remedy {
    let Some(little) = little else { return Remedy::MoreInFlight };
    if waits_for_batches(case, &little) && little.times() <= 1.0 {
        return Remedy::DeeperPrefetch;
    }
    if little.full() >= FULL_MIN && pair.is_some_and(|pair| pair.gain() < FLAT_GAIN_MAX) {
        return Remedy::LookElsewhere;
    }
    // What a closed loop has shown at a depth is worth more than the arithmetic.
    let deepest = pair.map(|pair| (pair.deeper.0.cell.queue_depth, pair.deeper.1.samples_per_s.mean));
    if let Some(((depth, reached), target)) = deepest.zip(target_samples_per_s(case))
        && reached < target
        && little.needed <= f64::from(depth)
    {
        return Remedy::MoreButShort { depth, of_target: reached / target };
    }
    if little.times() <= 1.0 {
        return Remedy::ALittleMore;
    }
    let times = rounded_up(little.times());
    Remedy::Times {
        times,
        readers: case.job.readers.map(|readers| (f64::from(readers) * times).ceil()),
        depth: (little.depth * times).ceil(),
    }
}

/// `4`, `1.3`: less would not do, but for what a mean cannot tell.
fn rounded_up(times: f64) -> f64 {
    // The mean latency is known to some percent: 4.03 times is four.
    const UNSURE: f64 = 0.05;
    if times > 2.0 - UNSURE { (times - UNSURE).ceil() } else { (times * 10.0).ceil() / 10.0 }
}
