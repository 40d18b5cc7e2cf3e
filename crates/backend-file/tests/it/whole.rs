//! Whole files, looks at names, and lists of folders.

mod faults;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use backend::conformance::{self, Fixture, WholeFiles};
use backend::{CacheAction, Clock, Completion, ErrorKind, Op, Request, Store};
use backend_file::{FileStore, probe_path};
use dataset::{Key, Objects, payload};
use plan::{Cache, Operation, Registered};

use crate::allocation::ALLOCATIONS;
use crate::machine::skip;
use crate::support::{LATER_NS, Opened, SEED, Setup, both, folder, granted, open_for, write_dataset};

/// Not a multiple of any block size: every file has a tail.
const BYTES: u64 = 114_660;

fn open(store: &FileStore, objects: &Arc<Objects>, operation: Operation, setup: Setup) -> Opened {
    open_for(store, objects, operation, setup).unwrap()
}

fn op(objects: &Objects, operation: Operation, object: u32) -> Op {
    match operation {
        Operation::ReadFile => Op::ReadFile { object, bytes: objects.bytes(object) },
        Operation::Stat => Op::Stat { object },
        Operation::List => Op::List { folder: object },
        other => panic!("{other:?} is not done on whole files here"),
    }
}

fn ops(objects: &Objects, operation: Operation) -> Vec<Op> {
    (0..objects.count()).map(|object| op(objects, operation, object)).collect()
}

/// The operation ended well; of a file the last piece is in the buffer.
fn check(asked: Op, completion: &Completion) {
    let Op::ReadFile { object, bytes } = asked else {
        return assert_eq!(completion.result, Ok(0), "{asked:?}");
    };
    assert_eq!(completion.result, Ok(bytes), "{asked:?}");
    check_last_piece(object, bytes, completion.buf.as_slice().len() as u64, completion);
}

/// Of a file that was read in pieces of `block_bytes` the last is in the buffer.
fn check_last_piece(object: u32, bytes: u64, block_bytes: u64, completion: &Completion) {
    let at = (bytes - 1) / block_bytes * block_bytes;
    payload::verify(SEED, object, at, &completion.buf.as_slice()[..(bytes - at) as usize]).unwrap();
}

/// Where an object's file is.
fn path(root: &Path, objects: &Objects, object: u32) -> std::path::PathBuf {
    root.join(objects.key(object).as_str())
}

fn caches(root: &Path) -> Vec<Cache> {
    let probe = probe_path(root);
    let mut caches = vec![Cache::Warm];
    caches.extend(probe.direct_align_bytes.map(|_| Cache::Bypass));
    caches.extend(probe.dontcache.then_some(Cache::DontCache));
    caches
}

#[test]
fn both_engines_conform() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 9, BYTES);
    for (engine, store) in both(dir.path()) {
        let fixture = Fixture {
            store: Arc::new(store),
            objects: Arc::clone(&objects),
            seed: Some(SEED),
            caches: caches(dir.path()),
            clock: Clock::real(),
            depth: 7,
        };
        let all = [Operation::ReadFile, Operation::Stat, Operation::List];
        let operations = if engine == "pread" { &all[..] } else { &all[..2] };
        conformance::run_whole(&WholeFiles { fixture: &fixture, operations, by_name: true });
    }
}

#[test]
fn every_setting_reads_every_file_as_it_was_written() {
    let dir = folder();
    for bytes in [1, 4096, 16_384, BYTES] {
        let root = dir.path().join(bytes.to_string());
        let objects = write_dataset(&root, 20, bytes);
        for cache in caches(&root) {
            for registered in [Registered::Auto, Registered::Off] {
                for (depth, submit_batch) in [(1, 1), (16, 3), (16, 16)] {
                    let setup = Setup {
                        depth,
                        submit_batch,
                        block_bytes: 16_384,
                        cache,
                        registered,
                        ..Setup::default()
                    };
                    for (engine, store) in both(&root) {
                        let mut opened = open(&store, &objects, Operation::ReadFile, setup);
                        opened.run(&ops(&objects, Operation::ReadFile), check);
                        let report = opened.close();
                        assert_eq!((report.opens, report.short_reads), (20, 0), "{engine} {cache:?} {bytes}");
                        assert_eq!(granted(&report, "folders"), "1 of 1 held open");
                    }
                }
            }
        }
    }
}

#[test]
fn a_file_is_read_in_blocks_of_the_size_asked_for_and_not_of_the_buffers() {
    const BLOCK_BYTES: u32 = 100_000;
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 4 << 20);
    for (engine, store) in both(dir.path()) {
        let setup = Setup { depth: 1, submit_batch: 1, block_bytes: BLOCK_BYTES, ..Setup::default() };
        let mut opened = open(&store, &objects, Operation::ReadFile, setup);
        assert!(opened.free[0].as_slice().len() > BLOCK_BYTES as usize);
        opened.run(&ops(&objects, Operation::ReadFile), |op, completion| {
            let Op::ReadFile { object, bytes } = op else { panic!("{op:?}") };
            assert_eq!(completion.result, Ok(bytes), "{engine} {op:?}");
            check_last_piece(object, bytes, u64::from(BLOCK_BYTES), completion);
        });
        // Beside 42 reads of each file one call to open and one to close it, and, with pread, one for its size. In a
        // ring each is a call at a depth of one.
        let others = if engine == "pread" { 3 } else { 2 };
        assert_eq!(opened.close().enters, 2 * (42 + others), "{engine}");
    }
    if !caches(dir.path()).contains(&Cache::Bypass) {
        return skip("the folder of these tests does no direct I/O");
    }
    let setup = Setup { block_bytes: BLOCK_BYTES, cache: Cache::Bypass, ..Setup::default() };
    for (engine, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Operation::ReadFile, setup);
        let error = opened.run_one(op(&objects, Operation::ReadFile, 0)).unwrap_err();
        assert_eq!(error.code, libc::EINVAL as u32, "{engine}: pieces would begin inside blocks");
    }
}

/// What this process has open below a folder, folders included.
fn open_below(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let entries = fs::read_dir("/proc/self/fd").unwrap().flatten();
    entries.filter(|entry| fs::read_link(entry.path()).is_ok_and(|at| at.starts_with(&folder))).count()
}

#[test]
fn folders_are_held_open_for_files_and_none_is_looked_up_before_it_is_listed() {
    let dir = folder();
    let key = Key::new("data").unwrap();
    let objects = Arc::new(Objects::Uniform { folder: key, count: 5, bytes: 1, files_per_folder: 1 });
    for object in 0..5 {
        fs::create_dir_all(path(dir.path(), &objects, object).parent().unwrap()).unwrap();
    }
    let store = FileStore::pread(dir.path());
    for cache in [Cache::Cold, Cache::Bypass] {
        let setup = Setup { cache, ..Setup::default() };
        let mut opened = open(&store, &objects, Operation::List, setup);
        assert_eq!(open_below(dir.path()), 1, "the root");
        assert_eq!(opened.run_one(Op::List { folder: 4 }), Ok(0));
        assert_eq!(open_below(dir.path()), 1, "it was closed again");
        assert_eq!(granted(&opened.close(), "folders"), "each opened from the root when it is listed");
    }
    let opened = open(&store, &objects, Operation::Stat, Setup::default());
    assert_eq!(open_below(dir.path()), 6);
    opened.close();
    assert_eq!(open_below(dir.path()), 0, "nothing stays open for the next queue");
}

#[test]
fn listing_leaves_a_folders_time_of_last_access_as_it_is() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 3, 10);
    let data = path(dir.path(), &objects, 0).parent().unwrap().to_owned();
    // Older than its last change: any update is due.
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_hours(24);
    let accessed = || fs::metadata(&data).unwrap().accessed().unwrap();
    let set =
        || fs::File::open(&data).unwrap().set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
    set();
    assert_eq!(fs::read_dir(&data).unwrap().count(), 3);
    if accessed() == long_ago {
        return skip("the folder of these tests keeps no time of last access");
    }
    set();
    let store = FileStore::pread(dir.path());
    let mut opened = open(&store, &objects, Operation::List, Setup::default());
    assert_eq!(opened.run_one(Op::List { folder: 0 }), Ok(3));
    store.cache(CacheAction::WarmNames, &objects).unwrap();
    assert_eq!(accessed(), long_ago);
}

#[test]
fn phases_are_named_for_whole_files_only() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 100);
    let [uring, pread] = both(dir.path())
        .map(|(_, store)| open(&store, &objects, Operation::ReadFile, Setup::default()).queue.phases());
    assert_eq!(uring, ["open_ns", "read_ns", "close_ns"]);
    assert_eq!(pread, ["open_ns", "stat_ns", "read_ns", "close_ns"]);
    for (engine, store) in both(dir.path()) {
        let stat = open(&store, &objects, Operation::Stat, Setup::default());
        assert!(stat.queue.phases().is_empty(), "{engine}");
    }
}

#[test]
fn a_file_without_bytes_is_opened_and_closed_and_ends_well() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 5000);
    fs::write(path(dir.path(), &objects, 1), "").unwrap();
    for cache in caches(dir.path()) {
        for (engine, store) in both(dir.path()) {
            let setup = Setup { cache, ..Setup::default() };
            let mut opened = open(&store, &objects, Operation::ReadFile, setup);
            let inner = opened.queue.phases().len() - 1;
            opened.run(&[Op::ReadFile { object: 1, bytes: 0 }], |_, completion| {
                assert_eq!(completion.result, Ok(0), "{engine} {cache:?}");
                let reached = completion.stamps.phase_ns.iter().filter(|end_ns| **end_ns > 0).count();
                assert_eq!(reached, inner, "{engine}: {:?}", completion.stamps);
            });
            let error = opened.run_one(Op::ReadFile { object: 1, bytes: 5000 }).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Changed, "{engine} {cache:?}");
        }
    }
}

#[test]
fn more_folders_than_are_held_open_are_found_from_the_root() {
    let dir = folder();
    let key = Key::new("data").unwrap();
    let objects = Objects::Uniform { folder: key, count: 1030, bytes: 300, files_per_folder: 1 };
    for object in 0..objects.count() {
        let file = path(dir.path(), &objects, object);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut content = vec![0; 300];
        payload::fill(SEED, object, 0, &mut content);
        fs::write(file, content).unwrap();
    }
    let objects = Arc::new(objects);
    for registered in [Registered::Auto, Registered::Off] {
        for (engine, store) in both(dir.path()) {
            for operation in [Operation::ReadFile, Operation::Stat] {
                let mut opened = open(&store, &objects, operation, Setup { registered, ..Setup::default() });
                opened.run(&ops(&objects, operation), check);
                let report = opened.close();
                assert_eq!(granted(&report, "folders"), "found from the root for each file", "{engine}");
            }
        }
    }
    // The way to a file leads through no link.
    fs::rename(dir.path().join("data/000007"), dir.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("data/000007")).unwrap();
    for (engine, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Operation::ReadFile, Setup::default());
        let error = opened.run_one(Op::ReadFile { object: 7, bytes: 300 }).unwrap_err();
        assert_eq!(error.code.cast_signed(), libc::ELOOP, "{engine}");
    }
}

#[test]
fn what_is_dropped_after_it_was_read_leaves_no_pages() {
    let dir = folder();
    if !caches(dir.path()).contains(&Cache::DontCache) {
        return skip("this file system does not drop pages after reading");
    }
    let objects = write_dataset(dir.path(), 20, BYTES);
    for (engine, store) in both(dir.path()) {
        for (cache, resident) in [(Cache::DontCache, 0), (Cache::Cold, 20 * BYTES)] {
            assert_eq!(store.cache(CacheAction::Evict, &objects).unwrap().resident_bytes, Some(0));
            let mut opened = open(&store, &objects, Operation::ReadFile, Setup { cache, ..Setup::default() });
            opened.run(&ops(&objects, Operation::ReadFile), check);
            let found = store.cache(CacheAction::Inspect, &objects).unwrap().resident_bytes;
            assert_eq!(found, Some(resident), "{engine} {cache:?}");
        }
    }
}

#[test]
fn registration_is_reported_as_it_was_granted() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, BYTES);
    let store = FileStore::uring(dir.path());
    let cases = [(Registered::Required, "registered"), (Registered::Off, "not registered: not asked for")];
    for (registered, expected) in cases {
        let mut opened =
            open(&store, &objects, Operation::ReadFile, Setup { registered, ..Setup::default() });
        opened.run(&ops(&objects, Operation::ReadFile), check);
        let report = opened.close();
        assert_eq!((granted(&report, "buffers"), granted(&report, "files")), (expected, expected));
    }
}

#[test]
fn what_is_ready_at_every_stage_is_handed_over_in_one_call() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 8, 5000);
    for (submit_batch, calls) in [(8, 3), (100, 3), (4, 6), (1, 24)] {
        let setup = Setup { submit_batch, ..Setup::default() };
        let mut opened = open(&FileStore::uring(dir.path()), &objects, Operation::ReadFile, setup);
        // A stage waits for another thread, and takes a call more, where names are not in memory. Tests beside this one
        // drop those of the whole machine; what is never seen in many rounds is not the queue's own.
        let rounds = (0..50).map(|_| {
            let before = opened.queue.report().enters;
            opened.run(&ops(&objects, Operation::ReadFile), check);
            opened.queue.report().enters - before
        });
        assert_eq!(rounds.min(), Some(calls), "submit batch {submit_batch}");
        opened.close();
    }
}

#[test]
fn whole_files_are_read_without_allocating() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 12, 5000);
    for (engine, store) in both(dir.path()) {
        for operation in [Operation::ReadFile, Operation::Stat] {
            let mut opened = open(&store, &objects, operation, Setup::default());
            let (mut requests, mut done) = (Vec::with_capacity(64), Vec::with_capacity(64));
            let mut before = 0;
            for round in 0..300 {
                if round == 50 {
                    before = ALLOCATIONS.get();
                }
                while let Some(buf) = opened.free.pop() {
                    requests.push(Request { token: 0, op: op(&objects, operation, round % 12), buf });
                }
                opened.queue.submit(&mut requests, &mut done).unwrap();
                let missing = opened.queue.in_flight() as usize;
                opened.queue.wait(missing, LATER_NS, &mut done).unwrap();
                for completion in done.drain(..) {
                    completion.result.unwrap();
                    opened.free.push(completion.buf);
                }
            }
            assert_eq!(ALLOCATIONS.get() - before, 0, "{engine} {operation:?}");
        }
    }
}

/// Writes empty files, all in one folder, and asks every operation of them.
fn one_folder_of(count: u32) {
    let dir = folder();
    let key = Key::new("data").unwrap();
    let objects = Objects::Uniform { folder: key, count, bytes: 1, files_per_folder: count };
    let path = path(dir.path(), &objects, 0);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for object in 0..count {
        fs::File::create(path.with_file_name(format!("{object:09}.bin"))).unwrap();
    }
    let objects = Arc::new(objects);
    for (engine, store) in both(dir.path()) {
        let setup = Setup { depth: 32, submit_batch: 32, ..Setup::default() };
        let mut opened = open(&store, &objects, Operation::ReadFile, setup);
        let files: Vec<Op> = (0..count).map(|object| Op::ReadFile { object, bytes: 0 }).collect();
        opened.run(&files, |op, completion| assert_eq!(completion.result, Ok(0), "{engine} {op:?}"));
        assert_eq!(opened.close().opens, u64::from(count), "{engine}");
        let mut opened = open(&store, &objects, Operation::Stat, setup);
        let mut changed = 0;
        opened.run(&ops(&objects, Operation::Stat), |_, completion| {
            changed += u32::from(completion.result.is_err_and(|error| error.kind == ErrorKind::Changed));
        });
        assert_eq!(changed, count, "{engine}: the plan knows of one byte");
        opened.close();
    }
    let mut opened = open(&FileStore::pread(dir.path()), &objects, Operation::List, Setup::default());
    assert_eq!(opened.run_one(Op::List { folder: 0 }), Ok(u64::from(count)));
}

#[test]
fn a_folder_of_twenty_thousand_files_is_opened_looked_at_and_listed() {
    one_folder_of(20_000);
}

#[test]
#[ignore = "makes a million files; for a nightly run"]
fn a_folder_of_a_million_files_is_opened_looked_at_and_listed() {
    one_folder_of(1_000_000);
}
