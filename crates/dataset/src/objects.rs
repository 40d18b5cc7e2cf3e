//! Names and sizes of the objects of a dataset.

use std::collections::BTreeSet;
use std::fmt;

use plan::FILES_PER_FOLDER;

/// A path relative to a target's root, always below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

/// A name that is not a [`Key`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a relative path without `..`")]
pub struct KeyError(String);

impl Key {
    /// Checks that a name stays below the root: relative, no empty, `.` or `..` part, no NUL.
    pub fn new(name: impl Into<String>) -> Result<Self, KeyError> {
        let name = name.into();
        let inside = !name.contains('\0') && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if inside { Ok(Self(name)) } else { Err(KeyError(name)) }
    }

    /// The relative path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder that it lies in; `None` when that is the root.
    pub fn folder(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.to_owned()))
    }

    /// A key below this one.
    pub fn join(&self, name: &str) -> Result<Self, KeyError> {
        Self::new(format!("{}/{name}", self.0))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The objects of a dataset, by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objects {
    /// Generated: equal sizes, names computed from the index.
    Uniform {
        /// Folder that holds them, relative to the target's root.
        folder: Key,
        /// Number of objects.
        count: u32,
        /// Bytes of each, more than zero.
        bytes: u64,
        /// Objects in one folder, at most.
        files_per_folder: u32,
    },
    /// Generated: sizes spread, names computed from the index.
    Varied(Varied),
    /// Listed from a folder of the user's.
    Listed(Listed),
}

/// A generated dataset whose sizes spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// Folder that holds the objects, relative to the target's root.
    pub folder: Key,
    /// Objects in one folder, at most.
    pub files_per_folder: u32,
    /// `offsets[i]` is the sum of the sizes before object `i`; one more entry than objects.
    pub offsets: Vec<u64>,
}

/// Names and sizes of a listed dataset, in two flat arrays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    names: String,
    name_ends: Vec<u32>,
    /// `offsets[i]` is the sum of the sizes before object `i`; one more entry than objects.
    offsets: Vec<u64>,
}

impl Listed {
    /// Adds an object. Empty objects hold nothing to read and are left out; returns whether it was added.
    pub fn push(&mut self, key: &Key, bytes: u64) -> bool {
        if bytes == 0 {
            return false;
        }
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.names.push_str(key.as_str());
        self.name_ends.push(self.names.len() as u32);
        self.offsets.push(self.offsets.last().copied().unwrap_or(0) + bytes);
        true
    }
}

impl Objects {
    /// Generated objects of one size, [`FILES_PER_FOLDER`] to a folder.
    pub fn uniform(folder: Key, count: u32, bytes: u64) -> Self {
        Self::Uniform { folder, count, bytes, files_per_folder: FILES_PER_FOLDER }
    }

    /// Number of objects.
    pub fn count(&self) -> u32 {
        match self {
            Self::Uniform { count, .. } => *count,
            Self::Varied(varied) => varied.offsets.len().saturating_sub(1) as u32,
            Self::Listed(listed) => listed.name_ends.len() as u32,
        }
    }

    /// Bytes of one object.
    pub fn bytes(&self, object: u32) -> u64 {
        match self {
            Self::Uniform { bytes, .. } => *bytes,
            Self::Varied(varied) => varied.offsets[object as usize + 1] - varied.offsets[object as usize],
            Self::Listed(listed) => listed.offsets[object as usize + 1] - listed.offsets[object as usize],
        }
    }

    /// Bytes of the largest object.
    pub fn bytes_max(&self) -> u64 {
        match self {
            Self::Uniform { bytes, .. } => *bytes,
            Self::Varied(_) | Self::Listed(_) => {
                (0..self.count()).map(|object| self.bytes(object)).max().unwrap_or(0)
            }
        }
    }

    /// Bytes of all objects.
    pub fn total_bytes(&self) -> u64 {
        match self {
            Self::Uniform { count, bytes, .. } => u64::from(*count) * bytes,
            Self::Varied(varied) => varied.offsets.last().copied().unwrap_or(0),
            Self::Listed(listed) => listed.offsets.last().copied().unwrap_or(0),
        }
    }

    /// The folders that hold objects, in the order of their first object; `None` is the target's root.
    pub fn folders(&self) -> Vec<Option<Key>> {
        match self {
            Self::Uniform { folder, files_per_folder, .. } => {
                generated_folders(folder, self.count(), *files_per_folder)
            }
            Self::Varied(varied) => generated_folders(&varied.folder, self.count(), varied.files_per_folder),
            Self::Listed(_) => {
                let mut seen = BTreeSet::new();
                let folders = (0..self.count()).map(|object| self.key(object).folder());
                folders.filter(|folder| seen.insert(folder.clone())).collect()
            }
        }
    }

    /// The relative path of an object.
    pub fn key(&self, object: u32) -> Key {
        match self {
            Self::Uniform { folder, files_per_folder, .. } => {
                generated_key(folder, object, *files_per_folder)
            }
            Self::Varied(varied) => generated_key(&varied.folder, object, varied.files_per_folder),
            Self::Listed(listed) => {
                let end = listed.name_ends[object as usize] as usize;
                let start = if object == 0 { 0 } else { listed.name_ends[object as usize - 1] as usize };
                Key(listed.names[start..end].to_owned())
            }
        }
    }
}

fn generated_key(folder: &Key, object: u32, files_per_folder: u32) -> Key {
    Key(format!("{folder}/{:06}/{object:09}.bin", object / files_per_folder.max(1)))
}

fn generated_folders(folder: &Key, count: u32, files_per_folder: u32) -> Vec<Option<Key>> {
    (0..count.div_ceil(files_per_folder.max(1)))
        .map(|number| Some(Key(format!("{folder}/{number:06}"))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_never_leave_the_root() {
        for name in ["", "/etc/passwd", "a//b", "a/../b", "..", ".", "a/.", "a\0b", "a/"] {
            assert!(Key::new(name).is_err(), "{name:?}");
        }
        assert_eq!(Key::new("a/b.bin").unwrap().as_str(), "a/b.bin");
    }

    #[test]
    fn listed_objects_keep_names_and_sizes_and_drop_empty_files() {
        let mut listed = Listed::default();
        assert!(listed.push(&Key::new("x/a").unwrap(), 10));
        assert!(!listed.push(&Key::new("x/empty").unwrap(), 0));
        assert!(listed.push(&Key::new("y").unwrap(), 7));
        let objects = Objects::Listed(listed);
        assert_eq!((objects.count(), objects.total_bytes(), objects.bytes_max()), (2, 17, 10));
        assert_eq!((objects.key(0).as_str(), objects.key(1).as_str()), ("x/a", "y"));
        assert_eq!(objects.bytes(1), 7);
    }

    #[test]
    fn uniform_objects_fan_out_over_directories() {
        let objects = Objects::uniform(Key::new("d").unwrap(), 2_000, 5);
        assert_eq!(objects.key(1_234).as_str(), "d/000001/000001234.bin");
        assert_eq!(objects.total_bytes(), 10_000);
    }
}
