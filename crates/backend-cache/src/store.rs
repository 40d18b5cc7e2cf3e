//! [`TieredStore`]: a storage behind a cache.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, SharedStore, Store,
    StoreError, Summed,
};
use dataset::{Key, Marker, Objects};
use plan::{Operation, TierPolicy};

use crate::place::TierFile;
use crate::queue::TieredQueue;

/// A storage whose blocks are read through a cache. All but the reads is the storage's own.
pub struct TieredStore {
    slow: SharedStore,
    place: Arc<TierFile>,
    policy: TierPolicy,
}

impl TieredStore {
    /// `slow` behind a cache at `place`.
    pub fn new(slow: SharedStore, place: Arc<TierFile>, policy: TierPolicy) -> Self {
        Self { slow, place, policy }
    }
}

impl Store for TieredStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        self.slow.facts()
    }

    fn block_device(&self) -> Option<String> {
        self.slow.block_device()
    }

    fn network_interface(&self) -> Option<String> {
        self.slow.network_interface()
    }

    fn nfs_mount_point(&self) -> Option<PathBuf> {
        self.slow.nfs_mount_point()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        self.slow.limits()
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.slow.list(prefix, each)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        self.slow.folders()
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.slow.stat(key)
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        self.slow.read_at(key, offset, buf)
    }

    fn read_summed(&self, key: &Key, bytes_max: u64, limit_ns: u64) -> Result<Option<Summed>, StoreError> {
        self.slow.read_summed(key, bytes_max, limit_ns)
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        self.slow.create_folder(folder, marker)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        self.slow.read_marker(key)
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        self.slow.create(owned, key)
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        self.slow.remove(owned, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        self.slow.remove_empty_folder(owned, key)
    }

    /// Comes before and after every repetition, and leaves the tier empty: each begins with nothing in it.
    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        // At both calls of a repetition, the one after it too: the memory and the thread of the filler are not to
        // fall into the next one's window.
        self.place.begin();
        self.slow.cache(action, objects)
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        if spec.operation != Operation::Read {
            return Err(StoreError::Unsupported {
                store: "a cache tier",
                action: "serve anything but reads of blocks",
            });
        }
        let filling = self.place.filling(self.policy, spec.block_bytes)?;
        let queues = (self.place.open_queue(spec)?, self.slow.open_queue(spec)?);
        Ok(Box::new(TieredQueue::new(queues, filling, (spec.clock, spec.depth), self.place.io_words())))
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        self.slow.free_bytes()
    }
}
