//! The two files that make a folder feedline's own: a marker, written first, and a manifest, written last.

use serde::{Deserialize, Serialize};

/// Version of the marker, the manifest and the content that they describe.
pub const MANIFEST_FORMAT: u32 = 1;

/// Name of the marker inside a dataset's folder.
pub const MARKER_NAME: &str = "feedline-owns-this-folder.json";

/// Name of the manifest inside a dataset's folder.
pub const MANIFEST_NAME: &str = "manifest.json";

/// Written before any data: feedline made this folder, and may remove what it wrote there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// [`MANIFEST_FORMAT`].
    pub format: u32,
    /// For a person who opens the file.
    pub note: String,
    /// The dataset that is or will be here.
    pub dataset: String,
}

/// Written after all data: the dataset is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_FORMAT`].
    pub format: u32,
    /// The dataset's name.
    pub dataset: String,
    /// Number of objects.
    pub count: u32,
    /// Bytes of each.
    pub bytes: u64,
    /// Seed of the content.
    pub seed: u64,
    /// [`crate::Fingerprint`] over all objects.
    pub fingerprint: String,
}
