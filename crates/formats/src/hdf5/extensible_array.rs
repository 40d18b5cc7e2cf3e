//! The extensible array: places of the chunks of a dataset that grows along one axis.
//!
//! The first entries and the addresses of the first blocks of entries lie in an index block. Blocks of entries double, by pairs of
//! rows that are counted here; those of later rows have their addresses in a block for each row.

use super::entries::{Each, Entry, is_set, run};
use super::fields::{Fields, NOWHERE};
use super::file::File;
use crate::error::FormatError;

const WHAT: &str = "extensible array";

/// Of the checksum behind each part.
const SUM_BYTES: u64 = 4;

/// The numbers from which the places of all parts follow.
struct Shape {
    entry: Entry,
    /// Entries in the index block.
    direct: u64,
    /// Entries of the smallest block.
    smallest: u64,
    /// Half of the blocks, and one, whose addresses lie in the index block.
    pointers: u64,
    /// Entries of a page.
    page: u64,
    /// Rows of blocks.
    rows: u32,
    /// Bytes of a block's own place, which its head has.
    place_bytes: usize,
    /// Chunks up to the last that was ever set.
    set: u64,
}

/// A block of entries.
struct Block {
    address: u64,
    entries: u64,
    /// The chunk of the first of them.
    first: u64,
}

impl Shape {
    /// Blocks of a row, and the entries of each.
    fn row(&self, row: u32) -> (u64, u64) {
        (1 << (row / 2), self.smallest << row.div_ceil(2))
    }

    /// Rows whose blocks have their addresses in the index block.
    fn direct_rows(&self) -> u32 {
        2 * self.pointers.ilog2()
    }

    /// Bytes before the content of a block.
    fn head_bytes(&self, file: &File<'_, '_>) -> usize {
        6 + file.sizes().address + self.place_bytes
    }

    /// Pages of a block; none where it is small.
    fn pages(&self, entries: u64) -> u64 {
        if entries > self.page { entries / self.page } else { 0 }
    }
}

/// Calls `each` with the number, the address and the bytes of every chunk.
pub(crate) fn places(
    file: &mut File<'_, '_>,
    address: u64,
    chunk_bytes: Option<u64>,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    let found = head(file, address, chunk_bytes)?;
    let (shape, index) = found.ok_or_else(|| file.broken("no extensible array", address))?;
    if index == NOWHERE {
        return Ok(());
    }
    let head_bytes = 6 + file.sizes().address;
    file.signed(WHAT, *b"EAIB", index, head_bytes)?;
    let mut at = index.saturating_add(head_bytes as u64);
    run(file, shape.entry, at, 0, shape.direct.min(shape.set), each)?;
    at = at.saturating_add(shape.direct * shape.entry.bytes as u64);
    let blocks = addresses(file, at, 2 * (shape.pointers - 1))?;
    at = at.saturating_add((blocks.len() * file.sizes().address) as u64);
    let rows = addresses(file, at, u64::from(shape.rows.saturating_sub(shape.direct_rows())))?;
    let mut first = shape.direct;
    let mut blocks = blocks.into_iter();
    for row in 0..shape.rows {
        if first >= shape.set {
            break;
        }
        let (count, entries) = shape.row(row);
        if row < shape.direct_rows() {
            for (address, number) in blocks.by_ref().take(count as usize).zip(0..) {
                let block = Block { address, entries, first: first + number * entries };
                of_block(file, &shape, &block, &mut |_| true, each)?;
            }
        } else if let Some(address) = rows.get((row - shape.direct_rows()) as usize) {
            of_row(file, &shape, row, &Block { address: *address, entries, first }, each)?;
        }
        first = first.saturating_add(count.saturating_mul(entries));
    }
    Ok(())
}

/// The numbers of an array, and where its index block lies.
fn head(
    file: &mut File<'_, '_>,
    address: u64,
    chunk_bytes: Option<u64>,
) -> Result<Option<(Shape, u64)>, FormatError> {
    let sizes = file.sizes();
    let mut head = file.signed(WHAT, *b"EAHD", address, 12 + 6 * sizes.length + sizes.address)?;
    let mut read = || {
        head.skip(1)?;
        let bytes = usize::from(head.byte()?);
        let bits = u32::from(head.byte()?);
        let direct = u64::from(head.byte()?);
        let [smallest, pointers] = [u64::from(head.byte()?), u64::from(head.byte()?)];
        let page_bits = u32::from(head.byte()?);
        // How many blocks there are, and their bytes, say nothing about places.
        head.skip(4 * sizes.length)?;
        let (set, _there, index) = (head.length()?, head.length()?, head.address()?);
        if !smallest.is_power_of_two() || !pointers.is_power_of_two() || bits > 64 || page_bits > 32 {
            return None;
        }
        let shape = Shape {
            entry: Entry { bytes, chunk_bytes },
            direct,
            smallest,
            pointers,
            page: 1 << page_bits,
            rows: (1 + bits).checked_sub(smallest.ilog2())?,
            place_bytes: bits.div_ceil(8) as usize,
            set,
        };
        Some((shape, index))
    };
    Ok(read())
}

/// So many addresses that follow each other.
fn addresses(file: &mut File<'_, '_>, address: u64, count: u64) -> Result<Vec<u64>, FormatError> {
    let width = file.sizes().address;
    let bytes = file.copy(WHAT, address, count.saturating_mul(width as u64))?;
    let mut fields = Fields::new(&bytes, file.sizes());
    Ok(std::iter::from_fn(|| fields.address()).collect())
}

/// The blocks of a row, by the block of their addresses.
fn of_row(
    file: &mut File<'_, '_>,
    shape: &Shape,
    row: u32,
    whole: &Block,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    if whole.address == NOWHERE {
        return Ok(());
    }
    let (count, entries) = shape.row(row);
    let head_bytes = shape.head_bytes(file);
    file.signed(WHAT, *b"EASB", whole.address, head_bytes)?;
    let at = whole.address.saturating_add(head_bytes as u64);
    let pages = shape.pages(entries);
    let used = file.copy(WHAT, at, count.saturating_mul(pages.div_ceil(8)))?;
    let blocks = addresses(file, at.saturating_add(used.len() as u64), count)?;
    for (address, number) in blocks.into_iter().zip(0..) {
        let first = whole.first.saturating_add(entries.saturating_mul(number));
        let mut is_used = |page: u64| is_set(&used, number * pages + page);
        of_block(file, shape, &Block { address, entries, first }, &mut is_used, each)?;
    }
    Ok(())
}

fn of_block(
    file: &mut File<'_, '_>,
    shape: &Shape,
    block: &Block,
    is_used: &mut dyn FnMut(u64) -> bool,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    if block.address == NOWHERE || block.first >= shape.set {
        return Ok(());
    }
    let head_bytes = shape.head_bytes(file);
    file.signed(WHAT, *b"EADB", block.address, head_bytes)?;
    let mut at = block.address.saturating_add(head_bytes as u64);
    let pages = shape.pages(block.entries);
    if pages == 0 {
        return run(file, shape.entry, at, block.first, block.entries, each);
    }
    at = at.saturating_add(SUM_BYTES);
    let page_bytes = shape.page.saturating_mul(shape.entry.bytes as u64).saturating_add(SUM_BYTES);
    for page in 0..pages {
        if is_used(page) {
            run(file, shape.entry, at, block.first.saturating_add(page * shape.page), shape.page, each)?;
        }
        at = at.saturating_add(page_bytes);
    }
    Ok(())
}
