//! Depths, blocks and access orders that every target shares.

use plan::Access;

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::{Axis, Item};
use crate::reader::{Entry, Field};
use crate::value::Size;
use crate::written::{Depths, Load as Written};

use super::dataset::Sample;

/// What `queue_depth = "auto"` may try.
const AUTO_DEPTHS: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Alignment to which a block is rounded up by default: a page, and no file system asks for more.
pub(super) const BLOCK_ALIGN_BYTES: u64 = 4096;

const BLOCK_DEFAULT_MAX_BYTES: u64 = 1 << 20;

/// Linux moves at most 2 GiB less a page in one read (`MAX_RW_COUNT`); half of it leaves room to round up.
const BLOCK_MAX_BYTES: u64 = 1 << 30;

/// The axes of `load`, resolved as far as they do not depend on a target.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) depths: Vec<u32>,
    pub(super) auto: bool,
    pub(super) depth_span: Option<Span>,
    pub(super) threads: Option<Entry<u32>>,
    pub(super) access: Vec<Access>,
    pub(super) access_span: Option<Span>,
    pub(super) blocks: Blocks,
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
    pub(super) fn at(&self, index: usize, sample: Sample) -> Block {
        if let Some(blocks) = &self.listed {
            return Block { bytes: blocks[index].value, span: Some(blocks[index].span) };
        }
        let whole = sample.bytes.map_or(u64::MAX, rounded);
        Block { bytes: whole.min(BLOCK_DEFAULT_MAX_BYTES) as u32, span: None }
    }

    /// All block sizes for one sample size.
    pub(super) fn all(&self, sample: Sample) -> impl Iterator<Item = Block> {
        (0..self.count()).map(move |index| self.at(index, sample))
    }

    /// Number of block sizes per sample size.
    pub(super) fn count(&self) -> usize {
        self.listed.as_ref().map_or(1, Vec::len)
    }
}

/// A size rounded up to whole blocks of the smallest size.
pub(super) fn rounded(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(BLOCK_ALIGN_BYTES).unwrap_or(u64::MAX)
}

pub(super) fn resolve(written: &Written, blocks: Blocks) -> Option<Load> {
    let (auto, depths) = depths(&written.queue_depth)?;
    let access = match &written.access {
        Field::Absent => vec![Access::ShuffledEpoch],
        Field::Given(entry) => entry.value.0.iter().map(|item| item.value.0).collect(),
        Field::Wrong(_) => return None,
    };
    let threads = match &written.threads {
        Field::Wrong(_) => return None,
        threads => threads.given().map(|entry| Entry {
            key: entry.key,
            span: entry.span,
            value: entry.value.0 as u32,
        }),
    };
    if let Field::Wrong(_) = written.mode {
        return None;
    }
    Some(Load {
        depths,
        auto,
        depth_span: written.queue_depth.span(),
        threads,
        access,
        access_span: written.access.span(),
        blocks,
    })
}

fn depths(written: &Field<Depths>) -> Option<(bool, Vec<u32>)> {
    match written {
        Field::Absent => Some((true, AUTO_DEPTHS.to_vec())),
        Field::Wrong(_) => None,
        Field::Given(entry) => Some(match &entry.value {
            Depths::Auto => (true, AUTO_DEPTHS.to_vec()),
            Depths::Listed(axis) => (false, axis.0.iter().map(|item| item.value.0 as u32).collect()),
        }),
    }
}

/// The block sizes; `None` when one was wrong, after saying why.
pub(super) fn blocks(written: &Field<Axis<Size>>, problems: &mut Problems) -> Option<Blocks> {
    let axis = match written {
        Field::Absent => return Some(Blocks { listed: None, span: None }),
        Field::Wrong(_) => return None,
        Field::Given(entry) => &entry.value,
    };
    let mut blocks = Vec::new();
    for item in &axis.0 {
        if item.value.0 > BLOCK_MAX_BYTES {
            let problem =
                Problem::new("`load.block_size` is at most 1 GiB").at(item.span, "this is too large");
            problems.push(problem.help("a larger file is read in several blocks"));
        } else {
            blocks.push(Item { span: item.span, value: item.value.0 as u32 });
        }
    }
    let possible = blocks.len() == axis.0.len();
    possible.then(|| Blocks { listed: Some(blocks), span: written.span() })
}
