//! Finds the samples of many shards, by many threads.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use backend::Store;
use dataset::{Extent, Index, Key, Objects};
use formats::{FormatError, Indexing, Source, Unit};
use plan::{Codec, Layout};

use crate::error::PrepareError;
use crate::threads::in_turn;
use crate::zarr::Array;

/// Shards that are indexed before their units are put in order. It bounds what is held twice.
const BATCH: u32 = 256;

/// Records of each `TFRecord` shard whose data are checked, beside the lengths of all: enough to find a shard of
/// something else, and a small read.
const CHECKED_RECORDS: u64 = 1;

/// Shards of which samples are counted by unpacking them.
const COUNTED_SHARDS: u32 = 3;

/// Bytes of those, packed: what one core unpacks in a few seconds.
const COUNTED_BYTES: u64 = 256 << 20;

/// DEFLATE makes at most 1,032 bytes of one; a shard that unpacks to more was made to.
const RATIO_MAX: u64 = 1100;

/// Shards to look into.
pub(crate) struct Reading<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) layout: Layout,
    /// Columns or datasets that are read, as [`Indexing::columns`] has them.
    pub(crate) columns: Vec<String>,
    /// The array whose objects they are; of Zarr alone.
    pub(crate) array: Option<&'a Array>,
    pub(crate) threads: u32,
    pub(crate) progress: &'a (dyn Fn(u64, u64) + Sync),
    pub(crate) stop: &'a AtomicBool,
}

/// Units of one shard.
#[derive(Default)]
struct ShardUnits {
    /// Samples and number of parts of each unit; empty where each is one sample in one part.
    units: Vec<(u64, u32)>,
    parts: Vec<(u64, u64)>,
}

impl ShardUnits {
    fn add(&mut self, unit: Unit<'_>) {
        // Most layouts have one sample in one part; a list of units beside the parts would double what a million
        // samples take.
        let plain = unit.samples == 1 && unit.extents.len() == 1;
        if !plain && self.units.is_empty() {
            self.units = vec![(1, 1); self.parts.len()];
        }
        if !plain || !self.units.is_empty() {
            self.units.push((unit.samples, unit.extents.len() as u32));
        }
        self.parts.extend_from_slice(unit.extents);
    }

    fn put(self, object: u32, index: &mut Index) {
        let extent = |(offset, bytes): &(u64, u64)| Extent { object, offset: *offset, bytes: *bytes };
        if self.units.is_empty() {
            self.parts.iter().for_each(|part| index.push(1, &[extent(part)]));
            return;
        }
        let mut rest = self.parts.as_slice();
        for (samples, parts) in self.units {
            let (of_unit, behind) = rest.split_at(parts as usize);
            let extents: Vec<_> = of_unit.iter().map(extent).collect();
            index.push(samples, &extents);
            rest = behind;
        }
    }
}

/// A shard at rest in a storage. What is read of it is decided by the format, which asks for headers that lie near each
/// other in one request of up to 256 KiB: on a network every request is a round trip.
struct Stored<'a> {
    store: &'a dyn Store,
    key: Key,
    bytes: u64,
    stop: &'a AtomicBool,
}

impl Source for Stored<'_> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_exact_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            // The only way out of a format's reader, which knows nothing of signals; `refused` turns it back into an
            // interruption.
            return Err(io::Error::other("stopped"));
        }
        let mut done = 0;
        while done < out.len() {
            let read = self.store.read_at(&self.key, offset + done as u64, &mut out[done..]);
            match read.map_err(io::Error::other)? {
                // A file that is still being written, or was cut since it was listed.
                0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter")),
                length => done += length,
            }
        }
        Ok(())
    }
}

impl Reading<'_> {
    /// Every unit of every shard, in the order of the shards. Takes 20 bytes of memory for each part of a unit.
    pub(crate) fn index(&self, objects: &Objects) -> Result<Index, PrepareError> {
        let mut index = Index::default();
        let done_bytes = AtomicU64::new(0);
        for start in (0..objects.count()).step_by(BATCH as usize) {
            let end = objects.count().min(start.saturating_add(BATCH));
            let found = self.batch(objects, start, end, &done_bytes)?;
            for (object, found) in (start..end).zip(found) {
                found.put(object, &mut index);
            }
        }
        Ok(index)
    }

    /// The shards from `start` on, side by side.
    fn batch(
        &self,
        objects: &Objects,
        start: u32,
        end: u32,
        done_bytes: &AtomicU64,
    ) -> Result<Vec<ShardUnits>, PrepareError> {
        let slots: Vec<Mutex<ShardUnits>> = (start..end).map(|_| Mutex::default()).collect();
        let work = |object: u32| -> Result<(), PrepareError> {
            let found = self.shard(objects, object)?;
            *slots[(object - start) as usize].lock().unwrap_or_else(PoisonError::into_inner) = found;
            let before = done_bytes.fetch_add(objects.bytes(object), Ordering::Relaxed);
            (self.progress)(before + objects.bytes(object), objects.total_bytes());
            Ok(())
        };
        in_turn(self.threads.min(end - start), start..end, || work)?;
        Ok(slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
    }

    fn shard(&self, objects: &Objects, object: u32) -> Result<ShardUnits, PrepareError> {
        let mut source = self.stored(objects, object);
        let mut found = ShardUnits::default();
        let mut add = |unit: Unit<'_>| found.add(unit);
        let of_array =
            self.array.and_then(|array| Some((array.of_whole_samples()?, array.row(&source.key)?)));
        let result = if let Some((array, row)) = of_array {
            formats::zarr_units(array, row, &mut source, &mut add)
        } else {
            let indexing = Indexing { columns: self.columns.clone(), checked_records: CHECKED_RECORDS };
            formats::index(self.layout, &indexing, &mut source, &mut add)
        };
        result.map_err(|error| self.refused(source.key, error, objects))?;
        Ok(found)
    }

    fn stored(&self, objects: &Objects, object: u32) -> Stored<'_> {
        let (key, bytes) = (objects.key(object), objects.bytes(object));
        Stored { store: self.store, key, bytes, stop: self.stop }
    }

    /// The error of a shard, unless the read was interrupted.
    fn refused(&self, object: Key, source: FormatError, objects: &Objects) -> PrepareError {
        if self.stop.load(Ordering::Relaxed) && matches!(source, FormatError::Io(_)) {
            return PrepareError::Interrupted { done_bytes: 0, total_bytes: objects.total_bytes() };
        }
        PrepareError::Shard { object, layout: self.layout.name(), source }
    }

    /// Samples of compressed shards: those of the first are counted by unpacking them, and taken for the others in
    /// proportion to their bytes. With the number of shards that were counted.
    pub(crate) fn count(&self, codec: Codec, objects: &Objects) -> Result<(u64, u32), PrepareError> {
        let (mut samples, mut shards, mut bytes) = (0_u64, 0, 0_u64);
        for object in 0..objects.count().min(COUNTED_SHARDS) {
            // The first is counted however large it is: with none there would be nothing to estimate from.
            if object > 0 && bytes.saturating_add(objects.bytes(object)) > COUNTED_BYTES {
                break;
            }
            let mut source = self.stored(objects, object);
            let counted = formats::count(self.layout, codec, &mut source, RATIO_MAX)
                .map_err(|error| self.refused(source.key, error, objects))?;
            samples = samples.saturating_add(counted);
            bytes += objects.bytes(object);
            shards += 1;
            (self.progress)(bytes, objects.total_bytes());
        }
        // By bytes and not by shards: the last shard of a dataset is often a rest.
        let share = objects.total_bytes() as f64 / bytes as f64;
        let all = if shards == objects.count() { samples } else { (samples as f64 * share).round() as u64 };
        Ok((all.max(1), shards))
    }
}
