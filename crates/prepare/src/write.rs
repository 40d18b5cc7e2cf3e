//! Writes the objects that are missing, by many threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use backend::{ObjectWriter, Owned, Store, StoreError};
use dataset::{Objects, payload};

use crate::PrepareError;

/// Bytes filled and handed to the storage at once: large enough that the call does not matter, small enough
/// to stay in the processor's cache between filling and copying.
const CHUNK_BYTES: u64 = 1 << 20;

/// The objects that are complete already, one bit each.
pub(crate) struct Present(Vec<u64>);

impl Present {
    pub(crate) fn none(count: u32) -> Self {
        Self(vec![0; (count as usize).div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, object: u32) {
        self.0[object as usize / 64] |= 1 << (object % 64);
    }

    pub(crate) fn contains(&self, object: u32) -> bool {
        self.0[object as usize / 64] & (1 << (object % 64)) != 0
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Bytes of the objects that are complete.
    fn bytes(&self, objects: &Objects) -> u64 {
        match objects {
            Objects::Uniform { bytes, .. } => self.count() * bytes,
            _ => (0..objects.count())
                .filter(|object| self.contains(*object))
                .map(|object| objects.bytes(object))
                .sum(),
        }
    }

    /// Bytes that the objects take that are missing, as a disk allocates them.
    pub(crate) fn missing_disk_bytes(&self, objects: &Objects) -> u64 {
        match objects {
            Objects::Uniform { count, bytes, .. } => {
                plan::disk_bytes(u64::from(*count) - self.count(), *bytes)
            }
            _ => (0..objects.count())
                .filter(|object| !self.contains(*object))
                .map(|object| plan::disk_bytes(1, objects.bytes(object)))
                .fold(0, u64::saturating_add),
        }
    }
}

/// Objects to write, and what the threads share while they do.
pub(crate) struct Writing<'a> {
    store: &'a dyn Store,
    owned: &'a Owned,
    objects: &'a Objects,
    seed: u64,
    present: &'a Present,
    progress: &'a (dyn Fn(u64, u64) + Sync),
    stop: &'a AtomicBool,
    next: AtomicU64,
    done_bytes: AtomicU64,
    written_bytes: AtomicU64,
    failure: Mutex<Option<PrepareError>>,
    failed: AtomicBool,
}

impl<'a> Writing<'a> {
    pub(crate) fn new(
        task: &crate::generate::Task<'a>,
        owned: &'a Owned,
        objects: &'a Objects,
        present: &'a Present,
    ) -> Self {
        Self {
            store: task.store,
            owned,
            objects,
            seed: task.identity.seed,
            present,
            progress: task.progress,
            stop: task.stop,
            next: AtomicU64::new(0),
            done_bytes: AtomicU64::new(present.bytes(objects)),
            written_bytes: AtomicU64::new(0),
            failure: Mutex::new(None),
            failed: AtomicBool::new(false),
        }
    }

    /// Writes every missing object; returns the bytes written.
    pub(crate) fn run(self, threads: u32) -> Result<u64, PrepareError> {
        thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| {
                    if let Err(error) = self.work() {
                        self.failed.store(true, Ordering::Relaxed);
                        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                });
            }
        });
        match self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(self.written_bytes.into_inner()),
        }
    }

    /// One thread: objects in order, until none is left or another thread failed.
    fn work(&self) -> Result<(), PrepareError> {
        let mut chunk = vec![0; self.objects.bytes_max().min(CHUNK_BYTES) as usize];
        while !self.failed.load(Ordering::Relaxed) {
            let object = self.next.fetch_add(1, Ordering::Relaxed);
            if object >= u64::from(self.objects.count()) {
                break;
            }
            if !self.present.contains(object as u32) {
                self.write_object(object as u32, &mut chunk)?;
            }
        }
        Ok(())
    }

    /// An object that another process completed meanwhile counts as written.
    fn write_object(&self, object: u32, chunk: &mut [u8]) -> Result<(), PrepareError> {
        let mut writer = match self.store.create(self.owned, &self.objects.key(object)) {
            Ok(writer) => writer,
            Err(StoreError::Exists { .. }) => {
                self.advance(self.objects.bytes(object));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        self.write_content(object, chunk, writer.as_mut())?;
        match writer.finish() {
            Ok(()) => {
                self.written_bytes.fetch_add(self.objects.bytes(object), Ordering::Relaxed);
                Ok(())
            }
            Err(StoreError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn write_content(
        &self,
        object: u32,
        chunk: &mut [u8],
        writer: &mut dyn ObjectWriter,
    ) -> Result<(), PrepareError> {
        let bytes = self.objects.bytes(object);
        let mut offset = 0;
        while offset < bytes {
            if self.stop.load(Ordering::Relaxed) {
                let done_bytes = self.done_bytes.load(Ordering::Relaxed);
                return Err(PrepareError::Interrupted {
                    done_bytes,
                    total_bytes: self.objects.total_bytes(),
                });
            }
            let length = (bytes - offset).min(chunk.len() as u64);
            let part = &mut chunk[..length as usize];
            payload::fill(self.seed, object, offset, part);
            writer.write(part)?;
            self.advance(length);
            offset += length;
        }
        Ok(())
    }

    fn advance(&self, bytes: u64) {
        let before = self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
        (self.progress)(before + bytes, self.objects.total_bytes());
    }
}
