//! Folders of the user's.

use plan::DatasetSpec;
use prepare::{PrepareError, Prepared};

use crate::memory::MemoryStore;
use crate::{folder, prepare_with};

const EXISTING: DatasetSpec = DatasetSpec::Existing { sample_bytes: None };

fn listed(store: &MemoryStore) -> Prepared {
    let before = store.contents();
    let prepared = prepare_with(store, &EXISTING, 2).unwrap();
    assert_eq!(store.contents(), before, "a folder of the user's is never written");
    prepared
}

fn keys(prepared: &Prepared) -> Vec<String> {
    (0..prepared.objects.count()).map(|object| prepared.objects.key(object).to_string()).collect()
}

#[test]
fn files_are_listed_in_order_and_empty_ones_left_out() {
    let store = MemoryStore::default();
    for (name, bytes) in [("b/2", 20), ("a", 10), ("b/empty", 0), ("b/1/x", 30)] {
        store.put(name, &vec![1; bytes]);
    }
    let prepared = listed(&store);
    assert_eq!(keys(&prepared), ["a", "b/1/x", "b/2"]);
    assert_eq!((prepared.empty_files, prepared.seed, prepared.bytes_written), (1, None, 0));
    assert!((prepared.sample_bytes - 20.0).abs() < f64::EPSILON);
    let given = prepare_with(&store, &DatasetSpec::Existing { sample_bytes: Some(5) }, 1).unwrap();
    assert!((given.sample_bytes - 5.0).abs() < f64::EPSILON);
    assert_eq!(given.fingerprint, prepared.fingerprint);
}

#[test]
fn the_datasets_of_feedline_are_no_part_of_it() {
    let store = MemoryStore::default();
    store.put("mine.bin", b"1");
    let alone = listed(&store);
    crate::prepare(&store).unwrap();
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
    let changes: [&dyn Fn(&MemoryStore); 3] =
        [&|store| store.put("a", b"other"), &|store| store.put("a", b"same"), &|store| store.delete("a")];
    for change in changes {
        let store = MemoryStore::default();
        store.put("a", b"text");
        store.put("b", b"text");
        let prepared = listed(&store);
        assert!(!prepare::recheck(&store, &prepared, 4).unwrap());
        change(&store);
        assert!(prepare::recheck(&store, &prepared, 4).unwrap());
    }
}
