//! Operations, depths, blocks and access orders that every target shares.

use plan::{Access, Layout, Operation, Pages};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::{Axis, Item};
use crate::reader::Field;
use crate::table::Keys as _;
use crate::value::Size;
use crate::words::{Mode, Word};
use crate::written::{Depths, Document, Load as Written};

use super::access::Orders;
use super::dataset::Sample;
use super::reading;
use super::schedule::Schedule;

/// Alignment to which a block is rounded up by default: a page, and no file system asks for more.
pub(super) const BLOCK_ALIGN_BYTES: u64 = 4096;

/// The largest block by default.
pub(super) const BLOCK_DEFAULT_MAX_BYTES: u64 = 1 << 20;

/// Linux moves at most 2 GiB less a page in one read (`MAX_RW_COUNT`); half of it leaves room to round up.
pub(super) const BLOCK_MAX_BYTES: u64 = 1 << 30;

/// Room for what `stat` returns.
const STAT_BLOCK_BYTES: u32 = 4096;

/// Room for the entries that one `getdents64` returns: about 2,000 names of the generated kind.
const LIST_BLOCK_BYTES: u32 = 64 << 10;

/// The axes of `load`, resolved as far as they do not depend on a target.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) tasks: Vec<Task>,
    pub(super) schedule: Schedule,
    /// As written: keys of a cell that take part in nothing else are read where the cell is made.
    pub(super) written: Written,
    pub(super) orders: Orders,
    pub(super) blocks: Blocks,
    pub(super) pages: Paging,
    /// Whether the accelerators of a job wait for each other for checkpoints: one thread alone can let them.
    pub(super) together: bool,
}

/// An operation, and where it was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) operation: Operation,
    pub(super) span: Option<Span>,
}

/// Block sizes as written, or one for each sample size that follows it.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    listed: Option<Vec<Item<u32>>>,
    pub(super) span: Option<Span>,
}

/// The pages of buffers as written, or those of a loader.
#[derive(Debug)]
pub(super) struct Paging {
    listed: Vec<Pages>,
    pub(super) span: Option<Span>,
}

impl Paging {
    /// The pages of one kind of cell, and whether it is to say so: where they differ, or are not what a reader expects.
    pub(super) fn at(&self, index: usize, operation: Operation) -> (Pages, bool) {
        let reads = operation.reads_bytes();
        let pages = if reads { self.listed[index] } else { Pages::default() };
        (pages, reads && self.listed != [Pages::default()])
    }

    /// Number of kinds of pages.
    pub(super) fn count(&self, operation: Operation) -> usize {
        if operation.reads_bytes() { self.listed.len() } else { 1 }
    }
}

/// A block size, and where it was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) bytes: u32,
    pub(super) span: Option<Span>,
}

impl Blocks {
    /// A block size for one sample size: as written, or the only one, which follows the sample.
    pub(super) fn at(&self, index: usize, operation: Operation, sample: Sample) -> Block {
        let fixed = |bytes| Block { bytes, span: None };
        match (operation, &self.listed) {
            (Operation::Stat | Operation::GetAttr, _) => fixed(STAT_BLOCK_BYTES),
            (Operation::List, _) => fixed(LIST_BLOCK_BYTES),
            (_, Some(blocks)) => Block { bytes: blocks[index].value, span: Some(blocks[index].span) },
            (_, None) => {
                let whole = sample.bytes.map_or(u64::MAX, rounded);
                fixed(whole.min(BLOCK_DEFAULT_MAX_BYTES) as u32)
            }
        }
    }

    /// All block sizes of reads for one sample size.
    pub(super) fn of_reads(&self, sample: Sample) -> impl Iterator<Item = Block> {
        let count = self.count(Operation::Read);
        (0..count).map(move |index| self.at(index, Operation::Read, sample))
    }

    /// Number of block sizes per sample size.
    pub(super) fn count(&self, operation: Operation) -> usize {
        if operation.reads_bytes() { self.listed.as_ref().map_or(1, Vec::len) } else { 1 }
    }
}

/// A size rounded up to whole blocks of the smallest size.
pub(super) fn rounded(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(BLOCK_ALIGN_BYTES).unwrap_or(u64::MAX)
}

/// When reads are issued, and where that was written; `None` when it was wrong.
pub(super) fn mode(written: &Written) -> Option<(Mode, Option<Span>)> {
    Some((written.mode.value_or(Mode::default())?, written.mode.span()))
}

/// The largest depth that is listed; `None` where none is.
pub(super) fn deepest(written: &Written) -> Option<u32> {
    match &written.queue_depth.given()?.value {
        Depths::Auto => None,
        Depths::Listed(depths) => depths.0.iter().map(|item| item.value.0 as u32).max(),
    }
}

/// What is done over and over. Where that was wrong, the rest is looked at as if blocks were read; a training job takes
/// whole files unless something else is written, or samples lie in shards.
pub(super) fn tasks(document: &Document) -> Vec<Task> {
    let written = &document.load;
    match written.operation.given() {
        None => {
            let (mode, span) = mode(written).unwrap_or_default();
            let training =
                written.operation.is_absent() && mode == Mode::Training && !reading::is_packed(document);
            let operation = if training { Operation::ReadFile } else { Operation::Read };
            vec![Task { operation, span: span.filter(|_| training) }]
        }
        Some(entry) => {
            let task = |item: &Item<Word<Operation>>| Task { operation: item.value.0, span: Some(item.span) };
            entry.value.0.iter().map(task).collect()
        }
    }
}

/// The rest of `load`; `None` when something was wrong.
pub(super) fn resolve(
    written: &Written,
    tasks: Vec<Task>,
    (schedule, orders): (Schedule, Orders),
    (blocks, pages): (Blocks, Paging),
) -> Option<Load> {
    if written.is_wrong() {
        return None;
    }
    Some(Load { tasks, schedule, written: written.clone(), orders, blocks, pages, together: false })
}

/// The order in which a loader reads this layout, unless something else is asked for.
pub(super) fn default_access(layout: Layout) -> Access {
    if layout.is_streamed() { Access::ShuffledShards } else { Access::ShuffledEpoch }
}

/// The block sizes; `None` when one was wrong, after saying why.
pub(super) fn blocks(written: &Field<Axis<Size>>, problems: &mut Problems) -> Option<Blocks> {
    let Some(entry) = written.entry()? else { return Some(Blocks { listed: None, span: None }) };
    let mut blocks = Vec::new();
    for item in &entry.value.0 {
        if item.value.0 > BLOCK_MAX_BYTES {
            let problem =
                Problem::new("`load.block_size` is at most 1 GiB").at(item.span, "this is too large");
            problems.push(problem.help("a larger file is read in several blocks"));
        } else {
            blocks.push(Item { span: item.span, value: item.value.0 as u32 });
        }
    }
    let possible = blocks.len() == entry.value.0.len();
    possible.then(|| Blocks { listed: Some(blocks), span: written.span() })
}

/// The pages of buffers; `None` when they were wrong.
pub(super) fn pages(written: &Field<Axis<Word<Pages>>>) -> Option<Paging> {
    Some(Paging { listed: written.value_or(vec![Pages::default()])?, span: written.span() })
}
