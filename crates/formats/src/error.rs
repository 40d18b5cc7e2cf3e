//! Why a shard cannot be read or written.

use std::io;

/// The file that describes an array, beside its chunks.
pub const ZARR_METADATA: &str = "zarr.json";

/// Why a shard cannot be read or written.
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
    /// Nothing says which of several datasets is meant.
    #[error("it holds several datasets, and none of them most of the bytes: {found}")]
    Several {
        /// Their names, or the first of them.
        found: String,
    },
    /// Samples that the layout has no place for.
    #[error("a shard of {layout} cannot hold {what}")]
    Unwritable {
        /// Name of the layout.
        layout: &'static str,
        /// What it cannot hold.
        what: String,
    },
    /// Only its metadata say what it holds.
    #[error("a chunk of {layout} does not say what it holds\n  hint: read {ZARR_METADATA}, which does")]
    Bare {
        /// Name of the layout.
        layout: &'static str,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl FormatError {
    pub(crate) fn unwritable(layout: &'static str, what: String) -> Self {
        Self::Unwritable { layout, what }
    }
}
