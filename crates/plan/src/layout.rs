//! How the samples of a dataset lie in its objects.

use crate::disk::disk_bytes;

/// How samples lie in objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Layout {
    /// Each sample is an object.
    #[default]
    Files,
    /// tar shards with several members for each sample, as `WebDataset` reads them.
    WebDataset,
    /// Length-prefixed records with checksums, as TensorFlow's `TFRecord`.
    TfRecord,
    /// Records of one size after a header: `.npy`.
    Records,
    /// Page-aligned records behind a table of their places.
    Indexed,
    /// Row groups of column chunks, found by a footer.
    Parquet,
    /// A chunk of an array for each object, as Zarr version 3 keeps it.
    Zarr,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 7] = [
        Self::Files,
        Self::WebDataset,
        Self::TfRecord,
        Self::Records,
        Self::Indexed,
        Self::Parquet,
        Self::Zarr,
    ];

    /// The word used in scenarios, records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::WebDataset => "webdataset",
            Self::TfRecord => "tfrecord",
            Self::Records => "records",
            Self::Indexed => "indexed",
            Self::Parquet => "parquet",
            Self::Zarr => "zarr",
        }
    }

    /// Whether a loader reads it as a stream, shard after shard, unless something else is asked for.
    pub const fn is_streamed(self) -> bool {
        matches!(self, Self::WebDataset | Self::TfRecord)
    }
}

/// What a shard is compressed with as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Codec {
    /// Nothing.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Codec {
    /// The word used in scenarios, records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// How generated samples are packed into objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packing {
    /// In which layout; never [`Layout::Files`].
    pub layout: Layout,
    /// Bytes of one shard, about: as many samples as reach it, at least one.
    pub shard_bytes: u64,
    /// Members of each sample in a tar shard: the sample itself, and small ones beside it. 1 elsewhere.
    pub members: u32,
    /// What a shard is compressed with.
    pub codec: Codec,
    /// Columns of a Parquet file; 1 elsewhere. A sample is spread over them evenly.
    pub columns: u32,
    /// Those of them that are read, from the first on.
    pub columns_read: u32,
    /// Bytes of one row group of a Parquet file, about; those of the shard elsewhere.
    pub row_group_bytes: u64,
}

/// What a member of a tar shard takes beside its bytes: a header, and padding of half a block on average.
const TAR_MEMBER_BYTES: u64 = 512 + 256;

/// Length, checksum of it, and checksum of the data.
const TFRECORD_BYTES: u64 = 8 + 4 + 4;

/// Records begin at multiples of it.
const PAGE_BYTES: u64 = 4096;

impl Packing {
    /// Samples of a shard: as many as reach its size, at least one; the last shard holds what is left.
    pub fn samples_per_shard(&self, sample_bytes: u64) -> u64 {
        self.shard_bytes.div_ceil(sample_bytes.max(1)).max(1)
    }

    /// Number of shards of `samples` samples of that size, or of that mean.
    pub fn shards(&self, samples: u64, sample_bytes: u64) -> u64 {
        samples.div_ceil(self.samples_per_shard(sample_bytes))
    }

    /// Bytes that shards take on a disk, about: as if nothing compressed, and with what a layout puts beside samples of
    /// half a page and more.
    pub fn disk_bytes(&self, samples: u64, sample_bytes: u64) -> u64 {
        let beside = match self.layout {
            Layout::WebDataset => u64::from(self.members) * TAR_MEMBER_BYTES,
            Layout::TfRecord => TFRECORD_BYTES,
            Layout::Indexed => sample_bytes.wrapping_neg() % PAGE_BYTES + 16,
            Layout::Files | Layout::Records | Layout::Parquet | Layout::Zarr => 0,
        };
        let shards = self.shards(samples, sample_bytes);
        let of_shards = disk_bytes(shards, 2 * PAGE_BYTES);
        samples.saturating_mul(sample_bytes.saturating_add(beside)).saturating_add(of_shards)
    }
}
