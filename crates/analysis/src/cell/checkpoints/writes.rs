//! How fast checkpoints are written and read back.

use record::{Checkpoint, CheckpointOutcome, Rep};

use crate::cell::cell_summary::CellSummary;
use crate::cell::interval::mean;
use crate::cell::rate::Rate;

/// What became of the checkpoints of a cell, and how fast those that are whole were written.
///
/// The time of a checkpoint is that of its slowest file, from the first byte to all files durable under their names, as
/// `MLPerf Storage` takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// How many became what.
    pub outcomes: Outcomes,
    /// Bytes per second over writing and publishing, the mean over the checkpoints of a repetition.
    pub bps: Option<Rate>,
    /// Seconds of one, from its first byte until it is durable.
    pub checkpoint_s: Option<Rate>,
    /// Share of those seconds after the last byte was written.
    pub publish_share: Option<f64>,
    /// The longest of all, seconds from when it was due until it was durable: no shorter interval than this lets every
    /// checkpoint end before the next is due.
    pub longest_s: Option<f64>,
}

/// What became of checkpoints that were due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Whole.
    pub complete: u64,
    /// Left out because the one before was still being written.
    pub overrun: u64,
    /// Still being written at the end of the window.
    pub unfinished: u64,
    /// Not written.
    pub failed: u64,
    /// Why the first of those failed.
    pub reason: Option<String>,
}

impl Outcomes {
    fn of<'a>(checkpoints: impl Iterator<Item = &'a Checkpoint>) -> Self {
        let mut found = Self::default();
        for one in checkpoints {
            match &one.outcome {
                CheckpointOutcome::Complete => found.complete += 1,
                CheckpointOutcome::Overrun => found.overrun += 1,
                CheckpointOutcome::Unfinished => found.unfinished += 1,
                CheckpointOutcome::Failed { reason } => {
                    found.failed += 1;
                    found.reason.get_or_insert_with(|| reason.clone());
                }
            }
        }
        found
    }
}

/// Seconds of a whole checkpoint; `None` of one that is not whole, or took no time.
pub(super) fn whole_s(one: &Checkpoint) -> Option<f64> {
    let ns = one.write_ns.saturating_add(one.publish_ns);
    (one.outcome == CheckpointOutcome::Complete && ns > 0).then_some(ns as f64 / 1e9)
}

impl Written {
    /// `None` where no checkpoint was due.
    pub(crate) fn of(reps: &[&Rep]) -> Option<Self> {
        let all = || reps.iter().flat_map(|rep| &rep.checkpoints);
        all().next()?;
        let of_reps = |of: fn(&Checkpoint, f64) -> f64| -> Option<Rate> {
            let of_rep = |rep: &&Rep| {
                let points = rep.checkpoints.iter().filter_map(|one| Some(of(one, whole_s(one)?)));
                mean(&points.collect::<Vec<_>>())
            };
            Rate::of(&reps.iter().filter_map(of_rep).collect::<Vec<f64>>())
        };
        // A mean of shares and not a share of means: a slow checkpoint would decide it alone.
        let publish: Vec<f64> =
            all().filter_map(|one| Some(one.publish_ns as f64 / 1e9 / whole_s(one)?)).collect();
        Some(Self {
            outcomes: Outcomes::of(all()),
            bps: of_reps(|one, seconds| one.bytes as f64 / seconds),
            checkpoint_s: of_reps(|_, seconds| seconds),
            publish_share: mean(&publish),
            longest_s: all()
                // From when it was due: one that waits for the writer of the one before is late by that as well.
                .filter_map(|one| Some(whole_s(one)? + one.begun_ns.saturating_sub(one.due_ns) as f64 / 1e9))
                .reduce(f64::max),
        })
    }
}

/// A cell that reads checkpoints back.
#[derive(Debug, Clone, PartialEq)]
pub struct Restore {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// Bytes per second.
    pub bps: Rate,
    /// Bytes of one checkpoint; absent where the record does not say.
    pub bytes: Option<u64>,
    /// Seconds in which one is read at that rate.
    pub restore_s: Option<f64>,
}

impl Restore {
    pub(super) fn of(index: usize, cell: &CellSummary) -> Option<Self> {
        let bps = cell.figures()?.bps;
        let bytes = cell.cell.checkpoint.as_ref().map(|plan| plan.bytes).filter(|bytes| *bytes > 0);
        let restore_s = bytes.filter(|_| bps.mean > 0.0).map(|bytes| bytes as f64 / bps.mean);
        Some(Self { cell: index, bps, bytes, restore_s })
    }
}
