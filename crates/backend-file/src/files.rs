//! The open files of a dataset, shared by the queues of a store.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use backend::{OpError, StoreError};
use dataset::Objects;
use plan::Advice;
use rustix::fd::{AsFd, OwnedFd, RawFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::descriptors::{self, Held, Share};
use crate::file_system::FileSystem;
use crate::recent::{InUse, Recent};
use crate::wanted::Wanted;
use crate::{advice, direct, failure, probe, tree};

/// Threads that open files ahead: on a network each is a round trip.
const OPENING_THREADS: usize = 8;

/// Files that are not worth another thread.
const FILES_PER_THREAD: usize = 1024;

/// Files tried to learn the alignment of direct I/O.
const ALIGNMENT_TRIES: u32 = 16;

/// The place of a file that is never closed while its table lives.
const KEPT: u32 = u32::MAX;

/// A dataset's files, open for reading, directly or through the page cache.
#[derive(Debug)]
pub(crate) struct FileTable {
    root: OwnedFd,
    at: PathBuf,
    objects: Arc<Objects>,
    direct: bool,
    advice: Advice,
    open_max: Option<u32>,
    align_bytes: u32,
    held: Files,
    /// Files that were open before the first read.
    ahead: u32,
    /// Uses at once that queues were promised, of those that [`Files::Recent`] has room for.
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
    pub(crate) fn open(wanted: Wanted<'_>, share: Share) -> Result<Self, StoreError> {
        let Wanted { root, objects, direct, advice, open_max } = wanted;
        let root_folder = tree::open_root(root).map_err(|errno| failure::object("open", root, errno))?;
        let count = objects.count();
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
            Err(_) => Err(direct::refused(root, table.file_system())),
        }
    }

    /// Whether this table serves the same files in the same way.
    pub(crate) fn serves(&self, wanted: Wanted<'_>) -> bool {
        Arc::ptr_eq(&self.objects, wanted.objects)
            && self.at == wanted.root
            && (self.direct, self.advice, self.open_max) == (wanted.direct, wanted.advice, wanted.open_max)
    }

    /// Alignment of offsets and lengths: 1 but for direct I/O.
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

    /// The number of files when each keeps one number for good, so that they can be registered under it.
    pub(crate) fn kept(&self) -> Option<u32> {
        match &self.held {
            Files::All(files) => Some(files.len() as u32),
            Files::Recent(_) => None,
        }
    }

    /// A file that is open already and stays so.
    pub(crate) fn kept_fd(&self, object: u32) -> Option<RawFd> {
        match &self.held {
            Files::All(files) => files[object as usize].get().map(Held::raw),
            Files::Recent(_) => None,
        }
    }

    /// Opens every file that has a place for good, and learns the alignment. A file that cannot be opened now
    /// is tried again by the reads that want it; an error here says that direct I/O itself is refused.
    fn open_ahead(&mut self) -> Result<(), Errno> {
        self.align_bytes = if self.direct { self.learn_alignment()? } else { 1 };
        if let Files::All(places) = &self.held {
            self.open_all(places)?;
            self.ahead = places.iter().filter(|place| place.get().is_some()).count() as u32;
        }
        Ok(())
    }

    fn learn_alignment(&self) -> Result<u32, Errno> {
        for object in 0..ALIGNMENT_TRIES.min(self.objects.count()) {
            match self.open_object(object) {
                Ok(file) => return probe::direct_align(file.as_fd()).ok_or(Errno::INVAL),
                Err(Errno::INVAL) => return Err(Errno::INVAL),
                Err(_) => {}
            }
        }
        Ok(probe::CAUTIOUS_ALIGN_BYTES)
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
                Err(Errno::INVAL) if self.direct => return Err(Errno::INVAL),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn open_object(&self, object: u32) -> Result<Held, Errno> {
        let extra = if self.direct { OFlags::DIRECT } else { OFlags::empty() };
        let file = tree::open_file(&self.root, self.objects.key(object).as_str(), extra)?;
        // Advice belongs to an open file, not to its inode. Where the kernel takes none, the file counts as not opened, so
        // that every read of it fails: one without the advice would be of another cell.
        advice::give(&file, self.advice)?;
        Ok(Held::new(file))
    }

    /// That of the first file, which may be a device, or else of the folder.
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
        let in_use =
            self.table.open_and_pin(object).map_err(|errno| OpError::from_errno(errno.raw_os_error()))?;
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
            (u64::from(wanted) + 64).next_power_of_two().max(1024)
        ),
    }
}
