//! The names of a dataset's objects, without their sizes.

use dataset::{Key, Objects};
use formats::{ZARR_METADATA, extension, zarr_chunk_name};
use plan::Layout;

use super::Identity;

/// Names by number, and numbers by name.
pub(crate) struct Names {
    folder: Key,
    count: u32,
    naming: Naming,
}

enum Naming {
    /// `{folder}/000000/000000007.bin`
    Files { objects: Objects, files_per_folder: u32 },
    /// `{folder}/000000/000000007.tar`
    Shards { extension: &'static str, files_per_folder: u32 },
    /// `{folder}/c/7/0`: the folder itself is the array.
    Chunks,
}

impl Identity {
    /// The names of its objects when it lies in `folder`, which may have been moved.
    pub(crate) fn names(&self, folder: &Key) -> Names {
        Names::of(self, folder)
    }
}

impl Names {
    fn of(identity: &Identity, folder: &Key) -> Self {
        let (count, files_per_folder) = (identity.object_count(), identity.files_per_folder);
        let naming = match identity.packing {
            None => {
                // Names alone: sizes that spread would be drawn for a million files only to list their names.
                let objects = Objects::Uniform { folder: folder.clone(), count, bytes: 1, files_per_folder };
                Naming::Files { objects, files_per_folder }
            }
            Some(packing) if packing.layout == Layout::Zarr => Naming::Chunks,
            Some(packing) => {
                Naming::Shards { extension: extension(packing.layout, packing.codec), files_per_folder }
            }
        };
        Self { folder: folder.clone(), count, naming }
    }

    /// Number of objects.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The name of an object.
    pub(crate) fn key(&self, object: u32) -> Key {
        match &self.naming {
            Naming::Files { objects, .. } => objects.key(object),
            Naming::Shards { extension, files_per_folder } => {
                self.child(&format!("{:06}/{object:09}{extension}", object / files_per_folder))
            }
            Naming::Chunks => self.child(&zarr_chunk_name(u64::from(object))),
        }
    }

    /// The number of the object kept under `key`, if it is the name of one.
    pub(crate) fn object(&self, key: &Key) -> Option<u32> {
        let mut parts = key.as_str().rsplit('/');
        let name = parts.next()?;
        let number = match &self.naming {
            Naming::Files { .. } => name.strip_suffix(".bin")?,
            Naming::Shards { extension, .. } => name.strip_suffix(extension)?,
            Naming::Chunks => parts.next()?,
        };
        let object = number.parse().ok().filter(|object| *object < self.count)?;
        // The name is made anew and compared: leading zeros, signs and other folders are spellings that feedline
        // never writes, and `clean` must not take.
        (self.key(object) == *key).then_some(object)
    }

    /// A small file beside the objects, without which they mean nothing to others.
    pub(crate) fn metadata(&self) -> Option<Key> {
        matches!(self.naming, Naming::Chunks).then(|| self.child(ZARR_METADATA))
    }

    /// Number of folders that hold objects and nothing else.
    pub(crate) fn directories(&self) -> u32 {
        match &self.naming {
            Naming::Files { files_per_folder, .. } | Naming::Shards { files_per_folder, .. } => {
                self.count.div_ceil(*files_per_folder)
            }
            Naming::Chunks => self.count,
        }
    }

    /// One of them.
    pub(crate) fn directory(&self, number: u32) -> Key {
        match &self.naming {
            Naming::Files { .. } | Naming::Shards { .. } => self.child(&format!("{number:06}")),
            Naming::Chunks => self.child(&format!("c/{number}")),
        }
    }

    /// The folder of those folders, where that is not the dataset's.
    pub(crate) fn outer_directory(&self) -> Option<Key> {
        matches!(self.naming, Naming::Chunks).then(|| self.child("c"))
    }

    fn child(&self, name: &str) -> Key {
        self.folder.join(name).expect("digits, letters and slashes between them")
    }
}
