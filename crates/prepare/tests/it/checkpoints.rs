//! Folders for checkpoints.

use backend::Store;
use plan::Checkpoint;
use prepare::{CheckpointFolder, PrepareError};

use crate::memory::MemoryStore;

fn plan() -> Checkpoint {
    Checkpoint {
        label: "made up".to_owned(),
        files: 3,
        file_bytes: 10,
        to: 0,
        durable: true,
        keep: 2,
        block_bytes: 4_096,
    }
}

fn write(store: &MemoryStore, folder: &CheckpointFolder, object: u32) {
    let mut writer = store.create(&folder.owned, &folder.objects.key(object)).unwrap();
    writer.write(&[1; 10]).unwrap();
    writer.finish().unwrap();
}

#[test]
fn what_a_run_left_is_removed_with_its_folder_and_the_rest_stays() {
    let store = MemoryStore::default();
    store.put("mine/data.bin", b"mine");
    let folder = CheckpointFolder::create(&store, &plan(), 1).unwrap();
    assert_eq!((folder.objects.count(), folder.objects.bytes(8)), (9, 10));
    (0..5).for_each(|object| write(&store, &folder, object));
    folder.remove(&store).unwrap();
    assert_eq!(store.names(), ["mine/data.bin", "mine"]);
}

#[test]
fn clean_knows_what_a_killed_run_left() {
    let store = MemoryStore::default();
    let folder = CheckpointFolder::create(&store, &plan(), 1).unwrap();
    for object in [0, 1, 8] {
        write(&store, &folder, object);
    }
    let foreign = format!("{}/000003/000000009.bin", folder.owned.folder());
    store.put(&foreign, b"mine");
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.files, cleaned.folders), (4, 0), "the marker and three files");
    assert_eq!(cleaned.left, [foreign], "a fourth checkpoint is none of feedline's");
}

#[test]
fn two_runs_have_folders_of_their_own() {
    let store = MemoryStore::default();
    let [first, second] = [1, 2].map(|seed| CheckpointFolder::create(&store, &plan(), seed).unwrap());
    assert_ne!(first.owned.folder(), second.owned.folder());
    assert!(CheckpointFolder::create(&store, &plan(), 1).is_err(), "the folder is another run's");
}

#[test]
fn without_room_for_all_that_lie_there_at_once_nothing_is_written() {
    let store = MemoryStore::default();
    store.set_free(plan().disk_bytes() - 1);
    let error = CheckpointFolder::create(&store, &plan(), 1).unwrap_err();
    assert!(matches!(error, PrepareError::NoRoom { checkpoints: 3, .. }), "{error}");
    assert!(store.names().is_empty());
    store.set_free(plan().disk_bytes());
    assert!(CheckpointFolder::create(&store, &plan(), 1).is_ok());
}
