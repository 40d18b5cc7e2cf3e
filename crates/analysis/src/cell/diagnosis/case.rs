//! A training job whose accelerators waited, and a cause of it.

use record::Training;

use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::training::TrainingFigures;

/// A training cell, and the cells in a closed loop that read as it does.
pub(crate) struct Case<'a> {
    pub(crate) cell: &'a CellSummary,
    pub(crate) job: &'a Training,
    pub(crate) figures: &'a Figures,
    pub(crate) trained: &'a TrainingFigures,
    /// At the depth of the job.
    pub(crate) same: Option<&'a CellSummary>,
    /// At four times that depth or more.
    pub(crate) deeper: Option<&'a CellSummary>,
    /// The fastest of its target and cache in another size of samples or blocks.
    pub(crate) other_size: Option<(&'a CellSummary, &'a Figures)>,
}
