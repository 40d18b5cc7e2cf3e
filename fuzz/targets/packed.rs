//! A compressed shard of any content is counted, or is none: as it comes, and inside a stream that is whole.
#![no_main]

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use formats::Source;
use libfuzzer_sys::fuzz_target;
use plan::{Codec, Layout};

/// Bit of the first byte that asks for a whole stream.
const PACKS: u8 = 0x80;

/// To how many times its bytes a shard is unpacked.
const RATIO_MAX: u64 = 100;

struct Memory<'a>(&'a [u8]);

impl Source for Memory<'_> {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0[offset as usize..offset as usize + out.len()]);
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
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
});
