//! Datasets that feedline writes: marker first, data, manifest last.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::{Owned, Store, StoreError};
use dataset::{Data, Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Manifest, Marker, Objects};

use crate::identity::Identity;
use crate::survey::Survey;
use crate::write::{Present, Writing};
use crate::{PrepareError, Prepared};

/// No manifest of feedline's comes near this size; a larger file is not one.
const MANIFEST_BYTES_MAX: usize = 65_536;

/// One generated dataset to prepare.
pub(crate) struct Task<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) identity: Identity,
    pub(crate) threads: u32,
    pub(crate) progress: &'a (dyn Fn(u64, u64) + Sync),
    pub(crate) stop: &'a AtomicBool,
}

pub(crate) fn prepare(task: &Task<'_>) -> Result<Prepared, PrepareError> {
    let folder = task.identity.folder();
    let objects = Arc::new(task.identity.objects());
    let found = task.find(&folder)?;
    if found.is_some()
        && let Some(manifest) = task.read_manifest(&folder)?
    {
        return task.reuse(&folder, objects, &manifest);
    }
    let present = match &found {
        Some(owned) => task.keep_complete(owned, &objects)?,
        None => Present::none(task.identity.count),
    };
    task.check_space(&objects, &present, &folder)?;
    let owned = match found {
        Some(owned) => owned,
        None => task.create_folder(&folder)?,
    };
    let bytes_written = Writing::new(task, &owned, &objects, &present).run(task.threads)?;
    let fingerprint = task.fingerprint(&folder, &objects, None)?;
    match task.write_manifest(&owned, &fingerprint) {
        Ok(()) => Ok(Prepared { bytes_written, reused: false, ..task.prepared(objects, fingerprint) }),
        Err(StoreError::Exists { .. }) => {
            let manifest = task.read_manifest(&folder)?;
            let manifest =
                manifest.ok_or_else(|| changed(&folder, "its manifest went while it was written"))?;
            Ok(Prepared { bytes_written, reused: false, ..task.reuse(&folder, objects, &manifest)? })
        }
        Err(error) => Err(error.into()),
    }
}

/// A complete manifest and when it was written.
struct Complete {
    manifest: Manifest,
    modified_ns: i128,
}

impl Task<'_> {
    /// The folder, when it is there, feedline's, and meant for this dataset.
    fn find(&self, folder: &Key) -> Result<Option<Owned>, PrepareError> {
        let Some(marker) = self.store.read_marker(&child(folder, MARKER_NAME))? else {
            return Ok(None);
        };
        let wanted = self.identity.to_string();
        if marker.dataset != wanted {
            return Err(PrepareError::OtherDataset { folder: folder.clone(), wanted, found: marker.dataset });
        }
        Ok(Some(Owned::claim(self.store, folder)?))
    }

    fn create_folder(&self, folder: &Key) -> Result<Owned, PrepareError> {
        let marker = Marker {
            format: MANIFEST_FORMAT,
            note: "feedline made this folder to measure storage; `feedline clean` removes what it wrote here"
                .to_owned(),
            dataset: self.identity.to_string(),
        };
        match self.store.create_folder(folder, &marker) {
            // Either another process made it a moment ago, or it is not feedline's.
            Err(StoreError::Exists { .. }) => {
                self.find(folder)?.ok_or_else(|| PrepareError::NotOwned { folder: folder.clone() })
            }
            other => Ok(other?),
        }
    }

    /// Objects of the right size are complete, as an object appears under its name only when it is. One of
    /// another size was damaged later, and is removed to be written anew.
    fn keep_complete(&self, owned: &Owned, objects: &Objects) -> Result<Present, PrepareError> {
        let names = self.identity.names(owned.folder());
        let mut present = Present::none(self.identity.count);
        let mut damaged = Vec::new();
        self.store.list(Some(owned.folder()), &mut |entry| {
            match names.object(&entry.key) {
                Some(object) if entry.bytes == objects.bytes(object) => present.insert(object),
                Some(_) => damaged.push(entry.key),
                None => {}
            }
            ControlFlow::Continue(())
        })?;
        for key in damaged {
            self.store.remove(owned, &key)?;
        }
        Ok(present)
    }

    fn check_space(&self, objects: &Objects, present: &Present, folder: &Key) -> Result<(), PrepareError> {
        let needed_bytes = present.missing_disk_bytes(objects);
        match self.store.free_bytes()? {
            Some(free_bytes) if free_bytes < needed_bytes => {
                Err(PrepareError::NoSpace { folder: folder.clone(), needed_bytes, free_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Looks at every object; one that is not as it was written ends the preparation.
    fn fingerprint(
        &self,
        folder: &Key,
        objects: &Objects,
        complete: Option<&Complete>,
    ) -> Result<String, PrepareError> {
        let survey = Survey { store: self.store, objects, threads: self.threads, stop: self.stop };
        let found = survey.take(complete.map(|complete| complete.modified_ns))?;
        if let Some(difference) = found.difference {
            return Err(changed(folder, difference));
        }
        match complete {
            Some(complete) if complete.manifest.fingerprint != found.fingerprint => {
                Err(changed(folder, "the modification time of at least one object was set back"))
            }
            _ => Ok(found.fingerprint),
        }
    }

    fn reuse(
        &self,
        folder: &Key,
        objects: Arc<Objects>,
        complete: &Complete,
    ) -> Result<Prepared, PrepareError> {
        let fingerprint = self.fingerprint(folder, &objects, Some(complete))?;
        Ok(self.prepared(objects, fingerprint))
    }

    fn prepared(&self, objects: Arc<Objects>, fingerprint: String) -> Prepared {
        Prepared {
            fingerprint,
            sample_bytes: objects.mean_bytes(),
            data: Arc::new(Data::files(objects, Some(self.identity.seed))),
            reused: true,
            bytes_written: 0,
            empty_files: 0,
            unallocated_bytes: 0,
        }
    }

    fn write_manifest(&self, owned: &Owned, fingerprint: &str) -> Result<(), StoreError> {
        let manifest = Manifest {
            format: MANIFEST_FORMAT,
            dataset: self.identity.to_string(),
            count: self.identity.count,
            bytes: self.identity.bytes,
            lognormal_stdev_bytes: self.identity.stdev_bytes(),
            files_per_folder: self.identity.files_per_folder,
            seed: self.identity.seed,
            fingerprint: fingerprint.to_owned(),
        };
        let text = serde_json::to_vec_pretty(&manifest).expect("plain strings and numbers");
        let mut writer = self.store.create(owned, &child(owned.folder(), MANIFEST_NAME))?;
        writer.write(&text)?;
        writer.finish()
    }

    /// The manifest, when the dataset was completed. It must describe this dataset.
    fn read_manifest(&self, folder: &Key) -> Result<Option<Complete>, PrepareError> {
        let key = child(folder, MANIFEST_NAME);
        let Some(entry) = self.store.stat(&key)? else {
            return Ok(None);
        };
        let mut text = vec![0; MANIFEST_BYTES_MAX.min(entry.bytes as usize)];
        let length = self.store.read_at(&key, 0, &mut text)?;
        let manifest: Manifest = serde_json::from_slice(&text[..length])
            .map_err(|cause| changed(folder, format!("`{key}` is not a manifest any more ({cause})")))?;
        let described = Identity::described(&manifest);
        if described == self.identity && manifest.format == MANIFEST_FORMAT {
            return Ok(Some(Complete { manifest, modified_ns: entry.modified_ns }));
        }
        Err(PrepareError::OtherDataset {
            folder: folder.clone(),
            wanted: self.identity.to_string(),
            found: described.to_string(),
        })
    }
}

fn changed(folder: &Key, difference: impl Into<String>) -> PrepareError {
    PrepareError::Changed { folder: folder.clone(), difference: difference.into() }
}

fn child(folder: &Key, name: &str) -> Key {
    folder.join(name).expect("a plain file name")
}
