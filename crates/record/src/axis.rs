//! What may set two cells apart, and the one place that reads it from a cell.
//!
//! Code that asks which cells are alike (one curve, one way of reading, one engine beside another) asks [`alike`] with the
//! axes that may differ. A new field of a cell is an axis here, and every such question then takes it into account.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use feed::{Cache, FromMemory, Numa};

use crate::{AxisWords, Cell, CheckpointPlan, CopyPlan, Dataset, Pace, Run, Tier, Training, Word};

/// A setting in which two cells may differ. Batches of submissions and completions are no axis: they follow from the engine
/// and the depth. Nor is what a shuffle mixes, which follows from the dataset and the streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// The storage that is read.
    Target,
    /// Which dataset of the run is read.
    Dataset,
    /// How samples lie in files: as the scenario says, else as the dataset does.
    Layout,
    /// Bytes of a sample as it is stored.
    SampleBytes,
    /// Bytes of a shard, where the scenario lists several.
    ShardBytes,
    /// Members of a sample in a tar shard, likewise.
    Members,
    /// What shards are compressed with, likewise.
    Codec,
    /// Share of the content that compresses, likewise.
    Compressibility,
    /// What issues the reads.
    Engine,
    /// The engine that it stands in for, and why.
    StandIn,
    /// What the kernel is told of a memory map.
    Advice,
    /// What the kernel is told of open files.
    FileAdvice,
    /// What is done over and over.
    Operation,
    /// Bytes of a read at most.
    Block,
    /// Pages of the buffers.
    Pages,
    /// Where threads run.
    Numa,
    /// What the storage promises of a write.
    Durability,
    /// Share of writes where others are reads.
    Mix,
    /// Order of the reads.
    Access,
    /// Shards read side by side.
    Streams,
    /// Samples that a stream's reader holds and draws from. It mixes samples, and changes no read.
    ShuffleBuffer,
    /// Samples of a run of neighbours.
    RunLength,
    /// Treatment of the client's page cache.
    Cache,
    /// What this treatment lets come from the client's memory. Several treatments let the same come from it.
    Memory,
    /// Policy and capacity of the cache that is read through.
    Tier,
    /// Where that cache lies.
    TierPath,
    /// Kind of load: `closed`, `paced`, `training`.
    Load,
    /// The schedule of a paced load.
    Pace,
    /// The training job, without the axes that follow.
    Job,
    /// Accelerators of the job.
    Accelerators,
    /// Who fetches its batches: readers of each accelerator, or all reads from one depth.
    Readers,
    /// Reads of one reader under way.
    Fetches,
    /// Batches asked for ahead.
    Prefetch,
    /// Threads that decode.
    DecodeThreads,
    /// The checkpoints that are made.
    Checkpoint,
    /// Where the dataset is copied to, and how it is packed there.
    Copy,
    /// Connections of the whole client; one for each read outstanding is alike at any depth.
    Connections,
    /// Connections as the scenario sets them; absent where they follow the depth.
    ConnectionsSet,
    /// Further attempts at an operation that failed.
    Retries,
    /// Reads outstanding in the whole client.
    Depth,
    /// Threads that share them.
    Threads,
    /// Processes of the run that take part.
    Hosts,
    /// Whatever a newer version names.
    Other,
}

/// The axes of a relation.
pub type Axes = &'static [Axis];

/// What may differ along one curve of throughput against depth: the depth, and what follows from it where the scenario does
/// not set several values at one depth.
// Lists of what may differ and not of what must agree: an axis that is forgotten here then keeps cells
// apart, which loses a comparison and makes no false one.
pub const CURVE: Axes = &[Axis::Depth, Axis::Threads, Axis::Streams, Axis::Connections, Axis::ShuffleBuffer];

/// Axes in which all cells of one panel agree; treatments of the page cache may share a panel. All other axes tell curves
/// apart.
// Forms too, though they may store as many bytes: each is a dataset, and a way of reading by itself.
pub const PANEL: Axes = &[
    Axis::Layout,
    Axis::SampleBytes,
    Axis::ShardBytes,
    Axis::Members,
    Axis::Codec,
    Axis::Compressibility,
    Axis::Operation,
    Axis::Mix,
    Axis::Block,
    Axis::Access,
];

/// What may differ between cells that read a target in one way. Of these a verdict chooses the depth, the engine, the
/// buffers, where threads run, and how the batches of a job are fetched.
pub const WAY: Axes = &[
    Axis::Depth,
    Axis::Threads,
    Axis::Streams,
    Axis::Connections,
    Axis::ConnectionsSet,
    Axis::ShuffleBuffer,
    Axis::Engine,
    Axis::StandIn,
    Axis::Advice,
    Axis::FileAdvice,
    Axis::Pages,
    Axis::Numa,
    Axis::Readers,
    Axis::Fetches,
    Axis::Prefetch,
    Axis::DecodeThreads,
];

/// Axes in which cells agree that bear one load, however they read.
pub const LOAD: Axes = &[Axis::Load, Axis::Pace, Axis::Job, Axis::Accelerators, Axis::Checkpoint];

/// What may differ where engines are compared at one depth.
// Not `FileAdvice`: it is a setting of the load, and its difference would be taken for that of the engines.
pub const ENGINES: Axes = &[Axis::Engine, Axis::StandIn, Axis::Advice, Axis::ShuffleBuffer];

/// What may differ where engines are compared, each at the depth that would be chosen of it alone. Threads, connections and
/// retries may not: they could make the difference.
pub const ENGINES_AT_ANY_DEPTH: Axes = &[
    Axis::Engine,
    Axis::StandIn,
    Axis::Advice,
    Axis::ShuffleBuffer,
    Axis::Depth,
    Axis::Streams,
    Axis::Readers,
    Axis::Fetches,
    Axis::Prefetch,
    Axis::DecodeThreads,
];

/// What may differ between a packed layout and the files that hold the same samples: how they lie, and how they are
/// therefore read.
// Not `Compressibility`: other bytes are no other layout.
pub const LAYOUTS: Axes = &[
    Axis::Dataset,
    Axis::Layout,
    Axis::SampleBytes,
    Axis::ShardBytes,
    Axis::Members,
    Axis::Codec,
    Axis::Operation,
    Axis::Block,
    Axis::Access,
    Axis::Streams,
    Axis::ShuffleBuffer,
    Axis::RunLength,
    Axis::Cache,
    Axis::Connections,
    Axis::Threads,
];

/// What sets datasets of one layout and one size of samples apart. Bytes of a sample as it is stored follow from it.
pub const FORMS: Axes = &[Axis::ShardBytes, Axis::Members, Axis::Codec, Axis::Compressibility];

/// What may differ between reading a dataset and reading its copy on another target: all but the load and the cache tier.
pub const COPY: Axes = &[
    Axis::Target,
    Axis::Dataset,
    Axis::Layout,
    Axis::SampleBytes,
    Axis::Engine,
    Axis::StandIn,
    Axis::Advice,
    Axis::FileAdvice,
    Axis::Operation,
    Axis::Block,
    Axis::Access,
    Axis::Streams,
    Axis::ShuffleBuffer,
    Axis::RunLength,
    Axis::Cache,
    Axis::Memory,
    Axis::TierPath,
    Axis::Connections,
    Axis::ConnectionsSet,
    Axis::Retries,
    Axis::Threads,
];

/// What may differ between a job and the closed loop from which its utilization is foretold. Streams may where they follow
/// the depth.
pub const PREDICTION: Axes = &[
    Axis::Depth,
    Axis::Threads,
    Axis::Streams,
    Axis::ShuffleBuffer,
    Axis::Load,
    Axis::Job,
    Axis::Accelerators,
    Axis::Readers,
    Axis::Fetches,
    Axis::Prefetch,
    Axis::DecodeThreads,
    Axis::Checkpoint,
];

/// What may differ in one grid of sizes and depths, and what follows from them.
pub const SIZES: Axes = &[
    Axis::Dataset,
    Axis::SampleBytes,
    Axis::Block,
    Axis::Depth,
    Axis::Threads,
    Axis::Streams,
    Axis::Connections,
    Axis::ShuffleBuffer,
];

/// What may differ in one grid of shard sizes and depths, and what follows from them. Samples differ as they are stored, by
/// what a shard puts beside them.
pub const SHARDS: Axes = &[
    Axis::Dataset,
    Axis::SampleBytes,
    Axis::ShardBytes,
    Axis::Depth,
    Axis::Threads,
    Axis::Streams,
    Axis::Connections,
    Axis::ShuffleBuffer,
];

/// What may differ where ways to fetch the batches of a job are compared: readers, prefetch, and what follows from them.
pub const FETCH: Axes = &[
    Axis::Readers,
    Axis::Fetches,
    Axis::Prefetch,
    Axis::Depth,
    Axis::Threads,
    Axis::Streams,
    Axis::Connections,
    Axis::ShuffleBuffer,
];

/// Settings of a loader and of what it reads that are changed one after the other. What else differs then follows from them, as
/// the engine does from the target.
// In the order in which articles take them, which decides between two that gain the same.
pub const STEPS: Axes = &[
    Axis::Layout,
    Axis::Target,
    Axis::Tier,
    Axis::Readers,
    Axis::Fetches,
    Axis::Prefetch,
    Axis::DecodeThreads,
];

/// What may differ between a job with checkpoints and the same without.
pub const WITHOUT_CHECKPOINTS: Axes = &[Axis::Checkpoint];

/// What may differ between the cells of one name in two runs. Datasets, pages and processors, from which threads follow,
/// are compared with the runs themselves; what else a scenario says of a cell is part of its name.
// Cells are found by their names first, in which all that a scenario says of them stands.
pub const STORED_RUNS: Axes = &[
    Axis::Dataset,
    Axis::Layout,
    Axis::SampleBytes,
    Axis::StandIn,
    Axis::Advice,
    Axis::Pages,
    Axis::ConnectionsSet,
    Axis::Threads,
    Axis::Other,
];

/// What may differ between the cells of two targets that do the same. A client in user space bypasses a cache that another
/// has to be kept cold, and each backend has engines, connections and threads of its own.
pub const TARGETS: Axes = &[
    Axis::Target,
    Axis::Dataset,
    Axis::Engine,
    Axis::StandIn,
    Axis::Advice,
    Axis::FileAdvice,
    Axis::Cache,
    Axis::TierPath,
    Axis::Connections,
    Axis::ConnectionsSet,
    Axis::Retries,
    Axis::Threads,
];

/// What one curve of latency by percentile has in common; of its cells one is drawn.
pub const LATENCY: Axes =
    &[Axis::Target, Axis::Engine, Axis::Advice, Axis::FileAdvice, Axis::Numa, Axis::Load];

/// Where a cell lies along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Coordinate<'a> {
    /// The axis does not apply to this kind of cell, or the record does not say.
    Absent,
    /// A number of things, of bytes or of nanoseconds; 1 for yes and 0 for no.
    Count(u64),
    /// A figure, in the unit of its field.
    Figure(f64),
    /// A word of the record.
    Word(&'a str),
    /// Settings that are one coordinate together.
    Parts(Vec<Coordinate<'a>>),
}

impl<'a> Coordinate<'a> {
    fn count(count: impl Into<u64>) -> Self {
        Self::Count(count.into())
    }

    fn if_count(count: Option<impl Into<u64>>) -> Self {
        count.map_or(Self::Absent, Self::count)
    }

    fn if_figure(figure: Option<f64>) -> Self {
        figure.map_or(Self::Absent, Self::Figure)
    }

    fn if_word(word: Option<&'a str>) -> Self {
        word.map_or(Self::Absent, Self::Word)
    }
}

/// Of coordinates that are equal, the same: a zero has two signs.
impl Hash for Coordinate<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Absent => {}
            Self::Count(count) => count.hash(state),
            Self::Figure(figure) => (figure + 0.0).to_bits().hash(state),
            Self::Word(word) => word.hash(state),
            Self::Parts(parts) => parts.hash(state),
        }
    }
}

/// Whatever knows the datasets of a run: its head, or what is made of it.
pub trait Datasets {
    /// The dataset at this place; absent from a record that lacks it.
    fn dataset(&self, index: usize) -> Option<&Dataset>;
}

impl Datasets for Run {
    fn dataset(&self, index: usize) -> Option<&Dataset> {
        self.datasets.get(index)
    }
}

impl Axis {
    /// Every axis.
    pub const ALL: [Self; 43] = [
        Self::Target,
        Self::Dataset,
        Self::Layout,
        Self::SampleBytes,
        Self::ShardBytes,
        Self::Members,
        Self::Codec,
        Self::Compressibility,
        Self::Engine,
        Self::StandIn,
        Self::Advice,
        Self::FileAdvice,
        Self::Operation,
        Self::Block,
        Self::Pages,
        Self::Numa,
        Self::Durability,
        Self::Mix,
        Self::Access,
        Self::Streams,
        Self::ShuffleBuffer,
        Self::RunLength,
        Self::Cache,
        Self::Memory,
        Self::Tier,
        Self::TierPath,
        Self::Load,
        Self::Pace,
        Self::Job,
        Self::Accelerators,
        Self::Readers,
        Self::Fetches,
        Self::Prefetch,
        Self::DecodeThreads,
        Self::Checkpoint,
        Self::Copy,
        Self::Connections,
        Self::ConnectionsSet,
        Self::Retries,
        Self::Depth,
        Self::Threads,
        Self::Hosts,
        Self::Other,
    ];

    /// The axis of a name in [`Cell::axes`], by the last part of the name; [`Axis::Other`] for a name of a newer version.
    pub fn named(name: &str) -> Self {
        if name.starts_with("checkpoint.") {
            // Keys of a table count as a whole: no relation tells one setting of a checkpoint from another.
            return Self::Checkpoint;
        }
        // Nearly all are keys alone, and every comparison of cells asks for some: the last part is looked for where it is another.
        let of_last_part = || name.rsplit_once('.').and_then(|(_, key)| Self::of_key(key));
        Self::of_key(name).or_else(of_last_part).unwrap_or(Self::Other)
    }

    fn of_key(key: &str) -> Option<Self> {
        Some(match key {
            "target" => Self::Target,
            "dataset" => Self::Dataset,
            "layout" => Self::Layout,
            "sample_size" => Self::SampleBytes,
            "shard_size" => Self::ShardBytes,
            "members" => Self::Members,
            "codec" => Self::Codec,
            "compressibility" => Self::Compressibility,
            "engine" => Self::Engine,
            "madvise" => Self::Advice,
            "fadvise" => Self::FileAdvice,
            "operation" => Self::Operation,
            "block_size" => Self::Block,
            "pages" => Self::Pages,
            "numa" => Self::Numa,
            "durability" => Self::Durability,
            "mix" => Self::Mix,
            "access" => Self::Access,
            "streams" => Self::Streams,
            "cache" => Self::Cache,
            "cache_tier" => Self::Tier,
            "rate" => Self::Pace,
            "accelerators" | "count" => Self::Accelerators,
            "readers" | "fetch" => Self::Readers,
            "fetches" => Self::Fetches,
            "prefetch" => Self::Prefetch,
            "checkpoint" | "files" => Self::Checkpoint,
            // Names of axes are those of records that exist: `count`, `files` and `to` are from early ones.
            "to" | "pack" => Self::Copy,
            "connections" => Self::ConnectionsSet,
            "queue_depth" => Self::Depth,
            "threads" => Self::Threads,
            "hosts" => Self::Hosts,
            _ => return None,
        })
    }
}

impl AxisWords {
    /// The axis along which it lies.
    pub fn axis(&self) -> Axis {
        Axis::named(&self.name)
    }
}

impl Cell {
    /// Where it lies along an axis. Of `run`, the dataset is asked for.
    pub fn at<'a>(&'a self, axis: Axis, run: &'a impl Datasets) -> Coordinate<'a> {
        let job = self.training.as_ref();
        match axis {
            Axis::Target => Coordinate::Word(&self.target),
            Axis::Dataset => Coordinate::Count(self.dataset as u64),
            Axis::Layout => layout(self, run),
            Axis::SampleBytes => {
                Coordinate::if_figure(run.dataset(self.dataset).map(|dataset| dataset.sample_bytes))
            }
            Axis::Engine => Coordinate::Word(&self.engine),
            Axis::StandIn => Coordinate::if_word(self.stands_in_for.as_deref()),
            // What is said of the cell and is no field of its own.
            Axis::ShardBytes
            | Axis::Members
            | Axis::Codec
            | Axis::Compressibility
            | Axis::Advice
            | Axis::FileAdvice
            | Axis::Numa
            | Axis::ConnectionsSet
            | Axis::Other => self.said(axis),
            Axis::Operation => Coordinate::Word(self.operation.as_str()),
            Axis::Block => Coordinate::Count(self.block_bytes),
            Axis::Pages => Coordinate::if_word(self.pages.as_ref().map(Word::as_str)),
            Axis::Durability => Coordinate::if_word(self.durability.as_ref().map(Word::as_str)),
            Axis::Mix => Coordinate::if_count(self.write_percent.map(u32::from)),
            Axis::Access => Coordinate::Word(self.access.as_str()),
            Axis::Streams => Coordinate::if_count(self.streams),
            Axis::ShuffleBuffer => Coordinate::if_count(self.shuffle_buffer),
            Axis::RunLength => Coordinate::if_count(self.run_length),
            Axis::Cache => Coordinate::Word(self.cache.as_str()),
            Axis::Memory => memory(&self.cache),
            Axis::Tier => self.tier.as_ref().map_or(Coordinate::Absent, tier),
            Axis::TierPath => Coordinate::if_word(self.tier.as_ref().map(|tier| tier.at.as_str())),
            Axis::Load => Coordinate::Word(load(self)),
            Axis::Pace => self.pace.as_ref().map_or(Coordinate::Absent, pace),
            Axis::Job => job.map_or(Coordinate::Absent, job_alone),
            Axis::Accelerators => Coordinate::if_count(job.map(|job| job.accelerators)),
            Axis::Readers => job.map_or(Coordinate::Absent, readers),
            Axis::Fetches => {
                Coordinate::if_count(job.filter(|job| job.readers.is_some()).map(|job| job.fetches))
            }
            Axis::Prefetch => Coordinate::if_count(job.map(|job| job.prefetch)),
            Axis::DecodeThreads => Coordinate::if_count(job.and_then(|job| job.decode_threads)),
            Axis::Checkpoint => self.checkpoint.as_ref().map_or(Coordinate::Absent, checkpoint),
            Axis::Copy => self.copy.as_ref().map_or(Coordinate::Absent, copy),
            Axis::Connections => Coordinate::count(self.connections),
            Axis::Retries => Coordinate::count(self.retries),
            Axis::Depth => Coordinate::count(self.queue_depth),
            Axis::Threads => Coordinate::count(self.threads),
            Axis::Hosts => Coordinate::if_count(self.ranks),
        }
    }

    /// The value that the scenario says of it along an axis; `None` where it says none.
    pub fn said_along(&self, axis: Axis) -> Option<&str> {
        self.axes.iter().find(|words| words.axis() == axis).map(|words| words.value.as_str())
    }

    /// What sets its dataset apart from others of its layout and sample size, in the order of the scenario's keys. Nothing
    /// where the scenario lists no several.
    pub fn form(&self) -> impl Iterator<Item = &AxisWords> {
        self.axes.iter().filter(|words| FORMS.contains(&words.axis()))
    }

    /// Whether its threads were kept on the NUMA node of the device.
    pub fn is_beside_device(&self) -> bool {
        self.said_along(Axis::Numa) == Some(Numa::Device.name())
    }

    /// What the scenario says of an axis that no field holds.
    fn said(&self, axis: Axis) -> Coordinate<'_> {
        let words = self.axes.iter().filter(|one| one.axis() == axis);
        let parts: Vec<Coordinate<'_>> =
            words.flat_map(|one| [&one.name, &one.value]).map(|word| Coordinate::Word(word)).collect();
        if parts.is_empty() { Coordinate::Absent } else { Coordinate::Parts(parts) }
    }
}

/// As the scenario says, else as the dataset does.
fn layout<'a>(cell: &'a Cell, run: &'a impl Datasets) -> Coordinate<'a> {
    let said = cell.said_along(Axis::Layout);
    Coordinate::if_word(said.or_else(|| Some(run.dataset(cell.dataset)?.layout.as_str())))
}

/// What a treatment of the page cache lets come from it; nothing under one that this version does not know.
fn memory(cache: &Word<Cache>) -> Coordinate<'_> {
    let lets_come = cache.known().map_or(FromMemory::Nothing, Cache::lets_come);
    Coordinate::Count(lets_come as u64)
}

fn load(cell: &Cell) -> &'static str {
    match (&cell.pace, &cell.training) {
        (_, Some(_)) => "training",
        (Some(_), None) => "paced",
        (None, None) => "closed",
    }
}

fn tier(tier: &Tier) -> Coordinate<'_> {
    let Tier { at: _, capacity_bytes, policy } = tier;
    Coordinate::Parts(vec![Coordinate::Word(policy), Coordinate::Count(*capacity_bytes)])
}

fn pace(pace: &Pace) -> Coordinate<'_> {
    let Pace { rate_bps, of_line, arrivals, batch_samples, spin_ns } = pace;
    Coordinate::Parts(vec![
        Coordinate::if_figure(*rate_bps),
        Coordinate::if_figure(*of_line),
        Coordinate::Word(arrivals),
        Coordinate::if_count(*batch_samples),
        Coordinate::Count(*spin_ns),
    ])
}

/// What an hour costs decides nothing that is measured.
fn job_alone(job: &Training) -> Coordinate<'_> {
    let Training {
        accelerators: _,
        fetch: _,
        readers: _,
        fetches: _,
        prefetch: _,
        decode_threads: _,
        price_per_hour: _,
        batch,
        compute_ns,
        barrier,
        decode,
        decode_cost_ns,
        drop_last,
        startup_ns,
        spin_ns,
        threshold,
    } = job;
    Coordinate::Parts(vec![
        Coordinate::count(*batch),
        Coordinate::Count(*compute_ns),
        Coordinate::count(*barrier),
        Coordinate::if_word(decode.as_deref()),
        Coordinate::if_count(*decode_cost_ns),
        Coordinate::count(*drop_last),
        Coordinate::Count(*startup_ns),
        Coordinate::Count(*spin_ns),
        Coordinate::Figure(*threshold),
    ])
}

fn readers(job: &Training) -> Coordinate<'_> {
    Coordinate::Parts(vec![Coordinate::Word(&job.fetch), Coordinate::if_count(job.readers)])
}

/// What an hour costs decides nothing that is measured.
fn checkpoint(plan: &CheckpointPlan) -> Coordinate<'_> {
    let CheckpointPlan { label, bytes, files, mode, every_steps, copy_ns, durable, keep, price_per_hour: _ } =
        plan;
    Coordinate::Parts(vec![
        Coordinate::Word(label),
        Coordinate::Count(*bytes),
        Coordinate::count(*files),
        Coordinate::Word(mode),
        Coordinate::if_count(*every_steps),
        Coordinate::Count(*copy_ns),
        Coordinate::count(*durable),
        Coordinate::count(*keep),
    ])
}

fn copy(plan: &CopyPlan) -> Coordinate<'_> {
    let CopyPlan { to, layout } = plan;
    Coordinate::Parts(vec![Coordinate::Word(to), Coordinate::if_word(layout.as_deref())])
}

/// Whether two cells of `run` lie alike along one axis.
fn is_same(run: &impl Datasets, a: &Cell, b: &Cell, axis: Axis) -> bool {
    let follows_depth = |cell: &Cell| cell.connections == cell.queue_depth;
    // A connection for each read is one policy at every depth, though their numbers differ.
    let both_follow = axis == Axis::Connections && follows_depth(a) && follows_depth(b);
    both_follow || a.at(axis, run) == b.at(axis, run)
}

/// Whether two cells of `run` are alike along all `axes`, whatever the others are.
pub fn agree(run: &impl Datasets, a: &Cell, b: &Cell, axes: &[Axis]) -> bool {
    axes.iter().all(|axis| is_same(run, a, b, *axis))
}

/// Whether two cells of `run` are alike along every axis that is not among `but`.
pub fn alike(run: &impl Datasets, a: &Cell, b: &Cell, but: &[Axis]) -> bool {
    others(but).all(|axis| is_same(run, a, b, axis))
}

/// Cells by where they lie along some axes. Those that may be alike are found without a look at every other, which would be most of the
/// time of a report of thousands.
#[derive(Debug)]
pub struct Places {
    axes: Vec<Axis>,
    of_mark: HashMap<u64, Vec<usize>>,
}

impl Places {
    /// By every axis of `axes` but [`Axis::Connections`], along which cells may agree at unlike numbers.
    pub fn along(axes: impl IntoIterator<Item = Axis>) -> Self {
        let axes = axes.into_iter().filter(|axis| *axis != Axis::Connections).collect();
        Self { axes, of_mark: HashMap::new() }
    }

    /// Those of `cells`, each known by its number.
    pub fn of<'a>(
        run: &impl Datasets,
        cells: impl IntoIterator<Item = (usize, &'a Cell)>,
        axes: impl IntoIterator<Item = Axis>,
    ) -> Self {
        let mut places = Self::along(axes);
        for (number, cell) in cells {
            places.beside_mut(run, cell).push(number);
        }
        places
    }

    /// The numbers of the cells that may lie where this one does, in the order in which they came. Whether they do is still to be
    /// asked.
    pub fn beside(&self, run: &impl Datasets, cell: &Cell) -> &[usize] {
        self.of_mark.get(&self.mark(run, cell)).map_or(&[], Vec::as_slice)
    }

    fn beside_mut(&mut self, run: &impl Datasets, cell: &Cell) -> &mut Vec<usize> {
        self.of_mark.entry(self.mark(run, cell)).or_default()
    }

    fn mark(&self, run: &impl Datasets, cell: &Cell) -> u64 {
        let mut mark = DefaultHasher::new();
        for axis in &self.axes {
            cell.at(*axis, run).hash(&mut mark);
        }
        mark.finish()
    }
}

/// Groups of cells of which each lies in the first that takes it.
#[derive(Debug)]
pub struct Groups {
    places: Places,
    count: usize,
}

impl Groups {
    /// Groups whose cells agree along these axes.
    pub fn along(axes: impl IntoIterator<Item = Axis>) -> Self {
        Self { places: Places::along(axes), count: 0 }
    }

    /// The number of the group of a cell, which is a new one where `is_of` holds for none. Only those are asked whose first cell may
    /// lie where this one does.
    pub fn place(&mut self, run: &impl Datasets, cell: &Cell, is_of: impl Fn(usize) -> bool) -> usize {
        let groups = self.places.beside_mut(run, cell);
        if let Some(known) = groups.iter().copied().find(|group| is_of(*group)) {
            return known;
        }
        groups.push(self.count);
        self.count += 1;
        self.count - 1
    }
}

/// Every axis that is not among `but`.
pub fn others(but: &[Axis]) -> impl Iterator<Item = Axis> + use<'_> {
    Axis::ALL.into_iter().filter(|axis| !but.contains(axis))
}
