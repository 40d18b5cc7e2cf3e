//! Folders for checkpoints: made for one run, emptied by it, and removed at its end.

use std::sync::Arc;

use backend::{Owned, Store, StoreError};
use dataset::{MANIFEST_FORMAT, Marker, Objects};
use plan::{Checkpoint, DatasetSpec, Generate};

use crate::clean;
use crate::error::{CleanError, PrepareError};
use crate::identity::Identity;
use crate::removal::Act;

/// A folder of feedline's own for the checkpoints of one run.
///
/// It is kept like the folder of a dataset whose files are those of all checkpoints that lie there at once. So `clean`
/// knows every name in it, whenever the run ended.
#[derive(Debug, Clone)]
pub struct CheckpointFolder {
    /// Proof that it may be written to.
    pub owned: Owned,
    /// The files of all checkpoints that lie there at once: those that are kept and one more, each of
    /// [`Checkpoint::files`] that follow each other.
    pub objects: Arc<Objects>,
    identity: Identity,
}

impl CheckpointFolder {
    /// Makes the folder; `seed` is one that no other run has. Nothing is written where there is not room enough.
    ///
    /// # Errors
    /// Too little room, too many files, or what the storage refuses.
    pub fn create(store: &dyn Store, plan: &Checkpoint, seed: u64) -> Result<Self, PrepareError> {
        check_room(store, plan)?;
        let identity = Identity::of(&spec(plan, seed))?.expect("what is not the user's is generated");
        let folder = identity.folder();
        let marker = Marker {
            format: MANIFEST_FORMAT,
            note: "feedline made this folder to write checkpoints into; `feedline clean` removes what a run left here"
                .to_owned(),
            dataset: identity.to_string(),
        };
        // `create_folder` fails where the folder exists, so two runs that draw the same seed do not share one.
        let owned = store.create_folder(&folder, &marker)?;
        let objects = Objects::generated(folder, &identity.spec()).expect("files of one size are generated");
        Ok(Self { owned, objects: Arc::new(objects), identity })
    }

    /// Removes what feedline wrote into the folder, and the folder if nothing else lies in it.
    ///
    /// # Errors
    /// What the storage refuses; `clean` can be repeated.
    pub fn remove(&self, store: &dyn Store) -> Result<(), CleanError> {
        let folder = self.owned.folder();
        let failed = |source: StoreError| CleanError::Remove { folder: folder.clone(), source };
        clean::clean_known(store, folder, self.identity, Act::Remove).map(drop).map_err(failed)
    }
}

/// Whether there is room for all checkpoints that lie there at once.
///
/// # Errors
/// [`PrepareError::NoRoom`], or what the storage refuses.
pub fn check_room(store: &dyn Store, plan: &Checkpoint) -> Result<(), PrepareError> {
    let needed_bytes = plan.disk_bytes();
    match store.free_bytes()? {
        Some(free_bytes) if free_bytes < needed_bytes => {
            Err(PrepareError::NoRoom { checkpoints: plan.keep + 1, needed_bytes, free_bytes })
        }
        _ => Ok(()),
    }
}

/// A checkpoint lies in a folder of its own, so that one that is removed leaves no long folder behind.
fn spec(plan: &Checkpoint, seed: u64) -> DatasetSpec {
    DatasetSpec::Generate(Generate {
        // One more than are kept: the new one is whole before the oldest goes, as trainers do it.
        samples: u64::from(plan.files) * (u64::from(plan.keep) + 1),
        sample_bytes: plan.file_bytes,
        files_per_folder: plan.files,
        seed,
        ..Generate::NONE
    })
}
