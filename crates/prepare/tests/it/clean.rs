//! Removal of what feedline wrote, and of nothing else.

use dataset::{MANIFEST_NAME, MARKER_NAME};
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};
use prepare::{CleanError, Cleaned};

use crate::memory::{Killed, MemoryStore};
use crate::{SPEC, SPEC_BYTES, SPREAD, folder, prepare, prepare_with};

#[test]
fn every_dataset_goes_and_the_rest_stays() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    let other = DatasetSpec::Generate(plan::Generate {
        samples: 1001,
        sample_bytes: 3,
        distribution: Distribution::Fixed,
        files_per_folder: FILES_PER_FOLDER,
        seed: 1,
        ..plan::Generate::NONE
    });
    prepare_with(&store, &other, 4).unwrap();
    prepare_with(&store, &SPREAD, 4).unwrap();
    store.put("mine/data.bin", b"mine");
    let contents = store.contents();
    let before: usize = contents.values().map(Vec::len).sum();
    let found = prepare::find(&store).unwrap();
    assert_eq!(store.contents(), contents, "a look removes nothing");
    let cleaned = prepare::clean(&store).unwrap();
    let amounts = found.iter().map(|(_, inside)| [inside.folders, inside.files, inside.bytes]);
    let sums = amounts.fold([0; 3], |sums, of| [0, 1, 2].map(|index| sums[index] + of[index]));
    assert_eq!(sums, [cleaned.folders, cleaned.files, cleaned.bytes]);
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left), (3, 5 + 1001 + 9 + 3 * 2, vec![]));
    assert_eq!(cleaned.bytes, before as u64 - 4);
    assert!(cleaned.bytes > SPEC_BYTES);
    assert_eq!(store.names(), ["mine/data.bin", "mine"]);
    assert_eq!(prepare::clean(&store).unwrap(), Cleaned::default());
}

#[test]
fn files_of_others_in_a_folder_of_feedlines_stay_and_are_listed() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    let foreign = ["000000/notes.txt", "000000/000000005.bin", "mine/000000000.bin", "readme"]
        .map(|name| format!("{}/{name}", folder()));
    for name in &foreign {
        store.put(name, b"mine");
    }
    let mut cleaned = prepare::clean(&store).unwrap();
    cleaned.left.sort();
    let mut expected = foreign.to_vec();
    expected.sort();
    assert_eq!((cleaned.folders, cleaned.files, &cleaned.left), (0, 7, &expected));
    assert_eq!(store.contents().into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn a_name_of_another_fan_out_is_not_feedlines() {
    let store = MemoryStore::default();
    prepare_with(&store, &SPREAD, 2).unwrap();
    let folder = prepare::identify(&SPREAD).unwrap();
    // Object 5 lies in folder 1 when four go into each.
    let foreign = ["000000/000000005.bin", "000002/000000009.bin"].map(|name| format!("{folder}/{name}"));
    for name in &foreign {
        store.put(name, b"mine");
    }
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left), (0, 9 + 2, foreign.to_vec()));
    assert_eq!(store.contents().into_keys().collect::<Vec<_>>(), foreign);
}

#[test]
fn a_folder_without_the_marker_is_never_touched() {
    let store = MemoryStore::default();
    prepare(&store).unwrap();
    store.delete(&format!("{}/{MARKER_NAME}", folder()));
    store.put("deeper/feedline-00000000/feedline-owns-this-folder.json", b"{}");
    store.put(&format!("forged/{MARKER_NAME}"), b"not a marker");
    store.put("forged/000000/000000000.bin", b"mine");
    let before = store.contents();
    assert_eq!(prepare::clean(&store).unwrap(), Cleaned::default());
    assert_eq!(store.contents(), before);
}

#[test]
fn a_cache_tier_goes_and_what_others_put_there_stays() {
    let dir = tempfile::tempdir().unwrap();
    let tier = dir.path().join("feedline-cache-tier");
    std::fs::create_dir(&tier).unwrap();
    let marker = dataset::Marker {
        format: dataset::MANIFEST_FORMAT,
        note: String::new(),
        dataset: dataset::TIER_DATASET.to_owned(),
    };
    std::fs::write(tier.join(dataset::MARKER_NAME), serde_json::to_vec(&marker).unwrap()).unwrap();
    std::fs::write(tier.join(dataset::TIER_BLOCKS), [0; 4_096]).unwrap();
    std::fs::write(tier.join("mine"), "x").unwrap();
    let cleaned = prepare::clean(&backend_file::FileStore::pread(dir.path())).unwrap();
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left.len()), (0, 2, 1));
    assert!(tier.join("mine").exists() && !tier.join(dataset::TIER_BLOCKS).exists());
}

#[test]
fn a_folder_of_a_later_version_is_left_and_listed() {
    let store = MemoryStore::default();
    store.put(
        &format!("later/{MARKER_NAME}"),
        br#"{"format":2,"note":"","dataset":"1 samples of 1 B, seed 1"}"#,
    );
    store.put("later/000000/000000000.bin", b"x");
    let before = store.contents();
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.files, cleaned.left.len()), (0, 1));
    assert_eq!(store.contents(), before);
}

#[test]
fn killed_at_any_call_removal_can_be_repeated_and_the_dataset_prepared_again() {
    for spec in [SPEC, SPREAD] {
        killed_at_any_call(&spec);
    }
}

fn killed_at_any_call(spec: &DatasetSpec) {
    for calls in 0.. {
        let [repeated, prepared] = [MemoryStore::default(), MemoryStore::default()];
        let outcomes = [&repeated, &prepared].map(|store| {
            prepare_with(store, spec, 2).unwrap();
            prepare::clean(&Killed::after(store, calls))
        });
        let is_error = |outcome: &Result<_, _>| {
            matches!(outcome, Err(CleanError::Search(_) | CleanError::Remove { .. }))
        };
        prepare::clean(&repeated).unwrap();
        assert!(repeated.contents().is_empty(), "killed after {calls} calls");
        let manifest = format!("{}/{MANIFEST_NAME}", prepare::identify(spec).unwrap());
        let complete = prepared.get(&manifest).is_some();
        assert_eq!(prepare_with(&prepared, spec, 2).unwrap().reused, complete, "killed after {calls} calls");
        if outcomes.iter().all(Result::is_ok) {
            assert!(calls > 10, "only {calls} calls made");
            assert!(repeated.names().is_empty());
            return;
        }
        assert!(outcomes.iter().all(is_error));
    }
}

#[test]
fn a_copy_of_a_dataset_goes_by_its_exact_names() {
    let store = MemoryStore::default();
    let names = dataset::CopyNames::new(1_001, ".tar").unwrap();
    let folder = dataset::Key::new("feedline-copy-0001").unwrap();
    let marker =
        dataset::Marker { format: dataset::MANIFEST_FORMAT, note: String::new(), dataset: names.to_string() };
    let owned = backend::Store::create_folder(&store, &folder, &marker).unwrap();
    for object in [0, 1_000] {
        let mut writer = backend::Store::create(&store, &owned, &names.key(&folder, object)).unwrap();
        writer.write(b"shard").unwrap();
        writer.finish().unwrap();
    }
    let foreign = ["000000/000000001.bin", "000001/000001001.tar"].map(|name| format!("{folder}/{name}"));
    for name in &foreign {
        store.put(name, b"mine");
    }
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.files, cleaned.bytes >= 10, &cleaned.left), (3, true, &foreign.to_vec()));
    assert_eq!(store.contents().into_keys().collect::<Vec<_>>(), foreign);
}
