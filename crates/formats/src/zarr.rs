//! Zarr: an array kept as objects of one chunk or one shard of chunks each, and a small file that says how. Versions 2 and 3
//! are read, version 3 is written.
//!
//! A chunk that is not compressed is the bytes of its samples, one after the other, so that nothing has to be encoded; the
//! metadata are JSON. Chunks that are compressed are read as they are stored. The crate `zarrs`, with its codecs and stores, would
//! be asked for names and numbers alone, which is why they are found here by hand.
//!
//! Format: <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html>, its codec `sharding_indexed`, and
//! <https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html>.

mod array;
mod metadata;
mod units;

use serde_json::json;

use crate::error::FormatError;
use crate::pen::Pen;
use crate::shard::{Samples, even_bytes};

pub use array::{ZarrArray, ZarrShards};
pub use metadata::{ZarrNode, parse_zarr_metadata};
pub use units::zarr_units;

const LAYOUT: &str = "zarr";

/// The name of a chunk of an array that [`zarr_metadata`] describes.
pub fn zarr_chunk_name(chunk: u64) -> String {
    format!("c/{chunk}/0")
}

/// Metadata of an array of bytes whose chunks are what [`crate::write`] writes.
pub fn zarr_metadata(chunks: u64, samples_per_chunk: u64, sample_bytes: u64) -> Vec<u8> {
    let metadata = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [chunks.saturating_mul(samples_per_chunk), sample_bytes],
        "data_type": "uint8",
        "chunk_grid": {
            "name": "regular",
            "configuration": { "chunk_shape": [samples_per_chunk, sample_bytes] },
        },
        // Written out although it is the default: `zarr_chunk_name` rests on it.
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
        "fill_value": 0,
        "codecs": [{ "name": "bytes" }],
        "attributes": {},
    });
    format!("{metadata:#}\n").into_bytes()
}

/// Writes one chunk.
pub(crate) fn write(samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let bytes = even_bytes(LAYOUT, samples)?;
    for index in 0..samples.count() {
        pen.sample(samples, index, 0, bytes)?;
    }
    Ok(())
}
