//! The lightest work on a sample: every byte is looked at once.

use std::hint::black_box;

/// CRC-32 over `bytes`; how many there were. Nobody asks for the sum, and the compiler must not notice.
pub(crate) fn over(bytes: &[u8]) -> u64 {
    black_box(crc32fast::hash(black_box(bytes)));
    bytes.len() as u64
}
