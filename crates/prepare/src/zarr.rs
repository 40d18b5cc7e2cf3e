//! A user's array in Zarr version 3: its metadata say where samples lie, and every chunk is a file.

use backend::Store;
use dataset::{Extent, Index, Key, Objects};
use formats::{ZARR_METADATA, ZarrArray};

use crate::error::PrepareError;

/// Metadata of an array are a page of text; the format reads a mebibyte at most.
const METADATA_BYTES_MAX: u64 = 1 << 20;

/// The folder of chunks, where they are named as version 3 does by default.
const CHUNKS: &str = "c";

/// Reads the metadata at the root of the target.
pub(crate) fn array(store: &dyn Store) -> Result<ZarrArray, PrepareError> {
    let key = Key::new(ZARR_METADATA).expect("a plain name");
    let Some(entry) = store.stat(&key)? else {
        return Err(PrepareError::Array {
            cause: format!("there is no `{ZARR_METADATA}` at the target's path"),
        });
    };
    // One byte more than the format takes, so that it sees what is too long and says so.
    let mut text = vec![0; entry.bytes.min(METADATA_BYTES_MAX + 1) as usize];
    let length = store.read_at(&key, 0, &mut text)?;
    let refused = |source| PrepareError::Shard { object: key.clone(), layout: "zarr", source };
    let array = formats::parse_zarr_metadata(&text[..length]).map_err(refused)?;
    let cause = if array.sharded {
        "its chunks are sharded: many lie in one file behind an index of their own"
    } else if array.compressed {
        "its chunks are compressed, or ordered otherwise than their items"
    } else if !array.holds_whole_samples() {
        "a sample is spread over several chunks"
    } else if array.samples() == 0 {
        "it holds no sample"
    } else {
        return Ok(array);
    };
    Err(PrepareError::Array { cause: cause.to_owned() })
}

/// The number along the first axis of the chunk of that name; `None` for other files.
pub(crate) fn chunk(array: &ZarrArray, key: &Key) -> Option<u64> {
    let mut parts = key.as_str().split('/');
    if parts.next()? != CHUNKS {
        return None;
    }
    let text = parts.next()?;
    let number: u64 = text.parse().ok()?;
    let rest: Vec<_> = parts.collect();
    // Samples lie along the first axis, so a chunk at any other place than 0 of the others holds a part of samples.
    let whole = rest.len() + 1 == array.shape.len() && rest.iter().all(|part| *part == "0");
    let last = array.samples().div_ceil(array.samples_per_chunk());
    (whole && number < last && number.to_string() == text).then_some(number)
}

/// Where the samples of the chunks lie that are there; one that is left out holds the array's fill value, and nothing is
/// read for it.
pub(crate) fn index(array: &ZarrArray, objects: &Objects) -> Result<Index, PrepareError> {
    let mut index = Index::default();
    let (per_chunk, bytes) = (array.samples_per_chunk(), array.sample_bytes());
    for object in 0..objects.count() {
        let key = objects.key(object);
        let Some(number) = chunk(array, &key) else { continue };
        // A chunk that is being written still; `zarr` would fail on it as well.
        if objects.bytes(object) < array.chunk_bytes() {
            let (has, needs) = (objects.bytes(object), array.chunk_bytes());
            let cause = format!("its chunk `{key}` has {has} B instead of {needs} B");
            return Err(PrepareError::Array { cause });
        }
        // The last chunk is padded to the full size; its fill values are no samples.
        let samples = array.samples().saturating_sub(number.saturating_mul(per_chunk)).min(per_chunk);
        for sample in 0..samples {
            index.push(1, &[Extent { object, offset: sample * bytes, bytes }]);
        }
    }
    Ok(index)
}
