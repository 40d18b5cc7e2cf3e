//! A store that refuses to write what it is told to refuse, and watches how much is on its way.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, SharedStore, Store,
    StoreError,
};
use dataset::{Key, Marker, Objects};

/// When an object is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refuse {
    Create,
    Write,
    Finish,
    /// As it is begun, for want of room.
    Full,
    Never,
}

/// Blocks that were read, and the most of them that were not written yet.
type Watch = (Arc<AtomicU64>, Arc<AtomicU64>);

pub(super) struct Failing {
    inner: SharedStore,
    name: &'static str,
    refuse: Refuse,
    free_bytes: Option<u64>,
    watch: Option<Watch>,
    written: Arc<AtomicU64>,
    /// Blocks that were read, and how many of them there must be before an object is refused.
    ahead: Option<(Arc<AtomicU64>, u64)>,
}

impl Failing {
    fn new(inner: SharedStore) -> Self {
        Self {
            inner,
            name: "",
            refuse: Refuse::Never,
            free_bytes: None,
            watch: None,
            written: Arc::default(),
            ahead: None,
        }
    }

    /// Refuses the object whose name ends with `name`.
    pub(super) fn over(inner: SharedStore, name: &'static str, refuse: Refuse) -> SharedStore {
        Arc::new(Self { name, refuse, ..Self::new(inner) })
    }

    /// Has no room for the object whose name ends with `name`, and says so once the reader has begun as many blocks.
    pub(super) fn full_once_read(
        inner: SharedStore,
        name: &'static str,
        ahead: (Arc<AtomicU64>, u64),
    ) -> SharedStore {
        Arc::new(Self { name, refuse: Refuse::Full, ahead: Some(ahead), ..Self::new(inner) })
    }

    pub(super) fn with_free(inner: SharedStore, free_bytes: u64) -> SharedStore {
        Arc::new(Self { free_bytes: Some(free_bytes), ..Self::new(inner) })
    }

    /// Notes how far the blocks counted in `read` are ahead of those that are written.
    pub(super) fn watching(inner: SharedStore, read: Arc<AtomicU64>) -> (SharedStore, Arc<AtomicU64>) {
        let most = Arc::new(AtomicU64::new(0));
        let watch = Some((read, Arc::clone(&most)));
        (Arc::new(Self { watch, ..Self::new(inner) }), most)
    }

    fn refused(&self, key: &Key, when: Refuse) -> bool {
        self.refuse == when && key.as_str().ends_with(self.name)
    }
}

fn io(key: &Key) -> StoreError {
    let source = std::io::Error::from_raw_os_error(5);
    StoreError::Object { action: "write", object: key.to_string(), source }
}

struct Writer {
    inner: Box<dyn ObjectWriter + Send>,
    key: Key,
    refuse: Refuse,
    watch: Option<Watch>,
    written: Arc<AtomicU64>,
}

impl ObjectWriter for Writer {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if self.refuse == Refuse::Write {
            return Err(io(&self.key));
        }
        if let Some((read, most)) = &self.watch {
            let ahead = read.load(Ordering::SeqCst) - self.written.load(Ordering::SeqCst);
            most.fetch_max(ahead, Ordering::SeqCst);
        }
        self.inner.write(bytes)?;
        self.written.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        if self.refuse == Refuse::Finish { Err(io(&self.key)) } else { self.inner.finish() }
    }
}

impl Store for Failing {
    fn facts(&self) -> Vec<(&'static str, String)> {
        self.inner.facts()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        self.inner.limits()
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.inner.list(prefix, each)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        self.inner.folders()
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.inner.stat(key)
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        self.inner.read_at(key, offset, buf)
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        self.inner.create_folder(folder, marker)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        self.inner.read_marker(key)
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        if self.refused(key, Refuse::Full) {
            while self.ahead.as_ref().is_some_and(|(read, until)| read.load(Ordering::SeqCst) < *until) {
                std::thread::yield_now();
            }
            return Err(StoreError::Full { object: key.to_string() });
        }
        if self.refused(key, Refuse::Create) {
            return Err(io(key));
        }
        let named = key.as_str().ends_with(self.name);
        Ok(Box::new(Writer {
            inner: self.inner.create(owned, key)?,
            key: key.clone(),
            refuse: if named { self.refuse } else { Refuse::Never },
            watch: self.watch.clone(),
            written: Arc::clone(&self.written),
        }))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        self.inner.remove(owned, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        self.inner.remove_empty_folder(owned, key)
    }

    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        self.inner.cache(action, objects)
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        self.inner.open_queue(spec)
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.free_bytes.or(self.inner.free_bytes()?))
    }
}
