//! What decides the content of a generated dataset, and the names that follow from it.

use std::fmt;
use std::str::FromStr;

use dataset::{Key, MANIFEST_FORMAT, Objects};
use sha2::{Digest, Sha256};

use crate::PrepareError;

/// As `dataset` lays them out; a test holds it to that.
const OBJECTS_PER_DIRECTORY: usize = 1000;

/// A generated dataset: two that are equal hold the same bytes under the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Number of samples.
    pub(crate) count: u32,
    /// Bytes of each.
    pub(crate) bytes: u64,
    /// Seed of the content.
    pub(crate) seed: u64,
}

impl Identity {
    pub(crate) fn new(samples: u64, sample_bytes: u64, seed: u64) -> Result<Self, PrepareError> {
        let count = u32::try_from(samples).map_err(|_| PrepareError::TooManySamples { samples })?;
        if samples == 0 || sample_bytes == 0 {
            return Err(PrepareError::Empty { samples, sample_bytes });
        }
        if samples.checked_mul(sample_bytes).is_none() {
            return Err(PrepareError::TooLarge { samples, sample_bytes });
        }
        Ok(Self { count, bytes: sample_bytes, seed })
    }

    /// Name of the folder: 32 bits of a hash, which the marker's text confirms.
    pub(crate) fn folder(&self) -> Key {
        let mut hasher = Sha256::new_with_prefix(b"feedline generated dataset");
        for part in [u64::from(MANIFEST_FORMAT), u64::from(self.count), self.bytes, self.seed] {
            hasher.update(part.to_le_bytes());
        }
        let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
        Key::new(format!("feedline-{:08x}", u32::from_be_bytes([a, b, c, d])))
            .expect("letters, digits and a dash")
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::uniform(self.folder(), self.count, self.bytes)
    }

    /// The directories below the folder, by name.
    pub(crate) fn directories(&self) -> impl Iterator<Item = String> {
        let objects = self.objects();
        (0..self.count).step_by(OBJECTS_PER_DIRECTORY).filter_map(move |object| {
            let key = objects.key(object);
            key.as_str().split('/').nth(1).map(str::to_owned)
        })
    }
}

/// The text kept in marker and manifest.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples of {} B, seed {}", self.count, self.bytes, self.seed)
    }
}

/// The text is not one that [`Identity`] writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAnIdentity;

impl FromStr for Identity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let words: Vec<&str> = text.split([' ', ',']).collect();
        let [count, "samples", "of", bytes, "B", "", "seed", seed] = words[..] else {
            return Err(NotAnIdentity);
        };
        Ok(Self {
            count: count.parse().map_err(|_| NotAnIdentity)?,
            bytes: bytes.parse().map_err(|_| NotAnIdentity)?,
            seed: seed.parse().map_err(|_| NotAnIdentity)?,
        })
    }
}

/// The number of the object that a generated dataset in `folder` keeps under `key`, if it is such a name.
pub(crate) fn object_of(folder: &Key, key: &Key) -> Option<u32> {
    let number = key.as_str().strip_suffix(".bin")?.rsplit('/').next()?;
    let object = number.parse().ok()?;
    let any = Objects::uniform(folder.clone(), u32::MAX, 1);
    (any.key(object) == *key).then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(samples: u64, bytes: u64, seed: u64) -> Identity {
        Identity::new(samples, bytes, seed).unwrap()
    }

    #[test]
    fn each_part_of_the_identity_changes_the_folder() {
        let base = identity(10, 100, 1);
        assert_eq!(base.folder(), identity(10, 100, 1).folder());
        for other in [identity(11, 100, 1), identity(10, 101, 1), identity(10, 100, 2)] {
            assert_ne!(base.folder(), other.folder());
        }
    }

    /// A changed name would orphan every dataset that users have on disk.
    #[test]
    fn the_folder_of_a_dataset_never_changes_its_name() {
        assert_eq!(identity(1000, 114_660, 7).folder().as_str(), "feedline-c7999a46");
    }

    #[test]
    fn the_text_of_the_marker_is_read_back() {
        let written = identity(u64::from(u32::MAX), 1, u64::MAX);
        assert_eq!(written.to_string().parse(), Ok(written));
        for text in ["", "a dataset", "1 samples of 2 B, seed -3", "1 samples of 2 B, seed 3 4"] {
            assert_eq!(text.parse::<Identity>(), Err(NotAnIdentity), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_generated_is_refused() {
        let refused = |samples, bytes| Identity::new(samples, bytes, 0).unwrap_err();
        assert!(matches!(refused(1 << 32, 1), PrepareError::TooManySamples { .. }));
        assert!(matches!(refused(0, 1), PrepareError::Empty { .. }));
        assert!(matches!(refused(1, 0), PrepareError::Empty { .. }));
        assert!(matches!(refused(2, u64::MAX), PrepareError::TooLarge { .. }));
    }

    #[test]
    fn every_object_lies_in_one_of_the_directories() {
        let dataset = identity(3_001, 1, 0);
        let directories: Vec<_> = dataset.directories().collect();
        assert_eq!(directories, ["000000", "000001", "000002", "000003"]);
        for object in 0..dataset.count {
            let key = dataset.objects().key(object);
            let directory = key.as_str().split('/').nth(1).unwrap();
            assert!(directories.iter().any(|known| known == directory), "{key}");
        }
    }

    #[test]
    fn only_exact_object_names_are_recognised() {
        let dataset = identity(2_000, 5, 0);
        let folder = dataset.folder();
        assert_eq!(object_of(&folder, &dataset.objects().key(1_234)), Some(1_234));
        for name in
            ["000000/000001234.bin", "000001/1234.bin", "000001/000001234", "000001234.bin", "x/y.bin"]
        {
            assert_eq!(object_of(&folder, &folder.join(name).unwrap()), None, "{name}");
        }
        assert_eq!(object_of(&folder, &Key::new("000001/000001234.bin").unwrap()), None);
    }
}
