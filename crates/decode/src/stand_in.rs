//! Samples that are decoded in place of generated data, which are random bytes.

mod draw;
mod huffman;
mod packed;
mod photo;
mod picture;

use std::io::Write;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use plan::Work;

/// The level of the library unless told otherwise.
const ZSTD_LEVEL: i32 = 3;

/// An encoded sample, made from a seed: the same work, size and seed give the same bytes.
#[derive(Clone)]
pub struct StandIn {
    // Shared: every decoding thread reads the same bytes, which stay in the processor's cache as a sample just read
    // would.
    bytes: Arc<[u8]>,
}

impl StandIn {
    /// A sample for `work` that is about as large as `bytes`: half-compressible data for gzip and Zstandard, and for
    /// JPEG an image of noise with the spectrum of a photograph, at 0.6 bytes for each pixel; for PNG a slope with noise, at 1.8
    /// bytes for each. From 2 KiB on the size is within 5 %; below, headers come on top, and no image becomes larger than 160
    /// MB (PNG: 64 MiB), as its pixels are limited.
    ///
    /// `None` for a checksum, a copy and a stated time, which take any bytes.
    pub fn new(work: Work, bytes: u64, seed: u64) -> Option<Self> {
        let made = match work {
            Work::Cost { .. } | Work::Processor { .. } | Work::Checksum | Work::Copy => return None,
            Work::Gzip => packed::sample(bytes, seed, gzip),
            Work::Zstd => packed::sample(bytes, seed, zstd),
            Work::Jpeg => photo::sample(bytes, seed),
            Work::Png => picture::sample(bytes, seed),
        };
        Some(Self { bytes: made.into() })
    }

    /// A sample for work that takes any bytes, such as a copy.
    pub fn plain(bytes: u64) -> Self {
        Self { bytes: vec![0; bytes as usize].into() }
    }

    /// The encoded sample.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoded sample, held once for all threads.
    pub(crate) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    // Level 6, the default of `gzip`: the level decides the lengths of matches, and so the work of unpacking.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(plain);
    written.and_then(|()| encoder.finish()).expect("a vector takes all that is written to it")
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(zstd_safe::compress_bound(plain.len()));
    zstd_safe::compress(&mut encoded, plain, ZSTD_LEVEL).expect("the vector has room for the worst case");
    encoded
}
