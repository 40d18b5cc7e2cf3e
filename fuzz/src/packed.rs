//! A compressed shard of any content is counted, or is none: as it comes, and inside a stream that is whole.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use plan::{Codec, Layout};

use crate::memory::Memory;

/// Bit of the first byte that asks for a whole stream.
const PACKS: u8 = 0x80;

/// To how many times its bytes a shard is unpacked.
const RATIO_MAX: u64 = 100;

/// See the module.
pub fn packed(data: &[u8]) {
    let Some((kind, input)) = data.split_first() else { return };
    let layout = if kind & 1 == 0 { Layout::WebDataset } else { Layout::TfRecord };
    let (codec, shard) = if kind & PACKS != 0 {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(input).expect("memory");
        (Codec::Gzip, encoder.finish().expect("memory"))
    } else {
        ([Codec::None, Codec::Gzip, Codec::Zstd][usize::from(kind >> 1) % 3], input.to_vec())
    };
    if let Ok(samples) = formats::count(layout, codec, &mut Memory(&shard), RATIO_MAX) {
        assert!(samples > 0);
    }
}
