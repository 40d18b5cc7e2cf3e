//! Generated datasets.

use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Store, StoreError};
use dataset::{Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Manifest, Marker};
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};
use prepare::PrepareError;

use crate::memory::{Killed, MemoryStore};
use crate::{
    BESIDE_OTHERS, SPEC, SPEC_BYTES, SPREAD, assert_content, folder, objects, prepare, prepare_with,
};

#[test]
fn a_dataset_is_written_once_and_reused() {
    for spec in [SPEC, SPREAD] {
        let objects = objects(&spec);
        let store = MemoryStore::default();
        let first = prepare_with(&store, &spec, 2).unwrap();
        assert_eq!(
            (first.reused, first.bytes_written, first.data.is_checked()),
            (false, objects.total_bytes(), true)
        );
        assert!((first.sample_bytes - objects.mean_bytes()).abs() < f64::EPSILON);
        assert_eq!(**first.data.objects(), objects);
        assert_content(&store, &first);
        let before = store.contents();
        let second = prepare_with(&store, &spec, 2).unwrap();
        assert_eq!((second.reused, second.bytes_written), (true, 0));
        assert_eq!((second.fingerprint, second.data.objects()), (first.fingerprint, first.data.objects()));
        assert_eq!(store.contents(), before);
        assert_eq!(
            store.samples(),
            (0..objects.count()).map(|o| objects.key(o).to_string()).collect::<Vec<_>>()
        );
    }
    assert_eq!(objects(&SPREAD).folders().len(), 3);
}

#[test]
fn a_manifest_states_the_spread_and_the_fan_out() {
    let store = MemoryStore::default();
    prepare_with(&store, &SPREAD, 2).unwrap();
    let name = format!("{}/{MANIFEST_NAME}", prepare::identify(&SPREAD).unwrap());
    let manifest: Manifest = serde_json::from_slice(&store.get(&name).unwrap()).unwrap();
    assert_eq!((manifest.lognormal_stdev_bytes, manifest.files_per_folder), (Some(600), 4));
    for other in [
        Manifest { lognormal_stdev_bytes: None, ..manifest.clone() },
        Manifest { files_per_folder: 5, ..manifest.clone() },
    ] {
        store.put(&name, &serde_json::to_vec(&other).unwrap());
        let error = prepare_with(&store, &SPREAD, 2).unwrap_err();
        assert!(matches!(error, PrepareError::OtherDataset { .. }), "{error}");
    }
}

/// What lies there may be a user's: nothing is written beside it before that was allowed, and nothing of it is taken.
#[test]
fn a_dataset_is_not_written_among_files_of_others_unless_told() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    store.put(".hidden", b"of a file manager");
    prepare_with(&store, &SPREAD, 1).expect("feedline's own datasets are no others'");
    let store = MemoryStore::default();
    for name in ["a/1.jpg", "a/2.jpg", "b.jpg"] {
        store.put(name, b"mine");
    }
    let before = store.contents();
    let words = |error: PrepareError| error.to_string();
    assert!(words(prepare(&store).unwrap_err()).contains("`a/1.jpg`, `a/2.jpg`, `b.jpg`\n"));
    store.put("c/d.jpg", b"mine");
    let refused = words(prepare::check_place(&store, &SPEC).unwrap_err());
    assert!(refused.contains("`a/1.jpg`, `a/2.jpg`, `b.jpg` and more\n"), "{refused}");
    assert_eq!(store.contents().len(), before.len() + 1);
    prepare_with(&store, &BESIDE_OTHERS, 1).unwrap();
    assert!(prepare(&store).unwrap().reused, "it is the same dataset, and is there already");
}

/// As version 0.1 wrote it.
#[test]
fn a_manifest_of_an_earlier_version_is_valid() {
    let store = MemoryStore::default();
    let first = prepare(&store).unwrap();
    let text = format!(
        r#"{{"format":1,"dataset":"5 samples of 1000 B, seed 7","count":5,"bytes":1000,"seed":7,"fingerprint":"{}"}}"#,
        first.fingerprint
    );
    store.put(&format!("{}/{MANIFEST_NAME}", folder()), text.as_bytes());
    assert!(prepare(&store).unwrap().reused);
}

#[test]
fn killed_at_any_call_the_next_preparation_finishes_the_dataset() {
    for spec in [SPEC, SPREAD] {
        killed_at_any_call(&spec);
    }
}

fn killed_at_any_call(spec: &DatasetSpec) {
    let objects = objects(spec);
    for calls in 0.. {
        let store = MemoryStore::default();
        let outcome = prepare_with(&Killed::after(&store, calls), spec, 2);
        let missing =
            (0..objects.count()).filter(|object| store.get(objects.key(*object).as_str()).is_none());
        let missing_bytes: u64 = missing.map(|object| objects.bytes(object)).sum();
        let foretold = prepare::bytes_to_write(&store, spec).unwrap();
        let again = prepare_with(&store, spec, 2).unwrap();
        assert_eq!(
            (foretold, again.bytes_written),
            (missing_bytes, missing_bytes),
            "killed after {calls} calls"
        );
        assert_eq!(prepare::bytes_to_write(&store, spec).unwrap(), 0);
        assert_content(&store, &again);
        assert!(prepare_with(&store, spec, 2).unwrap().reused);
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
    for distribution in [Distribution::Fixed, Distribution::LogNormal { stdev_bytes: 1 << 20 }] {
        let spec = DatasetSpec::Generate(plan::Generate {
            samples: 5,
            sample_bytes: (1 << 20) + 13,
            distribution,
            files_per_folder: FILES_PER_FOLDER,
            seed: 1,
            ..plan::Generate::NONE
        });
        let [one, eight] = [1, 8].map(|threads| {
            let store = MemoryStore::default();
            let prepared = prepare_with(&store, &spec, threads).unwrap();
            assert_content(&store, &prepared);
            let samples = store.samples().into_iter();
            samples.map(|name| (store.get(&name), name)).collect::<Vec<_>>()
        });
        assert_eq!(one.len(), 5);
        assert!(one == eight);
    }
}

#[test]
fn progress_ends_at_the_whole_and_counts_what_was_kept() {
    for spec in [SPEC, SPREAD] {
        let objects = objects(&spec);
        let store = MemoryStore::default();
        prepare_with(&store, &spec, 2).unwrap();
        store.delete(&format!("{}/{MANIFEST_NAME}", prepare::identify(&spec).unwrap()));
        store.delete(objects.key(3).as_str());
        let seen = Mutex::new(Vec::new());
        let note = |done, total| seen.lock().unwrap().push((done, total));
        let prepared = prepare::prepare(&store, &spec, 2, &note, &AtomicBool::new(false)).unwrap();
        assert_eq!(prepared.bytes_written, objects.bytes(3));
        assert_eq!(seen.into_inner().unwrap(), [(objects.total_bytes(), objects.total_bytes())]);
    }
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
fn the_space_that_spread_sizes_take_is_added_up() {
    let spec = DatasetSpec::Generate(plan::Generate {
        samples: 100,
        sample_bytes: 4096,
        distribution: Distribution::LogNormal { stdev_bytes: 2000 },
        files_per_folder: 50,
        seed: 1,
        ..plan::Generate::NONE
    });
    let objects = objects(&spec);
    let disk = |object| 512 + objects.bytes(object).next_multiple_of(4096);
    let expected: u64 = (0..100).map(disk).sum();
    let estimate = spec.disk_bytes() as f64 / expected as f64;
    assert!((0.9..1.1).contains(&estimate), "the plan's estimate is {estimate} of it");
    let store = MemoryStore::default();
    let asked = |store: &MemoryStore| {
        store.set_free(0);
        match prepare_with(store, &spec, 2).unwrap_err() {
            PrepareError::NoSpace { needed_bytes, .. } => needed_bytes,
            other => panic!("{other}"),
        }
    };
    assert_eq!(asked(&store), expected);
    store.set_free(expected);
    prepare_with(&store, &spec, 2).unwrap();
    store.delete(&format!("{}/{MANIFEST_NAME}", prepare::identify(&spec).unwrap()));
    store.delete(objects.key(42).as_str());
    assert_eq!(asked(&store), disk(42));
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
    for spec in [SPEC, SPREAD] {
        let objects = objects(&spec);
        let (object, bytes) = (objects.key(3).to_string(), objects.bytes(3));
        let cut = format!("has 3 B instead of {bytes} B");
        let changes: [(Change<'_>, &str); 4] = [
            (&|store| store.delete(&object), "is gone"),
            (&|store| store.put(&object, b"cut"), &cut),
            (
                &|store| store.put(&object, &vec![0; bytes as usize]),
                "was modified after the dataset was complete",
            ),
            (&|store| store.set_modified(&object, -1), "set back"),
        ];
        for (change, expected) in changes {
            let store = MemoryStore::default();
            let prepared = prepare_with(&store, &spec, 2).unwrap();
            assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
            change(&store);
            assert!(prepare::recheck(&store, &prepared, 2).unwrap());
            let error = prepare_with(&store, &spec, 2).unwrap_err();
            assert!(matches!(error, PrepareError::Changed { .. }));
            let text = error.to_string();
            assert!(text.contains(expected) && text.contains("feedline clean"), "{text}");
            assert!(text.contains("000000003.bin") || expected == "set back", "{text}");
        }
    }
}

#[test]
fn a_damaged_object_of_an_unfinished_dataset_is_written_anew() {
    for spec in [SPEC, SPREAD] {
        let objects = objects(&spec);
        let store = MemoryStore::default();
        prepare_with(&store, &spec, 2).unwrap();
        store.delete(&format!("{}/{MANIFEST_NAME}", prepare::identify(&spec).unwrap()));
        let longer = vec![0; objects.bytes(1) as usize + 1];
        store.put(objects.key(1).as_str(), &longer);
        let prepared = prepare_with(&store, &spec, 2).unwrap();
        assert_eq!(prepared.bytes_written, objects.bytes(1));
        assert_content(&store, &prepared);
    }
}

#[test]
fn a_folder_of_that_name_without_a_marker_is_not_written() {
    let store = MemoryStore::default();
    store.put(&format!("{}/mine.txt", folder()), b"mine");
    let before = store.contents();
    let error = prepare_with(&store, &BESIDE_OTHERS, 2).unwrap_err();
    assert!(matches!(error, PrepareError::NotOwned { .. }), "{error}");
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
    for spec in iter::repeat_n([SPEC, SPREAD], 10).flatten() {
        let store = MemoryStore::default();
        let (a, b) = std::thread::scope(|scope| {
            let other = scope.spawn(|| prepare_with(&store, &spec, 2).unwrap());
            (prepare_with(&store, &spec, 2).unwrap(), other.join().unwrap())
        });
        assert_eq!(a.fingerprint, b.fingerprint);
        assert_content(&store, &a);
        assert!(prepare_with(&store, &spec, 2).unwrap().reused);
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
