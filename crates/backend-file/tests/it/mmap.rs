//! Memory maps: what they read, and what happens when a file goes away under one.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use backend::conformance::{self, Fixture};
use backend::{CacheAction, Clock, ErrorKind, Op, Store, StoreError};
use backend_file::{FileStore, probe_path};
use dataset::{Key, Objects, payload};
use plan::{Advice, Cache};
use rustix::process::Resource;

use crate::confine;
use crate::machine::skip;
use crate::support::{Opened, SEED, Setup, blocks, check, folder, granted, open, try_open, write_dataset};

/// Not a multiple of any block size: every object has a tail.
const BYTES: u64 = 114_660;

const ADVICES: [Advice; 4] = [Advice::Normal, Advice::Random, Advice::Sequential, Advice::WillNeed];

fn open_advised(store: &FileStore, objects: &Arc<Objects>, advice: Advice) -> Opened {
    open(store, objects, Setup { depth: 1, submit_batch: 1, block_bytes: 16_384, advice, ..Setup::default() })
}

fn cut(path: &Path, bytes: u64) {
    File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

fn path_of(root: &Path, objects: &Objects, object: u32) -> PathBuf {
    root.join(objects.key(object).as_str())
}

#[test]
fn memory_maps_pass_the_conformance_suite() {
    let dir = folder();
    conformance::run(&Fixture {
        store: Arc::new(FileStore::mmap(dir.path())),
        objects: write_dataset(dir.path(), 3, BYTES),
        seed: Some(SEED),
        caches: vec![Cache::Warm, Cache::Cold],
        clock: Clock::real(),
        depth: 7,
    });
}

#[test]
fn every_advice_reads_every_block_as_it_was_written_and_is_reported() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 5, BYTES);
    let store = FileStore::mmap(dir.path());
    let ops = blocks(&objects, 16_384);
    for advice in ADVICES {
        store.cache(CacheAction::Evict, &objects).unwrap();
        let mut opened = open_advised(&store, &objects, advice);
        opened.run(&ops, check);
        let report = opened.close();
        assert_eq!(granted(&report, "advice"), advice.name());
        assert_eq!(granted(&report, "maps"), "all 5, mapped ahead");
        assert_eq!((report.opens, report.short_reads), (0, 0), "{advice:?}");
        let calls = if advice == Advice::WillNeed { ops.len() as u64 } else { 0 };
        assert_eq!(report.enters, calls, "{advice:?}");
    }
}

#[test]
fn a_file_cut_under_its_map_fails_the_reads_beyond_the_cut_and_no_others() {
    for advice in ADVICES {
        let dir = folder();
        let objects = write_dataset(dir.path(), 2, BYTES);
        let mut opened = open_advised(&FileStore::mmap(dir.path()), &objects, advice);
        opened.run(&blocks(&objects, 8192), check);
        cut(&path_of(dir.path(), &objects, 0), 20_000);
        for (offset, len) in [(40_960, 8192), (16_384, 16_384), (106_496, 8164), (40_960, 100)] {
            let error = opened.run_one(Op::Read { object: 0, offset, len }).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Eof, "{advice:?}: {offset}");
            opened.run(&[Op::Read { object: 0, offset: 8192, len: 8192 }], check);
            opened.run(&[Op::Read { object: 1, offset, len }], check);
        }
        let mut whole = vec![0; BYTES as usize];
        payload::fill(SEED, 0, 0, &mut whole);
        fs::write(path_of(dir.path(), &objects, 0), whole).unwrap();
        opened.run_one(Op::Read { object: 0, offset: 40_960, len: 8192 }).unwrap_err();
        opened.run(&blocks(&objects, 8192), check);
        assert_eq!(opened.close().opens, 0, "what a fault took away was mapped before");
    }
}

#[test]
fn a_file_cut_inside_its_last_page_is_found_out_although_no_page_is_missing() {
    for advice in ADVICES {
        let dir = folder();
        let objects = write_dataset(dir.path(), 2, 20_000);
        let mut opened = open_advised(&FileStore::mmap(dir.path()), &objects, advice);
        opened.run(&blocks(&objects, 16_384), check);
        cut(&path_of(dir.path(), &objects, 0), 16_500);
        let last = Op::Read { object: 0, offset: 16_384, len: 3616 };
        for _ in 0..2 {
            assert_eq!(opened.run_one(last).unwrap_err().kind, ErrorKind::Eof, "{advice:?}");
            let there = [(0, 0, 16_384), (0, 16_384, 116), (1, 16_384, 3616)];
            opened.run(&there.map(|(object, offset, len)| Op::Read { object, offset, len }), check);
        }
        assert_eq!(opened.close().opens, 0, "{advice:?}");
    }
}

#[test]
fn a_file_that_ends_in_zeros_is_read_in_full() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 20_000);
    fs::write(path_of(dir.path(), &objects, 0), vec![0; 20_000]).unwrap();
    let mut opened = open_advised(&FileStore::mmap(dir.path()), &objects, Advice::Normal);
    for (offset, len) in [(0, 16_384), (16_384, 3616)] {
        assert_eq!(opened.run_one(Op::Read { object: 0, offset, len }), Ok(u64::from(len)));
    }
}

#[test]
fn a_file_that_is_cut_while_threads_copy_it_harms_no_other_read() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 4 << 20);
    let store = FileStore::mmap(dir.path());
    let (ready, cut_at) = (AtomicU32::new(0), path_of(dir.path(), &objects, 0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut opened = open(&store, &objects, Setup { block_bytes: 1 << 20, ..Setup::default() });
                let ops = blocks(&objects, 1 << 20);
                opened.run(&ops, check);
                ready.fetch_add(1, Ordering::Relaxed);
                let mut failed = 0;
                while failed == 0 {
                    opened.run(&ops, |op, completion| match (op, completion.result) {
                        (Op::Read { object: 0, .. }, Err(error)) => {
                            assert_eq!(error.kind, ErrorKind::Eof);
                            failed += 1;
                        }
                        // What was copied just before the cut may end in zeros of the page that it went through.
                        (Op::Read { object: 0, .. }, Ok(bytes)) => assert_eq!(bytes, 1 << 20),
                        _ => check(op, completion),
                    });
                }
            });
        }
        while ready.load(Ordering::Relaxed) < 4 {
            std::thread::yield_now();
        }
        cut(&cut_at, 0);
    });
}

#[test]
fn a_file_that_is_gone_empty_or_short_fails_its_reads_and_no_others() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 4, BYTES);
    fs::remove_file(path_of(dir.path(), &objects, 0)).unwrap();
    cut(&path_of(dir.path(), &objects, 1), 0);
    cut(&path_of(dir.path(), &objects, 2), 10_000);
    let mut opened = open(&FileStore::mmap(dir.path()), &objects, Setup::default());
    let mut kind = |object| opened.run_one(Op::Read { object, offset: 8192, len: 8192 }).map_err(|e| e.kind);
    assert_eq!([kind(0), kind(1), kind(2)], [ErrorKind::NotFound, ErrorKind::Eof, ErrorKind::Eof].map(Err));
    opened.run(&[Op::Read { object: 2, offset: 0, len: 8192 }], check);
    opened.run(&blocks(&objects, 8192)[3 * 14..], check);
    let report = opened.close();
    assert_eq!(granted(&report, "maps"), "2 of 4, mapped ahead; the others failed to open");
}

#[test]
fn more_files_than_may_be_mapped_share_their_places() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 40, 5000);
    let mut there_and_back = blocks(&objects, 8192);
    there_and_back.extend(blocks(&objects, 8192).into_iter().rev());
    let store = FileStore::mmap(dir.path()).with_open_files_max(9);
    let mut opened = open(&store, &objects, Setup::default());
    opened.run(&there_and_back, check);
    let report = opened.close();
    assert_eq!(granted(&report, "maps"), "up to 9 of 40 (vm.max_map_count)");
    assert_eq!(report.opens, 71, "the nine files read last are mapped on the way back");
}

#[test]
fn pages_that_a_queue_maps_stay_and_those_of_a_closed_one_are_evicted() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 1 << 20);
    let store = FileStore::mmap(dir.path());
    if !store.limits().unwrap().page_cache {
        return skip("the folder of these tests is memory");
    }
    let mut opened = open(&store, &objects, Setup::default());
    opened.run(&blocks(&objects, 8192), check);
    let evicted = || store.cache(CacheAction::Evict, &objects).unwrap().resident_bytes;
    assert_eq!(evicted(), Some(2 << 20), "a page that is mapped is not evicted, and that is seen");
    opened.close();
    assert_eq!(evicted(), Some(0));
}

#[test]
fn what_a_map_cannot_do_is_refused() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    for (cache, what) in [(Cache::Bypass, "direct I/O"), (Cache::DontCache, "reading without keeping pages")]
    {
        let opened = try_open(&FileStore::mmap(dir.path()), &objects, Setup { cache, ..Setup::default() });
        let text = opened.err().unwrap().to_string();
        let expected = format!("{what} is not available: a memory map shows pages of the page cache");
        assert!(text.starts_with(&expected), "{text}");
    }
    let mut opened = open(&FileStore::mmap(dir.path()), &objects, Setup::default());
    let too_long = opened.run_one(Op::Read { object: 0, offset: 0, len: 8193 }).unwrap_err();
    let no_read = opened.run_one(Op::Stat { object: 0 }).unwrap_err();
    assert_eq!([too_long.code, no_read.code], [libc::EINVAL as u32, libc::EOPNOTSUPP as u32]);
}

#[test]
fn too_little_address_space_is_named() {
    confine::in_own_process("mmap::in_a_process_of_its_own_address_space_is_short");
}

#[test]
#[ignore = "lowers the limits of its process; run by another test"]
fn in_a_process_of_its_own_address_space_is_short() {
    let dir = folder();
    let objects = Arc::new(Objects::uniform(Key::new("data").unwrap(), 1, 64 << 30));
    let path = path_of(dir.path(), &objects, 0);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(&path).unwrap().set_len(64 << 30).unwrap();
    confine::limit(Resource::As, 16 << 30);
    match try_open(&FileStore::mmap(dir.path()), &objects, Setup::default()) {
        Err(error @ StoreError::Unavailable { .. }) => {
            let text = error.to_string();
            assert!(text.starts_with("a memory map is not available: mapping a file below `"), "{text}");
            assert!(text.contains("ulimit -v unlimited"), "{text}");
        }
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was mapped"),
    }
}

#[test]
fn a_fault_that_is_no_copys_ends_the_process_as_it_always_did() {
    let name = "mmap::in_a_process_of_its_own_a_map_is_touched_beyond_its_file";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("about to touch it"), "{text}");
    assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
}

#[test]
#[ignore = "ends its process; run by another test"]
fn in_a_process_of_its_own_a_map_is_touched_beyond_its_file() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    confine::limit(Resource::Core, 0);
    let mut opened = open(&FileStore::mmap(dir.path()), &objects, Setup::default());
    opened.run(&blocks(&objects, 8192), check);
    let file = File::open(path_of(dir.path(), &objects, 0)).unwrap();
    // SAFETY: a new mapping at an address of the kernel's choice.
    let address = unsafe {
        let (protection, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
        rustix::mm::mmap(std::ptr::null_mut(), BYTES as usize, protection, flags, &file, 0).unwrap()
    };
    cut(&path_of(dir.path(), &objects, 0), 0);
    opened.run_one(Op::Read { object: 0, offset: 0, len: 8192 }).unwrap_err();
    eprintln!("about to touch it");
    drop(dir);
    // SAFETY: the address is mapped; that nothing is behind it is what this test is about.
    let byte = unsafe { address.cast::<u8>().read_volatile() };
    panic!("read {byte}");
}

#[test]
fn a_file_system_in_memory_may_be_mapped() {
    if probe_path(Path::new("/dev/shm")).file_system != "tmpfs" {
        return skip("/dev/shm is no tmpfs");
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let objects = write_dataset(dir.path(), 2, BYTES);
    let mut opened = open(&FileStore::mmap(dir.path()), &objects, Setup::default());
    opened.run(&blocks(&objects, 8192), check);
    cut(&path_of(dir.path(), &objects, 0), 0);
    let error = opened.run_one(Op::Read { object: 0, offset: 8192, len: 8192 }).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Eof);
}
