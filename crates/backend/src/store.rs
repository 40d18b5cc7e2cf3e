//! The untimed seam: list, write, remove, look at the cache, open queues.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::{Key, MARKER_NAME, Marker, Objects};

use crate::{IoQueue, Owned, QueueSpec, StoreError};

/// An object found by a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path below the target's root.
    pub key: Key,
    /// Size.
    pub bytes: u64,
    /// Time of the last modification, nanoseconds since 1970.
    pub modified_ns: i128,
    /// Bytes that the storage holds for it, where it says: fewer than `bytes` where the object has holes, which
    /// are read from nowhere. File systems that compress or keep small files among their names say fewer too.
    pub allocated_bytes: Option<u64>,
}

/// What a store was found to allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Alignment of offset and length of direct I/O; `None` where there is no direct I/O.
    pub direct_align_bytes: Option<u32>,
    /// Whether there is a page cache that [`Store::cache`] can act on.
    pub page_cache: bool,
}

/// What to do with the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAction {
    /// Write back and drop every page of the objects.
    Evict,
    /// Read every object once, in order.
    Warm,
    /// Only look.
    Inspect,
    /// As [`CacheAction::Evict`], and drop cached names and inodes, which serve opens, looks and listings, if this user may.
    EvictNames,
    /// Look at every object and list every folder once, reading no bytes.
    WarmNames,
}

/// A whole object, and what the sum that its storage keeps of it says of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summed {
    /// All bytes of the object, as they came.
    pub bytes: Vec<u8>,
    /// Whether they have the sum that the storage keeps.
    pub agrees: bool,
    /// Whether the storage says that it is a sum of the bytes. `false` of an S3 ETag: most services answer the MD5 of the
    /// bytes there, and none has to.
    pub is_declared: bool,
}

/// How much of the objects is in the page cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residency {
    /// Resident bytes, where the kernel says; `None` when it may not be asked, or when the storage's client keeps
    /// a cache of its own that the kernel does not see.
    pub resident_bytes: Option<u64>,
    /// Bytes of all objects.
    pub total_bytes: u64,
    /// `cachestat`, `mincore` or `none`.
    pub method: &'static str,
    /// Whether cached names and inodes were dropped, with the blocks that they are read from. `false` if this user may not,
    /// or if it is not known for the file system. `None` if this was not asked for.
    pub names_dropped: Option<bool>,
}

impl Residency {
    /// The residency on storage that is reached past the kernel's file systems: nothing can be in the page cache.
    pub fn user_space(objects: &Objects) -> Self {
        Self {
            resident_bytes: Some(0),
            total_bytes: objects.total_bytes(),
            method: "user_space",
            names_dropped: None,
        }
    }
}

impl Owned {
    /// Claims `folder` by the marker inside it.
    pub fn claim(store: &dyn Store, folder: &Key) -> Result<Self, StoreError> {
        let not_owned = || StoreError::NotOwned { folder: folder.clone() };
        let marker = folder.join(MARKER_NAME).map_err(|_| not_owned())?;
        // Read from the storage, not remembered: between two runs the folder may have been replaced by another's.
        store.read_marker(&marker)?.map(|_| Self::proven(folder.clone())).ok_or_else(not_owned)
    }
}

/// An object being written. It appears under its name, complete, when [`ObjectWriter::finish`] returns.
pub trait ObjectWriter {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Makes the object durable and visible. Dropping the writer instead leaves nothing behind.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;

    /// Makes the object visible as [`ObjectWriter::finish`] does, for a checkpoint: where it is to be `durable`, its
    /// bytes and its name outlive a power cut from here on; else the storage may write them back when it likes. A storage
    /// that has only one of the two ignores the choice, and scenarios do not offer it there.
    fn finish_with(self: Box<Self>, durable: bool) -> Result<(), StoreError> {
        // Object stores publish an object when it is durable; there is no other moment to choose.
        let _ = durable;
        self.finish()
    }
}

/// A storage under test. Blocking, and never timed but for the queues it opens and the checkpoints written through it.
pub trait Store: Send + Sync {
    /// Facts for the record: file system, device, mount.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// The block device below, as `/proc/diskstats` calls it; `None` where there is none or it is not known.
    fn block_device(&self) -> Option<String> {
        None
    }

    /// The network interface towards it, as `/sys/class/net` calls it; `None` where there is none or it is not known.
    fn network_interface(&self) -> Option<String> {
        None
    }

    /// Where the kernel's NFS client has it mounted; `None` for everything else.
    fn nfs_mount_point(&self) -> Option<PathBuf> {
        None
    }

    /// What the storage allows, probed.
    fn limits(&self) -> Result<Limits, StoreError>;

    /// Every object below `prefix` (all when `None`), in the order of the names, until `each` breaks off.
    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// The folders directly below the root, in the order of their names; empty without a root. Links are not followed, and
    /// names that cannot be keys are left out.
    fn folders(&self) -> Result<Vec<Key>, StoreError>;

    /// Size and time of one object; `None` when it does not exist.
    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError>;

    /// Reads up to `buf.len()` bytes at `offset`; fewer only at the end.
    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError>;

    /// Reads a whole object and holds it against the sum that the storage itself keeps of its bytes. `None` where it keeps
    /// none, where the object is larger than `bytes_max`, and where it takes longer than `limit_ns`.
    fn read_summed(&self, key: &Key, bytes_max: u64, limit_ns: u64) -> Result<Option<Summed>, StoreError> {
        // Only object stores keep sums; a file system that does (ZFS, Btrfs) checks them itself before a read ends.
        let _ = (key, bytes_max, limit_ns);
        Ok(None)
    }

    /// Makes a new folder of feedline's own: fails when it exists, and writes the marker first.
    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError>;

    /// The marker, when `key` is one.
    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError>;

    /// Begins a new object; never overwrites.
    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError>;

    /// Removes one object, or nothing when it is gone already.
    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError>;

    /// Removes the directory `key` if it is empty; returns whether it is gone.
    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError>;

    /// Acts on the page cache and says what is resident afterwards.
    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError>;

    /// Opens a queue on the calling thread.
    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError>;

    /// Free bytes where new objects would go; `None` where the storage does not say.
    fn free_bytes(&self) -> Result<Option<u64>, StoreError>;
}

/// A store shared between threads.
pub type SharedStore = Arc<dyn Store>;

/// The part of [`Store`] that has to do with objects at rest, for a store that holds none.
#[macro_export]
macro_rules! holds_no_data {
    ($store:literal) => {
        fn list(
            &self,
            _prefix: Option<&dataset::Key>,
            _each: &mut dyn FnMut($crate::Entry) -> std::ops::ControlFlow<()>,
        ) -> Result<(), $crate::StoreError> {
            Err($crate::StoreError::Unsupported { store: $store, action: "list objects" })
        }

        fn folders(&self) -> Result<Vec<dataset::Key>, $crate::StoreError> {
            Ok(Vec::new())
        }

        fn stat(&self, _key: &dataset::Key) -> Result<Option<$crate::Entry>, $crate::StoreError> {
            Err($crate::StoreError::Unsupported { store: $store, action: "look at an object" })
        }

        fn create_folder(
            &self,
            _folder: &dataset::Key,
            _marker: &dataset::Marker,
        ) -> Result<$crate::Owned, $crate::StoreError> {
            Err($crate::StoreError::Unsupported { store: $store, action: "hold a dataset" })
        }

        fn read_marker(&self, _key: &dataset::Key) -> Result<Option<dataset::Marker>, $crate::StoreError> {
            Ok(None)
        }

        fn create(
            &self,
            _owned: &$crate::Owned,
            _key: &dataset::Key,
        ) -> Result<Box<dyn $crate::ObjectWriter + Send>, $crate::StoreError> {
            Err($crate::StoreError::Unsupported { store: $store, action: "hold an object" })
        }

        fn remove(&self, _owned: &$crate::Owned, _key: &dataset::Key) -> Result<(), $crate::StoreError> {
            Err($crate::StoreError::Unsupported { store: $store, action: "remove an object" })
        }

        fn remove_empty_folder(
            &self,
            _owned: &$crate::Owned,
            _key: &dataset::Key,
        ) -> Result<bool, $crate::StoreError> {
            Err($crate::StoreError::Unsupported { store: $store, action: "remove a folder" })
        }

        fn free_bytes(&self) -> Result<Option<u64>, $crate::StoreError> {
            Ok(None)
        }
    };
}
pub(crate) use holds_no_data;
