//! Dataset arithmetic: which objects there are, in which order their blocks are read, which bytes they
//! hold. Pure: a read is a function of its ticket. Generated data of one size takes no memory, data whose sizes
//! spread 8 bytes an object.

mod content;
mod copied;
mod data;
mod hash;
mod index;
mod manifest;
mod mixing;
mod objects;
mod order;
pub mod payload;
mod permutation;
mod sizes;
mod uneven;

pub use content::Content;
pub use copied::{COPY_FOLDER, CopyNames, NotACopy};
pub use data::{Data, DataError};
pub use hash::{Fingerprint, combined_hash, plan_hash};
pub use index::{Even, Extent, Index, Samples};
pub use manifest::{
    MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Manifest, Marker, TIER_BLOCKS, TIER_DATASET,
};
pub use mixing::{Mixing, mixing, tail_share};
pub use objects::{FolderOf, Key, KeyError, Listed, Objects, Varied};
pub use order::{Order, OrderError, ReadSpan};
pub use permutation::{Permutation, mix, scale};
pub use sizes::{LARGEST_PER_MEAN, LogNormal, SampleSizes};
