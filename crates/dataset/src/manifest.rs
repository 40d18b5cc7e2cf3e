//! The two files that make a folder feedline's own: a marker, written first, and a manifest, written last.

use plan::FILES_PER_FOLDER;
use serde::{Deserialize, Serialize};

/// Version of the marker, the manifest and the content that they describe.
pub const MANIFEST_FORMAT: u32 = 1;

/// Name of the marker inside a dataset's folder.
// A name that says to whoever finds the folder what it is, without opening it.
pub const MARKER_NAME: &str = "feedline-owns-this-folder.json";

/// More bytes than any marker has.
// Any file of the user may bear a marker's name. It is read up to here and no further.
pub const MARKER_BYTES_MAX: usize = 64 << 10;

/// Name of the manifest inside a dataset's folder.
pub const MANIFEST_NAME: &str = "manifest.json";

/// What the marker of a cache tier says in the place of a dataset.
pub const TIER_DATASET: &str = "a cache tier: copies of blocks";

/// Name of the one file of a cache tier, inside its folder.
pub const TIER_BLOCKS: &str = "blocks.bin";

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
    /// Number of objects: of files, or of shards.
    pub count: u32,
    /// Bytes of each, or their mean.
    pub bytes: u64,
    /// Standard deviation of sizes that are lognormal; absent where all are equal.
    // Every field that came later is left out at its default: manifests of older versions are still read, and older
    // versions read what they could have written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lognormal_stdev_bytes: Option<u64>,
    /// Objects in one folder, at most; absent where it is [`FILES_PER_FOLDER`].
    #[serde(default = "files_per_folder", skip_serializing_if = "is_files_per_folder")]
    pub files_per_folder: u32,
    /// Seed of the content.
    pub seed: u64,
    /// Name of the layout, where objects hold several samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// How samples are packed, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<String>,
    /// Number of samples, where it is not that of the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Share of the content that compresses to almost nothing, percent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compressible_percent: u8,
    /// Whether cells write over it: times of objects are then no part of the fingerprint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub written_over: bool,
    /// [`crate::Fingerprint`] over all objects.
    pub fingerprint: String,
}

fn files_per_folder() -> u32 {
    FILES_PER_FOLDER
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_files_per_folder(number: &u32) -> bool {
    *number == FILES_PER_FOLDER
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As written before sizes could spread.
    const PLAIN: &str = r#"{"format":1,"dataset":"d","count":4,"bytes":1000,"seed":7,"fingerprint":"f"}"#;

    #[test]
    fn a_plain_manifest_is_what_it_was() {
        let manifest: Manifest = serde_json::from_str(PLAIN).unwrap();
        assert_eq!((manifest.lognormal_stdev_bytes, manifest.files_per_folder), (None, 1000));
        assert_eq!(serde_json::to_string(&manifest).unwrap(), PLAIN);
    }

    #[test]
    fn a_packing_is_kept() {
        let plain: Manifest = serde_json::from_str(PLAIN).unwrap();
        assert_eq!((&plain.packing, plain.samples, plain.compressible_percent), (&None, None, 0));
        let packed = Manifest {
            layout: Some("records".to_owned()),
            packing: Some("records shards of 5 B".to_owned()),
            samples: Some(9),
            compressible_percent: 50,
            ..plain
        };
        let text = serde_json::to_string(&packed).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), packed);
    }

    #[test]
    fn a_spread_and_a_fan_out_are_kept() {
        let plain: Manifest = serde_json::from_str(PLAIN).unwrap();
        let manifest = Manifest { lognormal_stdev_bytes: Some(50), files_per_folder: 7, ..plain };
        let text = serde_json::to_string(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
    }
}
