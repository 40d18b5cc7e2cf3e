//! `dataset` as written.

use schemars::JsonSchema;

use crate::diagnostic::{Problems, Span};
use crate::list::Axis;
use crate::reader::{Field, TableReader};
use crate::value::{Seed, Size, Whole};
use crate::words::{Origin, Word};

/// Sample files are numbered by a `u32`.
pub(crate) type Samples = Whole<1, { u32::MAX as u64 }>;

/// Which bytes are read.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Dataset {
    /// Where the files come from. Default: generate.
    pub(crate) source: Field<Word<Origin>>,
    /// Number of sample files; not together with `size`.
    pub(crate) samples: Field<Samples>,
    /// Bytes of the whole dataset, for each sample size. Default: 8 GiB.
    pub(crate) size: Field<Size>,
    /// Bytes of one sample, which is one file. A list writes one dataset for each. Default: the sample
    /// size of the need, else 1 MiB. With `source = "existing"` one value: the bytes of one training
    /// sample, by default the mean file size.
    pub(crate) sample_size: Field<Axis<Size>>,
    /// Seed of the content. Default: 1.
    pub(crate) seed: Field<Seed>,
}

impl Dataset {
    pub(super) fn read(_: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            source: table.field("source", problems),
            samples: table.field("samples", problems),
            size: table.field("size", problems),
            sample_size: table.field("sample_size", problems),
            seed: table.field("seed", problems),
        }
    }
}
