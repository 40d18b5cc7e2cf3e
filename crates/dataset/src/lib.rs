//! Dataset arithmetic: which objects there are, in which order their blocks are read, which bytes they
//! hold. Pure: a read is a function of its ticket. Generated data of one size takes no memory, data whose sizes
//! spread 8 bytes an object.

mod data;
mod hash;
mod manifest;
mod objects;
mod order;
pub mod payload;
mod permutation;
mod sizes;
mod uneven;

pub use data::{Content, Data, DataError, Even, Extent, Index, Samples};
pub use hash::{Fingerprint, combined_hash, plan_hash};
pub use manifest::{
    MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Manifest, Marker, TIER_BLOCKS, TIER_DATASET,
};
pub use objects::{Key, KeyError, Listed, Objects, Varied};
pub use order::{Order, OrderError, ReadSpan};
pub use permutation::Permutation;
pub use sizes::LARGEST_PER_MEAN;
