//! A million objects, in memory that does not grow with them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};
use dataset::{Key, MANIFEST_NAME, Manifest, Marker, Objects};
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};

use crate::prepare_with;

const COUNT: u32 = 1_000_000;

/// A list of the names alone would take 60 MB; this takes 6, and the tests beside it less than 10 together.
const ALLOWED_BYTES: usize = 20_000_000;

struct Counting;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE_BYTES.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Holds the first half of the objects from the start, and keeps count of those written and removed.
#[derive(Default)]
struct Vast {
    marker: Mutex<Option<Marker>>,
    manifest: Arc<Mutex<Vec<u8>>>,
    written: Arc<AtomicU64>,
    removed: AtomicU64,
}

fn spec() -> DatasetSpec {
    DatasetSpec::Generate {
        samples: u64::from(COUNT),
        sample_bytes: 8,
        distribution: Distribution::Fixed,
        files_per_folder: FILES_PER_FOLDER,
        seed: 3,
    }
}

fn objects() -> Objects {
    Objects::uniform(prepare::identify(&spec()).unwrap(), COUNT, 8)
}

impl Store for Vast {
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: None, page_cache: false })
    }

    fn list(
        &self,
        _: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let objects = objects();
        let there = if self.written.load(Ordering::Relaxed) == 0 { COUNT / 2 } else { COUNT };
        for object in 0..there {
            let _ = each(Entry { key: objects.key(object), bytes: 8, modified_ns: 1 });
        }
        Ok(())
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        Ok(prepare::identify(&spec()).into_iter().collect())
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        let manifest_bytes = self.manifest.lock().unwrap().len() as u64;
        let is_manifest = key.as_str().ends_with(MANIFEST_NAME);
        let bytes = if is_manifest { manifest_bytes } else { 8 };
        Ok((bytes > 0).then(|| Entry { key: key.clone(), bytes, modified_ns: 1 }))
    }

    fn read_at(&self, _: &Key, _: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        let manifest = self.manifest.lock().unwrap();
        buf[..manifest.len()].copy_from_slice(&manifest);
        Ok(manifest.len())
    }

    fn create_folder(&self, _: &Key, _: &Marker) -> Result<Owned, StoreError> {
        Err(StoreError::Unsupported { store: "vast", action: "make a second folder" })
    }

    fn read_marker(&self, _: &Key) -> Result<Option<Marker>, StoreError> {
        Ok(self.marker.lock().unwrap().clone())
    }

    fn create(&self, _: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        let manifest = key.as_str().ends_with(MANIFEST_NAME).then(|| Arc::clone(&self.manifest));
        Ok(Box::new(Sink { manifest, written: Arc::clone(&self.written) }))
    }

    fn remove(&self, _: &Owned, _: &Key) -> Result<(), StoreError> {
        self.removed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn remove_empty_folder(&self, _: &Owned, _: &Key) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn cache(&self, _: CacheAction, _: &Objects) -> Result<Residency, StoreError> {
        Err(StoreError::Unsupported { store: "vast", action: "act on a page cache" })
    }

    fn open_queue(&self, _: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        Err(StoreError::Unsupported { store: "vast", action: "open a queue" })
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }
}

struct Sink {
    manifest: Option<Arc<Mutex<Vec<u8>>>>,
    written: Arc<AtomicU64>,
}

impl ObjectWriter for Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if let Some(manifest) = &self.manifest {
            manifest.lock().unwrap().extend_from_slice(bytes);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.written.fetch_add(u64::from(self.manifest.is_none()), Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_million_objects_are_prepared_reused_and_removed_in_flat_memory() {
    let dataset = format!("{COUNT} samples of 8 B, seed 3");
    let marker = Marker { format: 1, note: String::new(), dataset };
    let store = Vast { marker: Some(marker).into(), ..Vast::default() };
    PEAK_BYTES.store(LIVE_BYTES.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    let first = prepare_with(&store, &spec(), 4).unwrap();
    assert_eq!((first.objects.count(), first.bytes_written), (COUNT, 8 * u64::from(COUNT) / 2));
    assert!(prepare_with(&store, &spec(), 4).unwrap().reused);
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!(cleaned.files, u64::from(COUNT));
    let peak_bytes = PEAK_BYTES.load(Ordering::Relaxed) - before;
    assert!(peak_bytes < ALLOWED_BYTES, "{peak_bytes} B");
    let manifest: Manifest = serde_json::from_slice(&store.manifest.lock().unwrap()).unwrap();
    assert_eq!(manifest.fingerprint, first.fingerprint);
}
