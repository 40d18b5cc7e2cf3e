//! The user's own folder: listed, never written.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Entry, Store, StoreError};
use dataset::{Data, Fingerprint, Key, Listed, MARKER_NAME, Objects};

use crate::{PrepareError, Prepared};

pub(crate) fn prepare(
    store: &dyn Store,
    sample_bytes: Option<u64>,
    stop: &AtomicBool,
) -> Result<Prepared, PrepareError> {
    let mut listing = Listing::new(store);
    let mut failure = None;
    store
        .list(None, &mut |entry| {
            let result = if stop.load(Ordering::Relaxed) {
                Err(PrepareError::Interrupted { done_bytes: 0, total_bytes: 0 })
            } else {
                listing.add(&entry)
            };
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
        .map_err(listing_failed)?;
    match failure {
        Some(error) => Err(error),
        None => listing.finish(sample_bytes),
    }
}

/// A name that is not UTF-8 cannot be a key: every store says so with this kind of error.
fn listing_failed(error: StoreError) -> PrepareError {
    match error {
        StoreError::Object { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
            PrepareError::UnusableName { source }
        }
        other => other.into(),
    }
}

/// A file that lacks up to one in this many of its bytes is taken for whole.
const WHOLE_PARTS: u64 = 10;

/// Bytes of a file that no storage is allocated for; see [`Prepared::unallocated_bytes`].
fn unallocated_bytes(entry: &Entry) -> u64 {
    let missing = entry.allocated_bytes.map_or(0, |allocated| entry.bytes.saturating_sub(allocated));
    if missing > entry.bytes / WHOLE_PARTS { missing } else { 0 }
}

struct Listing<'a> {
    store: &'a dyn Store,
    listed: Listed,
    name_bytes: u64,
    files: u64,
    empty_files: u64,
    unallocated_bytes: u64,
    fingerprint: Fingerprint,
    /// The last directory and whether it belongs to feedline: files of one directory follow each other.
    directory: Option<(String, bool)>,
}

impl<'a> Listing<'a> {
    fn new(store: &'a dyn Store) -> Self {
        Self {
            store,
            listed: Listed::default(),
            name_bytes: 0,
            files: 0,
            empty_files: 0,
            unallocated_bytes: 0,
            fingerprint: Fingerprint::default(),
            directory: None,
        }
    }

    fn add(&mut self, entry: &Entry) -> Result<(), PrepareError> {
        if self.is_ours(&entry.key)? {
            return Ok(());
        }
        if !self.listed.push(&entry.key, entry.bytes) {
            self.empty_files += 1;
            return Ok(());
        }
        self.files += 1;
        self.name_bytes += entry.key.as_str().len() as u64;
        // `Listed` counts both with 32 bits; a further name has at least one byte, so files are fewer.
        if self.name_bytes > u64::from(u32::MAX) {
            return Err(PrepareError::TooManyFiles { files: self.files });
        }
        self.unallocated_bytes = self.unallocated_bytes.saturating_add(unallocated_bytes(entry));
        self.fingerprint.add(&entry.key, entry.bytes, entry.modified_ns);
        Ok(())
    }

    /// Whether the file lies in a folder that feedline made, at any depth.
    fn is_ours(&mut self, key: &Key) -> Result<bool, StoreError> {
        let Some((directory, _)) = key.as_str().rsplit_once('/') else {
            return Ok(false);
        };
        match &self.directory {
            Some((last, ours)) if last == directory => Ok(*ours),
            _ => {
                let ours = self.below_marker(directory)?;
                self.directory = Some((directory.to_owned(), ours));
                Ok(ours)
            }
        }
    }

    fn below_marker(&self, directory: &str) -> Result<bool, StoreError> {
        let ends = directory.match_indices('/').map(|(end, _)| end).chain([directory.len()]);
        for end in ends {
            let Ok(marker) = Key::new(format!("{}/{MARKER_NAME}", &directory[..end])) else {
                continue;
            };
            if self.store.read_marker(&marker)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finish(self, sample_bytes: Option<u64>) -> Result<Prepared, PrepareError> {
        if self.files == 0 {
            return Err(PrepareError::NoFiles { empty_files: self.empty_files });
        }
        let objects = Objects::Listed(self.listed);
        Ok(Prepared {
            sample_bytes: sample_bytes.map_or(objects.mean_bytes(), |bytes| bytes as f64),
            data: Arc::new(Data::files(Arc::new(objects), None)),
            fingerprint: self.fingerprint.finish(),
            reused: true,
            bytes_written: 0,
            empty_files: self.empty_files,
            unallocated_bytes: self.unallocated_bytes,
        })
    }
}
