//! Where a cache lies: one file in a folder of feedline's own, for one process at a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use backend::{Owned, QueueSpec, SharedStore, StoreError};
use dataset::{Key, Listed, MANIFEST_FORMAT, MARKER_NAME, Marker, Objects, TIER_BLOCKS, TIER_DATASET};
use plan::{BUFFER_ALIGN_BYTES, Cache, TierPolicy};
use rustix::fs::{FallocateFlags, OFlags, fallocate};

use crate::filler::Filling;

/// The folder below the root.
const FOLDER: &str = "feedline-cache-tier";

/// A claimed cache. It holds nothing that outlives a repetition but the room on its storage.
pub struct TierFile {
    /// The storage that it lies on, opened for reading blocks.
    store: SharedStore,
    /// The one file, as the store reads it.
    objects: Arc<Objects>,
    file: Arc<File>,
    capacity_bytes: u64,
    /// Whether its blocks are read and written past the page cache.
    direct: bool,
    current: Mutex<Option<Filling>>,
}

impl Drop for TierFile {
    fn drop(&mut self) {
        // Nothing writes any more when the next process may have it.
        drop(self.current.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        // By name: a process that is being started holds a copy of the descriptor, and the lock, until it runs its program.
        let _ = self.file.unlock();
    }
}

impl TierFile {
    /// Claims `capacity_bytes` below `root`, which `store` reads: makes the folder and the file, or takes those of an
    /// earlier run, and holds them alone.
    ///
    /// # Errors
    /// Where the folder is another's, another process has it, or the storage is full.
    pub fn claim(root: &Path, store: SharedStore, capacity_bytes: u64) -> Result<Arc<Self>, StoreError> {
        let align = BUFFER_ALIGN_BYTES;
        // Direct I/O takes whole pages, to the end of the file.
        let capacity_bytes = capacity_bytes / align * align;
        let folder =
            Key::new(FOLDER).map_err(|_| StoreError::Unsupported { store: "a cache", action: "be named" })?;
        let key = own_file(&*store, &folder)?;
        let limits = store.limits()?;
        let direct = limits.direct_align_bytes.is_some_and(|bytes| u64::from(bytes) <= align);
        let path = root.join(key.as_str());
        let failed = |action| {
            let object = path.display().to_string();
            move |source: io::Error| StoreError::Object { action, object, source }
        };
        // Whoever may write into the folder could put a link in the file's place.
        let flags = OFlags::NOFOLLOW | if direct { OFlags::DIRECT } else { OFlags::empty() };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits().cast_signed())
            .open(&path)
            .map_err(failed("open"))?;
        let metadata = file.metadata().map_err(failed("look at"))?;
        // It is cut and written over and over: what another name leads to may be anybody's.
        if !metadata.is_file() || metadata.nlink() != 1 {
            return Err(StoreError::Unavailable {
                what: format!("the cache tier at `{}`", path.display()),
                reason: "it is a file with further names, or none, so not only the cache's".to_owned(),
                hint: "remove that name, or give cache_tier.at another folder".to_owned(),
            });
        }
        // The kernel lets go of it when the process ends, however it ends; a lock file would outlive a kill.
        file.try_lock().map_err(|_| StoreError::Unavailable {
            what: format!("the cache tier at `{}`", path.display()),
            reason: "another process uses it".to_owned(),
            hint: "wait for that run, or give cache_tier.at another folder".to_owned(),
        })?;
        if metadata.len() > capacity_bytes {
            file.set_len(capacity_bytes).map_err(failed("shorten"))?;
        }
        // Before the first repetition: blocks allocated while it runs would be slower writes, and a full disk would
        // fail in its middle.
        fallocate(&file, FallocateFlags::empty(), 0, capacity_bytes).map_err(|errno| {
            if errno == rustix::io::Errno::NOSPC {
                return StoreError::Unavailable {
                    what: format!("the cache tier at `{}`", path.display()),
                    reason: format!("its storage has no room for {capacity_bytes} B"),
                    hint: "make cache_tier.capacity smaller, or free some space".to_owned(),
                };
            }
            failed("make room in")(errno.into())
        })?;
        let mut listed = Listed::default();
        listed.push(&key, capacity_bytes);
        Ok(Arc::new(Self {
            store,
            objects: Arc::new(Objects::Listed(listed)),
            file: Arc::new(file),
            capacity_bytes,
            direct,
            current: Mutex::new(None),
        }))
    }

    /// Empties the cache after the last write has ended, and drops the pages of its file.
    pub(crate) fn begin(&self) {
        let ended = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(ended);
        if !self.direct {
            // Where it fails, what is read may come from memory, which the record says of such a cache anyway.
            let _ = self.store.cache(backend::CacheAction::Evict, &self.objects);
        }
    }

    /// What workers of a repetition share, in slots for blocks of `block_bytes`.
    pub(crate) fn filling(&self, policy: TierPolicy, block_bytes: u32) -> Result<Filling, StoreError> {
        let slot_bytes = block_bytes.next_multiple_of(BUFFER_ALIGN_BYTES as u32);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(filling) = current.as_ref().filter(|filling| filling.slot_bytes() == slot_bytes) {
            return Ok(filling.share());
        }
        let slots = self.capacity_bytes / u64::from(slot_bytes);
        let slots = u32::try_from(slots).unwrap_or(u32::MAX - 1).min(u32::MAX - 1);
        if slots == 0 {
            return Err(StoreError::Unavailable {
                what: "a cache tier".to_owned(),
                reason: format!("{} B hold no block of {block_bytes} B", self.capacity_bytes),
                hint: "make cache_tier.capacity larger".to_owned(),
            });
        }
        // The one before, of other blocks, must have ended before this one writes.
        drop(current.take());
        let begun = Filling::begin(Arc::clone(&self.file), policy, (slots, slot_bytes))?;
        let share = begun.share();
        *current = Some(begun);
        Ok(share)
    }

    /// A queue that reads slots, with the depth and the buffers of `spec`.
    pub(crate) fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn backend::IoQueue>, StoreError> {
        let cache = if self.direct { Cache::Bypass } else { Cache::Warm };
        self.store.open_queue(&QueueSpec {
            depth: spec.depth,
            submit_batch: spec.submit_batch,
            block_bytes: spec.block_bytes,
            connections: 0,
            cache,
            operation: spec.operation,
            writes: spec.writes,
            // What is told of the target's files says nothing of the cache's one file.
            advice: plan::Advice::Normal,
            registered: spec.registered,
            objects: &self.objects,
            arena: spec.arena,
            clock: spec.clock,
        })
    }

    /// How blocks are read and written, in the words of a record.
    pub(crate) fn io_words(&self) -> &'static str {
        if self.direct {
            "direct"
        } else {
            "through the page cache: no direct I/O there, so memory may serve it"
        }
    }
}

/// The file of the cache, in a folder that is feedline's own.
fn own_file(store: &dyn backend::Store, folder: &Key) -> Result<Key, StoreError> {
    let name = |name: &str| {
        folder.join(name).map_err(|_| StoreError::Unsupported { store: "a cache", action: "be named" })
    };
    let (marker, key) = (name(MARKER_NAME)?, name(TIER_BLOCKS)?);
    let owned = match store.read_marker(&marker)? {
        Some(marker) if marker.dataset == TIER_DATASET => Owned::claim(store, folder)?,
        Some(_) => return Err(StoreError::NotOwned { folder: folder.clone() }),
        None => {
            let marker = Marker {
                format: MANIFEST_FORMAT,
                note: "feedline made this folder; `feedline clean` removes it".to_owned(),
                dataset: TIER_DATASET.to_owned(),
            };
            store.create_folder(folder, &marker)?
        }
    };
    if store.stat(&key)?.is_none() {
        store.create(&owned, &key)?.finish()?;
    }
    Ok(key)
}
