//! The plan: what a run will do, with nothing left to decide.
//!
//! A scenario file is resolved once into a [`Plan`]; everything after it (prepare, execute, record)
//! reads these plain types and never the file. No `Option` here means "use a default": defaults have
//! been chosen by then. This crate does no I/O and names every backend and engine that exists.

mod backend;
mod buffers;
mod cell;
mod charged;
mod checkpoint;
mod copy;
mod emulation;
mod expect;
mod layout;
mod load;
mod measure;
mod network;
mod profiles;
mod share;
mod tier;
mod training;

pub use backend::{Advice, BackendConfig, Capabilities, Engine, OnUnavailable, Registered};
pub use buffers::{BUFFER_ALIGN_BYTES, HUGE_PAGE_BYTES, arena_bytes};
pub use cell::{Axis, Cell};
pub use charged::Charged;
pub use checkpoint::{Checkpoint, Saving};
pub use copy::{COPY_BLOCK_BYTES, COPY_BUFFERS, COPY_THREADS, Copy};
pub use emulation::{Delay, EMULATOR_FSID, Emulation, Faults};
pub use expect::{Expect, Way};
pub use feed::{Access, Cache, Operation, Pages};
pub use layout::{Codec, Layout, Packing};
pub use load::{Arrivals, Load, Pace, Rate};
pub use measure::{CellOrder, Evidence, Gate, Limit, Margin, MayDiffer, Measure};
pub use network::{
    About, Addresses, BucketStyle, Keys, NfsConfig, PARTS_AT_ONCE_MAX, Price, S3Config, Secret,
};
pub use profiles::{Profile, profile, profiles};
pub use share::Share;
pub use tier::{Tier, TierPolicy};
pub use training::{Decode, Fetch, Training, Work};

use feed::Need;

/// A resolved scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The scenario's name: its file stem, or `run` when there was no file.
    pub name: String,
    /// What the scenario says about itself; a `quick look` label is printed beside every figure.
    pub title: Option<String>,
    /// What the accelerators consume.
    pub need: Need,
    /// The distinct datasets; a cell names one by index.
    pub datasets: Vec<DatasetSpec>,
    /// The storages under test, in the order of the file.
    pub targets: Vec<Target>,
    /// Every cell that may run, in the order of the file.
    pub cells: Vec<Cell>,
    /// Combinations that cannot run here and that `on_unavailable` allowed to leave out.
    pub skipped: Vec<Skipped>,
    /// How long, how often and in which order.
    pub measure: Measure,
    /// What turns the verdict into an exit code.
    pub gate: Gate,
    /// What is claimed of the storages: predictions stand beside what was measured.
    pub expect: Option<Expect>,
}

/// One storage under test.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The key under `targets`.
    pub name: String,
    /// A title for plots; the name when absent.
    pub title: String,
    /// What the user says of this storage; kept in the record.
    pub about: About,
    /// `at` as written.
    pub at: String,
    /// Which backend serves it, and its settings.
    pub config: BackendConfig,
    /// The server that feedline starts for it; its figures demonstrate, and judge nothing.
    pub emulate: Option<Emulation>,
    /// Memory of the server, bytes, by which its own cache can be excluded.
    pub server_memory_bytes: Option<u64>,
    /// What its requests cost.
    pub price: Option<Price>,
}

/// Which bytes are read.
#[derive(Debug, Clone, PartialEq)]
pub enum DatasetSpec {
    /// Written by feedline.
    Generate(Generate),
    /// The user's own folder, listed and never written.
    Existing(Existing),
}

/// A dataset that feedline writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Generate {
    /// Number of samples.
    pub samples: u64,
    /// Bytes of each, or their mean.
    pub sample_bytes: u64,
    /// How their sizes spread about the mean.
    pub distribution: Distribution,
    /// Files in one folder, at most.
    pub files_per_folder: u32,
    /// Seed of the content, of the sizes and of the dataset's identity.
    pub seed: u64,
    /// How samples are packed; `None`: each is a file.
    pub packing: Option<Packing>,
    /// Share of the content that compresses to almost nothing, percent.
    pub compressible_percent: u8,
    /// Whether its folder may be made where files lie that feedline did not write.
    pub beside_others: bool,
}

impl Generate {
    /// No samples yet; each would be a file, all of one size and of incompressible bytes.
    pub const NONE: Self = Self {
        samples: 0,
        sample_bytes: 0,
        distribution: Distribution::Fixed,
        files_per_folder: FILES_PER_FOLDER,
        seed: 1,
        packing: None,
        compressible_percent: 0,
        beside_others: false,
    };
}

/// A dataset of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Existing {
    /// Bytes of one training sample; what the layout says of its samples when the scenario does not say.
    pub sample_bytes: Option<u64>,
    /// How samples lie in the files; `None`: as it is found to be.
    pub layout: Option<Layout>,
    /// Which files are read, as a glob or brace pattern below the target's path; all when absent.
    pub shards: Option<String>,
    /// Columns that are read of a Parquet file; all when empty.
    pub columns: Vec<String>,
}

impl Existing {
    /// All files, of whatever layout they are found to be.
    pub const fn any(sample_bytes: Option<u64>) -> Self {
        Self { sample_bytes, layout: None, shards: None, columns: Vec::new() }
    }
}

/// Files per folder by default: directories stay small on every file system.
pub const FILES_PER_FOLDER: u32 = 1000;

/// How the sizes of generated files spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distribution {
    /// All are equal.
    #[default]
    Fixed,
    /// Lognormal, as sizes of images are.
    LogNormal {
        /// Standard deviation.
        stdev_bytes: u64,
    },
}

/// Most file systems allocate a file's bytes in blocks of this size.
const FILE_BLOCK_BYTES: u64 = 4096;

/// What a file takes beside its bytes: inode and directory entry (ext4 256 + 24, XFS 512).
const FILE_OVERHEAD_BYTES: u64 = 512;

/// Bytes that `files` files of `bytes` each take on a disk, about.
pub fn disk_bytes(files: u64, bytes: u64) -> u64 {
    let each = bytes.div_ceil(FILE_BLOCK_BYTES).saturating_mul(FILE_BLOCK_BYTES);
    files.saturating_mul(each.saturating_add(FILE_OVERHEAD_BYTES))
}

impl DatasetSpec {
    /// Bytes that feedline writes, as they are allocated.
    pub fn disk_bytes(&self) -> u64 {
        match *self {
            Self::Generate(Generate { samples, sample_bytes, packing: Some(packing), .. }) => {
                packing.disk_bytes(samples, sample_bytes)
            }
            Self::Generate(Generate { samples, sample_bytes, distribution: Distribution::Fixed, .. }) => {
                disk_bytes(samples, sample_bytes)
            }
            // The last block of a file of any size is half empty on average.
            Self::Generate(Generate { samples, sample_bytes, .. }) => {
                let each = sample_bytes.saturating_add(FILE_BLOCK_BYTES / 2 + FILE_OVERHEAD_BYTES);
                samples.saturating_mul(each)
            }
            Self::Existing(_) => 0,
        }
    }

    /// Bytes on disk, where the plan already knows them.
    pub fn total_bytes(&self) -> Option<u64> {
        match *self {
            Self::Generate(Generate { samples, sample_bytes, .. }) => samples.checked_mul(sample_bytes),
            Self::Existing(_) => None,
        }
    }
}

/// Cells left out before the run, with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Skipped {
    /// The target's name.
    pub target: String,
    /// The engine that is not available.
    pub engine: Engine,
    /// Why, and what to do about it.
    pub reason: String,
}

impl Plan {
    /// The target of a cell.
    pub fn target(&self, cell: &Cell) -> &Target {
        &self.targets[cell.target]
    }

    /// The dataset of a cell.
    pub fn dataset(&self, cell: &Cell) -> &DatasetSpec {
        &self.datasets[cell.dataset]
    }
}
