//! A run, summarised: every row, curve, verdict and note that a report shows.

mod caches;
pub(crate) mod compared;
mod coverage;
pub(crate) mod head;
pub(crate) mod ladder;
pub(crate) mod loader;
pub(crate) mod next_look;
pub(crate) mod not_tested;
pub(crate) mod note;
mod notes;
mod outages;
pub(crate) mod plane;
pub(crate) mod pressure;
pub(crate) mod quantiles;
pub(crate) mod roofline;
pub(crate) mod soak;
mod surroundings;

use std::collections::BTreeMap;

use feed::Need;
use record::{Dataset, Datasets, RunRecord, Skipped, Target};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::checkpoints::{self, Checkpoints};
use crate::cell::copies::{self, CopyFigures};
use crate::cell::datasets::{self, DatasetFigures};
use crate::cell::each_rank::{self, CellRanks};
use crate::cell::epochs::{self, CellEpochs};
use crate::cell::figures::Figures;
use crate::cell::layouts::{self, Layouts};
use crate::cell::lines::Lines;
use crate::cell::need::{self, LineAt, NoNeed};
use crate::cell::ranks::{self, Ranks, TeamFacts};
use crate::cell::{self, operation};
use crate::choice;
use crate::curve::Panel;
use crate::curve::prediction::{self, Predictions};
use crate::summary::head::{CeilingFigures, Head};
use crate::summary::not_tested::NotTested;
use crate::summary::note::Note;
use crate::summary::quantiles::PercentileCurve;
use crate::verdict::sizing::Sizing;
use crate::verdict::tiers::{self, CacheTier};
use crate::verdict::{Judged, Source, Unjudged, Verdict, rests_on};

/// Everything a report needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which run this is.
    pub head: Head,
    /// What the accelerators consume, or why the record does not say.
    pub need: Result<Need, NoNeed>,
    /// Distinct datasets, in the order of the record.
    pub datasets: Vec<DatasetFigures>,
    /// Storages under test, in the order of the scenario.
    pub targets: Vec<Target>,
    /// Every planned cell, in the order of the scenario; none is missing, but for those that a search had no need of.
    pub cells: Vec<CellSummary>,
    /// What each process did, for each cell that several measured together.
    pub ranks: Vec<CellRanks>,
    /// Combinations left out before the run.
    pub skipped: Vec<Skipped>,
    /// Cells that read in a closed loop, arranged for plots and tables.
    pub panels: Vec<Panel>,
    /// One for each storage target that something can be said of, in the order of the scenario.
    pub verdicts: Vec<Verdict>,
    /// What `size` found, one for each way of reading each target; empty for other runs.
    pub sizings: Vec<Sizing>,
    /// Storage targets that were measured in ways that no verdict can rest on.
    pub unjudged: Vec<Unjudged>,
    /// What this client does without storage, for each null target.
    pub ceilings: Vec<CeilingFigures>,
    /// What was to be expected; absent where nothing was said beforehand.
    pub predictions: Option<Predictions>,
    /// How samples lie in objects, and what packing them gains; empty where each is a file.
    pub layouts: Layouts,
    /// Epoch by epoch, for each cell that tells of its epochs.
    pub epochs: Vec<CellEpochs>,
    /// Checkpoints that were written and read back.
    pub checkpoints: Checkpoints,
    /// Datasets that were copied or packed.
    pub copies: Vec<CopyFigures>,
    /// Latency by percentile, of the cells that a picture of it shows.
    pub percentiles: Vec<PercentileCurve>,
    /// What is known of each cache between the reads and the storage; empty for records of format 1.0, which do
    /// not tell enough.
    pub tiers: Vec<CacheTier>,
    /// What the verdicts do not cover.
    pub not_tested: Vec<NotTested>,
    /// What a reader must know of this run.
    pub notes: Vec<Note>,
    /// What decides the exit code.
    pub gate: record::Gate,
}

impl Datasets for Summary {
    fn dataset(&self, index: usize) -> Option<&Dataset> {
        self.datasets.get(index).map(|figures| &figures.dataset)
    }
}

impl Summary {
    /// A cell by its name.
    pub fn cell(&self, name: &str) -> Option<&CellSummary> {
        self.cells.iter().find(|cell| cell.cell.cell == name)
    }

    /// All cells by their names, for whoever looks for many.
    pub fn by_name(&self) -> BTreeMap<&str, &CellSummary> {
        self.as_cells().by_name()
    }

    /// Cells that look up or list names.
    pub fn metadata(&self) -> impl Iterator<Item = &CellSummary> {
        self.cells.iter().filter(|cell| operation::is_metadata(&cell.cell))
    }

    /// Cells whose reads begin by a schedule.
    pub fn paced(&self) -> impl Iterator<Item = &CellSummary> {
        self.cells.iter().filter(|cell| cell.cell.pace.is_some())
    }

    /// Cells that play a training job.
    pub fn training(&self) -> impl Iterator<Item = &CellSummary> {
        self.cells.iter().filter(|cell| cell.cell.training.is_some())
    }

    /// Figures of the fresh repetitions of a cell, where a verdict on its target rests on them.
    pub fn deciding<'a>(&self, cell: &'a CellSummary) -> Option<&'a Figures> {
        let rests = |verdict: &Verdict| !verdict.demo && verdict.rests_on(&cell.cell.cell);
        // Control cells are measured afresh too; they decide nothing, and shown as deciding they would contradict the verdict.
        cell.confirmed.as_ref().filter(|_| self.verdicts.iter().any(rests))?.figures()
    }

    /// The verdict whose reads are judged by this cell.
    pub fn verdict_on(&self, cell: &CellSummary) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.cell() == Some(&cell.cell.cell))
    }

    /// Whether a verdict, or the edge of a search, rests on this cell.
    pub fn is_judged(&self, cell: &CellSummary) -> bool {
        rests_on(&self.verdicts, &self.sizings, &cell.cell.cell)
    }

    /// Its cells side by side.
    pub(crate) fn as_cells(&self) -> Cells<'_> {
        Cells { need: &self.need, datasets: &self.datasets, targets: &self.targets, all: &self.cells }
    }
}

/// Summarises a run. Never fails: what is missing or damaged is stated in the summary.
pub fn summarise(record: &RunRecord) -> Summary {
    // Before folding, which leaves one repetition of each set of ranks and with it nothing to say who made it.
    let of_ranks = Ranks::of(record);
    let of_team = record.run.team.as_ref().map(|team| Note::Team(TeamFacts::of(team)));
    let of_each = record;
    let folded = ranks::fold_ranks(record);
    let record = &*folded;
    let run = &record.run;
    let lines = Lines::of(record);
    let (need, targets) = (need::of_record(&run.need), head::targets(run));
    let datasets = datasets::of_run(run, &lines);
    let mut all = cell::of_run(record, &lines);
    let ranks = each_rank::of_run(of_each, &lines, &all);
    each_rank::complete(&ranks, &mut all);
    let cells = Cells { need: &need, datasets: &datasets, targets: &targets, all: &all };
    let checkpoints = checkpoints::of_run(record, &lines, &all);
    let (panels, predictions) = prediction::curves(record, &all);
    let source =
        Source { record, lines: &lines, ranks: of_ranks, cells, panels: &panels, checkpoints: &checkpoints };
    let judged = Judged::of(&source);
    // After the verdicts: of the cells of one target and engine the judged one has the curve.
    let percentiles = quantiles::curves(&source, &judged);
    let not_tested = coverage::of_run(&source, &judged);
    // Last of the notes: it informs, while those before it may spoil a figure.
    let notes = notes::of_run(&source).into_iter().chain(of_ranks.map(Note::Ranks)).chain(of_team).collect();
    Summary {
        head: head::of_record(record, &lines, &all),
        ceilings: head::null_targets(&run.targets, &all),
        skipped: run.skipped.clone(),
        verdicts: judged.verdicts,
        sizings: judged.sizings,
        unjudged: judged.unjudged,
        predictions,
        layouts: layouts::of_run(record, &all),
        epochs: epochs::of_run(record, &lines, &all),
        copies: copies::of_run(record, &lines, &all),
        tiers: tiers::of_run(record, &cells),
        percentiles,
        not_tested,
        notes,
        ranks,
        gate: run.gate.clone(),
        checkpoints,
        panels,
        need,
        datasets,
        targets,
        cells: all,
    }
}

/// The cell of `target` that its verdict should rest on, from the interleaved repetitions alone.
pub fn choose_cell<'a>(summary: &'a Summary, target: &str) -> Option<&'a CellSummary> {
    choice::chosen(&summary.as_cells(), target)
}

// Two lines a thousandth apart would be drawn on one pixel and listed twice.
/// How far two lines may be apart and be one: the copies of a user's data differ by a file or two.
const LINES_APART: f64 = 1e-3;

/// The lines of a run, each once, in the order of its cells: one for each size of samples. They are those of all processes,
/// however many took part in a cell.
pub fn lines(summary: &Summary) -> Vec<LineAt> {
    let close = |a: f64, b: f64| (a / b - 1.0).abs() <= LINES_APART;
    let mut lines: Vec<LineAt> = Vec::new();
    let of_all = |cell: &CellSummary| {
        let parts = cell.cell.ranks.map_or(1.0, |ranks| f64::from(summary.head.ranks) / f64::from(ranks));
        Some(cell.line?.times(parts))
    };
    for line in summary.cells.iter().filter_map(of_all) {
        let same =
            |known: &LineAt| close(known.samples_per_s, line.samples_per_s) && close(known.bps, line.bps);
        if !lines.iter().any(same) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::fixture::Builder;
    use crate::summarise;

    #[test]
    fn a_map_is_labelled_with_its_advice() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        let label = |builder: &Builder| summarise(&builder.record()).cells[0].engine_label();
        assert_eq!(label(&builder), "io_uring");
        builder.edit_cell("c", |cell| {
            cell.engine = "mmap".to_owned();
            let (name, value) = ("madvise".to_owned(), "random".to_owned());
            cell.axes = vec![record::AxisWords { name, value, unit: String::new() }];
        });
        assert_eq!(label(&builder), "mmap (random)");
    }
}
