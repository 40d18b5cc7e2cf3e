//! The user's own folder: listed and looked into, never written.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Entry, Store, StoreError};
use dataset::{Data, Fingerprint, Key, Listed, Objects, Samples};
use formats::Foreign;
use plan::{Codec, Existing, Layout};

use crate::error::PrepareError;
use crate::indexing::Reading;
use crate::kinds::{self, Endings, FileKind, FolderKind};
use crate::listed::Names;
use crate::others::Ours;
use crate::pattern::Pattern;
use crate::prepared::Prepared;
use crate::zarr;

/// One dataset of the user's.
pub(crate) struct Task<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) existing: &'a Existing,
    pub(crate) threads: u32,
    pub(crate) progress: &'a (dyn Fn(u64, u64) + Sync),
    pub(crate) stop: &'a AtomicBool,
}

pub(crate) fn prepare(task: &Task<'_>) -> Result<Prepared, PrepareError> {
    let mut meant = task.meant()?;
    // Only the part of a bucket below the pattern's fixed beginning is listed: a listing of all of it takes a request
    // for each thousand names.
    let folder = meant.pattern().and_then(|pattern| Key::new(pattern.folder()?).ok());
    // Who states `files` knows what each of them is.
    let stated = task.existing.layout.map(|layout| FolderKind { layout, foreign: None });
    let is_stated = stated.is_some();
    let FolderKind { layout, foreign } = match stated {
        Some(stated) => stated,
        None => task.kind(folder.as_ref(), &mut meant).map_err(listing_failed)?,
    };
    if let (Meant::Named(names), false) = (&meant, layout == Layout::Files) {
        return Err(PrepareError::ListOfShards { order: names.at().to_owned(), layout: layout.name() });
    }
    let mut listing = Listing::new(task.store);
    listing.choice = match layout {
        Layout::Files => Choice::All { looks: !is_stated },
        // Chunks are recognised by the array's shape, so its metadata have to be read before anything is listed.
        Layout::Zarr => Choice::Chunks(task.array(&mut meant)?),
        layout if meant.pattern().is_some() => Choice::Named(layout),
        layout => Choice::Shards(layout),
    };
    listing.foreign = foreign;
    task.list(folder.as_ref(), &mut meant, &mut listing).map_err(listing_failed)?;
    if let (Some(pattern), Some(text)) = (meant.pattern(), &task.existing.shards)
        // A loader would fail at that shard in the middle of an epoch; a brace list names each of them, so this is no
        // guess.
        && let Some(name) = pattern.missing()
    {
        return Err(PrepareError::MissingShard { name: name.to_owned(), pattern: text.clone() });
    }
    task.finish(layout, listing, meant)
}

/// Which of the files below a target are its dataset.
enum Meant<'a> {
    All,
    /// Those that a pattern takes.
    Like(Pattern),
    /// Those that a list names.
    Named(Names<'a>),
}

impl Meant<'_> {
    fn takes(&mut self, key: &Key) -> bool {
        match self {
            Self::All => true,
            Self::Like(pattern) => pattern.takes(key.as_str()),
            Self::Named(names) => names.takes(key),
        }
    }

    fn pattern(&self) -> Option<&Pattern> {
        match self {
            Self::Like(pattern) => Some(pattern),
            Self::All | Self::Named(_) => None,
        }
    }
}

impl Task<'_> {
    fn meant(&self) -> Result<Meant<'_>, PrepareError> {
        match (&self.existing.shards, &self.existing.order) {
            (_, Some(order)) => Ok(Meant::Named(Names::of(order))),
            (Some(text), None) => {
                let refused = |cause| PrepareError::Pattern { pattern: text.clone(), cause };
                Pattern::new(text).map(Meant::Like).map_err(refused)
            }
            (None, None) => Ok(Meant::All),
        }
    }

    /// What the files are found to be.
    fn kind(&self, folder: Option<&Key>, meant: &mut Meant<'_>) -> Result<FolderKind, PrepareError> {
        let mut ours = Ours::new(self.store);
        kinds::of_folder(self.store, folder, &mut |key| {
            self.go_on()?;
            Ok(meant.takes(key) && !ours.holds(key)?)
        })
    }

    /// The array that is read.
    fn array(&self, meant: &mut Meant<'_>) -> Result<zarr::Array, PrepareError> {
        let mut ours = Ours::new(self.store);
        zarr::array(self.store, &mut |key| {
            self.go_on()?;
            Ok(meant.takes(key) && !ours.holds(key)?)
        })
    }

    fn list(
        &self,
        folder: Option<&Key>,
        meant: &mut Meant<'_>,
        listing: &mut Listing<'_>,
    ) -> Result<(), PrepareError> {
        let mut failure = None;
        self.store.list(folder, &mut |entry| {
            let is_meant = meant.takes(&entry.key);
            let result = self.go_on().and_then(|()| if is_meant { listing.add(&entry) } else { Ok(()) });
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failure.map_or(Ok(()), Err)
    }

    fn go_on(&self) -> Result<(), PrepareError> {
        if self.stop.load(Ordering::Relaxed) {
            // Nothing was written, and how many bytes there are is what the listing was to find out.
            return Err(PrepareError::Interrupted { done_bytes: 0, total_bytes: 0 });
        }
        Ok(())
    }

    fn finish(
        &self,
        layout: Layout,
        listing: Listing<'_>,
        meant: Meant<'_>,
    ) -> Result<Prepared, PrepareError> {
        if listing.files == 0 && layout != Layout::Files && listing.other_files > 0 {
            return Err(PrepareError::NoShards { layout: layout.name(), files: listing.other_files });
        }
        // Of a list the first name is told, which says more than that there is no file.
        if listing.files == 0 && !matches!(meant, Meant::Named(_)) {
            return Err(PrepareError::NoFiles { empty_files: listing.empty_files });
        }
        let Listing { listed, empty_files, other_files, unallocated_bytes, choice, kind, foreign, .. } =
            listing;
        let objects = Arc::new(Objects::Listed(listed));
        let codec = kind.map_or(Codec::None, |(_, (_, codec))| codec);
        let (samples, counted, order_digest) = match meant {
            Meant::Named(names) => {
                let (samples, digest) = names.samples(&objects)?;
                (samples, None, Some(digest))
            }
            Meant::All | Meant::Like(_) => {
                let (samples, counted) = self.samples(layout, codec, &choice, &objects)?;
                (samples, counted, None)
            }
        };
        let data = match samples {
            Samples::Objects => Data::files(objects, None),
            samples => Data::new(objects, samples, None)?,
        };
        let found = Prepared::of(data, layout, listing.fingerprint.finish());
        Ok(Prepared {
            sample_bytes: self.existing.sample_bytes.map_or(found.sample_bytes, |bytes| bytes as f64),
            empty_files,
            other_files,
            foreign,
            counted_shards: counted,
            unallocated_bytes,
            order_digest,
            ..found
        })
    }

    /// Where samples lie, and in how many shards they were counted where that says how many there are.
    fn samples(
        &self,
        layout: Layout,
        codec: Codec,
        choice: &Choice,
        objects: &Objects,
    ) -> Result<(Samples, Option<u32>), PrepareError> {
        let has_columns = matches!(layout, Layout::Parquet | Layout::Hdf5);
        let columns = if has_columns { self.existing.columns.clone() } else { Vec::new() };
        let reading = Reading {
            store: self.store,
            layout,
            columns,
            array: if let Choice::Chunks(array) = choice { Some(array) } else { None },
            threads: self.threads,
            progress: self.progress,
            stop: self.stop,
        };
        Ok(match choice {
            Choice::All { .. } => (Samples::Objects, None),
            Choice::Chunks(array) if array.of_whole_samples().is_none() => {
                (Samples::Indexed(zarr::spread(array, objects)), None)
            }
            Choice::Chunks(_) => (Samples::Indexed(reading.index(objects)?), None),
            // A compressed shard has to be unpacked to be indexed, and its samples cannot be read by index in any
            // case.
            Choice::Shards(_) | Choice::Named(_) if codec == Codec::None => {
                (Samples::Indexed(reading.index(objects)?), None)
            }
            Choice::Shards(_) | Choice::Named(_) => {
                let (count, counted) = reading.count(codec, objects)?;
                (Samples::Streamed { count }, Some(counted).filter(|counted| *counted < objects.count()))
            }
        })
    }
}

/// A name that is not UTF-8 cannot be a key: every store says so with this kind of error.
fn listing_failed(error: PrepareError) -> PrepareError {
    match error {
        PrepareError::Store(StoreError::Object { source, .. })
            if source.kind() == io::ErrorKind::InvalidData =>
        {
            PrepareError::UnusableName { source }
        }
        other => other,
    }
}

/// A file counts as whole if at most one in this many of its bytes has no storage.
// Metadata of a file system are counted differently by each; a tenth is more than any of them, and less than a hole
// that matters.
const WHOLE_PARTS: u64 = 10;

/// Bytes of a file that no storage is allocated for; see [`Prepared::unallocated_bytes`].
fn unallocated_bytes(entry: &Entry) -> u64 {
    let missing = entry.allocated_bytes.map_or(0, |allocated| entry.bytes.saturating_sub(allocated));
    if missing > entry.bytes / WHOLE_PARTS { missing } else { 0 }
}

/// Which of the files that are meant are read.
enum Choice {
    /// Every one is a sample.
    All {
        /// Whether names are looked at that say that it may not be one.
        looks: bool,
    },
    /// Those that are shards of the layout; others are left out.
    Shards(Layout),
    /// Every one is a shard of the layout, as somebody named them.
    Named(Layout),
    /// Chunks of the array.
    Chunks(zarr::Array),
}

struct Listing<'a> {
    store: &'a dyn Store,
    choice: Choice,
    /// The first shard, and what it is.
    kind: Option<(Key, FileKind)>,
    listed: Listed,
    name_bytes: u64,
    files: u64,
    empty_files: u64,
    other_files: u64,
    unallocated_bytes: u64,
    /// A file that holds several samples in a format that no layout reads.
    foreign: Option<(Key, Foreign)>,
    fingerprint: Fingerprint,
    ours: Ours<'a>,
    endings: Endings,
}

impl<'a> Listing<'a> {
    fn new(store: &'a dyn Store) -> Self {
        Self {
            store,
            choice: Choice::All { looks: false },
            kind: None,
            listed: Listed::default(),
            name_bytes: 0,
            files: 0,
            empty_files: 0,
            other_files: 0,
            unallocated_bytes: 0,
            foreign: None,
            fingerprint: Fingerprint::default(),
            ours: Ours::new(store),
            endings: Endings::default(),
        }
    }

    fn add(&mut self, entry: &Entry) -> Result<(), PrepareError> {
        // A generated dataset may lie beside the user's files (`beside_others`), and is not the user's data.
        if self.ours.holds(&entry.key)? {
            return Ok(());
        }
        // An empty file is nothing that its first bytes could tell, so it is counted as empty below and not looked
        // into.
        if entry.bytes > 0 && !self.is_read(&entry.key)? {
            self.other_files += 1;
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

    /// Whether a file is read. Shards of two kinds are not one dataset, so the user has to say which are meant.
    fn is_read(&mut self, key: &Key) -> Result<bool, PrepareError> {
        let (layout, named) = match &self.choice {
            Choice::All { looks } => {
                if *looks && self.foreign.is_none() {
                    let format = formats::foreign_by_name(key.as_str());
                    self.foreign = format.map(|format| (key.clone(), format));
                }
                return Ok(true);
            }
            Choice::Chunks(array) => return Ok(array.row(key).is_some()),
            Choice::Shards(layout) => (*layout, false),
            Choice::Named(layout) => (*layout, true),
        };
        let kind = match self.endings.of(self.store, key)? {
            // Its own reader says what is wrong with it.
            None if named => (layout, self.kind.as_ref().map_or(Codec::None, |(_, (_, codec))| *codec)),
            None => return Ok(false),
            // Arrays lie beside shards of anything.
            Some((Layout::Records, _)) if layout != Layout::Records && !named => return Ok(false),
            Some(kind) => kind,
        };
        match &self.kind {
            Some((first, before)) if *before != kind => Err(kinds::mixed((first, *before), (key, kind))),
            Some(_) => Ok(true),
            None if kind.0 != layout => Err(PrepareError::OtherLayout {
                object: key.clone(),
                found: kinds::words(kind),
                wanted: layout.name(),
            }),
            None => {
                self.kind = Some((key.clone(), kind));
                Ok(true)
            }
        }
    }
}
