//! The datasets of a plan, made ready on the targets that read them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use dataset::{Key, Objects};
use plan::{Cell, DatasetSpec, Plan};
use prepare::{PrepareError, Prepared};

use crate::exit::Failure;
use crate::open::Stores;

/// Share by which files of a user's may differ in size from the need's samples and still pass for them.
const SAMPLE_TOLERANCE: f64 = 0.1;

/// One dataset on one target.
pub(crate) struct Slot {
    /// Index of the target.
    pub(crate) target: usize,
    /// Index of the dataset in the plan.
    pub(crate) dataset: usize,
    /// What is there.
    pub(crate) prepared: Prepared,
}

/// All datasets that cells read.
pub(crate) struct Data(Vec<Slot>);

impl Data {
    /// Every dataset, in the order of a record.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.0
    }

    /// Index into [`Data::slots`] of what a cell reads.
    pub(crate) fn index(&self, cell: &Cell) -> usize {
        let same = |slot: &Slot| (slot.target, slot.dataset) == (cell.target, cell.dataset);
        self.0.iter().position(same).expect("every cell's dataset was made ready")
    }

    /// What a cell reads.
    pub(crate) fn of(&self, cell: &Cell) -> &Prepared {
        &self.0[self.index(cell)].prepared
    }

    /// SHA-256 over the access plans of all cells: which bytes are read in which order.
    pub(crate) fn plan_hash(&self, plan: &Plan) -> String {
        plan_hash(plan.cells.iter().map(|cell| (cell, &*self.of(cell).data)))
    }
}

/// Hash over the distinct access plans of cells, whatever their number, engine or depth.
pub(crate) fn plan_hash<'a>(cells: impl Iterator<Item = (&'a Cell, &'a dataset::Data)>) -> String {
    let of_cell = |(cell, data): (&Cell, &dataset::Data)| dataset::plan_hash(data, cell);
    dataset::combined_hash(cells.map(of_cell).collect())
}

/// A generated dataset, as arithmetic; `None` for a folder that must be listed first.
pub(crate) fn planned(spec: &DatasetSpec) -> Option<dataset::Data> {
    let folder = prepare::identify(spec).unwrap_or(Key::new("feedline").ok()?);
    Some(dataset::Data::files(Arc::new(Objects::generated(folder, spec)?), None))
}

/// Tells how far a dataset is written: target, bytes done, bytes in all.
pub(crate) type Report<'a> = &'a (dyn Fn(&str, u64, u64) + Sync);

/// Makes every dataset of the plan ready: written, found, or listed.
pub(crate) fn make_ready(
    plan: &Plan,
    stores: &Stores,
    threads: u32,
    report: Report<'_>,
    stop: &AtomicBool,
) -> Result<Data, Failure> {
    let mut wanted: Vec<(usize, usize)> = plan.cells.iter().map(|cell| (cell.target, cell.dataset)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut slots = Vec::with_capacity(wanted.len());
    for (target, dataset) in wanted {
        let prepared = ready_one(plan, (target, dataset), stores, threads, report, stop)?;
        slots.push(Slot { target, dataset, prepared });
    }
    Ok(Data(slots))
}

fn ready_one(
    plan: &Plan,
    (target, dataset): (usize, usize),
    stores: &Stores,
    threads: u32,
    report: Report<'_>,
    stop: &AtomicBool,
) -> Result<Prepared, Failure> {
    let store = stores.data(target);
    let (target, spec) = (&plan.targets[target], &plan.datasets[dataset]);
    if !target.config.capabilities().writable
        && let Some(data) = planned(spec)
    {
        return Ok(imagined(data));
    }
    let progress = |done, total| report(&target.name, done, total);
    match prepare::prepare(&**store, spec, threads, &progress, stop) {
        Ok(prepared) => sample_is_known(plan, spec, &prepared).map(|()| prepared),
        Err(PrepareError::Interrupted { .. }) => Err(Failure::Interrupted),
        Err(error) => Err(error)
            .with_context(|| format!("target `{}` at `{}`", target.name, target.at))
            .map_err(Failure::from),
    }
}

/// Whether the mean size of a user's files may stand for a sample of the need. Where the two differ, a file holds
/// many samples or half of one, and the line would be drawn for something else.
fn sample_is_known(plan: &Plan, spec: &DatasetSpec, prepared: &Prepared) -> Result<(), Failure> {
    let (DatasetSpec::Existing(plan::Existing { sample_bytes: None, .. }), Some(needed)) =
        (spec, plan.need.sample_bytes())
    else {
        return Ok(());
    };
    let mean = prepared.sample_bytes;
    if (mean / needed - 1.0).abs() <= SAMPLE_TOLERANCE {
        return Ok(());
    }
    let [mean, needed] = [mean, needed].map(|bytes| feed::units::group_digits(bytes.round() as u64));
    Err(Failure::usage(format!(
        "error: the files are of {mean} B on average, a sample of the need is of {needed} B\n  \
         hint: say how many bytes one training sample takes here: --set dataset.sample_size=\"{mean} B\" if a file \
         is a sample, \"{needed} B\" if files hold samples of the need's size"
    )))
}

/// A dataset that no storage holds: the null target reads nothing.
fn imagined(data: dataset::Data) -> Prepared {
    Prepared {
        sample_bytes: data.objects().mean_bytes(),
        data: Arc::new(data),
        fingerprint: "none".to_owned(),
        reused: true,
        bytes_written: 0,
        empty_files: 0,
        unallocated_bytes: 0,
    }
}
