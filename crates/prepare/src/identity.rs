//! What decides the content of a generated dataset, and the names that follow from it.

use std::fmt;
use std::str::FromStr;

use dataset::{Key, MANIFEST_FORMAT, Manifest, Objects};
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};
use sha2::{Digest, Sha256};

use crate::PrepareError;

/// A generated dataset: two that are equal hold the same bytes under the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Number of samples.
    pub(crate) count: u32,
    /// Bytes of each, or their mean.
    pub(crate) bytes: u64,
    /// How sizes spread; a spread of nothing is none.
    pub(crate) distribution: Distribution,
    /// Files in one folder, at most and at least one.
    pub(crate) files_per_folder: u32,
    /// Seed of the content and of the sizes.
    pub(crate) seed: u64,
}

impl Identity {
    /// The identity of a dataset that feedline writes; `None` for the user's own.
    pub(crate) fn of(spec: &DatasetSpec) -> Result<Option<Self>, PrepareError> {
        let DatasetSpec::Generate(plan::Generate {
            samples,
            sample_bytes,
            distribution,
            files_per_folder,
            seed,
            ..
        }) = *spec
        else {
            return Ok(None);
        };
        let count = u32::try_from(samples).map_err(|_| PrepareError::TooManySamples { samples })?;
        if samples == 0 || sample_bytes == 0 {
            return Err(PrepareError::Empty { samples, sample_bytes });
        }
        let distribution = match distribution {
            Distribution::LogNormal { stdev_bytes: 0 } => Distribution::Fixed,
            other => other,
        };
        let files_per_folder = files_per_folder.max(1);
        let identity = Self { count, bytes: sample_bytes, distribution, files_per_folder, seed };
        if identity.total_is_too_large() {
            return Err(PrepareError::TooLarge { samples, sample_bytes });
        }
        Ok(Some(identity))
    }

    /// The identity that a manifest states.
    pub(crate) fn described(manifest: &Manifest) -> Self {
        let spread = |stdev_bytes| Distribution::LogNormal { stdev_bytes };
        Self {
            count: manifest.count,
            bytes: manifest.bytes,
            distribution: manifest.lognormal_stdev_bytes.map_or(Distribution::Fixed, spread),
            files_per_folder: manifest.files_per_folder,
            seed: manifest.seed,
        }
    }

    /// Standard deviation of the sizes, where they spread.
    pub(crate) fn stdev_bytes(&self) -> Option<u64> {
        match self.distribution {
            Distribution::Fixed => None,
            Distribution::LogNormal { stdev_bytes } => Some(stdev_bytes),
        }
    }

    /// Name of the folder: 32 bits of a hash, which the marker's text confirms. What is as it always was takes no
    /// part, so that the folder of an older dataset keeps its name.
    pub(crate) fn folder(&self) -> Key {
        let mut hasher = Sha256::new_with_prefix(b"feedline generated dataset");
        for part in [u64::from(MANIFEST_FORMAT), u64::from(self.count), self.bytes, self.seed] {
            hasher.update(part.to_le_bytes());
        }
        if let Some(stdev_bytes) = self.stdev_bytes() {
            hasher.update(b"lognormal");
            hasher.update(stdev_bytes.to_le_bytes());
        }
        if self.files_per_folder != FILES_PER_FOLDER {
            hasher.update(b"files per folder");
            hasher.update(self.files_per_folder.to_le_bytes());
        }
        let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
        Key::new(format!("feedline-{:08x}", u32::from_be_bytes([a, b, c, d])))
            .expect("letters, digits and a dash")
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::generated(self.folder(), &self.spec()).expect("an identity is of what can be generated")
    }

    /// The names of its objects when it lies in `folder`, which may have been moved.
    pub(crate) fn names(&self, folder: &Key) -> Names {
        Names(Objects::Uniform {
            folder: folder.clone(),
            count: self.count,
            bytes: 1,
            files_per_folder: self.files_per_folder,
        })
    }

    /// Number of folders that hold its objects.
    pub(crate) fn directories(&self) -> u32 {
        self.count.div_ceil(self.files_per_folder)
    }

    fn spec(&self) -> DatasetSpec {
        DatasetSpec::Generate(plan::Generate {
            samples: u64::from(self.count),
            sample_bytes: self.bytes,
            distribution: self.distribution,
            files_per_folder: self.files_per_folder,
            seed: self.seed,
            ..plan::Generate::NONE
        })
    }

    /// Sizes that spread may be larger than their mean.
    fn total_is_too_large(&self) -> bool {
        let largest_bytes = match self.distribution {
            Distribution::Fixed => Some(self.bytes),
            Distribution::LogNormal { .. } => self.bytes.checked_mul(dataset::LARGEST_PER_MEAN),
        };
        largest_bytes.and_then(|bytes| bytes.checked_mul(u64::from(self.count))).is_none()
    }
}

/// The text kept in marker and manifest. What is as it always was is not said.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples of {} B, ", self.count, self.bytes)?;
        if let Some(stdev_bytes) = self.stdev_bytes() {
            write!(f, "{LOGNORMAL}{stdev_bytes} B, ")?;
        }
        if self.files_per_folder != FILES_PER_FOLDER {
            write!(f, "{}{PER_FOLDER}, ", self.files_per_folder)?;
        }
        write!(f, "seed {}", self.seed)
    }
}

const LOGNORMAL: &str = "lognormal with a standard deviation of ";
const PER_FOLDER: &str = " files per folder";

/// The text is not one that [`Identity`] writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAnIdentity;

impl FromStr for Identity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let spec = spec_of(text).ok_or(NotAnIdentity)?;
        match Self::of(&spec) {
            Ok(Some(identity)) if identity.to_string() == text => Ok(identity),
            _ => Err(NotAnIdentity),
        }
    }
}

fn spec_of(text: &str) -> Option<DatasetSpec> {
    let mut parts = text.split(", ").peekable();
    let (samples, sample_bytes) = parts.next()?.strip_suffix(" B")?.split_once(" samples of ")?;
    let mut distribution = Distribution::Fixed;
    if let Some(stdev) = parts.peek().and_then(|part| part.strip_prefix(LOGNORMAL)?.strip_suffix(" B")) {
        distribution = Distribution::LogNormal { stdev_bytes: stdev.parse().ok()? };
        parts.next();
    }
    let mut files_per_folder = FILES_PER_FOLDER;
    if let Some(number) = parts.peek().and_then(|part| part.strip_suffix(PER_FOLDER)) {
        files_per_folder = number.parse().ok()?;
        parts.next();
    }
    Some(DatasetSpec::Generate(plan::Generate {
        samples: samples.parse().ok()?,
        sample_bytes: sample_bytes.parse().ok()?,
        distribution,
        files_per_folder,
        seed: parts.next()?.strip_prefix("seed ")?.parse().ok()?,
        ..plan::Generate::NONE
    }))
}

/// The names of a dataset's objects, without their sizes.
pub(crate) struct Names(Objects);

impl Names {
    /// The name of an object.
    pub(crate) fn key(&self, object: u32) -> Key {
        self.0.key(object)
    }

    /// The number of the object kept under `key`, if it is the name of one.
    pub(crate) fn object(&self, key: &Key) -> Option<u32> {
        let number = key.as_str().strip_suffix(".bin")?.rsplit('/').next()?;
        let object = number.parse().ok().filter(|object| *object < self.0.count())?;
        (self.0.key(object) == *key).then_some(object)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SPREAD: Distribution = Distribution::LogNormal { stdev_bytes: 50 };

    fn of(
        samples: u64,
        sample_bytes: u64,
        distribution: Distribution,
        files_per_folder: u32,
        seed: u64,
    ) -> Result<Identity, PrepareError> {
        let spec = DatasetSpec::Generate(plan::Generate {
            samples,
            sample_bytes,
            distribution,
            files_per_folder,
            seed,
            ..plan::Generate::NONE
        });
        Identity::of(&spec).map(|identity| identity.expect("it is generated"))
    }

    fn identity(samples: u64, bytes: u64, seed: u64) -> Identity {
        of(samples, bytes, Distribution::Fixed, FILES_PER_FOLDER, seed).unwrap()
    }

    #[test]
    fn each_part_of_the_identity_changes_the_folder() {
        let folders: BTreeSet<Key> = [
            identity(10, 100, 1),
            identity(11, 100, 1),
            identity(10, 101, 1),
            identity(10, 100, 2),
            of(10, 100, SPREAD, FILES_PER_FOLDER, 1).unwrap(),
            of(10, 100, Distribution::LogNormal { stdev_bytes: 51 }, FILES_PER_FOLDER, 1).unwrap(),
            of(10, 100, Distribution::Fixed, 50, 1).unwrap(),
            of(10, 100, SPREAD, 50, 1).unwrap(),
        ]
        .map(|identity| identity.folder())
        .into();
        assert_eq!(folders.len(), 8);
    }

    #[test]
    fn what_makes_no_difference_is_no_part_of_the_identity() {
        let none = of(10, 100, Distribution::LogNormal { stdev_bytes: 0 }, FILES_PER_FOLDER, 1);
        assert_eq!(none.unwrap(), identity(10, 100, 1));
        let [zero, one] = [0, 1].map(|per_folder| of(10, 100, SPREAD, per_folder, 1).unwrap());
        assert_eq!(zero, one);
    }

    #[test]
    fn the_users_own_has_no_identity() {
        assert!(matches!(Identity::of(&DatasetSpec::Existing(plan::Existing::any(Some(1)))), Ok(None)));
    }

    /// A changed name would orphan every dataset that users have on disk.
    #[test]
    fn the_folder_of_a_dataset_never_changes_its_name() {
        assert_eq!(identity(1000, 114_660, 7).folder().as_str(), "feedline-c7999a46");
        let spread = of(1000, 114_660, Distribution::LogNormal { stdev_bytes: 50_000 }, 50, 7).unwrap();
        assert_eq!(spread.folder().as_str(), "feedline-34c4ca14");
    }

    #[test]
    fn the_text_says_what_is_unusual_alone() {
        assert_eq!(identity(5, 1000, 7).to_string(), "5 samples of 1000 B, seed 7");
        assert_eq!(
            of(5, 1000, SPREAD, 9, 7).unwrap().to_string(),
            "5 samples of 1000 B, lognormal with a standard deviation of 50 B, 9 files per folder, seed 7"
        );
    }

    #[test]
    fn the_text_of_the_marker_is_read_back() {
        for distribution in [Distribution::Fixed, SPREAD] {
            for per_folder in [1, FILES_PER_FOLDER, u32::MAX] {
                let written = of(u64::from(u32::MAX), 1, distribution, per_folder, u64::MAX).unwrap();
                assert_eq!(written.to_string().parse(), Ok(written));
            }
        }
        for text in [
            "",
            "a dataset",
            "1 samples of 2 B, seed -3",
            "1 samples of 2 B, seed 3 4",
            "1 samples of 2 B, seed 3, seed 3",
            "0 samples of 2 B, seed 3",
            "1 samples of 2 B, 0 files per folder, seed 3",
            "1 samples of 2 B, 5 files per folder, 6 files per folder, seed 3",
            "1 samples of 2 B, lognormal with a standard deviation of 0 B, seed 3",
            "1 samples of 2 B, 5 files per folder, lognormal with a standard deviation of 1 B, seed 3",
        ] {
            assert_eq!(text.parse::<Identity>(), Err(NotAnIdentity), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_generated_is_refused() {
        let refused = |samples, bytes| of(samples, bytes, Distribution::Fixed, 1, 0).unwrap_err();
        assert!(matches!(refused(1 << 32, 1), PrepareError::TooManySamples { .. }));
        assert!(matches!(refused(0, 1), PrepareError::Empty { .. }));
        assert!(matches!(refused(1, 0), PrepareError::Empty { .. }));
        assert!(matches!(refused(2, u64::MAX), PrepareError::TooLarge { .. }));
        assert!(identity(1, u64::MAX, 0).objects().total_bytes() == u64::MAX);
        let spread = of(1, u64::MAX / 8, SPREAD, 1, 0);
        assert!(matches!(spread.unwrap_err(), PrepareError::TooLarge { .. }));
    }

    #[test]
    fn every_object_lies_in_one_of_the_directories() {
        for (per_folder, directories) in [(1, 3_001), (1000, 4), (3_001, 1), (1_000_000, 1)] {
            let dataset = of(3_001, 1, Distribution::Fixed, per_folder, 0).unwrap();
            let objects = dataset.objects();
            let found: BTreeSet<_> = (0..dataset.count).map(|object| objects.key(object).folder()).collect();
            let known: BTreeSet<_> = objects.folders().into_iter().collect();
            assert_eq!(found, known);
            assert_eq!((known.len(), dataset.directories()), (directories, directories as u32));
        }
    }

    #[test]
    fn only_exact_object_names_are_recognised() {
        for (per_folder, directory) in [(1000, "000001"), (5, "000246"), (1_000_000, "000000")] {
            let dataset = of(2_000, 5, SPREAD, per_folder, 0).unwrap();
            let folder = dataset.folder();
            let names = dataset.names(&folder);
            assert_eq!(names.object(&dataset.objects().key(1_234)), Some(1_234));
            assert_eq!(names.key(1_234), dataset.objects().key(1_234));
            for name in
                ["000009/000001234.bin", "000001/1234.bin", "000001/000001234", "000001234.bin", "x/y.bin"]
            {
                assert_eq!(names.object(&folder.join(name).unwrap()), None, "{name}");
            }
            let elsewhere = Key::new(format!("{directory}/000001234.bin")).unwrap();
            assert_eq!(names.object(&elsewhere), None);
            let beyond = Key::new(format!("{folder}/{:06}/000002000.bin", 2_000 / per_folder)).unwrap();
            assert_eq!(names.object(&beyond), None);
        }
    }
}
