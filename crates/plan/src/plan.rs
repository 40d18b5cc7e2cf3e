//! What a run will do.

use std::collections::BTreeSet;

use feed::Need;
use feed::bounds::Settings;

use crate::backend::{BackendConfig, Engine};
use crate::cell::Cell;
use crate::emulation::Emulation;
use crate::expect::{Expect, Route};
use crate::file_order::FileOrder;
use crate::generate::{Distribution, Generate};
use crate::layout::Layout;
use crate::layout::{FILE_BLOCK_BYTES, FILE_OVERHEAD_BYTES, disk_bytes};
use crate::measure::{Gate, Measure};
use crate::network::{About, Price};

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
    // As written, for reports; what is reached follows from `config` alone.
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

/// A dataset of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Existing {
    /// Bytes of one training sample; what the layout says of its samples when the scenario does not say.
    pub sample_bytes: Option<u64>,
    /// How samples lie in the files; `None`: as it is found to be.
    pub layout: Option<Layout>,
    /// Which files are read, as a glob or brace pattern below the target's path; all when absent.
    pub shards: Option<String>,
    /// Columns that are read of a Parquet file, or datasets of an HDF5 file. When empty, all columns and the largest dataset.
    pub columns: Vec<String>,
    /// The files that are read and in which order, with [`Access::List`](crate::Access::List); no others belong to the
    /// dataset then.
    pub order: Option<FileOrder>,
}

impl Existing {
    /// All files, of whatever layout they are found to be.
    pub const fn any(sample_bytes: Option<u64>) -> Self {
        Self { sample_bytes, layout: None, shards: None, columns: Vec::new(), order: None }
    }
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
            // Only a listing tells, and a plan looks at no storage.
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

    /// Samples per second at the utilization target that a cell has to reach, when one sample of it is `sample_bytes`.
    pub fn line_samples_per_s(&self, cell: &Cell, sample_bytes: f64) -> f64 {
        match cell.task.mix() {
            Some(mix) => self.need.of_mix(mix.write_share(), sample_bytes).line_samples_per_s(sample_bytes),
            None => self.need.line_samples_per_s(sample_bytes),
        }
    }

    /// Each target with each dataset that it is read for, by their indices, once.
    // A set, so that a target read in ten ways is listed and written once.
    pub fn places(&self) -> BTreeSet<(usize, usize)> {
        self.cells.iter().map(|cell| (cell.target, cell.dataset)).collect()
    }
}

impl Target {
    /// How operations reach this target.
    pub fn route(&self) -> Route {
        self.config.route()
    }

    /// Whether feedline starts a server in its place, which ends with the run and all that it holds. A path is slowed down where
    /// it is.
    pub fn is_served_here(&self) -> bool {
        self.emulate.is_some() && self.config.capabilities().network
    }

    /// Whether it is slowed down where it is, by the process that measures.
    pub fn is_slowed_here(&self) -> bool {
        self.emulate.is_some() && !self.is_served_here()
    }

    /// Whether it bursts until credits are spent, which the process that measures has.
    pub fn has_credits(&self) -> bool {
        self.emulate.as_ref().is_some_and(|asked| asked.request_burst.or(asked.byte_burst).is_some())
    }

    /// What the server that feedline starts for this target is asked to be like; absent where it starts none.
    pub fn emulated(&self) -> Option<Settings> {
        Some(Settings { prefixes: self.route().prefixes, ..self.emulate.as_ref()?.settings() })
    }
}

impl Plan {
    /// Whether there is anything to hold the figures of this run against.
    pub fn is_predicted(&self) -> bool {
        self.expect.is_some() || self.targets.iter().any(|target| target.emulate.is_some())
    }
}
