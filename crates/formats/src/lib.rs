//! Shards of training data: written from samples, and indexed.
//!
//! Pure: a shard is written into any [`std::io::Write`], and indexed through a [`Source`] that reads parts of it, so that
//! nothing here opens a storage. What is indexed may be anybody's: every length in it is checked against the bytes that
//! are there before it is believed.

mod checksum;
mod codec;
mod detect;
mod error;
mod ffcv;
mod foreign;
mod hdf5;
mod indexed;
mod input;
mod npy;
mod numpy;
mod parquet;
mod pen;
mod places;
mod shard;
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
pub use error::{FormatError, ZARR_METADATA};
pub use foreign::{Foreign, foreign, foreign_by_name};
pub use places::{places, shard_bytes, stride};
pub use shard::{Indexing, Samples, Source, Stride, Unit};
pub use zarr::{
    ZarrArray, ZarrNode, ZarrShards, parse_zarr_metadata, zarr_chunk_name, zarr_metadata, zarr_units,
};

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
        (Layout::Ffcv, _) => ".beton",
        (Layout::Hdf5, _) => ".h5",
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
    // What the loaders read: TensorFlow's and h5py know gzip alone, WebDataset's both. The other layouts compress
    // inside, or are read by index.
    let has_codec = match codec {
        Codec::None => true,
        Codec::Gzip => matches!(layout, Layout::WebDataset | Layout::TfRecord | Layout::Hdf5),
        Codec::Zstd => layout == Layout::WebDataset,
    };
    if !has_codec {
        return Err(FormatError::unwritable(layout.name(), format!("what {} packed", codec.name())));
    }
    codec::packed(packing.whole_codec(), out, &mut |out| {
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
            Layout::Hdf5 => hdf5::write(codec, samples, &mut pen)?,
            Layout::Ffcv => {
                return Err(FormatError::unwritable(layout.name(), "what feedline writes".to_owned()));
            }
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
        Layout::Ffcv => ffcv::index(&mut window, each),
        Layout::Hdf5 => hdf5::index(&indexing.columns, &mut window, each),
    }
}

/// Counts the samples of a compressed shard by unpacking all of it, to at most `ratio_max` times its bytes. Holds one buffer,
/// and for Zstandard the window that the shard states, at most 128 MiB.
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
    // Places in the unpacked bytes mean nothing to who reads the packed file.
    let mut one = |_, _| samples += 1;
    match layout {
        Layout::WebDataset => webdataset::walk(&mut stream, &mut one)?,
        // No data are checked: the stream cannot go back to them, and gzip has a checksum of its own.
        Layout::TfRecord => tfrecord::walk(&mut stream, 0, &mut one)?,
        _ => {
            let found = "a shard that is packed as a whole".to_owned();
            return Err(FormatError::Malformed { layout: layout.name(), found, offset: 0 });
        }
    }
    stream.drain()?;
    Ok(samples)
}
