//! Folders of the user's.

use plan::DatasetSpec;
use prepare::{PrepareError, Prepared};

use crate::memory::MemoryStore;
use crate::{BESIDE_OTHERS, folder, prepare_with};

const EXISTING: DatasetSpec = DatasetSpec::Existing(plan::Existing::any(None));

fn listed(store: &MemoryStore) -> Prepared {
    let before = store.contents();
    let prepared = prepare_with(store, &EXISTING, 2).unwrap();
    assert_eq!(store.contents(), before, "a folder of the user's is never written");
    prepared
}

fn keys(prepared: &Prepared) -> Vec<String> {
    (0..prepared.data.objects().count())
        .map(|object| prepared.data.objects().key(object).to_string())
        .collect()
}

#[test]
fn files_are_listed_in_order_and_empty_ones_left_out() {
    let store = MemoryStore::default();
    for (name, bytes) in [("b/2", 20), ("a", 10), ("b/empty", 0), ("b/1/x", 30)] {
        store.put(name, &vec![1; bytes]);
    }
    let prepared = listed(&store);
    assert_eq!(keys(&prepared), ["a", "b/1/x", "b/2"]);
    assert_eq!((prepared.empty_files, prepared.data.is_checked(), prepared.bytes_written), (1, false, 0));
    assert!((prepared.sample_bytes - 20.0).abs() < f64::EPSILON);
    store.put("c", b"");
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap(), "an empty file is no part of it");
    let given = prepare_with(&store, &DatasetSpec::Existing(plan::Existing::any(Some(5))), 1).unwrap();
    assert!((given.sample_bytes - 5.0).abs() < f64::EPSILON);
    assert_eq!(given.fingerprint, prepared.fingerprint);
    assert_eq!(given.empty_files, 2);
}

#[test]
fn a_file_of_many_samples_that_no_layout_reads_is_not_taken_for_one_unsaid() {
    let found = |files: &[(&str, &[u8])], layout| {
        let store = MemoryStore::default();
        for (name, bytes) in files {
            store.put(name, bytes);
        }
        let existing = plan::Existing { layout, ..plan::Existing::any(None) };
        let prepared = prepare_with(&store, &DatasetSpec::Existing(existing), 1).unwrap();
        assert_eq!(
            (prepared.layout, prepared.data.sample_count()),
            (plan::Layout::Files, files.len() as u64)
        );
        prepared.foreign.map(|(key, format)| format!("{key} {}", format.name()))
    };
    let arrow: &[u8] = b"ARROW1\0\0 and its data";
    let files = [("a.jpg", &b"jpeg"[..]), ("b.arrow", arrow), ("c.arrow", arrow)];
    assert_eq!(found(&files, None).as_deref(), Some("b.arrow Arrow"));
    assert_eq!(found(&files[..1], None), None);
    assert_eq!(found(&files, Some(plan::Layout::Files)), None, "who says files knows what they are");
    // Metadata are found wherever they lie, also behind what is looked into.
    let mut chunks: Vec<(String, &[u8])> =
        (0..20).map(|chunk| (format!("a/{chunk}.0"), &b"chunk"[..])).collect();
    chunks.push(("b/.zarray".to_owned(), b"{}"));
    let chunks: Vec<(&str, &[u8])> = chunks.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert_eq!(found(&chunks, None).as_deref(), Some("b/.zarray Zarr v2"));
}

/// As a block device is listed: one object, and a sample is a part of it.
#[test]
fn one_object_may_hold_many_samples() {
    let store = MemoryStore::default();
    store.put("nvme0n1", &[1; 4096]);
    let prepared = prepare_with(&store, &DatasetSpec::Existing(plan::Existing::any(Some(512))), 2).unwrap();
    assert_eq!((keys(&prepared), prepared.data.objects().total_bytes()), (vec!["nvme0n1".to_owned()], 4096));
    assert!((prepared.sample_bytes - 512.0).abs() < f64::EPSILON);
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
    assert!((listed(&store).sample_bytes - 4096.0).abs() < f64::EPSILON, "its mean where nobody says");
}

#[test]
fn bytes_without_storage_are_counted_over_files_that_lack_many() {
    let store = MemoryStore::default();
    for name in ["unknown", "whole", "rounded", "nearly", "half", "nothing"] {
        store.put(name, &[1; 1000]);
    }
    for (name, allocated) in
        [("whole", 1000), ("rounded", 4096), ("nearly", 900), ("half", 500), ("nothing", 0)]
    {
        store.set_allocated(name, allocated);
    }
    let prepared = listed(&store);
    assert_eq!((prepared.unallocated_bytes, prepared.data.objects().count()), (500 + 1000, 6));
    store.set_allocated("nearly", 899);
    assert_eq!(listed(&store).unallocated_bytes, 500 + 1000 + 101);
    let generated = prepare_with(&store, &BESIDE_OTHERS, 2).unwrap();
    assert_eq!(generated.unallocated_bytes, 0);
}

#[test]
fn the_datasets_of_feedline_are_no_part_of_it() {
    let store = MemoryStore::default();
    store.put("mine.bin", b"1");
    let alone = listed(&store);
    prepare_with(&store, &BESIDE_OTHERS, 2).unwrap();
    // Looks like feedline's, but carries no marker.
    store.put("feedline-00000000/000000/000000000.bin", b"22");
    let prepared = listed(&store);
    assert_eq!(keys(&prepared), ["feedline-00000000/000000/000000000.bin", "mine.bin"]);
    assert_ne!(prepared.fingerprint, alone.fingerprint);
    prepare::clean(&store).unwrap();
    assert_eq!(listed(&store).fingerprint, prepared.fingerprint);
    assert!(!store.names().contains(&folder()));
}

#[test]
fn a_folder_without_content_is_an_error() {
    let store = MemoryStore::default();
    store.put("empty", b"");
    let error = prepare_with(&store, &EXISTING, 1).unwrap_err();
    assert!(matches!(error, PrepareError::NoFiles { empty_files: 1 }), "{error}");
}

#[test]
fn a_changed_file_is_found() {
    type Change<'a> = &'a dyn Fn(&MemoryStore);
    let changes: [(Change<'_>, bool); 5] = [
        (&|store| store.put("a", b"other"), true),
        (&|store| store.put("a", b"same"), true),
        (&|store| store.put("a", b""), true),
        (&|store| store.delete("a"), true),
        // What was not there is not read.
        (&|store| store.put("c", b"added"), false),
    ];
    for (change, matters) in changes {
        let store = MemoryStore::default();
        store.put("a", b"text");
        store.put("b", b"text");
        let prepared = listed(&store);
        assert!(!prepare::recheck(&store, &prepared, 4).unwrap());
        change(&store);
        assert_eq!(prepare::recheck(&store, &prepared, 4).unwrap(), matters);
    }
}

fn by(order: &str, layout: Option<plan::Layout>) -> DatasetSpec {
    let order = Some(plan::FileOrder::new("order.txt".to_owned(), order.into()));
    DatasetSpec::Existing(plan::Existing { order, layout, ..plan::Existing::any(None) })
}

#[test]
fn a_list_makes_its_files_the_dataset_and_a_sample_of_each_line() {
    let store = MemoryStore::default();
    for (name, bytes) in [("b/2", 20), ("a", 10), ("b/1/x", 30), ("empty", 0)] {
        store.put(name, &vec![1; bytes]);
    }
    let prepared = prepare_with(&store, &by("./b/2\nb/2\n\na\nb/2\n", None), 2).unwrap();
    assert_eq!(
        (keys(&prepared), prepared.data.objects().total_bytes()),
        (vec!["a".to_owned(), "b/2".to_owned()], 30)
    );
    assert_eq!((prepared.data.sample_count(), prepared.layout), (4, plan::Layout::Files));
    assert!((prepared.sample_bytes - 17.5).abs() < f64::EPSILON, "as often as they are named");
    let cell = plan::Cell {
        access: plan::Access::List,
        task: plan::Task::ReadFile,
        ..plan::Cell::plain(plan::Engine::Null, 4096, 1)
    };
    let order = dataset::Order::of_cell(&prepared.data, &cell).unwrap();
    let read: Vec<(u32, u64)> =
        (0..5).map(|ticket| order.at(ticket)).map(|span| (span.object, span.len)).collect();
    assert_eq!(read, [(1, 20), (1, 20), (0, 10), (1, 20), (1, 20)]);
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
    store.put("b/1/x", &[2; 31]);
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap(), "what is not listed is no part of it");
    let other = prepare_with(&store, &by("b/2\na\nb/2\nb/2\n", None), 2).unwrap();
    assert_eq!(other.fingerprint, prepared.fingerprint, "the same files");
    assert_ne!(other.order_digest, prepared.order_digest, "in another order");
}

#[test]
fn a_list_that_names_what_is_not_there_or_shards_is_refused() {
    let store = MemoryStore::default();
    store.put("a", &[1; 10]);
    store.put("empty", b"");
    for (order, line, name) in [("a\n\nb\n", 3, "b"), ("empty", 1, "empty"), ("a\nx/../a", 2, "x/../a")] {
        let error = prepare_with(&store, &by(order, None), 1).unwrap_err();
        assert!(
            matches!(&error, PrepareError::NotThere { line: at, name: named, .. } if (*at, named.as_str()) == (line, name)),
            "{error}"
        );
    }
    let mut header = [0; 1024];
    header[..5].copy_from_slice(b"a.jpg");
    header[257..262].copy_from_slice(b"ustar");
    store.put("train.tar", &header);
    let error = prepare_with(&store, &by("train.tar", None), 1).unwrap_err();
    assert!(matches!(error, PrepareError::ListOfShards { layout: "webdataset", .. }), "{error}");
    assert!(prepare_with(&store, &by("train.tar", Some(plan::Layout::Files)), 1).is_ok());
    assert!(prepare_with(&store, &by("a", None), 1).is_ok(), "shards that are not listed decide nothing");
}
