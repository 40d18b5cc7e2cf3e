//! Files that change, vanish or are closed to the reader.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use backend::{CacheAction, ErrorKind, Op, Request, Store};
use backend_file::{FileStore, probe_path};
use dataset::Key;

use crate::confine;
use crate::store::marker;
use crate::support::{Setup, blocks, both, check, folder, open, put_in_place, write_dataset};

#[test]
fn a_file_cut_while_it_is_read_is_an_error_of_its_own_kind() {
    for engine in 0..2 {
        let dir = folder();
        let objects = write_dataset(dir.path(), 2, 100_000);
        let (engine, store) = &both(dir.path())[engine];
        let mut opened = open(store, &objects, Setup::default());
        opened.run(&blocks(&objects, 8192)[..3], check);
        let path = dir.path().join(objects.key(0).as_str());
        fs::File::options().write(true).open(&path).unwrap().set_len(20_000).unwrap();
        let beyond = opened.run_one(Op::Read { object: 0, offset: 40_960, len: 8192 }).unwrap_err();
        let across = opened.run_one(Op::Read { object: 0, offset: 16_384, len: 8192 }).unwrap_err();
        assert_eq!((beyond.kind, across.kind), (ErrorKind::Eof, ErrorKind::Eof), "{engine}");
        opened.run(&[Op::Read { object: 1, offset: 0, len: 8192 }], check);
        assert_eq!(opened.close().short_reads, 1, "{engine}: the part that was there");
    }
}

#[test]
fn a_file_that_vanished_fails_its_reads_and_no_others() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 3, 10_000);
    fs::remove_file(dir.path().join(objects.key(1).as_str())).unwrap();
    for open_files_max in [2, 100] {
        for (engine, store) in both(dir.path()) {
            let store = store.with_open_files_max(open_files_max);
            let mut opened = open(&store, &objects, Setup { depth: 2, ..Setup::default() });
            let mut failed = 0;
            opened.run(&blocks(&objects, 8192), |op, completion| match completion.result {
                Err(error) => {
                    assert_eq!(
                        (error.kind, error.code),
                        (ErrorKind::NotFound, libc::ENOENT as u32),
                        "{op:?}"
                    );
                    assert!(completion.stamps.begun_ns <= completion.stamps.done_ns);
                    failed += 1;
                }
                Ok(_) => check(op, completion),
            });
            assert_eq!(failed, 2, "{engine}: both blocks of the missing file");
        }
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 10_000);
    let path = dir.path().join(objects.key(1).as_str());
    fs::rename(&path, dir.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
    for (_, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Setup::default());
        let error = opened.run_one(Op::Read { object: 1, offset: 0, len: 100 }).unwrap_err();
        assert_eq!(error.code, libc::ELOOP as u32);
    }
}

#[test]
fn what_would_be_waited_for_in_the_place_of_a_file_is_an_error() {
    for open_files_max in [2, 100] {
        let dir = folder();
        let objects = write_dataset(dir.path(), 4, 10_000);
        put_in_place(&dir.path().join(objects.key(1).as_str()), libc::S_IFIFO, 0);
        let engines = both(dir.path()).into_iter().chain([("mmap", FileStore::mmap(dir.path()))]);
        for (engine, store) in engines {
            let store = store.with_open_files_max(open_files_max);
            let setup = Setup { depth: 1, ..Setup::default() };
            let mut opened = open(&store, &objects, setup);
            let error = opened.run_one(Op::Read { object: 1, offset: 0, len: 100 }).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Other, "{engine}");
            opened.run(&[Op::Read { object: 0, offset: 0, len: 8192 }], check);
            opened.close();
            let named = store.cache(CacheAction::Evict, &objects).unwrap_err().to_string();
            assert!(named.starts_with("cannot evict `") && named.contains("000000001.bin"), "{named}");
        }
    }
}

#[test]
fn what_is_closed_to_the_user_is_an_error_of_its_own_kind() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 10_000);
    let close = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    close(&dir.path().join(objects.key(1).as_str()), 0o000);
    close(dir.path(), 0o555);
    confine::in_own_thread(|| {
        confine::without_privileges();
        for (engine, store) in both(dir.path()) {
            let mut opened = open(&store, &objects, Setup::default());
            let error = opened.run_one(Op::Read { object: 1, offset: 0, len: 100 }).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Permission, "{engine}");
            opened.run(&[Op::Read { object: 0, offset: 0, len: 8192 }], check);
            let refused = store.create_folder(&Key::new("new").unwrap(), &marker()).unwrap_err().to_string();
            assert!(refused.starts_with("cannot create `") && refused.contains("denied"), "{refused}");
        }
        let probe = probe_path(dir.path());
        assert!(probe.exists && probe.directory && !probe.writable, "{probe:?}");
    });
    close(dir.path(), 0o755);
}

#[test]
fn a_queue_dropped_with_reads_outstanding_keeps_their_buffers_mapped() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 100_000);
    let mut opened = open(&FileStore::uring(dir.path()), &objects, Setup::default());
    let address = opened.free[0].as_ptr();
    let mut requests: Vec<Request> = opened
        .free
        .drain(..)
        .map(|buf| Request { token: 0, op: Op::Read { object: 0, offset: 0, len: 8192 }, buf })
        .collect();
    opened.queue.submit(&mut requests, &mut Vec::new()).unwrap();
    drop(opened);
    // SAFETY: the buffers were leaked with the queue, so the address is still mapped; that is what is tested.
    let still_there = unsafe { address.read_volatile() };
    assert_eq!(still_there, 0, "never handed over, never written");
}

#[test]
fn closing_after_the_deadline_counts_what_is_abandoned() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 100_000);
    let mut opened = open(&FileStore::uring(dir.path()), &objects, Setup::default());
    let mut requests: Vec<Request> = opened
        .free
        .drain(..)
        .map(|buf| Request { token: 0, op: Op::Read { object: 0, offset: 0, len: 8192 }, buf })
        .collect();
    let taken = requests.len();
    let mut done = Vec::new();
    opened.queue.submit(&mut requests, &mut done).unwrap();
    let abandoned = opened.queue.close(0, &mut done);
    assert_eq!(abandoned as usize + done.len(), taken, "each is returned or counted");
}
