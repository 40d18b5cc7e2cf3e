//! The page cache of real files.

use std::sync::Arc;

use backend::{CacheAction, Residency, Store};
use backend_file::FileStore;
use dataset::Objects;

use crate::support::{folder, write_dataset};

fn act(store: &FileStore, action: CacheAction, objects: &Arc<Objects>) -> Residency {
    store.cache(action, objects).unwrap()
}

#[test]
fn what_is_written_can_be_evicted_warmed_and_seen() {
    let dir = folder();
    let store = FileStore::pread(dir.path());
    if !store.limits().unwrap().page_cache {
        eprintln!("skipped: {} is memory", dir.path().display());
        return;
    }
    // Few files are written back one by one, many by one call.
    for count in [3, 100] {
        let root = dir.path().join(count.to_string());
        let objects = write_dataset(&root, count, 50_000);
        let store = FileStore::uring(&root);
        let total = objects.total_bytes();
        let written = act(&store, CacheAction::Inspect, &objects);
        assert_eq!((written.resident_bytes, written.total_bytes), (Some(total), total));
        assert!(["cachestat", "mincore"].contains(&written.method), "{}", written.method);
        // Dirty pages are written back first, or they would stay.
        assert_eq!(act(&store, CacheAction::Evict, &objects).resident_bytes, Some(0), "{count} files");
        assert_eq!(act(&store, CacheAction::Inspect, &objects).resident_bytes, Some(0));
        assert_eq!(act(&store, CacheAction::Warm, &objects).resident_bytes, Some(total));
    }
}

#[test]
fn an_object_that_is_gone_is_named() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 10_000);
    std::fs::remove_file(dir.path().join(objects.key(1).as_str())).unwrap();
    let error = FileStore::pread(dir.path()).cache(CacheAction::Evict, &objects).unwrap_err().to_string();
    assert!(error.starts_with("cannot evict `") && error.contains("000000001.bin"), "{error}");
}
