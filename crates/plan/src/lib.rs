//! The plan: what a run will do, with nothing left to decide.
//!
//! A scenario file is resolved once into a [`Plan`]; everything after it (prepare, execute, record)
//! reads these plain types and never the file. No `Option` here means "use a default": defaults have
//! been chosen by then. This crate does no I/O and names every backend and engine that exists.

mod access;
mod backend;
mod buffers;
mod cell;
mod charged;
mod checkpoint;
mod copy;
mod emulation;
mod expect;
mod file_order;
mod generate;
mod layout;
mod load;
mod measure;
mod network;
mod path_facts;
mod plan;
mod profiles;
mod share;
mod task;
mod tier;
mod training;

pub use access::{Access, Streams};
pub use backend::{Advice, BackendConfig, Capabilities, Engine, OnUnavailable, Registered, lies_within};
pub use buffers::{BUFFER_ALIGN_BYTES, HUGE_PAGE_BYTES, arena_bytes, copy_source_bytes};
pub use cell::{Axis, Cell};
pub use charged::Charged;
pub use checkpoint::{Checkpoint, JobCheckpoints, Saving};
pub use copy::{COPY_BLOCK_BYTES, COPY_BUFFERS, COPY_THREADS, Copy};
pub use emulation::{Delay, EMULATOR_FSID, Emulation, Faults};
pub use expect::{Expect, Route};
pub use feed::{Cache, Durability, MayDiffer, Numa, Operation, Pages, TierPolicy, Words};
pub use file_order::FileOrder;
pub use generate::{Distribution, FILES_PER_FOLDER, Generate};
pub use layout::{Codec, HDF5_SAMPLE_BYTES_MAX, Layout, Packing, disk_bytes};
pub use load::{Arrivals, Load, Pace, Rate};
pub use measure::{CellOrder, Evidence, Gate, Limit, Margin, Measure, OVERHEAD_NS};
pub use network::{
    AZURE_PUT_BYTES_MAX, About, Addresses, AzureConfig, BucketStyle, Keys, NfsConfig, PARTS_AT_ONCE_MAX,
    Price, S3_PUT_BYTES_MAX, S3Config, Secret,
};
pub use path_facts::PathFacts;
pub use plan::{DatasetSpec, Existing, Plan, Skipped, Target};
pub use profiles::{Profile, profile, profiles};
pub use share::Share;
pub use task::{Mix, Task};
pub use tier::Tier;
pub use training::{Decode, Fetch, Training, Work};
