//! A look at every object: is it there, how large, when was it modified.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Entry, Store, StoreError};
use dataset::{Fingerprint, Objects};

use crate::error::PrepareError;
use crate::threads::in_ranges;

/// Objects whose sizes and times are held at once. The fingerprint takes them in order; the calls to the
/// storage, which on a network take most of the time, run side by side.
const BATCH: u32 = 16_384;

/// What to look at.
pub(crate) struct Survey<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) objects: &'a Objects,
    pub(crate) threads: u32,
    pub(crate) stop: &'a AtomicBool,
    /// Whether they are written over by what is measured: their times then say nothing.
    pub(crate) are_written_over: bool,
}

/// What was found.
pub(crate) struct Surveyed {
    /// Over the objects that exist.
    pub(crate) fingerprint: String,
    /// The first object that is gone, of another size, or modified after the given time.
    pub(crate) difference: Option<String>,
}

impl Survey<'_> {
    /// Looks at every object; those modified after `since_ns` count as different.
    pub(crate) fn take(&self, since_ns: Option<i128>) -> Result<Surveyed, PrepareError> {
        let since_ns = since_ns.filter(|_| !self.are_written_over);
        let mut fingerprint = Fingerprint::default();
        let mut difference = None;
        let count = self.objects.count();
        for start in (0..count).step_by(BATCH as usize) {
            if self.stop.load(Ordering::Relaxed) {
                let total_bytes = self.objects.total_bytes();
                return Err(PrepareError::Interrupted { done_bytes: total_bytes, total_bytes });
            }
            let batch = start..count.min(start.saturating_add(BATCH));
            // In the order of the objects, whichever thread looked: the fingerprint depends on it.
            for (object, entry) in batch.clone().zip(self.stat(batch)?) {
                difference = difference.or_else(|| self.difference(object, entry.as_ref(), since_ns));
                if let Some(entry) = entry {
                    let modified_ns = if self.are_written_over { 0 } else { entry.modified_ns };
                    fingerprint.add(&entry.key, entry.bytes, modified_ns);
                }
            }
        }
        Ok(Surveyed { fingerprint: fingerprint.finish(), difference })
    }

    fn difference(&self, object: u32, entry: Option<&Entry>, since_ns: Option<i128>) -> Option<String> {
        let key = || self.objects.key(object);
        let expected = self.objects.bytes(object);
        match entry {
            None => Some(format!("`{}` is gone", key())),
            Some(entry) if entry.bytes != expected => {
                Some(format!("`{}` has {} B instead of {expected} B", key(), entry.bytes))
            }
            // A file that was rewritten with the same size is found by its time alone.
            Some(entry) if since_ns.is_some_and(|since_ns| entry.modified_ns > since_ns) => {
                Some(format!("`{}` was modified after the dataset was complete", key()))
            }
            Some(_) => None,
        }
    }

    fn stat(&self, batch: Range<u32>) -> Result<Vec<Option<Entry>>, StoreError> {
        let stat = |number: usize| self.store.stat(&self.objects.key(batch.start + number as u32));
        // Whole ranges for each thread, so that entries come back in order without being sorted.
        let ranges = in_ranges(self.threads as usize, batch.len(), |range| {
            range.map(stat).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(ranges.into_iter().flatten().collect())
    }
}
