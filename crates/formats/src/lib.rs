//! Shards of training data: written from samples, and indexed.
//!
//! Pure: a shard is written into any [`std::io::Write`], and indexed through a [`Source`] that reads parts of it, so that
//! nothing here opens a storage. What is indexed may be anybody's: every length in it is checked against the bytes that
//! are there before it is believed.

mod checksum;
mod codec;
mod detect;
mod indexed;
mod input;
mod npy;
mod parquet;
mod pen;
mod places;
mod stream;
mod tfrecord;
mod webdataset;
mod zarr;

use std::io;

use plan::{Codec, Layout, Packing};

use crate::input::Window;
use crate::pen::Pen;
use crate::stream::Stream;

pub use detect::detect;
pub use places::{places, shard_bytes, stride};
pub use zarr::{ZARR_METADATA, ZarrArray, parse_zarr_metadata, zarr_chunk_name, zarr_metadata};

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
    fn unwritable(layout: &'static str, what: String) -> Self {
        Self::Unwritable { layout, what }
    }
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

/// Writes a shard. Nothing of it is kept but a buffer, and equal samples make equal bytes.
///
/// # Errors
///
/// [`FormatError::Empty`] without samples, [`FormatError::Unwritable`] where the layout has no place for them, and what
/// `out` failed with.
pub fn write(
    packing: &Packing,
    samples: &mut dyn Samples,
    out: &mut dyn io::Write,
) -> Result<(), FormatError> {
    let Packing { layout, codec, .. } = *packing;
    if samples.count() == 0 {
        return Err(FormatError::Empty);
    }
    let has_codec = match codec {
        Codec::None => true,
        Codec::Gzip => matches!(layout, Layout::WebDataset | Layout::TfRecord),
        Codec::Zstd => layout == Layout::WebDataset,
    };
    if !has_codec {
        return Err(FormatError::unwritable(layout.name(), format!("what {} packed", codec.name())));
    }
    codec::packed(codec, out, &mut |out| {
        let mut pen = Pen::new(out);
        match layout {
            Layout::Files => {
                return Err(FormatError::unwritable(layout.name(), "several samples".to_owned()));
            }
            Layout::WebDataset => webdataset::write(packing.members, samples, &mut pen)?,
            Layout::TfRecord => tfrecord::write(samples, &mut pen)?,
            Layout::Records => npy::write(samples, &mut pen)?,
            Layout::Indexed => indexed::write(samples, &mut pen)?,
            Layout::Parquet => parquet::write(packing.columns, packing.row_group_bytes, samples, &mut pen)?,
            Layout::Zarr => zarr::write(samples, &mut pen)?,
        }
        Ok(pen.finish()?)
    })
}

/// Finds every unit of an uncompressed shard, by its headers alone. `each` may have been called before an error.
///
/// # Errors
///
/// What makes it no shard, and what `source` failed with. [`FormatError::Bare`] for Zarr.
pub fn index(
    layout: Layout,
    indexing: &Indexing,
    source: &mut dyn Source,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    let mut window = Window::new(source);
    if window.bytes() == 0 {
        return Err(FormatError::Empty);
    }
    let mut one = |offset: u64, bytes: u64| each(Unit { samples: 1, extents: &[(offset, bytes)] });
    match layout {
        Layout::Files => {
            one(0, window.bytes());
            Ok(())
        }
        Layout::WebDataset => webdataset::walk(&mut window, &mut one),
        Layout::TfRecord => tfrecord::walk(&mut window, indexing.checked_records, &mut one),
        Layout::Records => npy::index(&mut window, &mut one),
        Layout::Indexed => indexed::index(&mut window, &mut one),
        Layout::Parquet => parquet::index(&indexing.columns, &mut window, each),
        Layout::Zarr => Err(FormatError::Bare { layout: layout.name() }),
    }
}

/// Counts the samples of a compressed shard by unpacking it to its end, to `ratio_max` times its bytes at most. One buffer
/// of it is held, and of Zstandard the window that it states, 128 MiB at most.
///
/// # Errors
///
/// As [`index`], and [`FormatError::Expands`]; offsets are those of the unpacked shard. Of layouts other than WebDataset
/// and TFRecord nobody packs shards as a whole, and [`FormatError::Malformed`] says so.
pub fn count(
    layout: Layout,
    codec: Codec,
    source: &mut dyn Source,
    ratio_max: u64,
) -> Result<u64, FormatError> {
    if source.bytes() == 0 {
        return Err(FormatError::Empty);
    }
    let mut stream = Stream::new(layout.name(), codec, source, ratio_max)?;
    let mut samples = 0;
    let mut one = |_, _| samples += 1;
    match layout {
        Layout::WebDataset => webdataset::walk(&mut stream, &mut one)?,
        Layout::TfRecord => tfrecord::walk(&mut stream, 0, &mut one)?,
        _ => {
            let found = "a shard that is packed as a whole".to_owned();
            return Err(FormatError::Malformed { layout: layout.name(), found, offset: 0 });
        }
    }
    stream.drain()?;
    Ok(samples)
}

/// The label of a sample, of one digit so that those of all samples take equal bytes.
const fn label(number: u64) -> u8 {
    (number % 10) as u8
}

/// The size of samples that all have one.
fn even_bytes(layout: &'static str, samples: &dyn Samples) -> Result<u64, FormatError> {
    let bytes = samples.bytes(0);
    let is_even = (1..samples.count()).all(|index| samples.bytes(index) == bytes);
    if bytes == 0 || !is_even {
        return Err(FormatError::unwritable(layout, "samples of unlike sizes, or of none".to_owned()));
    }
    Ok(bytes)
}
