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
