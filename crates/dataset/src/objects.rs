//! Names and sizes of the objects of a dataset.

use std::collections::{BTreeSet, HashMap};
use std::{fmt, iter};

use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};

use crate::parts::in_parts;
use crate::sizes::{LARGEST_PER_MEAN, LogNormal};

/// Sizes that are drawn in one go.
const SIZES_PER_PART: u64 = 1 << 16;
/// Sizes that are drawn before they are used.
const SIZES_AT_ONCE: usize = 1 << 20;

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
        // Backends join a key to their root. What cannot leave it by its name cannot leave the target; links are
        // theirs to refuse.
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
#[derive(Debug, Clone, PartialEq)]
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

/// A generated dataset whose sizes spread. Sizes are drawn by the number of an object whenever they are asked for, and no table
/// is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Varied {
    /// Folder that holds the objects, relative to the target's root.
    pub folder: Key,
    /// Objects in one folder, at most.
    pub files_per_folder: u32,
    sizes: LogNormal,
    count: u32,
    total_bytes: u64,
    bytes_max: u64,
}

impl Varied {
    fn new(folder: Key, files_per_folder: u32, count: u32, sizes: LogNormal) -> Self {
        let sum_and_max =
            |(sum, max): (u64, u64), (bytes, largest): (u64, u64)| (sum + bytes, max.max(largest));
        // Each is drawn once for what is asked of all of them.
        let parts = in_parts(u64::from(count), SIZES_PER_PART, |objects| {
            objects
                .map(|object| sizes.at(object))
                .fold((0, 0), |found, bytes| sum_and_max(found, (bytes, bytes)))
        });
        let (total_bytes, bytes_max) = parts.into_iter().fold((0, 0), sum_and_max);
        Self { folder, files_per_folder, sizes, count, total_bytes, bytes_max }
    }

    /// All sizes one behind the other, 8 bytes each, the lowest first.
    pub(crate) fn each_part_of_sizes(&self, mut each: impl FnMut(&[u8])) {
        let count = u64::from(self.count);
        // A few million at a time: all of them would be a gigabyte.
        for first in (0..count).step_by(SIZES_AT_ONCE) {
            let len = (count - first).min(SIZES_AT_ONCE as u64);
            let bytes = |object| self.sizes.at(first + object).to_le_bytes();
            let parts = in_parts(len, SIZES_PER_PART, |objects| objects.flat_map(bytes).collect::<Vec<u8>>());
            for part in &parts {
                each(part);
            }
        }
    }

    /// What draws the sizes, by the numbers of objects.
    pub fn sizes(&self) -> LogNormal {
        self.sizes
    }
}

/// Names and sizes of a listed dataset, in two flat arrays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    // One string for all names: a million `String`s would take 24 bytes and an allocation each beside their text.
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
        // 32 bits: `prepare` refuses a listing whose names pass 4 GiB.
        self.name_ends.push(self.names.len() as u32);
        self.offsets.push(self.offsets.last().copied().unwrap_or(0) + bytes);
        true
    }
}

/// In which folder an object lies, found without a look at its name.
#[derive(Debug)]
pub enum FolderOf {
    /// So many in each, in order.
    Every(u32),
    /// By the object's index.
    Listed(Box<[u32]>),
}

impl FolderOf {
    /// The place of an object's folder in [`Objects::folders`].
    #[inline]
    pub fn get(&self, object: u32) -> Option<u32> {
        match self {
            Self::Every(files) => Some(object / files),
            Self::Listed(numbers) => numbers.get(object as usize).copied(),
        }
    }

    /// Memory that it takes beside its own.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Every(_) => 0,
            Self::Listed(numbers) => size_of_val(numbers.as_ref()),
        }
    }
}

impl Objects {
    /// Generated objects of one size, [`FILES_PER_FOLDER`] to a folder.
    pub fn uniform(folder: Key, count: u32, bytes: u64) -> Self {
        Self::Uniform { folder, count, bytes, files_per_folder: FILES_PER_FOLDER }
    }

    /// The objects of a dataset that feedline writes into `folder`. `None` for a user's data, which must be listed,
    /// and for what cannot be generated: more than `u32::MAX` samples, samples or a mean of zero bytes, a total
    /// that may pass 2^64 bytes.
    ///
    /// Sizes that spread are drawn here once for their sum, in about 40 ns each, and take no memory.
    pub fn generated(folder: Key, spec: &DatasetSpec) -> Option<Self> {
        let DatasetSpec::Generate(plan::Generate {
            samples,
            sample_bytes,
            distribution,
            files_per_folder,
            seed,
            ..
        }) = *spec
        else {
            return None;
        };
        let count = u32::try_from(samples).ok().filter(|_| samples > 0 && sample_bytes > 0)?;
        let total_bytes = samples.checked_mul(sample_bytes)?;
        match distribution {
            Distribution::Fixed | Distribution::LogNormal { stdev_bytes: 0 } => {
                Some(Self::Uniform { folder, count, bytes: sample_bytes, files_per_folder })
            }
            Distribution::LogNormal { stdev_bytes } => {
                // Before the sizes are drawn: the sum of all must fit 64 bits however they fall.
                total_bytes.checked_mul(LARGEST_PER_MEAN)?;
                let sizes = LogNormal::new(sample_bytes, stdev_bytes, seed);
                Some(Self::Varied(Varied::new(folder, files_per_folder, count, sizes)))
            }
        }
    }

    /// Number of objects.
    pub fn count(&self) -> u32 {
        match self {
            Self::Uniform { count, .. } => *count,
            Self::Varied(varied) => varied.count,
            Self::Listed(listed) => listed.name_ends.len() as u32,
        }
    }

    /// Bytes of one object.
    pub fn bytes(&self, object: u32) -> u64 {
        match self {
            Self::Uniform { bytes, .. } => *bytes,
            Self::Varied(varied) => varied.sizes.at(u64::from(object)),
            Self::Listed(listed) => listed.offsets[object as usize + 1] - listed.offsets[object as usize],
        }
    }

    /// Bytes of the largest object.
    pub fn bytes_max(&self) -> u64 {
        match self {
            Self::Uniform { bytes, .. } => *bytes,
            Self::Varied(varied) => varied.bytes_max,
            Self::Listed(_) => (0..self.count()).map(|object| self.bytes(object)).max().unwrap_or(0),
        }
    }

    /// Bytes of all objects.
    pub fn total_bytes(&self) -> u64 {
        match self {
            Self::Uniform { count, bytes, .. } => u64::from(*count) * bytes,
            Self::Varied(varied) => varied.total_bytes,
            Self::Listed(listed) => listed.offsets.last().copied().unwrap_or(0),
        }
    }

    /// Bytes of an object on average; not a number when there are none.
    pub fn mean_bytes(&self) -> f64 {
        self.total_bytes() as f64 / f64::from(self.count())
    }

    /// The folder of a dataset that feedline wrote, which has its marker; `None` of a listing.
    pub fn own_folder(&self) -> Option<&Key> {
        match self {
            Self::Uniform { folder, .. } => Some(folder),
            Self::Varied(varied) => Some(&varied.folder),
            Self::Listed(_) => None,
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
                // A listing is in the order of names, in which a folder's files may be interrupted by those of its
                // own subfolders.
                let mut seen = BTreeSet::new();
                let folders = (0..self.count()).map(|object| self.key(object).folder());
                folders.filter(|folder| seen.insert(folder.clone())).collect()
            }
        }
    }

    /// The relative path of an object.
    pub fn key(&self, object: u32) -> Key {
        let mut key = String::new();
        self.write_key(object, &mut key);
        Key(key)
    }

    /// How many objects each of [`Objects::folders`] holds.
    pub fn files_of_folders(&self) -> Vec<u32> {
        match self {
            Self::Uniform { files_per_folder, .. } | Self::Varied(Varied { files_per_folder, .. }) => {
                let per_folder = (*files_per_folder).max(1);
                let whole = (self.count() / per_folder) as usize;
                let rest = Some(self.count() % per_folder).filter(|rest| *rest > 0);
                iter::repeat_n(per_folder, whole).chain(rest).collect()
            }
            Self::Listed(_) => {
                let mut files = Vec::new();
                for folder in self.listed_folders() {
                    files.resize(files.len().max(folder as usize + 1), 0);
                    files[folder as usize] += 1;
                }
                files
            }
        }
    }

    /// In which of [`Objects::folders`] each object lies.
    pub fn folder_of(&self) -> FolderOf {
        match self {
            Self::Uniform { files_per_folder, .. } | Self::Varied(Varied { files_per_folder, .. }) => {
                FolderOf::Every((*files_per_folder).max(1))
            }
            Self::Listed(_) => FolderOf::Listed(self.listed_folders()),
        }
    }

    /// The number of each object's folder, in the order in which folders first appear.
    fn listed_folders(&self) -> Box<[u32]> {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut path = String::new();
        let mut number = |object| {
            // A million keys would be a million allocations, of which most name a folder that is known.
            path.clear();
            self.write_key(object, &mut path);
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let next = numbers.len() as u32;
            numbers.get(folder).copied().unwrap_or_else(|| *numbers.entry(folder.to_owned()).or_insert(next))
        };
        (0..self.count()).map(&mut number).collect()
    }

    /// Appends the relative path of an object, for those that name many: nothing is allocated where `into` has
    /// room.
    pub fn write_key(&self, object: u32, into: &mut String) {
        match self {
            Self::Uniform { folder, files_per_folder, .. } => {
                write_generated_key(folder, object, *files_per_folder, into);
            }
            Self::Varied(varied) => {
                write_generated_key(&varied.folder, object, varied.files_per_folder, into);
            }
            Self::Listed(listed) => {
                let end = listed.name_ends[object as usize] as usize;
                let start = if object == 0 { 0 } else { listed.name_ends[object as usize - 1] as usize };
                into.push_str(&listed.names[start..end]);
            }
        }
    }
}

/// `{folder}/{:06}/{object:09}.bin`, without the machinery of formatting: a name is made for every file opened.
fn write_generated_key(folder: &Key, object: u32, files_per_folder: u32, into: &mut String) {
    into.push_str(&folder.0);
    into.push('/');
    push_number(object / files_per_folder.max(1), 6, into);
    into.push('/');
    push_number(object, 9, into);
    into.push_str(".bin");
}

/// Appends a number in decimal, with zeros in front up to `width` digits.
fn push_number(mut number: u32, width: usize, into: &mut String) {
    // A u32 has at most ten digits.
    let mut digits = ['0'; 10];
    let mut first = digits.len();
    while number > 0 || digits.len() - first < width {
        first -= 1;
        digits[first] = char::from(b'0' + (number % 10) as u8);
        number /= 10;
    }
    into.extend(&digits[first..]);
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
    fn objects_know_their_folders() {
        let mut listed = Listed::default();
        for name in ["a/1", "a/b/2", "a/c", "d"] {
            listed.push(&Key::new(name).unwrap(), 1);
        }
        let of = Objects::Listed(listed).folder_of();
        assert_eq!([0, 1, 2, 3, 4].map(|object| of.get(object)), [Some(0), Some(1), Some(0), Some(2), None]);
        let even = Objects::uniform(Key::new("d").unwrap(), 2_500, 1).folder_of();
        assert_eq!([0, 999, 1_000, 2_499].map(|object| even.get(object)), [0, 0, 1, 2].map(Some));
    }

    #[test]
    fn uniform_objects_fan_out_over_directories() {
        let objects = Objects::uniform(Key::new("d").unwrap(), 2_000, 5);
        assert_eq!(objects.key(1_234).as_str(), "d/000001/000001234.bin");
        assert_eq!(objects.key(u32::MAX).as_str(), "d/4294967/4294967295.bin");
        let mut text = "x/".to_owned();
        objects.write_key(0, &mut text);
        assert_eq!(text, "x/d/000000/000000000.bin");
        assert_eq!(objects.total_bytes(), 10_000);
    }

    fn spec(samples: u64, sample_bytes: u64, distribution: Distribution) -> DatasetSpec {
        DatasetSpec::Generate(plan::Generate {
            samples,
            sample_bytes,
            distribution,
            files_per_folder: 300,
            seed: 5,
            ..plan::Generate::NONE
        })
    }

    fn generated(spec: &DatasetSpec) -> Option<Objects> {
        Objects::generated(Key::new("d").unwrap(), spec)
    }

    #[test]
    fn generated_objects_spread_and_fan_out_as_asked() {
        let spread = Distribution::LogNormal { stdev_bytes: 4_000 };
        for distribution in [Distribution::Fixed, spread] {
            let objects = generated(&spec(1_000, 10_000, distribution)).unwrap();
            assert_eq!(objects.count(), 1_000);
            assert_eq!(objects.key(999).as_str(), "d/000003/000000999.bin");
            let folders: Vec<_> =
                objects.folders().into_iter().flatten().map(|key| key.to_string()).collect();
            assert_eq!(folders, ["d/000000", "d/000001", "d/000002", "d/000003"]);
            let sum: u64 = (0..1_000).map(|object| objects.bytes(object)).sum();
            assert_eq!(objects.total_bytes(), sum);
            assert!((objects.mean_bytes() - sum as f64 / 1_000.0).abs() < 1e-9);
            let sizes: BTreeSet<u64> = (0..1_000).map(|object| objects.bytes(object)).collect();
            assert_eq!(sizes.len() == 1, distribution == Distribution::Fixed);
            assert_eq!(sizes.last().copied(), Some(objects.bytes_max()));
        }
    }

    #[test]
    fn folders_come_in_the_order_of_their_first_object_with_their_number_of_objects() {
        let mut listed = Listed::default();
        for name in ["a/1", "a/b/2", "a/c", "d", "e/3"] {
            listed.push(&Key::new(name).unwrap(), 1);
        }
        let listed = Objects::Listed(listed);
        let names: Vec<_> = listed.folders().into_iter().map(|key| key.map(|key| key.to_string())).collect();
        assert_eq!(names, [Some("a".to_owned()), Some("a/b".to_owned()), None, Some("e".to_owned())]);
        assert_eq!(listed.files_of_folders(), [2, 1, 1, 1]);
        let of = |samples| generated(&spec(samples, 9, Distribution::Fixed)).unwrap().files_of_folders();
        assert_eq!((of(1_000), of(600), of(5)), (vec![300, 300, 300, 100], vec![300, 300], vec![5]));
    }

    #[test]
    fn a_spread_of_nothing_is_none() {
        let none = Distribution::LogNormal { stdev_bytes: 0 };
        assert_eq!(generated(&spec(9, 7, none)), generated(&spec(9, 7, Distribution::Fixed)));
    }

    #[test]
    fn a_prefix_of_a_dataset_has_the_sizes_of_the_whole() {
        let of = |samples| generated(&spec(samples, 10_000, Distribution::LogNormal { stdev_bytes: 1_000 }));
        let (short, long) = (of(10).unwrap(), of(20).unwrap());
        assert!((0..10).all(|object| short.bytes(object) == long.bytes(object)));
    }

    #[test]
    fn what_cannot_be_generated_is_none() {
        let spread = Distribution::LogNormal { stdev_bytes: 1 };
        for impossible in [
            DatasetSpec::Existing(plan::Existing::any(None)),
            spec(0, 1, Distribution::Fixed),
            spec(1, 0, spread),
            spec(1 << 32, 1, Distribution::Fixed),
            spec(2, u64::MAX, Distribution::Fixed),
            spec(1, u64::MAX, spread),
        ] {
            assert_eq!(generated(&impossible), None, "{impossible:?}");
        }
    }

    #[test]
    fn a_million_files_fit_one_folder() {
        let spec = DatasetSpec::Generate(plan::Generate {
            samples: 1_000_000,
            sample_bytes: 9,
            distribution: Distribution::Fixed,
            files_per_folder: 1_000_000,
            seed: 1,
            ..plan::Generate::NONE
        });
        let objects = generated(&spec).unwrap();
        assert_eq!(objects.folders().len(), 1);
        assert_eq!(objects.key(999_999).as_str(), "d/000000/000999999.bin");
    }
}
