//! The cells that copy a dataset from one target to another.

use plan::{
    Access, COPY_BLOCK_BYTES, COPY_THREADS, Cache, Cell, Codec, Copy, Engine, Layout, Operation, Packing,
    Task,
};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::reader::{Entry, Field};
use crate::value::Text;
use crate::written::{COPY_THREADS_MAX, Copy as Written, Document, Pack};

use super::block::{BLOCK_MAX_BYTES, Sample, rounded};
use super::dataset::Datasets;
use super::names::{Name, Of};
use super::packing::{COLUMNS_DEFAULT, MEMBERS_DEFAULT, ROW_GROUP_DEFAULT_BYTES, SHARD_DEFAULT_BYTES};
use super::target::{self, Resolved};
use super::task;

/// Files that an object under way keeps open: itself, its copy, its queue and the queue's waker.
const OPEN_FILES_PER_THREAD: u64 = 4;
const OPEN_FILES_RESERVED: u64 = 16;

/// A target by its index, and where its name was written.
#[derive(Clone, Copy)]
struct End<'a, 'w> {
    index: usize,
    resolved: &'a Resolved<'w>,
    span: Span,
}

/// How a dataset is copied, as far as that does not depend on its sample size.
struct CopySettings {
    copy: Copy,
    threads: u32,
    block_bytes: u64,
    block_span: Option<Span>,
}

/// A cell for each dataset, of files alone where they are packed; none where nothing is to be copied, or where something
/// is wrong, after saying why.
pub(super) fn cells(
    document: &Document,
    targets: &[&Resolved<'_>],
    datasets: &Datasets,
    seed: u64,
    host: &HostFacts,
    problems: &mut Problems,
) -> Vec<Cell> {
    let written = &document.copy;
    let from = end(("copy.from", &written.from), targets, document, problems);
    let to = end(("copy.to", &written.to), targets, document, problems);
    let Some((from, to)) = from.zip(to) else { return Vec::new() };
    let before = problems.len();
    refuse_ends(from, to, problems);
    let settings = settings(document, to.index, datasets, problems);
    let Some(settings) = settings.filter(|_| problems.len() == before) else { return Vec::new() };
    let of_dataset =
        |(dataset, sample): (usize, &Sample)| cell((from, to), &settings, (dataset, *sample), seed);
    let is_copied = |(_, sample): &(usize, &Sample)| settings.copy.packing.is_none() || is_files(sample);
    let copied = datasets.samples.iter().enumerate().filter(is_copied);
    let cells: Vec<Cell> = copied.map(of_dataset).collect();
    if let (true, Some(pack)) = (cells.is_empty(), written.pack.span()) {
        let problem = Problem::new("these samples are packed already").at(pack, "packs files");
        let problem = problem.also_if(document.dataset.layout.span(), "are shards");
        problems.push(problem.help("remove `copy.pack`, or list \"files\" in dataset.layout too"));
    }
    refuse_resources(written, &cells, (from, &settings), host, problems);
    cells
}

/// Whether each sample is a file: those alone can be packed. What nobody stated is found when it is looked at.
fn is_files(sample: &Sample) -> bool {
    sample.layout.is_none_or(|layout| layout == Layout::Files)
}

/// The target with this name; `None` when no target has it, after saying so, and where the target itself is wrong.
fn end<'a, 'w>(
    (key, written): (&str, &Field<Text>),
    targets: &[&'a Resolved<'w>],
    document: &Document,
    problems: &mut Problems,
) -> Option<End<'a, 'w>> {
    let Entry { span, value: Text(name), .. } = written.given()?;
    let index = targets.iter().position(|target| target.target.name == *name);
    problems.extend(target::refuse_unknown(document, key, name, *span));
    index.map(|index| End { index, resolved: targets[index], span: *span })
}

fn refuse_ends(from: End<'_, '_>, to: End<'_, '_>, problems: &mut Problems) {
    // From and to one storage each byte crosses it twice, which is no staging.
    if from.index == to.index {
        let problem = Problem::new("a dataset is copied from one target to another one");
        problems
            .push(problem.at(to.span, "is the target that it comes from").also(from.span, "comes from here"));
        return;
    }
    if !from.resolved.target.config.is_storage() {
        let problem = Problem::new("there is nothing to copy where there is no storage");
        problems.push(problem.at(from.span, "is no storage").also(from.resolved.at(), "its address"));
    }
    if !to.resolved.target.config.capabilities().writable {
        let problem = Problem::new("nothing can be copied there: feedline does not write to such a target");
        problems.push(problem.at(to.span, "is not written to").also(to.resolved.at(), "its address"));
    }
    if overlap(&from.resolved.target, &to.resolved.target) {
        let problem = Problem::new("the copy would lie among the data that it is made of")
            .at(to.span, "is the same place, or inside the other, or around it")
            .also(from.resolved.at(), "copied from here")
            .also(to.resolved.at(), "copied to here");
        problems.push(problem.help("choose a folder or prefix beside the other"));
    }
}

/// Whether one of two targets lies in the other. A server that feedline starts holds nothing but its own target's data.
fn overlap(one: &plan::Target, other: &plan::Target) -> bool {
    one.emulate.is_none() && other.emulate.is_none() && one.config.overlaps(&other.config)
}

fn settings(
    document: &Document,
    to: usize,
    datasets: &Datasets,
    problems: &mut Problems,
) -> Option<CopySettings> {
    let written = &document.copy;
    let size_bytes = written.size.optional()?;
    let packing = packing(written, datasets, problems);
    let block_bytes = written.block_size.value_or(COPY_BLOCK_BYTES)?;
    if block_bytes > BLOCK_MAX_BYTES {
        let problem = Problem::new("`copy.block_size` is at most 1 GiB");
        problems.push(problem.at(written.block_size.span()?, "this is too large"));
    }
    let unwritten =
        task::deepest(&document.load).map_or(COPY_THREADS, |depth| depth.min(COPY_THREADS_MAX as u32));
    let threads = written.threads.value_or(unwritten)?;
    let copy = Copy { to, packing: packing?, size_bytes, keep: written.keep.value_or(false)? };
    Some(CopySettings { copy, threads, block_bytes, block_span: written.block_size.span() })
}

/// How samples are packed; `Some(None)` where they are not.
#[expect(clippy::option_option, reason = "files and wrong differ")]
fn packing(written: &Written, datasets: &Datasets, problems: &mut Problems) -> Option<Option<Packing>> {
    let layout = written.pack.optional()?.map(|pack: Pack| pack.0);
    let Some(layout) = layout else { return Some(None) };
    if layout == Layout::Records && !datasets.is_uniform() {
        let problem = Problem::new("records are of one size, and these samples may not be");
        problems.push(problem.at(written.pack.span()?, "write another layout"));
    }
    let codec = written.codec.value_or(Codec::None)?;
    // As for datasets: what no reader can read is not worth measuring.
    if (layout, codec) == (Layout::TfRecord, Codec::Zstd) {
        let problem = Problem::new("no reader of tfrecord shards takes them compressed with zstd");
        problems.push(problem.at(written.codec.span()?, "write \"gzip\", or leave it out"));
    }
    let shard_bytes: u64 = written.shard_size.value_or(SHARD_DEFAULT_BYTES)?;
    let members = written.members.value_or(MEMBERS_DEFAULT)?;
    // Not a key of `copy`: how many columns there are is no question of staging.
    let columns = if layout == Layout::Parquet { COLUMNS_DEFAULT } else { 1 };
    Some(Some(Packing {
        layout,
        shard_bytes,
        members: if layout == Layout::WebDataset { members } else { 1 },
        codec,
        columns,
        columns_read: columns,
        row_group_bytes: if layout == Layout::Parquet {
            ROW_GROUP_DEFAULT_BYTES.min(shard_bytes)
        } else {
            shard_bytes
        },
    }))
}

fn cell(
    (from, to): (End<'_, '_>, End<'_, '_>),
    settings: &CopySettings,
    (dataset, sample): (usize, Sample),
    seed: u64,
) -> Cell {
    let resolved = from.resolved;
    // The first engine alone: a copy is about two storages, and engines are compared by reads.
    let lane = &resolved.lanes[0];
    // Stages are read once, from storage: past the page cache, or from an empty one.
    let direct = resolved.direct_align_bytes.is_some() && lane.engine != Engine::Mmap;
    let cache = if resolved.network.is_some() || direct { Cache::Bypass } else { Cache::Cold };
    let block_bytes = sample.bytes.map_or(u64::MAX, rounded).min(settings.block_bytes) as u32;
    let (source, target) = (&resolved.target.name, &to.resolved.target.name);
    let name = Name::default()
        .word(format!("{source}->{target}"))
        .axis("target", source, "")
        .axis("to", target, "")
        .both("engine", lane.engine.name())
        .both("operation", Operation::Copy.name())
        .layout_word(sample.layout.filter(|layout| *layout != Layout::Files))
        .sample(sample)
        .block(block_bytes);
    let name = match settings.copy.packing {
        Some(packing) => name.both("pack", packing.layout.name()),
        None => name,
    };
    let name = name.word(format!("t{}", settings.threads)).axis("threads", &settings.threads, "");
    Cell {
        dataset,
        task: Task::Copy(settings.copy),
        access: Access::Sequential,
        cache,
        threads: settings.threads,
        connections: if resolved.network.is_some() { settings.threads } else { 0 },
        submit_batch: 1,
        ..name.cell(Of { resolved, index: from.index, lane, seed }, block_bytes, settings.threads)
    }
}

/// Whether alignment, memory and open files allow the most demanding copy.
fn refuse_resources(
    written: &Written,
    cells: &[Cell],
    (from, settings): (End<'_, '_>, &CopySettings),
    host: &HostFacts,
    problems: &mut Problems,
) {
    let threads = written.threads.span().unwrap_or(from.span);
    let Some(cell) = cells.iter().max_by_key(|cell| cell.buffers_bytes()) else { return };
    let align = from.resolved.direct_align_bytes.filter(|_| cell.cache == Cache::Bypass);
    if let Some(align) = align.filter(|align| !cell.block_bytes.is_multiple_of(*align)) {
        let problem = Problem::new(format!("direct I/O reads in multiples of {align} B here"));
        problems.push(problem.at(settings.block_span.unwrap_or(from.span), "is not a multiple"));
    }
    if cell.buffers_bytes() > host.memory_bytes / 2 {
        let message = format!(
            "the buffers of the copy take {}, more than half of the memory ({})",
            feed::format_bytes(cell.buffers_bytes()),
            feed::format_bytes(host.memory_bytes)
        );
        let problem = Problem::new(message).at(threads, format!("{} objects side by side", cell.threads));
        problems.push(
            problem
                .also_if(settings.block_span, "of these blocks")
                .help("write fewer copy.threads or a smaller copy.block_size"),
        );
    }
    let needed = u64::from(cell.threads) * OPEN_FILES_PER_THREAD + OPEN_FILES_RESERVED;
    // Found before hours of copying and not in the middle of them.
    if needed > host.open_files_max {
        let problem = Problem::new(format!(
            "{} objects side by side keep {needed} files open; this process may have {}",
            cell.threads, host.open_files_max
        ));
        let problem = problem.at(threads, "too many for that limit");
        problems.push(problem.help(format!("raise it (ulimit -n {needed}), or write fewer copy.threads")));
    }
}
