//! What the accelerators need, as arithmetic.
//!
//! [`units`] reads and writes sizes, rates and durations; [`PROFILES`] holds the workloads of MLPerf
//! Storage and some language models; [`NeedSpec`] is what a scenario says and [`Need`] what follows from it for one client;
//! [`formula`] holds the arithmetic that the tool prints, [`bounds`] what a storage can deliver at most, [`Loader`] how
//! well a loader uses its accelerators, [`CheckpointNeed`] what checkpoints ask for; [`what_if`] answers questions by that
//! arithmetic, each on a [`Sheet`];
//! [`judge`] turns an interval into a verdict, [`Compared`] names what runs are compared by.
//! Pure: no I/O, no clock, no randomness, and no other crate of this project.

pub mod bounds;
mod checkpoint;
mod compared;
mod explain;
pub mod formula;
mod loader;
mod need;
mod plain;
mod profile;
mod sheet;
mod spec;
pub mod units;
mod verdict;
pub mod what_if;
mod words;

pub use checkpoint::{CheckpointModel, CheckpointNeed, HostShare, SaveKind};
pub use compared::{Compared, MayDiffer};
pub use loader::{Curve, Fetchers, Loader, Side};
pub use need::{Demand, Hold, NEEDS_MAX, Need, Part, Scope};
pub use plain::{plain, steers, typed_word};
pub use profile::{PROFILES, Profile, Provenance, UTILIZATION_DEFAULT};
pub use sheet::Sheet;
pub use spec::{COUNT_MAX, NeedError, NeedSpec};
pub use units::{
    UnitError, counted_noun, format_bps, format_bytes, format_count, format_duration_ns, group_digits,
    parse_bytes, parse_duration_ns, parse_percent, parse_rate_bps,
};
pub use verdict::{Interval, Judgement, accelerators_fed, judge, judge_time};
pub use words::{
    Access, Cache, CacheOrder, Durability, Flow, FromMemory, Numa, Operation, Pages, TierPolicy, Words,
};
