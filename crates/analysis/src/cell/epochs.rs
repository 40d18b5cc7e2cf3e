//! Epoch by epoch: how fast each was, and what of it came from a cache.

mod held;
#[cfg(test)]
mod tests;

use record::{Cell, Epoch, Measure, Rep, Role, RunRecord, counter};

use crate::cell::cell_summary::CellSummary;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::rate::Rate;
use crate::cell::repetitions::Repetitions;

pub use held::Held;

// Numbers of epochs come from the record: a damaged one may claim 2^64 of them, each a row.
/// Passes of a cell of which figures are given: what a damaged record may claim beyond is left out.
const EPOCHS_MAX: usize = 1_000;
/// What storage delivered by what was asked, above which that is said: whole pages round up what a read asks for, and a
/// hundredth more is no read-ahead.
const AMPLIFIED_TOLD_MIN: f64 = 1.01;
// Shuffled epochs always share a few reads at their seam, as many as are in flight.
/// Share of an epoch in which the one before is still under way, from which that is said.
const OVERLAP_TOLD_MIN: f64 = 0.05;
// F44 is compared within a percent.
/// Share of the reads that a tier missed and did not keep, from which that is said.
const SKIPPED_TOLD_MIN: f64 = 0.01;

/// The epochs of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellEpochs {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// Each epoch, in order.
    pub epochs: Vec<EpochFigures>,
    /// What a reader must know.
    pub notes: Vec<EpochNote>,
}

/// Something that a reader must know of the epochs of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum EpochNote {
    /// Storage delivered more than was asked: no share of a cache follows from that.
    Amplified {
        /// The most, by what was asked; above 1.
        factor: f64,
    },
    /// Passes that the end of the window cut.
    Cut {
        /// How many.
        epochs: u64,
    },
    /// Reads of two or more epochs were under way together: the rate of the cell is above that of an epoch.
    Overlap {
        /// Most of the time of an epoch in which the next one was under way, 0 to 1.
        share: f64,
    },
    /// A cache of known size, and what it is expected to serve.
    Held(Held),
    /// What a tier missed and did not keep, since it was still writing what came before.
    Skipped {
        /// Share of what it missed, 0 to 1.
        share: f64,
    },
    /// Passes that are not shown.
    LeftOut {
        /// How many.
        epochs: usize,
    },
}

/// One epoch, over the repetitions that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochFigures {
    /// Its number, from 0.
    pub epoch: u64,
    /// Repetitions that it is of: those that made the whole of it, else those that the window cut.
    pub repetitions: u32,
    /// Whether they made the whole of it.
    pub complete: bool,
    /// When it began in the mean, seconds since the window opened.
    pub begun_s: f64,
    /// When its last operation ended in the mean.
    pub ended_s: f64,
    /// Bytes per second, from its first operation to the end of its last.
    pub bps: Rate,
    /// Share of its bytes that storage was not asked for, 0 to 1; absent where the kernel does not say.
    pub cache_share: Option<Rate>,
    /// Share of its bytes that a cache tier served; absent where there is none.
    pub tier_hits: Option<Rate>,
    /// What F44 expects of a tier; absent where nothing is known.
    pub predicted_hits: Option<f64>,
    /// Seconds of its first operation.
    pub first_s: Rate,
    /// Seconds until the first batch of a training job; absent elsewhere.
    pub first_batch_s: Option<Rate>,
    /// Seconds from the last operation of the epoch before; below 0 where both overlap. Absent for the first.
    pub gap_s: Option<Rate>,
}

pub(crate) fn of_run(record: &RunRecord, lines: &Lines<'_>, cells: &[CellSummary]) -> Vec<CellEpochs> {
    let measure = &record.run.measure;
    let of_cell = |(index, cell): (usize, &CellSummary)| of_cell(record, lines, measure, index, &cell.cell);
    // What is written or restored is no epoch: no samples are trained on.
    let read = cells.iter().enumerate().filter(|(_, cell)| operation::reads_samples(&cell.cell));
    read.filter_map(of_cell).collect()
}

fn of_cell(
    record: &RunRecord,
    lines: &Lines<'_>,
    measure: &Measure,
    index: usize,
    cell: &Cell,
) -> Option<CellEpochs> {
    let reps = Repetitions::of(lines.of_cell(&cell.cell), cell, Role::Measure, measure).used;
    let held = Held::of(cell, record.run.datasets.get(cell.dataset));
    // Tiers alone have a size in the record; the page cache takes what memory is left, and foretells nothing.
    let (mut epochs, left_out) = epochs(&reps, held.as_ref());
    if epochs.is_empty() {
        return None;
    }
    leave_out_past_the_cache(cell, &mut epochs);
    // Direct reads are rounded to whole blocks, which is no read-ahead and no cache's doing.
    let cached = cell.cache != feed::Cache::Bypass;
    let mut notes: Vec<EpochNote> = cached.then(|| amplified(&reps)).flatten().into_iter().collect();
    notes.extend(cut(&epochs));
    notes.extend(overlap(&epochs));
    notes.extend(held.map(EpochNote::Held));
    notes.extend(skipped(&reps));
    notes.extend((left_out > 0).then_some(EpochNote::LeftOut { epochs: left_out }));
    Some(CellEpochs { cell: index, epochs, notes })
}

/// The epochs of one repetition of a cell, in order.
pub(crate) fn of_rep(cell: &Cell, rep: &Rep) -> Vec<EpochFigures> {
    let mut epochs = epochs(&[rep], None).0;
    leave_out_past_the_cache(cell, &mut epochs);
    epochs
}

/// Reads past the cache find nothing there; what the kernel counts as an epoch ends belongs to two of them.
fn leave_out_past_the_cache(cell: &Cell, epochs: &mut [EpochFigures]) {
    if cell.cache == feed::Cache::Bypass {
        for epoch in epochs {
            epoch.cache_share = None;
        }
    }
}

/// The epochs that repetitions made, and how many further ones are left out.
fn epochs(reps: &[&Rep], held: Option<&Held>) -> (Vec<EpochFigures>, usize) {
    let mut numbers: Vec<u64> = reps.iter().flat_map(|rep| &rep.epochs).map(|epoch| epoch.epoch).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let left_out = numbers.len().saturating_sub(EPOCHS_MAX);
    numbers.truncate(EPOCHS_MAX);
    (numbers.into_iter().filter_map(|number| EpochFigures::of(reps, number, held)).collect(), left_out)
}

/// An epoch of one repetition, and the one before it.
struct Made<'a> {
    epoch: &'a Epoch,
    before: Option<&'a Epoch>,
}

impl<'a> Made<'a> {
    /// `None` for an epoch that took no time or moved no byte, of which nothing can be said.
    fn of(rep: &'a Rep, number: u64) -> Option<Self> {
        let find = |number: u64| rep.epochs.iter().find(|epoch| epoch.epoch == number);
        let epoch = find(number).filter(|epoch| epoch.ended_ns > epoch.begun_ns && epoch.bytes > 0)?;
        Some(Self { epoch, before: number.checked_sub(1).and_then(find) })
    }

    fn bps(&self) -> f64 {
        self.epoch.bytes as f64 / seconds(self.epoch.begun_ns, self.epoch.ended_ns)
    }

    fn share(&self, bytes: Option<u64>) -> Option<f64> {
        Some(bytes? as f64 / self.epoch.bytes as f64)
    }
}

/// Seconds from one moment to another; below 0 where the second comes first.
fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    (to_ns as f64 - from_ns as f64) / 1e9
}

impl EpochFigures {
    fn of(reps: &[&Rep], number: u64, held: Option<&Held>) -> Option<Self> {
        let all: Vec<Made<'_>> = reps.iter().filter_map(|rep| Made::of(rep, number)).collect();
        // An epoch that the window cut ended early where storage was slow: averaged with whole ones it would make them faster.
        let complete = all.iter().any(|made| made.epoch.complete);
        let made: Vec<Made<'_>> = all.into_iter().filter(|made| made.epoch.complete == complete).collect();
        // What is not known of some is not known of all.
        let known = |of: &dyn Fn(&Made<'_>) -> Option<f64>| {
            // A mean over those that tell would be one of another set of repetitions than the rate beside it.
            made.iter().map(of).collect::<Option<Vec<f64>>>().and_then(|points| Rate::of(&points))
        };
        let mean = |of: fn(&Epoch) -> u64| Some(known(&|made| Some(of(made.epoch) as f64 / 1e9))?.mean);
        Some(Self {
            epoch: number,
            repetitions: made.len() as u32,
            complete,
            begun_s: mean(|epoch| epoch.begun_ns)?,
            ended_s: mean(|epoch| epoch.ended_ns)?,
            bps: known(&|made| Some(made.bps()))?,
            // Read-ahead makes storage deliver more than was asked; a share below zero would say that the cache took bytes
            // away.
            cache_share: known(&|made| Some((1.0 - made.share(made.epoch.storage_bytes)?).clamp(0.0, 1.0))),
            tier_hits: known(&|made| Some(made.share(made.epoch.tier_bytes)?.min(1.0))),
            predicted_hits: held.and_then(|held| held.hits_of(number)),
            first_s: known(&|made| Some(seconds(made.epoch.begun_ns, made.epoch.first_ns).max(0.0)))?,
            first_batch_s: known(&|made| {
                Some(seconds(made.epoch.begun_ns, made.epoch.first_batch_ns?).max(0.0))
            }),
            gap_s: known(&|made| Some(seconds(made.before?.ended_ns, made.epoch.begun_ns))),
        })
    }
}

/// What storage delivered beyond what was asked.
fn amplified(reps: &[&Rep]) -> Option<EpochNote> {
    let all = reps.iter().flat_map(|rep| &rep.epochs).filter(|epoch| epoch.bytes > 0);
    let amplification = |epoch: &Epoch| Some(epoch.storage_bytes? as f64 / epoch.bytes as f64);
    let factor = all.filter_map(amplification).reduce(f64::max)?;
    (factor > AMPLIFIED_TOLD_MIN).then_some(EpochNote::Amplified { factor })
}

/// What a tier had no time to keep it neither finds again nor drops others for.
fn skipped(reps: &[&Rep]) -> Option<EpochNote> {
    let sum = |name: &str| {
        let counts = reps.iter().filter_map(|rep| rep.counters.get(name));
        counts.fold(0, |sum: u64, count| sum.saturating_add(*count)) as f64
    };
    let share = sum(counter::TIER_SKIPPED) / sum(counter::TIER_MISSES);
    let is_told = share.is_finite() && share >= SKIPPED_TOLD_MIN;
    is_told.then(|| EpochNote::Skipped { share: share.min(1.0) })
}

fn cut(epochs: &[EpochFigures]) -> Option<EpochNote> {
    let epochs = epochs.iter().filter(|epoch| !epoch.complete).count() as u64;
    (epochs > 0).then_some(EpochNote::Cut { epochs })
}

/// That the next epoch begins before one ends, where that is a good part of it: then the rate of an epoch is not that of
/// the cell.
fn overlap(epochs: &[EpochFigures]) -> Option<EpochNote> {
    let share = |epoch: &EpochFigures| Some(-epoch.gap_s?.mean / (epoch.ended_s - epoch.begun_s));
    let of_whole =
        epochs.iter().filter(|epoch| epoch.complete).filter_map(share).filter(|share| share.is_finite());
    let most = of_whole.reduce(f64::max).filter(|share| *share >= OVERLAP_TOLD_MIN)?;
    Some(EpochNote::Overlap { share: most.min(1.0) })
}
