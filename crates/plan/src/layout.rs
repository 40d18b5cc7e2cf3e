//! How the samples of a dataset lie in its objects.

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
