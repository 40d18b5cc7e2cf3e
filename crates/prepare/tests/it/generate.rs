//! Generated datasets.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Store, StoreError};
use dataset::{Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Marker};
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};
use prepare::PrepareError;

use crate::memory::{Killed, MemoryStore};
use crate::{SPEC, SPEC_BYTES, assert_content, folder, prepare, prepare_with};

#[test]
fn a_dataset_is_written_once_and_reused() {
    let store = MemoryStore::default();
    let first = prepare(&store).unwrap();
    assert_eq!((first.reused, first.bytes_written, first.seed), (false, SPEC_BYTES, Some(7)));
    assert_content(&store, &first);
    let before = store.contents();
    let second = prepare(&store).unwrap();
    assert_eq!((second.reused, second.bytes_written), (true, 0));
    assert_eq!((second.fingerprint, second.objects), (first.fingerprint, first.objects));
    assert_eq!(store.contents(), before);
}

#[test]
fn killed_at_any_call_the_next_preparation_finishes_the_dataset() {
    for calls in 0.. {
        let store = MemoryStore::default();
        let outcome = prepare(&Killed::after(&store, calls));
        let complete = store.samples().len() as u64;
        let again = prepare(&store).unwrap();
        assert_eq!(again.bytes_written, SPEC_BYTES - complete * 1000, "killed after {calls} calls");
        assert_content(&store, &again);
        assert!(prepare(&store).unwrap().reused);
        prepare::clean(&store).unwrap();
        assert_eq!(store.names(), Vec::<String>::new(), "killed after {calls} calls");
        if outcome.is_ok() {
            assert!(calls > 20, "only {calls} calls made");
            return;
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_content() {
    let spec = DatasetSpec::Generate {
        samples: 3,
        sample_bytes: (1 << 20) + 13,
        distribution: Distribution::Fixed,
        files_per_folder: FILES_PER_FOLDER,
        seed: 1,
    };
    let stores = [1, 8].map(|threads| {
        let store = MemoryStore::default();
        let prepared = prepare_with(&store, &spec, threads).unwrap();
        assert_content(&store, &prepared);
        store
    });
    let [one, eight] = stores.map(|store| {
        let samples = store.samples().into_iter();
        samples.map(|name| (store.get(&name), name)).collect::<Vec<_>>()
    });
    assert_eq!(one.len(), 3);
    assert!(one == eight);
}

#[test]
fn progress_ends_at_the_whole_and_counts_what_was_kept() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    store.delete(&format!("{}/{MANIFEST_NAME}", folder()));
    store.delete(&format!("{}/000000/000000003.bin", folder()));
    let seen = Mutex::new(Vec::new());
    let note = |done, total| seen.lock().unwrap().push((done, total));
    let prepared = prepare::prepare(&store, &SPEC, 2, &note, &AtomicBool::new(false)).unwrap();
    assert_eq!(prepared.bytes_written, 1000);
    assert_eq!(seen.into_inner().unwrap(), [(SPEC_BYTES, SPEC_BYTES)]);
}

#[test]
fn asked_to_stop_it_keeps_what_is_complete() {
    let store = MemoryStore::default();
    let stop = AtomicBool::new(false);
    let stop_at_half = |done, total: u64| stop.store(done >= total / 2, Ordering::SeqCst);
    let error = prepare::prepare(&store, &SPEC, 1, &stop_at_half, &stop).unwrap_err();
    assert!(
        matches!(error, PrepareError::Interrupted { done_bytes: 3000, total_bytes: SPEC_BYTES }),
        "{error}"
    );
    assert_eq!(prepare(&store).unwrap().bytes_written, 2000);
}

#[test]
fn too_little_space_is_found_before_anything_is_written() {
    let store = MemoryStore::default();
    store.set_free(5 * (4096 + 512) - 1);
    let error = prepare(&store).unwrap_err();
    let PrepareError::NoSpace { needed_bytes: 23_040, free_bytes: 23_039, .. } = &error else {
        panic!("{error}");
    };
    assert!(error.to_string().contains("23,040 B are needed and 23,039 B are free, 1 B too few"), "{error}");
    assert_eq!(store.names(), Vec::<String>::new());
    store.set_free(5 * (4096 + 512));
    assert!(prepare(&store).is_ok());
}

#[test]
fn space_is_asked_only_for_what_is_missing() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    store.delete(&format!("{}/{MANIFEST_NAME}", folder()));
    store.set_free(0);
    assert!(prepare(&store).is_ok());
}

#[test]
fn a_disk_that_fills_up_is_an_error_and_can_be_gone_on_with() {
    let store = MemoryStore::default();
    store.set_capacity(3_500);
    let error = prepare(&store).unwrap_err();
    assert!(matches!(error, PrepareError::Store(StoreError::Full { .. })), "{error}");
    store.set_capacity(1_000_000);
    let prepared = prepare(&store).unwrap();
    assert!(prepared.bytes_written < SPEC_BYTES);
    assert_content(&store, &prepared);
}

#[test]
fn every_change_since_the_fingerprint_is_found_and_named() {
    type Change<'a> = &'a dyn Fn(&MemoryStore);
    let object = format!("{}/000000/000000003.bin", folder());
    let changes: [(Change<'_>, &str); 4] = [
        (&|store| store.delete(&object), "is gone"),
        (&|store| store.put(&object, b"cut"), "has 3 B instead of 1000 B"),
        (&|store| store.put(&object, &[0; 1000]), "was modified after the dataset was complete"),
        (&|store| store.set_modified(&object, -1), "set back"),
    ];
    for (change, expected) in changes {
        let store = MemoryStore::default();
        let prepared = prepare(&store).unwrap();
        assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
        change(&store);
        assert!(prepare::recheck(&store, &prepared, 2).unwrap());
        let error = prepare(&store).unwrap_err();
        assert!(matches!(error, PrepareError::Changed { .. }));
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains("feedline clean"), "{text}");
        assert!(text.contains("000000003.bin") || expected == "set back", "{text}");
    }
}

#[test]
fn a_damaged_object_of_an_unfinished_dataset_is_written_anew() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    store.delete(&format!("{}/{MANIFEST_NAME}", folder()));
    store.put(&format!("{}/000000/000000001.bin", folder()), b"cut");
    let prepared = prepare(&store).unwrap();
    assert_eq!(prepared.bytes_written, 1000);
    assert_content(&store, &prepared);
}

#[test]
fn a_folder_of_that_name_without_a_marker_is_not_written() {
    let store = MemoryStore::default();
    store.put(&format!("{}/mine.txt", folder()), b"mine");
    let before = store.contents();
    assert!(matches!(prepare(&store).unwrap_err(), PrepareError::NotOwned { .. }));
    assert_eq!(store.contents(), before);
}

#[test]
fn an_empty_folder_left_by_a_killed_removal_is_taken_over() {
    let store = MemoryStore::default();
    store.make_folder(&folder());
    assert_eq!(prepare(&store).unwrap().bytes_written, SPEC_BYTES);
}

#[test]
fn a_folder_of_another_dataset_is_not_written() {
    let store = MemoryStore::default();
    let marker = Marker {
        format: MANIFEST_FORMAT,
        note: String::new(),
        dataset: "9 samples of 9 B, seed 9".to_owned(),
    };
    store.create_folder(&Key::new(folder()).unwrap(), &marker).unwrap();
    let error = prepare(&store).unwrap_err();
    assert!(
        matches!(&error, PrepareError::OtherDataset { found, .. } if *found == marker.dataset),
        "{error}"
    );
}

#[test]
fn a_manifest_that_is_none_any_more_is_a_change() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    let manifest = format!("{}/{MANIFEST_NAME}", folder());
    store.put(&manifest, b"{}");
    assert!(matches!(prepare(&store).unwrap_err(), PrepareError::Changed { .. }));
    let text = r#"{"format":1,"dataset":"","count":4,"bytes":1000,"seed":7,"fingerprint":""}"#;
    store.put(&manifest, text.as_bytes());
    assert!(matches!(prepare(&store).unwrap_err(), PrepareError::OtherDataset { .. }));
}

#[test]
fn two_processes_may_write_the_same_dataset_at_once() {
    for _ in 0..20 {
        let store = MemoryStore::default();
        let (a, b) = std::thread::scope(|scope| {
            let other = scope.spawn(|| prepare(&store).unwrap());
            (prepare(&store).unwrap(), other.join().unwrap())
        });
        assert_eq!(a.fingerprint, b.fingerprint);
        assert_content(&store, &a);
        assert!(prepare(&store).unwrap().reused);
        prepare::clean(&store).unwrap();
        assert_eq!(store.names(), Vec::<String>::new());
    }
}

#[test]
fn the_marker_is_written_before_the_data_and_the_manifest_after_it() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    let modified = |name: &str| {
        let key = Key::new(format!("{}/{name}", folder())).unwrap();
        store.stat(&key).unwrap().unwrap().modified_ns
    };
    let data: Vec<_> = (0..5).map(|object| modified(&format!("000000/{object:09}.bin"))).collect();
    assert!(data.iter().all(|time| (modified(MARKER_NAME)..modified(MANIFEST_NAME)).contains(time)));
}
