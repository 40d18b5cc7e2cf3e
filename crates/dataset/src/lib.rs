//! Dataset arithmetic: which objects there are, in which order their blocks are read, which bytes they
//! hold. Pure, and constant in memory for generated data: a read is a function of its ticket.

mod hash;
mod manifest;
mod objects;
mod order;
pub mod payload;
mod permutation;

pub use hash::{Fingerprint, combined_hash, plan_hash};
pub use manifest::{MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Manifest, Marker};
pub use objects::{Key, KeyError, Listed, Objects, Varied};
pub use order::{Order, OrderError, ReadSpan};
pub use permutation::Permutation;
