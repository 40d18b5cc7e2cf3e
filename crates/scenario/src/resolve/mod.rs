//! From a scenario as written, and what the machine allows, to a plan.
//!
//! Each part that could not be resolved is `None` and has reported why; what depends on it is left
//! unsaid, everything else is still checked.

mod access;
mod amounts;
mod block;
mod cache;
mod cells;
mod checkpoint;
mod checkpoint_need;
mod checkpoints_alone;
mod connections;
mod copy;
mod dataset;
mod device;
mod engine;
mod expect;
mod forms;
mod gate;
mod hold;
mod limits;
mod load;
mod meaning;
mod measure;
mod names;
mod need;
mod network;
mod order;
mod pace;
mod packing;
mod reading;
mod schedule;
mod spread;
mod target;
mod targets;
mod task;
mod tier;
mod training;
mod work;
mod writes;

pub use dataset::SIZE_DEFAULT_BYTES;
pub(crate) use need::{asks, is_of_checkpoints_alone, resolve as need};
pub use order::ORDER_BYTES_MAX;

use feed::Flow;
use plan::{Cell, Plan};

use crate::diagnostic::Problems;
use crate::host::HostFacts;
use crate::table::Keys as _;
use crate::words::Mode;
use crate::written::Document;

pub(crate) use network::config as network_config;

/// What is resolved.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Name of the scenario.
    pub(crate) name: &'a str,
    /// Whether some of its cells are tried alone.
    pub(crate) is_search: bool,
}

/// Resolves a scenario. The plan is valid only when no problem was reported.
pub(crate) fn plan(
    asked: Asked<'_>,
    written: &Document,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Plan> {
    // The need comes first, since samples, jobs and lines take their defaults from it.
    let need = need::resolve(written, problems);
    if let Some(need) = need.as_ref().filter(|need| !need.asks_rate()) {
        return checkpoints_alone::plan(asked.name, written, need.clone(), host, problems);
    }
    let devices = device::Devices::of(written, host);
    let tasks = task::tasks(written, (asks(&written.need), need::place_of_writes(&written.need)));
    let order = order::resolve(written, &tasks, host, problems);
    let datasets = dataset::resolve(written, need.as_ref(), &devices, (&tasks, order), problems);
    if let Some((need, datasets)) = need.as_ref().zip(datasets.as_ref()) {
        hold::refuse(&hold::HoldInput { document: written, need, datasets, tasks: &tasks }, problems);
    }
    let scenario = meaning::Scenario { document: written, tasks: &tasks, devices: &devices };
    scenario.refuse_keys(problems);
    scenario.refuse_operations(problems);
    writes::refuse_other_need(written, &tasks, problems);
    // Before the targets, each of which has to know through which caches it is read.
    let tiers = tier::resolve(written, host, problems);
    let targets = targets::resolve(written, &tasks, &tiers.clone().unwrap_or_default(), host, problems);
    let load = load(written, &tasks, need.as_ref(), datasets.as_ref(), host, problems);
    let step = load.as_ref().and_then(|load| load.schedule.step.as_ref());
    let measure = measure::resolve(written, step.map(|step| step.compute_ns), problems);
    let gate = gate::resolve(written, problems);

    // What can be resolved is checked although a target cannot: all mistakes are told at once.
    let usable = targets.iter().flatten().collect::<Vec<_>>();
    if let Some(datasets) = &datasets {
        limits::disk(&usable, datasets, &written.dataset, host, problems);
        limits::devices(written, datasets, host, problems);
    }
    let saved = checkpoint::CheckpointInput {
        written,
        need: need.as_ref(),
        load: load.as_ref(),
        targets: &usable,
        dataset_bytes: datasets.as_ref().map_or(0, dataset::Datasets::bytes_to_write),
        host,
    };
    let checkpoints = checkpoint::resolve(&saved, measure.as_ref(), problems);
    let parts = datasets.as_ref().zip(load.as_ref());
    // A wrong `measure` has been reported, so that this plan never runs; any seed lets the rest be checked.
    let seed = measure.as_ref().map_or(0, |measure| measure.seed);
    let cells = parts.and_then(|(datasets, load)| {
        gate::refuse_unjudged(&written.gate, load, datasets, need.as_ref(), problems);
        cells(written, &usable, (datasets, load), (seed, host), problems)
    });
    let mut specs = datasets.as_ref().map(|datasets| datasets.specs.clone());
    if let (Some(specs), Some(cells)) = (&specs, &cells) {
        if let (Some((datasets, load)), Some(measure)) = (parts, &measure) {
            let lists = cells::lists(&usable, datasets, load);
            let is_search = asked.is_search;
            amounts::Run { written: &written.measure, cells, specs, measure, lists: &lists, is_search }
                .refuse_long(problems);
        }
        training::refuse_parts(written, specs, cells, problems);
        training::refuse_beyond_batch(written, specs, cells, problems);
        order::refuse_cold(written, specs, cells, problems);
    }
    // Behind the cells that read, since each training job is repeated beside its checkpoints.
    let cells = match (&checkpoints, cells, &mut specs) {
        (Some(checkpoints), Some(cells), Some(specs)) => {
            checkpoint::room(checkpoints, &usable, specs, host, problems);
            Some(checkpoint::add(checkpoints, &usable, cells, (specs, seed), host))
        }
        (_, cells, _) => cells,
    };
    if let Some(datasets) = &datasets {
        refuse_jobs(written, &usable, (datasets, load.as_ref()), &tasks, problems);
    }
    // Of a closed loop, which knows no readers of its own; those of a job are in its cells.
    let loader_depth = training::loader_depth(written, need.as_ref(), &tasks, problems);
    let need = match step {
        Some(step) => training::restated(need?, step),
        None => feed::Need { loader_depth, ..need? },
    };
    tiers?;
    let work = work::Work { need, datasets: specs?, cells: cells?, measure: measure? };
    Some(work.on(targets, (asked.name, written), gate?))
}

/// Refuses jobs that the data do not go with.
fn refuse_jobs(
    written: &Document,
    targets: &[&target::Resolved<'_>],
    (datasets, load): (&dataset::Datasets, Option<&load::Load>),
    tasks: &[task::Task],
    problems: &mut Problems,
) {
    if let Some((Mode::Training, Some(mode))) = task::mode(&written.load)
        && load.is_none_or(|load| load.orders.take_samples_of_files(datasets))
    {
        training::refuse_uneven(targets, datasets, tasks, mode, problems);
    }
    if load.is_some_and(|load| load.orders.take_existing_apart(datasets)) {
        training::refuse_decoders(&written.training.decode, tasks, problems);
    }
}

/// Every cell that reads, unless there are too many, and those that copy.
fn cells(
    written: &Document,
    targets: &[&target::Resolved<'_>],
    (datasets, load): (&dataset::Datasets, &load::Load),
    (seed, host): (u64, &HostFacts),
    problems: &mut Problems,
) -> Option<Vec<Cell>> {
    reading::refuse(written, targets, datasets, load, problems);
    if let Some(problem) = cells::refuse_too_many(targets, datasets, load) {
        problems.push(problem);
        return None;
    }
    // Only after the count: a product of lists can be larger than the memory that would hold the cells.
    let reads = cells::expand(targets, datasets, load, seed, host, problems);
    let copies = copy::cells(written, targets, datasets, seed, host, problems);
    Some([reads, copies].concat())
}

fn load(
    written: &Document,
    tasks: &[task::Task],
    need: Option<&feed::Need>,
    datasets: Option<&dataset::Datasets>,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<load::Load> {
    let blocks = block::resolve(&written.load.block_size, problems);
    if let (Some(datasets), Some(blocks)) = (datasets, &blocks) {
        limits::blocks(datasets, blocks, tasks, problems);
    }
    let schedule = match task::mode(&written.load)? {
        // Refused with the need; what a step would lack does not matter.
        (Mode::Training, _) if asks(&written.need) != Flow::Reads => return None,
        (Mode::Training, Some(mode)) => {
            let asked = training::TrainingInput { document: written, mode, need, datasets, host };
            training::resolve(&asked, problems)
        }
        _ => pace::resolve(&written.load, need, problems),
    };
    let schedule = schedule?;
    let orders = access::resolve(&written.load, &schedule, problems);
    // A checkpoint is due when the last accelerator has ended a step, which one thread alone can know
    // without asking others.
    let together = written.checkpoint.is_written() || checkpoint_need::table(&written.need).is_some();
    let mix = load::Shares::of(&written.load, tasks, need, problems);
    let load = load::resolve(&written.load, tasks.to_vec(), (schedule, orders?), (blocks?, mix?))?;
    Some(load::Load { together, ..load })
}
