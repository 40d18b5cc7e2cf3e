//! `feedline size`: how many accelerators or hosts a storage feeds, or the least that feeds those of the need.

use std::collections::BTreeSet;
use std::sync::Arc;

use analysis::{SearchValue, Summary};
use clap::{Args, ValueEnum};
use engine::{Bench, Harder, Search, Try};
use feed::Flow;
use launch::{Group, Launcher};
use plan::{Axis, Cell, DatasetSpec, Load, Plan, Training};
use record::NotRun;

use crate::announce::Announced;
use crate::args::{InputArgs, MeasureArgs, ShowArgs, TeamArgs};
use crate::claim::Claim;
use crate::exit::{Exit, Failure};
use crate::launched::{self, Launched};
use crate::load::{self, Loaded};
use crate::resume::Interrupted;
use crate::session::{Ready, RunKind, Session};
use crate::team::asked::Asked;
use crate::{resume, rounds, session, team};

/// Depths that are tried: doublings from 1.
// 4096, the deepest queue that a scenario takes.
const DEPTHS_MAX: u32 = 13;

/// Reads that one client has outstanding at most.
// The deepest queue that a scenario takes.
const READS_MAX: u32 = 4096;

/// Why one process does not search for hosts.
const ONE_ALONE: &str = "error: --find hosts is for several processes of a launcher, and this is one\n  hint: start it on as many hosts \
                         as there are: mpirun --hostfile hosts --map-by ppr:1:node --bind-to none feedline size job.toml \
                         --find hosts";

#[derive(Debug, Args)]
#[command(mut_arg("results", |results| results.short('o')))]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// What to search: the most accelerators that stay fed, or the least that feeds the accelerators of the need
    #[arg(long, value_enum, default_value_t = Find::Accelerators)]
    pub(crate) find: Find,
    /// Largest number to try [default: 128 accelerators, 64 readers, 64 batches of prefetch, depth 1024, all hosts]
    // The deepest queue that a scenario takes.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) most: Option<u32>,
    #[command(flatten)]
    pub(crate) team: TeamArgs,
}

/// What `size` searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Find {
    /// The most accelerators whose utilization stays at the target
    Accelerators,
    /// The fewest readers of each accelerator
    Readers,
    /// The shallowest queue that reads share, by doublings
    Depth,
    /// The fewest batches fetched ahead
    Prefetch,
    /// The most hosts that stay fed together, of those on which a launcher started feedline
    Hosts,
}

pub(crate) fn size(args: &SizeArgs) -> Result<Exit, Failure> {
    refuse_writes(&args.input)?;
    if args.find != Find::Hosts {
        launched::refuse("size", None)?;
    }
    match launched::without_slots("size", &args.team)? {
        Launched::Team(group, launcher) => together(args, group, launcher),
        Launched::Alone | Launched::Slots(_) => once(args, None),
    }
}

/// Refuses a need of which a job plays nothing, or a part alone, before what a job is is asked for.
fn refuse_writes(input: &InputArgs) -> Result<(), Failure> {
    let asked = match load::asks(input)? {
        Some(Flow::Reads) => return Ok(()),
        Some(Flow::Writes) => "of writes, and has none",
        Some(Flow::Both) => "of reads and writes at once",
        None => "of checkpoints, and has none",
    };
    Err(Failure::usage(format!(
        "error: size plays jobs that read, and this need is {asked}\n  hint: `feedline run` measures it; for size state what \
         the jobs read and nothing else, such as 8xh100:resnet50"
    )))
}

/// Searches how many of the processes of a launcher are fed.
fn together(args: &SizeArgs, group: Arc<dyn Group>, launcher: Launcher) -> Result<Exit, Failure> {
    let most = args.most.unwrap_or(u32::MAX).min(group.size());
    if args.measure.watch {
        let said = "error: --watch shows one process\n  hint: leave it out";
        return Err(launched::once_for_all(&*group, said));
    }
    team::run::run(&Asked {
        input: &args.input,
        measure: &args.measure,
        show: args.show,
        team: &args.team,
        group,
        launcher,
        size: Some(args.find.axis()),
        load: &|| Ok(for_hosts(load::load(&as_training(&args.input))?, most)),
        make: &|ready, session, bench| find(ready, args.find, session, bench),
        past: None,
        judge: &|concluded| Ok(exit_of(&concluded.summary)),
    })
}

/// The same with every training cell once for each number of hosts up to `most`.
// No key of a scenario says how many hosts there are: the launcher does.
fn for_hosts(mut loaded: Loaded, most: u32) -> Loaded {
    let of_hosts = |cell: &Cell, hosts: u32| {
        let mut cell =
            Cell { ranks: Some(hosts), slug: format!("{}/hosts{hosts}", cell.slug), ..cell.clone() };
        cell.axes.push(Axis { name: Find::Hosts.axis(), value: hosts.to_string(), unit: "" });
        cell
    };
    let of_cell = |cell: &Cell| match cell.load {
        Load::Training(_) => (1..=most).map(|hosts| of_hosts(cell, hosts)).collect(),
        Load::Closed | Load::Paced(_) => vec![cell.clone()],
    };
    loaded.plan.cells = loaded.plan.cells.iter().flat_map(of_cell).collect();
    loaded
}

/// Makes a search, or what is missing of one that was interrupted: each try follows from those before it, so that it goes on
/// where it was.
pub(crate) fn once(args: &SizeArgs, interrupted: Option<Interrupted>) -> Result<Exit, Failure> {
    let loaded = widened(args)?;
    let keep_names = args.measure.no_redact;
    if let Some(interrupted) = &interrupted {
        resume::refuse_other_scenario(interrupted, &loaded.text, &session::redactor(keep_names))?;
    }
    let ready = Ready::make(loaded, &args.measure, &Announced::of(&args.input, true), &Claim::Alone)?;
    let kind = RunKind { size: Some(args.find.axis()), show: args.show, ..RunKind::default() };
    let mut session = match interrupted {
        Some(interrupted) => Session::go_on(&ready, keep_names, args.show, interrupted)?,
        None => Session::begin(&ready, keep_names, kind)?,
    };
    let interrupted = session.execute(|session, bench| find(&ready, args.find, session, bench))?;
    let summary = session.conclude(args.show, None, None)?.summary;
    Ok(if interrupted { Exit::Interrupted } else { exit_of(&summary) })
}

/// The scenario as a training job, with every value that may be tried.
fn widened(args: &SizeArgs) -> Result<Loaded, Failure> {
    let training = as_training(&args.input);
    let up_to = |least: u32, most: u32| (least..=most).map(|n| n.to_string()).collect::<Vec<String>>();
    let values = match args.find {
        // What a dataset has no samples for is not tried.
        // 128 by default: beyond it one client is seldom the feeder, and each number tried is a cell of the
        // plan.
        Find::Accelerators => {
            let plan = load::load(&training)?.plan;
            let each =
                most_of_jobs(&plan, |job| job.reads_max().map_or(1, |reads| reads / job.accelerators.max(1)));
            up_to(1, most_accelerators(&plan).min(args.most.unwrap_or(128.min(READS_MAX / each))))
        }
        Find::Readers => {
            let plan = load::load(&training)?.plan;
            let each = most_of_jobs(&plan, |job| job.accelerators.saturating_mul(job.fetches));
            up_to(1, args.most.unwrap_or(64.min(READS_MAX / each)))
        }
        // From zero, which is a setting of its own: nothing is fetched ahead.
        Find::Prefetch => up_to(0, args.most.unwrap_or(64)),
        Find::Depth => {
            let depths = (0..DEPTHS_MAX).map(|power| 1 << power);
            depths.filter(|n| *n <= args.most.unwrap_or(1024)).map(|n: u32| n.to_string()).collect()
        }
        Find::Hosts => return Err(Failure::usage(ONE_ALONE)),
    };
    let key = match args.find {
        Find::Depth => "load.queue_depth".to_owned(),
        find => format!("training.{}", find.axis()),
    };
    load::load(&with(&training, vec![format!("{key}=[{}]", values.join(", "))]))
}

fn as_training(input: &InputArgs) -> InputArgs {
    InputArgs { is_search: true, ..with(input, vec!["load.mode=\"training\"".to_owned()]) }
}

fn with(input: &InputArgs, more: Vec<String>) -> InputArgs {
    let set = input.set.iter().cloned().chain(more).collect();
    InputArgs { set, ..input.clone() }
}

/// The most of the jobs that a plan plays, at least 1.
fn most_of_jobs(plan: &Plan, of: impl Fn(&Training) -> u32) -> u32 {
    let jobs = plan.cells.iter().filter_map(|cell| match &cell.load {
        Load::Training(job) => Some(of(job)),
        Load::Closed | Load::Paced(_) => None,
    });
    jobs.max().unwrap_or(1).clamp(1, READS_MAX)
}

/// Accelerators for which the smallest dataset has one step.
fn most_accelerators(plan: &Plan) -> u32 {
    let of_cell = |cell: &Cell| {
        let DatasetSpec::Generate(plan::Generate { samples, .. }) = plan.dataset(cell) else { return None };
        let Load::Training(training) = &cell.load else { return None };
        let batch = u64::from(training.batch).max(1);
        Some(u32::try_from(samples / batch).unwrap_or(u32::MAX).max(1))
    };
    plan.cells.iter().filter_map(of_cell).min().unwrap_or(u32::MAX)
}

/// Where the search of a row begins: at the accelerators of the need, else at the most careful setting, which tells
/// whether anything is to be found.
fn first(row: &[SearchValue], find: Find, needed: u32) -> usize {
    if find != Find::Accelerators {
        return 0;
    }
    row.iter().position(|one| one.value >= needed.max(1)).unwrap_or(row.len().saturating_sub(1))
}

/// What is measured whatever the search finds: one host alone and all of them, beside which scaling is told.
// All of them last: what they get tells the search where to look.
fn anyway(row: &[SearchValue], find: Find) -> Vec<usize> {
    let ends = [0, row.len().saturating_sub(1)].into_iter().take(row.len());
    if find == Find::Hosts { ends.collect() } else { Vec::new() }
}

/// Searches every row with one repetition for each try, and measures both sides of the edge again. An edge that does
/// not hold is searched on from what was learnt.
fn find(
    ready: &Ready,
    find: Find,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<Vec<NotRun>, Failure> {
    let need = &ready.loaded.plan.need;
    let threshold = need.utilization;
    ready.progress.expect(0, None);
    let mut not_run = Vec::new();
    for row in session.rows(find.axis()) {
        let values = row.iter().map(|one| one.value).collect();
        let mut search = Search::new(values, find.harder(), first(&row, find, need.accelerators));
        let mut confirmed = BTreeSet::new();
        let mut untried = anyway(&row, find).into_iter();
        loop {
            ready.progress.phase("searching the edge, one repetition for each try");
            while let Some(index) = untried.next().or_else(|| search.next()) {
                let au = match bench.try_once(row[index].cell, &mut |event| session.take(event))? {
                    Try::Ended { au } => Some(au),
                    Try::Failed => None,
                    Try::Stopped => return Ok(Vec::new()),
                    Try::OutOfTime => {
                        let cell = ready.loaded.plan.cells[row[index].cell].slug.clone();
                        not_run.push(NotRun { cell, repetitions: 1, reason: "budget".to_owned() });
                        break;
                    }
                };
                search.observe(index, au, threshold);
            }
            let (meets, misses) = search.edge();
            let edge = meets.into_iter().chain(misses).chain(anyway(&row, find));
            let edge: Vec<usize> = edge.filter(|one| confirmed.insert(*one)).collect();
            // Both sides have been confirmed before, so that no try is left that could move the edge.
            if edge.is_empty() {
                break;
            }
            ready.progress.phase("measuring both sides of the edge with fresh repetitions");
            let cells: Vec<usize> = edge.iter().map(|index| row[*index].cell).collect();
            // Of the edge alone: a ceiling for each value that was tried would take longer than the search.
            let without_ceiling = session.without_ceiling();
            for cell in cells.iter().filter(|cell| without_ceiling.contains(cell)) {
                // One by one: where several hosts measure, they measure it at one time.
                rounds::ceilings_of(&[*cell], session, bench)?;
            }
            not_run.extend(bench.confirm(
                &cells,
                0..ready.loaded.plan.measure.repetitions,
                &mut |event| session.take(event),
            )?);
            // What was tried until then is known, and what has no time for it is open.
            if !not_run.is_empty() {
                break;
            }
            for (index, au) in edge.into_iter().zip(session.confirmed_aus(&cells)?) {
                search.observe(index, au, threshold);
            }
        }
    }
    Ok(not_run)
}

impl Find {
    /// The axis of cells that is searched.
    fn axis(self) -> &'static str {
        match self {
            Self::Accelerators => "accelerators",
            Self::Readers => "readers",
            Self::Depth => "queue_depth",
            Self::Prefetch => "prefetch",
            Self::Hosts => "hosts",
        }
    }

    fn harder(self) -> Harder {
        match self {
            // More of them ask for more; more readers, depth and prefetch make it easier.
            Self::Accelerators | Self::Hosts => Harder::Rising,
            Self::Readers | Self::Depth | Self::Prefetch => Harder::Falling,
        }
    }
}

// An edge is no verdict: a search that finds that nothing is fed has found something.
fn exit_of(summary: &Summary) -> Exit {
    if summary.cells.iter().any(analysis::CellSummary::is_measured) { Exit::Ok } else { Exit::Error }
}
