//! From a scenario as written, and what the machine allows, to a plan.
//!
//! Each part that could not be resolved is `None` and has reported why; what depends on it is left
//! unsaid, everything else is still checked.

mod cache;
mod cells;
mod dataset;
mod device;
mod engine;
mod expect;
mod keys;
mod limits;
mod load;
mod measure;
mod names;
mod need;
mod network;
mod pace;
mod spread;
mod target;

use plan::{Cell, Plan};

use crate::diagnostic::Problems;
use crate::host::HostFacts;
use crate::written::Document;

pub(crate) use network::config as network_config;

/// Resolves a scenario. The plan is only worth something when no problem was reported.
pub(crate) fn plan(
    name: &str,
    written: &Document,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Plan> {
    let need = need::resolve(&written.need, problems);
    let devices = device::Devices::of(written, host);
    let datasets = dataset::resolve(written, need.as_ref(), &devices, problems);
    let tasks = load::tasks(&written.load.operation);
    let targets = target::resolve_all(written, &tasks, host, problems);
    let load = load(written, tasks, need.as_ref(), datasets.as_ref(), problems);
    let measure = measure::resolve(&written.measure, problems);
    let gate = measure::gate(&written.gate, &written.targets, problems);

    let usable = targets.iter().flatten().collect::<Vec<_>>();
    if let Some(datasets) = &datasets {
        limits::disk(&usable, datasets, &written.dataset, host, problems);
        device::room(written, datasets, host, problems);
    }
    let cells = match (&datasets, &load) {
        (Some(datasets), Some(load)) => {
            measure::refuse_unjudged(&written.gate, load, datasets, need.as_ref(), problems);
            let seed = measure.as_ref().map_or(0, |measure| measure.seed);
            cells(&usable, datasets, load, seed, host, problems)
        }
        _ => None,
    };
    let (targets, skipped): (Vec<_>, Vec<_>) =
        targets.into_iter().flatten().map(target::Resolved::into_parts).unzip();
    Some(Plan {
        name: name.to_owned(),
        title: written.title.given().map(|title| title.value.0.clone()),
        need: need?,
        datasets: datasets?.specs,
        targets,
        cells: cells?,
        skipped: skipped.into_iter().flatten().collect(),
        measure: measure?,
        gate: gate?,
        expect: expect::resolve(&written.expect),
    })
}

fn load(
    written: &Document,
    tasks: Vec<load::Task>,
    need: Option<&feed::Need>,
    datasets: Option<&dataset::Datasets>,
    problems: &mut Problems,
) -> Option<load::Load> {
    let blocks = load::blocks(&written.load.block_size, &tasks, problems);
    if let (Some(datasets), Some(blocks)) = (datasets, &blocks) {
        limits::blocks(datasets, blocks, &tasks, problems);
    }
    let paces = pace::resolve(&written.load, need, &tasks, problems);
    load::resolve(&written.load, tasks, paces?, blocks?)
}

/// The cells, unless there are too many of them to mean it.
fn cells(
    targets: &[&target::Resolved<'_>],
    datasets: &dataset::Datasets,
    load: &load::Load,
    seed: u64,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Vec<Cell>> {
    if let Some(problem) = cells::refuse_too_many(targets, datasets, load) {
        problems.push(problem);
        return None;
    }
    Some(cells::expand(targets, datasets, load, seed, host, problems))
}
