//! Shards of the user's: found, counted, and refused where they are none.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use backend_file::FileStore;
use dataset::Samples;
use plan::{Codec, DatasetSpec, Existing, Generate, Layout, Packing};
use prepare::{PrepareError, Prepared};

use crate::memory::MemoryStore;
use crate::prepare_with;

/// The shards of a generated dataset, as somebody else's files.
fn shards(layout: Layout, codec: Codec) -> Vec<Vec<u8>> {
    let columns = if layout == Layout::Parquet { 2 } else { 1 };
    let packing = Packing {
        layout,
        shard_bytes: 10_000,
        members: 1,
        codec,
        columns,
        columns_read: columns,
        row_group_bytes: 5_000,
    };
    let generate = Generate { samples: 50, sample_bytes: 1000, packing: Some(packing), ..Generate::NONE };
    let store = MemoryStore::default();
    let prepared = prepare_with(&store, &DatasetSpec::Generate(generate), 1).unwrap();
    let objects = prepared.data.objects();
    (0..objects.count()).map(|shard| store.get(objects.key(shard).as_str()).unwrap()).collect()
}

fn folder(layout: Layout, codec: Codec) -> MemoryStore {
    let store = MemoryStore::default();
    for (number, bytes) in shards(layout, codec).iter().enumerate() {
        store.put(&format!("data/train-{number:06}{}", formats::extension(layout, codec)), bytes);
    }
    store
}

fn named(layout: Layout) -> Existing {
    Existing { layout: Some(layout), ..Existing::any(None) }
}

fn found(store: &MemoryStore, existing: Existing) -> Result<Prepared, PrepareError> {
    prepare_with(store, &DatasetSpec::Existing(existing), 2)
}

const SHARDED: [Layout; 5] =
    [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet];

#[test]
fn shards_of_every_layout_are_found_and_indexed_without_being_written() {
    for layout in SHARDED {
        let store = folder(layout, Codec::None);
        let before = store.contents();
        let prepared = found(&store, named(layout)).unwrap();
        assert_eq!((prepared.layout, prepared.data.sample_count()), (layout, 50), "{layout:?}");
        assert_eq!((prepared.data.objects().count(), prepared.counted_shards), (5, None));
        assert_eq!(store.contents(), before);
        let unnamed = found(&store, Existing::any(None)).unwrap();
        // An array may well be one sample.
        let detected = if layout == Layout::Records { Layout::Files } else { layout };
        assert_eq!(unnamed.layout, detected);
    }
}

#[test]
fn a_stated_sample_size_is_believed() {
    let store = folder(Layout::TfRecord, Codec::None);
    let stated = Existing { sample_bytes: Some(777), ..named(Layout::TfRecord) };
    assert!((found(&store, stated).unwrap().sample_bytes - 777.0).abs() < 1e-9);
    // Its length, checksums, and the names of its features come on top of 1000.
    let stored = found(&store, named(Layout::TfRecord)).unwrap().sample_bytes;
    assert!((1016.0..1100.0).contains(&stored), "{stored}");
}

#[test]
fn compressed_shards_are_counted_in_the_first_and_estimated_in_the_others() {
    for (layout, codec) in [
        (Layout::WebDataset, Codec::Gzip),
        (Layout::WebDataset, Codec::Zstd),
        (Layout::TfRecord, Codec::Gzip),
    ] {
        let prepared = found(&folder(layout, codec), Existing::any(None)).unwrap();
        assert_eq!((prepared.layout, prepared.counted_shards), (layout, Some(3)), "{codec:?}");
        assert!(matches!(prepared.data.samples(), Samples::Streamed { .. }));
        assert!((48..=52).contains(&prepared.data.sample_count()), "{}", prepared.data.sample_count());
        let pattern = Existing { shards: Some("data/*-00000{0..1}*".to_owned()), ..named(layout) };
        let few = found(&folder(layout, codec), pattern).unwrap();
        assert_eq!((few.data.sample_count(), few.counted_shards), (20, None));
    }
}

#[test]
fn a_pattern_says_which_shards_are_read_and_each_of_them_must_be_there() {
    let store = folder(Layout::WebDataset, Codec::None);
    store.put("data/val-000000.tar", b"another");
    let with = |shards: &str| Existing { shards: Some(shards.to_owned()), ..named(Layout::WebDataset) };
    let prepared = found(&store, with("data/train-{000001..000003}.tar")).unwrap();
    assert_eq!((prepared.data.objects().count(), prepared.data.sample_count()), (3, 30));
    assert_eq!(found(&store, with("**/train-*.tar")).unwrap().data.sample_count(), 50);
    let missing = found(&store, with("data/train-{000003..000007}.tar")).unwrap_err();
    assert!(missing.to_string().contains("`data/train-000005.tar` is not there"), "{missing}");
    let nothing = found(&store, with("data/test-*.tar")).unwrap_err();
    assert!(
        matches!(&nothing, PrepareError::MissingShard { name, .. } if name == "data/test-*.tar"),
        "{nothing}"
    );
    let wrong = found(&store, with("data/{train")).unwrap_err();
    assert!(matches!(wrong, PrepareError::Pattern { .. }), "{wrong}");
}

#[test]
fn files_beside_shards_are_left_out_and_counted() {
    let store = folder(Layout::WebDataset, Codec::None);
    store.put("data/train-000000.json", b"{}");
    store.put("data/train-000000.idx", b"v1.2 10");
    store.put("data/README.md", b"# shards");
    store.put("data/empty.tar", b"");
    for existing in [Existing::any(None), named(Layout::WebDataset)] {
        let prepared = found(&store, existing).unwrap();
        assert_eq!((prepared.other_files, prepared.empty_files), (3, 1));
        assert_eq!(prepared.data.sample_count(), 50);
    }
}

#[test]
fn two_layouts_in_one_folder_are_refused_with_a_file_of_each() {
    let store = folder(Layout::WebDataset, Codec::None);
    store.put("data/x.tfrecord", &shards(Layout::TfRecord, Codec::None)[0]);
    for existing in [Existing::any(None), named(Layout::WebDataset)] {
        let error = found(&store, existing).unwrap_err().to_string();
        assert!(error.contains("train-000000.tar` is webdataset"), "{error}");
        assert!(error.contains("x.tfrecord` is tfrecord") && error.contains("dataset.shards"), "{error}");
    }
    let tar = Existing { shards: Some("**/*.tar".to_owned()), ..Existing::any(None) };
    assert_eq!(found(&store, tar).unwrap().data.sample_count(), 50);
    let error = found(&folder(Layout::TfRecord, Codec::None), named(Layout::Parquet)).unwrap_err();
    assert!(matches!(error, PrepareError::OtherLayout { .. }), "{error}");
}

#[test]
fn a_torn_shard_is_named() {
    for layout in SHARDED {
        let store = folder(layout, Codec::None);
        let name = format!("data/train-000003{}", formats::extension(layout, Codec::None));
        let bytes = store.get(&name).unwrap();
        for cut in [bytes.len() / 2 + 3, 5] {
            store.put(&name, &bytes[..cut]);
            let error = found(&store, named(layout)).unwrap_err();
            assert!(matches!(error, PrepareError::Shard { .. }), "{layout:?} {cut}: {error}");
            let text = error.to_string();
            assert!(text.contains(&name) && text.contains("hint"), "{text}");
        }
    }
}

#[test]
fn a_wrong_checksum_and_a_shard_without_samples_are_named() {
    let store = folder(Layout::TfRecord, Codec::None);
    let mut bytes = store.get("data/train-000002.tfrecord").unwrap();
    bytes[9] ^= 1;
    store.put("data/train-000002.tfrecord", &bytes);
    let error = found(&store, named(Layout::TfRecord)).unwrap_err().to_string();
    assert!(error.contains("checksum") && error.contains("train-000002.tfrecord"), "{error}");
    let store = folder(Layout::WebDataset, Codec::None);
    store.put("data/train-000004.tar", &[0; 1024]);
    let error = found(&store, named(Layout::WebDataset)).unwrap_err().to_string();
    assert!(error.contains("no sample") && error.contains("train-000004.tar"), "{error}");
}

#[test]
fn a_folder_without_shards_says_so() {
    let store = MemoryStore::default();
    store.put("a.txt", b"text");
    store.put("b.txt", b"text");
    let error = found(&store, named(Layout::WebDataset)).unwrap_err();
    assert!(matches!(error, PrepareError::NoShards { layout: "webdataset", files: 2 }), "{error}");
    assert_eq!(found(&store, Existing::any(None)).unwrap().layout, Layout::Files);
}

#[test]
fn columns_are_read_by_name_and_one_that_is_not_there_is_named() {
    let store = folder(Layout::Parquet, Codec::None);
    let with = |columns: &[&str]| Existing {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        ..named(Layout::Parquet)
    };
    let (all, one) = (found(&store, with(&[])).unwrap(), found(&store, with(&["c1"])).unwrap());
    assert!(one.sample_bytes < 0.6 * all.sample_bytes, "{} of {}", one.sample_bytes, all.sample_bytes);
    let error = found(&store, with(&["label"])).unwrap_err().to_string();
    assert!(error.contains("`label`") && error.contains("hint: mend `dataset.columns`"), "{error}");
}

#[test]
fn an_array_of_the_users_is_read_chunk_by_chunk() {
    let store = MemoryStore::default();
    let metadata = |codecs: &str| {
        format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[25,4,8],"data_type":"float32","fill_value":0,
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[10,4,8]}}}},
            "chunk_key_encoding":{{"name":"default"}},"codecs":{codecs}}}"#
        )
    };
    store.put("zarr.json", metadata(r#"[{"name":"bytes"}]"#).as_bytes());
    for chunk in [0, 1, 2] {
        store.put(&format!("c/{chunk}/0/0"), &[1; 1280]);
    }
    for existing in [Existing::any(None), named(Layout::Zarr)] {
        let prepared = found(&store, existing).unwrap();
        assert_eq!((prepared.layout, prepared.data.sample_count()), (Layout::Zarr, 25));
        assert_eq!((prepared.other_files, prepared.data.unit_bytes_max()), (1, Some(128)));
    }
    store.put("c/1/0/0", &[1; 1279]);
    let error = found(&store, named(Layout::Zarr)).unwrap_err().to_string();
    assert!(error.contains("c/1/0/0"), "{error}");
    // A chunk that is packed is one unit, of whatever length.
    store.put("zarr.json", metadata(r#"[{"name":"bytes"},{"name":"zstd"}]"#).as_bytes());
    let prepared = found(&store, named(Layout::Zarr)).unwrap();
    assert_eq!((prepared.data.sample_count(), prepared.data.unit_bytes_max()), (25, Some(1280)));
    store.delete("zarr.json");
    assert!(matches!(found(&store, named(Layout::Zarr)), Err(PrepareError::Array { .. })));
}

fn pythons_array(name: &str) -> FileStore {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");
    FileStore::pread(&Path::new(fixtures).join(name))
}

#[test]
fn arrays_and_groups_that_python_wrote_are_found_without_a_word() {
    for (name, objects, units) in [
        ("array.zarr/plain", 3, 5),
        ("array.zarr/packed", 3, 3),
        ("array.zarr/sharded", 2, 5),
        ("array.zarr/sharded_packed", 2, 3),
        ("array.zarr/spread", 6, 3),
        ("array.zarr/v2_plain", 3, 5),
        ("array.zarr/v2_blosc", 3, 3),
        ("group_v2.zarr", 3, 3),
        ("group_v3.zarr", 3, 3),
    ] {
        let spec = DatasetSpec::Existing(Existing::any(None));
        let prepared = prepare_with(&pythons_array(name), &spec, 2).unwrap();
        assert_eq!((prepared.layout, prepared.data.sample_count()), (Layout::Zarr, 5), "{name}");
        let Samples::Indexed(index) = prepared.data.samples() else { panic!("{name}") };
        assert_eq!((prepared.data.objects().count(), index.units()), (objects, units), "{name}");
        // Nothing but the indexes of shards, at their ends, is left out.
        let beside = prepared.data.objects().total_bytes() - index.total_bytes();
        match name {
            "array.zarr/sharded_packed" => assert_eq!(beside, 2 * (2 * 16 + 4)),
            // The last chunk is padded to its size.
            "array.zarr/plain" | "array.zarr/v2_plain" => assert_eq!(beside, 24),
            "array.zarr/sharded" => assert_eq!(beside, 24 + 2 * (2 * 16 + 4)),
            _ => assert_eq!(beside, 0, "{name}"),
        }
    }
}

#[test]
fn of_several_arrays_one_has_to_be_meant() {
    let folder = "array.zarr";
    let error =
        prepare_with(&pythons_array(folder), &DatasetSpec::Existing(named(Layout::Zarr)), 2).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("several arrays: packed, plain") && text.contains("hint: point `at`"), "{text}");
    let one = Existing { shards: Some("v2_zlib/**".to_owned()), ..named(Layout::Zarr) };
    let prepared = prepare_with(&pythons_array(folder), &DatasetSpec::Existing(one), 2).unwrap();
    assert_eq!((prepared.data.objects().count(), prepared.data.sample_count()), (3, 5));
}

#[test]
fn files_of_hdf5_are_found_by_their_first_bytes_and_their_datasets_by_name() {
    let of = |shards: &str, columns: &[&str]| {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        let spec = Existing { shards: Some(shards.to_owned()), columns, ..Existing::any(None) };
        prepare_with(&pythons_array("hdf5"), &DatasetSpec::Existing(spec), 2)
    };
    let of_images = of("nested.h5", &[]).unwrap();
    assert_eq!((of_images.layout, of_images.data.sample_count()), (Layout::Hdf5, 5));
    assert_eq!(of_images.data.unit_bytes_max(), Some(96));
    assert_eq!(of("nested.h5", &["train", "test/images"]).unwrap().data.sample_count(), 12);
    // Chunks of two samples, as they are packed.
    let packed = of("{earliest,v108,v110}.h5", &["gzip"]).unwrap();
    let Samples::Indexed(index) = packed.data.samples() else { panic!("{packed:?}") };
    assert_eq!(
        (packed.data.sample_count(), index.units(), index.total_bytes()),
        (15, 9, 3 * (112 + 108 + 61))
    );
    let error = of("earliest.h5", &[]).unwrap_err().to_string();
    assert!(
        error.contains("none of them most of the bytes") && error.contains("`dataset.columns`"),
        "{error}"
    );
    let error = of("nested.h5", &["images"]).unwrap_err().to_string();
    assert!(error.contains("no column `images`") && error.contains("train/images"), "{error}");
}

#[test]
fn indexing_can_be_interrupted_and_says_how_far_it_is() {
    let store = folder(Layout::TfRecord, Codec::None);
    let stop = AtomicBool::new(false);
    let seen = AtomicBool::new(false);
    let note = |done, total| {
        assert!(done <= total);
        seen.store(true, Ordering::SeqCst);
        stop.store(true, Ordering::SeqCst);
    };
    let spec = DatasetSpec::Existing(named(Layout::TfRecord));
    let error = prepare::prepare(&store, &spec, 1, &note, &stop).unwrap_err();
    assert!(seen.into_inner() && matches!(error, PrepareError::Interrupted { .. }), "{error}");
}

#[test]
fn a_shard_that_changes_is_noticed() {
    let store = folder(Layout::Indexed, Codec::None);
    let prepared = found(&store, named(Layout::Indexed)).unwrap();
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
    let bytes = store.get("data/train-000000.idx").unwrap();
    store.put("data/train-000000.idx", &bytes);
    assert!(prepare::recheck(&store, &prepared, 2).unwrap());
}
