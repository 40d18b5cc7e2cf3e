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
mod survey;
mod write;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::Store;
use dataset::{Data, Key};
use plan::DatasetSpec;

pub use checkpoints::{CheckpointFolder, check_room};
pub use clean::{Cleaned, clean};
pub use error::{CleanError, PrepareError};
use identity::Identity;

/// A dataset that is there, complete, and as it was when it was fingerprinted.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What can be read.
    pub data: Arc<Data>,
    /// Hash over names, sizes and modification times.
    pub fingerprint: String,
    /// Bytes of one training sample: as the user says, else the mean of the objects.
    pub sample_bytes: f64,
    /// Whether it was there already, complete.
    pub reused: bool,
    /// Bytes written now.
    pub bytes_written: u64,
    /// Files of a user's folder that hold nothing and were left out.
    pub empty_files: u64,
    /// Bytes of a user's files that no storage is allocated for, over the files that lack more than a tenth of
    /// theirs. They are holes, or the file system compresses, keeps small files among its names or does not count:
    /// reading them brings fewer bytes from the device, or none. That is no error, as a compressing file system is
    /// fed from like any other, but it is to be said beside every figure.
    pub unallocated_bytes: u64,
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
    if let DatasetSpec::Existing(plan::Existing { sample_bytes, .. }) = *spec {
        return existing::prepare(store, sample_bytes, stop);
    }
    let identity = Identity::of(spec)?.expect("what is not the user's is generated");
    generate::prepare(&generate::Task { store, identity, threads, progress, stop })
}

/// Folder of a generated dataset, `feedline-` and 8 hex digits that depend on everything that decides its
/// content. `None` for a user's folder and for a dataset that cannot be generated.
pub fn identify(spec: &DatasetSpec) -> Option<Key> {
    Identity::of(spec).ok().flatten().map(|identity| identity.folder())
}

/// Whether any object changed, went or shrank since the dataset was fingerprinted. Looks at every object,
/// with `threads` threads; files added to a user's folder since are not looked for, as none of them is read.
pub fn recheck(store: &dyn Store, prepared: &Prepared, threads: u32) -> Result<bool, PrepareError> {
    let never = AtomicBool::new(false);
    let survey = survey::Survey { store, objects: prepared.data.objects(), threads, stop: &never };
    let found = survey.take(None)?;
    Ok(found.difference.is_some() || found.fingerprint != prepared.fingerprint)
}
