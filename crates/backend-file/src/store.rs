//! [`FileStore`]: a folder of a local or mounted file system, or a block device.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};
use dataset::{Key, MARKER_BYTES_MAX, Marker, Objects};
use plan::{Advice, Cache, Operation};
use rustix::fs::{AtFlags, FileType, OFlags, statat};
use rustix::io::Errno;

use crate::device::Device;
use crate::files::TableSpec;
use crate::inline::Inline;
use crate::kept;
use crate::mmap::{self, MapCopies};
use crate::mounts::Mount;
use crate::pread::BlockingBlocks;
use crate::probe::probe_path;
use crate::span::{How, read_flags, write_flags};
use crate::uring::RingBlocks;
use crate::uring::turns::RingQueue;
use crate::write::{self, FileWriter};
use crate::{advice, cache, diskstats, facts, failure, listing, tree, whole};

/// Files below a root folder, which need not exist before something is written; or a block device, the one object
/// of its folder, which is only ever read.
#[derive(Debug)]
pub struct FileStore {
    /// For a device, the folder of its node.
    root: PathBuf,
    device: Option<Device>,
    reads: Reads,
    open_files_max: Option<u32>,
}

/// How queues read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    IoUring,
    Pread,
    Mmap,
}

impl FileStore {
    /// Files read through `io_uring`, one ring per queue.
    pub fn uring(root: &Path) -> Self {
        Self::new(root, Reads::IoUring)
    }

    /// Files read by blocking `pread`, in line: one read at a time per queue.
    pub fn pread(root: &Path) -> Self {
        Self::new(root, Reads::Pread)
    }

    /// Files copied from memory maps, in line: one copy at a time per queue.
    pub fn mmap(root: &Path) -> Self {
        Self::new(root, Reads::Mmap)
    }

    /// A block device read through `io_uring`, by its node or a link to it.
    pub fn uring_device(node: &Path) -> Self {
        Self::of_device(node, Reads::IoUring)
    }

    /// A block device read by blocking `pread`, by its node or a link to it.
    pub fn pread_device(node: &Path) -> Self {
        Self::of_device(node, Reads::Pread)
    }

    /// A block device copied from a memory map, by its node or a link to it.
    pub fn mmap_device(node: &Path) -> Self {
        Self::of_device(node, Reads::Mmap)
    }

    fn new(root: &Path, reads: Reads) -> Self {
        Self { root: root.to_owned(), device: None, reads, open_files_max: None }
    }

    fn of_device(node: &Path, reads: Reads) -> Self {
        let device = Device::new(node);
        Self { root: device.folder().to_owned(), device: Some(device), reads, open_files_max: None }
    }

    /// Holds at most `files` of a dataset open at once. Otherwise it is as many as the hard limit of
    /// RLIMIT_NOFILE allows, up to 1,048,576.
    ///
    /// A dataset of no more files is opened in full by the first queue over it, before anything is measured,
    /// and stays open for the queues that follow; [`backend::QueueReport::opens`] is then 0. Of a larger one
    /// the files used last are open, and reads open the others.
    #[must_use]
    pub fn with_open_files_max(mut self, files: u32) -> Self {
        self.open_files_max = Some(files);
        self
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// The path to probe: the root, or the device in it.
    fn at(&self) -> &Path {
        self.device.as_ref().map_or(&self.root, Device::node)
    }

    /// Refuses everything that would change a device, whoever owns it.
    fn writable(&self, action: &'static str) -> Result<(), StoreError> {
        // No key of a scenario lifts this: one write to a device destroys the file system on it.
        let store = "a block device, which is only ever read,";
        if self.device.is_some() { Err(StoreError::Unsupported { store, action }) } else { Ok(()) }
    }

    /// How the blocks of a queue are moved.
    fn how(&self, spec: &QueueSpec<'_>) -> Result<How, StoreError> {
        let read_flags = read_flags(spec.cache);
        if spec.operation != Operation::Write {
            return Ok(How { read_flags, write_flags: None });
        }
        self.writable("be written over")?;
        if self.reads == Reads::Mmap {
            return Err(whole::not_mapped());
        }
        Ok(How { read_flags, write_flags: Some(write_flags(spec.may_write()?)) })
    }

    fn read_once(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        let root = tree::open_root(&self.root)?;
        let file = tree::open_file(&root, key.as_str(), OFlags::empty())?;
        let mut filled = 0;
        // read(2): fewer bytes than asked are no error. Only 0 is the end of the file.
        while filled < buf.len() {
            match rustix::io::pread(&file, &mut buf[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(filled)
    }
}

impl Store for FileStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        match &self.device {
            Some(device) => facts::of_device(device.node()),
            None => facts::facts(&self.root),
        }
    }

    fn nfs_mount_point(&self) -> Option<PathBuf> {
        let mount = Mount::of(&self.root).filter(|_| self.device.is_none())?;
        mount.is_nfs().then_some(mount.point)
    }

    fn block_device(&self) -> Option<String> {
        match &self.device {
            Some(device) => diskstats::name_of_node(device.node()),
            None => diskstats::name_below(&self.root),
        }
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        let probe = probe_path(self.at());
        Ok(Limits { direct_align_bytes: probe.direct_align_bytes, page_cache: !probe.in_memory })
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        match (&self.device, prefix) {
            (None, _) => listing::list(&self.root, prefix, each),
            (Some(_), Some(_)) => Ok(()),
            (Some(device), None) => device.entry().map(|entry| {
                let _ = each(entry);
            }),
        }
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        if self.device.is_some() { Ok(Vec::new()) } else { listing::folders(&self.root) }
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        if let Some(device) = &self.device {
            return device.entry().map(|entry| Some(entry).filter(|entry| entry.key == *key));
        }
        let found = tree::open_root(&self.root).and_then(|root| {
            let (folder, name) = tree::locate(&root, key.as_str())?;
            statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
        });
        match found {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Ok(Some(listing::entry(key.clone(), &stat)))
            }
            // A folder or a link is no object.
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(failure::object("look at", &self.path(key), errno)),
        }
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        self.read_once(key, offset, buf).map_err(|errno| failure::object("read", &self.path(key), errno))
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        self.writable("hold a folder")?;
        write::create_folder(&self.root, folder, marker)?;
        Owned::claim(self, folder)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        if self.device.is_some() {
            return Ok(None);
        }
        let mut text = vec![0; MARKER_BYTES_MAX];
        match self.read_once(key, 0, &mut text) {
            // What does not parse proves no ownership: its folder then counts as another's and is not
            // touched.
            Ok(bytes) => Ok(serde_json::from_slice(&text[..bytes]).ok()),
            // A link, a folder or a FIFO of that name is no marker.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::SPIPE) => Ok(None),
            Err(errno) => Err(failure::object("read", &self.path(key), errno)),
        }
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        self.writable("hold a new object")?;
        owned.refuse_others(key)?;
        Ok(Box::new(FileWriter::create(&self.root, key)?))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        self.writable("lose an object")?;
        owned.refuse_others(key)?;
        write::remove(&self.root, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        self.writable("lose a folder")?;
        if owned.folder() != key {
            owned.refuse_others(key)?;
        }
        write::remove_empty_folder(&self.root, key)
    }

    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        // Before the first page is warmed: the kernel drops a device's pages with its last open descriptor.
        self.device.as_ref().map_or(Ok(()), Device::hold)?;
        cache::act(&self.root, action, objects)
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        if self.reads == Reads::Mmap {
            mmap::check(spec.cache)?;
        }
        let advice = if self.reads == Reads::Mmap { Advice::Normal } else { advice::of_files(spec)? };
        if matches!(spec.operation, Operation::WriteFile | Operation::Names) {
            self.writable("be written anew")?;
            return match self.reads {
                Reads::Pread if spec.operation == Operation::Names => whole::open_names(&self.root, spec),
                Reads::Pread => whole::open_anew(&self.root, spec),
                Reads::IoUring => Err(whole::not_anew()),
                Reads::Mmap => Err(whole::not_mapped()),
            };
        }
        if !matches!(spec.operation, Operation::Read | Operation::Write) {
            return match self.reads {
                Reads::IoUring => whole::open_uring(&self.root, spec),
                Reads::Pread => whole::open_posix(&self.root, spec),
                Reads::Mmap => Err(whole::not_mapped()),
            };
        }
        let how = self.how(spec)?;
        let table = kept::table(TableSpec {
            root: &self.root,
            objects: spec.objects,
            direct: spec.cache == Cache::Bypass,
            writes: how.write_flags.is_some(),
            advice,
            open_max: self.open_files_max,
        })?;
        Ok(match self.reads {
            Reads::IoUring => Box::new(RingQueue(RingBlocks::open(table, how, spec)?)),
            Reads::Pread => Box::new(Inline::new(BlockingBlocks::open(table, how)?, spec.clock)),
            Reads::Mmap => Box::new(Inline::new(MapCopies::open(table, &self.root, spec)?, spec.clock)),
        })
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(probe_path(self.at()).free_bytes)
    }
}
