//! Metadata of arrays.

use formats::{FormatError, parse_zarr_metadata, zarr_metadata};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #[test]
    fn metadata_that_are_written_are_read(chunks in 1..1000_u64, per_chunk in 1..1000_u64, bytes in 1..9999_u64) {
        let array = parse_zarr_metadata(&zarr_metadata(chunks, per_chunk, bytes)).unwrap();
        prop_assert_eq!(array.samples(), chunks * per_chunk);
        prop_assert_eq!((array.samples_per_chunk(), array.sample_bytes()), (per_chunk, bytes));
        prop_assert_eq!(array.chunk_bytes(), per_chunk * bytes);
        prop_assert!(!array.sharded && !array.compressed && array.holds_whole_samples());
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
        (edited(|metadata| metadata["zarr_format"] = json!(2)), "version 3"),
        (edited(|metadata| metadata["node_type"] = json!("group")), "version 3"),
        (edited(|metadata| metadata["data_type"] = json!("string")), "type \"string\""),
        (edited(|metadata| metadata["data_type"] = json!("r9")), "type \"r9\""),
        (edited(|metadata| metadata["data_type"] = json!({"name": "x"})), "type {"),
        (edited(|metadata| metadata["codecs"] = json!(null)), "no codecs"),
        (edited(|metadata| metadata["codecs"] = json!([5])), "without a name"),
        (edited(|metadata| metadata["chunk_grid"]["name"] = json!("rectangular")), "unlike shapes"),
        (parse_zarr_metadata(b"[".repeat(100_000).as_slice()), "no JSON"),
        (parse_zarr_metadata(&vec![b' '; 2 << 20]), "metadata of"),
        (parse_zarr_metadata(b""), "no JSON"),
        (parse_zarr_metadata(b"[1]"), "version 3"),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
}

#[test]
fn what_changes_a_chunk_is_told_from_what_follows_it() {
    let with = |codecs: Value| {
        let array = edited(|metadata| metadata["codecs"] = codecs.clone()).unwrap();
        (array.sharded, array.compressed)
    };
    assert_eq!(with(json!([{"name": "bytes"}, {"name": "crc32c"}])), (false, false));
    assert_eq!(with(json!([{"name": "transpose"}, {"name": "bytes"}])), (false, true));
    let inner = json!([{"name": "bytes"}, {"name": "blosc"}]);
    assert_eq!(with(json!([{"name": "sharding_indexed", "configuration": {"codecs": inner}}])), (true, true));
}
