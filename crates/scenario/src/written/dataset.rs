//! `dataset` as written.

use schemars::JsonSchema;

use crate::diagnostic::{Problems, Span};
use crate::list::Axis;
use crate::reader::{Field, TableReader};
use crate::value::{Count, Seed, Size, Whole};
use crate::words::{Origin, Sizes, Word};

/// Sample files are numbered by a `u32`.
pub(crate) type Samples = Whole<1, { u32::MAX as u64 }>;

/// Which bytes are read.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Dataset {
    /// Where the data comes from. Default: generate.
    pub(crate) source: Field<Word<Origin>>,
    /// Number of sample files; not together with `size`.
    pub(crate) samples: Field<Samples>,
    /// Bytes of the whole dataset, for each sample size. Default: 8 GiB.
    pub(crate) size: Field<Size>,
    /// Bytes of one sample, which is one file. A list writes one dataset for each. Default: the sample
    /// size of the need, else 1 MiB. With `source = "existing"` one value: the bytes of one training
    /// sample, by default the mean file size; on a block device, by default the sample size of the need.
    pub(crate) sample_size: Field<Axis<Size>>,
    /// How the sizes of the files spread about the sample size. Default: fixed.
    pub(crate) distribution: Field<Word<Sizes>>,
    /// Standard deviation of the sizes, with `distribution = "lognormal"` and one sample size, of which it is
    /// at most ten times. Default: what MLPerf Storage states for unet3d; other needs state none.
    pub(crate) sample_size_stdev: Field<Size>,
    /// Files in one folder, at most. Default: 1000.
    pub(crate) files_per_folder: Field<Count>,
    /// Seed of the content and of the sizes. Default: 1.
    pub(crate) seed: Field<Seed>,
}

impl Dataset {
    pub(super) fn read(_: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            source: table.field("source", problems),
            samples: table.field("samples", problems),
            size: table.field("size", problems),
            sample_size: table.field("sample_size", problems),
            distribution: table.field("distribution", problems),
            sample_size_stdev: table.field("sample_size_stdev", problems),
            files_per_folder: table.field("files_per_folder", problems),
            seed: table.field("seed", problems),
        }
    }
}
