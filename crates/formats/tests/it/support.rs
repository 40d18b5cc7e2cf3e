//! Samples whose bytes follow from their numbers, and shards in memory.

use std::io;

use formats::{FormatError, Indexing, Samples, Source};
use plan::{Codec, Layout, Packing};

/// Layouts whose places arithmetic knows.
pub(crate) const EVEN: [Layout; 6] =
    [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Zarr, Layout::Hdf5];

/// Samples of these sizes, the first of which is number `first`.
#[derive(Debug, Clone)]
pub(crate) struct Numbered {
    pub(crate) first: u64,
    pub(crate) sizes: Vec<u64>,
}

impl Numbered {
    pub(crate) fn of(sizes: &[u64]) -> Self {
        Self { first: 41, sizes: sizes.to_vec() }
    }

    /// All bytes of a sample.
    pub(crate) fn content(&mut self, index: u64) -> Vec<u8> {
        let mut content = vec![0; self.bytes(index) as usize];
        self.fill(index, 0, &mut content);
        content
    }
}

impl Samples for Numbered {
    fn count(&self) -> u64 {
        self.sizes.len() as u64
    }

    fn number(&self, index: u64) -> u64 {
        self.first + index
    }

    fn bytes(&self, index: u64) -> u64 {
        self.sizes[index as usize]
    }

    fn fill(&mut self, index: u64, offset: u64, out: &mut [u8]) {
        let number = self.number(index);
        for (byte, at) in out.iter_mut().zip(offset..) {
            *byte = (number * 31 + at * 7 + (at >> 8)) as u8;
        }
    }
}

/// A shard in memory, read as a storage would be: never past its end.
pub(crate) struct Memory<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) read_bytes: u64,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, read_bytes: 0 }
    }
}

impl Source for Memory<'_> {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_bytes += out.len() as u64;
        out.copy_from_slice(&self.bytes[offset as usize..offset as usize + out.len()]);
        Ok(())
    }
}

pub(crate) fn packing(layout: Layout) -> Packing {
    Packing {
        layout,
        shard_bytes: 0,
        members: 1,
        codec: Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: 1000,
    }
}

pub(crate) fn written(packing: &Packing, samples: &mut Numbered) -> Vec<u8> {
    let mut bytes = Vec::new();
    formats::write(packing, samples, &mut bytes).unwrap();
    bytes
}

/// Samples and extents of a unit.
pub(crate) type Found = (u64, Vec<(u64, u64)>);

pub(crate) fn indexed_with(
    layout: Layout,
    indexing: &Indexing,
    bytes: &[u8],
) -> Result<Vec<Found>, FormatError> {
    let mut units = Vec::new();
    formats::index(layout, indexing, &mut Memory::new(bytes), &mut |unit| {
        units.push((unit.samples, unit.extents.to_vec()));
    })?;
    Ok(units)
}

pub(crate) fn indexed(layout: Layout, bytes: &[u8]) -> Result<Vec<Found>, FormatError> {
    indexed_with(layout, &Indexing { checked_records: u64::MAX, ..Indexing::default() }, bytes)
}

pub(crate) fn counted(layout: Layout, codec: Codec, bytes: &[u8]) -> Result<u64, FormatError> {
    formats::count(layout, codec, &mut Memory::new(bytes), 10_000)
}
