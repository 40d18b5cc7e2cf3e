//! Where samples lie in the shards that this crate writes, by arithmetic.

use plan::{Codec, Layout, Packing};

use crate::shard::{Footprint, Stride};
use crate::{hdf5, indexed, npy, tfrecord, webdataset};

/// Where a sample of that size lies within its step; `None` where arithmetic cannot say.
fn place(packing: &Packing, sample_bytes: u64) -> Option<Footprint> {
    if packing.codec != Codec::None {
        return None;
    }
    match packing.layout {
        Layout::WebDataset => webdataset::place(packing.members, sample_bytes),
        Layout::TfRecord => tfrecord::place(sample_bytes),
        Layout::Records | Layout::Zarr | Layout::Hdf5 => Some(Footprint::bare(sample_bytes)),
        Layout::Indexed => indexed::place(sample_bytes),
        // Of Parquet, lengths and page headers vary with what is written before; FFCV is not written.
        Layout::Files | Layout::Parquet | Layout::Ffcv => None,
    }
}

/// Bytes before the first sample.
const fn head_bytes(layout: Layout) -> u64 {
    match layout {
        Layout::Records => npy::HEAD_BYTES,
        Layout::Indexed => indexed::PAGE_BYTES,
        Layout::Hdf5 => hdf5::HEAD_BYTES,
        _ => 0,
    }
}

/// Bytes after the last of so many samples.
fn tail_bytes(layout: Layout, count: u64) -> u64 {
    match layout {
        Layout::WebDataset => webdataset::TAIL_BYTES,
        Layout::Indexed => indexed::table_bytes(count),
        Layout::Hdf5 => hdf5::index_bytes(count),
        _ => 0,
    }
}

/// Where samples of one size lie in a shard of `count` of them, and the bytes of that shard; `None` where that takes
/// writing it: of compressed shards and of Parquet, and where there is no sample.
pub fn stride(packing: &Packing, sample_bytes: u64, count: u64) -> Option<(Stride, u64)> {
    let Footprint { bytes, step_bytes, lead_bytes } = place(packing, sample_bytes)?;
    let first_byte = head_bytes(packing.layout);
    let samples_bytes = step_bytes.checked_mul(count).filter(|_| count > 0)?;
    let shard_bytes =
        samples_bytes.checked_add(first_byte)?.checked_add(tail_bytes(packing.layout, count))?;
    Some((Stride { first_byte, stride_bytes: step_bytes, bytes, lead_bytes }, shard_bytes))
}

/// Calls `each` with offset, bytes and lead of every sample of a shard, as in a [`Stride`], given their sizes; the bytes
/// of the shard. `None` where [`stride`] has none, and where the layout takes samples of one size alone and these are not.
pub fn places(
    packing: &Packing,
    sizes: &mut dyn Iterator<Item = u64>,
    each: &mut dyn FnMut(u64, u64, u64),
) -> Option<u64> {
    let is_even = packing.layout.is_array();
    let mut at = head_bytes(packing.layout);
    let (mut count, mut first) = (0, None);
    for sample_bytes in sizes {
        // An array has one shape for all its items.
        if is_even && *first.get_or_insert(sample_bytes) != sample_bytes {
            return None;
        }
        let place = place(packing, sample_bytes)?;
        each(at, place.bytes, place.lead_bytes);
        at = at.checked_add(place.step_bytes)?;
        count += 1;
    }
    at.checked_add(tail_bytes(packing.layout, count)).filter(|_| count > 0)
}

/// Bytes of a shard of samples of these sizes; `None` where [`places`] has none.
pub fn shard_bytes(packing: &Packing, sizes: &mut dyn Iterator<Item = u64>) -> Option<u64> {
    places(packing, sizes, &mut |_, _, _| {})
}
