//! How noisy a machine is where nothing changed, and what it can honestly gate.

use feed::{Compared, MayDiffer};

use super::gaps::Gaps;
use super::history::{by_time, cells_by_name};
use super::paired::{self, Key, Pair, SideCell};
use super::stored::{Selected, selected};
use super::student::{Estimate, quantile};
use super::{Change, NotComparable, RunSample, Uncompared, comparable, variants};
use crate::cell::interval::{REPETITIONS_MIN, spread};
use crate::cell::line_fit::LineFit;
use crate::cell::metric::{Margins, Metric};

/// No margin is smaller: histograms have steps of 0.1 %, and layouts of memory move a median by more.
const MARGIN_MIN: f64 = 0.01;

// A margin is written into a scenario by hand, and 7.42 % looks more certain than it is.
/// Margins are whole steps of this, rounded up.
const MARGIN_STEP: f64 = 0.005;

// What drifts for both sides cancels in pairs; below a tenth it is not worth a sentence.
/// Fall or rise of the throughput within a run, by its linear fit, from which on it is said.
const DRIFT_MIN: f64 = 0.10;

/// How noisy one metric is where nothing changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Which metric.
    pub metric: Compared,
    /// Standard deviation of the natural logarithm from sample to sample: about the coefficient of variation.
    pub spread: f64,
    /// Samples that it rests on.
    pub samples: u32,
    /// The margin that such noise allows: what is smaller is called unchanged.
    pub margin: f64,
    /// The smallest regression that a gate with that margin finds four times in five, as a share.
    pub smallest: f64,
}

/// What this machine can honestly gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Name of the scenario.
    pub scenario: String,
    /// Whether runs, not repetitions, are the samples.
    pub stored: bool,
    /// Runs that it rests on.
    pub run_ids: Vec<String>,
    /// Samples that a later comparison is expected to have: repetitions, or runs of the baseline.
    pub samples: u32,
    /// The worst cell of each metric that was measured.
    pub noise: Vec<Noise>,
    /// What a reader must know: drift found, effects where none can be.
    pub notes: Vec<CalibrationNote>,
}

/// What a reader of a calibration must know.
#[derive(Debug, Clone, PartialEq)]
pub enum CalibrationNote {
    /// A run was left out.
    Uncompared(Uncompared),
    /// There is no run to learn from.
    NoRun,
    /// There are fewer runs than a baseline wants: the spread is hardly known.
    FewRuns {
        /// So many.
        runs: usize,
        /// Of so many.
        wanted: u32,
    },
    /// So many cells were left out, since nothing may rest on them.
    CellsLeftOut(usize),
    /// Throughput drifted within the run by at most this share, up where it is positive.
    Drift(f64),
    /// Two that are the same differ.
    Differs {
        /// Name of the cell or the target.
        name: String,
        /// In what.
        metric: &'static Metric,
        /// By which share.
        change: f64,
    },
}

/// Noise from two variants that are the same: an A/A run.
///
/// The spread is that of paired differences by the root of 2, so that what drifts for both is no part of it.
///
/// # Errors
/// When they are no variants of one run, or when anything differs between them.
pub fn calibrate(a: &RunSample, b: &RunSample) -> Result<Calibration, NotComparable> {
    comparable::same(a, b)?;
    let all = variants::pairs(a, b);
    let key = Key::best(&all);
    let is_sound = |pair: &&Pair<'_>| {
        [pair.before, pair.after].iter().all(|side_cell| side_cell.sample.excluded.is_empty())
    };
    let sound: Vec<&Pair<'_>> = all.iter().filter(is_sound).collect();
    let of_pair = |pair: &&Pair<'_>, metric: Compared| {
        let samples = paired::samples(pair, key, metric);
        Seen::of(&samples.values().map(|(before, after)| after - before).collect::<Vec<_>>(), 2.0_f64.sqrt())
    };
    let seen = Compared::ALL.map(|metric| sound.iter().filter_map(|pair| of_pair(pair, metric)).collect());
    let samples = most(&seen);
    let left_out = Some(all.len() - sound.len()).filter(|cells| *cells > 0);
    let mut notes: Vec<CalibrationNote> = left_out.map(CalibrationNote::CellsLeftOut).into_iter().collect();
    notes.extend(largest_drift(&sound).map(CalibrationNote::Drift));
    notes.extend(effects_where_none_can_be(a, b)?);
    Ok(Calibration {
        scenario: a.run.scenario.clone(),
        stored: false,
        run_ids: vec![a.run.run_id.clone(), b.run.run_id.clone()],
        samples: samples as u32,
        // A difference of two samples spreads more by the root of 2, and its mean is over so many of them.
        noise: noise(&seen, samples, |n| (2.0 / n).sqrt()),
        notes,
    })
}

/// Noise between stored runs that are comparable with the newest of them: the spread of their geometric means.
///
/// # Errors
/// When there are several runs and none is comparable with the newest.
pub fn calibrate_history(
    runs: &[RunSample],
    runs_min: u32,
    may_differ: &[MayDiffer],
) -> Result<Calibration, NotComparable> {
    let mut gaps = Gaps::default();
    let ordered = by_time(runs);
    let Some((newest, _)) = ordered.split_last() else { return Ok(empty()) };
    let older: Vec<RunSample> = ordered[..ordered.len() - 1].iter().map(|run| (*run).clone()).collect();
    let Selected { runs: mut kin, .. } = selected(&older, newest, may_differ, &mut gaps)?;
    kin.push(newest);
    let histories: Vec<_> = kin.iter().map(|run| cells_by_name(run)).collect();
    let of_cell = |name: &str, metric: Compared| {
        let sound = histories
            .iter()
            .filter_map(|cells| cells.get(name))
            .filter(|cell| cell.excluded_as_run().is_empty());
        Seen::of(&sound.filter_map(|cell| cell.logarithm(metric)).collect::<Vec<_>>(), 1.0)
    };
    let names: Vec<&str> = newest.run.cells.iter().map(|cell| cell.cell.as_str()).collect();
    let seen = Compared::ALL.map(|metric| names.iter().filter_map(|name| of_cell(name, metric)).collect());
    // The gate that will be used has at least so many runs, whatever this calibration rests on.
    let samples = kin.len().max(runs_min as usize).max(REPETITIONS_MIN);
    let runs = kin.len();
    let few = (runs < runs_min as usize).then_some(CalibrationNote::FewRuns { runs, wanted: runs_min });
    let notes = gaps.found.into_iter().map(CalibrationNote::Uncompared).chain(few).collect();
    Ok(Calibration {
        scenario: newest.run.scenario.clone(),
        stored: true,
        run_ids: kin.iter().map(|sample| sample.run.run_id.clone()).collect(),
        samples: samples as u32,
        noise: noise(&seen, samples, |n| (1.0 + 1.0 / n).sqrt()),
        notes,
    })
}

fn empty() -> Calibration {
    Calibration {
        scenario: String::new(),
        stored: true,
        run_ids: Vec::new(),
        samples: 0,
        noise: Vec::new(),
        notes: vec![CalibrationNote::NoRun],
    }
}

/// What one cell says of one metric.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// Standard deviation of the logarithm from sample to sample.
    spread: f64,
    samples: usize,
}

impl Seen {
    /// The spread of logarithms by `divisor`; `None` below three.
    fn of(logarithms: &[f64], divisor: f64) -> Option<Self> {
        let samples = logarithms.len();
        let (_, deviation) = spread(logarithms).filter(|_| samples >= REPETITIONS_MIN)?;
        Some(Self { spread: deviation / divisor, samples })
    }
}

fn most(seen: &[Vec<Seen>]) -> usize {
    seen.iter().flatten().map(|seen| seen.samples).max().unwrap_or(0)
}

/// The worst cell of each metric, and what follows for a gate with so many samples; `error` is the standard error of
/// such a comparison by the spread of one sample.
fn noise(seen: &[Vec<Seen>], samples: usize, error: impl Fn(f64) -> f64) -> Vec<Noise> {
    let of_metric = |(compared, seen): (Compared, &Vec<Seen>)| {
        // One margin holds for all cells of a gate, so that it has to suit the noisiest of them.
        let worst = seen.iter().max_by(|a, b| a.spread.total_cmp(&b.spread))?;
        let error = worst.spread * error(samples as f64);
        let estimate = Estimate { mean: 0.0, error, freedom: samples.checked_sub(1)? };
        let metric = Metric::of(compared, true);
        let margin = margin(metric, &estimate);
        Some(Noise {
            metric: compared,
            spread: worst.spread,
            samples: worst.samples as u32,
            margin,
            smallest: smallest(metric, margin, &estimate),
        })
    };
    Compared::ALL.into_iter().zip(seen).filter_map(of_metric).collect()
}

/// The smallest margin within which the interval of no change lies four times in five: (t(0.975) + t(0.90)) standard
/// errors, the power of two one-sided tests where nothing changed (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).
fn margin(metric: &Metric, estimate: &Estimate) -> f64 {
    let freedom = estimate.freedom as f64;
    let log = (quantile(0.975, freedom) + quantile(0.90, freedom)) * estimate.error;
    let exact = if metric.higher_is_better() { -(-log).exp_m1() } else { log.exp_m1() };
    // What rounding adds is no step of its own.
    ((exact / MARGIN_STEP - 1e-9).ceil() * MARGIN_STEP).max(MARGIN_MIN)
}

/// The change in the bad direction whose whole interval lies beyond the margin four times in five: margin and detectable
/// effect, added as logarithms.
fn smallest(metric: &Metric, margin: f64, estimate: &Estimate) -> f64 {
    if metric.higher_is_better() {
        1.0 - (1.0 - margin).max(0.0) * (-estimate.detectable()).exp()
    } else {
        (1.0 + margin) * estimate.detectable().exp() - 1.0
    }
}

/// How far throughput drifted within the run, as a share; `None` where it did not.
fn largest_drift(pairs: &[&Pair<'_>]) -> Option<f64> {
    let side_cells = pairs.iter().flat_map(|pair| [pair.before, pair.after]);
    let drifts = side_cells.filter_map(drift).filter(|drift| drift.exp_m1().abs() >= DRIFT_MIN);
    drifts.max_by(|a, b| a.abs().total_cmp(&b.abs())).map(f64::exp_m1)
}

/// Change of the logarithm of the throughput from the first round to the last, by its linear fit.
fn drift(side_cell: SideCell<'_>) -> Option<f64> {
    let points: Vec<(f64, f64)> =
        side_cell.sample.logarithms(Compared::Throughput).map(|(rep, y)| (f64::from(rep.round), y)).collect();
    let fit = LineFit::of(points.iter().copied())?;
    let first = points.iter().map(|(x, _)| *x).reduce(f64::min)?;
    let last = points.iter().map(|(x, _)| *x).reduce(f64::max)?;
    (points.len() >= REPETITIONS_MIN && fit.spread > 0.0).then_some(fit.slope * (last - first))
}

/// Differences between two that are the same: with no margin at all, and corrected for the number of cells.
fn effects_where_none_can_be(a: &RunSample, b: &RunSample) -> Result<Vec<CalibrationNote>, NotComparable> {
    let compared = variants::compare_variants(a, b, &Margins::NONE)?;
    let is_found = |change: Change| matches!(change, Change::Regressed | Change::Improved);
    let found = compared.judged().filter(|(_, effect)| is_found(effect.change));
    let note = |(name, effect): (&str, &super::Effect)| CalibrationNote::Differs {
        name: name.to_owned(),
        metric: effect.metric,
        change: effect.ratio.mean - 1.0,
    };
    Ok(found.map(note).collect())
}

#[cfg(test)]
mod tests;
