//! The units of one dataset.

use super::chunks;
use super::dataset::{Chunked, Dataset, Storage};
use super::fields::NOWHERE;
use super::file::File;
use super::refusal::malformed;
use crate::error::FormatError;
use crate::shard::Unit;

/// Calls `each` with the units of a dataset; how many there were.
pub(crate) fn units(
    file: &mut File<'_, '_>,
    path: &str,
    dataset: &Dataset,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<u64, FormatError> {
    let total =
        dataset.bytes().ok_or_else(|| malformed(format!("`{path}` of a shape that no file has"), 0))?;
    match &dataset.storage {
        Storage::Refused(reason) => Err(malformed(format!("`{path}` is {reason}"), 0)),
        // An axis of 0.
        _ if total == 0 => Ok(0),
        Storage::Contiguous { address, bytes } => {
            if *bytes < total {
                let found = format!("`{path}` of {total} B in {bytes} B");
                return Err(file.broken(found, *address));
            }
            contiguous(file, dataset, *address, total, each)
        }
        Storage::Chunked(chunked) => of_chunks(file, dataset, chunked, each),
    }
}

/// A sample for each index of the first axis.
fn contiguous(
    file: &mut File<'_, '_>,
    dataset: &Dataset,
    address: u64,
    total: u64,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<u64, FormatError> {
    // Nothing was ever written.
    if address == NOWHERE {
        return Ok(0);
    }
    file.count("dataset", address, total)?;
    let offset = file.place("dataset", address, total)?;
    // An item without an axis is a sample.
    let count = dataset.space.shape.first().copied().unwrap_or(1);
    let bytes = total / count;
    for sample in 0..count {
        each(Unit { samples: 1, extents: &[(offset + sample * bytes, bytes)] });
    }
    Ok(count)
}

/// A unit for each chunk along the first axis, with those that lie beside it.
fn of_chunks(
    file: &mut File<'_, '_>,
    dataset: &Dataset,
    chunked: &Chunked,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<u64, FormatError> {
    let (found, beside) = chunks::find(file, dataset, chunked)?;
    let (samples, in_chunk) = (dataset.space.shape[0], chunked.shape[0]);
    let (mut units, mut extents) = (0, Vec::new());
    for row in found.chunk_by(|one, other| one.number / beside == other.number / beside) {
        extents.clear();
        for chunk in row {
            add(&mut extents, chunk.offset, chunk.bytes);
        }
        let first = row[0].number / beside * in_chunk;
        each(Unit { samples: in_chunk.min(samples - first), extents: &extents });
        units += 1;
    }
    Ok(units)
}

/// Adds a chunk; two that touch are read as one.
fn add(extents: &mut Vec<(u64, u64)>, offset: u64, bytes: u64) {
    match extents.last_mut() {
        Some((from, length)) if *from + *length == offset => *length += bytes,
        _ => extents.push((offset, bytes)),
    }
}
