//! The cells of a run side by side.

use std::collections::BTreeMap;

use feed::Need;
use record::{Dataset, Datasets, Target};

use crate::cell::cell_summary::CellSummary;
use crate::cell::datasets::DatasetFigures;
use crate::cell::need::NoNeed;

/// Every cell of a run, each with all its figures, and what they are held against: what curves, the choice of a cell and
/// verdicts are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells<'a> {
    /// What the accelerators consume, or why the record does not say.
    pub(crate) need: &'a Result<Need, NoNeed>,
    /// Distinct datasets, in the order of the record.
    pub(crate) datasets: &'a [DatasetFigures],
    /// Storages under test, in the order of the scenario.
    pub(crate) targets: &'a [Target],
    /// The cells, in the order of the scenario.
    pub(crate) all: &'a [CellSummary],
}

impl<'a> Cells<'a> {
    /// A cell by its name.
    pub(crate) fn named(&self, name: &str) -> Option<&'a CellSummary> {
        self.all.iter().find(|cell| cell.cell.cell == name)
    }

    /// All of them by their names, for whoever looks for many.
    pub(crate) fn by_name(&self) -> BTreeMap<&'a str, &'a CellSummary> {
        // The first of several that a damaged record calls by one name, as `named` has it.
        self.all.iter().rev().map(|cell| (cell.cell.cell.as_str(), cell)).collect()
    }
}

impl Datasets for Cells<'_> {
    fn dataset(&self, index: usize) -> Option<&Dataset> {
        self.datasets.get(index).map(|figures| &figures.dataset)
    }
}
