//! What a queue does when all is well.

use std::path::PathBuf;
use std::sync::Arc;

use backend::conformance::{self, Fixture};
use backend::{Clock, Op, Request};
use backend_file::{FileStore, probe_path};
use dataset::Objects;
use plan::{Cache, Registered};
use rustix::process::{Resource, getrlimit};

use crate::support::{
    LATER_NS, SEED, Setup, blocks, both, check, folder, granted, open, open_for, write_dataset,
};

/// Not a multiple of any block size: every object has a tail.
const BYTES: u64 = 114_660;

/// The cache treatments that the disk under test supports.
fn caches(root: &std::path::Path) -> Vec<Cache> {
    match probe_path(root).direct_align_bytes {
        Some(_) => vec![Cache::Warm, Cache::Bypass],
        None => vec![Cache::Warm],
    }
}

#[test]
fn both_engines_pass_the_conformance_suite() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 3, BYTES);
    for (_, store) in both(dir.path()) {
        conformance::run(&Fixture {
            store: Arc::new(store),
            objects: Arc::clone(&objects),
            seed: Some(SEED),
            caches: caches(dir.path()),
            clock: Clock::real(),
            depth: 7,
        });
    }
}

#[test]
fn both_engines_write_over_what_is_their_own() {
    let (one, other) = (folder(), folder());
    let stores = [FileStore::uring(one.path()), FileStore::pread(other.path())];
    for (store, dir) in stores.into_iter().zip([&one, &other]) {
        conformance::run_writes(&Fixture {
            store: Arc::new(store),
            objects: Arc::new(Objects::uniform(dataset::Key::new("none").unwrap(), 2, BYTES)),
            seed: None,
            caches: caches(dir.path()),
            clock: Clock::real(),
            depth: 7,
        });
    }
}

#[test]
fn files_and_names_are_made_anew_by_blocking_calls_and_by_no_other_engine() {
    let dir = folder();
    let fixture = Fixture {
        store: Arc::new(FileStore::pread(dir.path())),
        objects: Arc::new(Objects::uniform(dataset::Key::new("none").unwrap(), 2, BYTES)),
        seed: None,
        caches: caches(dir.path()),
        clock: Clock::real(),
        depth: 7,
    };
    conformance::run_write_files(&fixture);
    conformance::run_names(&fixture);
    assert_eq!(conformance::unfinished_below(dir.path()), Vec::<PathBuf>::new(), "what no listing shows");
    let objects = write_dataset(dir.path(), 2, BYTES);
    for store in [FileStore::uring(dir.path()), FileStore::mmap(dir.path())] {
        for operation in [plan::Operation::WriteFile, plan::Operation::Names] {
            let refused = open_for(&store, &objects, operation, Setup::default()).map(drop);
            assert!(refused.is_err(), "it is not what this engine is for");
        }
    }
}

#[test]
fn every_setting_reads_every_block_as_it_was_written() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 5, BYTES);
    for cache in caches(dir.path()) {
        for registered in [Registered::Auto, Registered::Off] {
            for (depth, submit_batch) in [(1, 1), (16, 2), (16, 16)] {
                let setup =
                    Setup { depth, submit_batch, block_bytes: 16_384, cache, registered, ..Setup::default() };
                for (engine, store) in both(dir.path()) {
                    let mut opened = open(&store, &objects, setup);
                    opened.run(&blocks(&objects, 16_384), check);
                    let report = opened.close();
                    assert_eq!(report.short_reads, 0, "a tail is no short read: {engine} {cache:?}");
                    assert_eq!(report.opens, 0, "{engine}: all were open");
                    assert!(report.enters > 0);
                }
            }
        }
    }
}

#[test]
fn a_batch_is_handed_over_in_calls_of_at_most_the_submit_batch() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    let store = FileStore::uring(dir.path());
    for (submit_batch, calls) in [(2, 4), (3, 3), (8, 1), (100, 1)] {
        let mut opened = open(&store, &objects, Setup { submit_batch, ..Setup::default() });
        let mut requests: Vec<Request> = (0..8)
            .map(|token| {
                let op = Op::Read { object: 0, offset: u64::from(token) * 8192, len: 8192 };
                Request { token, op, buf: opened.free.pop().unwrap() }
            })
            .collect();
        let mut done = Vec::new();
        opened.queue.submit(&mut requests, &mut done).unwrap();
        assert_eq!(opened.queue.report().enters, 0, "submitting alone enters nothing");
        opened.queue.wait(0, 0, &mut done).unwrap();
        assert_eq!(opened.queue.report().enters, calls, "submit batch {submit_batch}");
        opened.queue.wait(8 - done.len(), LATER_NS, &mut done).unwrap();
        assert_eq!(done.len(), 8);
    }
}

#[test]
fn looking_is_enough_to_see_what_has_completed() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, BYTES);
    for cache in caches(dir.path()) {
        for (engine, store) in both(dir.path()) {
            let mut opened = open(&store, &objects, Setup { cache, ..Setup::default() });
            let op = Op::Read { object: 1, offset: 8192, len: 8192 };
            let mut requests = vec![Request { token: 5, op, buf: opened.free.pop().unwrap() }];
            let mut done = Vec::new();
            opened.queue.submit(&mut requests, &mut done).unwrap();
            while done.is_empty() {
                opened.queue.wait(0, 0, &mut done).unwrap();
                assert!(opened.clock.now_ns() < LATER_NS, "{engine} never shows it");
            }
            check(op, &done[0]);
        }
    }
}

#[test]
fn a_wait_ends_at_its_deadline_when_nothing_completes() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    for (_, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Setup::default());
        let mut done = Vec::new();
        let until_ns = opened.clock.now_ns() + 5_000_000;
        opened.queue.wait(1, until_ns, &mut done).unwrap();
        assert!(opened.clock.now_ns() >= until_ns, "time passes in a wait");
        opened.queue.wait(1, u64::MAX, &mut done).unwrap();
        assert!(done.is_empty(), "a wait that nothing can end is not begun");
    }
}

#[test]
fn a_deadline_ends_a_wait_for_more_than_is_outstanding() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    let mut opened = open(&FileStore::uring(dir.path()), &objects, Setup::default());
    let op = Op::Read { object: 0, offset: 0, len: 100 };
    let mut requests = vec![Request { token: 0, op, buf: opened.free.pop().unwrap() }];
    let mut done = Vec::new();
    opened.queue.submit(&mut requests, &mut done).unwrap();
    // On a busy machine it may take more than one wait until it has completed.
    while done.is_empty() {
        let until_ns = opened.clock.now_ns() + 5_000_000;
        opened.queue.wait(2, until_ns, &mut done).unwrap();
        assert!(opened.clock.now_ns() >= until_ns);
    }
    assert_eq!((done.len(), opened.queue.in_flight()), (1, 0));
}

#[test]
fn more_files_than_may_be_open_are_read_through_those_used_last() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 40, 5000);
    let mut there_and_back = blocks(&objects, 8192);
    there_and_back.extend(blocks(&objects, 8192).into_iter().rev());
    for cache in caches(dir.path()) {
        for depth in [1, 8] {
            for (engine, store) in both(dir.path()) {
                let store = store.with_open_files_max(9);
                let mut opened = open(&store, &objects, Setup { depth, cache, ..Setup::default() });
                opened.run(&there_and_back, check);
                let report = opened.close();
                assert_eq!(granted(&report, "open_files"), "the 9 of 40 used last", "{engine}");
                // One after the other, the nine files read last on the way there are open on the way back.
                let expected = if depth == 1 { 71..=71 } else { 71..=80 };
                assert!(expected.contains(&report.opens), "{engine} {depth}: {} opened", report.opens);
            }
        }
    }
}

#[test]
fn threads_share_the_files_that_one_of_them_opened() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 30, 5000);
    for (engine, store) in both(dir.path()) {
        let store = store.with_open_files_max(16);
        let opens: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut opened = open(&store, &objects, Setup { depth: 4, ..Setup::default() });
                        // Few files, again and again: they fit.
                        let ops = blocks(&objects, 8192);
                        (0..20).for_each(|_| opened.run(&ops[..10], check));
                        opened.close().opens
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        // Two threads may open the same file at the same moment; more than that would be no sharing.
        assert!((10..=40).contains(&opens), "{engine}: {opens} files opened for 800 reads");
    }
}

#[test]
fn every_file_that_may_be_open_is_opened_ahead() {
    // More than one thread opens, and not the same number each.
    const FILES: u32 = 9_001;
    if getrlimit(Resource::Nofile).maximum.is_some_and(|files| files < 2 * u64::from(FILES)) {
        eprintln!("skipped: this process may not open {FILES} files");
        return;
    }
    let dir = folder();
    let objects = write_dataset(dir.path(), FILES, 60);
    for (engine, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Setup::default());
        opened.run(&blocks(&objects, 8192), check);
        let report = opened.close();
        assert_eq!(report.opens, 0, "{engine}");
        assert_eq!(granted(&report, "open_files"), "all 9001, opened ahead", "{engine}");
        assert!(matches!(granted(&report, "files"), "registered" | ""), "{engine}: {report:?}");
    }
}

#[test]
fn files_stay_open_from_one_queue_to_the_next_of_either_engine() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 3, BYTES);
    open(&FileStore::uring(dir.path()), &objects, Setup::default()).close();
    std::fs::remove_dir_all(dir.path().join("data")).unwrap();
    for (engine, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Setup::default());
        opened.run(&blocks(&objects, 8192), check);
        assert_eq!(opened.close().opens, 0, "{engine}");
    }
    let others = Arc::new(Objects::clone(&objects));
    let report = open(&FileStore::pread(dir.path()), &others, Setup::default()).close();
    assert_eq!(granted(&report, "open_files"), "0 of 3, opened ahead; the others failed to open");
}

#[test]
fn registration_is_reported_as_it_was_granted() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, BYTES);
    let store = FileStore::uring(dir.path());
    let cases = [(Registered::Required, "registered"), (Registered::Off, "not registered: not asked for")];
    for (registered, expected) in cases {
        let mut opened = open(&store, &objects, Setup { registered, ..Setup::default() });
        opened.run(&blocks(&objects, 8192), check);
        let report = opened.close();
        assert_eq!((granted(&report, "buffers"), granted(&report, "files")), (expected, expected));
    }
}

#[test]
fn a_misaligned_direct_read_is_an_error_and_not_a_buffered_read() {
    let dir = folder();
    if probe_path(dir.path()).direct_align_bytes.is_none() {
        eprintln!("skipped: no direct I/O at {}", dir.path().display());
        return;
    }
    let objects = write_dataset(dir.path(), 1, BYTES);
    for (engine, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Setup { cache: Cache::Bypass, ..Setup::default() });
        let error = opened.run_one(Op::Read { object: 0, offset: 100, len: 512 }).unwrap_err();
        assert_eq!(error.code, libc::EINVAL as u32, "{engine}");
        let too_long = Op::Read { object: 0, offset: 0, len: 8193 };
        assert!(opened.run_one(too_long).is_err(), "{engine}: more than a buffer holds");
    }
}
