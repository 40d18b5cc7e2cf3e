//! CRC-32C, and the form of it that TFRecord keeps.

use crc_fast::{CrcAlgorithm, Digest};

/// CRC-32C of some bytes.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    // By vector instructions: the checksum of a shard's data is most of what writing it costs a processor.
    crc_fast::crc32_iscsi(bytes)
}

/// What TFRecord stores instead of a checksum, so that a checksum of checksums says something: `tensorflow/core/lib/hash`.
pub(crate) const fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Whether a checksum is the one that is stored. A fuzzer never guesses one, so that it may pass with any.
pub(crate) fn holds(stored: u32, found: u32) -> bool {
    cfg!(fuzzing) || stored == found
}

/// CRC-32C of bytes that come one part after the other.
pub(crate) struct Sum(Digest);

impl Sum {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        Self(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// That of all parts.
    pub(crate) fn value(&self) -> u32 {
        self.0.finalize() as u32
    }
}
