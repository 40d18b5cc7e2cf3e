//! The cells of checkpoints: those that write and restore them, and jobs with and without them.

use plan::{
    Access, Axis, Cache, Cell, Checkpoint, DatasetSpec, Engine, JobCheckpoints, Load, Operation, Saving,
    Streams, Task,
};

use crate::host::HostFacts;

use super::super::engine::Lane;
use super::super::names::{Name, Of};
use super::super::target::Resolved;
use super::Checkpoints;

/// Files that are written at once, at most, and reads of a restore that are outstanding.
const WRITERS_MAX: u32 = 64;
const READS_MIN: u32 = 16;
const READS_MAX: u32 = 64;

/// Reads outstanding per thread of a restore: each is copied out of the page cache by its thread.
const READS_PER_THREAD: u32 = 16;

/// Share of the memory that the buffers of a restore take at most.
const MEMORY_PART: u64 = 4;

/// Adds the cells of `checkpoints` to those of a scenario, and what is restored to its datasets.
pub(in super::super) fn add(
    checkpoints: &Checkpoints,
    targets: &[&Resolved<'_>],
    cells: Vec<Cell>,
    (specs, seed): (&mut Vec<DatasetSpec>, u64),
    host: &HostFacts,
) -> Vec<Cell> {
    let restored = specs.len();
    if checkpoints.restore {
        specs.push(DatasetSpec::Generate(checkpoints.plan.restored(seed)));
    }
    let is_written = |index: usize| match checkpoints.to {
        Some(to) => to == index,
        None => targets[index].target.config.capabilities().writable,
    };
    let mut all: Vec<Cell> =
        cells.into_iter().flat_map(|cell| beside(checkpoints, &is_written, cell)).collect();
    for (index, target) in targets.iter().enumerate().filter(|(index, _)| is_written(*index)) {
        let plan = Checkpoint { to: index, ..checkpoints.plan.clone() };
        let maker = Maker { target, index, seed, host };
        all.push(maker.writing(&plan));
        if checkpoints.restore {
            all.push(maker.restoring(&plan, restored));
        }
    }
    all
}

/// A job without checkpoints, and with those of each mode; any other cell as it is.
fn beside(checkpoints: &Checkpoints, is_written: &impl Fn(usize) -> bool, cell: Cell) -> Vec<Cell> {
    let to = checkpoints.to.unwrap_or(cell.target);
    let trains = matches!(cell.load, Load::Training(_));
    if !trains || !is_written(to) {
        return vec![cell];
    }
    let with = |mode: Option<Saving>| {
        let word = mode.map_or("none", Saving::name);
        let mut cell = cell.clone();
        // Cells without checkpoints are what they are in a scenario that makes none.
        if mode.is_some() {
            cell.slug = format!("{}/checkpoint-{word}", cell.slug);
        }
        cell.axes.push(Axis { name: "checkpoint", value: word.to_owned(), unit: "" });
        let checkpoint = || Checkpoint { to, ..checkpoints.plan.clone() };
        let every_steps = checkpoints.every_steps;
        cell.job_checkpoints =
            mode.map(|mode| JobCheckpoints { checkpoint: checkpoint(), mode, every_steps });
        cell
    };
    std::iter::once(None).chain(checkpoints.modes.iter().copied().map(Some)).map(with).collect()
}

/// Makes the cells of one target.
struct Maker<'a> {
    target: &'a Resolved<'a>,
    index: usize,
    seed: u64,
    host: &'a HostFacts,
}

impl Maker<'_> {
    /// The cell that writes checkpoints: blocking calls, or what the protocol's client does.
    fn writing(&self, plan: &Checkpoint) -> Cell {
        let engine = if self.target.network.is_some() { self.engine() } else { Engine::Pread };
        let depth = plan.files.min(WRITERS_MAX);
        let name = self.name(engine, Operation::Checkpoint, plan).depth(depth, depth);
        Cell {
            task: Task::Checkpoint(plan.clone()),
            threads: depth,
            retries: 0,
            ..self.cell(name, engine, plan, depth)
        }
    }

    /// The cell that reads one back.
    fn restoring(&self, plan: &Checkpoint, dataset: usize) -> Cell {
        let engine = self.engine();
        let most = self.host.memory_bytes / MEMORY_PART / u64::from(plan.block_bytes);
        let depth =
            plan.files.clamp(READS_MIN, READS_MAX).min(u32::try_from(most).unwrap_or(u32::MAX)).max(1);
        let threads = match engine.depth_per_thread_max() {
            1 => depth,
            _ => depth.div_ceil(READS_PER_THREAD).min(self.host.cores.max(1)),
        };
        let is_remote = self.target.network.is_some();
        let cache = if is_remote { Cache::Bypass } else { Cache::Cold };
        let name = self.name(engine, Operation::Restore, plan).cache(cache).depth(depth, threads);
        Cell {
            dataset,
            task: Task::Restore(plan.clone()),
            access: Access::ShuffledShards(Streams::of(plan.files.min(depth))),
            cache,
            threads,
            connections: if is_remote { depth.max(threads) } else { 0 },
            submit_batch: depth.div_ceil(threads),
            ..self.cell(name, engine, plan, depth)
        }
    }

    fn name(&self, engine: Engine, operation: Operation, plan: &Checkpoint) -> Name {
        Name::default()
            .both("target", &self.target.target.name)
            .both("engine", engine.name())
            .both("operation", operation.name())
            .word(format!("{}x{}B", plan.files, plan.file_bytes))
            .axis("block_size", &plan.block_bytes, "B")
            .axis("files", &plan.files, "")
    }

    fn cell(&self, name: Name, engine: Engine, plan: &Checkpoint, depth: u32) -> Cell {
        let lane = Lane::of(engine, None);
        let of = Of { resolved: self.target, index: self.index, lane: &lane, seed: self.seed };
        name.cell(of, plan.block_bytes, depth)
    }

    /// The first engine that reads blocks in any order and at any depth.
    fn engine(&self) -> Engine {
        let engines = self.target.lanes.iter().map(|lane| lane.engine);
        engines.into_iter().find(|engine| *engine != Engine::Mmap).unwrap_or(Engine::Pread)
    }
}
