//! A run, summarised: every row, curve, verdict and note that a report shows.

pub(crate) mod compared;
pub(crate) mod head;
pub(crate) mod next_look;
pub(crate) mod pressure;
pub(crate) mod quantiles;
pub(crate) mod roofline;
pub(crate) mod untested;
use feed::Need;
use record::{Axis, Cell, Dataset, Datasets, Role, Run, RunRecord, Skipped, Target};

use crate::cell::checkpoints::{self, Checkpoints};
use crate::cell::copies::{self, CopyFigures};
use crate::cell::crowd;
use crate::cell::epochs::{self, EpochFigures};
use crate::cell::figures::{Context, Figures};
use crate::cell::flag::{Flag, Gravity};
use crate::cell::in_parts::in_parts;
use crate::cell::layouts::{self, Layouts};
use crate::cell::lines::Lines;
use crate::cell::looks::{self, ERROR};
use crate::cell::need::{self, LineAt};
use crate::cell::network::NetworkFigures;
use crate::cell::operation;
use crate::cell::operations::Operations;
use crate::cell::ranks;
use crate::cell::repetitions::Repetitions;
use crate::cell::steadiness;
use crate::cell::system::SystemFigures;
use crate::cell::training;
use crate::cell::validity;
use crate::choice;
use crate::curve::prediction::{self, Predictions};
use crate::curve::{self, Panel};
use crate::summary::head::{CeilingFigures, DatasetFigures, Head};
use crate::summary::quantiles::PercentileCurve;
use crate::verdict::sizing::{self, Sizing};
use crate::verdict::tiers;
use crate::verdict::{self, Source, Unjudged, Verdict};

/// Everything a report needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which run this is.
    pub head: Head,
    /// What the accelerators consume, or why the record does not say.
    pub need: Result<Need, String>,
    /// Distinct datasets, in the order of the record.
    pub datasets: Vec<DatasetFigures>,
    /// Storages under test, in the order of the scenario.
    pub targets: Vec<Target>,
    /// Every planned cell, in the order of the scenario; none is missing, but for those that a search had no need of.
    pub cells: Vec<CellSummary>,
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
    /// Pass by pass over the data, for each cell that tells of its passes.
    pub epochs: Vec<EpochFigures>,
    /// Checkpoints that were written and read back.
    pub checkpoints: Checkpoints,
    /// Datasets that were copied or packed.
    pub copies: Vec<CopyFigures>,
    /// Latency by percentile, of the cells that a picture of it shows.
    pub percentiles: Vec<PercentileCurve>,
    /// What is known of each cache between the reads and the storage; empty for records of format 1.0, which do
    /// not tell enough.
    pub tiers: Vec<String>,
    /// What the verdicts do not cover.
    pub not_tested: Vec<String>,
    /// What a reader must know of this run.
    pub notes: Vec<String>,
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
        let rests = |verdict: &Verdict| !verdict.demo && verdict.cell.as_deref() == Some(&cell.cell.cell);
        cell.confirmed.as_ref().filter(|_| self.verdicts.iter().any(rests))?.figures()
    }

    /// Whether a verdict, or the edge of a search, rests on this cell.
    pub fn is_judged(&self, cell: &CellSummary) -> bool {
        let name = cell.cell.cell.as_str();
        let edges = self.sizings.iter().flat_map(|sizing| sizing.meets.iter().chain(&sizing.misses));
        self.verdicts.iter().any(|verdict| verdict.cell.as_deref() == Some(name))
            || edges.into_iter().any(|edge| edge.cell == name)
    }
}

/// One cell and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSummary {
    /// Its settings.
    pub cell: Cell,
    /// False for the null target.
    pub storage: bool,
    /// Bytes of one sample of its dataset; absent when the record does not say.
    pub sample_bytes: Option<f64>,
    /// The line it is compared with; absent without a need or a sample size, and where no bytes are moved.
    pub line: Option<LineAt>,
    /// The interleaved repetitions.
    pub measured: Measurement,
    /// The fresh repetitions of a chosen cell; absent when there are none.
    pub confirmed: Option<Measurement>,
    /// What the machine did during the interleaved repetitions; absent for the null target, and where the record
    /// does not say.
    pub system: Option<SystemFigures>,
    /// What the interleaved repetitions say of the way to the storage; absent for storage that is not behind a network.
    pub network: Option<NetworkFigures>,
}

impl CellSummary {
    /// Bytes of a sample as the scenario asks for it, before any packing; absent for data that were there before.
    pub fn payload_bytes(&self) -> Option<f64> {
        layouts::payload(&self.cell)
    }

    /// Figures of the interleaved repetitions.
    pub fn figures(&self) -> Option<&Figures> {
        self.measured.figures()
    }

    /// Figures of a cell that looks up or lists names.
    pub fn operations(&self) -> Option<&Operations> {
        match &self.measured {
            Measurement::Operations(operations) => Some(operations),
            _ => None,
        }
    }

    /// Whether any repetition makes a point, of whatever kind.
    pub fn is_measured(&self) -> bool {
        matches!(self.measured, Measurement::Figures(_) | Measurement::Operations(_))
    }

    /// Whether it opens, reads and closes a whole file each time.
    pub fn reads_whole_files(&self) -> bool {
        operation::is_whole_file(&self.cell)
    }

    /// Whether it writes a checkpoint, reads one back, or copies a dataset: then no line is held against it.
    pub fn is_transfer(&self) -> bool {
        operation::is_transfer(&self.cell)
    }

    /// Its engine, and for maps what the kernel was told of them: `io_uring`, `mmap (random)`.
    pub fn engine_label(&self) -> String {
        let advice = self.cell.axes.iter().find(|words| words.axis() == Axis::Advice);
        match advice.filter(|_| self.cell.engine == "mmap") {
            Some(advice) => format!("{} ({})", self.cell.engine, advice.value),
            None => self.cell.engine.clone(),
        }
    }

    /// Whether names and inodes are known not to have been in memory before any repetition of it.
    pub fn names_are_dropped(&self) -> bool {
        let known = |measurement: &Measurement| match measurement {
            Measurement::Figures(figures) => figures.names_dropped,
            Measurement::Operations(operations) => operations.names_dropped,
            Measurement::Failed { .. } | Measurement::NotRun { .. } => Some(true),
        };
        let all = std::iter::once(&self.measured).chain(&self.confirmed);
        self.is_measured() && all.map(known).all(|known| known == Some(true))
    }

    /// Reasons to doubt its figures in words; those of the fresh repetitions that the others do not have say so, and
    /// stand last.
    pub fn doubts(&self) -> Vec<(&Flag, String)> {
        let said: Vec<(&Flag, String)> =
            self.measured.flags().iter().map(|flag| (flag, flag.to_string())).collect();
        let fresh = self.confirmed.iter().flat_map(Measurement::flags).map(|flag| (flag, flag.to_string()));
        let new = fresh.filter(|(_, words)| said.iter().all(|(_, known)| known != words));
        let new: Vec<_> = new.map(|(flag, words)| (flag, format!("confirmation: {words}"))).collect();
        said.into_iter().chain(new).collect()
    }

    /// Reasons to doubt its figures, those of the fresh repetitions last and none of them twice.
    pub fn flags(&self) -> Vec<&Flag> {
        let mut flags: Vec<&Flag> = self.measured.flags().iter().collect();
        let fresh = self.confirmed.iter().flat_map(Measurement::flags);
        flags.extend(fresh.filter(|flag| !self.measured.flags().contains(flag)));
        flags
    }

    /// Whether the lower end of the measured interval is at the line or above it.
    pub fn clears(&self) -> bool {
        let low =
            self.figures().and_then(|figures| figures.samples_per_s.interval).map(|interval| interval.low);
        matches!((low, self.line), (Some(low), Some(line)) if low >= line.samples_per_s)
    }
}

/// What became of the repetitions of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Measurement {
    /// At least one repetition makes a point.
    Figures(Box<Figures>),
    /// The same, of a cell that moves no bytes.
    Operations(Box<Operations>),
    /// Repetitions were made, none of them makes a point.
    Failed {
        /// How many.
        repetitions: u32,
        /// Why the first of them failed.
        reason: String,
    },
    /// No repetition was made.
    NotRun {
        /// Why.
        reason: String,
    },
}

impl Measurement {
    /// The figures, if there are any.
    pub fn figures(&self) -> Option<&Figures> {
        match self {
            Self::Figures(figures) => Some(figures),
            Self::Operations(_) | Self::Failed { .. } | Self::NotRun { .. } => None,
        }
    }

    /// Reasons to doubt it.
    pub fn flags(&self) -> &[Flag] {
        match self {
            Self::Figures(figures) => &figures.flags,
            Self::Operations(operations) => &operations.flags,
            Self::Failed { .. } | Self::NotRun { .. } => &[],
        }
    }
}

/// Summarises a run. Never fails: what is missing or damaged is stated in the summary.
pub fn summarise(record: &RunRecord) -> Summary {
    let of_ranks = ranks::note(record);
    let folded = ranks::fold_ranks(record);
    let record = &*folded;
    let run = &record.run;
    let lines = Lines::of(record);
    let need = need::of_record(&run.need);
    let mut cells = in_parts(&run.cells, |cell| cell_summary(record, &lines, cell));
    if run.size.is_some() {
        cells.retain(|cell| !matches!(cell.measured, Measurement::NotRun { .. }));
    }
    training::beside::complete(record, &mut cells);
    if run.size.is_none() {
        // Values of a search are tried once, the one after the other: their order is no time that passes.
        steadiness::complete(&lines, &mut cells);
    }
    let mut panels = curve::panels(&cells, run);
    let predictions = prediction::of_run(record, &cells);
    if let Some(predictions) = &predictions {
        prediction::draw(record, predictions, &cells, &mut panels);
    }
    let mut summary = Summary {
        head: head::of_record(record, &lines, &cells),
        need,
        datasets: head::datasets(run, &lines),
        targets: head::targets(run),
        panels,
        ceilings: head::null_targets(&run.targets, &cells),
        cells,
        skipped: run.skipped.clone(),
        verdicts: Vec::new(),
        sizings: Vec::new(),
        unjudged: Vec::new(),
        predictions,
        layouts: Layouts::default(),
        epochs: Vec::new(),
        checkpoints: Checkpoints::default(),
        copies: Vec::new(),
        percentiles: Vec::new(),
        tiers: Vec::new(),
        not_tested: Vec::new(),
        notes: Vec::new(),
        gate: run.gate.clone(),
    };
    if let Some(axis) = &run.size {
        // A search judges no need: it says how large one may be.
        summary.sizings = sizing::of(&summary, axis);
    } else if run.variant.is_some() {
        summary.unjudged = verdict::of_variant(&summary);
    } else {
        let source = Source { record, lines: &lines, summary: &summary };
        (summary.verdicts, summary.unjudged) = verdict::of_targets(&source);
    }
    summary.layouts = layouts::of_run(record, &summary.cells);
    summary.epochs = epochs::of_run(record, &lines, &summary.cells);
    summary.checkpoints = checkpoints::of_run(record, &lines, &summary.cells);
    checkpoints::tell_verdicts(&mut summary);
    summary.copies = copies::of_run(record, &lines, &summary.cells);
    summary.percentiles = quantiles::curves(&summary, &lines, &run.measure);
    summary.tiers = tiers::of_run(record, &summary);
    summary.not_tested = untested::not_tested(record, &lines, &summary);
    summary.notes = untested::notes(record, &lines, &summary);
    summary.notes.extend(of_ranks);
    summary
}

fn cell_summary(record: &RunRecord, lines: &Lines<'_>, cell: &Cell) -> CellSummary {
    let run = &record.run;
    let reps = lines.of_cell(&cell.cell);
    let measured = Repetitions::of(reps, cell, Role::Measure, &run.measure);
    let confirmed = Repetitions::of(reps, cell, Role::Confirm, &run.measure);
    // A search tries a value once.
    let tried = record::Measure { repetitions: 1, ..run.measure.clone() };
    let measurement = |reps: &Repetitions<'_>, role: Role| {
        let measure = if run.size.is_some() && role == Role::Measure { &tried } else { &run.measure };
        let error = if role == Role::Confirm { error_of_fresh(run, cell, reps) } else { ERROR };
        match context(record, lines, cell, measure) {
            Some(context) => of_repetitions(&Context { error, ..context }, reps, lines),
            None => without_samples(),
        }
    };
    let storage = is_storage(run, cell);
    CellSummary {
        cell: cell.clone(),
        storage,
        sample_bytes: sample_bytes(run, cell),
        line: line(run, cell),
        measured: measurement(&measured, Role::Measure),
        confirmed: (!confirmed.is_empty()).then(|| measurement(&confirmed, Role::Confirm)),
        network: storage.then(|| NetworkFigures::of(cell, &measured.used)).flatten(),
        system: storage.then(|| SystemFigures::of_reps(&measured.used, cell)).flatten(),
    }
}

/// Error of an interval over fresh repetitions, which may have been looked at before, and beside another candidate. A search
/// looks once at each of its cells.
fn error_of_fresh(run: &Run, cell: &Cell, reps: &Repetitions<'_>) -> f64 {
    if run.size.is_some() || run.measure.fresh_rounds.is_none() {
        return ERROR;
    }
    let beside = run.cells.iter().filter(|one| one.target == cell.target && operation::reads_samples(one));
    let candidates = beside.count().min(choice::CANDIDATES_MAX) as u32;
    looks::error_at(&run.measure, reps.rounds(), candidates)
}

fn target_of<'a>(run: &'a Run, cell: &Cell) -> Option<&'a Target> {
    run.targets.iter().find(|target| target.name == cell.target)
}

pub(crate) fn is_storage(run: &Run, cell: &Cell) -> bool {
    target_of(run, cell).is_none_or(|target| target.storage)
}

/// Bytes of one sample of the cell's dataset, where the record says so.
fn sample_bytes(run: &Run, cell: &Cell) -> Option<f64> {
    run.datasets.get(cell.dataset).map(|dataset| dataset.sample_bytes).filter(|bytes| need::positive(*bytes))
}

fn line(run: &Run, cell: &Cell) -> Option<LineAt> {
    let sample_bytes = sample_bytes(run, cell).filter(|_| operation::reads_samples(cell))?;
    Some(LineAt::of(&need::of_record(&run.need).ok()?, sample_bytes))
}

/// What the figures of `cell` are computed with; `None` where the record does not say how large a sample is.
pub(crate) fn context<'a>(
    record: &'a RunRecord,
    lines: &'a Lines<'_>,
    cell: &'a Cell,
    measure: &'a record::Measure,
) -> Option<Context<'a>> {
    let run = &record.run;
    let (dataset, target) = (run.datasets.get(cell.dataset), target_of(run, cell));
    Some(Context {
        cell,
        storage: is_storage(run, cell),
        sample_bytes: sample_bytes(run, cell).or_else(|| without_sample(cell))?,
        line_samples_per_s: line(run, cell).map(|line| line.samples_per_s),
        ceilings: &lines.ceilings,
        measure,
        error: ERROR,
        cores_online: record.env.cores_online.value().copied(),
        unallocated_share: dataset.map_or(0.0, untested::unallocated_share),
        compresses: target.is_some_and(tiers::compresses),
        memory_device: target.and_then(tiers::memory_device),
        server_is_local: target.is_some_and(tiers::server_is_local),
    })
}

/// What stands for the size of a sample where none is read: bytes are then counted one by one.
fn without_sample(cell: &Cell) -> Option<f64> {
    match (operation::is_metadata(cell), operation::is_transfer(cell)) {
        (true, _) => Some(0.0),
        (_, true) => Some(1.0),
        _ => None,
    }
}

fn without_samples() -> Measurement {
    let reason = "run.json does not say how large a sample of this cell is".to_owned();
    Measurement::Failed { repetitions: 0, reason }
}

fn of_repetitions(context: &Context<'_>, reps: &Repetitions<'_>, lines: &Lines<'_>) -> Measurement {
    let of_run = |flags: &mut Vec<Flag>| add_flags_of_run(flags, context, reps, lines);
    if operation::is_metadata(context.cell) {
        if let Some(mut operations) = Operations::of(context, reps) {
            of_run(&mut operations.flags);
            return Measurement::Operations(Box::new(operations));
        }
    } else if let Some(mut figures) = Figures::of(context, reps) {
        of_run(&mut figures.flags);
        return Measurement::Figures(Box::new(figures));
    }
    match reps.reasons.first() {
        Some(reason) => Measurement::Failed { repetitions: reps.failed.len() as u32, reason: reason.clone() },
        None if reps.cut > 0 => Measurement::NotRun { reason: "interrupted too early to count".to_owned() },
        None => Measurement::NotRun { reason: lines.not_run(&context.cell.cell) },
    }
}

/// Adds the reasons to doubt that lie in the run around the repetitions of a cell.
pub(crate) fn add_flags_of_run(
    flags: &mut Vec<Flag>,
    context: &Context<'_>,
    reps: &Repetitions<'_>,
    lines: &Lines<'_>,
) {
    if lines.end.is_some_and(|end| end.changed.contains(&context.cell.dataset)) {
        flags.insert(0, Flag::DatasetChanged);
    }
    flags.extend(lines.end.into_iter().flat_map(|end| validity::second_reading(end, &reps.used)));
    let system = SystemFigures::of_reps(&reps.used, context.cell);
    flags.extend(validity::not_from_storage(context, system.as_ref()));
    flags.extend(crowd::others_read(context.storage, system.as_ref(), &reps.used));
    flags.extend(missing(context, reps, lines));
    flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
}

/// Repetitions that were planned and are not among those counted.
fn missing(context: &Context<'_>, reps: &Repetitions<'_>, lines: &Lines<'_>) -> Option<Flag> {
    let made = (reps.used.len() + reps.failed.len()) as u32;
    let repetitions = context.measure.repetitions.saturating_sub(made);
    let reason = if reps.cut > 0 {
        "interrupted too early to count".to_owned()
    } else {
        lines.not_run(&context.cell.cell)
    };
    (repetitions > 0).then_some(Flag::Missing { repetitions, reason })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Builder, confirmed_at};
    use crate::summarise;

    fn doubts(edit: impl Fn(&mut record::Rep)) -> Vec<String> {
        let mut builder = confirmed_at(&[1.5; 3]);
        builder.edit_reps("c", edit);
        let summary = summarise(&builder.record());
        summary.cells[0].doubts().into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn doubts_of_the_confirmation_say_so_and_are_not_told_twice() {
        let both = doubts(|rep| {
            rep.errors.insert("io".to_owned(), 1);
        });
        assert_eq!(both, ["under 0.1 % errors: 3 io"]);
        let fresh = doubts(|rep| {
            if rep.role == record::Role::Confirm {
                rep.errors.insert("io".to_owned(), 1);
            }
        });
        assert_eq!(fresh, ["confirmation: under 0.1 % errors: 3 io"]);
    }

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
