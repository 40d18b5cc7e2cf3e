//! A target that says nothing but its bucket and prefix: what tests and fuzzing start from.

use plan::{Addresses, BucketStyle, Keys, S3Config};

pub(crate) fn config() -> S3Config {
    S3Config {
        bucket: "bucket".to_owned(),
        prefix: "p".to_owned(),
        region: None,
        endpoint: None,
        style: BucketStyle::Auto,
        ca: None,
        keys: Keys::Anonymous,
        addresses: Addresses::First,
        part_bytes: None,
        prefixes: 1,
        head: false,
        checksum: false,
    }
}
