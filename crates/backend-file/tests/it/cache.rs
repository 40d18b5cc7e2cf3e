//! The page cache of real files.

use std::path::Path;
use std::sync::Arc;

use backend::{CacheAction, Residency, Store};
use backend_file::{FileStore, probe_path};
use dataset::Objects;
use tempfile::TempDir;

use crate::confine;
use crate::machine::{Loop, ext4_image, is_root, skip};
use crate::support::{Setup, folder, open, write_dataset};

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

/// Residency of a dataset that this thread may not ask the kernel for in the ways that `forbidden` names.
fn inspected(store: &FileStore, objects: &Arc<Objects>, forbidden: &[(libc::c_long, i32)]) -> Residency {
    std::thread::scope(|scope| {
        let look = || {
            for (call, errno) in forbidden {
                confine::forbid(*call, *errno);
            }
            act(store, CacheAction::Inspect, objects)
        };
        scope.spawn(look).join().unwrap()
    })
}

/// `cachestat(2)`.
const SYS_CACHESTAT: libc::c_long = 451;

#[test]
fn a_container_that_may_not_ask_is_told_nothing_and_not_that_all_is_well() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 50_000);
    let store = FileStore::pread(dir.path());
    for errno in [libc::ENOSYS, libc::EPERM] {
        let no_cachestat = (SYS_CACHESTAT, errno);
        let by_mincore = inspected(&store, &objects, &[no_cachestat]);
        assert_eq!((by_mincore.method, by_mincore.resident_bytes), ("mincore", Some(100_000)));
        let nothing = inspected(&store, &objects, &[no_cachestat, (libc::SYS_mincore, libc::EPERM)]);
        assert_eq!((nothing.method, nothing.resident_bytes), ("none", None), "{errno}");
    }
}

#[test]
fn what_another_user_owns_is_not_known_to_be_cold() {
    if !is_root() {
        return skip("only root can give a file to another user");
    }
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 50_000);
    for object in 0..2 {
        std::os::unix::fs::chown(dir.path().join(objects.key(object).as_str()), Some(65_534), None).unwrap();
    }
    let store = FileStore::pread(dir.path());
    for forbidden in [None, Some(libc::ENOSYS), Some(libc::EPERM)] {
        confine::in_own_thread(|| {
            confine::without_privileges();
            if let Some(errno) = forbidden {
                confine::forbid(SYS_CACHESTAT, errno);
            }
            for action in [CacheAction::Inspect, CacheAction::Evict] {
                let found = act(&store, action, &objects);
                assert_eq!((found.method, found.resident_bytes), ("none", None), "{forbidden:?}");
            }
        });
    }
}

#[test]
fn pages_that_another_maps_stay_and_are_seen() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 50_000);
    let store = FileStore::pread(dir.path());
    if !store.limits().unwrap().page_cache {
        return skip("the folder of these tests is memory");
    }
    let file = std::fs::File::open(dir.path().join(objects.key(1).as_str())).unwrap();
    // SAFETY: a new mapping at an address of the kernel's choice, of a file that nobody cuts.
    let address = unsafe {
        let (protection, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
        let flags = flags | rustix::mm::MapFlags::POPULATE;
        rustix::mm::mmap(std::ptr::null_mut(), 50_000, protection, flags, &file, 0).unwrap()
    };
    let left = act(&store, CacheAction::Evict, &objects).resident_bytes.unwrap();
    assert!((1..=50_000).contains(&left), "{left} bytes of the mapped file, and none of the other");
    // SAFETY: the range is that of the mapping, which is not used again.
    unsafe { rustix::mm::munmap(address, 50_000) }.unwrap();
    assert_eq!(act(&store, CacheAction::Evict, &objects).resident_bytes, Some(0));
}

#[test]
fn names_are_forgotten_as_far_as_the_user_may_and_no_open_file_holds_them() {
    confine::in_own_process("cache::in_a_process_of_its_own_names_are_forgotten");
}

/// Whether this user may have the kernel forget names.
fn may_forget() -> bool {
    std::fs::File::options().write(true).open("/proc/sys/vm/drop_caches").is_ok()
}

/// Whether what was forgotten below a folder is known to be read again.
fn comes_from_the_device(store: &FileStore, folder: &Path) -> bool {
    let node = store.block_device().map(|name| Path::new("/dev").join(name));
    match probe_path(folder).file_system.as_str() {
        "xfs" => true,
        "ext4" => node.is_some_and(|node| std::fs::File::open(node).is_ok()),
        _ => false,
    }
}

/// Descriptors of this process that are open below a folder.
fn open_below(folder: &Path) -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    entries.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|at| at.starts_with(folder))).count()
}

#[test]
#[ignore = "closes the open files of its process; run by another test"]
fn in_a_process_of_its_own_names_are_forgotten() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 20, 5000);
    let store = FileStore::pread(dir.path());
    let folder = dir.path().canonicalize().unwrap();
    open(&store, &objects, Setup::default()).close();
    assert_eq!(open_below(&folder), 21, "the files of a closed queue, and their root, stay open");
    let warmed = act(&store, CacheAction::WarmNames, &objects);
    assert_eq!((warmed.names_dropped, warmed.total_bytes), (None, 100_000));
    assert_eq!(open_below(&folder), 21);
    let evicted = act(&store, CacheAction::EvictNames, &objects);
    assert_eq!(open_below(&folder), 0);
    assert_eq!(evicted.names_dropped, Some(may_forget() && comes_from_the_device(&store, &folder)));
    if store.limits().unwrap().page_cache {
        assert_eq!(evicted.resident_bytes, Some(0), "pages go with the names");
    }
    confine::in_own_thread(|| {
        confine::forbid(libc::SYS_write, libc::EACCES);
        assert_eq!(act(&store, CacheAction::EvictNames, &objects).names_dropped, Some(false));
    });
    for action in [CacheAction::Evict, CacheAction::Warm, CacheAction::Inspect] {
        assert_eq!(act(&store, action, &objects).names_dropped, None, "nobody asked");
    }
}

#[test]
fn forgotten_names_come_from_the_device_again_and_warmed_ones_do_not() {
    confine::in_own_process("cache::in_a_process_of_its_own_names_come_from_the_device");
}

#[test]
#[ignore = "closes the open files of its process; run by another test"]
fn in_a_process_of_its_own_names_come_from_the_device() {
    if !is_root() {
        return skip("only root can mount and forget names");
    }
    let dirs = [folder(), folder(), folder()];
    let [content, image, mounted] = dirs.each_ref().map(TempDir::path);
    let objects = write_dataset(content, 2000, 10);
    let made = ext4_image(content, &image.join("ext4"));
    let device = match made.and_then(|()| Loop::over(&image.join("ext4"))) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    confine::in_own_thread(|| {
        if !device.mount(mounted) {
            return skip("nothing may be mounted here");
        }
        if !may_forget() {
            return skip("the kernel's names are another's here");
        }
        let store = FileStore::pread(mounted);
        assert_eq!(store.block_device().as_deref(), device.node.file_name().unwrap().to_str());
        let sectors_of_a_look = || {
            let before = device.sectors_read();
            (0..2000).for_each(|object| assert!(store.stat(&objects.key(object)).unwrap().is_some()));
            device.sectors_read() - before
        };
        for _ in 0..2 {
            let evicted = act(&store, CacheAction::EvictNames, &objects);
            assert_eq!(evicted.names_dropped, Some(true), "an ext4 whose device can be opened");
            assert!(sectors_of_a_look() > 0, "what is forgotten is read");
            assert_eq!(sectors_of_a_look(), 0, "what is known is not");
            act(&store, CacheAction::EvictNames, &objects);
            act(&store, CacheAction::WarmNames, &objects);
            assert_eq!(sectors_of_a_look(), 0, "nor is what was warmed");
        }
    });
}

#[test]
fn of_a_file_system_without_a_device_no_name_is_known_to_be_forgotten() {
    confine::in_own_process("cache::in_a_process_of_its_own_names_are_on_no_device");
}

#[test]
#[ignore = "closes the open files of its process; run by another test"]
fn in_a_process_of_its_own_names_are_on_no_device() {
    if probe_path(Path::new("/dev/shm")).file_system != "tmpfs" {
        return skip("/dev/shm is no tmpfs");
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let objects = write_dataset(dir.path(), 2, 100);
    let evicted = act(&FileStore::pread(dir.path()), CacheAction::EvictNames, &objects);
    assert_eq!(evicted.names_dropped, Some(false), "whoever asks");
}

#[test]
fn names_that_are_gone_are_named() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 2, 10_000);
    std::fs::remove_file(dir.path().join(objects.key(1).as_str())).unwrap();
    let store = FileStore::pread(dir.path());
    let error = store.cache(CacheAction::WarmNames, &objects).unwrap_err().to_string();
    assert!(error.starts_with("cannot warm `") && error.contains("000000001.bin"), "{error}");
}
