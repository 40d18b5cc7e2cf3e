//! Where samples lie in one object of an array.

use super::array::{ZarrArray, ZarrShards};
use crate::checksum::{Sum, holds};
use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX, Window, fits, number32, number64};
use crate::shard::{Source, Unit};

/// Of a chunk in the index of a shard: its offset and its bytes, both little-endian.
const ENTRY_BYTES: u64 = 16;

/// Of the checksum behind the index.
const SUM_BYTES: u64 = 4;

/// Both numbers of a chunk that is left out, as all its items are the fill value.
const ABSENT: u64 = u64::MAX;

/// Finds the units of the object of `array` at `row`, which counts along the first axis: samples where they lie in the object
/// as they are, else the chunks that have to be read for them. Chunks that are left out hold the fill value, and nothing is read for
/// them. `each` may have been called before an error.
///
/// # Errors
///
/// [`FormatError::Truncated`] where the object is shorter than its metadata or its index say, [`FormatError::Checksum`] of
/// an index that was damaged, and what `source` failed with.
pub fn zarr_units(
    array: &ZarrArray,
    row: u64,
    source: &mut dyn Source,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    let samples = array.samples_at(row);
    let bytes = source.bytes();
    match &array.shards {
        Some(shards) => of_shard(array, shards, samples, &mut Window::new(source), each),
        None if array.compressed || !array.holds_whole_samples() => {
            each(Unit { samples, extents: &[(0, bytes)] });
            Ok(())
        }
        // A chunk that is being written still; `zarr` would fail on it as well.
        None => plain(0, samples, array.sample_bytes(), (array.chunk_bytes(), bytes), each),
    }
}

/// The samples of a chunk whose items lie in it in order; of its bytes those that it needs and those that it has.
fn plain(
    offset: u64,
    samples: u64,
    sample_bytes: u64,
    (needed, has): (u64, u64),
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    if has < needed {
        return Err(FormatError::Truncated { what: "chunk", offset, needed_bytes: needed, left_bytes: has });
    }
    for sample in 0..samples {
        each(Unit { samples: 1, extents: &[(offset + sample * sample_bytes, sample_bytes)] });
    }
    Ok(())
}

fn of_shard(
    array: &ZarrArray,
    shards: &ZarrShards,
    samples: u64,
    window: &mut Window<'_>,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    let counts: Vec<u64> =
        array.chunk_shape.iter().zip(&shards.chunk_shape).map(|(shard, chunk)| shard / chunk).collect();
    // Products of what divides the shard's axes, whose own product was checked.
    let beside: u64 = counts[1..].iter().product();
    let index = index(window, counts[0] * beside, shards)?;
    let per_chunk = shards.chunk_shape[0];
    let chunk_bytes = array.bytes_of(&shards.chunk_shape);
    let is_plain = !array.compressed && array.whole_in(&shards.chunk_shape);
    let (mut extents, mut left) = (Vec::new(), window.bytes());
    for row in 0..counts[0] {
        let in_chunk = samples.saturating_sub(row * per_chunk).min(per_chunk);
        if in_chunk == 0 {
            break;
        }
        extents.clear();
        for at in row * beside..(row + 1) * beside {
            let entry = window.must("index of the shard", index + at * ENTRY_BYTES, ENTRY_BYTES as usize)?;
            let (offset, bytes) = (number64(&entry[..8]), number64(&entry[8..]));
            if (offset, bytes) == (ABSENT, ABSENT) {
                continue;
            }
            fits("chunk", offset, bytes, window.bytes())?;
            // An index that names the same bytes again and again would make samples without end out of a small object.
            left = left.checked_sub(bytes).ok_or_else(|| overlapping(index + at * ENTRY_BYTES))?;
            if is_plain {
                let sample_bytes = chunk_bytes / per_chunk;
                plain(offset, in_chunk, sample_bytes, (chunk_bytes, bytes), each)?;
            } else if bytes > 0 {
                extents.push((offset, bytes));
            }
        }
        if !extents.is_empty() {
            each(Unit { samples: in_chunk, extents: &extents });
        }
    }
    Ok(())
}

fn overlapping(offset: u64) -> FormatError {
    let found = "an index of chunks that lie over each other".to_owned();
    FormatError::Malformed { layout: "zarr", found, offset }
}

/// Where the index of so many chunks begins, once its checksum holds.
fn index(window: &mut Window<'_>, chunks: u64, shards: &ZarrShards) -> Result<u64, FormatError> {
    let what = "index of the shard";
    let sum_bytes = if shards.index_summed { SUM_BYTES } else { 0 };
    let bytes = chunks.saturating_mul(ENTRY_BYTES);
    let all = bytes.saturating_add(sum_bytes);
    fits(what, 0, all, window.bytes())?;
    let from = if shards.index_first { 0 } else { window.bytes() - all };
    if shards.index_summed {
        let mut sum = Sum::new();
        let mut done = 0;
        // Summed before any of it is believed and read a second time for its places, so that it is never held.
        while done < bytes {
            let part = (bytes - done).min(PART_BYTES_MAX as u64);
            sum.add(window.must(what, from + done, part as usize)?);
            done += part;
        }
        let stored = window.must(what, from + bytes, SUM_BYTES as usize)?;
        if !holds(number32(stored), sum.value()) {
            return Err(FormatError::Checksum { what, offset: from });
        }
    }
    Ok(from)
}
