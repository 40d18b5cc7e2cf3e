//! What decides the content of a generated dataset, and the names that follow from it.

mod names;
mod text;

use dataset::payload::Payload;
use dataset::{Key, MANIFEST_FORMAT, SampleSizes};
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER, Layout, Packing};
use sha2::{Digest, Sha256};

use crate::error::PrepareError;

pub(crate) use names::Names;

/// Bytes that the names of all shards may take: a listing of objects counts them with 32 bits, and a name of feedline's
/// has at most 48.
const SHARDS_MAX: u64 = u32::MAX as u64 / 48;

/// A generated dataset: two that are equal hold the same bytes under the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Number of samples.
    pub(crate) count: u32,
    /// Bytes of each, or their mean.
    pub(crate) bytes: u64,
    /// How sizes spread. A standard deviation of 0 is kept as a fixed size.
    pub(crate) distribution: Distribution,
    /// Files in one folder, at most and at least one.
    pub(crate) files_per_folder: u32,
    /// Seed of the content and of the sizes.
    pub(crate) seed: u64,
    /// How samples are packed; which columns are read makes no difference to what is written.
    pub(crate) packing: Option<Packing>,
    /// Share of the content that compresses to almost nothing, percent.
    pub(crate) compressible_percent: u8,
    /// Whether cells write over it: its objects change while it stays what it is.
    pub(crate) written_over: bool,
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
            packing,
            compressible_percent,
            written_over,
            // Where it lies is no part of what it is.
            beside_others: _,
        }) = *spec
        else {
            return Ok(None);
        };
        // Files are what no packing at all means: one spelling, or two equal datasets would lie in two folders.
        let packing = packing.filter(|packing| packing.layout != Layout::Files);
        let packing = packing.map(written);
        let count = u32::try_from(samples).map_err(|_| PrepareError::TooManySamples { samples })?;
        if samples == 0 || sample_bytes == 0 {
            return Err(PrepareError::Empty { samples, sample_bytes });
        }
        let distribution = match distribution {
            // The same files either way, so they must be one identity.
            Distribution::LogNormal { stdev_bytes: 0 } => Distribution::Fixed,
            other => other,
        };
        // Chunks of a Zarr array are named by its specification: how many lie in a folder is not the scenario's to
        // say.
        let fans_out = packing.is_none_or(|packing| packing.layout != Layout::Zarr);
        let files_per_folder = if fans_out { files_per_folder.max(1) } else { FILES_PER_FOLDER };
        // The scenario refuses more; a marker's text that says more must still not describe what cannot be.
        let compressible_percent = compressible_percent.min(100);
        let bytes = sample_bytes;
        let identity = Self {
            count,
            bytes,
            distribution,
            files_per_folder,
            seed,
            packing,
            compressible_percent,
            written_over,
        };
        if identity.shards().is_some_and(|shards| shards > SHARDS_MAX) {
            return Err(PrepareError::TooManyShards { shards: identity.shards().unwrap_or(0) });
        }
        if identity.total_is_too_large() {
            return Err(PrepareError::TooLarge { samples, sample_bytes });
        }
        Ok(Some(identity))
    }

    /// Standard deviation of the sizes, where they spread.
    pub(crate) fn stdev_bytes(&self) -> Option<u64> {
        match self.distribution {
            Distribution::Fixed => None,
            Distribution::LogNormal { stdev_bytes } => Some(stdev_bytes),
        }
    }

    /// Name of the folder: 32 bits of a hash, which the marker's text confirms. Settings at their default are not hashed, so
    /// that the folder of an older dataset keeps its name.
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
        if let Some(packing) = self.packing_text() {
            hasher.update(b"packed");
            hasher.update(packing);
        }
        if self.compressible_percent > 0 {
            hasher.update(b"compressible");
            hasher.update([self.compressible_percent]);
        }
        // Apart from the same dataset that is read: reads are held against its bytes.
        if self.written_over {
            hasher.update(b"written over");
        }
        // Eight hex digits are short enough to read aloud; `find` holds the marker's text against a collision.
        let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
        Key::new(format!("feedline-{:08x}", u32::from_be_bytes([a, b, c, d])))
            .expect("letters, digits and a dash")
    }

    /// Number of shards, where samples are packed.
    pub(crate) fn shards(&self) -> Option<u64> {
        Some(self.packing?.shards(u64::from(self.count), self.bytes))
    }

    /// Number of objects: files or shards.
    pub(crate) fn object_count(&self) -> u32 {
        self.shards().map_or(self.count, |shards| shards as u32)
    }

    /// Sizes of its samples.
    pub(crate) fn sizes(&self) -> SampleSizes {
        SampleSizes::of(self.bytes, self.distribution, self.seed)
    }

    /// What its samples are filled with.
    pub(crate) fn payload(&self) -> Payload {
        Payload { seed: self.seed, compressible_percent: self.compressible_percent }
    }

    /// The dataset as a plan has it.
    pub(crate) fn spec(&self) -> DatasetSpec {
        DatasetSpec::Generate(plan::Generate {
            samples: u64::from(self.count),
            sample_bytes: self.bytes,
            distribution: self.distribution,
            files_per_folder: self.files_per_folder,
            seed: self.seed,
            packing: self.packing,
            compressible_percent: self.compressible_percent,
            beside_others: false,
            written_over: self.written_over,
        })
    }

    /// Sizes that spread may be larger than their mean.
    fn total_is_too_large(&self) -> bool {
        let largest_bytes = match self.distribution {
            Distribution::Fixed => Some(self.bytes),
            // By the largest that a draw can be, not the mean: whether the total fits must not depend on the seed.
            Distribution::LogNormal { .. } => self.bytes.checked_mul(dataset::LARGEST_PER_MEAN),
        };
        largest_bytes.and_then(|bytes| bytes.checked_mul(u64::from(self.count))).is_none()
    }
}

/// A packing without what makes no difference to the bytes that are written.
fn written(packing: Packing) -> Packing {
    // Settings of other layouts keep their default of 1: a scenario that sets them for an axis of layouts gets no
    // second dataset.
    let of = |layout, number| if packing.layout == layout { number } else { 1 };
    let columns = of(Layout::Parquet, packing.columns);
    let groups = packing.layout == Layout::Parquet;
    Packing {
        members: of(Layout::WebDataset, packing.members),
        columns,
        columns_read: columns,
        row_group_bytes: if groups { packing.row_group_bytes } else { packing.shard_bytes },
        ..packing
    }
}

/// Folder of a generated dataset, `feedline-` and 8 hex digits that depend on everything that decides its
/// content. `None` for a user's folder and for a dataset that cannot be generated.
pub fn identify(spec: &DatasetSpec) -> Option<Key> {
    Identity::of(spec).ok().flatten().map(|identity| identity.folder())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plan::Words as _;

    use super::*;

    fn objects(identity: &Identity) -> dataset::Objects {
        dataset::Objects::generated(identity.folder(), &identity.spec()).expect("it can be generated")
    }

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

    const PACKING: Packing = Packing {
        layout: Layout::WebDataset,
        shard_bytes: 500,
        members: 2,
        codec: plan::Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: 500,
    };

    fn packed(packing: Packing, compressible_percent: u8) -> Identity {
        let plain = plan::Generate { samples: 10, sample_bytes: 100, seed: 1, ..plan::Generate::NONE };
        let spec = plan::Generate { packing: Some(packing), compressible_percent, ..plain };
        Identity::of(&DatasetSpec::Generate(spec)).unwrap().unwrap()
    }

    /// Every way to pack that differs in what is written.
    fn packings() -> Vec<Packing> {
        let others =
            Layout::ALL.iter().copied().filter(|layout| *layout != Layout::Files && layout.is_written());
        let plain = others.map(|layout| {
            let members = if layout == Layout::WebDataset { 2 } else { 1 };
            let columns = if layout == Layout::Parquet { 4 } else { 1 };
            Packing { layout, members, columns, columns_read: columns, ..PACKING }
        });
        let changed = [
            Packing { members: 3, ..PACKING },
            Packing { shard_bytes: 600, row_group_bytes: 600, ..PACKING },
            Packing { codec: plan::Codec::Zstd, ..PACKING },
        ];
        plain.chain(changed).collect()
    }

    #[test]
    fn packing_and_compressibility_are_part_of_the_identity_and_read_back() {
        let identities: Vec<_> = packings()
            .into_iter()
            .flat_map(|packing| [0, 50].map(|percent| packed(packing, percent)))
            .collect();
        let folders: BTreeSet<Key> = identities.iter().map(Identity::folder).collect();
        assert_eq!(folders.len(), identities.len());
        for identity in identities {
            assert_eq!(identity.to_string().parse(), Ok(identity), "{identity}");
        }
        assert_eq!(
            packed(PACKING, 50).to_string(),
            "10 samples of 100 B, webdataset shards of 500 B with 2 members, 50 % compressible, seed 1"
        );
        for text in [
            "10 samples of 100 B, webdataset shards of 0 B with 2 members, seed 1",
            "10 samples of 100 B, files shards of 5 B, seed 1",
            "10 samples of 100 B, records shards of 5 B with 2 members, seed 1",
            "10 samples of 100 B, 0 % compressible, seed 1",
            "10 samples of 100 B, 500 % compressible, seed 1",
        ] {
            assert_eq!(text.parse::<Identity>(), Err(text::NotAnIdentity), "{text:?}");
        }
    }

    #[test]
    fn columns_that_are_read_make_no_other_dataset() {
        let parquet =
            |read| Packing { layout: Layout::Parquet, members: 1, columns: 4, columns_read: read, ..PACKING };
        assert_eq!(packed(parquet(1), 0), packed(parquet(4), 0));
    }

    #[test]
    fn shards_have_names_of_their_own() {
        for packing in packings() {
            let dataset = packed(packing, 0);
            let folder = dataset.folder();
            let names = dataset.names(&folder);
            assert_eq!(names.count(), 2);
            for shard in 0..2 {
                assert_eq!(names.object(&names.key(shard)), Some(shard));
                let directory = names.key(shard).folder().unwrap();
                assert!((0..names.directories()).any(|number| names.directory(number) == directory));
            }
            for name in [
                "000000/000000002.tar",
                "000000/0.tar",
                "c/2/0",
                "c/0",
                "zarr.json",
                "c/00/0",
                "000000/000000000.bin",
            ] {
                assert_eq!(names.object(&folder.join(name).unwrap()), None, "{name}");
            }
        }
        let names = packed(PACKING, 0).names(&Key::new("d").unwrap());
        assert_eq!(names.key(1).as_str(), "d/000000/000000001.tar");
        let zarr =
            packed(Packing { layout: Layout::Zarr, members: 1, ..PACKING }, 0).names(&Key::new("d").unwrap());
        assert_eq!(zarr.key(1).as_str(), "d/c/1/0");
        assert_eq!(zarr.metadata().unwrap().as_str(), "d/zarr.json");
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
            assert_eq!(text.parse::<Identity>(), Err(text::NotAnIdentity), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_generated_is_refused() {
        let refused = |samples, bytes| of(samples, bytes, Distribution::Fixed, 1, 0).unwrap_err();
        assert!(matches!(refused(1 << 32, 1), PrepareError::TooManySamples { .. }));
        assert!(matches!(refused(0, 1), PrepareError::Empty { .. }));
        assert!(matches!(refused(1, 0), PrepareError::Empty { .. }));
        assert!(matches!(refused(2, u64::MAX), PrepareError::TooLarge { .. }));
        assert!(objects(&identity(1, u64::MAX, 0)).total_bytes() == u64::MAX);
        let spread = of(1, u64::MAX / 8, SPREAD, 1, 0);
        assert!(matches!(spread.unwrap_err(), PrepareError::TooLarge { .. }));
    }

    #[test]
    fn every_object_lies_in_one_of_the_directories() {
        for (per_folder, directories) in [(1, 3_001), (1000, 4), (3_001, 1), (1_000_000, 1)] {
            let dataset = of(3_001, 1, Distribution::Fixed, per_folder, 0).unwrap();
            let objects = super::tests::objects(&dataset);
            let found: BTreeSet<_> = (0..dataset.count).map(|object| objects.key(object).folder()).collect();
            let known: BTreeSet<_> = objects.folders().into_iter().collect();
            let names = dataset.names(&dataset.folder());
            let named: BTreeSet<_> =
                (0..names.directories()).map(|number| Some(names.directory(number))).collect();
            assert_eq!(known, named);
            assert_eq!(found, known);
            assert_eq!((known.len(), names.directories()), (directories, directories as u32));
        }
    }

    #[test]
    fn only_exact_object_names_are_recognised() {
        for (per_folder, directory) in [(1000, "000001"), (5, "000246"), (1_000_000, "000000")] {
            let dataset = of(2_000, 5, SPREAD, per_folder, 0).unwrap();
            let folder = dataset.folder();
            let names = dataset.names(&folder);
            assert_eq!(names.object(&objects(&dataset).key(1_234)), Some(1_234));
            assert_eq!(names.key(1_234), objects(&dataset).key(1_234));
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
