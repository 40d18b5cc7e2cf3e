//! A million objects or samples, in memory that does not grow with them. A process of its own, as the memory of tests
//! beside it would count.

#![expect(clippy::unwrap_used, reason = "a test panics at whatever goes wrong")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};
use dataset::{Key, MANIFEST_NAME, Manifest, Marker, Objects};
use plan::{Codec, DatasetSpec, Distribution, FILES_PER_FOLDER, Packing};
use prepare::{PrepareError, Prepared};

const COUNT: u32 = 1_000_000;

/// A list of the names alone would take 60 MB; this takes 6.
const ALLOWED_BYTES: usize = 20_000_000;

fn objects(spec: &DatasetSpec) -> Objects {
    let folder = prepare::identify(spec).expect("it can be generated");
    Objects::generated(folder, spec).expect("it can be generated")
}

fn prepare_with(store: &dyn Store, spec: &DatasetSpec, threads: u32) -> Result<Prepared, PrepareError> {
    prepare::prepare(store, spec, threads, &|_, _| {}, &AtomicBool::new(false))
}

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
struct Vast {
    objects: Objects,
    marker: Marker,
    manifest: Arc<Mutex<Vec<u8>>>,
    written: Arc<AtomicU64>,
    removed: AtomicU64,
}

fn spec(distribution: Distribution, files_per_folder: u32) -> DatasetSpec {
    let samples = u64::from(COUNT);
    DatasetSpec::Generate(plan::Generate {
        samples,
        sample_bytes: 8,
        distribution,
        files_per_folder,
        seed: 3,
        ..plan::Generate::NONE
    })
}

impl Vast {
    fn half_full(spec: &DatasetSpec, dataset: &str) -> Self {
        Self {
            objects: objects(spec),
            marker: Marker { format: 1, note: String::new(), dataset: dataset.to_owned() },
            manifest: Arc::default(),
            written: Arc::default(),
            removed: AtomicU64::new(0),
        }
    }

    fn entry(&self, object: u32) -> Entry {
        Entry {
            key: self.objects.key(object),
            bytes: self.objects.bytes(object),
            modified_ns: 1,
            allocated_bytes: None,
        }
    }

    fn folder(&self) -> Key {
        let first = self.objects.folders().swap_remove(0).unwrap();
        first.folder().unwrap()
    }
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
        let there = if self.written.load(Ordering::Relaxed) == 0 { COUNT / 2 } else { COUNT };
        for object in 0..there {
            let _ = each(self.entry(object));
        }
        Ok(())
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        Ok(vec![self.folder()])
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        if key.as_str().ends_with(MANIFEST_NAME) {
            let bytes = self.manifest.lock().unwrap().len() as u64;
            let entry = Entry { key: key.clone(), bytes, modified_ns: 1, allocated_bytes: None };
            return Ok(Some(entry).filter(|entry| entry.bytes > 0));
        }
        let (_, name) = key.as_str().rsplit_once('/').unwrap();
        let object = name.strip_suffix(".bin").unwrap().parse().unwrap();
        let bytes = self.objects.bytes(object);
        Ok(Some(Entry { key: key.clone(), bytes, modified_ns: 1, allocated_bytes: None }))
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
        Ok(Some(self.marker.clone()))
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
        match &self.manifest {
            Some(manifest) => manifest.lock().unwrap().extend_from_slice(bytes),
            None => _ = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// One test for all, as the memory of a test beside it would count.
#[test]
fn a_million_objects_or_samples_are_prepared_in_flat_memory() {
    let spread = Distribution::LogNormal { stdev_bytes: 4 };
    let one_folder = "1000000 samples of 8 B, 1000000 files per folder, seed 3";
    let spread_text = "1000000 samples of 8 B, lognormal with a standard deviation of 4 B, seed 3";
    for (spec, dataset) in
        [(spec(Distribution::Fixed, COUNT), one_folder), (spec(spread, FILES_PER_FOLDER), spread_text)]
    {
        let before = LIVE_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        prepare_reuse_and_remove(&Vast::half_full(&spec, dataset), &spec);
        let peak_bytes = PEAK_BYTES.load(Ordering::Relaxed).saturating_sub(before);
        assert!(peak_bytes < ALLOWED_BYTES, "{dataset}: {peak_bytes} B");
    }
    for (spec, allowed_bytes) in [
        (packed(plan::Layout::WebDataset, Distribution::Fixed), 1_000_000),
        (packed(plan::Layout::TfRecord, Distribution::LogNormal { stdev_bytes: 50_000 }), 100_000_000),
    ] {
        let before = LIVE_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        let data = prepare::planned(&spec).unwrap();
        let peak_bytes = PEAK_BYTES.load(Ordering::Relaxed).saturating_sub(before);
        assert_eq!(data.sample_count(), u64::from(COUNT));
        assert!(peak_bytes < allowed_bytes, "{spec:?}: {peak_bytes} B");
    }
    a_shard_of_hdf5_is_written_in_flat_memory();
}

/// So many samples of 8 B.
struct Small(u64);

impl formats::Samples for Small {
    fn count(&self) -> u64 {
        self.0
    }

    fn number(&self, index: u64) -> u64 {
        index
    }

    fn bytes(&self, _: u64) -> u64 {
        8
    }

    fn fill(&mut self, _: u64, _: u64, out: &mut [u8]) {
        out.fill(0);
    }
}

/// The index of chunks follows them, and only what each takes packed is kept until then.
fn a_shard_of_hdf5_is_written_in_flat_memory() {
    // Packing each of a million alone would take a minute.
    for (codec, count, allowed_bytes) in [(Codec::None, COUNT, 700_000), (Codec::Gzip, COUNT / 20, 1_100_000)]
    {
        let DatasetSpec::Generate(generate) = packed(plan::Layout::Hdf5, Distribution::Fixed) else { return };
        let packing = Packing { codec, ..generate.packing.unwrap() };
        let before = LIVE_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        formats::write(&packing, &mut Small(count.into()), &mut std::io::sink()).unwrap();
        let peak_bytes = PEAK_BYTES.load(Ordering::Relaxed).saturating_sub(before);
        assert!(peak_bytes < allowed_bytes, "{codec:?}: {peak_bytes} B");
    }
}

/// A million images in shards of 256 MiB.
fn packed(layout: plan::Layout, distribution: Distribution) -> DatasetSpec {
    let packing = Packing {
        layout,
        shard_bytes: 256 << 20,
        members: 1,
        codec: Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: 256 << 20,
    };
    DatasetSpec::Generate(plan::Generate {
        samples: u64::from(COUNT),
        sample_bytes: 114_660,
        distribution,
        packing: Some(packing),
        ..plan::Generate::NONE
    })
}

fn prepare_reuse_and_remove(store: &Vast, spec: &DatasetSpec) {
    let missing_bytes: u64 = (COUNT / 2..COUNT).map(|object| store.objects.bytes(object)).sum();
    let first = prepare_with(store, spec, 4).unwrap();
    assert_eq!((first.data.objects().count(), first.bytes_written), (COUNT, missing_bytes));
    assert_eq!(store.written.load(Ordering::Relaxed), missing_bytes);
    assert!(prepare_with(store, spec, 4).unwrap().reused);
    let manifest: Manifest = serde_json::from_slice(&store.manifest.lock().unwrap()).unwrap();
    assert_eq!(manifest.fingerprint, first.fingerprint);
    let cleaned = prepare::clean(store).unwrap();
    assert_eq!(cleaned.files, u64::from(COUNT));
    assert!(store.removed.load(Ordering::Relaxed) >= u64::from(COUNT));
}
