//! Generated datasets of every layout: written, interrupted, reused, changed, moved, removed.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::Store;
use backend_file::FileStore;
use dataset::{Data, Key, MANIFEST_NAME, Samples};
use plan::{Access, Codec, DatasetSpec, Distribution, Generate, Layout, Packing, Streams, Words as _};
use prepare::{PrepareError, Prepared};

use crate::memory::{Killed, MemoryStore};
use crate::prepare_with;

const SAMPLES: u64 = 25;

fn packing(layout: Layout) -> Packing {
    let columns = if layout == Layout::Parquet { 3 } else { 1 };
    Packing {
        layout,
        shard_bytes: 10_000,
        members: if layout == Layout::WebDataset { 2 } else { 1 },
        codec: Codec::None,
        columns,
        columns_read: columns,
        row_group_bytes: 4_000,
    }
}

fn spec(packing: Packing, distribution: Distribution) -> DatasetSpec {
    DatasetSpec::Generate(Generate {
        samples: SAMPLES,
        sample_bytes: 1000,
        distribution,
        files_per_folder: 2,
        seed: 7,
        packing: Some(packing),
        compressible_percent: 20,
        ..Generate::NONE
    })
}

const SPREAD: Distribution = Distribution::LogNormal { stdev_bytes: 600 };

/// Every layout and codec, with sizes that are equal and such that spread, where there are any.
fn specs() -> Vec<DatasetSpec> {
    let mut specs = Vec::new();
    for layout in Layout::ALL.iter().copied().filter(|layout| *layout != Layout::Files && layout.is_written())
    {
        specs.push(spec(packing(layout), Distribution::Fixed));
        if !layout.is_array() {
            specs.push(spec(packing(layout), SPREAD));
        }
    }
    for (layout, codec) in [
        (Layout::WebDataset, Codec::Gzip),
        (Layout::WebDataset, Codec::Zstd),
        (Layout::TfRecord, Codec::Gzip),
    ] {
        specs.push(spec(Packing { codec, ..packing(layout) }, SPREAD));
    }
    specs.push(spec(Packing { codec: Codec::Gzip, ..packing(Layout::Hdf5) }, Distribution::Fixed));
    specs
}

fn packed(spec: &DatasetSpec) -> Packing {
    match spec {
        DatasetSpec::Generate(Generate { packing: Some(packing), .. }) => *packing,
        other => panic!("{other:?}"),
    }
}

fn is_known(spec: &DatasetSpec) -> bool {
    packed(spec).codec == Codec::None && packed(spec).layout != Layout::Parquet
}

/// Reads every unit and checks it where it can be.
fn assert_units(store: &dyn Store, data: &Data) {
    let read = |object: u32, offset: u64, bytes: u64| {
        let mut part = vec![0; bytes as usize];
        assert_eq!(store.read_at(&data.objects().key(object), offset, &mut part).unwrap(), part.len());
        assert_eq!(data.verify(object, offset, &part), Ok(data.is_checked()), "{object} {offset}");
    };
    match data.samples() {
        Samples::Even(even) => (0..even.count).for_each(|number| {
            let extent = even.extent(number);
            read(extent.object, extent.offset, extent.bytes);
        }),
        Samples::Indexed(index) => (0..index.units()).for_each(|unit| {
            index.extents(unit).for_each(|extent| read(extent.object, extent.offset, extent.bytes));
        }),
        Samples::Objects | Samples::Streamed { .. } => {}
    }
    for object in 0..data.objects().count() {
        let entry = store.stat(&data.objects().key(object)).unwrap().unwrap();
        assert_eq!(entry.bytes, data.objects().bytes(object));
    }
}

fn assert_same(one: &Prepared, other: &Prepared) {
    assert_eq!((&one.fingerprint, &one.data), (&other.fingerprint, &other.data));
    assert!((one.sample_bytes - other.sample_bytes).abs() < 1e-9);
}

#[test]
fn every_layout_is_written_reused_and_removed() {
    for spec in specs() {
        let root = tempfile::tempdir().unwrap();
        let store = FileStore::pread(root.path());
        let foretold = prepare::bytes_to_write(&store, &spec).unwrap();
        let first = prepare_with(&store, &spec, 2).unwrap();
        assert_eq!((first.layout, first.reused), (packed(&spec).layout, false));
        assert!(prepare::planned(&spec).is_none() || foretold == first.bytes_written, "{spec:?}");
        assert_eq!(first.bytes_written, first.data.objects().total_bytes(), "{spec:?}");
        let whole = if packed(&spec).layout == Layout::Zarr { 30 } else { SAMPLES };
        assert_eq!(first.data.sample_count(), whole, "{spec:?}");
        assert!(first.sample_bytes >= 1000.0 || packed(&spec).codec != Codec::None || !is_fixed(&spec));
        assert_units(&store, &first.data);
        let second = prepare_with(&store, &spec, 2).unwrap();
        assert!(second.reused);
        assert_same(&first, &second);
        assert!(!prepare::recheck(&store, &second, 2).unwrap());
        let cleaned = prepare::clean(&store).unwrap();
        let shards = u64::from(first.data.objects().count());
        let metadata = u64::from(packed(&spec).layout == Layout::Zarr);
        assert_eq!((cleaned.files, cleaned.left), (shards + metadata + 2, Vec::new()), "{spec:?}");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}

fn is_fixed(spec: &DatasetSpec) -> bool {
    matches!(spec, DatasetSpec::Generate(Generate { distribution: Distribution::Fixed, .. }))
}

#[test]
fn what_arithmetic_says_is_what_an_index_finds() {
    for spec in specs().into_iter().filter(is_known) {
        let layout = packed(&spec).layout;
        let root = tempfile::tempdir().unwrap();
        let store = FileStore::pread(root.path());
        let prepared = prepare_with(&store, &spec, 2).unwrap();
        assert_eq!(prepared.data.objects(), prepare::planned(&spec).unwrap().objects());
        assert_eq!(prepared.data.samples(), prepare::planned(&spec).unwrap().samples());
        // The same shards, as somebody else's.
        let folder = prepare::identify(&spec).unwrap();
        fs::remove_file(root.path().join(folder.as_str()).join(dataset::MARKER_NAME)).unwrap();
        let store = FileStore::pread(&root.path().join(folder.as_str()));
        let existing = plan::Existing { layout: Some(layout), ..plan::Existing::any(None) };
        let found = prepare_with(&store, &DatasetSpec::Existing(existing), 2).unwrap();
        assert_eq!(found.data.sample_count(), prepared.data.sample_count());
        for access in [Access::ShuffledEpoch, Access::ShuffledShards(Streams::of(1))] {
            let [ours, theirs] = [&prepared, &found].map(|one| one.data.sample_bytes(access));
            assert!((ours - theirs).abs() < 1e-9, "{layout:?} {access:?}: {ours} and {theirs}");
        }
    }
}

#[test]
fn killed_anywhere_a_dataset_is_completed_by_the_next_attempt_and_removed_by_clean() {
    for layout in [Layout::WebDataset, Layout::Parquet, Layout::Zarr, Layout::Hdf5] {
        let spec = spec(packing(layout), Distribution::Fixed);
        let whole = MemoryStore::default();
        let expected = prepare_with(&whole, &spec, 1).unwrap();
        for calls in (1..200).step_by(3) {
            let store = MemoryStore::default();
            let done = prepare_with(&Killed::after(&store, calls), &spec, 1).is_ok();
            let prepared = prepare_with(&store, &spec, 1).unwrap();
            assert_eq!(prepared.data, expected.data);
            assert_units(&store, &prepared.data);
            prepare::clean(&store).unwrap();
            assert_eq!(store.names(), Vec::<String>::new(), "{layout:?} killed after {calls} calls");
            if done {
                break;
            }
        }
    }
}

#[test]
fn asked_to_stop_it_keeps_whole_shards_and_goes_on() {
    for spec in specs() {
        let store = MemoryStore::default();
        let stop = AtomicBool::new(false);
        let seen = Mutex::new(Vec::new());
        let note = |done, total: u64| {
            seen.lock().unwrap().push((done, total));
            stop.store(done >= total / 2, Ordering::SeqCst);
        };
        let error = prepare::prepare(&store, &spec, 1, &note, &stop).unwrap_err();
        assert!(matches!(error, PrepareError::Interrupted { .. }), "{error}");
        let kept = store.contents().len();
        assert!(kept > 1, "{:?}", store.names());
        let resumed = prepare_with(&store, &spec, 2).unwrap();
        assert!(resumed.bytes_written < resumed.data.objects().total_bytes(), "{spec:?}");
        assert_units(&store, &resumed.data);
    }
}

#[test]
fn progress_is_that_of_samples_and_ends_at_all_of_them() {
    for spec in specs() {
        let store = MemoryStore::default();
        let seen = Mutex::new(Vec::new());
        let note = |done, total| seen.lock().unwrap().push((done, total));
        prepare::prepare(&store, &spec, 1, &note, &AtomicBool::new(false)).unwrap();
        let mut seen = seen.into_inner().unwrap();
        if packed(&spec).layout == Layout::Parquet || packed(&spec).codec != packed(&spec).whole_codec() {
            // Footers, and indices of packed chunks, are read behind it, told in their own bytes.
            let total = seen[0].1;
            seen.retain(|of| of.1 == total);
        }
        assert!(seen.is_sorted() && seen.iter().all(|(done, total)| done <= total), "{seen:?}");
        assert_eq!(seen.last().map(|last| last.0), seen.last().map(|last| last.1));
    }
}

#[test]
fn a_damaged_shard_of_a_complete_dataset_is_named_and_one_of_an_unfinished_is_written_anew() {
    for spec in specs() {
        let store = MemoryStore::default();
        let first = prepare_with(&store, &spec, 2).unwrap();
        let shard = first.data.objects().key(1).to_string();
        let bytes = store.get(&shard).unwrap();
        store.put(&shard, &bytes[..bytes.len() - 1]);
        assert!(prepare::recheck(&store, &first, 2).unwrap());
        let error = prepare_with(&store, &spec, 2).unwrap_err();
        assert!(matches!(error, PrepareError::Changed { .. }), "{error}");
        assert!(error.to_string().contains(&shard), "{error}");
        store.delete(&format!("{}/{MANIFEST_NAME}", prepare::identify(&spec).unwrap()));
        if is_known(&spec) {
            let again = prepare_with(&store, &spec, 2).unwrap();
            assert_eq!(again.bytes_written, bytes.len() as u64);
            assert_eq!(store.get(&shard).unwrap(), bytes);
        }
        store.delete(&shard);
        assert!(prepare_with(&store, &spec, 2).is_err() == is_known(&spec));
    }
}

#[test]
fn too_little_space_is_found_before_anything_is_written() {
    for spec in specs() {
        let store = MemoryStore::default();
        store.set_free(10_000);
        let error = prepare_with(&store, &spec, 2).unwrap_err();
        assert!(matches!(error, PrepareError::NoSpace { free_bytes: 10_000, .. }), "{error}");
        assert_eq!(store.names(), Vec::<String>::new());
    }
}

#[test]
fn clean_leaves_what_feedline_does_not_write() {
    for spec in specs() {
        let store = MemoryStore::default();
        prepare_with(&store, &spec, 2).unwrap();
        let folder = prepare::identify(&spec).unwrap();
        let foreign: BTreeSet<String> =
            ["000000/000000009.tar", "000000/000000000.tar.bak", "c/0/1", "c/9/0", "mine/zarr.json"]
                .map(|name| format!("{folder}/{name}"))
                .into();
        for name in &foreign {
            store.put(name, b"mine");
        }
        let cleaned = prepare::clean(&store).unwrap();
        assert_eq!(cleaned.left.into_iter().collect::<BTreeSet<_>>(), foreign, "{spec:?}");
        let left: BTreeSet<_> = store.contents().into_keys().collect();
        assert_eq!(left, foreign);
    }
}

/// As a folder that was renamed, or copied to another place: its names follow from where it lies.
#[test]
fn a_moved_dataset_is_removed_whole() {
    for spec in specs() {
        let root = tempfile::tempdir().unwrap();
        let store = FileStore::pread(root.path());
        prepare_with(&store, &spec, 2).unwrap();
        let folder = prepare::identify(&spec).unwrap();
        fs::rename(root.path().join(folder.as_str()), root.path().join("elsewhere")).unwrap();
        let cleaned = prepare::clean(&store).unwrap();
        assert_eq!((cleaned.folders, cleaned.left), (1, Vec::new()));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}

#[test]
fn equal_datasets_hold_equal_bytes_whatever_the_threads() {
    for spec in specs() {
        let [one, many] = [1, 4].map(|threads| {
            let store = MemoryStore::default();
            prepare_with(&store, &spec, threads).unwrap();
            let mut contents = store.contents();
            contents.retain(|name, _| !name.ends_with(MANIFEST_NAME));
            contents
        });
        assert_eq!(one, many);
    }
}

#[test]
fn columns_that_are_read_make_the_index_and_no_other_dataset() {
    let store = MemoryStore::default();
    let of = |columns_read| spec(Packing { columns_read, ..packing(Layout::Parquet) }, Distribution::Fixed);
    let all = prepare_with(&store, &of(3), 2).unwrap();
    let one = prepare_with(&store, &of(1), 2).unwrap();
    assert!(one.reused && one.fingerprint == all.fingerprint);
    assert_eq!(one.data.sample_count(), all.data.sample_count());
    let share = one.sample_bytes / all.sample_bytes;
    assert!((0.3..0.37).contains(&share), "{share}");
}

#[test]
fn compressible_content_compresses() {
    let bytes = |compressible_percent, packing| {
        let generate =
            Generate { samples: 40, sample_bytes: 8192, packing, compressible_percent, ..Generate::NONE };
        let spec = DatasetSpec::Generate(generate);
        let store = MemoryStore::default();
        let prepared = prepare_with(&store, &spec, 1).unwrap();
        assert_units(&store, &prepared.data);
        prepared.data.objects().total_bytes() as f64
    };
    let zstd = Packing { codec: Codec::Zstd, shard_bytes: 1 << 20, ..packing(Layout::WebDataset) };
    let share = bytes(50, Some(zstd)) / bytes(0, Some(zstd));
    assert!((0.4..0.6).contains(&share), "{share}");
    assert!((bytes(50, None) - bytes(0, None)).abs() < 1e-9);
}

/// A manifest that names another packing is another dataset's.
#[test]
fn a_manifest_of_another_packing_is_refused() {
    let store = MemoryStore::default();
    let spec = spec(packing(Layout::TfRecord), Distribution::Fixed);
    prepare_with(&store, &spec, 1).unwrap();
    let manifest = format!("{}/{MANIFEST_NAME}", prepare::identify(&spec).unwrap());
    let text = String::from_utf8(store.get(&manifest).unwrap()).unwrap();
    assert!(text.contains("\"layout\": \"tfrecord\"") && text.contains("\"samples\": 25"), "{text}");
    store.put(&manifest, text.replace("shards of 10000 B", "shards of 20000 B").as_bytes());
    let error = prepare_with(&store, &spec, 1).unwrap_err();
    assert!(matches!(error, PrepareError::OtherDataset { .. }), "{error}");
}

#[test]
fn zarr_opens_the_folder_as_an_array() {
    let store = MemoryStore::default();
    let spec = spec(packing(Layout::Zarr), Distribution::Fixed);
    prepare_with(&store, &spec, 2).unwrap();
    let folder = prepare::identify(&spec).unwrap();
    let metadata = store.get(&format!("{folder}/zarr.json")).unwrap();
    let formats::ZarrNode::Array(array) = formats::parse_zarr_metadata(&metadata).unwrap() else {
        panic!("a group")
    };
    assert_eq!((array.samples(), array.samples_per_chunk(), array.sample_bytes()), (30, 10, 1000));
    assert_eq!(store.get(&format!("{folder}/c/2/0")).unwrap().len() as u64, array.chunk_bytes());
    let key = Key::new(format!("{folder}/c/3/0")).unwrap();
    assert_eq!(store.stat(&key).unwrap(), None);
}
