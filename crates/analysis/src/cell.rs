//! What was measured of each cell: the lowest layer, from a record alone.
//!
//! [`of_run`] is the way from the lines of a record to its cells. `lines` and `repetitions` sort what was measured,
//! `figures` and `operations` reckon it, `validity` and the `flags` beside it doubt it. What other cells say of one is added
//! before any of them is handed on: by `training::beside` and `steadiness`.

pub(crate) mod by_repetition;
pub(crate) mod cell_summary;
pub(crate) mod cells;
pub(crate) mod checkpoints;
pub(crate) mod context;
pub(crate) mod copies;
pub(crate) mod counters;
pub(crate) mod crowd;
pub(crate) mod datasets;
pub(crate) mod diagnosis;
pub(crate) mod distribution;
pub(crate) mod each_rank;
pub(crate) mod epochs;
pub(crate) mod facts;
pub(crate) mod figures;
pub(crate) mod flag;
pub(crate) mod fresh;
pub(crate) mod gap;
pub(crate) mod in_parts;
pub(crate) mod interval;
pub(crate) mod latency;
pub(crate) mod layouts;
pub(crate) mod line_fit;
pub(crate) mod lines;
pub(crate) mod looks;
pub(crate) mod metric;
pub(crate) mod mix;
pub(crate) mod need;
pub(crate) mod network;
pub(crate) mod operation;
pub(crate) mod operations;
pub(crate) mod over_time;
pub(crate) mod paced;
pub(crate) mod page_cache;
pub(crate) mod point;
pub(crate) mod ranks;
pub(crate) mod rate;
pub(crate) mod repetitions;
pub(crate) mod samples;
pub(crate) mod set_apart;
pub(crate) mod slow_rank;
pub(crate) mod steadiness;
pub(crate) mod system;
pub(crate) mod training;
pub(crate) mod validity;

use record::{Cell, Role, Run, RunRecord, Target};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::context::Context;
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::gap::GapCause;
use crate::cell::in_parts::in_parts;
use crate::cell::lines::Lines;
use crate::cell::looks::{CANDIDATES_MAX, ERROR};
use crate::cell::need::LineAt;
use crate::cell::network::NetworkFigures;
use crate::cell::operations::Operations;
use crate::cell::repetitions::Repetitions;
use crate::cell::system::SystemFigures;

/// Every cell of a run with its figures, and with what follows for it from the cells beside it; of a search only those that
/// were tried, or were to be and had no time.
pub(crate) fn of_run(record: &RunRecord, lines: &Lines<'_>) -> Vec<CellSummary> {
    let run = &record.run;
    let mut cells = in_parts(&run.cells, |cell| cell_summary(record, lines, cell));
    if run.size.is_some() {
        // A search plans every value and tries a few: the rest were never meant to run, and rows of them would look like a run
        // that was cut.
        let left = lines.end.map_or(&[][..], |end| &end.not_run);
        let is_left = |cell: &CellSummary| left.iter().any(|one| one.cell == cell.cell.cell);
        cells.retain(|cell| !matches!(cell.measured, Measurement::NotRun { .. }) || is_left(cell));
    }
    // Only now: a prediction needs the figures of all closed loops, which may stand behind the job in the scenario.
    training::beside::complete(record, &mut cells);
    if run.size.is_none() {
        // Values of a search are tried once, the one after the other: their order is no time that passes.
        steadiness::complete(lines, &mut cells);
    }
    cells
}

fn cell_summary(record: &RunRecord, lines: &Lines<'_>, cell: &Cell) -> CellSummary {
    let run = &record.run;
    let reps = lines.of_cell(&cell.cell);
    let measured = Repetitions::of(reps, cell, Role::Measure, &run.measure);
    let confirmed = Repetitions::of(reps, cell, Role::Confirm, &run.measure);
    // A search tries a value once.
    // `measure.repetitions` is meant for the fresh repetitions of a search; held against its tries it would flag each as
    // lacking some.
    let tried = record::Measure { repetitions: 1, ..run.measure.clone() };
    let measurement = |reps: &Repetitions<'_>, role: Role| {
        let measure = if run.size.is_some() && role == Role::Measure { &tried } else { &run.measure };
        let error = if role == Role::Confirm { error_of_fresh(record, cell, reps) } else { ERROR };
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
        // The null target opens no socket, so that whatever crossed the interface meanwhile was not its own.
        network: storage.then(|| NetworkFigures::of(cell, &measured.used)).flatten(),
        system: storage.then(|| SystemFigures::of_reps(&measured.used, cell)).flatten(),
    }
}

/// Error of an interval over fresh repetitions, which may have been looked at before, and beside another candidate. A search
/// looks once at each of its cells.
pub(crate) fn error_of_fresh(record: &RunRecord, cell: &Cell, reps: &Repetitions<'_>) -> f64 {
    let run = &record.run;
    if run.size.is_some() || run.measure.fresh_rounds.is_none() {
        // Records before format 1.6, and searches, looked once: the whole error belongs to that look.
        return ERROR;
    }
    // Of cells that write or restore there is one each, and none is chosen.
    let asked = need::flow(&run.need);
    let is_judged = |one: &Cell| operation::is_asked_for(one, asked);
    let is_beside = |one: &&Cell| one.target == cell.target && is_judged(one);
    let beside = run.cells.iter().filter(|one| is_judged(cell) && is_beside(one));
    // With one cell there is nobody to share the error with, and halving it would cost rounds for nothing.
    let candidates = beside.count().min(CANDIDATES_MAX) as u32;
    let seen: Vec<u32> = record.segments.iter().map(|segment| reps.rounds_before(segment.at_ns)).collect();
    looks::error_at(&run.measure, reps.rounds(), candidates, &seen)
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

/// The line of a cell; `None` where the record draws none for it.
pub(crate) fn line(run: &Run, cell: &Cell) -> Option<LineAt> {
    let sample_bytes =
        sample_bytes(run, cell).filter(|_| operation::is_asked_for(cell, need::flow(&run.need)))?;
    let need = need::of_record(&run.need).ok()?;
    let line = match mix::share(cell) {
        Some(write_share) => LineAt {
            write_percent: cell.write_percent,
            ..LineAt::of(&need.of_mix(write_share, sample_bytes), sample_bytes)?
        },
        None => LineAt::of(&need, sample_bytes)?,
    };
    // The need is that of all processes; some of them need their part.
    Some(cell.ranks.map_or(line, |ranks| line.times(f64::from(ranks) / f64::from(run.ranks))))
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
        ceilings: lines.ceilings_of(&cell.cell),
        measure,
        error: ERROR,
        cores_online: record.env.cores_online.value().copied(),
        unallocated_share: dataset.map_or(0.0, facts::unallocated_share),
        compresses: target.is_some_and(facts::compresses),
        memory_device: target.and_then(facts::memory_device),
        flushed_medium: target.and_then(facts::flushed_medium),
        server_is_local: target.is_some_and(facts::server_is_local),
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
    Measurement::Failed { repetitions: 0, reason: GapCause::NoSampleSize.into() }
}

fn of_repetitions(context: &Context<'_>, reps: &Repetitions<'_>, lines: &Lines<'_>) -> Measurement {
    let of_run = |flags: &mut Vec<Flag>| add_flags_of_run(flags, context, reps, lines);
    if operation::is_metadata(context.cell) {
        // Names have no bytes: as throughput they would be a rate of zero, which starves every line.
        if let Some(mut operations) = Operations::of(context, reps) {
            of_run(&mut operations.flags);
            return Measurement::Operations(Box::new(operations));
        }
    } else if let Some(mut figures) = Figures::of(context, reps) {
        of_run(&mut figures.flags);
        return Measurement::Figures(Box::new(figures));
    }
    match reps.gaps.first() {
        Some(gap) => Measurement::Failed { repetitions: reps.failed.len() as u32, reason: gap.clone() },
        None => Measurement::NotRun { reason: lines.not_made(reps, &context.cell.cell) },
    }
}

/// Adds the reasons to doubt that lie in the run around the repetitions of a cell.
pub(crate) fn add_flags_of_run(
    flags: &mut Vec<Flag>,
    context: &Context<'_>,
    reps: &Repetitions<'_>,
    lines: &Lines<'_>,
) {
    // Of every part of a run that was gone on with: files that changed before the interruption changed under the repetitions
    // made then, whatever a later part found.
    if lines.ends.iter().any(|end| end.changed.contains(&context.cell.dataset)) {
        flags.insert(0, Flag::DatasetChanged);
    }
    let mut not_looked_at = lines.end.into_iter().flat_map(|end| &end.not_looked_at);
    if let Some(one) = not_looked_at.find(|one| one.dataset == context.cell.dataset) {
        // The first line is the error; hints follow, which are for whoever was at the terminal.
        let reason = one.reason.lines().next().unwrap_or_default().to_owned();
        flags.insert(0, Flag::NotLookedAt { reason });
    }
    if !lines.elsewhere.is_empty() {
        flags.insert(0, Flag::GoneOnElsewhere(lines.elsewhere.clone()));
    }
    flags.extend(lines.rereads.iter().flat_map(|again| validity::second_reading(again, &reps.used)));
    let system = SystemFigures::of_reps(&reps.used, context.cell);
    flags.extend(validity::not_from_storage(context, system.as_ref()));
    flags.extend(crowd::others_read(context.cell, context.storage, system.as_ref(), &reps.used));
    flags.extend(validity::not_written(context, system.as_ref()));
    flags.extend(crowd::others_wrote(context.cell, context.storage, system.as_ref()));
    flags.extend(missing(context, reps, lines));
    // A stable sort: among those that forbid, the order of the checks is that in which causes explain one another, and the
    // first is what a verdict names.
    flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
}

/// Repetitions that were planned and are not among those counted.
fn missing(context: &Context<'_>, reps: &Repetitions<'_>, lines: &Lines<'_>) -> Option<Flag> {
    let made = (reps.used.len() + reps.failed.len()) as u32;
    let repetitions = context.measure.repetitions.saturating_sub(made);
    let reason = || lines.not_made(reps, &context.cell.cell);
    (repetitions > 0).then(|| Flag::Missing { repetitions, reason: reason() })
}
