//! The training job that a verdict rests on.

use crate::cell::cell_summary::CellSummary;
use crate::cell::diagnosis::symptom::Diagnosis;
use crate::cell::figures::Figures;
use crate::cell::training::figures::demand_samples_per_s;

/// The training job that a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Utilization, the mean of the repetitions.
    pub au: f64,
    /// Utilization at which the line is reached.
    pub target: f64,
    /// Readers that fetch the batches of an accelerator; absent where reads share the depth of the cell.
    pub readers: Option<u32>,
    /// Reads that each of them has under way, at most.
    pub fetches: u32,
    /// Batches that are fetched ahead.
    pub prefetch: u32,
    /// Why accelerators waited; absent where they did not, or nothing says why.
    pub diagnosis: Option<Diagnosis>,
}

impl Played {
    /// That of `cell`, by the figures that the verdict rests on; `None` for other loads.
    pub(super) fn of(cell: &CellSummary, figures: &Figures) -> Option<Self> {
        let job = cell.cell.training.as_ref()?;
        let training = figures.training.as_ref()?;
        let demand = demand_samples_per_s(job)?;
        Some(Self {
            au: training.au.mean,
            target: cell.line.map_or(job.threshold, |line| line.samples_per_s / demand),
            readers: job.readers,
            fetches: job.fetches,
            prefetch: job.prefetch,
            diagnosis: training.diagnosis.clone(),
        })
    }
}
