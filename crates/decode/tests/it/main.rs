//! Samples as encoders write them, as storage damages them, and as enemies make them.

#![expect(clippy::unwrap_used, reason = "a test ends where a step of it fails")]

mod damage;
mod formats;
mod gzip;
mod hostile;
mod jpeg;
mod png;
mod stand_in;
mod zstd;

use decode::{DecodeError, Decoder};
use plan::Work;

/// What a new decoder says to one sample.
fn decode(work: Work, bytes: &[u8]) -> Result<u64, DecodeError> {
    Decoder::new(work, None).decode(bytes)
}
