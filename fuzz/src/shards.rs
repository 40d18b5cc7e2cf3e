//! A shard of any content is an index of places inside it, or no shard; never a panic, never memory by a stated number.
//!
//! The first byte says which layout it is read as, and whether the rest of the input is the shard or an edit of a good
//! one: no mutation of nothing comes upon a footer.

use std::sync::OnceLock;

use formats::{Indexing, Samples, Unit, ZarrNode};
use plan::{Codec, Layout, Packing};

use crate::memory::Memory;

/// Bit of the first byte that asks for an edit of a good shard.
const EDITS: u8 = 0x80;

/// Bit of the first byte that asks for chosen columns.
const CHOOSES: u8 = 0x40;

const LAYOUTS: [Layout; 5] =
    [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet];

/// Files of HDF5 as its library wrote them, with every kind of group and of index of chunks.
const HIERARCHIES: [&[u8]; 5] = [
    include_bytes!("../../crates/formats/tests/fixtures/hdf5/earliest.h5"),
    include_bytes!("../../crates/formats/tests/fixtures/hdf5/v108.h5"),
    include_bytes!("../../crates/formats/tests/fixtures/hdf5/v110.h5"),
    include_bytes!("../../crates/formats/tests/fixtures/hdf5/latest.h5"),
    include_bytes!("../../crates/formats/tests/fixtures/hdf5/dense.h5"),
];

/// Five samples of 300 zeros.
struct Zeros;

impl Samples for Zeros {
    fn count(&self) -> u64 {
        5
    }

    fn number(&self, index: u64) -> u64 {
        index
    }

    fn bytes(&self, _: u64) -> u64 {
        300
    }

    fn fill(&mut self, _: u64, _: u64, out: &mut [u8]) {
        out.fill(0);
    }
}

fn good(layout: Layout) -> Vec<u8> {
    let packing = Packing {
        layout,
        shard_bytes: 1500,
        members: 2,
        codec: Codec::None,
        columns: 2,
        columns_read: 2,
        row_group_bytes: 600,
    };
    let mut shard = Vec::new();
    formats::write(&packing, &mut Zeros, &mut shard).expect("memory");
    shard
}

fn good_ones() -> &'static [Vec<u8>; 5] {
    static SHARDS: OnceLock<[Vec<u8>; 5]> = OnceLock::new();
    SHARDS.get_or_init(|| LAYOUTS.map(good))
}

/// `whole` with some bytes replaced: place from its end and length, two bytes each, and what comes there.
fn edited(whole: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let (edit, by) = input.split_at_checked(4)?;
    let number = |at: usize| usize::from(u16::from_le_bytes([edit[at], edit[at + 1]]));
    // Footers and tables are at the end.
    let from = whole.len() - number(0) % (whole.len() + 1);
    let to = (from + number(2) % 64).min(whole.len());
    Some([&whole[..from], by, &whole[to..]].concat())
}

/// A file of HDF5 with some bytes written over: at places of two bytes each, eight bytes.
// Its structures have their places by number, so that nothing may move.
fn overwritten(whole: &[u8], input: &[u8]) -> Vec<u8> {
    let mut file = whole.to_vec();
    for edit in input.chunks(10) {
        let (place, by) = edit.split_at(edit.len().min(2));
        let from = place.iter().fold(0, |at, byte| at << 8 | usize::from(*byte)) % file.len();
        file[from..].iter_mut().zip(by).for_each(|(byte, new)| *byte = *new);
    }
    file
}

/// All datasets of a file, or the largest.
fn hierarchy_indexed(kind: u8, input: &[u8]) {
    let of = |file: &[u8]| {
        indexed_by("/", kind & CHOOSES != 0, Layout::Hdf5, file);
    };
    if kind & EDITS == 0 {
        of(input);
    } else {
        of(&overwritten(HIERARCHIES[usize::from(kind & 0x0f) % HIERARCHIES.len()], input));
    }
}

fn indexed(layout: Layout, chooses: bool, shard: &[u8]) {
    indexed_by("c1", chooses, layout, shard);
}

fn indexed_by(column: &str, chooses: bool, layout: Layout, shard: &[u8]) {
    let columns = if chooses { vec![column.to_owned()] } else { Vec::new() };
    let indexing = Indexing { columns, checked_records: 2 };
    let _ = formats::index(layout, &indexing, &mut Memory(shard), &mut |unit| assert_inside(unit, shard));
}

fn assert_inside(unit: Unit<'_>, shard: &[u8]) {
    assert!(unit.samples > 0 && !unit.extents.is_empty());
    for (offset, bytes) in unit.extents {
        assert!(offset.checked_add(*bytes).is_some_and(|end| end <= shard.len() as u64));
    }
}

/// Metadata and an object of their array, which begins with a zero.
fn array_indexed(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (metadata, object) = input.split_at(end);
    if let Ok(ZarrNode::Array(array)) = formats::parse_zarr_metadata(metadata)
        && array.samples() > 0
    {
        let _ = formats::zarr_units(&array, 0, &mut Memory(object), &mut |unit| assert_inside(unit, object));
    }
}

/// See the module.
pub fn shards(data: &[u8]) {
    let Some((kind, input)) = data.split_first() else { return };
    let _ = formats::detect("shard", input);
    let _ = formats::foreign("shard.arrow", input);
    array_indexed(input);
    // It is not written, so that no good one is edited.
    indexed(Layout::Ffcv, false, input);
    hierarchy_indexed(*kind, input);
    let which = usize::from(kind & 0x0f) % LAYOUTS.len();
    let (layout, chooses) = (LAYOUTS[which], kind & CHOOSES != 0);
    if kind & EDITS == 0 {
        indexed(layout, chooses, input);
    } else if let Some(shard) = edited(&good_ones()[which], input) {
        indexed(layout, chooses, &shard);
    }
}
