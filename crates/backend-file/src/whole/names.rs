//! The names of a dataset as the kernel takes them: a folder to start from, and the rest of the path.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use backend::{OpError, QueueSpec, StoreError};
use dataset::{FolderOf, Key, Objects};
use plan::Operation;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::descriptors::{Held, Share};
use crate::file_system::FileSystem;
use crate::{failure, kept, probe, tree};

/// Folders that are held open, at most. Beyond that each file is found from the root, which costs two more steps of
/// the path.
const OPEN_FOLDERS_MAX: usize = 1024;

/// Linux takes no longer path.
const PATH_BYTES_MAX: usize = 4096;

/// No link on the way is followed, and none leads out of the root.
pub(super) const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// Names in use, shared by the queues of a repetition.
static NAMES: Mutex<Vec<Weak<Names>>> = Mutex::new(Vec::new());

/// A dataset's names below a root.
#[derive(Debug)]
pub(crate) struct Names {
    root: OwnedFd,
    at: PathBuf,
    objects: Arc<Objects>,
    /// Whether folders are listed: none is then looked up ahead.
    lists: bool,
    folders: Folders,
    /// Whether paths of several steps can be walked without following links (`openat2`, 5.6; some sandboxes
    /// refuse it).
    beneath: bool,
    _share: Share,
}

#[derive(Debug)]
enum Folders {
    /// Each is open but for those that could not be opened.
    Open { folders: Box<[Option<Held>]>, of: FolderOf },
    /// They are too many.
    Many,
}

/// A name, written anew for each operation without allocating.
#[derive(Debug)]
pub(super) struct Name {
    text: String,
    start: usize,
}

/// Where a name starts, and whether it has more than one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) folder: BorrowedFd<'a>,
    pub(super) steps: bool,
}

/// The folder that holds an object.
#[derive(Debug)]
pub(super) enum Holder<'a> {
    /// One that is held open.
    Open(BorrowedFd<'a>),
    /// One that was found from the root.
    Found(OwnedFd),
}

impl AsFd for Holder<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Open(folder) => folder.as_fd(),
            Self::Found(folder) => folder.as_fd(),
        }
    }
}

/// The names that queues share, or new ones.
pub(super) fn shared(root: &Path, spec: &QueueSpec<'_>) -> Result<Arc<Names>, StoreError> {
    let lists = spec.operation == Operation::List;
    let mut all = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|names| names.strong_count() > 0);
    let known = all.iter().filter_map(Weak::upgrade).find(|names| names.serves(root, spec.objects, lists));
    if let Some(names) = known {
        return Ok(names);
    }
    let folders_max = if lists { 0 } else { OPEN_FOLDERS_MAX };
    // Beside its folders it has a file for each operation under way, where a ring does not hold them.
    kept::make_room(spec.depth);
    let names = Arc::new(Names::open(root, spec.objects, lists, folders_max)?);
    all.push(Arc::downgrade(&names));
    Ok(names)
}

impl Names {
    fn open(
        root: &Path,
        objects: &Arc<Objects>,
        lists: bool,
        folders_max: usize,
    ) -> Result<Self, StoreError> {
        let folder = tree::open_root(root).map_err(|errno| failure::object("open", root, errno))?;
        let keys = objects.folders();
        let share = kept::claim(if keys.len() > folders_max { 0 } else { keys.len() as u32 });
        // All or none: a table of some folders would give files of one dataset paths of different lengths,
        // and so different costs.
        let few = share.files() as usize == keys.len();
        let folders = if few { Folders::open(&folder, objects, &keys) } else { Folders::Many };
        // Tried, not asked by version: a seccomp filter may refuse what the kernel has.
        let beneath = openat2(&folder, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), RESOLVE).is_ok();
        let objects = Arc::clone(objects);
        Ok(Self { root: folder, at: root.to_owned(), objects, lists, folders, beneath, _share: share })
    }

    fn serves(&self, root: &Path, objects: &Arc<Objects>, lists: bool) -> bool {
        Arc::ptr_eq(&self.objects, objects) && self.at == root && self.lists == lists
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Whether a path of several steps is to be opened by `openat2`.
    pub(super) fn beneath(&self) -> bool {
        self.beneath
    }

    /// Writes the name of `object` and says where it starts.
    #[inline]
    pub(super) fn locate(&self, object: u32, name: &mut Name) -> Start<'_> {
        name.text.clear();
        self.objects.write_key(object, &mut name.text);
        let last = name.text.rfind('/').map_or(0, |slash| slash + 1);
        name.text.push('\0');
        if let Some(folder) = self.folders.of(object) {
            name.start = last;
            return Start { folder, steps: false };
        }
        name.start = 0;
        Start { folder: self.root.as_fd(), steps: last > 0 }
    }

    /// The folder that holds an object, whose name in it is written to `name`.
    pub(super) fn holder(&self, object: u32, name: &mut Name) -> Result<Holder<'_>, Errno> {
        let start = self.locate(object, name);
        if !start.steps {
            return Ok(Holder::Open(start.folder));
        }
        // Walked step by step: what is created and renamed there must lie behind no link.
        let (folder, _) = tree::locate(&self.root, name.text.trim_end_matches('\0'))?;
        name.start = name.text.rfind('/').map_or(0, |slash| slash + 1);
        Ok(Holder::Found(folder))
    }

    /// Flags that open every file of the dataset, and the alignment of direct I/O (1 without it). They ask for direct
    /// I/O where `direct` says so, never wait for what stands in the place of a file, and leave the time of last access
    /// as it is where this user may, as reads of blocks do.
    pub(super) fn open_flags(&self, direct: bool) -> Result<(OFlags, u32), StoreError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NOATIME | OFlags::NONBLOCK;
        if !direct {
            return Ok((flags, 1));
        }
        match probe::direct_align_of_objects(&self.root, &self.objects) {
            Ok(align_bytes) => Ok((flags | OFlags::DIRECT, align_bytes)),
            Err(_) => Err(probe::direct_refused(&self.at, FileSystem::of(&self.root))),
        }
    }

    /// How folders are found, in words.
    pub(super) fn summary(&self) -> String {
        match &self.folders {
            Folders::Open { folders, .. } => {
                let open = folders.iter().flatten().count();
                format!("{open} of {} held open", folders.len())
            }
            Folders::Many if self.lists => "each opened from the root when it is listed".to_owned(),
            Folders::Many => "found from the root for each file".to_owned(),
        }
    }

    /// Whether the file system lets reads through a ring be tried without blocking (`FMODE_NOWAIT`). A file of any
    /// other that is opened with `O_NONBLOCK` is read by such a try all the same, which then blocks the thread that
    /// hands it over or, before Linux 6.0, ends with EAGAIN.
    pub(super) fn reads_never_block(&self) -> bool {
        FileSystem::of(&self.root)
            .is_some_and(|found| matches!(found.name.as_str(), "ext4" | "xfs" | "btrfs"))
    }

    /// Mode and size of what has the name of an object.
    pub(super) fn look(&self, object: u32, name: &mut Name) -> Result<(u32, u64), OpError> {
        let start = self.locate(object, name);
        let stat = statat(start.folder, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW);
        stat.map(|stat| (stat.st_mode, stat.st_size.unsigned_abs())).map_err(failure::of_operation)
    }

    /// Opens a file by its name.
    #[inline]
    pub(super) fn open_file(&self, start: Start<'_>, name: &Name, flags: OFlags) -> Result<OwnedFd, Errno> {
        open_path(start.folder, name.as_c_str(), flags, start.steps && self.beneath)
    }

    /// Opens a folder by its path from the root.
    pub(super) fn open_folder(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        open_path(self.root.as_fd(), path, flags | OFlags::DIRECTORY, self.beneath)
    }
}

impl Folders {
    fn open(root: &OwnedFd, objects: &Objects, keys: &[Option<Key>]) -> Self {
        let open = |key: &Option<Key>| tree::folder(root, key.as_ref().map_or(".", Key::as_str));
        let folders = keys.iter().map(|key| open(key).ok().map(Held::new)).collect();
        Self::Open { folders, of: objects.folder_of() }
    }

    #[inline]
    fn of(&self, object: u32) -> Option<BorrowedFd<'_>> {
        let Self::Open { folders, of } = self else { return None };
        folders.get(of.get(object)? as usize)?.as_ref().map(Held::as_fd)
    }
}

/// Opens what is at a path, walking its steps without following links where `beneath` says so.
#[inline]
fn open_path(folder: BorrowedFd<'_>, path: impl Arg, flags: OFlags, beneath: bool) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    if beneath {
        openat2(folder, path, flags, Mode::empty(), RESOLVE)
    } else {
        openat(folder, path, flags, Mode::empty())
    }
}

impl Name {
    pub(super) fn new() -> Self {
        Self { text: String::with_capacity(PATH_BYTES_MAX), start: 0 }
    }

    /// The name; no name at all before the first is written.
    #[inline]
    pub(super) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(self.text.as_bytes().get(self.start..).unwrap_or_default())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use backend::{Arena, Clock};
    use dataset::Listed;
    use plan::{Advice, Cache, Registered};

    use super::*;

    fn located(names: &Names, object: u32) -> (String, bool) {
        let mut name = Name::new();
        let start = names.locate(object, &mut name);
        assert!(names.open_file(start, &name, OFlags::RDONLY).is_ok(), "{name:?}");
        (name.as_c_str().to_str().unwrap().to_owned(), start.steps)
    }

    fn tree_of(keys: &[String]) -> (tempfile::TempDir, Arc<Objects>) {
        let dir = tempfile::tempdir().unwrap();
        let mut listed = Listed::default();
        for key in keys {
            std::fs::create_dir_all(dir.path().join(key).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(key), "x").unwrap();
            listed.push(&Key::new(key).unwrap(), 1);
        }
        (dir, Arc::new(Objects::Listed(listed)))
    }

    #[test]
    fn names_start_from_the_folder_that_holds_them() {
        let (dir, objects) = tree_of(&["a/b/c".to_owned(), "top".to_owned(), "a/d".to_owned()]);
        let shared = |operation| {
            let (arena, clock) = (Arena::new(1, 1).unwrap(), Clock::real());
            let spec = QueueSpec {
                depth: 1,
                submit_batch: 1,
                connections: 0,
                block_bytes: 1,
                cache: Cache::Warm,
                operation,
                writes: None,
                advice: Advice::Normal,
                registered: Registered::Auto,
                objects: &objects,
                arena: &arena,
                clock: &clock,
            };
            shared(dir.path(), &spec).unwrap()
        };
        let names = shared(Operation::Stat);
        assert!(Arc::ptr_eq(&names, &shared(Operation::ReadFile)));
        assert_eq!(shared(Operation::List).summary(), "each opened from the root when it is listed");
        let found: Vec<_> = (0..3).map(|object| located(&names, object)).collect();
        assert_eq!(found, [("c".to_owned(), false), ("top".to_owned(), false), ("d".to_owned(), false)]);
        assert_eq!(names.summary(), "3 of 3 held open");
    }

    #[test]
    fn names_in_too_many_folders_start_from_the_root() {
        let keys: Vec<String> = (0..10).map(|folder| format!("{folder}/x")).collect();
        let (dir, objects) = tree_of(&keys);
        let names = Names::open(dir.path(), &objects, false, 10).unwrap();
        assert_eq!(located(&names, 7), ("x".to_owned(), false));
        let names = Names::open(dir.path(), &objects, false, 9).unwrap();
        assert_eq!(located(&names, 7), ("7/x".to_owned(), true));
        // A link on the way is not followed.
        std::fs::rename(dir.path().join("8"), dir.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", dir.path().join("8")).unwrap();
        let mut name = Name::new();
        let start = names.locate(8, &mut name);
        let refused = names.open_file(start, &name, OFlags::RDONLY).err();
        assert_eq!(refused, names.beneath().then_some(Errno::LOOP));
    }
}
