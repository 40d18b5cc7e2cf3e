//! What a verdict says of the training job that it rests on.

use feed::counted_noun;

use super::Cause;
use crate::bridge::share::{percent, utilization};
use crate::cell::cell_summary::CellSummary;
use crate::cell::diagnosis::Diagnosis;
use crate::cell::figures::Figures;
use crate::cell::training::figures::demand_samples_per_s;

/// The training job that a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Utilization, the mean of the repetitions.
    pub au: f64,
    /// Utilization at which the line is reached.
    pub target: f64,
    /// How batches were fetched: `8 readers, prefetch 8`.
    pub fetch: String,
    /// Why accelerators waited; absent where they did not, or nothing says why.
    pub diagnosis: Option<Diagnosis>,
}

impl Played {
    /// That of `cell`, by the figures that the verdict rests on; `None` for other loads.
    pub(super) fn of(cell: &CellSummary, figures: &Figures) -> Option<Self> {
        let job = cell.cell.training.as_ref()?;
        let training = figures.training.as_ref()?;
        let demand = demand_samples_per_s(job)?;
        let fetch = match job.readers {
            Some(readers) => counted_noun(u64::from(readers), "reader"),
            None => format!("reads shared at depth {}", cell.cell.queue_depth),
        };
        Some(Self {
            au: training.au.mean,
            target: cell.line.map_or(job.threshold, |line| line.samples_per_s / demand),
            fetch: format!("{fetch}, prefetch {}", job.prefetch),
            diagnosis: training.diagnosis.clone(),
        })
    }

    /// What the job did, where that is what the verdict says.
    pub(super) fn clause(&self, cause: &Cause, need: &str, engine: &str) -> Option<String> {
        let au = utilization(self.au);
        match cause {
            Cause::Clears { .. } => {
                let target = percent(self.target);
                Some(format!("{need} with {}: AU {au} (target {target}), {engine}", self.fetch))
            }
            Cause::Short { .. } => {
                // Where both round to the same, one digit more tells them apart.
                let (au, target) = if au == utilization(self.target) {
                    (format!("{:.2} %", self.au * 100.0), format!("{:.2} %", self.target * 100.0))
                } else {
                    (au, percent(self.target))
                };
                Some(format!("AU {au} of the {target} it needs {}", self.place(engine)))
            }
            Cause::Demo { .. } => Some(format!("AU {au} {}", self.place(engine))),
            _ => None,
        }
    }

    /// `with 8 readers, prefetch 8 (io_uring)`.
    pub(super) fn place(&self, engine: &str) -> String {
        format!("with {} ({engine})", self.fetch)
    }
}
