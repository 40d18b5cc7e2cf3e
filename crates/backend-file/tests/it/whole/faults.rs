//! Files that change, vanish, are no files or are closed to the reader, and queues given up on the way.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use backend::{ErrorKind, Op, Request, StoreError};
use backend_file::{FileStore, probe_path};
use dataset::{Key, Objects};
use plan::{Cache, Operation, Registered};

use super::{BYTES, check, op, open, ops, path};
use crate::confine;
use crate::machine::{is_root, skip};
use crate::support::{Setup, both, folder, open_for, put_in_place, write_dataset};

#[test]
fn a_folder_that_changes_while_it_is_read_fails_what_is_gone_and_nothing_else() {
    let dir = folder();
    for (engine, store) in both(dir.path()) {
        for operation in [Operation::ReadFile, Operation::Stat] {
            let objects = write_dataset(dir.path(), 6, 5000);
            let mut opened = open(&store, &objects, operation, Setup::default());
            opened.run(&ops(&objects, operation), check);
            fs::remove_file(path(dir.path(), &objects, 1)).unwrap();
            fs::write(path(dir.path(), &objects, 2), "shorter").unwrap();
            fs::write(path(dir.path(), &objects, 3), [0; 5001]).unwrap();
            fs::write(path(dir.path(), &objects, 7), "nobody knows of it").unwrap();
            let mut failed = Vec::new();
            opened.run(&ops(&objects, operation), |op, completion| match completion.result {
                Err(error) => failed.push((format!("{op:?}").replace(", bytes: 5000", ""), error.kind)),
                Ok(_) => check(op, completion),
            });
            failed.sort();
            let kinds = [ErrorKind::NotFound, ErrorKind::Changed, ErrorKind::Changed];
            let expected: Vec<_> = (1..4)
                .zip(kinds)
                .map(|(n, kind)| (format!("{operation:?} {{ object: {n} }}"), kind))
                .collect();
            assert_eq!(failed, expected, "{engine}");
            opened.close();
        }
    }
}

#[test]
fn what_stands_in_the_place_of_a_file_is_an_error() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 4, 5000);
    let [_, link, ring, inner] = [0, 1, 2, 3].map(|object| path(dir.path(), &objects, object));
    for file in [&link, &ring, &inner] {
        fs::remove_file(file).unwrap();
    }
    std::os::unix::fs::symlink(path(dir.path(), &objects, 0), &link).unwrap();
    std::os::unix::fs::symlink(&ring, &ring).unwrap();
    fs::create_dir(&inner).unwrap();
    for (engine, store) in both(dir.path()) {
        for operation in [Operation::ReadFile, Operation::Stat] {
            let mut opened = open(&store, &objects, operation, Setup::default());
            let errors = [1, 2, 3].map(|object| {
                let error = opened.run_one(op(&objects, operation, object)).unwrap_err();
                assert_eq!(error.kind, ErrorKind::Other, "{engine}");
                error.code.cast_signed()
            });
            // Any size is that of a folder, which only a look by name tells apart in time.
            assert_eq!(errors, [libc::ELOOP, libc::ELOOP, libc::EISDIR], "{engine} {operation:?}");
            opened.run(&[op(&objects, operation, 0)], check);
        }
    }
}

#[test]
fn what_would_be_waited_for_in_the_place_of_a_file_is_an_error() {
    for operation in [Operation::ReadFile, Operation::Stat] {
        // In a ring a name that is not in memory is opened by another thread: hence a new folder for each.
        for engine in 0..2 {
            let dir = folder();
            let objects = write_dataset(dir.path(), 4, 5000);
            put_in_place(&path(dir.path(), &objects, 1), libc::S_IFIFO, 0);
            let (engine, store) = &both(dir.path())[engine];
            let mut opened = open(store, &objects, operation, Setup::default());
            for _ in 0..2 {
                let error = opened.run_one(op(&objects, operation, 1)).unwrap_err();
                assert_eq!(error.kind, ErrorKind::Other, "{engine} {operation:?}");
                opened.run(&[op(&objects, operation, 0), op(&objects, operation, 2)], check);
            }
            assert_eq!(opened.close().short_reads, 0);
        }
    }
}

#[test]
fn a_device_in_the_place_of_a_file_is_an_error() {
    if !is_root() {
        return skip("only root can make a device node");
    }
    for operation in [Operation::ReadFile, Operation::Stat] {
        let dir = folder();
        let objects = write_dataset(dir.path(), 2, 5000);
        // It has a zero for whoever wants one (Documentation/admin-guide/devices.txt).
        put_in_place(&path(dir.path(), &objects, 1), libc::S_IFCHR, rustix::fs::makedev(1, 5));
        for (engine, store) in both(dir.path()) {
            let mut opened = open(&store, &objects, operation, Setup::default());
            let error = opened.run_one(op(&objects, operation, 1)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Other, "{engine} {operation:?}");
        }
    }
}

#[test]
fn what_is_closed_to_the_user_is_an_error_of_its_own_kind() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 5000);
    fs::set_permissions(path(dir.path(), &objects, 1), fs::Permissions::from_mode(0o000)).unwrap();
    confine::in_own_thread(|| {
        confine::without_privileges();
        for (engine, store) in both(dir.path()) {
            let mut opened = open(&store, &objects, Operation::ReadFile, Setup::default());
            let error = opened.run_one(Op::ReadFile { object: 1, bytes: 5000 }).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Permission, "{engine}");
            opened.run(&[Op::ReadFile { object: 0, bytes: 5000 }], check);
        }
    });
}

#[test]
fn files_of_another_owner_are_read_although_their_times_cannot_be_kept() {
    if !is_root() {
        return skip("only root can give a file to another user");
    }
    let dir = folder();
    let objects = write_dataset(dir.path(), 9, 5000);
    for object in 3..9 {
        std::os::unix::fs::chown(path(dir.path(), &objects, object), Some(65_534), None).unwrap();
    }
    confine::in_own_thread(|| {
        confine::without_privileges();
        for (engine, store) in both(dir.path()) {
            let mut opened = open(&store, &objects, Operation::ReadFile, Setup::default());
            (0..2).for_each(|_| opened.run(&ops(&objects, Operation::ReadFile), check));
            assert_eq!(opened.close().opens, 18, "{engine}");
        }
    });
}

/// Files below `root` that this process has open, folders not counted.
fn open_below(root: &Path) -> usize {
    fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.starts_with(root) && target.is_file())
        .count()
}

#[test]
fn files_given_up_on_their_way_are_closed_and_their_buffers_kept() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 8, BYTES);
    for registered in [Registered::Auto, Registered::Off] {
        // Opened; read in part; read in full and to be closed. How far each look finds the files is the kernel's to say.
        let mut most_open = 0;
        for looks in 0..=15 {
            let setup = Setup { registered, ..Setup::default() };
            let mut opened = open(&FileStore::uring(dir.path()), &objects, Operation::ReadFile, setup);
            let address = opened.free[0].as_ptr();
            let mut requests: Vec<Request> = (0..)
                .zip(opened.free.drain(..))
                .map(|(object, buf)| Request {
                    token: object,
                    op: op(&objects, Operation::ReadFile, object),
                    buf,
                })
                .collect();
            let mut done = Vec::new();
            opened.queue.submit(&mut requests, &mut done).unwrap();
            (0..looks).for_each(|_| opened.queue.wait(0, 0, &mut done).unwrap());
            assert!(done.is_empty(), "it takes more looks than {looks}");
            most_open = most_open.max(open_below(dir.path()));
            drop(opened);
            // The kernel ends what it was given in its own time; a file that stays open is ended by the test's time-out.
            while open_below(dir.path()) > 0 {
                std::thread::yield_now();
            }
            // SAFETY: the buffers were leaked with the queue, so the address is still mapped; that is what is
            // tested.
            let _still_there = unsafe { address.read_volatile() };
        }
        // A registered file is none of this process's descriptors.
        assert_eq!(most_open > 0, registered == Registered::Off, "{most_open} files open");
    }
}

#[test]
fn closing_after_the_deadline_counts_what_is_abandoned() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 8, BYTES);
    for operation in [Operation::ReadFile, Operation::Stat] {
        let mut opened = open(&FileStore::uring(dir.path()), &objects, operation, Setup::default());
        let mut requests: Vec<Request> = (0..)
            .zip(opened.free.drain(..))
            .map(|(object, buf)| Request { token: object, op: op(&objects, operation, object), buf })
            .collect();
        let mut done = Vec::new();
        opened.queue.submit(&mut requests, &mut done).unwrap();
        let abandoned = opened.queue.close(0, &mut done);
        assert_eq!(abandoned as usize + done.len(), 8, "each is returned or counted: {operation:?}");
    }
}

#[test]
fn a_deadline_ends_a_wait_for_more_than_is_outstanding() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    for operation in [Operation::ReadFile, Operation::Stat] {
        for (engine, store) in both(dir.path()) {
            let mut opened = open(&store, &objects, operation, Setup::default());
            let mut requests =
                vec![Request { token: 0, op: op(&objects, operation, 0), buf: opened.free.pop().unwrap() }];
            let mut done = Vec::new();
            opened.queue.submit(&mut requests, &mut done).unwrap();
            // On a busy machine it may take more than one wait until it has completed.
            while done.is_empty() {
                let until_ns = opened.clock.now_ns() + 5_000_000;
                opened.queue.wait(2, until_ns, &mut done).unwrap();
                assert!(opened.clock.now_ns() >= until_ns, "{engine} {operation:?}");
            }
            assert_eq!((done.len(), opened.queue.in_flight()), (1, 0), "{engine} {operation:?}");
        }
    }
}

#[test]
fn what_an_engine_does_not_offer_is_refused() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 100);
    let refused = |store: FileStore, operation| match open_for(&store, &objects, operation, Setup::default())
    {
        Err(error @ StoreError::Unsupported { .. }) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was granted"),
    };
    assert_eq!(refused(FileStore::uring(dir.path()), Operation::List), "io_uring cannot list folders");
    for operation in [Operation::ReadFile, Operation::Stat, Operation::List] {
        assert!(refused(FileStore::mmap(dir.path()), operation).starts_with("the engine mmap cannot"));
    }
}

#[test]
fn direct_reads_of_whole_files_in_memory_are_refused() {
    if probe_path(Path::new("/dev/shm")).file_system != "tmpfs" {
        return skip("/dev/shm is no tmpfs");
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let objects = write_dataset(dir.path(), 2, 5000);
    for (_, store) in both(dir.path()) {
        let setup = Setup { cache: Cache::Bypass, ..Setup::default() };
        let error = open_for(&store, &objects, Operation::ReadFile, setup).err().unwrap().to_string();
        assert!(error.starts_with("direct I/O is not available: it is not honoured by tmpfs"), "{error}");
        let mut opened = open(&store, &objects, Operation::ReadFile, Setup::default());
        opened.run(&ops(&objects, Operation::ReadFile), check);
    }
}

#[test]
fn a_folder_that_is_listed_may_be_missing_a_file_or_a_link() {
    let dir = folder();
    let objects =
        Objects::Uniform { folder: Key::new("data").unwrap(), count: 4, bytes: 1, files_per_folder: 1 };
    let at = |number: u32| dir.path().join(format!("data/{number:06}"));
    fs::create_dir_all(at(0)).unwrap();
    for name in ["one", "two", ".hidden"] {
        fs::write(at(0).join(name), "x").unwrap();
    }
    fs::create_dir(at(0).join("inner")).unwrap();
    fs::write(at(2), "no folder").unwrap();
    std::os::unix::fs::symlink(at(0), at(3)).unwrap();
    let store = FileStore::pread(dir.path());
    let mut opened = open(&store, &Arc::new(objects), Operation::List, Setup::default());
    let results = [0, 1, 2, 3].map(|folder| opened.run_one(Op::List { folder }).map_err(|error| error.kind));
    let [found, errors @ ..] = results;
    assert_eq!(found, Ok(4), "each entry but for the folder itself and the one above");
    assert_eq!(errors, [Err(ErrorKind::NotFound), Err(ErrorKind::Other), Err(ErrorKind::Other)]);
    fs::remove_file(at(0).join("one")).unwrap();
    assert_eq!(opened.run_one(Op::List { folder: 0 }), Ok(3), "it changes while it is read");
}
