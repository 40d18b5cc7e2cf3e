//! Datasets that feedline writes: marker first, data, manifest last.

use std::ops::ControlFlow;
use std::sync::Arc;

use backend::{Owned, StoreError};
use dataset::{
    Content, Data, Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Manifest, Marker, Objects, Samples,
};
use plan::Layout;

use crate::error::PrepareError;
use crate::identity::{Identity, Names};
use crate::indexing::Reading;
use crate::made::Made;
use crate::prepared::Prepared;
use crate::removal::child;
use crate::shape::{Shape, Shards};
use crate::survey::Survey;
use crate::task::Task;
use crate::write::{Present, Writing};

/// No manifest of feedline's comes near this size; a larger file is not one.
// The length comes from the storage: what somebody put there must not decide how much memory is taken.
const MANIFEST_BYTES_MAX: usize = 65_536;

pub(crate) fn prepare(task: &Task<'_>) -> Result<Prepared, PrepareError> {
    let folder = task.identity.folder();
    let shape = Shape::of(&task.identity);
    let names = task.identity.names(&folder);
    let made = Made { shape: &shape, names: &names };
    let found = task.find(&folder)?;
    // A manifest without the folder's marker is nobody's promise; the marker is asked first.
    if found.is_some()
        && let Some(manifest) = task.read_manifest(&folder)?
    {
        return task.reuse(&folder, made, &manifest);
    }
    let present = match &found {
        Some(owned) => task.keep_complete(owned, made)?,
        None => Present::none(shape.count()),
    };
    // Before the folder is made: a run that cannot fit leaves nothing behind.
    task.check_space(&shape, &present, &folder)?;
    let owned = match found {
        Some(owned) => owned,
        None => task.create_folder(&folder)?,
    };
    let bytes_written = Writing::new(task, &owned, made, &present).run(task.threads)?;
    task.write_metadata(&owned, &shape, &names)?;
    let objects = task.objects(&folder, made)?;
    // Read back from the storage and not taken from what was written: what the storage says of an object now is what
    // it must say before each later run.
    let fingerprint = task.fingerprint(&folder, &objects, None)?;
    match task.write_manifest(&owned, &shape, &fingerprint) {
        Ok(()) => {
            let prepared = task.prepared(&shape, objects, fingerprint)?;
            Ok(Prepared { bytes_written, reused: false, ..prepared })
        }
        // Two processes may prepare the same dataset at the same time. Both write the same bytes, and whoever comes
        // second takes the manifest of the first.
        Err(StoreError::Exists { .. }) => {
            let manifest = task.read_manifest(&folder)?;
            let manifest =
                manifest.ok_or_else(|| changed(&folder, "its manifest went while it was written"))?;
            let prepared = task.reuse(&folder, made, &manifest)?;
            Ok(Prepared { bytes_written, reused: false, ..prepared })
        }
        Err(error) => Err(error.into()),
    }
}

/// Bytes that [`prepare`] would write now; where only writing tells how large an object is, as if nothing compressed.
pub(crate) fn missing_bytes(task: &Task<'_>) -> Result<u64, PrepareError> {
    let folder = task.identity.folder();
    let shape = Shape::of(&task.identity);
    let names = task.identity.names(&folder);
    let made = Made { shape: &shape, names: &names };
    let present = match task.find(&folder)? {
        Some(_) if task.read_manifest(&folder)?.is_some() => return Ok(0),
        Some(owned) => task.complete(&owned, made)?.0,
        None => Present::none(shape.count()),
    };
    Ok(present.missing_bytes(&shape))
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
        // The folder's name is 32 bits of a hash; the marker's text tells two datasets apart that share it.
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

    /// Objects of the right size are complete, as an object appears under its name only when it is; so where the size
    /// is not known, every one that is there. One of another size was damaged later, and is removed to be written
    /// anew.
    fn keep_complete(&self, owned: &Owned, made: Made<'_>) -> Result<Present, PrepareError> {
        let (present, damaged) = self.complete(owned, made)?;
        for key in damaged {
            self.store.remove(owned, &key)?;
        }
        Ok(present)
    }

    /// Objects that are complete, and what is to be removed.
    fn complete(
        &self,
        owned: &Owned,
        Made { shape, names }: Made<'_>,
    ) -> Result<(Present, Vec<Key>), PrepareError> {
        let mut present = Present::none(shape.count());
        let mut damaged = Vec::new();
        self.store.list(Some(owned.folder()), &mut |entry| {
            let is_metadata = names.metadata().is_some_and(|key| key == entry.key);
            match names.object(&entry.key) {
                Some(object) if shape.stored_bytes(object).unwrap_or(entry.bytes) == entry.bytes => {
                    present.insert(object);
                }
                None if !is_metadata => {}
                // Metadata are small, and as quickly written as looked at.
                Some(_) | None => damaged.push(entry.key),
            }
            ControlFlow::Continue(())
        })?;
        Ok((present, damaged))
    }

    fn check_space(&self, shape: &Shape, present: &Present, folder: &Key) -> Result<(), PrepareError> {
        // As a disk allocates: a file of 1 B takes a block, which for a million small files is most of what they
        // take.
        let needed_bytes = present.missing_disk_bytes(shape);
        match self.store.free_bytes()? {
            Some(free_bytes) if free_bytes < needed_bytes => {
                Err(PrepareError::NoSpace { folder: folder.clone(), needed_bytes, free_bytes })
            }
            _ => Ok(()),
        }
    }

    /// What lies beside the objects.
    fn write_metadata(&self, owned: &Owned, shape: &Shape, names: &Names) -> Result<(), PrepareError> {
        let (Some(key), Shape::Shards(shards)) = (names.metadata(), shape) else { return Ok(()) };
        let written = self.store.create(owned, &key).and_then(|mut writer| {
            writer.write(&shards.metadata())?;
            writer.finish()
        });
        match written {
            // Another process wrote the same.
            Ok(()) | Err(StoreError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The objects: by arithmetic where that tells their sizes, else as they are listed.
    fn objects(&self, folder: &Key, Made { shape, names }: Made<'_>) -> Result<Arc<Objects>, PrepareError> {
        if let Some(objects) = shape.objects() {
            return Ok(objects);
        }
        let mut bytes = vec![None; shape.count() as usize];
        self.store.list(Some(folder), &mut |entry| {
            if let Some(object) = names.object(&entry.key) {
                bytes[object as usize] = Some(entry.bytes);
            }
            ControlFlow::Continue(())
        })?;
        let gone = bytes.iter().position(|bytes| bytes.unwrap_or(0) == 0);
        if let Some(object) = gone {
            return Err(changed(folder, format!("`{}` is gone or empty", names.key(object as u32))));
        }
        match shape {
            Shape::Files { objects, .. } => Ok(Arc::clone(objects)),
            Shape::Shards(shards) => {
                let objects = shards.objects(|shard| bytes[shard as usize]);
                Ok(objects.expect("each of them was listed"))
            }
        }
    }

    /// Looks at every object; one that is not as it was written ends the preparation.
    fn fingerprint(
        &self,
        folder: &Key,
        objects: &Objects,
        complete: Option<&Complete>,
    ) -> Result<String, PrepareError> {
        let survey = Survey {
            store: self.store,
            objects,
            threads: self.threads,
            stop: self.stop,
            are_written_over: self.identity.written_over,
        };
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

    fn reuse(&self, folder: &Key, made: Made<'_>, complete: &Complete) -> Result<Prepared, PrepareError> {
        let objects = self.objects(folder, made)?;
        let fingerprint = self.fingerprint(folder, &objects, Some(complete))?;
        self.prepared(made.shape, objects, fingerprint)
    }

    fn prepared(
        &self,
        shape: &Shape,
        objects: Arc<Objects>,
        fingerprint: String,
    ) -> Result<Prepared, PrepareError> {
        let data = match shape {
            Shape::Files { .. } => self.files(objects)?,
            Shape::Shards(shards) => match shards.data(&objects) {
                Some(data) => data,
                None => self.indexed(shards, &objects)?,
            },
        };
        let data = if self.identity.written_over { data.written_over() } else { data };
        let layout = self.identity.packing.map_or(Layout::Files, |packing| packing.layout);
        Ok(Prepared::of(data, layout, fingerprint))
    }

    fn files(&self, objects: Arc<Objects>) -> Result<Data, PrepareError> {
        let payload = self.identity.payload();
        // Plain payload is checked by object alone, without the sizes of samples: the path of nearly every dataset.
        if payload.compressible_percent == 0 {
            return Ok(Data::files(objects, Some(payload.seed)));
        }
        let content = Content::Samples { payload, lead_bytes: 0, sizes: self.identity.sizes() };
        Ok(Data::new(objects, Samples::Objects, Some(content))?)
    }

    /// What only the shards themselves say: where row groups lie.
    fn indexed(&self, shards: &Shards, objects: &Arc<Objects>) -> Result<Data, PrepareError> {
        let all = self.columns_read >= shards.packing.columns;
        // No names of columns mean all of them, in one span for each row group instead of one for each column.
        let read = if all { 0 } else { self.columns_read };
        let reading = Reading {
            store: self.store,
            layout: shards.packing.layout,
            columns: (0..read).map(|column| format!("c{column}")).collect(),
            array: None,
            threads: self.threads,
            progress: self.progress,
            stop: self.stop,
        };
        let index = reading.index(objects)?;
        Ok(Data::new(Arc::clone(objects), Samples::Indexed(index), None)?)
    }

    fn write_manifest(&self, owned: &Owned, shape: &Shape, fingerprint: &str) -> Result<(), StoreError> {
        let samples = match shape {
            Shape::Files { .. } => None,
            Shape::Shards(_) => Some(u64::from(self.identity.count)),
        };
        let manifest = Manifest {
            format: MANIFEST_FORMAT,
            dataset: self.identity.to_string(),
            count: shape.count(),
            bytes: self.identity.bytes,
            lognormal_stdev_bytes: self.identity.stdev_bytes(),
            files_per_folder: self.identity.files_per_folder,
            seed: self.identity.seed,
            layout: self.identity.packing.map(|packing| packing.layout.name().to_owned()),
            packing: self.identity.packing_text(),
            samples,
            compressible_percent: self.identity.compressible_percent,
            written_over: self.identity.written_over,
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
        // A file that is longer than a manifest is cut here and fails to parse, which is the right answer for it.
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
