//! Zarr version 3: an array kept as objects of one chunk each, and a small file that says how.
//!
//! A chunk that is not compressed is the bytes of its samples, one after the other, so that nothing has to be encoded; the
//! metadata are JSON. The crate `zarrs`, with its codecs and stores, would be asked for names and numbers alone, which is
//! why the two are written here by hand.
//!
//! Format: <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html>.

use serde_json::{Value, json};

use crate::error::FormatError;
use crate::pen::Pen;
use crate::shard::{Samples, even_bytes};

const LAYOUT: &str = "zarr";

/// Bytes of metadata that are read at most. Those of an array are a page of text.
const METADATA_BYTES_MAX: usize = 1 << 20;

/// Axes that an array may have: as numpy's.
const AXES_MAX: usize = 64;

/// What of an array's metadata says how its chunks are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZarrArray {
    /// Items along each axis; the first counts the samples.
    pub shape: Vec<u64>,
    /// Items of a chunk along each axis, none of them 0. Chunks at the edge are stored whole.
    pub chunk_shape: Vec<u64>,
    /// Bytes of an item.
    pub item_bytes: u64,
    /// Whether an object holds many chunks behind an index of its own.
    pub sharded: bool,
    /// Whether chunks are something else than their items in order: compressed, transposed, filtered.
    pub compressed: bool,
}

impl ZarrArray {
    /// Samples in the array.
    pub fn samples(&self) -> u64 {
        self.shape[0]
    }

    /// Samples in a chunk; the last may hold fewer that mean something.
    pub fn samples_per_chunk(&self) -> u64 {
        self.chunk_shape[0]
    }

    /// Bytes of a chunk before any codec.
    pub fn chunk_bytes(&self) -> u64 {
        // Checked when it was read.
        self.chunk_shape.iter().fold(self.item_bytes, |product, axis| product.saturating_mul(*axis))
    }

    /// Bytes of the part of a sample that a chunk holds.
    pub fn sample_bytes(&self) -> u64 {
        self.chunk_bytes() / self.chunk_shape[0]
    }

    /// Whether a sample is never spread over several chunks.
    pub fn holds_whole_samples(&self) -> bool {
        self.shape[1..].iter().zip(&self.chunk_shape[1..]).all(|(whole, chunk)| chunk >= whole)
    }
}

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

/// Reads metadata of anybody's array.
pub fn parse_zarr_metadata(bytes: &[u8]) -> Result<ZarrArray, FormatError> {
    if bytes.len() > METADATA_BYTES_MAX {
        return Err(malformed(format!("metadata of {} B", bytes.len())));
    }
    let metadata: Value = serde_json::from_slice(bytes)
        .map_err(|error| malformed(format!("metadata that are no JSON ({error})")))?;
    if metadata["zarr_format"] != 3 || metadata["node_type"] != "array" {
        return Err(malformed("metadata of something else than an array of version 3".to_owned()));
    }
    if metadata["chunk_grid"]["name"] != "regular" {
        return Err(malformed("chunks of unlike shapes".to_owned()));
    }
    let shape = axes(&metadata["shape"]).ok_or_else(|| malformed("no shape".to_owned()))?;
    let chunk_shape = axes(&metadata["chunk_grid"]["configuration"]["chunk_shape"])
        .filter(|axes| axes.len() == shape.len() && !axes.contains(&0))
        .ok_or_else(|| malformed("no shape of chunks that fits the array's".to_owned()))?;
    let item_bytes = metadata["data_type"]
        .as_str()
        .and_then(item_bytes)
        .ok_or_else(|| malformed(format!("items of type {}", shortened(&metadata["data_type"]))))?;
    // Both products, once, here: all arithmetic on the array below rests on them fitting 64 bits.
    for axes in [&shape, &chunk_shape] {
        let product = axes.iter().try_fold(item_bytes, |product, axis| product.checked_mul(*axis));
        product.ok_or_else(|| malformed("a shape that no storage holds".to_owned()))?;
    }
    let codecs = metadata["codecs"].as_array().ok_or_else(|| malformed("no codecs".to_owned()))?;
    let (sharded, compressed) = codecs_of(codecs)?;
    Ok(ZarrArray { shape, chunk_shape, item_bytes, sharded, compressed })
}

/// Whether one of the codecs shards, and whether one changes more than the end of a chunk.
fn codecs_of(codecs: &[Value]) -> Result<(bool, bool), FormatError> {
    let (mut sharded, mut compressed) = (false, false);
    for codec in codecs {
        match codec["name"].as_str() {
            Some("sharding_indexed") => {
                sharded = true;
                let inner = codec["configuration"]["codecs"].as_array();
                // A shard whose inner chunks are plain is refused for being sharded and not for being compressed: the
                // hint differs.
                compressed |= inner.is_some_and(|inner| inner.iter().any(|codec| !keeps_items(codec)));
            }
            Some(_) => compressed |= !keeps_items(codec),
            None => return Err(malformed("a codec without a name".to_owned())),
        }
    }
    Ok((sharded, compressed))
}

/// Whether a chunk is its items in order all the same; a checksum follows them.
fn keeps_items(codec: &Value) -> bool {
    matches!(codec["name"].as_str(), Some("bytes" | "crc32c"))
}

fn axes(value: &Value) -> Option<Vec<u64>> {
    let axes = value.as_array().filter(|axes| (1..=AXES_MAX).contains(&axes.len()))?;
    axes.iter().map(Value::as_u64).collect()
}

/// Bytes of an item of a type of the core specification, or of raw bits (`r24`).
fn item_bytes(name: &str) -> Option<u64> {
    match name {
        "bool" | "int8" | "uint8" => Some(1),
        "int16" | "uint16" | "float16" | "bfloat16" => Some(2),
        "int32" | "uint32" | "float32" => Some(4),
        "int64" | "uint64" | "float64" | "complex64" => Some(8),
        "complex128" => Some(16),
        _ => {
            let bits: u64 = name.strip_prefix('r')?.parse().ok()?;
            (bits > 0 && bits.is_multiple_of(8)).then_some(bits / 8)
        }
    }
}

/// What is said of a value that may be of any length.
fn shortened(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

fn malformed(found: String) -> FormatError {
    FormatError::Malformed { layout: LAYOUT, found, offset: 0 }
}

/// Writes one chunk.
pub(crate) fn write(samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let bytes = even_bytes(LAYOUT, samples)?;
    for index in 0..samples.count() {
        pen.sample(samples, index, 0, bytes)?;
    }
    Ok(())
}
