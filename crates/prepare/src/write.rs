//! Writes the objects that are missing, by many threads.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use backend::{ObjectWriter, Owned, Store, StoreError};
use dataset::payload::Payload;
use formats::FormatError;

use crate::error::PrepareError;
use crate::identity::Names;
use crate::made::Made;
use crate::shape::{Shape, Shards};
use crate::threads::in_turn;

/// Bytes filled and handed to the storage at once: large enough that the call does not matter, small enough
/// to stay in the processor's cache between filling and copying.
const CHUNK_BYTES: u64 = 1 << 20;

/// The objects that are complete already, one bit each.
pub(crate) struct Present(Vec<u64>);

impl Present {
    pub(crate) fn none(count: u32) -> Self {
        // A bit each: a set of numbers would take 50 MB of a million files.
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

    /// Bytes of the samples that are complete.
    fn bytes(&self, shape: &Shape) -> u64 {
        if let Some(bytes) = shape.equal_bytes() {
            return self.count() * bytes;
        }
        let complete = (0..shape.count()).filter(|object| self.contains(*object));
        complete.map(|object| shape.own_bytes(object)).sum()
    }

    /// Bytes that the objects take that are missing, as a disk allocates them. Where only writing tells how large they
    /// are, as if nothing compressed.
    pub(crate) fn missing_disk_bytes(&self, shape: &Shape) -> u64 {
        self.missing(shape, plan::disk_bytes)
    }

    /// The same as they are written.
    pub(crate) fn missing_bytes(&self, shape: &Shape) -> u64 {
        self.missing(shape, u64::saturating_mul)
    }

    /// What the missing objects take: `taken` says it of so many of so many bytes.
    fn missing(&self, shape: &Shape, taken: impl Fn(u64, u64) -> u64) -> u64 {
        if let Some(bytes) = shape.equal_bytes() {
            return taken(u64::from(shape.count()) - self.count(), bytes);
        }
        let missing = (0..shape.count()).filter(|object| !self.contains(*object));
        let bytes = |object| shape.stored_bytes(object).unwrap_or_else(|| shape.own_bytes(object));
        missing.map(|object| taken(1, bytes(object))).fold(0, u64::saturating_add)
    }
}

/// Objects to write, and what the threads share while they do.
pub(crate) struct Writing<'a> {
    store: &'a dyn Store,
    owned: &'a Owned,
    shape: &'a Shape,
    names: &'a Names,
    payload: Payload,
    present: &'a Present,
    progress: &'a (dyn Fn(u64, u64) + Sync),
    stop: &'a AtomicBool,
    total_bytes: u64,
    done_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

impl<'a> Writing<'a> {
    pub(crate) fn new(
        task: &crate::task::Task<'a>,
        owned: &'a Owned,
        Made { shape, names }: Made<'a>,
        present: &'a Present,
    ) -> Self {
        Self {
            store: task.store,
            owned,
            shape,
            names,
            payload: task.identity.payload(),
            present,
            progress: task.progress,
            stop: task.stop,
            total_bytes: shape.total_bytes(),
            // What is kept counts as done, or progress would end short of the whole.
            done_bytes: AtomicU64::new(present.bytes(shape)),
            written_bytes: AtomicU64::new(0),
        }
    }

    /// Writes every missing object; returns the bytes written.
    pub(crate) fn run(self, threads: u32) -> Result<u64, PrepareError> {
        let chunk_bytes = match self.shape {
            Shape::Files { objects, .. } => objects.bytes_max().min(CHUNK_BYTES) as usize,
            // A shard is made where it is written from.
            Shape::Shards(_) => 0,
        };
        let (this, present) = (&self, self.present);
        // One object at a time and in order: files of one folder lie beside each other on disk, and a preparation
        // that is cut leaves a prefix.
        in_turn(threads, 0..self.shape.count(), || {
            let mut chunk = vec![0; chunk_bytes];
            move |object| {
                if present.contains(object) { Ok(()) } else { this.write_object(object, &mut chunk) }
            }
        })?;
        Ok(self.written_bytes.into_inner())
    }

    /// An object that another process completed meanwhile counts as written.
    fn write_object(&self, object: u32, chunk: &mut [u8]) -> Result<(), PrepareError> {
        let mut writer = match self.store.create(self.owned, &self.names.key(object)) {
            Ok(writer) => writer,
            Err(StoreError::Exists { .. }) => {
                self.advance(self.shape.own_bytes(object));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let bytes = match self.shape {
            Shape::Files { .. } => self.write_content(object, chunk, writer.as_mut())?,
            Shape::Shards(shards) => self.write_shard(object, shards, writer.as_mut())?,
        };
        match writer.finish() {
            Ok(()) => {
                self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
                Ok(())
            }
            // Published by another process between `create` and here; its bytes are the same.
            Err(StoreError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn write_content(
        &self,
        object: u32,
        chunk: &mut [u8],
        writer: &mut dyn ObjectWriter,
    ) -> Result<u64, PrepareError> {
        let bytes = self.shape.own_bytes(object);
        let mut offset = 0;
        while offset < bytes {
            self.go_on()?;
            let length = (bytes - offset).min(chunk.len() as u64);
            let part = &mut chunk[..length as usize];
            self.payload.fill(u64::from(object), offset, part);
            writer.write(part)?;
            self.advance(length);
            offset += length;
        }
        Ok(bytes)
    }

    fn write_shard(
        &self,
        shard: u32,
        shards: &Shards,
        writer: &mut dyn ObjectWriter,
    ) -> Result<u64, PrepareError> {
        let filled = Cell::new(0);
        let own_bytes = self.shape.own_bytes(shard);
        let mut sink = Sink {
            writing: self,
            writer,
            filled: &filled,
            own_bytes,
            told_bytes: 0,
            written_bytes: 0,
            failure: None,
        };
        let written = shards.write(shard, &filled, &mut sink);
        // Before the format's own error, which knows only that writing failed.
        if let Some(error) = sink.failure {
            return Err(error);
        }
        let object = || self.names.key(shard);
        written.map_err(|source: FormatError| PrepareError::Unwritable { object: object(), source })?;
        // A layout may ask for some bytes twice, or for none of them after the last part.
        self.advance(own_bytes - sink.told_bytes);
        Ok(sink.written_bytes)
    }

    fn go_on(&self) -> Result<(), PrepareError> {
        if self.stop.load(Ordering::Relaxed) {
            let done_bytes = self.done_bytes.load(Ordering::Relaxed);
            return Err(PrepareError::Interrupted { done_bytes, total_bytes: self.total_bytes });
        }
        Ok(())
    }

    fn advance(&self, bytes: u64) {
        if bytes > 0 {
            let before = self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
            (self.progress)(before + bytes, self.total_bytes);
        }
    }
}

/// Where a shard is written to: the storage, as parts of it come.
struct Sink<'a, 'w> {
    writing: &'a Writing<'w>,
    writer: &'a mut dyn ObjectWriter,
    filled: &'a Cell<u64>,
    own_bytes: u64,
    told_bytes: u64,
    written_bytes: u64,
    /// The cause, which an `io::Error` would only carry as text.
    failure: Option<PrepareError>,
}

impl Sink<'_, '_> {
    fn take(&mut self, part: &[u8]) -> Result<(), PrepareError> {
        self.writing.go_on()?;
        self.writer.write(part)?;
        self.tell();
        self.written_bytes += part.len() as u64;
        Ok(())
    }

    /// Counts the samples that were made since the last time.
    fn tell(&mut self) {
        let filled = self.filled.get().min(self.own_bytes);
        self.writing.advance(filled.saturating_sub(self.told_bytes));
        self.told_bytes = self.told_bytes.max(filled);
    }

    fn kept(&mut self, failure: PrepareError) -> io::Error {
        self.failure = Some(failure);
        io::Error::other("the storage failed")
    }
}

impl io::Write for Sink<'_, '_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.take(part).map_err(|failure| self.kept(failure))?;
        Ok(part.len())
    }

    /// Nothing is held back here; who asks is told whether to go on.
    fn flush(&mut self) -> io::Result<()> {
        self.writing.go_on().map_err(|failure| self.kept(failure))?;
        self.tell();
        Ok(())
    }
}
