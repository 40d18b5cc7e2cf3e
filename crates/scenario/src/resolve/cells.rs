//! Every combination of a target's axes, as cells.

use plan::{Access, Cache, Cell, Engine, Layout, Mix, Operation, Task};

use crate::diagnostic::{Problem, Problems};
use crate::host::HostFacts;
use crate::reader::{Field, Plain as _};

use super::amounts;
use super::block::rounded;
use super::cache::Way;
use super::connections::Network;
use super::dataset::Datasets;
use super::limits;
use super::load::Load;
use super::names::{self, Point};
use super::network;
use super::reading;
use super::schedule::{List, Series};
use super::target::Resolved;
use super::writes;

/// Reads outstanding per thread by default: one thread drives about this many without being the limit.
const DEPTH_PER_THREAD: u32 = 64;

/// A larger batch of adjacent direct reads is merged by the block layer, which halves the device's depth.
const SEQUENTIAL_DIRECT_BATCH: u32 = 2;

/// A thread that issues again after every completion of a direct read spends itself on being woken: with random 4 KiB
/// reads of a virtual disk, waiting for one in eight of those outstanding gave 17 % more of them at depth 16, 14 % at 32,
/// 7 % at 64, and the same at 128; 112 KiB reads came as fast for 14 % less processor time.
const COMPLETE_PART: u32 = 8;

/// What all cells of a run share.
struct Shared<'a> {
    datasets: &'a Datasets,
    load: &'a Load,
    seed: u64,
    cores: u32,
}

/// All cells, in the order of the file, the depth varying fastest.
pub(super) fn expand(
    targets: &[&Resolved<'_>],
    datasets: &Datasets,
    load: &Load,
    seed: u64,
    host: &HostFacts,
    problems: &mut Problems,
) -> Vec<Cell> {
    let shared = Shared { datasets, load, seed, cores: host.cores.max(1) };
    let mut cells = Vec::new();
    let mut groups = 0;
    let mut is_advised = false;
    for (index, resolved) in targets.iter().enumerate() {
        limits::threads(resolved, load, problems);
        network::refuse_fewer(resolved, load, problems);
        let of_cells = points(resolved, &shared).filter_map(|(_, point)| point.connections);
        network::refuse_unused(resolved, of_cells, load, problems);
        limits::alignment(resolved, datasets, load, problems);
        writes::refuse(resolved, datasets, load, problems);
        let first = cells.len();
        for (curve, point) in points(resolved, &shared) {
            is_advised |= takes_advice(point.lane.engine, point.operation, point.cache);
            cells.push(cell(index, resolved, &point, groups + curve, &shared));
        }
        groups += curves(resolved, &shared);
        limits::resources(resolved, &cells[first..], datasets, load, host, problems);
    }
    if cells.is_empty() && !targets.is_empty() {
        // Silence would be a run of nothing, which fails no gate.
        problems.push(nothing_left(targets));
    } else {
        limits::batches(targets, &cells, load, problems);
        problems.extend(refuse_unused_advice(targets, load).filter(|_| !is_advised));
    }
    cells
}

/// Refuses too many cells. Counts without making a single one: a product of lists can be larger than any memory.
pub(super) fn refuse_too_many(
    targets: &[&Resolved<'_>],
    datasets: &Datasets,
    load: &Load,
) -> Option<Problem> {
    // Numbers of 128 bits: the product of seven lists of a thousand values leaves 64.
    let shared = [datasets.samples.len(), load.orders.count(), load.schedule.depths().count()];
    let per_way = shared.iter().map(|length| *length as u128).product::<u128>();
    let of_way = |target: &Resolved<'_>, way: &Way| {
        let buffers = load.blocks.count(way.operation)
            * load.pages.count(way.operation.moves_bytes())
            * load.numa.count(target.target.config.is_storage())
            * load.durability.count(way.operation.writes_over())
            * load.mix.count(way.operation);
        let caches: usize =
            way.caches.iter().map(|cache| load.fadvise.count(may_take_advice(target, way, *cache))).sum();
        (buffers * caches * connections(target) * target.tiers.len()) as u128
    };
    let ways: u128 =
        targets.iter().map(|target| target.ways.iter().map(|way| of_way(target, way)).sum::<u128>()).sum();
    amounts::too_many_cells(per_way.saturating_mul(ways), &lists(targets, datasets, load))
}

/// The lists that multiply cells.
pub(super) fn lists(targets: &[&Resolved<'_>], datasets: &Datasets, load: &Load) -> Vec<List> {
    let list = |span, length, what| List { span, length, what };
    let of_all = list(None, targets.len(), "targets");
    let of_load = [
        list(load.tasks.first().and_then(|task| task.span), load.tasks.len(), "operations"),
        list(load.blocks.span, load.blocks.count(Operation::Read), "block sizes"),
        list(load.pages.span, load.pages.count(true), "kinds of pages"),
        list(load.numa.span, load.numa.count(true), "places of threads"),
        list(load.durability.span, load.durability.count(true), "kinds of durability"),
        list(load.mix.span, load.mix.count(Operation::Mix), "shares of writes"),
        list(load.fadvise.span, load.fadvise.count(true), "kinds of advice"),
        list(load.orders.span, load.orders.count(), "access orders"),
    ];
    let of_targets = targets.iter().filter_map(|target| target.network.as_ref());
    let of_targets = of_targets.map(|network| list(network.span(), network.count(), "connections"));
    let shared = datasets.lists.iter().copied().chain(of_load);
    std::iter::once(of_all)
        .chain(shared)
        .chain(load.schedule.lists.iter().copied())
        .chain(of_targets)
        .collect()
}

/// Length of the axis of connections.
fn connections(target: &Resolved<'_>) -> usize {
    target.network.as_ref().map_or(1, Network::count)
}

fn nothing_left(targets: &[&Resolved<'_>]) -> Problem {
    let problem = Problem::new("no cell is left: every engine is unavailable here and skipped");
    let problem = targets.iter().fold(problem, |problem, target| {
        problem.at(target.written.engine.span().unwrap_or(target.written.name.span), "skipped")
    });
    problem.help("add \"pread\" to the engines; it needs nothing of the kernel")
}

/// The combinations of one target, in the order of the file, each with the number of the curve that it lies on.
fn points<'a>(resolved: &'a Resolved<'_>, shared: &'a Shared<'_>) -> impl Iterator<Item = (u32, Point<'a>)> {
    let curves = resolved.ways.iter().flat_map(|way| curves_of(way, resolved, shared));
    curves.zip(0..).flat_map(move |(curve, number)| {
        let points = curve.series.depths.iter().filter_map(move |depth| curve.at(*depth, resolved, shared));
        points.map(move |point| (number, point))
    })
}

/// How many curves a target has: combinations of everything but the depth.
fn curves(resolved: &Resolved<'_>, shared: &Shared<'_>) -> u32 {
    resolved.ways.iter().map(|way| lengths(way, resolved, shared).iter().product::<usize>()).sum::<usize>()
        as u32
}

/// Everything that a combination is made of but its depth, as places in the lists.
#[derive(Clone, Copy)]
struct Curve<'a> {
    way: &'a Way,
    dataset: usize,
    block: usize,
    pages: usize,
    numa: usize,
    durability: usize,
    mix: usize,
    access: usize,
    cache: usize,
    fadvise: usize,
    tier: usize,
    series: &'a Series,
    connection: usize,
}

/// Lengths of the axes of one operation by one engine, the slowest first.
fn lengths(way: &Way, resolved: &Resolved<'_>, shared: &Shared<'_>) -> [usize; 12] {
    let Shared { datasets, load, .. } = *shared;
    [
        datasets.samples.len(),
        load.blocks.count(way.operation),
        load.pages.count(way.operation.moves_bytes()),
        load.numa.count(resolved.target.config.is_storage()),
        load.durability.count(way.operation.writes_over()),
        load.mix.count(way.operation),
        load.orders.count(),
        way.caches.len(),
        // Whether a cell takes advice depends on its data too: where it does not, `Curve::at` keeps one cell of these.
        load.fadvise.count(way.caches.iter().any(|cache| may_take_advice(resolved, way, *cache))),
        resolved.tiers.len(),
        load.schedule.series.len(),
        connections(resolved),
    ]
}

/// The curves of one operation by one engine, by counting through the axes as through the digits of a number.
fn curves_of<'a>(
    way: &'a Way,
    resolved: &'a Resolved<'_>,
    shared: &'a Shared<'_>,
) -> impl Iterator<Item = Curve<'a>> {
    let lengths = lengths(way, resolved, shared);
    // A counter with digits in place of nested loops: a new axis is a digit, and the order of the cells is
    // that of the digits.
    (0..lengths.iter().product()).map(move |number: usize| {
        let mut rest = number;
        let mut digits = [0; 12];
        for (digit, length) in digits.iter_mut().zip(lengths).rev() {
            *digit = rest % length;
            rest /= length;
        }
        let [dataset, block, pages, numa, durability, mix, access, cache, fadvise, tier, series, connection] =
            digits;
        let series = &shared.load.schedule.series[series];
        Curve {
            way,
            dataset,
            block,
            pages,
            numa,
            durability,
            mix,
            access,
            cache,
            fadvise,
            tier,
            series,
            connection,
        }
    })
}

impl<'a> Curve<'a> {
    /// Its cell at a depth; `None` where the cell takes no advice and stands in the list already.
    fn at(self, depth: u32, resolved: &'a Resolved<'_>, shared: &Shared<'_>) -> Option<Point<'a>> {
        let Shared { datasets, load, .. } = *shared;
        let operation = self.way.operation;
        let sample = datasets.samples[self.dataset];
        let network = resolved.network.as_ref();
        let spec = &datasets.specs[self.dataset];
        let order = load.orders.at(self.access, spec);
        let mut block = load.blocks.at(self.block, operation, sample);
        // A block that was written stays, even where a layout has another default: both can then be
        // compared.
        if let Some(bytes) = reading::default_block_bytes(spec, order).filter(|_| block.span.is_none()) {
            block.bytes = bytes;
        }
        if let Some(bytes) = sample.file_bytes().filter(|_| datasets.fits(&load.blocks)) {
            block.bytes = block.bytes.min(u32::try_from(rounded(bytes)).unwrap_or(u32::MAX));
        }
        let cache = match self.way.caches[self.cache] {
            // Direct I/O is a default here and no wish. Where it was written it is refused with the layout,
            // and never replaced.
            Cache::Bypass if !self.way.written && !reading::may_bypass(spec, order) => Cache::Cold,
            cache => cache,
        };
        let lane = &resolved.lanes[self.way.lane];
        let is_advised = takes_advice(lane.engine, operation, cache);
        (is_advised || self.fadvise == 0).then(|| Point {
            lane,
            operation,
            dataset: self.dataset,
            sample,
            // A single layout of files goes unsaid: the names of all cells before there were layouts are
            // without it.
            layout: sample.layout.filter(|layout| datasets.layouts > 1 || *layout != Layout::Files),
            block,
            pages: load.pages.at(self.pages, operation.moves_bytes()),
            numa: load.numa.at(self.numa, resolved.target.config.is_storage()),
            durability: load.durability.at(self.durability, operation.writes_over()),
            write_percent: load.mix.at(self.mix, operation, sample),
            access: load.orders.access(order, &self.series.load, depth),
            cache,
            fadvise: load.fadvise.at(self.fadvise, is_advised),
            tier: resolved.tiers[self.tier].as_ref(),
            load: self.series.load,
            connections: network.map(|network| network.at(self.connection, depth, operation, sample.bytes)),
            depth,
        })
    }
}

/// Whether the kernel can be told how the files are read: what goes around the page cache is never read ahead, and a file
/// that is opened anew for each sample is read in full.
fn takes_advice(engine: Engine, operation: Operation, cache: Cache) -> bool {
    operation == Operation::Read && cache != Cache::Bypass && engine.takes_file_advice()
}

/// The same before the data is known, which turns direct I/O that nobody asked for into cold reads.
fn may_take_advice(resolved: &Resolved<'_>, way: &Way, cache: Cache) -> bool {
    let cache = if way.written { cache } else { Cache::Cold };
    takes_advice(resolved.lanes[way.lane].engine, way.operation, cache)
}

/// Refuses advice that no cell takes.
fn refuse_unused_advice(targets: &[&Resolved<'_>], load: &Load) -> Option<Problem> {
    let at = load.written.fadvise.key()?;
    let message = "`load.fadvise` is for reads of open files through the page cache by io_uring or pread";
    let problem = Problem::new(message).at(at, "remove this");
    let problem = targets.iter().fold(problem, |problem, target| {
        let written = target.written;
        let engine = || written.engine.span().unwrap_or(written.name.span);
        let operation = load.written.operation.span();
        match (
            &written.at,
            operation.filter(|_| target.ways.iter().all(|way| way.operation != Operation::Read)),
        ) {
            (Field::Given(at), _) if at.value.path().is_none() => problem.also(at.span, at.value.is()),
            (_, Some(operation)) => problem.also(operation, "opens each file anew, or reads none"),
            _ if target.lanes.iter().all(|lane| !lane.engine.takes_file_advice()) => {
                problem.also(engine(), "maps files; `madvise` is for maps")
            }
            _ => problem.also(written.at.span().unwrap_or(written.name.span), "is read by direct I/O"),
        }
    });
    Some(problem.help(
        "it takes load.operation = \"read\" and a load.cache such as \"cold\" or \"warm\", which reads a path through the page cache",
    ))
}

fn cell(index: usize, resolved: &Resolved<'_>, point: &Point<'_>, curve: u32, shared: &Shared<'_>) -> Cell {
    let threads = threads(point, shared);
    let of = names::Of { resolved, index, lane: point.lane, seed: shared.seed };
    Cell {
        dataset: shared.datasets.of_operation(point.dataset, point.operation),
        task: task(point),
        load: point.load,
        advice: point.fadvise.unwrap_or(point.lane.advice),
        pages: point.pages.unwrap_or_default(),
        numa: point.numa.unwrap_or_default(),
        access: point.access,
        cache: point.cache,
        threads,
        connections: point.connections.map_or(0, |connections| connections.of(threads)),
        submit_batch: submit_batch(resolved, point, point.depth.div_ceil(threads), shared.load),
        tier: point.tier.cloned(),
        auto_group: shared.load.schedule.auto.then_some(curve),
        complete_batch: complete_batch(point, point.depth.div_ceil(threads), shared.load),
        ..names::of_reads(resolved, point, threads).cell(of, point.block.bytes, point.depth)
    }
}

/// What a cell does. `load.operation` takes no copy and no checkpoint, by its vocabulary.
fn task(point: &Point<'_>) -> Task {
    let durability = point.durability.unwrap_or_default();
    match (Task::plain(point.operation), point.write_percent) {
        (Some(task), _) => task,
        (None, Some(write_percent)) => Task::Mix(Mix { write_percent, durability }),
        (None, None) if point.operation == Operation::WriteFile => Task::WriteFile(durability),
        (None, None) => Task::Write(durability),
    }
}

/// Requests in one submission: as written, where the engine submits in batches; else all that a thread has outstanding,
/// unless the block layer would merge them.
fn submit_batch(resolved: &Resolved<'_>, point: &Point<'_>, per_thread: u32, load: &Load) -> u32 {
    let merged = resolved.target.config.is_storage()
        && resolved.network.is_none()
        && (point.operation == Operation::Read || point.operation.writes_over())
        && is_in_order(point)
        && point.cache == Cache::Bypass;
    match load.written.submit_batch.given() {
        Some(batch) if point.lane.engine == Engine::IoUring => batch.value.plain(),
        _ if merged => per_thread.min(SEQUENTIAL_DIRECT_BATCH),
        _ => per_thread,
    }
}

/// Whether reads that follow each other lie beside each other: one stream of shards is such an order too.
// Several streams are not in order: neighbours in a submission then come from different shards, and nothing
// merges them.
fn is_in_order(point: &Point<'_>) -> bool {
    point.access == Access::Sequential || point.access.streams().is_some_and(|streams| streams.count == 1)
}

/// Completions waited for: as written, where the engine waits for batches; else a part of what a thread has outstanding,
/// where a device answers reads one by one. A paced load and a training job do not wait for several.
fn complete_batch(point: &Point<'_>, per_thread: u32, load: &Load) -> u32 {
    let one_by_one =
        point.operation == Operation::Read && !is_in_order(point) && point.cache == Cache::Bypass;
    match load.written.complete_batch.given() {
        // Ahead of what is written: the key may be meant for the other engine of a list.
        _ if point.lane.engine != Engine::IoUring || point.load != plan::Load::Closed => 1,
        Some(batch) => batch.value.plain(),
        None if one_by_one => (per_thread / COMPLETE_PART).max(1),
        None => 1,
    }
}

/// Threads of a cell. An engine with one read per thread has as many threads as reads. Others have as many as written, or
/// one for [`DEPTH_PER_THREAD`] reads, and never more than reads or connections. One thread feeds an accelerator of a
/// training job, and one thread feeds all accelerators that wait for each other.
fn threads(point: &Point<'_>, shared: &Shared<'_>) -> u32 {
    let depth = point.depth;
    // Blocking engines: a thread is a read outstanding, and `threads` has nothing to say.
    if point.lane.engine.depth_per_thread_max() == 1 {
        return depth;
    }
    let connections = point.connections.and_then(|connections| connections.written).unwrap_or(u32::MAX);
    let fed = match point.load {
        // Threads would have to agree on every step, beside steps as short as 375 us (dlrm).
        plan::Load::Training(training) if training.barrier || shared.load.together => 1,
        plan::Load::Training(training) => training.accelerators,
        plan::Load::Closed | plan::Load::Paced(_) => u32::MAX,
    };
    let wanted: u32 = match shared.load.written.threads.given() {
        Some(threads) => threads.value.plain(),
        None => depth.div_ceil(DEPTH_PER_THREAD).min(shared.cores).min(connections).min(fed),
    };
    // A thread without a read would only add to the counters of the machine.
    wanted.clamp(1, depth)
}
