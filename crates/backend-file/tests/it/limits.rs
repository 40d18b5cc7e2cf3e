//! Refusals by the machine: what is forbidden, too little, or not what it seems.

use std::path::Path;
use std::sync::Arc;

use backend::{Op, Store, StoreError};
use backend_file::{FileStore, probe_io_uring, probe_path};
use dataset::{Key, Objects};
use plan::{Cache, Operation, Registered};
use rustix::process::Resource;

use crate::confine;
use crate::support::{Setup, blocks, both, check, folder, granted, open, open_for, try_open, write_dataset};

fn refusal(result: Result<crate::support::Opened, StoreError>) -> String {
    match result {
        Err(error @ StoreError::Unavailable { .. }) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was granted"),
    }
}

#[test]
fn a_file_system_in_memory_is_named_and_does_no_direct_io() {
    let probe = probe_path(Path::new("/dev/shm"));
    if probe.file_system != "tmpfs" {
        eprintln!("skipped: /dev/shm is {}", probe.file_system);
        return;
    }
    assert!(probe.in_memory && probe.direct_align_bytes.is_none(), "{probe:?}");
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let objects = write_dataset(dir.path(), 2, 100_000);
    for (_, store) in both(dir.path()) {
        assert!(!store.limits().unwrap().page_cache);
        let text = refusal(try_open(&store, &objects, Setup { cache: Cache::Bypass, ..Setup::default() }));
        assert!(text.starts_with("direct I/O is not available: it is not honoured by tmpfs at"), "{text}");
        open(&store, &objects, Setup::default()).run(&blocks(&objects, 8192), check);
    }
}

#[test]
fn io_uring_can_be_had_where_these_tests_run() {
    probe_io_uring().unwrap();
}

#[test]
fn a_filter_that_forbids_io_uring_is_named_and_pread_still_reads() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 100_000);
    confine::in_own_thread(|| {
        confine::forbid(libc::SYS_io_uring_setup, libc::EPERM);
        let probed = probe_io_uring().unwrap_err().to_string();
        assert!(probed.starts_with("io_uring is not available: "), "{probed}");
        assert!(probed.contains("EPERM") && probed.contains("hint: "), "{probed}");
        assert_eq!(refusal(try_open(&FileStore::uring(dir.path()), &objects, Setup::default())), probed);
        open(&FileStore::pread(dir.path()), &objects, Setup::default()).run(&blocks(&objects, 8192), check);
    });
}

#[test]
fn a_filter_that_hides_io_uring_is_told_from_a_kernel_without_it() {
    confine::in_own_thread(|| {
        confine::forbid(libc::SYS_io_uring_setup, libc::ENOSYS);
        let probed = probe_io_uring().unwrap_err().to_string();
        assert!(probed.contains("a seccomp filter hides it (ENOSYS)"), "{probed}");
    });
}

#[test]
fn too_little_lockable_memory_is_reported_or_refused() {
    confine::in_own_process("limits::in_a_process_of_its_own_little_memory_may_be_locked");
}

#[test]
#[ignore = "lowers the limits of its process; run by another test"]
fn in_a_process_of_its_own_little_memory_may_be_locked() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 100_000);
    confine::limit(Resource::Memlock, 1 << 20);
    confine::as_a_user_alone();
    confine::without_privileges();
    let store = FileStore::uring(dir.path());
    let setup = Setup { depth: 16, block_bytes: 1 << 20, ..Setup::default() };
    let mut opened = open(&store, &objects, setup);
    opened.run(&blocks(&objects, 1 << 20), check);
    let report = opened.close();
    let reason =
        "not registered: 16 MiB of buffers exceed what may be locked in memory (RLIMIT_MEMLOCK is 1024 KiB)";
    assert_eq!((granted(&report, "buffers"), granted(&report, "files")), (reason, "registered"));
    let text = refusal(try_open(&store, &objects, Setup { registered: Registered::Required, ..setup }));
    assert!(text.starts_with("registered buffers is not available: 16 MiB"), "{text}");
    assert!(text.contains("ulimit -l unlimited") && text.contains("LimitMEMLOCK"), "{text}");
}

#[test]
fn a_low_limit_of_open_files_is_lived_with_or_named() {
    confine::in_own_process("limits::in_a_process_of_its_own_few_files_may_be_open");
}

#[test]
#[ignore = "lowers the limits of its process; run by another test"]
fn in_a_process_of_its_own_few_files_may_be_open() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 100, 10_000);
    confine::limit(Resource::Nofile, 64);
    for (engine, store) in both(dir.path()) {
        let mut opened = open(&store, &objects, Setup { depth: 32, ..Setup::default() });
        opened.run(&blocks(&objects, 8192), check);
        let report = opened.close();
        assert!(granted(&report, "open_files").ends_with(" of 100 used last"), "{engine}: {report:?}");
    }
    let store = FileStore::uring(dir.path());
    let text = refusal(try_open(&store, &objects, Setup { depth: 64, ..Setup::default() }));
    assert!(
        text.starts_with(
            "a queue depth of 64 over 100 files is not available: the process may open 64 files"
        )
    );
    assert!(text.contains("ulimit -n 1024"), "{text}");
    let text =
        refusal(try_open(&store, &objects, Setup { registered: Registered::Required, ..Setup::default() }));
    assert!(text.starts_with("registered files is not available: more files than may be open"), "{text}");
}

#[test]
fn files_kept_for_no_queue_give_way_to_those_of_a_new_one() {
    confine::in_own_process("limits::in_a_process_of_its_own_only_one_dataset_may_be_open");
}

#[test]
#[ignore = "lowers the limits of its process; run by another test"]
fn in_a_process_of_its_own_only_one_dataset_may_be_open() {
    let dirs = [folder(), folder()];
    let datasets = dirs.each_ref().map(|dir| write_dataset(dir.path(), 300, 600));
    confine::limit(Resource::Nofile, 512);
    let summary = |which: usize| {
        let store = FileStore::pread(dirs[which].path());
        let opened = open(&store, &datasets[which], Setup { depth: 1, ..Setup::default() });
        let text = granted(&opened.queue.report(), "open_files").to_owned();
        (opened, text)
    };
    for which in [0, 1, 0] {
        let (opened, text) = summary(which);
        assert_eq!(text, "all 300, opened ahead", "dataset {which}");
        opened.close();
    }
    let (in_use, _) = summary(0);
    let (_second, text) = summary(1);
    assert!(text.ends_with(" of 300 used last"), "what a queue uses is not closed: {text}");
    in_use.close();
}

#[test]
fn files_kept_for_no_queue_give_way_to_the_folders_and_rings_of_whole_files() {
    confine::in_own_process("limits::in_a_process_of_its_own_files_are_kept_for_no_queue");
}

#[test]
#[ignore = "lowers the limits of its process; run by another test"]
fn in_a_process_of_its_own_files_are_kept_for_no_queue() {
    let (blocks_at, files_at) = (folder(), folder());
    let read_before = write_dataset(blocks_at.path(), 230, 600);
    let objects = Arc::new(Objects::Uniform {
        folder: Key::new("data").unwrap(),
        count: 40,
        bytes: 600,
        files_per_folder: 1,
    });
    for object in 0..40 {
        let path = files_at.path().join(objects.key(object).as_str());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, [1; 600]).unwrap();
    }
    confine::limit(Resource::Nofile, 300);
    for (engine, store) in both(files_at.path()) {
        let kept =
            open(&FileStore::pread(blocks_at.path()), &read_before, Setup { depth: 1, ..Setup::default() });
        assert_eq!(granted(&kept.close(), "open_files"), "all 230, opened ahead");
        let setup = Setup { depth: 64, registered: Registered::Off, ..Setup::default() };
        let mut opened = open_for(&store, &objects, Operation::ReadFile, setup).unwrap();
        let ops: Vec<Op> = (0..40).map(|object| Op::ReadFile { object, bytes: 600 }).collect();
        opened.run(&ops, |op, completion| assert_eq!(completion.result, Ok(600), "{engine} {op:?}"));
        assert_eq!(granted(&opened.close(), "folders"), "40 of 40 held open", "{engine}");
    }
}

#[test]
fn a_root_that_is_not_there_is_named() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 10_000);
    for (_, store) in both(&dir.path().join("missing")) {
        let error = try_open(&store, &objects, Setup::default()).err().unwrap().to_string();
        assert!(error.starts_with("cannot open `") && error.contains("missing"), "{error}");
    }
}
