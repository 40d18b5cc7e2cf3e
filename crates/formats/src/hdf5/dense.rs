//! Links of a group that has many of them: messages in a heap, named by a B-tree of the second version.
//!
//! The heap is blocks that double in size, by rows: the first two rows have blocks of the smallest size. A link's place in the heap
//! counts from the first byte of the first block, heads of blocks included.

use super::fields::{Fields, NOWHERE};
use super::file::File;
use super::links::{Link, message};
use super::second_tree::{records, width_of};
use crate::error::FormatError;

const WHAT: &str = "heap of links";

/// Kind of a B-tree of links by their names.
const BY_NAME: u8 = 5;

/// Bytes of a record before the place of its link: what the name was hashed to.
const HASH_BYTES: usize = 4;

/// Where the blocks of a heap lie.
struct Heap {
    /// Blocks of a row.
    width: u64,
    /// Bytes of a block of the first rows.
    smallest: u64,
    /// Rows of which blocks hold links; those of later rows hold rows of blocks.
    direct_rows: u32,
    /// Bits of a place in the heap.
    place_bits: u32,
    /// Bytes of the length of a link.
    length_bytes: usize,
    root: u64,
    /// Rows of the block of blocks that the root is; 0 where it holds links itself.
    root_rows: u32,
}

/// A place in the heap.
#[derive(Clone, Copy)]
struct Place {
    at: u64,
    bytes: u64,
}

/// A block of links.
#[derive(Default)]
struct Block {
    address: u64,
    /// Its own place in the heap.
    from: u64,
    bytes: u64,
}

impl Block {
    fn holds(&self, place: Place) -> bool {
        let within = place.at.checked_sub(self.from).and_then(|within| within.checked_add(place.bytes));
        within.is_some_and(|end| end <= self.bytes)
    }
}

/// The links of the group with that heap and that B-tree, in the order of their names.
pub(crate) fn links(file: &mut File<'_, '_>, heap: u64, names: u64) -> Result<Vec<Link>, FormatError> {
    let found = head(file, heap)?;
    let heap = found.ok_or_else(|| file.broken("a heap of links of a form that is not read", heap))?;
    let mut places = Vec::new();
    records(file, names, BY_NAME, &mut |file, record| {
        let place = place_of(Fields::new(record, file.sizes()), &heap);
        places.push(place.ok_or_else(|| file.broken("a link outside its heap", names))?);
        Ok(())
    })?;
    // As they lie, so that blocks are read forwards.
    places.sort_unstable_by_key(|place: &Place| place.at);
    let (mut links, mut block) = (Vec::new(), Block::default());
    for place in places {
        if !block.holds(place) {
            let found = block_of(file, &heap, place.at)?.filter(|block| block.holds(place));
            block = found.ok_or_else(|| file.broken("a link outside its heap", names))?;
        }
        let address = block.address.saturating_add(place.at - block.from);
        let fields = file.part("link", address, place.bytes as usize)?;
        let link = message(fields).ok_or_else(|| file.broken("no link", address))?;
        links.extend(link);
    }
    links.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(links)
}

/// The numbers of a heap; `None` where they say something that is not read: filters, or numbers that no heap has.
fn head(file: &mut File<'_, '_>, address: u64) -> Result<Option<Heap>, FormatError> {
    let sizes = file.sizes();
    let bytes = 22 + 12 * sizes.length + 3 * sizes.address;
    let mut head = file.signed(WHAT, *b"FRHP", address, bytes)?;
    let mut read = || {
        let _id_bytes = head.number(2)?;
        let filter_bytes = head.number(2)?;
        head.skip(1)?;
        let most = head.number(4)?;
        // Links too large for blocks, free space, and how much of everything there is.
        head.skip(10 * sizes.length + 2 * sizes.address)?;
        let width = head.number(2)?;
        let (smallest, largest) = (head.length()?, head.length()?);
        let place_bits = head.number(2)? as u32;
        head.skip(2)?;
        let (root, root_rows) = (head.address()?, head.number(2)? as u32);
        let is_sound = filter_bytes == 0
            && width.is_power_of_two()
            && smallest.is_power_of_two()
            && largest.is_power_of_two()
            && largest >= smallest
            && (1..=64).contains(&place_bits)
            && root_rows <= place_bits
            && width.ilog2() + smallest.ilog2() + root_rows < u64::BITS;
        // Places in it are counted in 64 bits.
        let direct_rows = largest.checked_ilog2()?.checked_sub(smallest.checked_ilog2()?)? + 2;
        let length_bytes = width_of(most).min(largest.ilog2().div_ceil(8) as usize);
        is_sound.then_some(Heap { width, smallest, direct_rows, place_bits, length_bytes, root, root_rows })
    };
    Ok(read())
}

/// Where a record of the B-tree says that its link is.
fn place_of(mut record: Fields<'_>, heap: &Heap) -> Option<Place> {
    record.skip(HASH_BYTES)?;
    // Anything else is kept apart from the blocks.
    record.byte().filter(|flags| flags & 0xf0 == 0)?;
    Some(Place { at: record.number(heap.place_bytes())?, bytes: record.number(heap.length_bytes)? })
}

impl Heap {
    /// Bytes of a place in the heap.
    const fn place_bytes(&self) -> usize {
        self.place_bits.div_ceil(8) as usize
    }

    /// The row of a place, the number of its block in that row, the place in that block, and the bytes of the block.
    fn find(&self, at: u64) -> (u32, u64, u64, u64) {
        let row_bytes = self.width * self.smallest;
        let Some(doubled) = (at / row_bytes).checked_ilog2() else {
            return (0, at / self.smallest, at % self.smallest, self.smallest);
        };
        let (within, block) = (at - (row_bytes << doubled), self.smallest << doubled);
        (doubled + 1, within / block, within % block, block)
    }

    /// Rows of a block of blocks of so many bytes.
    fn rows_of(&self, bytes: u64) -> u32 {
        (bytes.ilog2() + 1).saturating_sub(self.width.ilog2() + self.smallest.ilog2())
    }
}

/// The block of links that holds a place; `None` where the heap has no such place.
fn block_of(file: &mut File<'_, '_>, heap: &Heap, place: u64) -> Result<Option<Block>, FormatError> {
    let (mut address, mut rows, mut within) = (heap.root, heap.root_rows, place);
    let mut bytes = heap.smallest;
    let head_bytes = (5 + file.sizes().address + heap.place_bytes()) as u64;
    // Each round enters a block of fewer rows.
    while rows > 0 {
        let (row, number, rest, block_bytes) = heap.find(within);
        if row >= rows || file.look(WHAT, address, 4)?.rest() != b"FHIB" {
            return Ok(None);
        }
        let width = file.sizes().address;
        let entry = address + head_bytes + (u64::from(row) * heap.width + number) * width as u64;
        address = file.look(WHAT, entry, width)?.address().unwrap_or(NOWHERE);
        (within, bytes) = (rest, block_bytes);
        rows = if row < heap.direct_rows { 0 } else { heap.rows_of(block_bytes).min(row) };
        if row >= heap.direct_rows && rows == 0 {
            return Ok(None);
        }
    }
    let is_block = file.look(WHAT, address, 4)?.rest() == b"FHDB";
    Ok(is_block.then_some(Block { address, from: place - within, bytes }))
}
