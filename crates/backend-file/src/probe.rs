//! What a path allows, found out without leaving anything behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use backend::{StoreError, unfinished_name};
use dataset::Objects;
use plan::{Cache, PathFacts};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, StatVfsMountFlags, StatxFlags, accessat, openat, stat, statvfs, statx,
};
use rustix::io::{Errno, ReadWriteFlags};

use crate::file_system::FileSystem;
use crate::mounts::Mount;
use crate::span::read_flags;
use crate::{device, tree};

/// Alignment assumed where the kernel does not say one and a read with this alignment succeeds.
// The largest seen: zram refuses 512 with EINVAL, where the virtual disk beside it takes it.
const CAUTIOUS_ALIGN_BYTES: u32 = 4096;

/// An offset that no file reaches.
const BEYOND_BYTES: u64 = 1 << 60;

/// Files tried to learn the alignment of direct I/O.
const ALIGNMENT_TRIES: u32 = 16;

/// Names looked at to find a file to probe, in a folder where none can be made.
const NAMES_MAX: usize = 1000;

/// Probes a path. One that does not exist is probed at its nearest existing ancestor, where it would be made.
pub fn probe_path(path: &Path) -> PathFacts {
    let (at, problem) = nearest_existing(path);
    let exists = at == path && problem.is_none();
    if exists && is_block_device(path) {
        return probe_device(path);
    }
    let directory = at.is_dir();
    let problem = problem.or_else(|| (!directory).then(|| format!("`{}` is not a directory", at.display())));
    let handle = openat(CWD, &at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok();
    let file_system = handle.and_then(FileSystem::of);
    let in_memory = file_system.as_ref().is_some_and(|found| found.in_memory);
    let space = statvfs(&at).ok();
    let read_only = space.as_ref().is_some_and(|space| space.f_flag.contains(StatVfsMountFlags::RDONLY));
    let writable = problem.is_none() && !read_only && may_make_files(&at);
    PathFacts {
        exists,
        directory,
        writable,
        file_system: file_system.map_or_else(|| "unknown".to_owned(), |found| full_name(found, &at)),
        in_memory,
        // `f_bavail` and not `f_bfree`: ext4 keeps 5 % for root by default.
        free_bytes: space.map(|space| space.f_bavail * space.f_frsize),
        direct_align_bytes: if in_memory { None } else { direct_align_below(&at, directory, writable) },
        block_device_bytes: None,
        dontcache: some_open(&at, directory, writable, OFlags::empty()).is_some_and(drops_pages),
        problem,
    }
}

fn is_block_device(path: &Path) -> bool {
    stat(path).is_ok_and(|stat| device::is_block(&stat))
}

/// A device is only ever read, so it must be readable and nothing else.
fn probe_device(node: &Path) -> PathFacts {
    let opened = device::open(node);
    PathFacts {
        exists: true,
        directory: false,
        writable: false,
        file_system: "block device".to_owned(),
        in_memory: false,
        free_bytes: None,
        direct_align_bytes: direct_align_of(node),
        block_device_bytes: opened.as_ref().ok().and_then(|device| device::size(device).ok()),
        problem: opened.as_ref().err().map(|errno| unreadable(node, *errno)),
        dontcache: opened.is_ok_and(drops_pages),
    }
}

/// Why a device cannot be read. The group of its node opens it to a user; what forbids it to root (EPERM) is the list
/// of devices of a container.
fn unreadable(node: &Path, errno: Errno) -> String {
    let hint = match errno {
        Errno::PERM => {
            "this container or user may not open it: pass the device in (`docker run --device`), or add the user to its group"
        }
        _ => "run as root, or as a member of the group that the node belongs to (often `disk`)",
    };
    format!("`{}` cannot be read: {}\n  hint: {hint}", node.display(), io::Error::from(errno))
}

/// FUSE and what has no known number carry a name of their own in the list of mounts.
fn full_name(found: FileSystem, at: &Path) -> String {
    if found.name == "fuse" || found.name.starts_with("0x") {
        Mount::of(at).map_or(found.name, |mount| mount.kind)
    } else {
        found.name
    }
}

/// The path, or the nearest of its ancestors that exists, and what is wrong on the way there.
fn nearest_existing(path: &Path) -> (PathBuf, Option<String>) {
    let mut problem = None;
    for ancestor in path.ancestors() {
        let ancestor = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        match fs::metadata(ancestor) {
            Ok(_) => return (ancestor.to_owned(), problem),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link to nowhere exists and does not: nothing can be made under its name.
                if ancestor.is_symlink() {
                    problem.get_or_insert(format!("`{}` is a symbolic link to nowhere", ancestor.display()));
                }
            }
            Err(error) => {
                problem.get_or_insert(format!("`{}`: {error}", ancestor.display()));
            }
        }
    }
    (PathBuf::from("."), problem.or_else(|| Some(format!("`{}` cannot be reached", path.display()))))
}

fn may_make_files(folder: &Path) -> bool {
    // EACCESS: by the effective user, whose rights count when a file is made. access(2) by itself asks for
    // the real one.
    accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// Alignment of direct I/O below a folder. Only files report it, so one is needed: one without a name, one
/// that exists, or, where neither can be had, one that is removed at once.
fn direct_align_below(at: &Path, directory: bool, writable: bool) -> Option<u32> {
    some_open(at, directory, writable, OFlags::DIRECT).and_then(|file| direct_align(file.as_fd()))
}

fn direct_align_of(file: &Path) -> Option<u32> {
    direct_align(open_read(file, OFlags::DIRECT)?.as_fd())
}

/// An open file to try things on.
fn some_open(at: &Path, directory: bool, writable: bool, extra: OFlags) -> Option<OwnedFd> {
    if !directory {
        return open_read(at, extra);
    }
    // open(2): a file of O_TMPFILE has no name, so nothing stays behind even if the process is killed. NFS
    // does not know the flag.
    let unnamed = writable.then(|| {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | extra;
        openat(CWD, at, flags, Mode::RUSR | Mode::WUSR)
    });
    if let Some(Ok(file)) = unnamed {
        return Some(file);
    }
    match some_file(at) {
        Some(file) => open_read(&file, extra),
        None if writable => named_probe(at, extra),
        None => None,
    }
}

fn open_read(file: &Path, extra: OFlags) -> Option<OwnedFd> {
    openat(CWD, file, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | extra, Mode::empty()).ok()
}

/// Whether a file takes buffered reads that drop their pages. Tried beyond the end of any file, where nothing is
/// read.
#[expect(clippy::needless_pass_by_value, reason = "the file is of no further use")]
fn drops_pages(file: OwnedFd) -> bool {
    let mut byte = [0];
    let flags = ReadWriteFlags::from_bits_retain(read_flags(Cache::DontCache));
    rustix::io::preadv2(&file, &mut [io::IoSliceMut::new(&mut byte)], BEYOND_BYTES, flags).is_ok()
}

/// A regular file in the folder or in one of its folders.
fn some_file(folder: &Path) -> Option<PathBuf> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).ok()?.take(NAMES_MAX).flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => return Some(entry.path()),
            Ok(kind) if kind.is_dir() => folders.push(entry.path()),
            _ => {}
        }
    }
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    folders.iter().find_map(|folder| {
        fs::read_dir(folder).ok()?.take(NAMES_MAX).flatten().find(is_file).map(|entry| entry.path())
    })
}

fn named_probe(folder: &Path, extra: OFlags) -> Option<OwnedFd> {
    let name = folder.join(unfinished_name("probe"));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | extra;
    let file = openat(CWD, &name, flags, Mode::RUSR | Mode::WUSR);
    // Some file systems make the file and then refuse to open it. One that was there is another's.
    if !matches!(file, Err(Errno::EXIST)) {
        let _ = fs::remove_file(&name);
    }
    file.ok()
}

/// Alignment of direct I/O on the files of a dataset; `EINVAL` where their file system does none.
pub(crate) fn direct_align_of_objects(root: &OwnedFd, objects: &Objects) -> Result<u32, Errno> {
    for object in 0..ALIGNMENT_TRIES.min(objects.count()) {
        match tree::open_file(root, objects.key(object).as_str(), OFlags::DIRECT) {
            Ok(file) => return direct_align(file.as_fd()).ok_or(Errno::INVAL),
            // open(2): EINVAL for O_DIRECT comes from the file system, so the other files would answer alike.
            Err(Errno::INVAL) => return Err(Errno::INVAL),
            Err(_) => {}
        }
    }
    Ok(CAUTIOUS_ALIGN_BYTES)
}

/// Alignment that a file opened for direct I/O wants for offset, length and memory; `None` when it does no
/// direct I/O.
fn direct_align(file: BorrowedFd<'_>) -> Option<u32> {
    // Before anything is tried: a direct read from tmpfs succeeds and is a copy of memory.
    if FileSystem::of(file).is_some_and(|found| found.in_memory) {
        return None;
    }
    match statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        // statx(2), since Linux 6.1: an alignment of 0 means no direct I/O; without the bit in the mask
        // nothing is said.
        Ok(found) if found.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => {
            let align = found.stx_dio_offset_align.max(found.stx_dio_mem_align);
            (found.stx_dio_offset_align > 0 && align.is_power_of_two()).then_some(align)
        }
        _ => read_aligned(file).then_some(CAUTIOUS_ALIGN_BYTES),
    }
}

/// The error for direct I/O that a file system does not do, with its name and what to do.
pub(crate) fn direct_refused(at: &Path, on: Option<FileSystem>) -> StoreError {
    let (name, in_memory) =
        on.map_or(("the file system".to_owned(), false), |found| (found.name, found.in_memory));
    let hint = if in_memory {
        "put the target on a disk: this one is memory".to_owned()
    } else {
        "set `load.cache = \"cold\"` or `\"warm\"` for this target".to_owned()
    };
    StoreError::Unavailable {
        what: "direct I/O".to_owned(),
        reason: format!("it is not honoured by {name} at `{}`", at.display()),
        hint,
    }
}

#[repr(align(4096))]
struct Block([u8; CAUTIOUS_ALIGN_BYTES as usize]);

fn read_aligned(file: BorrowedFd<'_>) -> bool {
    let mut block = Box::new(Block([0; CAUTIOUS_ALIGN_BYTES as usize]));
    rustix::io::pread(file, &mut block.0[..], 0).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_even_root_may_not_open_is_to_be_passed_into_the_container() {
        let [forbidden, denied] =
            [Errno::PERM, Errno::ACCESS].map(|errno| unreadable(Path::new("/dev/sdx"), errno));
        assert!(forbidden.starts_with("`/dev/sdx` cannot be read: ") && !forbidden.contains("as root"));
        assert!(forbidden.contains("\n  hint: this container or user may not open it: pass the device in"));
        assert!(denied.contains("\n  hint: run as root"), "{denied}");
    }

    #[test]
    fn a_missing_path_is_probed_where_it_would_be_made() {
        let dir = tempfile::tempdir().unwrap();
        let here = probe_path(dir.path());
        let there = probe_path(&dir.path().join("not/yet"));
        assert!(here.exists && !there.exists);
        assert_eq!(PathFacts { exists: true, free_bytes: here.free_bytes, ..there }, here);
        assert!(here.directory && here.writable && here.problem.is_none());
        assert!(here.free_bytes.is_some_and(|bytes| bytes > 0));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "probing leaves nothing behind");
    }

    #[test]
    fn what_is_no_directory_is_a_problem() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "x").unwrap();
        let probe = probe_path(&dir.path().join("file"));
        assert!(probe.exists && !probe.directory && !probe.writable);
        assert!(probe.problem.unwrap().ends_with("is not a directory"));
        let below = probe_path(&dir.path().join("file/below"));
        assert!(!below.exists && below.problem.is_some());
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        let link = probe_path(&dir.path().join("link"));
        assert!(link.problem.unwrap().ends_with("is a symbolic link to nowhere"));
    }

    #[test]
    fn a_relative_path_is_probed_in_the_working_directory() {
        let probe = probe_path(Path::new("surely/not/here"));
        assert!(!probe.exists && probe.directory, "{probe:?}");
    }

    #[test]
    fn any_file_of_a_folder_says_whether_reads_can_drop_their_pages() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), vec![1; 8192]).unwrap();
        let tried = |directory, writable, at: &Path| {
            drops_pages(some_open(at, directory, writable, OFlags::empty()).unwrap())
        };
        let found = [(true, true), (true, false)].map(|(d, w)| tried(d, w, dir.path()));
        assert_eq!(found, [tried(false, false, &dir.path().join("file")); 2]);
        assert_eq!(probe_path(dir.path()).dontcache, found[0]);
        assert!(!tried(false, false, Path::new("/proc/self/status")), "made up as it is read");
    }

    #[test]
    fn an_existing_file_says_the_same_alignment_as_one_without_a_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/file"), vec![1; 8192]).unwrap();
        let by_file = direct_align_below(dir.path(), true, false);
        assert_eq!(by_file, direct_align_below(dir.path(), true, true));
        assert_eq!(
            by_file,
            named_probe(dir.path(), OFlags::DIRECT).and_then(|file| direct_align(file.as_fd()))
        );
    }
}
