//! Writes, checks and removes datasets: the only writer and deleter.
//!
//! A generated dataset lives in a folder of feedline's own. The marker is written first, the data by many
//! threads, the manifest last; so whatever stops a preparation, the next one knows what is there, keeps the
//! objects that are complete and writes the others. A user's folder is listed and never written.

mod checkpoints;
mod clean;
mod copied;
mod error;
mod existing;
mod generate;
mod identity;
mod indexing;
mod kinds;
mod others;
mod pattern;
mod shape;
mod survey;
mod write;
mod zarr;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::Store;
use dataset::{Data, Key};
use plan::{Access, Codec, DatasetSpec, Layout, Packing};

pub use checkpoints::{CheckpointFolder, check_room};
pub use clean::{Cleaned, clean, find};
pub use error::{CleanError, PrepareError};
use identity::Identity;
pub use others::check_place;

/// A dataset that is there, complete, and as it was when it was fingerprinted.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What can be read.
    pub data: Arc<Data>,
    /// Hash over names, sizes and modification times.
    pub fingerprint: String,
    /// How samples lie in the objects.
    pub layout: Layout,
    /// Bytes of one training sample: as the user says, else what is read for it on average in the order that is usual
    /// for the layout.
    pub sample_bytes: f64,
    /// Whether it was there already, complete.
    pub reused: bool,
    /// Bytes written now.
    pub bytes_written: u64,
    /// Files of a user's folder that hold nothing and were left out.
    pub empty_files: u64,
    /// Files of a user's folder that are no shards of the layout and were left out.
    pub other_files: u64,
    /// Shards whose samples were counted, where the number of all is estimated from them; `None` where it is known.
    pub counted_shards: Option<u32>,
    /// Bytes of a user's files that no storage is allocated for, over the files that lack more than a tenth of
    /// theirs. They are holes, or the file system compresses, keeps small files among its names or does not count:
    /// reading them brings fewer bytes from the device, or none. That is no error, as a compressing file system is
    /// fed from like any other, but it is to be said beside every figure.
    pub unallocated_bytes: u64,
}

impl Prepared {
    /// Of data that was found complete.
    pub(crate) fn of(data: Data, layout: Layout, fingerprint: String) -> Self {
        let access = if layout.is_streamed() { Access::ShuffledShards } else { Access::ShuffledEpoch };
        let sample_bytes = match layout {
            Layout::Files => data.objects().mean_bytes(),
            _ => data.sample_bytes(access),
        };
        Self {
            data: Arc::new(data),
            layout,
            fingerprint,
            sample_bytes,
            reused: true,
            bytes_written: 0,
            empty_files: 0,
            other_files: 0,
            counted_shards: None,
            unallocated_bytes: 0,
        }
    }

    /// Of a generated dataset that no storage holds, for a target where nothing is read: where only writing tells how
    /// samples lie, as if they lay page-aligned. `None` for a user's data, and for what cannot be generated.
    pub fn imagined(spec: &DatasetSpec) -> Option<Self> {
        let DatasetSpec::Generate(generate) = *spec else { return None };
        let identity = Identity::of(spec).ok().flatten()?;
        let layout = identity.packing.map_or(Layout::Files, |packing| packing.layout);
        let paged = |packing: Packing| Packing { layout: Layout::Indexed, codec: Codec::None, ..packing };
        let packing = generate.packing.map(paged);
        let data = planned(spec)
            .or_else(|| planned(&DatasetSpec::Generate(plan::Generate { packing, ..generate })))?;
        Some(Self::of(data.unchecked(), layout, "none".to_owned()))
    }
}

/// Makes sure that a dataset is there: lists the user's, or writes what is missing of a generated one with
/// `threads` threads.
///
/// `progress` is told the bytes done (kept ones included) and the bytes of the whole dataset, by the writing
/// threads, after each chunk and so not strictly in order. `stop` ends the work at the next chunk with
/// [`PrepareError::Interrupted`]; what is complete by then is kept.
pub fn prepare(
    store: &dyn Store,
    spec: &DatasetSpec,
    threads: u32,
    progress: &(dyn Fn(u64, u64) + Sync),
    stop: &AtomicBool,
) -> Result<Prepared, PrepareError> {
    if let DatasetSpec::Existing(existing) = spec {
        return existing::prepare(&existing::Task { store, existing, threads, progress, stop });
    }
    let identity = Identity::of(spec)?.expect("what is not the user's is generated");
    let columns_read = match spec {
        DatasetSpec::Generate(generate) => generate.packing.map_or(1, |packing| packing.columns_read),
        DatasetSpec::Existing(_) => 1,
    };
    check_place(store, spec)?;
    generate::prepare(&generate::Task { store, identity, columns_read, threads, progress, stop })
}

/// Folder of a generated dataset, `feedline-` and 8 hex digits that depend on everything that decides its
/// content. `None` for a user's folder and for a dataset that cannot be generated.
pub fn identify(spec: &DatasetSpec) -> Option<Key> {
    Identity::of(spec).ok().flatten().map(|identity| identity.folder())
}

/// A generated dataset as arithmetic, without its content; `None` for a user's folder, which must be listed, and where only
/// writing tells how samples lie (compressed shards, Parquet).
pub fn planned(spec: &DatasetSpec) -> Option<Data> {
    let identity = Identity::of(spec).ok().flatten()?;
    match shape::Shape::of(&identity) {
        shape::Shape::Files { objects, .. } => Some(Data::files(objects, None)),
        shape::Shape::Shards(shards) => {
            let shape = shape::Shape::Shards(shards);
            let objects = shape.objects()?;
            match &shape {
                shape::Shape::Shards(shards) => shards.data(&objects),
                shape::Shape::Files { .. } => None,
            }
        }
    }
}

/// Whether any object changed, went or shrank since the dataset was fingerprinted. Looks at every object,
/// with `threads` threads; files added to a user's folder since are not looked for, as none of them is read.
pub fn recheck(store: &dyn Store, prepared: &Prepared, threads: u32) -> Result<bool, PrepareError> {
    let never = AtomicBool::new(false);
    let survey = survey::Survey { store, objects: prepared.data.objects(), threads, stop: &never };
    let found = survey.take(None)?;
    Ok(found.difference.is_some() || found.fingerprint != prepared.fingerprint)
}
