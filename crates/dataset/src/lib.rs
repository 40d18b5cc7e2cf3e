//! Dataset arithmetic: which objects there are, in which order their blocks are read, which bytes they
//! hold. Pure: a read is a function of its ticket. Generated data take no memory, however many objects they have.

mod content;
mod copied;
mod counts;
mod data;
mod draws;
mod hash;
mod index;
mod manifest;
mod mixing;
mod objects;
mod order;
mod parts;
pub mod payload;
mod permutation;
mod sizes;
mod uneven;

pub use content::Content;
pub use copied::{COPY_FOLDER, CopyNames, NotACopy};
pub use data::{Data, DataError};
pub use draws::Draws;
pub use hash::{Fingerprint, combined_hash, plan_hash, plan_hashes};
pub use index::{Even, Extent, Index, Samples};
pub use manifest::{
    MANIFEST_FORMAT, MANIFEST_NAME, MARKER_BYTES_MAX, MARKER_NAME, Manifest, Marker, TIER_BLOCKS,
    TIER_DATASET,
};
pub use mixing::{Mixing, mixing, tail_share};
pub use objects::{FolderOf, Key, KeyError, Listed, Objects, Varied};
pub use order::{Cursor, Order, OrderError, ReadSpan};
pub use permutation::{Permutation, mix, scale};
pub use sizes::{LARGEST_PER_MEAN, LogNormal, SampleSizes};
