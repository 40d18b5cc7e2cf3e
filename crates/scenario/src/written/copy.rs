//! `copy` as written.

use plan::{Codec, Layout};
use schemars::JsonSchema;

use crate::diagnostic::{Problem, Problems, Span};
use crate::reader::{Field, TableReader};
use crate::value::{Flag, Size, Text, Whole};
use crate::words::{Vocabulary, Word};

/// Each object that is copied side by side takes two threads and three buffers.
pub(crate) const COPY_THREADS_MAX: u64 = 256;

/// Members of a sample in a tar shard: beyond this they are no small ones beside it.
const MEMBERS_MAX: u64 = 16;

/// A layout that samples are packed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pack(pub(crate) Layout);

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

/// Copies the dataset from one target to another, as staging does, in a cell of its own that is measured beside the
/// others.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("required" = ["from", "to"]))]
pub(crate) struct Copy {
    /// Name of the target that holds the dataset.
    pub(crate) from: Field<Text>,
    /// Name of the target that it is copied to, into a fresh folder of feedline's own.
    pub(crate) to: Field<Text>,
    /// Objects copied side by side; with `pack`, shards built side by side. Default: the largest depth that
    /// `load.queue_depth` lists, at most 256, else 16.
    pub(crate) threads: Field<Whole<1, COPY_THREADS_MAX>>,
    /// Bytes of one read, at most. Default: 8 MiB, and at most a whole file.
    pub(crate) block_size: Field<Size>,
    /// Bytes that one repetition copies, about: as many files from the first on as reach it. Default: the whole dataset,
    /// once.
    pub(crate) size: Field<Size>,
    /// Packs what is read as files into shards of this layout on the way. Default: files are copied as they are.
    pub(crate) pack: Field<Word<Pack>>,
    /// Bytes of one shard, about, with `pack`. Default: 256 MiB.
    pub(crate) shard_size: Field<Size>,
    /// Members of each sample in a tar shard, with `pack = "webdataset"`. Default: 2.
    pub(crate) members: Field<Whole<1, MEMBERS_MAX>>,
    /// What a shard is compressed with: webdataset with gzip or zstd, tfrecord with gzip. Default: none.
    pub(crate) codec: Field<Word<Codec>>,
    /// Whether the copy of the last repetition stays. Either way `feedline clean` removes what was left. Default: false.
    pub(crate) keep: Field<Flag>,
}

impl Copy {
    pub(super) fn read(at: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        let copy = Self {
            from: table.field("from", problems),
            to: table.field("to", problems),
            threads: table.field("threads", problems),
            block_size: table.field("block_size", problems),
            size: table.field("size", problems),
            pack: table.field("pack", problems),
            shard_size: table.field("shard_size", problems),
            members: table.field("members", problems),
            codec: table.field("codec", problems),
            keep: table.field("keep", problems),
        };
        for (key, is_absent) in [("from", copy.from.is_absent()), ("to", copy.to.is_absent())] {
            if is_absent {
                let problem = Problem::absent(format!("`copy.{key}` is missing: which target?"));
                problems.push(
                    problem
                        .at(at, "copies from one target to another")
                        .help("for example copy = { from = \"bucket\", to = \"disk\" }"),
                );
            }
        }
        copy
    }
}
