//! How the samples of a dataset lie in its objects, and what these take on a disk.

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
    /// Pieces of samples in pages, behind a table of them: FFCV's `.beton`. It is only read.
    Ffcv,
    /// Datasets in groups, whose items lie one after the other or in chunks: HDF5. One dataset is written, a sample a chunk.
    Hdf5,
}

impl Layout {
    /// Whether feedline writes it. Others are read where they are there.
    pub const fn is_written(self) -> bool {
        !matches!(self, Self::Ffcv)
    }

    /// Whether samples that feedline writes are rows of an array, which all have one size.
    pub const fn is_array(self) -> bool {
        matches!(self, Self::Records | Self::Zarr | Self::Hdf5)
    }

    /// Whether a loader reads it as a stream, shard after shard, unless something else is asked for.
    pub const fn is_streamed(self) -> bool {
        // A tar file and a TFRecord have no index: to find a sample is to read all before it, so that
        // loaders stream them.
        matches!(self, Self::WebDataset | Self::TfRecord)
    }
}

feed::words!(Layout {
    Files = "files",
    WebDataset = "webdataset",
    TfRecord = "tfrecord",
    Records = "records",
    Indexed = "indexed",
    Parquet = "parquet",
    Zarr = "zarr",
    Ffcv = "ffcv",
    Hdf5 = "hdf5",
});

/// What a shard is compressed with: as a whole, or of HDF5 each chunk by itself.
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

feed::words!(Codec { None = "none", Gzip = "gzip", Zstd = "zstd" });

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
// tar counts in blocks of 512 bytes.
const TAR_MEMBER_BYTES: u64 = 512 + 256;

/// Length, checksum of it, and checksum of the data.
const TFRECORD_BYTES: u64 = 8 + 4 + 4;

/// Records begin at multiples of it.
const PAGE_BYTES: u64 = 4096;

/// Bytes of a sample in HDF5, at most: a chunk, whose bytes are stated in 32 bits, with room for what packing adds.
pub const HDF5_SAMPLE_BYTES_MAX: u64 = 4_000_000_000;

impl Packing {
    /// What a shard is compressed with as a whole, so that nothing in it can be read by itself.
    pub const fn whole_codec(&self) -> Codec {
        // Of HDF5 the chunks are compressed, each by itself, and its index says where they lie.
        if matches!(self.layout, Layout::Hdf5) { Codec::None } else { self.codec }
    }

    /// Samples of a shard: as many as reach its size, at least one; the last shard holds what is left.
    pub fn samples_per_shard(&self, sample_bytes: u64) -> u64 {
        // Rounded up: a shard is closed once it has reached its size, as WebDataset's writer does it.
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
            // A record is padded to a page, and its place takes 16 bytes in the table.
            Layout::Indexed => sample_bytes.wrapping_neg() % PAGE_BYTES + 16,
            // A chunk takes 41 bytes in a full leaf of the B-tree, and nodes are written whole.
            Layout::Hdf5 => 64,
            Layout::Files | Layout::Records | Layout::Parquet | Layout::Zarr | Layout::Ffcv => 0,
        };
        let shards = self.shards(samples, sample_bytes);
        // Header, footer or table, and the end of each shard: two pages are more than any layout of
        // ordinary shards puts there.
        let of_shards = disk_bytes(shards, 2 * PAGE_BYTES);
        samples.saturating_mul(sample_bytes.saturating_add(beside)).saturating_add(of_shards)
    }
}

/// Most file systems allocate a file's bytes in blocks of this size.
pub(crate) const FILE_BLOCK_BYTES: u64 = 4096;

/// What a file takes beside its bytes: inode and directory entry (ext4 256 + 24, XFS 512).
// The larger of both, so that a dataset of small files that is promised to fit does fit.
pub(crate) const FILE_OVERHEAD_BYTES: u64 = 512;

/// Bytes that `files` files of `bytes` each take on a disk, about.
pub fn disk_bytes(files: u64, bytes: u64) -> u64 {
    let each = bytes.div_ceil(FILE_BLOCK_BYTES).saturating_mul(FILE_BLOCK_BYTES);
    // Saturating: the amounts are refused with a sum, which must not panic on the way there.
    files.saturating_mul(each.saturating_add(FILE_OVERHEAD_BYTES))
}
