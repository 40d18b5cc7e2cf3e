//! The open files of a dataset, shared by the queues of a store.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use backend::{OpError, StoreError};
use dataset::Objects;
use plan::Advice;
use rustix::fd::{OwnedFd, RawFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::descriptors::{self, Held, Share};
use crate::file_system::FileSystem;
use crate::recent::{InUse, Recent};
use crate::{advice, failure, probe, tree};

/// Threads that open files ahead: on a network each is a round trip.
const OPENING_THREADS: usize = 8;

/// A thread opens at least this many files.
const FILES_PER_THREAD: usize = 1024;

/// The place of a file that stays open as long as its table.
const KEPT: u32 = u32::MAX;

/// What a table holds and how it opens it. Queues whose specifications are equal share one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableSpec<'a> {
    /// Folder of the objects.
    pub(crate) root: &'a Path,
    /// The objects.
    pub(crate) objects: &'a Arc<Objects>,
    /// Whether they are read around the page cache.
    pub(crate) direct: bool,
    /// Whether they are written too.
    pub(crate) writes: bool,
    /// What the kernel is told of how each is read.
    pub(crate) advice: Advice,
    /// Most files to hold open, where that is bounded.
    pub(crate) open_max: Option<u32>,
}

/// A dataset's files, open for reading or for writing too, directly or through the page cache.
#[derive(Debug)]
pub(crate) struct FileTable {
    root: OwnedFd,
    at: PathBuf,
    objects: Arc<Objects>,
    direct: bool,
    writes: bool,
    advice: Advice,
    open_max: Option<u32>,
    align_bytes: u32,
    held: Files,
    /// Files that were open before the first read.
    ahead: u32,
    /// Files in use at once that queues were promised; [`Files::Recent`] must have room for them.
    promised: AtomicU32,
    share: Share,
}

#[derive(Debug)]
enum Files {
    /// Every file may stay open.
    All(Box<[OnceLock<Held>]>),
    /// There are more files than may be open.
    Recent(Recent),
}

impl FileTable {
    /// Opens the files ahead when `share` has room for all; nothing is then opened while it is measured.
    pub(crate) fn open(spec: TableSpec<'_>, share: Share) -> Result<Self, StoreError> {
        let TableSpec { root, objects, direct, writes, advice, open_max } = spec;
        let root_folder = tree::open_root(root).map_err(|errno| failure::object("open", root, errno))?;
        let count = objects.count();
        // Where all files fit they are opened here. Opened by the first reads instead, they once were part of
        // the measured window.
        let held = if share.files() >= count {
            Files::All((0..count).map(|_| OnceLock::new()).collect())
        } else {
            Files::Recent(Recent::new(share.files()))
        };
        let mut table = Self {
            root: root_folder,
            at: root.to_owned(),
            objects: Arc::clone(objects),
            direct,
            writes,
            advice,
            open_max,
            align_bytes: 1,
            held,
            ahead: 0,
            promised: AtomicU32::new(0),
            share,
        };
        match table.open_ahead() {
            Ok(()) => Ok(table),
            Err(_) => Err(probe::direct_refused(root, table.file_system())),
        }
    }

    /// Whether this table serves the same files in the same way.
    pub(crate) fn serves(&self, spec: TableSpec<'_>) -> bool {
        // By identity: all queues of a dataset hold the same list, and to compare a million names would take
        // longer than the opening it saves.
        Arc::ptr_eq(&self.objects, spec.objects)
            && self.at == spec.root
            && (self.direct, self.writes) == (spec.direct, spec.writes)
            && (self.advice, self.open_max) == (spec.advice, spec.open_max)
    }

    /// Whether the files are those of these objects.
    pub(crate) fn is_of(&self, objects: &Arc<Objects>) -> bool {
        Arc::ptr_eq(&self.objects, objects)
    }

    /// Alignment of offsets and lengths; 1 without direct I/O.
    pub(crate) fn align_bytes(&self) -> u32 {
        self.align_bytes
    }

    /// Most files to hold open, where that is bounded.
    pub(crate) fn open_max(&self) -> Option<u32> {
        self.open_max
    }

    /// How many files are held open, in words.
    pub(crate) fn summary(&self) -> String {
        let count = self.objects.count();
        match &self.held {
            Files::All(_) if self.ahead == count => format!("all {count}, opened ahead"),
            Files::All(_) => format!("{} of {count}, opened ahead; the others failed to open", self.ahead),
            Files::Recent(_) => format!("the {} of {count} used last", self.share.files()),
        }
    }

    /// What the kernel was told of every file, for the record; nothing where it was told nothing.
    pub(crate) fn advised(&self) -> Option<(&'static str, String)> {
        (self.advice != Advice::Normal).then(|| ("fadvise", self.advice.name().to_owned()))
    }

    /// The number of files where each keeps its descriptor for good and can be registered with a ring.
    pub(crate) fn kept(&self) -> Option<u32> {
        match &self.held {
            Files::All(files) => Some(files.len() as u32),
            Files::Recent(_) => None,
        }
    }

    /// The descriptor of a file that is open and stays open.
    pub(crate) fn kept_fd(&self, object: u32) -> Option<RawFd> {
        match &self.held {
            Files::All(files) => files[object as usize].get().map(Held::raw),
            Files::Recent(_) => None,
        }
    }

    /// Opens every file that is to stay open, and finds out the alignment. Reads try again to open a file that cannot
    /// be opened now. An error says that direct I/O itself is refused.
    fn open_ahead(&mut self) -> Result<(), Errno> {
        if self.direct {
            self.align_bytes = probe::direct_align_of_objects(&self.root, &self.objects)?;
        }
        if let Files::All(places) = &self.held {
            self.open_all(places)?;
            self.ahead = places.iter().filter(|place| place.get().is_some()).count() as u32;
        }
        Ok(())
    }

    fn open_all(&self, places: &[OnceLock<Held>]) -> Result<(), Errno> {
        let each = places.len().div_ceil(OPENING_THREADS).max(FILES_PER_THREAD);
        if places.len() <= each {
            return self.open_each(0, places);
        }
        thread::scope(|scope| {
            let workers: Vec<_> = (0..)
                .step_by(each)
                .zip(places.chunks(each))
                .map(|(first, places)| scope.spawn(move || self.open_each(first, places)))
                .collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Opens the files of the objects from `first` on.
    fn open_each(&self, first: u32, places: &[OnceLock<Held>]) -> Result<(), Errno> {
        for (object, place) in (first..).zip(places) {
            match self.open_object(object) {
                // The table is not shared yet: the place is empty.
                Ok(file) => drop(place.set(file)),
                // open(2): EINVAL is how a file system without direct I/O answers O_DIRECT. Any other error
                // may be of this file alone, and the read that wants it counts it.
                Err(Errno::INVAL) if self.direct => return Err(Errno::INVAL),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn open_object(&self, object: u32) -> Result<Held, Errno> {
        let direct = if self.direct { OFlags::DIRECT } else { OFlags::empty() };
        let open = if self.writes { tree::open_to_write } else { tree::open_file };
        let file = open(&self.root, self.objects.key(object).as_str(), direct)?;
        // Advice belongs to an open file, not to its inode. Where the kernel takes none, the file counts as not opened, so
        // that every read of it fails: one without the advice would be of another cell.
        advice::give(&file, self.advice)?;
        Ok(Held::new(file))
    }

    /// The file system of the first file, which may be a device, or of the folder where there is no file.
    fn file_system(&self) -> Option<FileSystem> {
        let first = (self.objects.count() > 0).then(|| self.objects.key(0));
        let first = first.and_then(|key| tree::find_file(&self.root, key.as_str()).ok());
        FileSystem::of(first.as_ref().unwrap_or(&self.root))
    }

    fn open_and_pin(&self, object: u32) -> Result<InUse, Errno> {
        match &self.held {
            Files::All(files) => {
                let opened = self.open_object(object)?;
                // Another thread may have been faster; its file is used then and this one is closed.
                let fd = files[object as usize].get_or_init(|| opened).raw();
                Ok(InUse { fd, place: KEPT })
            }
            Files::Recent(recent) => {
                // `QueueFiles::new` has promised every queue a place for each of its reads, so one is always
                // idle.
                let place = recent.make_room().ok_or(Errno::MFILE)?;
                let file = self.open_object(object).inspect_err(|_| recent.give_up(place))?;
                Ok(recent.put(place, object, file))
            }
        }
    }
}

/// One queue's uses of the files of a table.
#[derive(Debug)]
pub(crate) struct QueueFiles {
    table: Arc<FileTable>,
    uses: u32,
    opens: u64,
}

impl QueueFiles {
    /// Promises that `depth` reads may be outstanding, each of a file of its own.
    pub(crate) fn new(table: Arc<FileTable>, depth: u32) -> Result<Self, StoreError> {
        let uses = depth.min(table.objects.count());
        // Added before it is compared: of two queues that open at once, at most one takes the last places.
        // Dropping `files` takes a refused promise back.
        let promised = table.promised.fetch_add(uses, Ordering::Relaxed) + uses;
        let files = Self { table, uses, opens: 0 };
        let room = files.table.share.files();
        if files.table.kept().is_none() && promised > room {
            return Err(too_deep(promised, files.table.objects.count(), room));
        }
        Ok(files)
    }

    /// The table.
    pub(crate) fn table(&self) -> &FileTable {
        &self.table
    }

    /// Files opened through this queue so far.
    pub(crate) fn opens(&self) -> u64 {
        self.opens
    }

    /// The file of `object` if it is open.
    #[inline]
    pub(crate) fn pin(&self, object: u32) -> Option<InUse> {
        match &self.table.held {
            Files::All(files) => files[object as usize].get().map(|f| InUse { fd: f.raw(), place: KEPT }),
            Files::Recent(recent) => recent.pin(object),
        }
    }

    /// Opens the file of `object`.
    pub(crate) fn open(&mut self, object: u32) -> Result<InUse, OpError> {
        let in_use = self.table.open_and_pin(object).map_err(failure::of_operation)?;
        self.opens += 1;
        Ok(in_use)
    }

    /// Ends one use.
    #[inline]
    pub(crate) fn unpin(&self, in_use: InUse) {
        if let Files::Recent(recent) = &self.table.held {
            recent.unpin(in_use.place);
        }
    }
}

impl Drop for QueueFiles {
    fn drop(&mut self) {
        self.table.promised.fetch_sub(self.uses, Ordering::Relaxed);
    }
}

fn too_deep(wanted: u32, count: u32, room: u32) -> StoreError {
    let limit = descriptors::limit();
    StoreError::Unavailable {
        what: format!("a queue depth of {wanted} over {count} files"),
        reason: format!(
            "the process may open {limit} files (RLIMIT_NOFILE), which leaves {room} for the dataset"
        ),
        hint: format!(
            "raise the limit (`ulimit -n {}`, LimitNOFILE= in a unit, `--ulimit nofile=` for a container), or lower `load.queue_depth`",
            // 64 files beside the dataset: rings, record and listings (32, `descriptors::HEADROOM`), and what
            // the process holds for itself.
            (u64::from(wanted) + 64).next_power_of_two().max(1024)
        ),
    }
}
