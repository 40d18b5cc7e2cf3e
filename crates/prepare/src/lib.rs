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
mod lease;
mod listed;
mod made;
mod others;
mod pattern;
mod prepared;
mod removal;
mod shape;
mod survey;
mod task;
mod threads;
mod write;
mod zarr;

use std::sync::atomic::AtomicBool;

use backend::Store;
use dataset::Data;
use plan::{Codec, DatasetSpec, Layout, Packing};

pub use checkpoints::{CheckpointFolder, check_room};
pub use clean::{clean, find, refuse_used};
pub use error::{CleanError, PrepareError};
use identity::Identity;
pub use identity::identify;
pub use lease::{EXPIRES_NS, Holder, Lease, LeaseError, RENEWED_NS, Renewed, Watch};
pub use others::check_place;
pub use prepared::Prepared;
pub use removal::Cleaned;

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
    // After the identity, whose errors need no storage, and before the first write.
    check_place(store, spec)?;
    generate::prepare(&task::Task { store, identity, columns_read, threads, progress, stop })
}

/// Bytes that [`prepare`] would write now, without metadata: 0 for a dataset that is complete or the user's. Exact where
/// [`planned`] knows the dataset, else as if nothing compressed. Changes nothing.
pub fn bytes_to_write(store: &dyn Store, spec: &DatasetSpec) -> Result<u64, PrepareError> {
    let Some(identity) = Identity::of(spec)? else { return Ok(0) };
    let stop = AtomicBool::new(false);
    let progress = |_, _| {};
    // Which columns are read changes nothing of what is written.
    let columns_read = 1;
    generate::missing_bytes(&task::Task {
        store,
        identity,
        columns_read,
        threads: 1,
        progress: &progress,
        stop: &stop,
    })
}

/// A generated dataset as arithmetic, without its content; `None` for a user's folder, which must be listed, and where only
/// writing tells how samples lie (compressed shards, Parquet).
pub fn planned(spec: &DatasetSpec) -> Option<Data> {
    let identity = Identity::of(spec).ok().flatten()?;
    match shape::Shape::of(&identity) {
        shape::Shape::Files { objects, .. } => Some(Data::files(objects, None)),
        shape::Shape::Shards(shards) => shards.data(&shards.planned()?),
    }
}

/// Whether any object changed, went or shrank since the dataset was fingerprinted. Looks at every object,
/// with `threads` threads. Does not look for files added to a user's folder since, because the run does not read them.
pub fn recheck(store: &dyn Store, prepared: &Prepared, threads: u32) -> Result<bool, PrepareError> {
    let never = AtomicBool::new(false);
    let survey = survey::Survey {
        store,
        objects: prepared.data.objects(),
        threads,
        stop: &never,
        are_written_over: prepared.data.is_written_over(),
    };
    let found = survey.take(None)?;
    Ok(found.difference.is_some() || found.fingerprint != prepared.fingerprint)
}

impl Prepared {
    /// Of a generated dataset that no storage holds, for a target where nothing is read: where only writing tells how
    /// samples lie, as if they lay page-aligned. `None` for a user's data, and for what cannot be generated.
    pub fn imagined(spec: &DatasetSpec) -> Option<Self> {
        let DatasetSpec::Generate(generate) = *spec else { return None };
        let identity = Identity::of(spec).ok().flatten()?;
        let layout = identity.packing.map_or(Layout::Files, |packing| packing.layout);
        // The null target answers at any offset, so that only the number and sizes of reads matter: pages are the
        // plainest place for samples.
        let paged = |packing: Packing| Packing { layout: Layout::Indexed, codec: Codec::None, ..packing };
        let packing = generate.packing.map(paged);
        let data = planned(spec)
            .or_else(|| planned(&DatasetSpec::Generate(plan::Generate { packing, ..generate })))?;
        Some(Self::of(data.unchecked(), layout, "none".to_owned()))
    }
}
