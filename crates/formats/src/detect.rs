//! Which layout a shard has: what its bytes say first, its name where they say nothing.

use std::io::Read;

use flate2::read::GzDecoder;
use plan::{Codec, Layout};

use crate::{ffcv, hdf5, indexed, npy, parquet, tfrecord};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Where a header of tar says what it is, and what.
const USTAR: (usize, &[u8]) = (257, b"ustar");

/// Bytes that are unpacked to look at.
const HEAD_BYTES: u64 = 512;

/// The layout and the compression of a shard, by its first bytes (512, or all if it is shorter) and its name. `None` if it
/// is of no known layout.
pub fn detect(name: &str, head: &[u8]) -> Option<(Layout, Codec)> {
    let name = name.to_ascii_lowercase();
    if head.starts_with(GZIP) {
        let mut inside = Vec::new();
        // The head ends inside the stream: what comes before that is looked at.
        let _ = GzDecoder::new(head).take(HEAD_BYTES).read_to_end(&mut inside);
        let bare = name.strip_suffix(".gz").unwrap_or(&name);
        let layout = by_content(&inside).or_else(|| by_name(bare))?;
        return compressed(layout).then_some((layout, Codec::Gzip));
    }
    // The first block of a Zstandard frame may be 128 KiB, which the head does not hold: nothing can be unpacked from
    // it, so the name decides.
    if head.starts_with(ZSTD) {
        let bare = name.strip_suffix(".zst").or_else(|| name.strip_suffix(".zstd")).unwrap_or(&name);
        return by_name(bare)
            .filter(|layout| *layout == Layout::WebDataset)
            .map(|layout| (layout, Codec::Zstd));
    }
    by_content(head).or_else(|| by_name(&name)).map(|layout| (layout, Codec::None))
}

/// Whether shards of that layout are commonly compressed as a whole.
const fn compressed(layout: Layout) -> bool {
    matches!(layout, Layout::WebDataset | Layout::TfRecord)
}

fn by_content(head: &[u8]) -> Option<Layout> {
    let (at, ustar) = USTAR;
    if head.get(at..).is_some_and(|rest| rest.starts_with(ustar)) {
        Some(Layout::WebDataset)
    // TFRecord comes last: it has no magic, only a checksum over its first length.
    } else if head.starts_with(npy::MAGIC) {
        Some(Layout::Records)
    } else if head.starts_with(parquet::MAGIC) {
        Some(Layout::Parquet)
    } else if head.starts_with(indexed::MAGIC) {
        Some(Layout::Indexed)
    } else if head.starts_with(hdf5::MAGIC) {
        Some(Layout::Hdf5)
    } else if ffcv::begins(head) {
        Some(Layout::Ffcv)
    } else {
        // A file of zeros has no record, and its checksum does not hold either.
        tfrecord::length(head).map(|_| Layout::TfRecord)
    }
}

/// By the last part of a name, in small letters.
fn by_name(name: &str) -> Option<Layout> {
    let name = name.rsplit('/').next().unwrap_or(name);
    if name == "zarr.json" {
        return Some(Layout::Zarr);
    }
    match name.rsplit_once('.')?.1 {
        "tar" | "tgz" => Some(Layout::WebDataset),
        "npy" => Some(Layout::Records),
        "parquet" => Some(Layout::Parquet),
        "idx" => Some(Layout::Indexed),
        "beton" => Some(Layout::Ffcv),
        "h5" | "hdf5" => Some(Layout::Hdf5),
        // TensorFlow's own writers add `-00000-of-00010`.
        last if last.split('-').next().is_some_and(|last| matches!(last, "tfrecord" | "tfrecords")) => {
            Some(Layout::TfRecord)
        }
        _ => None,
    }
}
