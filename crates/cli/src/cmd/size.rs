//! `feedline size`: how many accelerators a storage feeds, or the least that feeds those of the need.

use std::collections::BTreeSet;

use analysis::Summary;
use engine::{Bench, Harder, Search, Try};
use plan::{Cell, DatasetSpec, Fetch, Load, Plan, Training};
use record::NotRun;

use crate::args::{Find, InputArgs, SizeArgs};
use crate::exit::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::session::{Ready, Session};

/// Depths that are tried: doublings from 1.
const DEPTHS_MAX: u32 = 13;

pub(crate) fn size(args: &SizeArgs) -> Result<Exit, Failure> {
    let loaded = widened(args)?;
    let rows = rows(&loaded.plan, args.find);
    let ready = Ready::make(loaded, &args.measure)?;
    let mut session = Session::begin(&ready, args.measure.no_redact, Some(args.find.axis()))?;
    let interrupted = session.execute(|session, bench| find(&ready, &rows, args.find, session, bench))?;
    let summary = session.conclude()?;
    Ok(if interrupted { Exit::Interrupted } else { exit_of(&summary) })
}

/// The scenario as a training job, with every value that may be tried.
fn widened(args: &SizeArgs) -> Result<Loaded, Failure> {
    let training = with(&args.input, vec!["load.mode=\"training\"".to_owned()]);
    let most = match args.find {
        // What a dataset has no samples for is not tried.
        Find::Accelerators => most_accelerators(&load::load(&training)?.plan).min(args.most.unwrap_or(128)),
        Find::Readers | Find::Prefetch => args.most.unwrap_or(64),
        Find::Depth => args.most.unwrap_or(1024),
    };
    let key = match args.find {
        Find::Depth => "load.queue_depth".to_owned(),
        find => format!("training.{}", find.axis()),
    };
    let values: Vec<String> = match args.find {
        Find::Depth => (0..DEPTHS_MAX)
            .map(|power| 1 << power)
            .filter(|n| *n <= most)
            .map(|n: u32| n.to_string())
            .collect(),
        Find::Prefetch => (0..=most).map(|n| n.to_string()).collect(),
        Find::Accelerators | Find::Readers => (1..=most).map(|n| n.to_string()).collect(),
    };
    load::load(&with(&training, vec![format!("{key}=[{}]", values.join(", "))]))
}

fn with(input: &InputArgs, more: Vec<String>) -> InputArgs {
    let set = input.set.iter().cloned().chain(more).collect();
    InputArgs { input: input.input.clone(), need: input.need.clone(), set }
}

fn training(cell: &Cell) -> Option<&Training> {
    match &cell.load {
        Load::Training(training) => Some(training),
        Load::Closed | Load::Paced(_) => None,
    }
}

/// Accelerators for which the smallest dataset has one step.
fn most_accelerators(plan: &Plan) -> u32 {
    let of_cell = |cell: &Cell| {
        let DatasetSpec::Generate { samples, .. } = plan.dataset(cell) else { return None };
        let batch = u64::from(training(cell)?.batch).max(1);
        Some(u32::try_from(samples / batch).unwrap_or(u32::MAX).max(1))
    };
    plan.cells.iter().filter_map(of_cell).min().unwrap_or(u32::MAX)
}

/// Cells that differ in the searched value alone, from the easiest to the hardest.
struct Row {
    cells: Vec<usize>,
    values: Vec<u32>,
    /// Where the search begins.
    first: usize,
}

fn rows(plan: &Plan, find: Find) -> Vec<Row> {
    let rows = grouped(plan, find, true);
    // By default readers bring their own prefetch: only where several were asked for of one number of readers is it a
    // coordinate of its own.
    let repeats = |row: &Row| (1..row.values.len()).any(|at| row.values[..at].contains(&row.values[at]));
    let rows =
        if find == Find::Readers && !rows.iter().any(repeats) { rows } else { grouped(plan, find, false) };
    rows.into_iter().map(|row| order(row, find, plan.need.accelerators)).collect()
}

fn grouped(plan: &Plan, find: Find, prefetch_follows: bool) -> Vec<Row> {
    let mut rows: Vec<(Vec<String>, Row)> = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let Some(job) = training(cell) else { continue };
        let Some(value) = find.value(cell, job) else { continue };
        let key = key(cell, job, find, prefetch_follows);
        let at = rows.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            rows.push((key, Row { cells: Vec::new(), values: Vec::new(), first: 0 }));
            rows.len() - 1
        });
        rows[at].1.cells.push(index);
        rows[at].1.values.push(value);
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Everything that tells a cell from others but the searched value and what follows from it: the depth of readers, and
/// threads.
fn key(cell: &Cell, job: &Training, find: Find, prefetch_follows: bool) -> Vec<String> {
    let follows = |name: &str| match name {
        "threads" => true,
        "queue_depth" => matches!(job.fetch, Fetch::Readers { .. }),
        "prefetch" => prefetch_follows && find == Find::Readers,
        _ => false,
    };
    let axes = cell.axes.iter().filter(|axis| axis.name != find.axis() && !follows(axis.name));
    let axes = axes.map(|axis| format!("{}={}{}", axis.name, axis.value, axis.unit));
    let place = [cell.target.to_string(), cell.dataset.to_string(), cell.engine.name().to_owned()];
    place.into_iter().chain(axes).collect()
}

fn order(row: Row, find: Find, needed: u32) -> Row {
    let mut pairs: Vec<(u32, usize)> = row.values.into_iter().zip(row.cells).collect();
    pairs.sort_unstable();
    if find.harder() == Harder::Falling {
        pairs.reverse();
    }
    let first = match find {
        Find::Accelerators => pairs.iter().position(|(value, _)| *value >= needed.max(1)),
        // A careful setting first: it tells whether anything is to be found.
        Find::Readers | Find::Depth | Find::Prefetch => Some(0),
    };
    let first = first.unwrap_or(pairs.len().saturating_sub(1));
    let (values, cells) = pairs.into_iter().unzip();
    Row { cells, values, first }
}

/// Searches every row with one repetition for each try, and measures both sides of the edge again. An edge that does
/// not hold is searched on from what was learnt.
fn find(
    ready: &Ready,
    rows: &[Row],
    find: Find,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<Vec<NotRun>, Failure> {
    let threshold = ready.loaded.plan.need.utilization;
    for row in rows {
        let mut search = Search::new(row.values.clone(), find.harder(), row.first);
        let mut confirmed = BTreeSet::new();
        loop {
            ready.progress.phase("searching the edge, one repetition for each try");
            while let Some(index) = search.next() {
                let au = match bench.try_once(row.cells[index], &mut |event| session.take(event))? {
                    Try::Ended { au } => Some(au),
                    Try::Failed => None,
                    Try::Stopped => return Ok(Vec::new()),
                };
                search.observe(index, au, threshold);
            }
            let (meets, misses) = search.edge();
            let edge: Vec<usize> =
                meets.into_iter().chain(misses).filter(|one| confirmed.insert(*one)).collect();
            if edge.is_empty() {
                break;
            }
            ready.progress.phase("measuring both sides of the edge with fresh repetitions");
            let cells: Vec<usize> = edge.iter().map(|index| row.cells[*index]).collect();
            bench.ceilings(&cells, &mut |event| session.take(event))?;
            let not_run = bench.confirm(&cells, &mut |event| session.take(event))?;
            if !not_run.is_empty() {
                return Ok(not_run);
            }
            for index in edge {
                search.observe(index, session.confirmed_au(row.cells[index]), threshold);
            }
        }
    }
    Ok(Vec::new())
}

impl Find {
    /// The axis of cells that is searched.
    fn axis(self) -> &'static str {
        match self {
            Self::Accelerators => "accelerators",
            Self::Readers => "readers",
            Self::Depth => "queue_depth",
            Self::Prefetch => "prefetch",
        }
    }

    fn harder(self) -> Harder {
        if self == Self::Accelerators { Harder::Rising } else { Harder::Falling }
    }

    fn value(self, cell: &Cell, training: &Training) -> Option<u32> {
        match (self, training.fetch) {
            (Self::Accelerators, _) => Some(training.accelerators),
            (Self::Prefetch, _) => Some(training.prefetch),
            (Self::Readers, Fetch::Readers { count }) => Some(count),
            (Self::Depth, Fetch::Shared) => Some(cell.queue_depth),
            (Self::Readers | Self::Depth, _) => None,
        }
    }
}

fn exit_of(summary: &Summary) -> Exit {
    if summary.cells.iter().any(analysis::CellSummary::is_measured) { Exit::Ok } else { Exit::Error }
}
