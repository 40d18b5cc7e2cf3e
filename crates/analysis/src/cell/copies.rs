//! Datasets that are copied nearer, or packed: what that takes once, and from which epoch on it pays (F42).

#[cfg(test)]
mod tests;

use feed::formula;
use record::axis::{self, Axis, Places, alike, others};
use record::{Measure, Role, RunRecord};

use crate::cell::cell_summary::CellSummary;
use crate::cell::counters::per_s;
use crate::cell::interval::mean;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::rate::Rate;
use crate::cell::repetitions::Repetitions;
use crate::cell::samples;

/// A cell that copies a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyFigures {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// Name of the target that is copied to.
    pub to: String,
    /// Layout that it has there; absent where objects are copied as they are.
    pub layout: Option<String>,
    /// Bytes per second that were written.
    pub bps: Rate,
    /// Operations per second: objects, where each is written at once.
    pub objects_per_s: Option<Rate>,
    /// Bytes of the dataset.
    pub bytes: u64,
    /// Seconds in which the whole dataset is copied at that rate.
    pub copy_s: f64,
    /// Reads of the source against reads of the copy; empty where the run has none that are alike.
    pub payoffs: Vec<Payoff>,
}

/// Whether a copy pays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Payoff {
    /// Cell that reads the source, an index into [`crate::Summary::cells`].
    pub source: usize,
    /// Cell that reads the copy.
    pub copy: usize,
    /// Seconds of an epoch from the source.
    pub source_epoch_s: f64,
    /// Seconds of an epoch from the copy.
    pub copy_epoch_s: f64,
    /// Seconds until the first operation or batch from the source, nothing copied; absent where it was not recorded.
    pub source_first_s: Option<f64>,
    /// Seconds until the same from the copy, the time of copying included.
    pub copy_first_s: Option<f64>,
    /// Epochs after which the copy has paid for itself; absent where the copy is no faster.
    pub break_even: Option<f64>,
}

pub(crate) fn of_run(record: &RunRecord, lines: &Lines<'_>, cells: &[CellSummary]) -> Vec<CopyFigures> {
    let copies = cells.iter().enumerate().filter(|(_, cell)| cell.cell.operation == feed::Operation::Copy);
    let copies: Vec<usize> = copies.map(|(index, _)| index).collect();
    if copies.is_empty() {
        return Vec::new();
    }
    let readers = Readers::of(record, cells);
    copies.into_iter().filter_map(|index| of_cell(record, lines, cells, (index, &readers))).collect()
}

/// The cells that read samples, by what they read and by how.
struct Readers {
    of_dataset: Places,
    alike: Places,
}

impl Readers {
    fn of(record: &RunRecord, cells: &[CellSummary]) -> Self {
        // A paced load reads as fast as it was told to, whichever of both it reads.
        let reads = |cell: &CellSummary| {
            operation::reads_samples(&cell.cell) && cell.figures().is_some() && cell.cell.pace.is_none()
        };
        let readers = || {
            let numbered = cells.iter().enumerate().filter(|(_, cell)| reads(cell));
            numbered.map(|(index, cell)| (index, &cell.cell))
        };
        Self {
            of_dataset: Places::of(&record.run, readers(), [Axis::Target, Axis::Dataset]),
            alike: Places::of(&record.run, readers(), others(axis::COPY)),
        }
    }
}

fn of_cell(
    record: &RunRecord,
    lines: &Lines<'_>,
    cells: &[CellSummary],
    (index, readers): (usize, &Readers),
) -> Option<CopyFigures> {
    let cell = &cells[index];
    let (plan, figures) = (cell.cell.copy.as_ref()?, cell.figures()?);
    let bytes = record.run.datasets.get(cell.cell.dataset)?.bytes;
    // A copy of nothing is done at once and pays from the first epoch on.
    if figures.bps.mean <= 0.0 || bytes == 0 {
        return None;
    }
    let measure = &record.run.measure;
    let reps = Repetitions::of(lines.of_cell(&cell.cell.cell), &cell.cell, Role::Measure, measure).used;
    let ops: Vec<f64> = reps.iter().map(|rep| per_s(rep, record::counter::OPS)).collect();
    // The whole dataset at the rate of what was copied: a repetition copies for as long as it is told, most often a part.
    let copy_s = formula::staging_s(bytes as f64, figures.bps.mean);
    Some(CopyFigures {
        cell: index,
        to: plan.to.clone(),
        layout: plan.layout.clone(),
        bps: figures.bps,
        objects_per_s: Rate::of(&ops).filter(|rate| rate.mean > 0.0),
        bytes,
        copy_s,
        payoffs: payoffs(record, lines, cells, readers, (cell, copy_s)),
    })
}

/// Every cell that reads the source, with the fastest alike that reads the copy.
fn payoffs(
    record: &RunRecord,
    lines: &Lines<'_>,
    cells: &[CellSummary],
    readers: &Readers,
    (copying, copy_s): (&CellSummary, f64),
) -> Vec<Payoff> {
    let numbered = |index: &usize| (*index, &cells[*index]);
    let is_source = |cell: &CellSummary| {
        cell.cell.target == copying.cell.target && cell.cell.dataset == copying.cell.dataset
    };
    let sources = readers.of_dataset.beside(&record.run, &copying.cell).iter().map(numbered);
    let sources = sources.filter(|(_, cell)| is_source(cell));
    let payoff = |(source, of_source): (usize, &CellSummary)| {
        let alike = readers.alike.beside(&record.run, &of_source.cell).iter().map(numbered);
        let copies = alike.filter(|(_, cell)| {
            !is_source(cell) && reads_copy(record, copying, cell) && is_alike(record, of_source, cell)
        });
        let rate = |cell: &CellSummary| cell.figures().map_or(0.0, |figures| figures.samples_per_s.mean);
        // The fastest reader of the copy: whoever copies can choose how to read it.
        let (copy, of_copy) = copies.max_by(|a, b| rate(a.1).total_cmp(&rate(b.1)))?;
        let epoch_s = |cell: &CellSummary| epoch_s(record, cell);
        let (source_epoch_s, copy_epoch_s) = (epoch_s(of_source)?, epoch_s(of_copy)?);
        Some(Payoff {
            source,
            copy,
            source_epoch_s,
            copy_epoch_s,
            source_first_s: first_s(lines, of_source, &record.run.measure),
            copy_first_s: first_s(lines, of_copy, &record.run.measure).map(|first| copy_s + first),
            break_even: formula::break_even_epochs(copy_s, source_epoch_s, copy_epoch_s),
        })
    };
    sources.filter_map(payoff).collect()
}

fn reads_copy(record: &RunRecord, copying: &CellSummary, cell: &CellSummary) -> bool {
    let Some(plan) = &copying.cell.copy else { return false };
    let layout =
        |cell: &CellSummary| record.run.datasets.get(cell.cell.dataset).map(|one| one.layout.clone());
    let wanted = plan.layout.clone().or_else(|| layout(copying));
    cell.cell.target == plan.to && layout(cell) == wanted
}

/// Whether two cells take samples in the same way: as many at once, by the same job, and as many in an epoch.
fn is_alike(record: &RunRecord, source: &CellSummary, copy: &CellSummary) -> bool {
    let samples = |cell: &CellSummary| record.run.datasets.get(cell.cell.dataset).map(samples::samples);
    alike(&record.run, &source.cell, &copy.cell, axis::COPY) && samples(source) == samples(copy)
}

fn epoch_s(record: &RunRecord, cell: &CellSummary) -> Option<f64> {
    let samples = samples::samples(record.run.datasets.get(cell.cell.dataset)?);
    let rate = cell.figures()?.samples_per_s.mean;
    (samples > 0 && rate > 0.0).then(|| samples as f64 / rate)
}

/// Seconds until the first batch of a training job, else until the first operation of the first epoch; the mean over
/// repetitions.
fn first_s(lines: &Lines<'_>, cell: &CellSummary, measure: &Measure) -> Option<f64> {
    if let Some(training) = cell.figures().and_then(|figures| figures.training.as_ref()) {
        // A job waits for a whole batch, which is what its user sees.
        return (training.first_batch_ns > 0).then(|| training.first_batch_ns as f64 / 1e9);
    }
    let reps = Repetitions::of(lines.of_cell(&cell.cell.cell), &cell.cell, Role::Measure, measure).used;
    let first = |rep: &&record::Rep| {
        let epoch = rep.epochs.iter().min_by_key(|epoch| epoch.epoch)?;
        Some(epoch.first_ns.saturating_sub(epoch.begun_ns) as f64 / 1e9)
    };
    mean(&reps.iter().filter_map(first).collect::<Vec<f64>>())
}
