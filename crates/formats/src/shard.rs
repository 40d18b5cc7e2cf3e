//! A shard, its samples, and where they lie in it.

use std::io;

use crate::error::FormatError;

/// A shard whose parts can be read.
pub trait Source {
    /// Bytes of the shard.
    fn bytes(&self) -> u64;

    /// Fills `out` with the bytes from `offset` on, all of which are there.
    fn read_exact_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()>;
}

/// The samples of one shard.
pub trait Samples {
    /// How many.
    fn count(&self) -> u64;

    /// The number in the whole dataset of the sample at `index`.
    fn number(&self, index: u64) -> u64;

    /// Its bytes.
    fn bytes(&self, index: u64) -> u64;

    /// Fills `out` with its bytes from `offset` on.
    fn fill(&mut self, index: u64, offset: u64, out: &mut [u8]);
}

/// What is fetched together: a sample, or a row group with the samples in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit<'a> {
    /// Samples in it.
    pub samples: u64,
    /// Offset and length of its parts, in the order in which they are read; at least one.
    pub extents: &'a [(u64, u64)],
}

/// Where samples of one size lie in a shard: plain arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// Where the first begins.
    pub first_byte: u64,
    /// From the beginning of one to that of the next.
    pub stride_bytes: u64,
    /// What is read of each, headers and padding included.
    pub bytes: u64,
    /// From the beginning of what is read to the sample's own bytes.
    pub lead_bytes: u64,
}

/// What an index is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Indexing {
    /// Columns of a Parquet file, or datasets of an HDF5 file, that are read. When empty, all columns and the largest dataset.
    pub columns: Vec<String>,
    /// Records whose data are checked against their checksums, from the first on; their headers always are.
    pub checked_records: u64,
}

/// How one sample lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// What is read of it, headers and padding included.
    pub(crate) bytes: u64,
    /// To the next one.
    pub(crate) step_bytes: u64,
    /// From the beginning of what is read to its own bytes.
    pub(crate) lead_bytes: u64,
}

impl Footprint {
    /// Nothing but the sample.
    pub(crate) const fn bare(bytes: u64) -> Self {
        Self { bytes, step_bytes: bytes, lead_bytes: 0 }
    }
}

/// The label of a sample, of one digit so that those of all samples take equal bytes.
pub(crate) const fn label(number: u64) -> u8 {
    (number % 10) as u8
}

/// The size of samples that all have one.
pub(crate) fn even_bytes(layout: &'static str, samples: &dyn Samples) -> Result<u64, FormatError> {
    let bytes = samples.bytes(0);
    // Before a byte is written: an array's header states its shape first.
    let is_even = (1..samples.count()).all(|index| samples.bytes(index) == bytes);
    if bytes == 0 || !is_even {
        return Err(FormatError::unwritable(layout, "samples of unlike sizes, or of none".to_owned()));
    }
    Ok(bytes)
}
