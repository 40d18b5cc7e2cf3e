//! The life of a folder of feedline's own, through the seam.

use std::fs;
use std::ops::ControlFlow;

use backend::{Owned, Store, StoreError};
use backend_file::{FileStore, probe_path};
use dataset::{Key, MANIFEST_NAME, MARKER_NAME, Marker};

use crate::confine;
use crate::support::folder;

pub(crate) fn marker() -> Marker {
    Marker { format: 1, note: "made by a test".to_owned(), dataset: "d".to_owned() }
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn write(store: &FileStore, owned: &Owned, name: &str, bytes: &[u8]) {
    let mut writer = store.create(owned, &key(name)).unwrap();
    writer.write(bytes).unwrap();
    writer.finish().unwrap();
}

fn names(store: &FileStore) -> Vec<String> {
    let mut names = Vec::new();
    store
        .list(None, &mut |entry| {
            names.push(entry.key.to_string());
            ControlFlow::Continue(())
        })
        .unwrap();
    names
}

#[test]
fn a_folder_is_made_filled_listed_read_and_removed() {
    let dir = folder();
    let store = FileStore::pread(&dir.path().join("new/root"));
    let owned = store.create_folder(&key("set"), &marker()).unwrap();
    write(&store, &owned, "set/000000/a.bin", b"0123456789");
    // Larger than what is left to the last write-back, and the manifest that triggers it.
    write(&store, &owned, "set/000000/b.bin", &vec![1; 3 << 20]);
    write(&store, &owned, &format!("set/{MANIFEST_NAME}"), b"{}");
    let expected =
        ["set/000000/a.bin", "set/000000/b.bin", "set/feedline-owns-this-folder.json", "set/manifest.json"];
    assert_eq!(names(&store), expected);
    let entry = store.stat(&key("set/000000/b.bin")).unwrap().unwrap();
    assert_eq!(entry.bytes, 3 << 20);
    assert!(entry.modified_ns > 1_600_000_000_000_000_000, "{}", entry.modified_ns);
    assert_eq!(store.stat(&key("set/000000")).unwrap(), None, "a folder is no object");
    assert_eq!(store.stat(&key("set/missing/x")).unwrap(), None);
    let mut buf = [0; 8];
    assert_eq!(store.read_at(&key("set/000000/a.bin"), 6, &mut buf).unwrap(), 4);
    assert_eq!(&buf[..4], b"6789");
    for name in names(&store) {
        store.remove(&owned, &key(&name)).unwrap();
    }
    assert!(store.remove_empty_folder(&owned, &key("set/000000")).unwrap());
    assert!(store.remove_empty_folder(&owned, &key("set")).unwrap());
    assert_eq!(fs::read_dir(dir.path().join("new/root")).unwrap().count(), 0);
}

#[test]
fn a_marker_proves_ownership_and_nothing_else_does() {
    let dir = folder();
    let store = FileStore::uring(dir.path());
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    assert_eq!(Owned::claim(&store, &key("mine")).unwrap(), owned);
    assert_eq!(store.read_marker(&key(&format!("mine/{MARKER_NAME}"))).unwrap(), Some(marker()));
    fs::create_dir_all(dir.path().join("theirs")).unwrap();
    assert!(matches!(Owned::claim(&store, &key("theirs")), Err(StoreError::NotOwned { .. })));
    fs::write(dir.path().join("theirs").join(MARKER_NAME), "not JSON").unwrap();
    assert!(matches!(Owned::claim(&store, &key("theirs")), Err(StoreError::NotOwned { .. })));
    fs::create_dir_all(dir.path().join("folder").join(MARKER_NAME)).unwrap();
    assert!(matches!(Owned::claim(&store, &key("folder")), Err(StoreError::NotOwned { .. })));
}

#[test]
fn nothing_outside_of_the_owned_folder_is_written_or_removed() {
    let dir = folder();
    let store = FileStore::pread(dir.path());
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    fs::write(dir.path().join("precious"), "x").unwrap();
    fs::create_dir(dir.path().join("mine-too")).unwrap();
    let refused =
        |result: Result<(), StoreError>| assert!(matches!(result, Err(StoreError::NotOwned { .. })));
    for name in ["precious", "mine-too/x", "mine"] {
        refused(store.remove(&owned, &key(name)));
        refused(store.create(&owned, &key(name)).map(drop));
    }
    refused(store.remove_empty_folder(&owned, &key("mine-too")).map(drop));
    assert!(dir.path().join("precious").exists() && dir.path().join("mine-too").exists());
}

#[test]
fn a_link_inside_the_owned_folder_leads_nowhere() {
    let dir = folder();
    let store = FileStore::pread(dir.path());
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    fs::create_dir(dir.path().join("theirs")).unwrap();
    fs::write(dir.path().join("theirs/precious"), "x").unwrap();
    std::os::unix::fs::symlink(dir.path().join("theirs"), dir.path().join("mine/link")).unwrap();
    assert!(store.remove(&owned, &key("mine/link/precious")).is_err());
    assert!(store.create(&owned, &key("mine/link/new")).is_err());
    assert_eq!(fs::read_dir(dir.path().join("theirs")).unwrap().count(), 1);
}

#[test]
fn facts_and_limits_describe_the_storage_under_the_root() {
    let dir = folder();
    let store = FileStore::uring(dir.path());
    let facts = store.facts();
    let named: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
    for name in ["file_system", "mount_point", "mount_source", "mount_options"] {
        assert!(named.contains(&name), "{facts:?}");
    }
    let probe = probe_path(dir.path());
    assert_eq!(store.limits().unwrap().direct_align_bytes, probe.direct_align_bytes);
    assert!(store.free_bytes().unwrap().is_some_and(|bytes| bytes > 0));
}

#[test]
fn a_full_disk_is_named_and_leaves_no_half_object() {
    let dir = folder();
    confine::in_own_thread(|| {
        if !confine::mount_small(dir.path(), 1 << 20) {
            eprintln!("skipped: nothing may be mounted here");
            return;
        }
        let store = FileStore::pread(dir.path());
        let owned = store.create_folder(&key("mine"), &marker()).unwrap();
        let mut writer = store.create(&owned, &key("mine/x.bin")).unwrap();
        let block = vec![1; 64 << 10];
        let full = (0..64).find_map(|_| writer.write(&block).err()).unwrap();
        assert!(matches!(full, StoreError::Full { .. }), "{full}");
        drop(writer);
        assert_eq!(names(&store), ["mine/feedline-owns-this-folder.json"]);
        assert_eq!(fs::read_dir(dir.path().join("mine")).unwrap().count(), 1, "not even a temporary name");
        write(&store, &owned, "mine/x.bin", &block);
    });
}
