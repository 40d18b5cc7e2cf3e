//! The curves of throughput by depth that a run has something to show of, and the number of each series.

use analysis::{CellSummary, Curve, Distinction, Measurement, Panel, Summary};

use crate::group::place;

/// A panel of a summary with the curves that are drawn of it.
pub(super) struct Shown<'a> {
    pub(super) panel: &'a Panel,
    /// With the number of each among all series of the run: the same in every panel and plot.
    pub(super) curves: Vec<(usize, &'a Curve)>,
}

/// The panels that show something. The null target is the client's ceiling and would press the storage
/// curves flat, so it is drawn only when there is no storage at all.
pub(super) fn shown(summary: &Summary) -> Vec<Shown<'_>> {
    let any_storage = any_storage(summary);
    let mut known: Vec<(&str, &str, &[Distinction])> = Vec::new();
    let mut panels = Vec::new();
    for panel in &summary.panels {
        let mut curves = Vec::new();
        for curve in panel.curves.iter().filter(|curve| curve.storage == any_storage) {
            // The colour of a target and engine is the same in all plots of a run, whatever else is drawn in them.
            let key = (curve.target.as_str(), curve.engine.as_str(), &curve.distinctions[..]);
            let number = place(&mut known, |one| *one == key, || key);
            // Numbered before it is left out: a colour must not depend on what else failed.
            if curve.cells.iter().any(|index| is_shown(&summary.cells[*index])) {
                curves.push((number, curve));
            }
        }
        let cells = || curves.iter().flat_map(|(_, curve)| &curve.cells);
        if cells().any(|index| summary.cells[*index].figures().is_some()) {
            panels.push(Shown { panel, curves });
        }
    }
    panels
}

/// Whether any storage was measured: then plots show storage alone.
pub(super) fn any_storage(summary: &Summary) -> bool {
    summary.cells.iter().any(|cell| cell.storage && cell.figures().is_some())
}

fn is_shown(cell: &CellSummary) -> bool {
    // A failed cell is shown as a cross; one that was not run says nothing of the storage.
    matches!(cell.measured, Measurement::Figures(_) | Measurement::Failed { .. })
}

/// Numbers of series: a target and engine have the same in every plot of a run.
pub(super) struct Numbers<'a> {
    summary: &'a Summary,
    shown: Vec<Shown<'a>>,
    others: Vec<(&'a str, String)>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(summary: &'a Summary) -> Self {
        Self { summary, shown: shown(summary), others: Vec::new() }
    }

    /// The number of a cell's curve of throughput, else a further one for its target and engine.
    pub(super) fn number(&mut self, cell: &'a CellSummary) -> usize {
        let holds = |index: &usize| self.summary.cells[*index].cell.cell == cell.cell.cell;
        let mut curves = self.shown.iter().flat_map(|shown| &shown.curves);
        if let Some((number, _)) = curves.find(|(_, curve)| curve.cells.iter().any(holds)) {
            return *number;
        }
        // Behind all curves: a colour that means two things would be worse than a new one.
        let next = self.shown.iter().flat_map(|shown| &shown.curves).map(|(number, _)| number + 1).max();
        let key = (cell.cell.target.as_str(), cell.engine_label());
        let at = place(&mut self.others, |known| *known == key, || key.clone());
        next.unwrap_or(0) + at
    }
}
