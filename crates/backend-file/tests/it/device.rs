//! Block devices: read in every way, written in none.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use backend::conformance::{self, Fixture};
use backend::{CacheAction, Clock, Entry, ErrorKind, Op, Owned, Store, StoreError};
use backend_file::{FileStore, probe_path};
use dataset::{Key, Listed, MARKER_NAME, Objects, payload};
use plan::Cache;
use tempfile::TempDir;

use crate::confine;
use crate::machine::{Loop, Zram, is_root, skip};
use crate::store::marker;
use crate::support::{SEED, Setup, blocks, check, folder, open, write_dataset};

const BYTES: u64 = 4 << 20;

/// Tries to have all of a new device in memory at once.
const WARMINGS: u32 = 20;

/// A device with the content of a generated object, and the file below it; `None`, and a reason, where there can
/// be none.
fn device() -> Option<(Loop, TempDir)> {
    if !is_root() {
        skip("only root can make a loop device");
        return None;
    }
    let dir = folder();
    let mut content = vec![0; BYTES as usize];
    payload::fill(SEED, 0, 0, &mut content);
    fs::write(dir.path().join("disk"), content).unwrap();
    File::open(dir.path().join("disk")).unwrap().sync_all().unwrap();
    match Loop::over(&dir.path().join("disk")) {
        Ok(device) => Some((device, dir)),
        Err(reason) => {
            skip(&reason);
            None
        }
    }
}

fn stores(node: &Path) -> [(&'static str, FileStore); 3] {
    [
        ("io_uring", FileStore::uring_device(node)),
        ("pread", FileStore::pread_device(node)),
        ("mmap", FileStore::mmap_device(node)),
    ]
}

fn listed(store: &FileStore) -> Vec<Entry> {
    let mut entries = Vec::new();
    store
        .list(None, &mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })
        .unwrap();
    entries
}

/// The device's object, `times` over.
fn objects(store: &FileStore, times: usize) -> Arc<Objects> {
    let entry = listed(store).remove(0);
    let mut listed = Listed::default();
    (0..times).for_each(|_| assert!(listed.push(&entry.key, entry.bytes)));
    Arc::new(Objects::Listed(listed))
}

#[test]
fn a_device_is_one_object_of_its_size() {
    let Some((device, dir)) = device() else { return };
    let link = dir.path().join("by-id");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    let name = device.node.file_name().unwrap().to_str().unwrap();
    for (engine, store) in stores(&link) {
        let key = Key::new(name).unwrap();
        let entry = Entry { key: key.clone(), bytes: BYTES, modified_ns: 0, allocated_bytes: None };
        assert_eq!(listed(&store), std::slice::from_ref(&entry), "{engine}");
        assert_eq!(store.stat(&key).unwrap(), Some(entry));
        assert_eq!(store.stat(&Key::new("null").unwrap()).unwrap(), None, "its neighbours are none of it");
        store.list(Some(&key), &mut |_| panic!("nothing is below it")).unwrap();
        assert!(store.folders().unwrap().is_empty());
        let mut tail = [0; 200];
        assert_eq!(store.read_at(&key, BYTES - 100, &mut tail).unwrap(), 100);
        payload::verify(SEED, 0, BYTES - 100, &tail[..100]).unwrap();
        assert_eq!(store.block_device().as_deref(), Some(name));
        assert_eq!(store.free_bytes().unwrap(), None);
        let facts = store.facts();
        assert!(facts.contains(&("device", name.to_owned())), "{facts:?}");
        let file = dir.path().join("disk").canonicalize().unwrap().display().to_string();
        assert!(facts.contains(&("backing_file", file)), "{facts:?}");
    }
}

#[test]
fn every_engine_reads_a_device_as_it_was_written() {
    let Some((device, _dir)) = device() else { return };
    for (engine, store) in stores(&device.node) {
        let objects = objects(&store, 1);
        let limits = store.limits().unwrap();
        assert!(limits.page_cache && limits.direct_align_bytes.is_some(), "{engine}: {limits:?}");
        let caches: &[Cache] = if engine == "mmap" { &[Cache::Warm] } else { &[Cache::Warm, Cache::Bypass] };
        for &cache in caches {
            open(&store, &objects, Setup { cache, ..Setup::default() }).run(&blocks(&objects, 8192), check);
        }
        conformance::run(&Fixture {
            store: Arc::new(store),
            // Twice, since the suite wants two; its content is that of the first object only.
            objects: Arc::new(Objects::clone(&self::objects(&FileStore::pread_device(&device.node), 2))),
            seed: None,
            caches: caches.to_vec(),
            clock: Clock::real(),
            depth: 7,
        });
    }
}

#[test]
fn nothing_is_ever_written_to_a_device() {
    let Some((device, dir)) = device() else { return };
    let elsewhere = FileStore::pread(dir.path());
    let owned = elsewhere.create_folder(&Key::new("mine").unwrap(), &marker()).unwrap();
    let key = Key::new("mine/x").unwrap();
    for (engine, store) in stores(&device.node) {
        let refusals = [
            store.create_folder(owned.folder(), &marker()).map(drop),
            store.create(&owned, &key).map(drop),
            store.remove(&owned, &key),
            store.remove_empty_folder(&owned, owned.folder()).map(drop),
        ];
        for refused in refusals {
            let error = refused.unwrap_err();
            assert!(matches!(error, StoreError::Unsupported { .. }), "{engine}: {error}");
            assert!(error.to_string().starts_with("a block device, which is only ever read, cannot "));
        }
        assert_eq!(store.read_marker(&Key::new(MARKER_NAME).unwrap()).unwrap(), None);
        assert!(matches!(Owned::claim(&store, owned.folder()), Err(StoreError::NotOwned { .. })));
    }
    assert!(dir.path().join("mine").exists());
}

#[test]
fn a_device_that_fails_is_a_counted_error_in_every_engine() {
    let Some((device, dir)) = device() else { return };
    // The device keeps its size and has nothing behind the second half.
    File::options().write(true).open(dir.path().join("disk")).unwrap().set_len(BYTES / 2).unwrap();
    for (engine, store) in stores(&device.node) {
        let objects = objects(&store, 1);
        store.cache(CacheAction::Evict, &objects).unwrap();
        let mut opened = open(&store, &objects, Setup { depth: 1, ..Setup::default() });
        for offset in [BYTES / 2 + (1 << 20), BYTES / 2 + (1 << 20), BYTES - 8192] {
            let error = opened.run_one(Op::Read { object: 0, offset, len: 8192 }).unwrap_err();
            assert_eq!((error.kind, error.code), (ErrorKind::Io, libc::EIO as u32), "{engine}");
            opened.run(&[Op::Read { object: 0, offset: 8192, len: 8192 }], check);
        }
        opened.close();
    }
}

#[test]
fn a_device_is_evicted_warmed_and_seen() {
    let Some((device, _dir)) = device() else { return };
    for (engine, store) in stores(&device.node) {
        let objects = objects(&store, 1);
        let act = |action| store.cache(action, &objects).unwrap().resident_bytes;
        assert_eq!(act(CacheAction::Evict), Some(0), "{engine}");
        assert_eq!(act(CacheAction::Warm), Some(BYTES));
        assert_eq!(act(CacheAction::Inspect), Some(BYTES), "it stays when the one who warmed it is gone");
        open(&store, &objects, Setup::default()).run(&blocks(&objects, 8192), check);
        assert_eq!(act(CacheAction::Evict), Some(0), "{engine}");
    }
}

#[test]
fn probing_a_device_finds_what_it_allows() {
    let Some((device, dir)) = device() else { return };
    let probe = probe_path(&device.node);
    assert!(probe.exists && !probe.directory && !probe.writable && !probe.in_memory, "{probe:?}");
    assert_eq!((probe.block_device_bytes, &probe.problem), (Some(BYTES), &None));
    assert_eq!((probe.file_system.as_str(), probe.free_bytes), ("block device", None));
    assert!(probe.direct_align_bytes.is_some_and(|align| [512, 4096].contains(&align)), "{probe:?}");
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    assert_eq!(probe_path(&link), probe);
    confine::in_own_thread(|| {
        rustix::thread::set_thread_gid(rustix::fs::Gid::from_raw(65_534)).unwrap();
        rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65_534)).unwrap();
        let probe = probe_path(&device.node);
        let problem = probe.problem.unwrap();
        assert!(problem.contains("cannot be read: ") && problem.contains("\n  hint: "), "{problem}");
        assert_eq!((probe.direct_align_bytes, probe.block_device_bytes), (None, None));
    });
}

#[test]
fn evicting_a_device_writes_nothing_back_that_another_changed() {
    let Some((device, _dir)) = device() else { return };
    let store = FileStore::pread_device(&device.node);
    let objects = objects(&store, 1);
    confine::in_own_thread(|| {
        // Each of them would write back the pages of everybody.
        for call in [libc::SYS_fdatasync, libc::SYS_fsync, libc::SYS_sync_file_range, libc::SYS_syncfs] {
            confine::forbid(call, libc::EIO);
        }
        store.cache(CacheAction::Warm, &objects).unwrap();
        assert_eq!(store.cache(CacheAction::Evict, &objects).unwrap().resident_bytes, Some(0));
    });
}

#[test]
fn a_device_in_memory_is_read_directly_in_blocks_of_its_own() {
    confine::in_own_process("device::in_a_process_of_its_own_a_device_in_memory_is_read");
}

#[test]
#[ignore = "closes the open files of its process; run by another test"]
fn in_a_process_of_its_own_a_device_in_memory_is_read() {
    let zram = match Zram::new(64 << 20) {
        Ok(zram) => zram,
        Err(reason) => return skip(&reason),
    };
    assert_eq!(probe_path(&zram.node()).direct_align_bytes, Some(4096));
    let facts = FileStore::pread_device(&zram.node()).facts();
    assert!(facts.contains(&("medium", "memory".to_owned())), "{facts:?}");
    for (engine, store) in stores(&zram.node()) {
        let objects = objects(&store, 1);
        let act = |action| store.cache(action, &objects).unwrap().resident_bytes;
        // The kernel may still be looking for partitions on a device just made, and drops pages as it does.
        let warmed = (0..WARMINGS).find_map(|_| act(CacheAction::Warm).filter(|bytes| *bytes == 64 << 20));
        assert!(warmed.is_some(), "{engine}");
        assert_eq!(act(CacheAction::Evict), Some(0), "{engine}");
        if engine == "mmap" {
            continue;
        }
        let mut opened = open(&store, &objects, Setup { cache: Cache::Bypass, ..Setup::default() });
        opened.run_one(Op::Read { object: 0, offset: 4096, len: 8192 }).unwrap();
        let misaligned = opened.run_one(Op::Read { object: 0, offset: 512, len: 4096 }).unwrap_err();
        assert_eq!(misaligned.code, libc::EINVAL as u32);
        opened.close();
        assert_eq!(act(CacheAction::Inspect), Some(0), "{engine}: direct reads leave nothing behind");
    }
    let store = FileStore::pread_device(&zram.node());
    store.cache(CacheAction::EvictNames, &objects(&store, 1)).unwrap();
    drop(store);
    zram.remove().unwrap();
}

#[test]
fn what_is_no_device_is_refused_in_words() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 10_000);
    let file = dir.path().join(objects.key(0).as_str());
    for (engine, store) in stores(&file) {
        let error = store.list(None, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
        assert!(error.starts_with("cannot look at `"), "{engine}: {error}");
        assert!(store.cache(CacheAction::Inspect, &objects).is_err());
        assert_eq!(store.block_device(), None);
    }
}
