//! What follows for training cells from the cells beside them.

use record::RunRecord;

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::diagnosis;
use crate::cell::diagnosis::case::Case;
use crate::cell::diagnosis::symptom::Diagnosis;
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::training::bound::Bound;
use crate::cell::training::closed_loops::ClosedLoops;
use crate::cell::training::predicted::{self, Foretold};
use crate::cell::training::{GAP_MAX, NotPredicted, Stall, TrainingFigures};

// Four times: from latency alone that brings four times the rate, from bandwidth none, and every repetition's scatter lies
// between.
/// Depth by the job's own from which on a closed loop tells whether more in flight helps.
const DEEPER: u32 = 4;

/// Adds to each training cell what closed loops foretell of it, why its accelerators waited, and where both disagree.
pub(crate) fn complete(record: &RunRecord, cells: &mut [CellSummary]) {
    let found = of_all(record, cells);
    for (cell, found) in cells.iter_mut().zip(found) {
        let Some((threshold, [measured, confirmed])) = found else { continue };
        if let (Measurement::Figures(figures), Some(found)) = (&mut cell.measured, measured) {
            found.add_to(figures, threshold);
        }
        if let (Some(Measurement::Figures(figures)), Some(found)) = (&mut cell.confirmed, confirmed) {
            found.add_to(figures, threshold);
        }
    }
}

/// For each training cell its target and what follows for its interleaved and its fresh repetitions.
fn of_all(record: &RunRecord, cells: &[CellSummary]) -> Vec<Option<(f64, [Option<FromOthers>; 2])>> {
    if cells.iter().all(|cell| cell.cell.training.is_none()) {
        return Vec::new();
    }
    let loops = ClosedLoops::of(&record.run, cells);
    let of_each = cells.iter().map(|cell| {
        let threshold = cell.cell.training.as_ref()?.threshold;
        let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
        let of = |figures: Option<&Figures>| FromOthers::of(record, &loops, cell, figures?);
        Some((threshold, [of(cell.figures()), of(fresh)]))
    });
    of_each.collect()
}

/// Whether fills, and not the rate of the storage, keep a job from its target, whatever closed loops leave open.
fn fills(foretold: &Foretold, au: f64, threshold: f64) -> Option<Flag> {
    // The least of what closed loops leave open: the storage is acquitted by what it surely gives, never by what it might.
    let long_run = foretold.long_run.least;
    let decide = au < threshold && foretold.au.most < threshold && long_run >= threshold;
    decide.then_some(Flag::FillsDecide { long_run })
}

/// What closed loops foretell of a job, and why its accelerators waited.
struct FromOthers {
    foretold: Option<Foretold>,
    refused: Option<NotPredicted>,
    diagnosis: Option<Diagnosis>,
}

impl FromOthers {
    fn of<'a>(
        record: &RunRecord,
        loops: &ClosedLoops<'a>,
        cell: &'a CellSummary,
        figures: &Figures,
    ) -> Option<Self> {
        let trained = figures.training.as_ref()?;
        let depth = cell.cell.queue_depth;
        let by_depth = loops.by_depth(cell);
        // The shallowest of those that are deep enough: one far deeper measures a queue that the job never had.
        let from = |depth: u32| by_depth.iter().copied().find(|other| other.cell.queue_depth >= depth);
        let same = from(depth).filter(|other| other.cell.queue_depth == depth);
        let deeper = from(depth.saturating_mul(DEEPER));
        let foretold = predicted::of(&record.run, &by_depth, cell, trained, figures.repetitions);
        let job = cell.cell.training.as_ref()?;
        let other_size = loops.fastest_of_other_size(cell);
        let case = Case { cell, job, figures, trained, same, deeper, other_size };
        let refused = predicted::refused(&record.run, loops, cell);
        Some(Self { foretold, refused, diagnosis: diagnosis::of(&case) })
    }

    fn add_to(self, figures: &mut Figures, threshold: f64) {
        let Some(trained) = figures.training.as_mut() else { return };
        figures.flags.extend(self.foretold.as_ref().and_then(|one| fills(one, trained.au.mean, threshold)));
        let predicted = self.foretold.as_ref().and_then(|foretold| foretold.said.clone());
        figures.flags.extend(predicted.as_ref().and_then(|predicted| self.apart(trained, predicted.au)));
        figures.flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
        (trained.predicted, trained.not_predicted) = (predicted, self.refused);
        trained.diagnosis = self.diagnosis;
    }

    /// Reads and decoding are foretold: that something else is waited for explains less than that, and nothing explains more.
    fn apart(&self, trained: &TrainingFigures, predicted: f64) -> Option<Flag> {
        let au = trained.au.mean;
        let elsewhere = [
            Bound::Decode,
            Bound::Client,
            Bound::Others,
            Bound::Startup,
            Bound::FirstFill,
            Bound::Barrier,
            Bound::Checkpoint,
            // A mixed stall has named more than one cause of a gap.
            Bound::Mixed,
        ];
        let bound = self.diagnosis.as_ref().map(|diagnosis| diagnosis.bound);
        let Stall { decode, client, startup, barrier, checkpoint, .. } = trained.stall;
        let is_waited_elsewhere = predicted - au <= decode + client + startup + barrier + checkpoint;
        let is_named = bound.is_some_and(|bound| elsewhere.contains(&bound));
        let is_explained = au < predicted && (is_named || is_waited_elsewhere);
        let is_apart = (au - predicted).abs() > GAP_MAX && !is_explained;
        is_apart.then_some(Flag::NotAsPredicted { au, predicted })
    }
}
