//! Every combination of a target's axes, as cells.

use plan::{Access, Advice, Axis, Cache, Cell, Engine, Operation, Registered};

use crate::diagnostic::{Problem, Problems};
use crate::host::HostFacts;

use super::dataset::{Datasets, Sample};
use super::limits;
use super::load::{Block, Load};
use super::target::{Lane, Resolved};
use crate::written::Target;

/// More are a mistake: with the default 12 s each, these take 33 hours per repetition.
const CELLS_MAX: u128 = 10_000;

/// Reads outstanding per thread by default: one thread drives about this many without being the limit.
const DEPTH_PER_THREAD: u32 = 64;

/// A larger batch of adjacent direct reads is merged by the block layer, which halves the device's depth.
const SEQUENTIAL_DIRECT_BATCH: u32 = 2;

/// What all cells of a run share.
struct Shared<'a> {
    datasets: &'a Datasets,
    load: &'a Load,
    seed: u64,
    cores: u32,
}

/// One combination, before it becomes a cell.
struct Point<'a> {
    lane: &'a Lane,
    dataset: usize,
    sample: Sample,
    block: Block,
    access: Access,
    cache: Cache,
    depth: u32,
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
    for (index, resolved) in targets.iter().enumerate() {
        limits::threads(resolved, load, problems);
        limits::alignment(resolved, datasets, load, problems);
        let first = cells.len();
        for (number, point) in points(resolved, &shared).enumerate() {
            let curve = groups + (number / load.depths.len()) as u32;
            cells.push(cell(index, resolved, &point, curve, &shared));
        }
        groups += ((cells.len() - first) / load.depths.len()) as u32;
        limits::resources(resolved, &cells[first..], datasets, load, host, problems);
    }
    if cells.is_empty() && !targets.is_empty() {
        problems.push(nothing_left(targets));
    }
    cells
}

/// Refuses more cells than can be meant. Counts without making a single one: a product of lists can be
/// larger than any memory.
pub(super) fn refuse_too_many(
    targets: &[Target],
    datasets: &Datasets,
    load: &Load,
    caches: usize,
) -> Option<Problem> {
    let shared = [datasets.samples.len(), load.blocks.count(), load.access.len(), load.depths.len()];
    let per_choice = shared.iter().map(|length| *length as u128).product::<u128>();
    let choices: u128 = targets.iter().map(|target| choices(target, caches) as u128).sum();
    let count = per_choice.saturating_mul(choices);
    if count <= CELLS_MAX {
        return None;
    }
    let message = format!(
        "{} cells; at most {} are measured in one run",
        feed::group_digits(u64::try_from(count).unwrap_or(u64::MAX)),
        feed::group_digits(CELLS_MAX as u64)
    );
    let lists = [
        (datasets.samples.first().and_then(|sample| sample.span), datasets.samples.len(), "sample sizes"),
        (load.blocks.span, load.blocks.count(), "block sizes"),
        (load.access_span, load.access.len(), "access orders"),
        (load.depth_span, load.depths.len(), "depths"),
    ];
    let problem = lists
        .into_iter()
        .filter(|(_, length, _)| *length > 1)
        .fold(Problem::new(message), |problem, (span, length, what)| {
            problem.also_if(span, format!("{length} {what}"))
        });
    Some(
        problem
            .help("every list multiplies the cells: shorten the lists, or split them over several scenarios"),
    )
}

/// Combinations of engine and cache that a target asks for.
fn choices(target: &Target, caches: usize) -> usize {
    let engines = target.engine.given().map_or(1, |entry| entry.value.0.len());
    let directs = target.direct.given().map_or(1, |entry| entry.value.0.len());
    engines * directs.max(caches)
}

fn nothing_left(targets: &[&Resolved<'_>]) -> Problem {
    let problem = Problem::new("no cell is left: every engine is unavailable here and skipped");
    let problem = targets.iter().fold(problem, |problem, target| {
        problem.at(target.written.engine.span().unwrap_or(target.written.name.span), "skipped")
    });
    problem.help("add \"pread\" to the engines; it needs nothing of the kernel")
}

/// The combinations of one target, by counting through its axes as through the digits of a number.
fn points<'a>(resolved: &'a Resolved<'_>, shared: &'a Shared<'_>) -> impl Iterator<Item = Point<'a>> {
    let Shared { datasets, load, .. } = *shared;
    let lengths = [
        resolved.lanes.len(),
        datasets.samples.len(),
        load.blocks.count(),
        load.access.len(),
        resolved.caches.len(),
        load.depths.len(),
    ];
    (0..lengths.iter().product()).map(move |number: usize| {
        let mut rest = number;
        let mut digits = [0; 6];
        for (digit, length) in digits.iter_mut().zip(lengths).rev() {
            *digit = rest % length;
            rest /= length;
        }
        let [lane, dataset, block, access, cache, depth] = digits;
        let sample = datasets.samples[dataset];
        Point {
            lane: &resolved.lanes[lane],
            dataset,
            sample,
            block: load.blocks.at(block, sample),
            access: load.access[access],
            cache: resolved.caches[cache],
            depth: load.depths[depth],
        }
    })
}

fn cell(target: usize, resolved: &Resolved<'_>, point: &Point<'_>, curve: u32, shared: &Shared<'_>) -> Cell {
    let engine = point.lane.engine;
    let threads = threads(engine, point.depth, shared);
    let per_thread = point.depth.div_ceil(threads);
    let merged = resolved.target.config.is_storage()
        && point.access == Access::Sequential
        && point.cache == Cache::Bypass;
    Cell {
        slug: slug(resolved, point),
        target,
        dataset: point.dataset,
        engine,
        stands_in_for: point.lane.stands_in_for.clone(),
        registered: if engine == Engine::IoUring { resolved.registered } else { Registered::Off },
        advice: Advice::Normal,
        operation: Operation::Read,
        load: plan::Load::Closed,
        block_bytes: point.block.bytes,
        access: point.access,
        cache: point.cache,
        queue_depth: point.depth,
        threads,
        submit_batch: if merged { per_thread.min(SEQUENTIAL_DIRECT_BATCH) } else { per_thread },
        seed: shared.seed,
        auto_group: shared.load.auto.then_some(curve),
        axes: axes(resolved, point, threads),
    }
}

/// An engine with one read per thread has as many threads as reads; others as many as written, or as the
/// depth is worth, and never more than reads.
fn threads(engine: Engine, depth: u32, shared: &Shared<'_>) -> u32 {
    if engine.depth_per_thread_max() == 1 {
        return depth;
    }
    let wanted = match &shared.load.threads {
        Some(threads) => threads.value,
        None => depth.div_ceil(DEPTH_PER_THREAD).min(shared.cores),
    };
    wanted.clamp(1, depth)
}

fn slug(resolved: &Resolved<'_>, point: &Point<'_>) -> String {
    let sample = point.sample.bytes.map_or_else(|| "existing".to_owned(), |bytes| format!("{bytes}B"));
    [
        resolved.target.name.clone(),
        engine_word(point.lane),
        sample,
        compact_bytes(u64::from(point.block.bytes)),
        point.access.name().to_owned(),
        point.cache.name().to_owned(),
        format!("qd{}", point.depth),
    ]
    .join("/")
}

fn engine_word(lane: &Lane) -> String {
    match lane.stands_in_for.as_deref().and_then(|reason| reason.split(':').next()) {
        Some(missing) => format!("{}(for {missing})", lane.engine),
        None => lane.engine.to_string(),
    }
}

/// `128KiB` where that is exact, else bytes: different sizes never look the same.
fn compact_bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.into_iter().find(|(shift, _)| bytes.trailing_zeros() >= *shift);
    whole.map_or_else(|| format!("{bytes}B"), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

fn axes(resolved: &Resolved<'_>, point: &Point<'_>, threads: u32) -> Vec<Axis> {
    let axis = |name, value: String, unit| Axis { name, value, unit };
    let sample = match point.sample.bytes {
        Some(bytes) => axis("sample_size", bytes.to_string(), "B"),
        None => axis("sample_size", "existing".to_owned(), ""),
    };
    vec![
        axis("target", resolved.target.name.clone(), ""),
        axis("engine", engine_word(point.lane), ""),
        sample,
        axis("block_size", point.block.bytes.to_string(), "B"),
        axis("access", point.access.name().to_owned(), ""),
        axis("cache", point.cache.name().to_owned(), ""),
        axis("queue_depth", point.depth.to_string(), ""),
        axis("threads", threads.to_string(), ""),
    ]
}
