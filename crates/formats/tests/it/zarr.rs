//! Metadata of arrays, and what lies in their objects.

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use flate2::read::ZlibDecoder;
use formats::{FormatError, ZarrArray, ZarrNode, zarr_metadata, zarr_units};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Found, Memory};

fn parse_zarr_metadata(bytes: &[u8]) -> Result<ZarrArray, FormatError> {
    formats::parse_zarr_metadata(bytes).map(|node| match node {
        ZarrNode::Array(array) => array,
        ZarrNode::Group => panic!("a group"),
    })
}

proptest! {
    #[test]
    fn metadata_that_are_written_are_read(chunks in 1..1000_u64, per_chunk in 1..1000_u64, bytes in 1..9999_u64) {
        let array = parse_zarr_metadata(&zarr_metadata(chunks, per_chunk, bytes)).unwrap();
        prop_assert_eq!(array.samples(), chunks * per_chunk);
        prop_assert_eq!((array.samples_per_chunk(), array.sample_bytes()), (per_chunk, bytes));
        prop_assert_eq!(array.chunk_bytes(), per_chunk * bytes);
        prop_assert!(array.shards.is_none() && !array.compressed && array.holds_whole_samples());
    }
}

fn edited(edit: impl Fn(&mut Value)) -> Result<formats::ZarrArray, FormatError> {
    let mut metadata = serde_json::from_slice(&zarr_metadata(3, 4, 5)).unwrap();
    edit(&mut metadata);
    parse_zarr_metadata(metadata.to_string().as_bytes())
}

#[test]
fn hostile_metadata_are_refused_with_what_is_wrong() {
    let of_chunks = |chunks: Value| {
        edited(move |metadata| metadata["chunk_grid"]["configuration"]["chunk_shape"] = chunks.clone())
    };
    let of_shape = |shape: Value| edited(move |metadata| metadata["shape"] = shape.clone());
    for (refused, reason) in [
        (of_chunks(json!([0, 5])), "no shape of chunks"),
        (of_chunks(json!([4])), "no shape of chunks"),
        (of_chunks(json!([u64::MAX, 2])), "no storage"),
        (of_shape(json!([u64::MAX, u64::MAX])), "no storage"),
        (of_shape(json!([-1, 5])), "no shape"),
        (of_shape(json!([])), "no shape"),
        (of_shape(json!(vec![1; 65])), "no shape"),
        (of_shape(json!(7)), "no shape"),
        (edited(|metadata| metadata["zarr_format"] = json!(4)), "version 2 or 3"),
        (edited(|metadata| metadata["node_type"] = json!("other")), "version 2 or 3"),
        (edited(|metadata| metadata["data_type"] = json!("string")), "type \"string\""),
        (edited(|metadata| metadata["data_type"] = json!("r9")), "type \"r9\""),
        (edited(|metadata| metadata["data_type"] = json!({"name": "x"})), "type {"),
        (edited(|metadata| metadata["codecs"] = json!(null)), "no codecs"),
        (edited(|metadata| metadata["codecs"] = json!([5])), "without a name"),
        (edited(|metadata| metadata["chunk_grid"]["name"] = json!("rectangular")), "unlike shapes"),
        (parse_zarr_metadata(b"[".repeat(100_000).as_slice()), "no JSON"),
        (parse_zarr_metadata(&vec![b' '; 2 << 20]), "metadata of"),
        (parse_zarr_metadata(b""), "no JSON"),
        (parse_zarr_metadata(b"[1]"), "version 2 or 3"),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
}

#[test]
fn what_changes_a_chunk_is_told_from_what_follows_it() {
    let with = |codecs: Value| {
        let array = edited(|metadata| metadata["codecs"] = codecs.clone()).unwrap();
        (array.shards.is_some(), array.compressed)
    };
    assert_eq!(with(json!([{"name": "bytes"}, {"name": "crc32c"}])), (false, false));
    assert_eq!(with(json!([{"name": "transpose"}, {"name": "bytes"}])), (false, true));
    let inner = json!([{"name": "bytes"}, {"name": "blosc"}]);
    let sharding = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 5], "codecs": inner, "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}],
    }});
    assert_eq!(with(json!([sharding])), (true, true));
    // What packs the whole shard hides its index.
    assert_eq!(with(json!([sharding, {"name": "gzip"}])), (false, true));
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/array.zarr");

/// Five samples of six numbers, as `fixtures/make.py` has them.
fn items(samples: Range<u8>) -> Vec<u8> {
    (6 * samples.start..6 * samples.end).flat_map(|item| f32::from(item).to_le_bytes()).collect()
}

/// What is stored of each unit of one of the arrays that Python's library wrote, with the number of its samples.
fn stored(name: &str) -> (ZarrArray, Vec<(u64, Vec<u8>)>) {
    let folder = Path::new(FOLDER).join(name);
    let metadata = if name.starts_with("v2") { ".zarray" } else { "zarr.json" };
    let array = parse_zarr_metadata(&fs::read(folder.join(metadata)).unwrap()).unwrap();
    let mut units = Vec::new();
    for row in 0.. {
        let names = [format!("c/{row}/0/0"), format!("{row}.0.0"), format!("{row}/0/0")];
        let Some(name) = names.into_iter().find(|name| folder.join(name).exists()) else { break };
        assert_eq!(array.row(&name), Some(row), "{name}");
        let bytes = fs::read(folder.join(name)).unwrap();
        zarr_units(&array, row, &mut Memory::new(&bytes), &mut |unit| {
            let [(offset, length)] = unit.extents else { panic!("{unit:?}") };
            units.push((unit.samples, bytes[*offset as usize..(offset + length) as usize].to_vec()));
        })
        .unwrap();
    }
    (array, units)
}

#[test]
fn samples_of_pythons_arrays_are_found_where_they_lie() {
    for name in ["plain", "sharded", "v2_plain"] {
        let (array, units) = stored(name);
        assert!(!array.compressed && array.shards.is_some() == (name == "sharded"), "{name}");
        let expected: Vec<_> = (0..5).map(|number| (1, items(number..number + 1))).collect();
        assert_eq!(units, expected, "{name}");
    }
}

#[test]
fn chunks_of_pythons_arrays_are_found_as_they_are_stored() {
    let zstd = |packed: &[u8]| {
        let mut unpacked = Vec::with_capacity(1000);
        zstd_safe::decompress(&mut unpacked, packed).unwrap();
        unpacked
    };
    let zlib = |packed: &[u8]| {
        let mut unpacked = Vec::new();
        ZlibDecoder::new(packed).read_to_end(&mut unpacked).unwrap();
        unpacked
    };
    for name in ["packed", "sharded_packed", "v2_zstd", "v2_zlib", "v2_lz4", "v2_blosc"] {
        let (array, units) = stored(name);
        assert!(array.compressed, "{name}");
        assert_eq!(units.iter().map(|(samples, _)| *samples).collect::<Vec<_>>(), [2, 2, 1], "{name}");
        // Chunks at the edge are padded with the fill value.
        for (number, (samples, packed)) in (0..).map(|chunk| 2 * chunk).zip(&units) {
            let expected = items(number..number + *samples as u8);
            match name {
                "v2_zlib" => assert!(zlib(packed).starts_with(&expected), "{name}"),
                // Of these two feedline has no decoder: their bytes are counted as stored.
                "v2_lz4" | "v2_blosc" => assert!(!packed.is_empty()),
                _ => assert!(zstd(packed).starts_with(&expected), "{name}"),
            }
        }
    }
}

#[test]
fn names_of_chunks_are_those_of_the_grid() {
    let array =
        |encoding: Value| edited(|metadata| metadata["chunk_key_encoding"] = encoding.clone()).unwrap();
    let with =
        |name: &str, separator: &str| array(json!({"name": name, "configuration": {"separator": separator}}));
    for (array, name) in [
        (with("default", "/"), "c/2/0"),
        (with("default", "."), "c.2.0"),
        (with("v2", "."), "2.0"),
        (with("v2", "/"), "2/0"),
        (array(json!({"name": "v2"})), "2.0"),
    ] {
        assert_eq!(array.row(name), Some(2));
        for other in
            ["c/3/0", "c/2/1", "c/2", "c/2/0/0", "c/02/0", "c/+2/0", "c//0", "zarr.json", "", "3.0", "2.0.0"]
        {
            assert_eq!(array.row(other), None, "{other}");
        }
    }
    for refused in [json!({"name": "other"}), json!({"name": "v2", "configuration": {"separator": "-"}})] {
        assert!(edited(|metadata| metadata["chunk_key_encoding"] = refused.clone()).is_err());
    }
}

/// Shards of 4 x 5 bytes that hold chunks of 2 x 5, with codecs that do nothing or something.
fn sharded(codec: &str, location: &str) -> ZarrArray {
    edited(|metadata| {
        metadata["codecs"] = json!([{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2, 5], "codecs": [{"name": codec}], "index_location": location,
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        }}]);
    })
    .unwrap()
}

fn units(array: &ZarrArray, bytes: &[u8]) -> Result<Vec<Found>, FormatError> {
    let mut units = Vec::new();
    zarr_units(array, 0, &mut Memory::new(bytes), &mut |unit| {
        units.push((unit.samples, unit.extents.to_vec()));
    })?;
    Ok(units)
}

fn shard(entries: [(u64, u64); 2]) -> Vec<u8> {
    let entries = entries.iter().flat_map(|(offset, bytes)| [*offset, *bytes]);
    let index = entries.flat_map(u64::to_le_bytes);
    [0; 20].into_iter().chain(index).collect()
}

#[test]
fn hostile_indexes_of_shards_are_refused() {
    let packed = sharded("zstd", "end");
    assert_eq!(units(&packed, &shard([(3, 4), (u64::MAX, u64::MAX)])).unwrap(), [(2, vec![(3, 4)])]);
    assert_eq!(units(&packed, &shard([(0, 0), (7, 1)])).unwrap(), [(2, vec![(7, 1)])]);
    for (entries, reason) in [
        ([(3, 50), (0, 1)], "ends inside the chunk"),
        ([(1 << 63, 1 << 63), (0, 1)], "ends inside the chunk"),
        ([(u64::MAX, 1), (0, 1)], "ends inside the chunk"),
        ([(0, 30), (0, 30)], "lie over each other"),
    ] {
        let error = units(&packed, &shard(entries)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let plain = sharded("bytes", "end");
    assert_eq!(units(&plain, &shard([(0, 10), (10, 10)])).unwrap().len(), 4);
    assert!(units(&plain, &shard([(0, 9), (10, 10)])).is_err());
    for bytes in [&[][..], &[0; 31]] {
        assert!(matches!(units(&plain, bytes), Err(FormatError::Truncated { .. })));
    }
}

#[test]
fn a_damaged_index_of_pythons_is_noticed() {
    let folder = Path::new(FOLDER).join("sharded_packed");
    let array = parse_zarr_metadata(&fs::read(folder.join("zarr.json")).unwrap()).unwrap();
    let whole = fs::read(folder.join("c/0/0/0")).unwrap();
    assert_eq!(units(&array, &whole).unwrap().len(), 2);
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(matches!(units(&array, &damaged), Err(FormatError::Checksum { .. })));
    for end in 0..whole.len() {
        assert!(units(&array, &whole[..end]).is_err(), "cut at {end}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_looked_at_as_a_shard(bytes in proptest::collection::vec(any::<u8>(), 0..200), small in any::<bool>()) {
        let mut bytes = bytes;
        // Small numbers point inside more often.
        if small {
            bytes.iter_mut().skip(20).enumerate().filter(|(at, _)| at % 8 > 0).for_each(|(_, byte)| *byte = 0);
        }
        for location in ["start", "end"] {
            for codec in ["bytes", "zstd"] {
                for (samples, extents) in units(&sharded(codec, location), &bytes).unwrap_or_default() {
                    prop_assert!(samples > 0 && !extents.is_empty());
                    for (offset, length) in extents {
                        prop_assert!(offset.checked_add(length).unwrap() <= bytes.len() as u64);
                    }
                }
            }
        }
    }
}
