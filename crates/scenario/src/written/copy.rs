//! `copy` as written.

use plan::{Codec, Layout};

use crate::diagnostic::Problems;
use crate::only::Only::{Packing, PackingInto};
use crate::table::{Table, missing, table};
use crate::value::{Flag, Size, Text, Whole};
use crate::words::{Vocabulary, Word};

/// Each object that is copied side by side takes two threads and three buffers.
pub(crate) const COPY_THREADS_MAX: u64 = 256;

/// Members of a sample in a tar shard: beyond this they are no small ones beside it.
const MEMBERS_MAX: u64 = 16;

/// A layout that samples are packed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pack(pub(crate) Layout);

// A list of its own, without files, which pack nothing, and without zarr, whose chunks are no shards of
// samples that come one by one.
impl Vocabulary for Pack {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "webdataset",
            Self(Layout::WebDataset),
            "tar shards with `members` files for each sample, as WebDataset reads them.",
        ),
        (
            "tfrecord",
            Self(Layout::TfRecord),
            "Length-prefixed records with checksums, as TensorFlow's TFRecord.",
        ),
        ("records", Self(Layout::Records), "Records of one size behind a header: `.npy`."),
        ("indexed", Self(Layout::Indexed), "Page-aligned records behind a table of their places."),
        ("parquet", Self(Layout::Parquet), "Row groups of column chunks, found by a footer."),
    ];
}

table! {
    /// Copies the dataset from one target to another, as staging does, in a cell of its own that is measured beside the
    /// others.
    #[schemars(extend("required" = ["from", "to"]))]
    pub(crate) struct Copy {
        /// Name of the target that holds the dataset.
        from: Text,
        /// Name of the target that it is copied to, into a fresh folder of feedline's own.
        to: Text,
        /// Objects copied side by side; with `pack`, shards built side by side. Default: the largest depth that
        /// `load.queue_depth` lists, at most 256, else 16.
        threads: Whole<1, COPY_THREADS_MAX>,
        /// Bytes of one read, at most. Default: 8 MiB, and at most a whole file.
        block_size: Size,
        /// Bytes that one repetition copies, about: as many files from the first on as reach it. Default: the whole dataset,
        /// once.
        size: Size,
        /// Packs what is read as files into shards of this layout on the way. Default: files are copied as they are.
        pack: Word<Pack>,
        /// Bytes of one shard, about, with `pack`. Default: 256 MiB.
        shard_size: Size => [Packing],
        /// Members of each sample in a tar shard, with `pack = "webdataset"`. Default: 2.
        members: Whole<1, MEMBERS_MAX> => [PackingInto(&[Layout::WebDataset])],
        /// What a shard is compressed with: webdataset with gzip or zstd, tfrecord with gzip. Default: none.
        codec: Word<Codec> => [PackingInto(&[Layout::WebDataset, Layout::TfRecord])],
        /// Whether the copy of the last repetition stays. Either way `feedline clean` removes what was left. Default: false.
        keep: Flag,
    }
}

impl Table for Copy {
    const EXAMPLE: &'static str = "{ from = \"bucket\", to = \"disk\" }";

    fn check(&self, problems: &mut Problems) {
        for (key, end) in [("from", &self.from), ("to", &self.to)] {
            if end.is_absent() {
                let example = format!("copy = {}", Self::EXAMPLE);
                let label = "copies from one target to another";
                problems.push(missing(&self.name, key, ": which target?", label, &example));
            }
        }
    }
}
