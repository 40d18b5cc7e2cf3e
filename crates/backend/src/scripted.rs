//! A simulated storage that is written to, on the virtual clock. Every call takes the time that a script says.
//!
//! It keeps names and sizes and no bytes. Time passes in the writers, so that a single one of them is exact to the
//! nanosecond; of several at once, the sum is.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dataset::{Key, MARKER_NAME, Marker, Objects};

use crate::{
    CacheAction, Clock, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};

/// What one object takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writing {
    /// Time of each call that writes.
    pub write_ns: u64,
    /// Time until it is durable and lies under its name.
    pub finish_ns: u64,
    /// Whether the storage fails just then.
    pub fails: bool,
}

type Script = dyn Fn(u64) -> Writing + Send + Sync;

/// A storage that is written to, whose every object is scripted by its number.
#[derive(Clone)]
pub struct Scripted {
    clock: Clock,
    script: Arc<Script>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    objects: BTreeMap<String, u64>,
    markers: BTreeMap<String, Marker>,
    created: u64,
    most: usize,
    removed: Vec<String>,
    keeps: bool,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("objects", &self.names()).finish_non_exhaustive()
    }
}

impl Scripted {
    /// An empty storage. `script` is asked once for each object that is begun, numbered from 0.
    pub fn new(clock: &Clock, script: impl Fn(u64) -> Writing + Send + Sync + 'static) -> Self {
        Self { clock: clock.clone(), script: Arc::new(script), held: Arc::default() }
    }

    /// The objects that lie there, markers left out.
    pub fn names(&self) -> Vec<String> {
        self.held().objects.keys().cloned().collect()
    }

    /// How many lay there at once, at most.
    pub fn most(&self) -> usize {
        self.held().most
    }

    /// Those that were removed, in order.
    pub fn removed(&self) -> Vec<String> {
        self.held().removed.clone()
    }

    /// Lets every removal from now on fail.
    pub fn keep(&self) {
        self.held().keeps = true;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, ns: u64) {
        // Relative to now, unlike the simulated device: two writers at once add up, which is why tests of exact times
        // use one.
        self.clock.advance_to(self.clock.now_ns() + ns);
    }
}

/// An object being written.
struct ScriptedWriter {
    store: Scripted,
    name: String,
    bytes: u64,
    step: Writing,
}

impl ObjectWriter for ScriptedWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.store.pass(self.step.write_ns);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.store.pass(self.step.finish_ns);
        // Only here: a write that the page cache took fails when it is made durable, and that is what checkpoints
        // must notice.
        if self.step.fails {
            let source = io::Error::from_raw_os_error(libc::EIO);
            return Err(StoreError::Object { action: "finish", object: self.name, source });
        }
        let mut held = self.store.held();
        held.objects.insert(self.name, self.bytes);
        held.most = held.most.max(held.objects.len());
        Ok(())
    }
}

fn unsupported(action: &'static str) -> StoreError {
    StoreError::Unsupported { store: "the scripted storage", action }
}

impl Store for Scripted {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("storage", "scripted".to_owned())]
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: None, page_cache: false })
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let below = prefix.map_or_else(String::new, |prefix| format!("{prefix}/"));
        let held = self.held();
        for (name, bytes) in held.objects.iter().filter(|(name, _)| name.starts_with(&below)) {
            let Ok(key) = Key::new(name.clone()) else { continue };
            if each(Entry { key, bytes: *bytes, modified_ns: 0, allocated_bytes: None }).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        let held = self.held();
        let folders = held.markers.keys().filter_map(|name| Key::new(name.clone()).ok()?.folder());
        Ok(folders.collect())
    }

    fn stat(&self, _key: &Key) -> Result<Option<Entry>, StoreError> {
        Err(unsupported("look at an object"))
    }

    fn read_at(&self, _: &Key, _: u64, _: &mut [u8]) -> Result<usize, StoreError> {
        Err(unsupported("read an object"))
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        self.held().markers.insert(format!("{folder}/{MARKER_NAME}"), marker.clone());
        Owned::claim(self, folder)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        Ok(self.held().markers.get(key.as_str()).cloned())
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        let mut held = self.held();
        // As every real store: the suite of checkpoints would else not find a path that leaves its folder.
        owned.refuse_others(key)?;
        if held.objects.contains_key(key.as_str()) {
            return Err(StoreError::Exists { object: key.to_string() });
        }
        // By the number of the object and not by its name: names come round again when checkpoints rotate.
        let step = (self.script)(held.created);
        held.created += 1;
        Ok(Box::new(ScriptedWriter { store: self.clone(), name: key.to_string(), bytes: 0, step }))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        owned.refuse_others(key)?;
        let mut held = self.held();
        if held.keeps {
            let source = io::Error::from_raw_os_error(libc::EBUSY);
            return Err(StoreError::Object { action: "remove", object: key.to_string(), source });
        }
        if held.objects.remove(key.as_str()).is_some() {
            held.removed.push(key.to_string());
        }
        Ok(())
    }

    fn remove_empty_folder(&self, _: &Owned, _: &Key) -> Result<bool, StoreError> {
        Err(unsupported("remove a folder"))
    }

    fn cache(&self, _: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency::user_space(objects))
    }

    fn open_queue(&self, _: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        Err(unsupported("open a queue"))
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }
}
