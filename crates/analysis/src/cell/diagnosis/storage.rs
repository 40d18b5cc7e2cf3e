//! What of the storage is waited for: its refusals, its names, its bytes, its requests or its latency.

use feed::formula;

use super::case::{Case, Found};
use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, percent};
use crate::cell::training::Bound;
use crate::cell::training::figures::demand_samples_per_s;
use crate::cell::training::predicted::is_closed;

/// Share of attempts that were told to come back later from which on requests are what is scarce.
const THROTTLED_MIN: f64 = 0.01;
/// Share of a file's time that names and attributes take from which on they are the cause.
const METADATA_MIN: f64 = 0.60;
/// What four times the depth adds in a closed loop, below which it adds nothing.
const FLAT_GAIN_MAX: f64 = 0.10;
/// What the job moves by the most that a closed loop moves in the same way, from which on it has all there is.
const ALL_MIN: f64 = 0.85;
/// Bytes per second of larger reads by those of the job's own, from which on bytes are not what is scarce.
const LARGER_MIN: f64 = 2.0;
/// Share of the depth in flight from which on every reader has something to read.
const FULL_MIN: f64 = 0.80;

/// Phases that move no bytes.
const METADATA_PHASES: [&str; 4] = ["open", "stat", "lookup", "close"];

/// The first rule that holds; `None` where the record says nothing.
pub(super) fn refined(case: &Case<'_>) -> Option<Found> {
    throttled(case)
        .or_else(|| metadata(case))
        .or_else(|| rate(case))
        .or_else(|| bandwidth(case))
        .or_else(|| latency(case))
}

fn throttled(case: &Case<'_>) -> Option<Found> {
    let share = case.figures.flags.iter().find_map(|flag| match flag {
        Flag::Throttled { share, .. } => Some(*share),
        _ => None,
    })?;
    let evidence = vec![format!(
        "{} of attempts were told to come back later (503 SlowDown, NFS3ERR_JUKEBOX), at {} reads/s",
        percent(share),
        feed::format_count(case.figures.ops_per_s)
    )];
    let advice = "more prefixes, a higher limit, or larger objects; more in flight is refused more often";
    (share >= THROTTLED_MIN).then(|| Found::new(Bound::Rate, evidence, advice))
}

fn metadata(case: &Case<'_>) -> Option<Found> {
    let phases = || case.figures.phases.iter().filter(|phase| METADATA_PHASES.contains(&phase.name));
    let share: f64 = phases().map(|phase| phase.share).sum();
    let each: Vec<String> =
        phases().map(|phase| format!("{} {}", phase.name, percent(phase.share))).collect();
    let evidence = vec![format!("{} of a file's time moves no bytes: {}", percent(share), each.join(", "))];
    let advice = "larger files or shards, each opened once for many samples";
    (share >= METADATA_MIN).then(|| Found::new(Bound::Metadata, evidence, advice))
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

    /// `a closed loop moves 1.21 GB/s at depth 256 and 1.19 GB/s at 64`.
    fn words(&self) -> String {
        format!(
            "a closed loop moves {} at depth {} and {} at {}",
            feed::format_bps(self.deeper.1.bps.mean),
            self.deeper.0.cell.queue_depth,
            feed::format_bps(self.same.1.bps.mean),
            self.same.0.cell.queue_depth
        )
    }
}

/// Four times the depth makes no more requests, and larger reads of the same storage move far more bytes.
fn rate(case: &Case<'_>) -> Option<Found> {
    let pair = Pair::of(case).filter(|pair| pair.gain() < FLAT_GAIN_MAX)?;
    let own = case.cell;
    let other_sizes = case.cells.iter().filter(|other| {
        is_closed(other)
            && other.cell.target == own.cell.target
            && other.cell.cache == own.cell.cache
            && (other.sample_bytes, other.cell.block_bytes) != (own.sample_bytes, own.cell.block_bytes)
    });
    let largest = other_sizes.filter_map(|other| Some((other, other.figures()?)));
    let (other, figures) = largest.max_by(|a, b| a.1.bps.mean.total_cmp(&b.1.bps.mean))?;
    let times = figures.bps.mean / pair.best_bps();
    let evidence = vec![
        pair.words(),
        format!(
            "that is {} reads/s, while {} moves {times:.1} times the bytes: requests are what is scarce",
            feed::format_count(pair.deeper.1.ops_per_s.max(pair.same.1.ops_per_s)),
            other.cell.cell
        ),
    ];
    let advice = "larger files or shards, or more prefixes; more in flight would not help";
    (times >= LARGER_MIN).then(|| Found::new(Bound::Rate, evidence, advice))
}

/// Four times the depth moves no more bytes, and the job moves nearly as many, or they are too few for it.
fn bandwidth(case: &Case<'_>) -> Option<Found> {
    let pair = Pair::of(case).filter(|pair| pair.gain() < FLAT_GAIN_MAX)?;
    let share = case.figures.bps.mean / pair.best_bps();
    let mut evidence = vec![
        pair.words(),
        format!("the job moves {}, {} of the most", feed::format_bps(case.figures.bps.mean), percent(share)),
    ];
    if share >= ALL_MIN {
        let advice = "more readers or a deeper prefetch would not help: more connections, faster storage or fewer bytes would";
        return Some(Found::new(Bound::Bandwidth, evidence, advice));
    }
    // Where all readers are busy, something else holds their reads up.
    let is_idle = Little::of(case).is_some_and(|little| little.full() < FULL_MIN);
    let of_target = pair.of_target(case).filter(|share| is_idle && *share < 1.0)?;
    evidence.push(format!("the most is {} of what the job is to have", percent(of_target)));
    let advice = "a deeper prefetch alone would not do: more connections, faster storage or fewer bytes are needed too";
    Some(Found::new(Bound::Bandwidth, evidence, advice))
}

/// Where the storage has more to give, or where nothing but Little's law is known and all readers are busy.
fn latency(case: &Case<'_>) -> Option<Found> {
    let pair = Pair::of(case);
    let little = Little::of(case);
    // Without a deeper loop nobody knows whether more would help; readers that are all busy at least explain the rate.
    let is_told = pair.is_some() || little.as_ref().is_some_and(|little| little.full() >= FULL_MIN);
    if !is_told {
        return None;
    }
    let mut evidence: Vec<String> = Vec::new();
    evidence.extend(little.as_ref().map(|little| little.words(case)));
    match &pair {
        Some(pair) => evidence.push(pair.words()),
        None => evidence.push("whether more in flight helps was not measured in a closed loop".to_owned()),
    }
    let advice = advice(case, pair.as_ref(), little.as_ref());
    Some(Found { bound: Bound::Latency, evidence, advice })
}

/// What the job is to have.
fn target_samples_per_s(case: &Case<'_>) -> Option<f64> {
    Some(demand_samples_per_s(case.job)? * case.job.threshold)
}

/// Reads in flight, and those that the target would take (F12).
struct Little {
    depth: f64,
    latency_ns: f64,
    in_flight: f64,
    /// At the utilization that the job is to reach.
    needed: f64,
    needed_ops_per_s: f64,
}

impl Little {
    fn of(case: &Case<'_>) -> Option<Self> {
        let figures = case.figures;
        let latency_ns = figures.latency.mean_ns.filter(|ns| *ns > 0.0)?;
        let latency_s = latency_ns / 1e9;
        let reads_per_sample = case.cell.sample_bytes? * figures.ops as f64 / figures.bytes.max(1) as f64;
        let needed_ops_per_s = formula::device_reads_per_s(target_samples_per_s(case)?, reads_per_sample);
        let little = Self {
            depth: f64::from(case.cell.cell.queue_depth.max(1)),
            latency_ns,
            in_flight: formula::in_flight(figures.ops_per_s, latency_s),
            needed: formula::in_flight(needed_ops_per_s, latency_s),
            needed_ops_per_s,
        };
        (little.in_flight.is_finite() && little.needed.is_finite()).then_some(little)
    }

    /// Share of the depth that is in flight.
    fn full(&self) -> f64 {
        self.in_flight / self.depth
    }

    /// Depth that the target takes by the job's own.
    fn times(&self) -> f64 {
        self.needed / self.depth
    }

    fn words(&self, case: &Case<'_>) -> String {
        format!(
            "reads take {} in the mean and {} of {} are in flight: {} reads/s; {} for AU {} take {} in flight",
            feed::format_duration_ns(self.latency_ns as u64),
            feed::format_count(self.in_flight),
            feed::format_count(self.depth),
            feed::format_count(case.figures.ops_per_s),
            feed::format_count(self.needed_ops_per_s),
            percent(case.job.threshold),
            feed::format_count(self.needed.ceil())
        )
    }
}

fn advice(case: &Case<'_>, pair: Option<&Pair<'_>>, little: Option<&Little>) -> String {
    let Some(little) = little else { return "more in flight: more readers, or a deeper prefetch".to_owned() };
    if little.full() < FULL_MIN && little.times() <= 1.0 {
        return "a deeper prefetch would keep all readers busy".to_owned();
    }
    if little.full() >= FULL_MIN && pair.is_some_and(|pair| pair.gain() < FLAT_GAIN_MAX) {
        return "as many reads are faster in a closed loop: look at what else uses the storage or this client".to_owned();
    }
    // What a closed loop has shown at a depth is worth more than the arithmetic.
    let deepest = pair.map(|pair| (pair.deeper.0.cell.queue_depth, pair.deeper.1.samples_per_s.mean));
    if let Some(((depth, reached), target)) = deepest.zip(target_samples_per_s(case))
        && reached < target
        && little.needed <= f64::from(depth)
    {
        let share = percent(reached / target);
        return format!("more in flight helps, but depth {depth} reaches {share} of what the job is to have");
    }
    if little.times() <= 1.0 {
        return "a little more in flight would do: more readers, or a deeper prefetch".to_owned();
    }
    let times = rounded_up(little.times());
    let deeper = match case.job.readers {
        Some(readers) => format!("{} readers", feed::format_count((f64::from(readers) * times).ceil())),
        None => format!("queue_depth {}", feed::format_count((little.depth * times).ceil())),
    };
    format!("{} times as much in flight would do ({deeper})", feed::format_count(times))
}

/// `4`, `1.3`: less would not do, but for what a mean cannot tell.
fn rounded_up(times: f64) -> f64 {
    const UNSURE: f64 = 0.05;
    if times > 2.0 - UNSURE { (times - UNSURE).ceil() } else { (times * 10.0).ceil() / 10.0 }
}
