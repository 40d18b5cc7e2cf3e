//! The datasets of a plan, made ready on the targets that read them.

use std::sync::atomic::AtomicBool;

use backend::Store;
use describe::{Datasets, OnTarget};
use feed::Hold;
use plan::{Cache, DatasetSpec, Layout, Plan, Target, Task};
use prepare::{PrepareError, Prepared};

use crate::exit::Failure;
use crate::open::{self, Stores};

/// Takes how far a dataset is written: target, bytes done, bytes in all.
pub(crate) type Report<'a> = &'a (dyn Fn(&str, u64, u64) + Sync);

/// Makes every dataset of the plan ready: written, found, or listed.
pub(crate) fn make_ready(
    plan: &Plan,
    stores: &Stores,
    threads: u32,
    report: Report<'_>,
    stop: &AtomicBool,
) -> Result<Datasets, Failure> {
    let mut slots = Vec::new();
    for (target, dataset) in plan.places() {
        let prepared = ready_one(plan, (target, dataset), stores, threads, report, stop)?;
        slots.push(OnTarget { target, dataset, prepared });
    }
    Ok(Datasets::new(slots))
}

/// Refuses the places where [`make_ready`] would refuse to write, as far as they can be seen without a connection.
pub(crate) fn check_places(plan: &Plan) -> Result<(), Failure> {
    for (index, target) in plan.targets.iter().enumerate() {
        if let Some(store) = open::local_folder(&target.config) {
            check_place(plan, index, &*store)?;
        }
    }
    Ok(())
}

/// The same of one target.
pub(crate) fn check_place(plan: &Plan, target: usize, store: &dyn Store) -> Result<(), Failure> {
    for (_, dataset) in plan.places().into_iter().filter(|(at, _)| *at == target) {
        prepare::check_place(store, &plan.datasets[dataset])
            .map_err(|error| failed(&plan.targets[target], error))?;
    }
    Ok(())
}

/// The failure for a dataset that cannot be made ready. Where it may not be written, the scenario has to change.
fn failed(target: &Target, error: PrepareError) -> Failure {
    let place = open::place(target);
    match error {
        PrepareError::Interrupted { .. } => Failure::Interrupted,
        // The user has to decide, so that it is a matter of the scenario and not of the machine.
        PrepareError::Others { .. } => Failure::usage(format!("error: {place}: {error}")),
        error => anyhow::Error::new(error).context(place).into(),
    }
}

fn ready_one(
    plan: &Plan,
    slot: (usize, usize),
    stores: &Stores,
    threads: u32,
    report: Report<'_>,
    stop: &AtomicBool,
) -> Result<Prepared, Failure> {
    let (target, dataset) = slot;
    let store = stores.data(target);
    let (target, spec) = (&plan.targets[target], &plan.datasets[dataset]);
    if !target.config.capabilities().writable
        // The null target has the same objects and sizes, without a byte of them: its cells are comparable
        // with those of a storage.
        && let Some(imagined) = Prepared::imagined(spec)
    {
        return Ok(imagined);
    }
    let progress = |done, total| report(&target.name, done, total);
    match prepare::prepare(&**store, spec, threads, &progress, stop) {
        Ok(prepared) => {
            sample_is_known(plan, spec, &prepared)?;
            cells_fit(plan, slot, &prepared)?;
            Ok(prepared)
        }
        Err(error) => Err(failed(target, error)),
    }
}

/// Refuses data of the user's whose mean sample differs from the need's. A file may then hold many samples or a part of
/// one, and the line would be drawn for something else.
fn sample_is_known(plan: &Plan, spec: &DatasetSpec, prepared: &Prepared) -> Result<(), Failure> {
    let (DatasetSpec::Existing(plan::Existing { sample_bytes: None, .. }), Some(needed)) =
        (spec, plan.need.sample_bytes())
    else {
        return Ok(());
    };
    let mean = prepared.sample_bytes;
    // Where bytes are held, a file may hold any number of samples.
    // A tenth of difference passes, as between the files of one class of images and another.
    if plan.need.is_own_sample(mean) || plan.need.hold == Some(Hold::Bytes) {
        return Ok(());
    }
    let [mean, needed] = [mean, needed].map(|bytes| feed::units::group_digits(bytes.round() as u64));
    let (what, fits) = match prepared.layout {
        Layout::Files => ("the files are", "if a file is a sample"),
        _ => ("the samples in these shards are", "if they are the samples that are meant"),
    };
    Err(Failure::usage(format!(
        "error: {what} of {mean} B on average, a sample of the need is of {needed} B\n  \
         hint: say how many bytes one training sample takes here: dataset.sample_size = \"{mean} B\" {fits}, \
         \"{needed} B\" if files hold samples of the need's size"
    )))
}

/// Refuses cells that cannot read a dataset whose layout was found and not stated: they were planned for files, each of
/// them a sample.
fn cells_fit(plan: &Plan, slot: (usize, usize), prepared: &Prepared) -> Result<(), Failure> {
    // A compressed shard holds no place of a sample that could be jumped to.
    let streamed_only = prepared.data.units().is_none();
    let found =
        matches!(&plan.datasets[slot.1], DatasetSpec::Existing(existing) if existing.layout.is_none());
    let local = !plan.targets[slot.0].config.capabilities().network;
    let mut cells = plan.cells.iter().filter(|cell| (cell.target, cell.dataset) == slot);
    let misfit = cells.find_map(|cell| {
        let by_index = cell.access.is_by_index();
        let name = cell.access.name();
        if streamed_only && by_index {
            return Some(format!("`{name}` reads single samples, and compressed shards are unpacked whole"));
        }
        if !found || prepared.layout == Layout::Files {
            return None;
        }
        if cell.task != Task::Read {
            return Some(format!("`{}` is about files", cell.operation().name()));
        }
        let direct = by_index && local && cell.cache == Cache::Bypass && prepared.layout != Layout::Indexed;
        direct.then(|| "direct I/O reads whole pages, and these samples lie across them".to_owned())
    });
    let Some(why) = misfit else { return Ok(()) };
    let layout = prepared.layout.name();
    let hint = if streamed_only {
        format!("dataset.layout = \"{layout}\" with load.access = \"shuffled_shards\" streams them")
    } else {
        format!(
            "dataset.layout = \"{layout}\" reads their samples as such shards are read, dataset.layout = \"files\" \
             takes each file as a sample"
        )
    };
    Err(Failure::usage(format!("error: the files are {layout} shards: {why}\n  hint: {hint}")))
}
