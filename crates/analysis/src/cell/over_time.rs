//! A cell second by second: throughput of each repetition, and latency of the cell that is judged.

mod heat;
mod machine;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use record::{Cell, Look, RecordedIntervals, Rep, RepIntervals, Role, RunRecord};

use crate::cell::line_fit::LineFit;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::ranks;
use crate::cell::repetitions::Repetitions;

use step::{LAST_SECOND_MIN, step};

pub use heat::{Heat, HeatColumn};
pub use machine::{CoresBusy, DeviceRate, MachineRate, NetworkRate};

/// Points of all repetitions of a cell, at most: more could not be told apart in a picture.
const POINTS_MAX: u32 = 300;
/// Seconds of a window that are looked at: no longer one is kept second by second, whatever a record says of its length.
const SECONDS_MAX: u64 = 86_400;
/// Points that a line is fitted to, at least: the rounds of SNIA's measurement window.
const FIT_POINTS_MIN: usize = 5;

/// The repetitions of a cell over time.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTime {
    /// Name of the cell.
    pub cell: String,
    /// Whether it stands for its target: confirmed, and so judged; else the deepest of a target without such a cell.
    pub stands_for_target: bool,
    /// Whether rates are bytes per second; operations per second where no bytes are moved.
    pub counts_bytes: bool,
    /// Seconds that a point stands for, 1 but for long windows.
    pub step_s: u32,
    /// Interleaved repetitions that make a point, in the order in which they ran.
    pub reps: Vec<RepOverTime>,
    /// Latencies over time; absent for cells that stand for no target, and where no seconds were kept.
    pub heat: Option<Heat>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct RepOverTime {
    /// Its number among those of the cell, from 0.
    pub rep: u32,
    /// Length of its window.
    pub window_s: f64,
    /// Rates, in order.
    pub points: Vec<RatePoint>,
    /// The line through them; absent below five.
    pub fit: Option<Fit>,
    /// What the machine did meanwhile; empty before format 1.14, for several ranks, and for cells that stand for no target.
    pub machine: Vec<MachineRate>,
}

/// A rate over a stretch of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// From, seconds since the window opened.
    pub from_s: f64,
    /// To.
    pub to_s: f64,
    /// Bytes or operations per second.
    pub per_s: f64,
}

impl RatePoint {
    /// Its middle, seconds since the window opened.
    pub fn middle_s(&self) -> f64 {
        f64::midpoint(self.from_s, self.to_s)
    }
}

/// The least-squares line through the points of a repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Mean of the points.
    pub mean: f64,
    /// The line at the middle of the first point.
    pub first: f64,
    /// The line at the middle of the last point.
    pub last: f64,
}

impl Fit {
    /// SNIA's range (Performance Test Specification 2.0.2, 2.1.24): all points of a steady window lie within 10 % of
    /// their mean on either side.
    pub fn window(&self) -> (f64, f64) {
        (self.mean * 0.9, self.mean * 1.1)
    }

    /// What the line gains from its first to its last point, as a share of the mean; SNIA allows 10 %.
    pub fn excursion(&self) -> f64 {
        if self.mean > 0.0 { (self.last - self.first) / self.mean } else { 0.0 }
    }

    fn of(points: &[RatePoint]) -> Option<Self> {
        if points.len() < FIT_POINTS_MIN {
            return None;
        }
        let fit = LineFit::of(points.iter().map(|point| (point.middle_s(), point.per_s)))?;
        let at = |point: &RatePoint| fit.at(point.middle_s());
        Some(Self { mean: fit.y, first: at(points.first()?), last: at(points.last()?) })
    }
}

/// The cells of a run over time: from their seconds with histograms where those were kept, else from the counts of each
/// repetition.
pub fn over_time(record: &RunRecord, intervals: &RecordedIntervals) -> Vec<OverTime> {
    let folded = ranks::fold_ranks(record);
    let lines = Lines::of(&folded);
    of_run(&folded, &lines, &standing(&folded, &lines), intervals)
}

/// The same where the seconds are still to be read. `read` is told of which cells they are asked for: those that stand for their
/// targets, and those whose lines do not count by the second.
///
/// # Errors
/// What `read` returns.
// Not all of them: the seconds of thousands of cells are gigabytes, and a picture shows those of a handful.
pub fn over_time_read<E>(
    record: &RunRecord,
    read: impl FnOnce(&BTreeSet<&str>) -> Result<RecordedIntervals, E>,
) -> Result<Vec<OverTime>, E> {
    let folded = ranks::fold_ranks(record);
    let lines = Lines::of(&folded);
    let standing = standing(&folded, &lines);
    let is_counted = |rep: &&&Rep| !rep.second_bytes.is_empty() && !rep.second_ops.is_empty();
    let uncounted = lines.reps.iter().filter(|rep| !is_counted(rep)).map(|rep| rep.cell.as_str());
    let intervals = read(&standing.iter().copied().chain(uncounted).collect())?;
    Ok(of_run(&folded, &lines, &standing, &intervals))
}

fn of_run(
    record: &RunRecord,
    lines: &Lines<'_>,
    standing: &[&str],
    intervals: &RecordedIntervals,
) -> Vec<OverTime> {
    let kept: BTreeMap<(&str, bool, u32), &RepIntervals> =
        intervals.reps.iter().map(|rep| (key(&rep.cell, rep.role, rep.rep), rep)).collect();
    let seconds_of = |rep: &Rep| kept.get(&key(&rep.cell, rep.role, rep.rep)).copied();
    let of_cell = |cell: &Cell| {
        let mut used =
            Repetitions::of(lines.of_cell(&cell.cell), cell, Role::Measure, &record.run.measure).used;
        // By their place in the run: a picture over time whose repetitions stand in another order shows drifts that were none.
        used.sort_by_key(|rep| (rep.order, rep.rep, rep.rank));
        let stands_for_target = standing.contains(&cell.cell.as_str());
        let kept: Vec<(&Rep, Option<&RepIntervals>)> =
            used.into_iter().map(|rep| (rep, seconds_of(rep))).collect();
        OverTime::of(cell, &kept, stands_for_target)
    };
    record.run.cells.iter().filter_map(of_cell).collect()
}

/// The cell that stands for each target: the one that was confirmed, else its deepest that was measured.
fn standing<'a>(record: &'a RunRecord, lines: &Lines<'_>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    let has = |cell: &Cell, role: Role| lines.of_cell(&cell.cell).iter().any(|rep| rep.role == role);
    let moves_bytes = |cell: &&Cell| operation::moves_samples(cell);
    for target in record.run.targets.iter().filter(|target| target.storage) {
        let cells = || record.run.cells.iter().filter(|cell| cell.target == target.name).filter(moves_bytes);
        let confirmed = cells().find(|cell| has(cell, Role::Confirm));
        let deepest = || cells().filter(|cell| has(cell, Role::Measure)).max_by_key(|cell| cell.queue_depth);
        found.extend(confirmed.or_else(deepest).map(|cell| cell.cell.as_str()));
    }
    found
}

fn key(cell: &str, role: Role, rep: u32) -> (&str, bool, u32) {
    (cell, role == Role::Confirm, rep)
}

impl OverTime {
    fn of(cell: &Cell, kept: &[(&Rep, Option<&RepIntervals>)], stands_for_target: bool) -> Option<Self> {
        let counts_bytes = !operation::is_metadata(cell);
        let seconds: Vec<Vec<u64>> =
            kept.iter().map(|(rep, intervals)| counts(rep, *intervals, counts_bytes)).collect();
        let lengths: Vec<u32> = seconds.iter().map(|of_rep| of_rep.len() as u32).collect();
        let step_s = step(&lengths, POINTS_MAX);
        let reps: Vec<RepOverTime> = kept
            .iter()
            .zip(&seconds)
            .filter(|(_, counts)| !counts.is_empty())
            .map(|((rep, kept), counts)| {
                let looks = kept.filter(|_| stands_for_target).map_or(&[][..], |kept| &kept.looks);
                RepOverTime::of(rep, counts, looks, step_s)
            })
            .collect();
        let heat = if stands_for_target { Heat::of(kept) } else { None };
        (reps.iter().any(|rep| !rep.points.is_empty()) || heat.is_some()).then(|| Self {
            cell: cell.cell.clone(),
            stands_for_target,
            counts_bytes,
            step_s,
            reps,
            heat,
        })
    }
}

/// What ended in each second of a repetition: as its line says, else as its histograms do.
fn counts(rep: &Rep, intervals: Option<&RepIntervals>, bytes: bool) -> Vec<u64> {
    let counted = if bytes { &rep.second_bytes } else { &rep.second_ops };
    if !counted.is_empty() {
        return counted.clone();
    }
    let seconds = intervals.map_or(&[][..], |of_rep| &of_rep.seconds);
    // A cut or foreign file may name any second: no more are taken than the window has.
    let last = (rep.window_ns / 1_000_000_000).min(SECONDS_MAX - 1) as usize;
    let mut found: Vec<u64> = Vec::new();
    for second in seconds.iter().filter(|second| second.second as usize <= last) {
        let at = second.second as usize;
        if found.len() <= at {
            found.resize(at + 1, 0);
        }
        found[at] = found[at].saturating_add(if bytes { second.bytes } else { second.ops });
    }
    found
}

impl RepOverTime {
    fn of(rep: &Rep, counts: &[u64], looks: &[Look], step_s: u32) -> Self {
        let window_s = rep.window_ns as f64 / 1e9;
        let point = |(number, part): (usize, &[u64])| {
            let from_s = (number * step_s as usize) as f64;
            let to_s = (from_s + part.len() as f64).min(window_s);
            let per_s = part.iter().map(|count| *count as f64).sum::<f64>() / (to_s - from_s);
            (to_s - from_s >= LAST_SECOND_MIN).then_some(RatePoint { from_s, to_s, per_s })
        };
        let points: Vec<RatePoint> = counts.chunks(step_s as usize).enumerate().filter_map(point).collect();
        let machine = MachineRate::of(looks, step_s as usize, window_s);
        Self { rep: rep.rep, window_s, fit: Fit::of(&points), points, machine }
    }
}

#[cfg(test)]
mod tests;
