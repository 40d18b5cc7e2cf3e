//! What does not fit: blocks into files, datasets onto disks, threads, buffers and open files into the
//! machine.

use std::collections::BTreeMap;

use plan::{BackendConfig, Cache, Cell, DatasetSpec, Engine, Layout, Operation};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::reader::{Entry, Plain as _};
use crate::words::Origin;
use crate::written::{self, Depth, Document};

use super::block::{BLOCK_ALIGN_BYTES, Block, Blocks, rounded};
use super::dataset::Datasets;
use super::load::Load;
use super::target::Resolved;
use super::task::Task;

/// Files a process has open besides those it reads: standard streams, the record, counters of the kernel.
const OPEN_FILES_RESERVED: u64 = 16;

/// A ring and its waker.
const OPEN_FILES_PER_THREAD: u64 = 2;

/// The most reads outstanding for which this process may have files enough, whatever the engine: at most a file and a
/// thread for each; and no more than any target holds files open.
// Whatever the engine: a search that fails at a depth because files ran out would end with a message about
// files in place of a verdict.
pub(super) fn depth_max(document: &Document, host: &HostFacts) -> u32 {
    let depth = host.open_files_max.saturating_sub(OPEN_FILES_RESERVED) / (1 + OPEN_FILES_PER_THREAD);
    let held = document.targets.iter().filter_map(|target| Some(target.open_files.given()?.value.0));
    let depth = held.fold(depth, u64::min);
    u32::try_from(depth).unwrap_or(u32::MAX)
}

/// Whether each path has room for all that is written below it.
pub(super) fn disk(
    targets: &[&Resolved<'_>],
    datasets: &Datasets,
    written: &written::Dataset,
    host: &HostFacts,
    problems: &mut Problems,
) {
    let bytes = datasets.bytes_to_write();
    // By path: two targets at one path read one dataset, which is written once.
    let paths: BTreeMap<&str, Span> =
        targets.iter().filter_map(|target| Some((path(target)?, target.at()))).collect();
    for (path, at) in paths {
        let free = host.paths.get(path).and_then(|facts| facts.free_bytes);
        if let Some(free) = free.filter(|free| bytes > *free) {
            let message = format!(
                "the dataset takes {}, and {} are free on this path",
                feed::format_bytes(bytes),
                feed::format_bytes(free)
            );
            let amount = written.size.span().or(written.samples.span());
            let problem = Problem::new(message)
                .at(at, format!("{} free", feed::format_bytes(free)))
                .also_if(amount, "of every sample size")
                .help("write a smaller dataset.size, or choose a path with more room");
            problems.push(problem);
        }
    }
}

/// Whether each device holds at least one sample.
pub(super) fn devices(document: &Document, datasets: &Datasets, host: &HostFacts, problems: &mut Problems) {
    let largest = datasets.samples.iter().filter_map(|sample| Some((sample.bytes?, sample.span))).max();
    let Some((bytes, span)) = largest else { return };
    for at in document.targets.iter().filter_map(|target| target.at.given()) {
        let Some(path) = at.value.path() else { continue };
        let device_bytes = host.paths.get(path).and_then(|facts| facts.block_device_bytes);
        if let Some(device_bytes) = device_bytes.filter(|device_bytes| bytes > *device_bytes) {
            let (sample, device) = (feed::format_bytes(bytes), feed::format_bytes(device_bytes));
            let problem = Problem::new(format!("a sample of {sample} is larger than the device of {device}"))
                .at(at.span, "is smaller than a sample")
                .also_if(span, "one sample");
            problems.push(problem.help("write a smaller dataset.sample_size, or choose a larger device"));
        }
    }
}

/// The path of a target that has one, as written.
pub(super) fn path<'a>(target: &Resolved<'a>) -> Option<&'a str> {
    target.written.at.given()?.value.path()
}

/// Whether `threads` as written fits the engines and the depths.
pub(super) fn threads(target: &Resolved<'_>, load: &Load, problems: &mut Problems) {
    let Some(threads) = load.written.threads.given() else { return };
    let count: u32 = threads.value.plain();
    for lane in target.lanes.iter().filter(|lane| lane.engine.depth_per_thread_max() == 1) {
        if load.schedule.depths().any(|depth| depth != count) {
            let engine = lane.engine;
            let problem = Problem::new(format!("{engine} has one thread for each read outstanding"))
                .at(threads.span, "says otherwise")
                .also(lane.span.unwrap_or(target.written.name.span), format!("{engine} is used here"))
                .also_if(load.schedule.depth_span, "sets its threads")
                .help("remove `load.threads`: the queue depth is the number of threads");
            problems.push(problem);
        }
    }
    let deepest = load.schedule.depths().max().unwrap_or(0);
    let shared = target.lanes.iter().any(|lane| lane.engine.depth_per_thread_max() > 1);
    if shared && count > deepest {
        let problem = Problem::new("more threads than reads outstanding: some would have nothing to do")
            .at(threads.span, "threads")
            .also_if(load.schedule.depth_span, format!("at most {deepest} outstanding"));
        problems.push(problem.help("write a deeper queue or fewer threads"));
    }
}

/// Whether `submit_batch` and `complete_batch` as written are what a thread with a ring can have outstanding, in each
/// cell.
pub(super) fn batches(targets: &[&Resolved<'_>], cells: &[Cell], load: &Load, problems: &mut Problems) {
    let written = [
        ("submit_batch", "issue one request at a time", load.written.submit_batch.given()),
        ("complete_batch", "end one request at a time", load.written.complete_batch.given()),
    ];
    for (key, others, batch) in
        written.into_iter().filter_map(|(key, others, batch)| Some((key, others, batch?)))
    {
        let outstanding = |cell: &Cell| cell.queue_depth.div_ceil(cell.threads.max(1));
        let rings = cells.iter().filter(|cell| cell.engine == Engine::IoUring);
        match rings.min_by_key(|cell| outstanding(cell)) {
            Some(shallowest) => {
                let (most, depth) = (outstanding(shallowest), shallowest.queue_depth);
                if let Some(problem) = too_large(key, batch, (most, depth), load) {
                    problems.push(problem);
                }
            }
            None => problems.push(no_ring(key, others, batch, targets)),
        }
    }
}

fn no_ring(key: &str, others: &str, batch: &Entry<Depth>, targets: &[&Resolved<'_>]) -> Problem {
    let problem = Problem::new(format!("`load.{key}` is for io_uring: other engines {others}"));
    targets.iter().fold(problem.at(batch.key, "remove this"), |problem, target| {
        problem.also(target.written.engine.span().unwrap_or(target.written.name.span), "has none")
    })
}

fn too_large(key: &str, batch: &Entry<Depth>, (most, depth): (u32, u32), load: &Load) -> Option<Problem> {
    let asked: u32 = batch.value.plain();
    let message = format!("a `{key}` of {asked} where a thread has {most} outstanding (queue depth {depth})");
    let problem = Problem::new(message)
        .at(batch.span, "more than that")
        .also_if(load.schedule.depth_span, "says how many are outstanding")
        .also_if(load.written.threads.span(), "share them");
    let help = format!("write at most {most}, or list depths of at least {asked} for each thread");
    (asked > most).then(|| problem.help(help))
}

/// Whether every block size as written fits into the smallest sample file. Files of the user's may hold
/// several samples each, so their size does not follow from a sample's; a whole file is read, or written, in as many
/// blocks as it takes.
pub(super) fn blocks(datasets: &Datasets, blocks: &Blocks, tasks: &[Task], problems: &mut Problems) {
    let has_blocks = |task: &Task| task.operation.moves_bytes() && !task.operation.is_of_whole_objects();
    if !tasks.iter().any(has_blocks) || datasets.fits(blocks) {
        return;
    }
    let files = datasets.samples.iter().filter(|sample| sample.layout == Some(Layout::Files));
    let smallest = files.min_by_key(|sample| sample.bytes);
    let smallest = smallest.filter(|_| datasets.origin == Origin::Generate);
    let Some((sample, bytes)) = smallest.and_then(|sample| Some((sample, sample.bytes?))) else {
        return;
    };
    for block in blocks.of_reads(*sample) {
        if let Some(span) = block.span.filter(|_| u64::from(block.bytes) > rounded(bytes)) {
            let (block, file) = (feed::format_bytes(u64::from(block.bytes)), feed::format_bytes(bytes));
            let problem =
                Problem::new(format!("a block of {block} is larger than the sample file of {file}"))
                    .at(span, "a read cannot be larger than its file")
                    .also_if(sample.span, "one file");
            let most = feed::format_bytes(rounded(bytes));
            problems.push(
                problem
                    .help(format!("write at most \"{most}\", or leave it out: it follows the sample size")),
            );
        }
    }
}

/// Whether a file read in several blocks by direct I/O is read at multiples of the alignment.
pub(super) fn alignment(target: &Resolved<'_>, datasets: &Datasets, load: &Load, problems: &mut Problems) {
    let direct = target.ways.iter().any(|way| way.caches.contains(&Cache::Bypass));
    let Some(align) = target.direct_align_bytes.filter(|_| direct) else {
        return;
    };
    // Of files that differ in size the last block may begin anywhere a block does, so that each of them has
    // to be aligned.
    let spread = !datasets.is_uniform();
    let largest = datasets.samples.iter().max_by_key(|sample| sample.bytes.unwrap_or(u64::MAX));
    let Some(sample) = largest else {
        return;
    };
    for block in load.blocks.of_reads(*sample) {
        let several = sample.bytes.is_none_or(|bytes| spread || u64::from(block.bytes) < bytes);
        if several && !block.bytes.is_multiple_of(align) {
            problems.push(misaligned(target, block, align));
        }
    }
}

fn misaligned(target: &Resolved<'_>, block: Block, align: u32) -> Problem {
    let bytes = u64::from(block.bytes);
    let near = rounded(bytes).checked_next_multiple_of(u64::from(align)).unwrap_or(BLOCK_ALIGN_BYTES);
    Problem::new(format!("direct I/O reads in multiples of {align} B here"))
        .at(block.span.unwrap_or(target.at()), format!("{} B is not a multiple", feed::group_digits(bytes)))
        .also(target.at(), "of this path")
        .help(format!("write for example \"{}\"", feed::format_bytes(near)))
}

/// Whether the buffers and open files of the most demanding cell fit into the machine.
pub(super) fn resources(
    target: &Resolved<'_>,
    cells: &[Cell],
    datasets: &Datasets,
    load: &Load,
    host: &HostFacts,
    problems: &mut Problems,
) {
    let place = load.schedule.depth_span.unwrap_or(target.at());
    let source_bytes = plan::copy_source_bytes(host.cache_bytes, host.memory_bytes);
    let largest = cells.iter().max_by_key(|cell| cell.memory_bytes(source_bytes));
    // Half: the other half is for the page cache, batches and whatever else runs. Beyond it the kernel
    // begins to reclaim what is measured.
    if let Some(cell) = largest.filter(|cell| cell.memory_bytes(source_bytes) > host.memory_bytes / 2) {
        let source = if cell.copies() {
            format!(", and {} what its ceiling is copied from", feed::format_bytes(source_bytes))
        } else {
            String::new()
        };
        let message = format!(
            "the buffers of a cell take {}{source}, more than half of the memory ({})",
            feed::format_bytes(cell.buffers_bytes()),
            feed::format_bytes(host.memory_bytes)
        );
        let blocks =
            format!("{} reads of {}", cell.queue_depth, feed::format_bytes(u64::from(cell.block_bytes)));
        let problem = Problem::new(message).at(place, blocks).also_if(load.blocks.span, "of these blocks");
        problems.push(problem.help("write shallower queues or smaller blocks"));
    }
    let storage = target.target.config.is_storage();
    let open_files = |cell: &Cell| open_files(cell, &target.target.config, datasets);
    let neediest = cells.iter().filter(|_| storage).max_by_key(|cell| open_files(cell));
    if let Some(cell) = neediest.filter(|cell| open_files(cell) > host.open_files_max) {
        let needed = open_files(cell);
        let message = format!(
            "{} reads outstanding keep {needed} files open; this process may have {}",
            cell.queue_depth, host.open_files_max
        );
        let problem = Problem::new(message).at(place, "too deep for that limit");
        problems.push(problem.help(format!("raise it (ulimit -n {needed}), or write shallower queues")));
    }
    held_open(target, cells, place, problems);
}

/// Refuses files that are held open where no blocks of files are read, and fewer of them than reads are outstanding.
pub(super) fn held_open(target: &Resolved<'_>, cells: &[Cell], depth: Span, problems: &mut Problems) {
    let Some(written) = target.written.open_files.given() else { return };
    match target.target.config {
        BackendConfig::File { .. } => {}
        BackendConfig::Device { .. } => {
            let problem = Problem::new("`open_files` is for files, and a device is one");
            problems.push(problem.at(written.span, "remove this").also(target.at(), "is a device"));
            return;
        }
        // Refused as all keys are that mean nothing there.
        _ => return,
    }
    let of_blocks =
        |cell: &&Cell| matches!(cell.operation(), Operation::Read | Operation::Write | Operation::Mix);
    let Some(deepest) = cells.iter().filter(of_blocks).map(|cell| u64::from(cell.queue_depth)).max() else {
        let message = "`open_files` is for blocks of files that are held open; whole files are opened anew for each sample";
        let problem = Problem::new(message).at(written.span, "remove this");
        problems.push(problem.help("or write load.operation = \"read\""));
        return;
    };
    let files = written.value.0;
    if files < deepest {
        let message = format!(
            "{files} files held open are too few for {deepest} reads outstanding, each of which may need its own"
        );
        let problem = Problem::new(message).at(written.span, "so few").also(depth, "so many");
        problems.push(problem.help(format!("write at least {deepest}, or a shallower queue_depth")));
    }
}

/// A read keeps its file open, and a whole file or a folder is open while it is read; there are no more files
/// than samples. `stat` opens nothing; a device is opened by each thread. A connection is an open file too.
fn open_files(cell: &Cell, config: &BackendConfig, datasets: &Datasets) -> u64 {
    let depth = u64::from(cell.queue_depth);
    let files = match (cell.operation(), config, &datasets.specs[cell.dataset]) {
        _ if config.capabilities().network => u64::from(cell.connections),
        (Operation::Stat | Operation::GetAttr, ..) => 0,
        (_, BackendConfig::Device { .. }, _) => u64::from(cell.threads),
        (_, _, DatasetSpec::Generate(plan::Generate { samples, .. })) => depth.min(*samples),
        (_, _, DatasetSpec::Existing(_)) => depth,
    };
    files + u64::from(cell.threads) * OPEN_FILES_PER_THREAD + OPEN_FILES_RESERVED
}
