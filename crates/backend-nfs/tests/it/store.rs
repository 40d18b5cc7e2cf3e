//! Listing, writing and removing.

use std::ops::ControlFlow;

use backend::{Owned, Store, StoreError};
use backend_nfs::NfsStore;
use dataset::{Key, MARKER_NAME, Marker};
use nfs3_server::memfs::MemFsConfig;

use crate::memory::{self, Server};

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn marker() -> Marker {
    Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() }
}

pub(crate) fn names(store: &NfsStore, prefix: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    store
        .list(prefix.map(key).as_ref(), &mut |entry| {
            found.push(format!("{}={}", entry.key, entry.bytes));
            ControlFlow::Continue(())
        })
        .unwrap();
    found
}

/// Folders of others.
pub(crate) const FOLDERS: [&str; 4] = ["/a", "/a/b", "/empty", "/.d.feedline-tmp"];

/// Files of others, and what is in them.
pub(crate) const FILES: [(&str, &str); 6] = [
    ("/a.bin", "12"),
    ("/a/z", "1"),
    ("/a/b/c", "123"),
    ("/a0", "12345"),
    ("/b", ""),
    ("/.x.feedline-tmp", "x"),
];

fn theirs() -> Server {
    let mut files = MemFsConfig::default();
    for folder in FOLDERS {
        files.add_dir(folder);
    }
    for (file, content) in FILES {
        files.add_file(file, content.as_bytes());
    }
    Server::start(files, "/")
}

fn write(store: &NfsStore, owned: &Owned, name: &str, parts: &[&[u8]]) -> Result<(), StoreError> {
    let mut writer = store.create(owned, &key(name))?;
    for part in parts {
        writer.write(part)?;
    }
    writer.finish()
}

fn read(store: &NfsStore, name: &str) -> Vec<u8> {
    let mut bytes = vec![0; 8 << 20];
    let length = store.read_at(&key(name), 0, &mut bytes).unwrap();
    bytes.truncate(length);
    bytes
}

#[test]
fn files_come_in_the_order_of_their_full_names_without_unfinished_ones() {
    let server = theirs();
    let store = server.store("/");
    assert_eq!(names(&store, None), ["a.bin=2", "a/b/c=3", "a/z=1", "a0=5", "b=0"]);
    assert_eq!(names(&store, Some("a")), ["a/b/c=3", "a/z=1"]);
    assert!(names(&store, Some("missing/too")).is_empty());
    let folders: Vec<_> = store.folders().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(folders, [".d.feedline-tmp", "a", "empty"]);
}

#[test]
fn a_folder_below_the_export_is_a_target_of_its_own() {
    let server = theirs();
    let store = server.store("/a");
    assert_eq!(names(&store, None), ["b/c=3", "z=1"]);
    assert_eq!(read(&store, "b/c"), b"123");
    assert!(server.store("/a/not/there").folders().unwrap().is_empty());
    assert!(NfsStore::open(&server.config("/a.bin/x")).is_err(), "a file is no folder");
}

#[test]
fn objects_are_looked_at_and_read_at_any_offset() {
    let server = theirs();
    let store = server.store("/");
    let entry = store.stat(&key("a0")).unwrap().unwrap();
    assert_eq!((entry.key, entry.bytes), (key("a0"), 5));
    for missing in ["missing", "a", "a/missing", "a0/x", "missing/x"] {
        assert_eq!(store.stat(&key(missing)).unwrap(), None, "{missing}");
    }
    let mut bytes = [0; 10];
    assert_eq!(store.read_at(&key("a0"), 3, &mut bytes).unwrap(), 2);
    assert_eq!(&bytes[..2], b"45");
    assert_eq!(store.read_at(&key("a0"), 30, &mut bytes).unwrap(), 0);
    let error = store.read_at(&key("missing"), 0, &mut bytes).unwrap_err().to_string();
    assert!(error.contains("nfs://localhost/missing") && error.contains("NFS3ERR_NOENT"), "{error}");
    assert_eq!(store.read_marker(&key("a0")).unwrap(), None);
}

#[test]
fn a_folder_of_ones_own_holds_objects_that_are_never_overwritten() {
    let server = memory::Server::start(MemFsConfig::default(), "/");
    owns_a_folder(&server.store("/not/there/yet"));
}

/// On a store that is empty.
pub(crate) fn owns_a_folder(store: &NfsStore) {
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    assert_eq!(store.read_marker(&key("mine").join(MARKER_NAME).unwrap()).unwrap(), Some(marker()));
    assert!(matches!(store.create_folder(&key("mine"), &marker()), Err(StoreError::Exists { .. })));

    let large: Vec<u8> = (0..3_500_001_u32).map(|number| (number / 7) as u8).collect();
    write(store, &owned, "mine/000/large", &[&large[..5], &large[5..2_000_000], &large[2_000_000..]])
        .unwrap();
    assert!(read(store, "mine/000/large") == large, "the bytes are those that were written");
    write(store, &owned, "mine/000/empty", &[]).unwrap();
    assert_eq!(read(store, "mine/000/empty"), b"");

    assert!(matches!(write(store, &owned, "mine/000/large", &[b"other"]), Err(StoreError::Exists { .. })));
    let mut late = store.create(&owned, &key("mine/late")).unwrap();
    late.write(b"slow").unwrap();
    write(store, &owned, "mine/late", &[b"fast"]).unwrap();
    assert!(matches!(late.finish(), Err(StoreError::Exists { .. })));
    assert_eq!(read(store, "mine/late"), b"fast");
    let mut dropped = store.create(&owned, &key("mine/dropped")).unwrap();
    dropped.write(b"half").unwrap();
    drop(dropped);

    for name in ["mine/000/large", "mine/000/empty", "mine/late"] {
        store.remove(&owned, &key(name)).unwrap();
        store.remove(&owned, &key(name)).unwrap();
    }
    assert!(!store.remove_empty_folder(&owned, &key("mine")).unwrap(), "the marker is in it");
    assert!(store.remove_empty_folder(&owned, &key("mine/000")).unwrap(), "no temporary file was left");
    store.remove(&owned, &key("mine").join(MARKER_NAME).unwrap()).unwrap();
    assert!(store.remove_empty_folder(&owned, &key("mine")).unwrap());
    assert!(store.remove_empty_folder(&owned, &key("mine")).unwrap(), "gone already is gone");
    assert!(store.folders().unwrap().is_empty());
}

#[test]
fn what_is_not_ours_is_neither_written_nor_removed() {
    let server = theirs();
    refuses_what_is_not_ours(&server.store("/"));
}

/// On a store with [`FILES`] and [`FOLDERS`].
pub(crate) fn refuses_what_is_not_ours(store: &NfsStore) {
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    for name in ["a/z", "a.bin", "mine2/x", "mine"] {
        let refused = store.remove(&owned, &key(name)).unwrap_err();
        assert!(matches!(refused, StoreError::NotOwned { .. }), "{name}: {refused}");
        assert!(matches!(store.create(&owned, &key(name)), Err(StoreError::NotOwned { .. })), "{name}");
    }
    assert!(matches!(store.remove_empty_folder(&owned, &key("empty")), Err(StoreError::NotOwned { .. })));
    assert!(matches!(Owned::claim(store, &key("a")), Err(StoreError::NotOwned { .. })));
    assert!(matches!(store.create_folder(&key("a"), &marker()), Err(StoreError::Exists { .. })));
    assert!(matches!(store.create_folder(&key("a0"), &marker()), Err(StoreError::Exists { .. })));
    assert_eq!(names(store, Some("a")), ["a/b/c=3", "a/z=1"]);
}

#[test]
fn threads_write_side_by_side() {
    let server = memory::Server::start(MemFsConfig::default(), "/");
    side_by_side(&server.store("/"));
}

/// Four threads write five files each.
pub(crate) fn side_by_side(store: &NfsStore) {
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let owned = &owned;
            scope.spawn(move || {
                for file in 0..5 {
                    let content = format!("{thread} {file}").repeat(1_000);
                    write(store, owned, &format!("mine/d/{thread}-{file}"), &[content.as_bytes()]).unwrap();
                }
            });
        }
    });
    assert_eq!(names(store, Some("mine/d")).len(), 20);
    assert_eq!(read(store, "mine/d/2-3"), "2 3".repeat(1_000).into_bytes());
}

#[test]
fn facts_name_the_server_and_what_it_allows() {
    let server = theirs();
    let store = server.store("/a");
    let facts = store.facts();
    let fact = |name| facts.iter().find(|(fact, _)| *fact == name).map(|(_, value)| value.as_str());
    assert_eq!((fact("server"), fact("path")), (Some("localhost"), Some("/a")));
    assert_eq!((fact("rtmax_bytes"), fact("wtmax_bytes")), (Some("1048576"), Some("1048576")));
    assert!(fact("source_port").is_some() && fact("credentials").is_some());
    assert_eq!(store.network_interface().as_deref(), Some("lo"));
}
