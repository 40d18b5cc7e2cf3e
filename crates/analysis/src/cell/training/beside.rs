//! What follows for training cells from the cells beside them.

use record::RunRecord;

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::diagnosis;
use crate::cell::diagnosis::case::Case;
use crate::cell::diagnosis::symptom::Diagnosis;
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::training::bound::Bound;
use crate::cell::training::predicted::{self, Foretold};
use crate::cell::training::{GAP_MAX, NotPredicted, Stall, TrainingFigures};

// Four times: from latency alone that brings four times the rate, from bandwidth none, and every repetition's scatter lies
// between.
/// Depth by the job's own from which on a closed loop tells whether more in flight helps.
const DEEPER: u32 = 4;

/// Adds to each training cell what closed loops foretell of it, why its accelerators waited, and where both disagree.
pub(crate) fn complete(record: &RunRecord, cells: &mut [CellSummary]) {
    for index in 0..cells.len() {
        let cell = &cells[index];
        let Some(threshold) = cell.cell.training.as_ref().map(|job| job.threshold) else { continue };
        let measured = cell.figures().and_then(|figures| FromOthers::of(record, cells, cell, figures));
        let confirmed = cell.confirmed.as_ref().and_then(Measurement::figures);
        let confirmed = confirmed.and_then(|figures| FromOthers::of(record, cells, cell, figures));
        let cell = &mut cells[index];
        if let (Measurement::Figures(figures), Some(found)) = (&mut cell.measured, measured) {
            found.add_to(figures, threshold);
        }
        if let (Some(Measurement::Figures(figures)), Some(found)) = (&mut cell.confirmed, confirmed) {
            found.add_to(figures, threshold);
        }
    }
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
    fn of(record: &RunRecord, cells: &[CellSummary], cell: &CellSummary, figures: &Figures) -> Option<Self> {
        let trained = figures.training.as_ref()?;
        let depth = cell.cell.queue_depth;
        let same = predicted::closed(&record.run, cells, cell, |other| other == depth);
        let deeper =
            predicted::closed(&record.run, cells, cell, |other| other >= depth.saturating_mul(DEEPER));
        let foretold = predicted::of(&record.run, cells, cell, trained, figures.repetitions);
        let job = cell.cell.training.as_ref()?;
        let case = Case { cell, job, figures, trained, same, deeper, cells };
        let refused = predicted::refused(&record.run, cells, cell);
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
