//! A dataset that feedline writes.

use crate::layout::Packing;

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
    // Incompressible by default: storages that compress would otherwise be measured at what zeros give.
    pub compressible_percent: u8,
    /// Whether its folder may be made where files lie that feedline did not write.
    pub beside_others: bool,
    /// Whether cells write over it: its bytes are then no longer those of its seed.
    pub written_over: bool,
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
        written_over: false,
    };
}

/// Files per folder by default: directories stay small on every file system.
// A million files in one folder are another test (hashed directories, longer lookups), which has to be
// asked for.
pub const FILES_PER_FOLDER: u32 = 1000;

/// How the sizes of generated files spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distribution {
    /// All are equal.
    #[default]
    Fixed,
    /// Lognormal, as sizes of images are.
    // MLPerf gives `record_length_bytes_stdev` without a distribution; sizes of ImageNet's files are close
    // to lognormal, and never below zero.
    LogNormal {
        /// Standard deviation.
        stdev_bytes: u64,
    },
}
