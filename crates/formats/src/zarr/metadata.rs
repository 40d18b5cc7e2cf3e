//! Metadata of arrays and groups, of the second and the third version.

use serde_json::Value;

use super::array::{Names, ZarrArray, ZarrShards};
use crate::error::FormatError;
use crate::numpy::size_of;

/// Bytes of metadata that are read at most. Those of an array are a page of text.
const METADATA_BYTES_MAX: usize = 1 << 20;

/// Axes that an array may have: as numpy's.
const AXES_MAX: usize = 64;

/// What metadata describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZarrNode {
    /// An array.
    Array(ZarrArray),
    /// A folder of arrays and further groups.
    Group,
}

/// Reads anybody's metadata: `zarr.json` of version 3, `.zarray` or `.zgroup` of version 2.
pub fn parse_zarr_metadata(bytes: &[u8]) -> Result<ZarrNode, FormatError> {
    if bytes.len() > METADATA_BYTES_MAX {
        return Err(malformed(format!("metadata of {} B", bytes.len())));
    }
    let metadata: Value = serde_json::from_slice(bytes)
        .map_err(|error| malformed(format!("metadata that are no JSON ({error})")))?;
    let version = metadata["zarr_format"].as_u64();
    let array = match (version, metadata["node_type"].as_str()) {
        (Some(3), Some("array")) => of_version_3(&metadata),
        (Some(2), None) if !metadata["shape"].is_null() => of_version_2(&metadata),
        (Some(3), Some("group")) | (Some(2), None) => return Ok(ZarrNode::Group),
        _ => Err(malformed("metadata of neither an array nor a group of version 2 or 3".to_owned())),
    }?;
    // Both products, once, here: all arithmetic on the array rests on them fitting 64 bits.
    for axes in [&array.shape, &array.chunk_shape] {
        let product = axes.iter().try_fold(array.item_bytes, |product, axis| product.checked_mul(*axis));
        product.ok_or_else(|| malformed("a shape that no storage holds".to_owned()))?;
    }
    Ok(ZarrNode::Array(array))
}

fn of_version_3(metadata: &Value) -> Result<ZarrArray, FormatError> {
    if metadata["chunk_grid"]["name"] != "regular" {
        return Err(malformed("chunks of unlike shapes".to_owned()));
    }
    let chunks = &metadata["chunk_grid"]["configuration"]["chunk_shape"];
    let (shape, chunk_shape) = shapes(&metadata["shape"], chunks)?;
    let data_type = &metadata["data_type"];
    let item_bytes =
        item_bytes(data_type).ok_or_else(|| malformed(format!("items of type {}", shortened(data_type))))?;
    let encoding = &metadata["chunk_key_encoding"];
    let is_prefixed = match encoding["name"].as_str() {
        Some("default") => true,
        Some("v2") => false,
        _ => return Err(malformed(format!("chunks named by {}", shortened(encoding)))),
    };
    let default = if is_prefixed { '/' } else { '.' };
    let separator = separator(&encoding["configuration"]["separator"], default)?;
    let names = Names { is_prefixed, separator };
    let codecs = metadata["codecs"].as_array().ok_or_else(|| malformed("no codecs".to_owned()))?;
    // Behind any other codec the index of a shard cannot be read: such an object is read whole, as it is stored.
    let (shards, inner) = match codecs.as_slice() {
        [only] if only["name"] == "sharding_indexed" => {
            let (shards, inner) = of_shards(&only["configuration"], &chunk_shape)?;
            (Some(shards), inner)
        }
        _ => (None, codecs.as_slice()),
    };
    let compressed = compresses(inner)?;
    Ok(ZarrArray { shape, chunk_shape, item_bytes, shards, compressed, names })
}

fn of_version_2(metadata: &Value) -> Result<ZarrArray, FormatError> {
    let (shape, chunk_shape) = shapes(&metadata["shape"], &metadata["chunks"])?;
    let data_type = &metadata["dtype"];
    let item_bytes = data_type
        .as_str()
        .and_then(size_of)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| malformed(format!("items of type {}", shortened(data_type))))?;
    let names = Names { is_prefixed: false, separator: separator(&metadata["dimension_separator"], '.')? };
    let has_filters = metadata["filters"].as_array().is_some_and(|filters| !filters.is_empty());
    let compressed = !metadata["compressor"].is_null() || has_filters || metadata["order"] != "C";
    Ok(ZarrArray { shape, chunk_shape, item_bytes, shards: None, compressed, names })
}

/// The shape of an array and of its objects.
fn shapes(array: &Value, chunks: &Value) -> Result<(Vec<u64>, Vec<u64>), FormatError> {
    let shape = axes(array).ok_or_else(|| malformed("no shape".to_owned()))?;
    let chunk_shape = axes(chunks)
        .filter(|axes| axes.len() == shape.len() && !axes.contains(&0))
        .ok_or_else(|| malformed("no shape of chunks that fits the array's".to_owned()))?;
    Ok((shape, chunk_shape))
}

fn separator(value: &Value, default: char) -> Result<char, FormatError> {
    match value.as_str() {
        Some("/") => Ok('/'),
        Some(".") => Ok('.'),
        None if value.is_null() => Ok(default),
        _ => Err(malformed(format!("chunks named with {} between numbers", shortened(value)))),
    }
}

/// How chunks lie in an object of that shape, and their codecs.
fn of_shards<'a>(
    configuration: &'a Value,
    shard_shape: &[u64],
) -> Result<(ZarrShards, &'a [Value]), FormatError> {
    let chunk_shape = axes(&configuration["chunk_shape"])
        .filter(|axes| axes.len() == shard_shape.len() && !axes.contains(&0))
        .filter(|axes| axes.iter().zip(shard_shape).all(|(chunk, shard)| shard.is_multiple_of(*chunk)))
        .ok_or_else(|| malformed("no shape of chunks that divides its shard's".to_owned()))?;
    let index_first = match configuration["index_location"].as_str() {
        Some("start") => true,
        Some("end") => false,
        None if configuration["index_location"].is_null() => false,
        _ => return Err(malformed("an index of shards at no known place".to_owned())),
    };
    let of_index = configuration["index_codecs"].as_array().map_or(&[][..], Vec::as_slice);
    let is_plain = |codec: &Value| codec["name"] == "bytes" && codec["configuration"]["endian"] != "big";
    let index_summed = match of_index {
        [bytes] if is_plain(bytes) => false,
        [bytes, sum] if is_plain(bytes) && sum["name"] == "crc32c" => true,
        _ => return Err(malformed("an index of shards in other codecs than bytes and crc32c".to_owned())),
    };
    let codecs = configuration["codecs"].as_array().ok_or_else(|| malformed("no codecs".to_owned()))?;
    Ok((ZarrShards { chunk_shape, index_first, index_summed }, codecs))
}

/// Whether one of the codecs changes more than the end of a chunk. A checksum follows the items.
fn compresses(codecs: &[Value]) -> Result<bool, FormatError> {
    let names: Option<Vec<&str>> = codecs.iter().map(|codec| codec["name"].as_str()).collect();
    let names = names.ok_or_else(|| malformed("a codec without a name".to_owned()))?;
    Ok(names.iter().any(|name| !matches!(*name, "bytes" | "crc32c")))
}

fn axes(value: &Value) -> Option<Vec<u64>> {
    let axes = value.as_array().filter(|axes| (1..=AXES_MAX).contains(&axes.len()))?;
    axes.iter().map(Value::as_u64).collect()
}

/// Bytes of an item of a type of the core specification, of raw bits (`r24`), or of a type of numpy's with a length.
fn item_bytes(data_type: &Value) -> Option<u64> {
    match data_type.as_str() {
        Some("bool" | "int8" | "uint8") => Some(1),
        Some("int16" | "uint16" | "float16" | "bfloat16") => Some(2),
        Some("int32" | "uint32" | "float32") => Some(4),
        Some("int64" | "uint64" | "float64" | "complex64") => Some(8),
        Some("complex128") => Some(16),
        Some(name) => {
            let bits: u64 = name.strip_prefix('r')?.parse().ok()?;
            (bits > 0 && bits.is_multiple_of(8)).then_some(bits / 8)
        }
        None => match data_type["name"].as_str()? {
            "numpy.datetime64" | "numpy.timedelta64" => Some(8),
            "fixed_length_utf32" | "null_terminated_bytes" | "raw_bytes" => {
                data_type["configuration"]["length_bytes"].as_u64().filter(|bytes| *bytes > 0)
            }
            _ => None,
        },
    }
}

/// What is said of a value that may be of any length.
fn shortened(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

fn malformed(found: String) -> FormatError {
    FormatError::Malformed { layout: "zarr", found, offset: 0 }
}
