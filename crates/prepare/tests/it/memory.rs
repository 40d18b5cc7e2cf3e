//! A store in memory, and one of which a chosen call meets something: the process is killed, or another does something.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};
use dataset::{Key, MARKER_NAME, Marker, Objects};

const UNFINISHED: &str = ".unfinished";

/// Clones share their content.
#[derive(Default, Clone)]
pub(crate) struct MemoryStore {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    folders: BTreeSet<String>,
    /// Bytes that fit; `None` for no end.
    capacity_bytes: Option<u64>,
    /// What it answers when asked for free bytes.
    free_bytes: Option<u64>,
    /// Counts modifications; stands for the time.
    now: i128,
}

#[derive(Clone, PartialEq)]
struct Object {
    bytes: Vec<u8>,
    modified_ns: i128,
    allocated_bytes: Option<u64>,
}

impl MemoryStore {
    /// Writes a file as the user would.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap();
        state.now += 1;
        let modified_ns = state.now;
        state.make_parents(name);
        state
            .objects
            .insert(name.to_owned(), Object { bytes: bytes.to_vec(), modified_ns, allocated_bytes: None });
    }

    pub(crate) fn delete(&self, name: &str) {
        self.state.lock().unwrap().objects.remove(name).expect("the object exists");
    }

    pub(crate) fn set_modified(&self, name: &str, modified_ns: i128) {
        self.state.lock().unwrap().objects.get_mut(name).expect("the object exists").modified_ns =
            modified_ns;
    }

    pub(crate) fn set_allocated(&self, name: &str, bytes: u64) {
        let mut state = self.state.lock().unwrap();
        state.objects.get_mut(name).expect("the object exists").allocated_bytes = Some(bytes);
    }

    pub(crate) fn make_folder(&self, name: &str) {
        self.state.lock().unwrap().folders.insert(name.to_owned());
    }

    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.state.lock().unwrap().objects.get(name).map(|object| object.bytes.clone())
    }

    /// Names of the complete objects of datasets.
    pub(crate) fn samples(&self) -> Vec<String> {
        let mut names: Vec<_> = self.contents().into_keys().collect();
        names.retain(|name| name.split('.').next_back() == Some("bin"));
        names
    }

    /// Names of all files and folders.
    pub(crate) fn names(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.objects.keys().chain(&state.folders).cloned().collect()
    }

    /// Content of every file.
    pub(crate) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state.lock().unwrap();
        state.objects.iter().map(|(name, object)| (name.clone(), object.bytes.clone())).collect()
    }

    pub(crate) fn set_capacity(&self, bytes: u64) {
        self.state.lock().unwrap().capacity_bytes = Some(bytes);
    }

    pub(crate) fn set_free(&self, bytes: u64) {
        self.state.lock().unwrap().free_bytes = Some(bytes);
    }
}

impl State {
    fn make_parents(&mut self, name: &str) {
        for (end, _) in name.match_indices('/') {
            self.folders.insert(name[..end].to_owned());
        }
    }

    fn is_empty(&self, folder: &str) -> bool {
        let below = format!("{folder}/");
        !self.objects.keys().chain(&self.folders).any(|name| name.starts_with(&below))
    }
}

impl Store for MemoryStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: None, page_cache: false })
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let below = prefix.map(|prefix| format!("{prefix}/")).unwrap_or_default();
        let entries: Vec<Entry> = {
            let state = self.state.lock().unwrap();
            let found = state.objects.iter();
            let found = found.filter(|(name, _)| name.starts_with(&below) && !is_unfinished(name));
            found.map(|(name, object)| entry(name, object)).collect()
        };
        let _ = entries.into_iter().try_for_each(each);
        Ok(())
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        let state = self.state.lock().unwrap();
        let names = state.folders.iter().filter(|name| !name.contains('/'));
        Ok(names.map(|name| Key::new(name.as_str()).unwrap()).collect())
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        Ok(self.state.lock().unwrap().objects.get(key.as_str()).map(|object| entry(key.as_str(), object)))
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        let state = self.state.lock().unwrap();
        let none = || StoreError::Object {
            action: "read",
            object: key.to_string(),
            source: std::io::ErrorKind::NotFound.into(),
        };
        let object = state.objects.get(key.as_str()).ok_or_else(none)?;
        let rest = &object.bytes[object.bytes.len().min(offset as usize)..];
        let length = rest.len().min(buf.len());
        buf[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    /// As a file system that renames a complete folder into place: over nothing, or over an empty folder.
    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        if !self.state.lock().unwrap().is_empty(folder.as_str()) {
            return Err(StoreError::Exists { object: folder.to_string() });
        }
        let marker_key = folder.join(MARKER_NAME).unwrap();
        self.put(marker_key.as_str(), &serde_json::to_vec(marker).unwrap());
        Owned::claim(self, folder)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        Ok(self.get(key.as_str()).and_then(|text| serde_json::from_slice(&text).ok()))
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        assert!(owned.covers(key), "{key} is not below {}", owned.folder());
        let mut state = self.state.lock().unwrap();
        if state.objects.contains_key(key.as_str()) {
            return Err(StoreError::Exists { object: key.to_string() });
        }
        state.make_parents(key.as_str());
        Ok(Box::new(MemoryWriter { state: Arc::clone(&self.state), key: key.clone(), bytes: Vec::new() }))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        assert!(owned.covers(key), "{key} is not below {}", owned.folder());
        self.state.lock().unwrap().objects.remove(key.as_str());
        Ok(())
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        assert!(owned.covers(key) || owned.folder() == key, "{key} is not below {}", owned.folder());
        let mut state = self.state.lock().unwrap();
        let below = format!("{key}/");
        let in_it = |name: &String| name.starts_with(&below);
        let empty = !state.folders.iter().any(in_it)
            && !state.objects.keys().any(|name| in_it(name) && !is_unfinished(name));
        if empty {
            state.objects.retain(|name, _| !in_it(name));
            state.folders.remove(key.as_str());
        }
        Ok(empty)
    }

    fn cache(&self, _: CacheAction, _: &Objects) -> Result<Residency, StoreError> {
        Err(StoreError::Unsupported { store: "memory", action: "act on a page cache" })
    }

    fn open_queue(&self, _: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        Err(StoreError::Unsupported { store: "memory", action: "open a queue" })
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.state.lock().unwrap().free_bytes)
    }
}

struct MemoryWriter {
    state: Arc<Mutex<State>>,
    key: Key,
    bytes: Vec<u8>,
}

impl ObjectWriter for MemoryWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let state = self.state.lock().unwrap();
        let used: usize = state.objects.values().map(|object| object.bytes.len()).sum();
        let needed = (used + self.bytes.len() + bytes.len()) as u64;
        if state.capacity_bytes.is_some_and(|capacity| capacity < needed) {
            return Err(StoreError::Full { object: self.key.to_string() });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap();
        if state.objects.contains_key(self.key.as_str()) {
            return Err(StoreError::Exists { object: self.key.to_string() });
        }
        state.now += 1;
        let object = Object { bytes: self.bytes.clone(), modified_ns: state.now, allocated_bytes: None };
        state.objects.insert(self.key.as_str().to_owned(), object);
        Ok(())
    }
}

/// Under such names a killed process leaves objects; listings do not show them.
fn is_unfinished(name: &str) -> bool {
    name.ends_with(UNFINISHED)
}

fn entry(name: &str, object: &Object) -> Entry {
    Entry {
        key: Key::new(name).unwrap(),
        bytes: object.bytes.len() as u64,
        modified_ns: object.modified_ns,
        allocated_bytes: object.allocated_bytes,
    }
}

fn failure(action: &'static str, key: &Key, cause: &str) -> StoreError {
    StoreError::Object { action, object: key.to_string(), source: std::io::Error::other(cause) }
}

/// Passes on a number of calls, then fails every one, as if the process had been killed there.
pub(crate) struct Killed {
    store: MemoryStore,
    calls: Arc<Calls>,
}

/// What is left of the calls until something happens, and what that is.
struct Calls {
    left: AtomicI64,
    meanwhile: Option<Meanwhile>,
}

type Meanwhile = Mutex<Box<dyn FnMut() + Send>>;

impl Killed {
    pub(crate) fn after(store: &MemoryStore, calls: i64) -> Self {
        Self::at(store, calls, None)
    }

    /// Passes on all calls; before one of them something else is done, as by another process.
    pub(crate) fn never(store: &MemoryStore, calls: i64, meanwhile: impl FnMut() + Send + 'static) -> Self {
        Self::at(store, calls, Some(Mutex::new(Box::new(meanwhile))))
    }

    fn at(store: &MemoryStore, calls: i64, meanwhile: Option<Meanwhile>) -> Self {
        Self { store: store.clone(), calls: Arc::new(Calls { left: AtomicI64::new(calls), meanwhile }) }
    }
}

impl Calls {
    fn alive(&self) -> Result<(), StoreError> {
        match (self.left.fetch_sub(1, Ordering::SeqCst), &self.meanwhile) {
            (1.., _) | (..0, Some(_)) => Ok(()),
            (0, Some(meanwhile)) => {
                meanwhile.lock().unwrap()();
                Ok(())
            }
            (_, None) => Err(failure("reach", &Key::new("storage").unwrap(), "killed")),
        }
    }
}

impl Store for Killed {
    fn facts(&self) -> Vec<(&'static str, String)> {
        self.store.facts()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        self.store.limits()
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.calls.alive()?;
        self.store.list(prefix, each)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        self.calls.alive()?;
        self.store.folders()
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.calls.alive()?;
        self.store.stat(key)
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        self.calls.alive()?;
        self.store.read_at(key, offset, buf)
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        self.calls.alive()?;
        self.store.create_folder(folder, marker)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        self.calls.alive()?;
        self.store.read_marker(key)
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        self.calls.alive()?;
        let (folder, name) = key.as_str().rsplit_once('/').unwrap();
        Ok(Box::new(KilledWriter {
            writer: Some(self.store.create(owned, key)?),
            store: self.store.clone(),
            temporary: format!("{folder}/.{name}{UNFINISHED}"),
            calls: Arc::clone(&self.calls),
        }))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        self.calls.alive()?;
        self.store.remove(owned, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        self.calls.alive()?;
        self.store.remove_empty_folder(owned, key)
    }

    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        self.store.cache(action, objects)
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        self.store.open_queue(spec)
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        self.calls.alive()?;
        self.store.free_bytes()
    }
}

struct KilledWriter {
    writer: Option<Box<dyn ObjectWriter + Send>>,
    store: MemoryStore,
    temporary: String,
    calls: Arc<Calls>,
}

impl ObjectWriter for KilledWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.calls.alive()?;
        self.writer.as_mut().expect("not finished").write(bytes)
    }

    fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        self.calls.alive()?;
        self.writer.take().expect("not finished").finish()
    }
}

impl Drop for KilledWriter {
    /// A killed process drops nothing: what it was writing stays behind.
    fn drop(&mut self) {
        if self.writer.is_some()
            && self.calls.left.load(Ordering::SeqCst) < 0
            && self.calls.meanwhile.is_none()
        {
            self.store.put(&self.temporary, b"incomplete");
        }
    }
}
