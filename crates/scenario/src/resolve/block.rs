//! Sample sizes, and block sizes: as written, or one that follows the sample.

use plan::{Layout, Operation};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::{Axis, Item};
use crate::reader::Field;
use crate::value::Size;

use super::forms::Form;

/// Alignment to which a block is rounded up by default: a page, and no file system asks for more.
pub(super) const BLOCK_ALIGN_BYTES: u64 = 4096;

/// The largest block by default.
// Beyond it the kernel splits direct reads by the device's `max_sectors_kb`, 1,280 by default, so that a
// larger block is no larger request.
pub(super) const BLOCK_DEFAULT_MAX_BYTES: u64 = 1 << 20;

/// Linux moves at most 2 GiB less a page in one read (`MAX_RW_COUNT`); half of it leaves room to round up.
pub(super) const BLOCK_MAX_BYTES: u64 = 1 << 30;

/// Room for what `stat` returns.
const STAT_BLOCK_BYTES: u32 = 4096;

/// Room for the entries that one `getdents64` returns: about 2,000 names of the generated kind.
const LIST_BLOCK_BYTES: u32 = 64 << 10;

/// A sample size, where it was written, and how such samples lie: what is known of one dataset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// `None` for files of the user's whose size nobody stated.
    pub(super) bytes: Option<u64>,
    pub(super) span: Option<Span>,
    /// `None` for files of the user's whose layout nobody stated.
    pub(super) layout: Option<Layout>,
    /// What sets their dataset apart from others of this size and layout.
    pub(super) form: Form,
}

impl Sample {
    /// Bytes of the file that a sample is, where it is one.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        self.bytes.filter(|_| self.layout == Some(Layout::Files))
    }
}

/// Block sizes as written, or one for each sample size that follows it.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    listed: Option<Vec<Item<u32>>>,
    pub(super) span: Option<Span>,
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
            // Never an axis: a block size would multiply cells in which no block is read.
            (Operation::Stat | Operation::GetAttr | Operation::Names, _) => fixed(STAT_BLOCK_BYTES),
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
        if operation.moves_bytes() { self.listed.as_ref().map_or(1, Vec::len) } else { 1 }
    }
}

/// A size rounded up to whole blocks of the smallest size.
pub(super) fn rounded(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(BLOCK_ALIGN_BYTES).unwrap_or(u64::MAX)
}

/// The block sizes; `None` when one was wrong, after saying why.
pub(super) fn resolve(written: &Field<Axis<Size>>, problems: &mut Problems) -> Option<Blocks> {
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
