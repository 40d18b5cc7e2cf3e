//! Shards of training data: written from samples, and indexed.
//!
//! Pure: a shard is written into any [`std::io::Write`], and indexed through a [`Source`] that reads parts of it, so that
//! nothing here opens a storage. What is indexed may be anybody's: every length in it is checked against the bytes that
//! are there before it is believed.

use std::io;

use plan::{Codec, Layout, Packing};

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
    /// Columns of a Parquet file that are read; all when empty.
    pub columns: Vec<String>,
    /// Records whose data are checked against their checksums, from the first on; their headers always are.
    pub checked_records: u64,
}

/// Why a shard is none.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It ends inside a sample.
    #[error(
        "it ends inside the {what} at byte {offset}: {needed_bytes} B are needed, {left_bytes} B are left"
    )]
    Truncated {
        /// What was cut.
        what: &'static str,
        /// Where that begins.
        offset: u64,
        /// Bytes that it takes.
        needed_bytes: u64,
        /// Bytes that are there.
        left_bytes: u64,
    },
    /// It holds something else.
    #[error("it is no {layout}: {found} at byte {offset}")]
    Malformed {
        /// Name of the layout.
        layout: &'static str,
        /// What was found.
        found: String,
        /// Where.
        offset: u64,
    },
    /// A checksum does not hold.
    #[error("the checksum of the {what} at byte {offset} is wrong")]
    Checksum {
        /// Of what.
        what: &'static str,
        /// Where that begins.
        offset: u64,
    },
    /// It grows beyond what may be meant.
    #[error("it unpacks to more than {ratio} times its {bytes} B")]
    Expands {
        /// The limit.
        ratio: u64,
        /// Bytes of the shard.
        bytes: u64,
    },
    /// It holds no sample.
    #[error("it holds no sample")]
    Empty,
    /// A column that is to be read is not there.
    #[error("it has no column `{column}`; it has {found}")]
    NoColumn {
        /// The column asked for.
        column: String,
        /// Those that it has.
        found: String,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The name that a shard's file ends with, with its dot.
pub fn extension(layout: Layout, codec: Codec) -> &'static str {
    match (layout, codec) {
        (Layout::Files, _) => ".bin",
        (Layout::WebDataset, Codec::None) => ".tar",
        (Layout::WebDataset, Codec::Gzip) => ".tar.gz",
        (Layout::WebDataset, Codec::Zstd) => ".tar.zst",
        (Layout::TfRecord, Codec::Gzip) => ".tfrecord.gz",
        (Layout::TfRecord, _) => ".tfrecord",
        (Layout::Records, _) => ".npy",
        (Layout::Indexed, _) => ".idx",
        (Layout::Parquet, _) => ".parquet",
        (Layout::Zarr, _) => "",
    }
}

/// How a shard of that name and with those first bytes is compressed, and which layout it has; `None` where it is none
/// that is known.
pub fn detect(_name: &str, _head: &[u8]) -> Option<(Layout, Codec)> {
    None
}

/// Where samples of one size lie in a shard of `count` of them, and its bytes; `None` where that takes writing it.
pub fn stride(_packing: &Packing, _sample_bytes: u64, _count: u64) -> Option<(Stride, u64)> {
    None
}

/// Writes a shard.
pub fn write(
    _packing: &Packing,
    _samples: &mut dyn Samples,
    _out: &mut dyn io::Write,
) -> Result<(), FormatError> {
    Err(FormatError::Empty)
}

/// Finds every unit of an uncompressed shard.
pub fn index(
    _layout: Layout,
    _indexing: &Indexing,
    _source: &mut dyn Source,
    _each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    Err(FormatError::Empty)
}

/// Counts the samples of a compressed shard by unpacking it, to `ratio_max` times its bytes at most.
pub fn count(
    _layout: Layout,
    _codec: Codec,
    _source: &mut dyn Source,
    _ratio_max: u64,
) -> Result<u64, FormatError> {
    Err(FormatError::Empty)
}
