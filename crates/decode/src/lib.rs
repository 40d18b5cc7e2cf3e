//! What turns the bytes of one stored sample into what a batch takes: a checksum, a copy, a decompression, or pixels.
//!
//! A library for the threads of a loader: it starts none, reads no clock and keeps its buffers from sample to sample.
//! Samples may come from anywhere, so each is bounded before memory is taken for it, and every damage is an error.

mod allowance;
mod batch;
mod checksum;
mod error;
mod gzip;
mod jpeg;
mod png;
mod stand_in;
mod zstd;

use std::sync::Arc;

use plan::Work;

pub use crate::allowance::{FREE_BYTES, OUT_BYTES_MAX, RATIO_MAX};
pub use crate::error::DecodeError;
pub use crate::jpeg::PIXEL_BYTES_MAX;
pub use crate::stand_in::StandIn;
pub use crate::zstd::WINDOW_BYTES_LOG2_MAX;

/// Decodes one sample after the other: one for each thread.
pub struct Decoder {
    machine: Machine,
    stand_in: Option<Arc<[u8]>>,
}

enum Machine {
    Nothing,
    Checksum,
    Copy(batch::Batch),
    Gzip(gzip::Gzip),
    Zstd(zstd::Zstd),
    Jpeg(jpeg::Jpeg),
    Png(png::Png),
}

impl Decoder {
    /// A decoder that does `work`. With a stand-in, [`Decoder::decode`] leaves the bytes that it is given alone and
    /// decodes the stand-in, which was made for the same work.
    pub fn new(work: Work, stand_in: Option<&StandIn>) -> Self {
        let machine = match work {
            Work::Cost { .. } | Work::Processor { .. } => Machine::Nothing,
            Work::Checksum => Machine::Checksum,
            Work::Copy => Machine::Copy(batch::Batch::default()),
            Work::Gzip => Machine::Gzip(gzip::Gzip::new()),
            Work::Zstd => Machine::Zstd(zstd::Zstd::new()),
            Work::Jpeg => Machine::Jpeg(jpeg::Jpeg::new()),
            Work::Png => Machine::Png(png::Png::new()),
        };
        Self { machine, stand_in: stand_in.map(StandIn::shared) }
    }

    /// Does the work on one sample: how many bytes came out. A checksum, a copy and a stated cost leave the sample as it is.
    ///
    /// # Errors
    ///
    /// What is wrong with the sample; the decoder is as good as new for the next one.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<u64, DecodeError> {
        let bytes = self.stand_in.as_deref().unwrap_or(bytes);
        // Before the check for emptiness: what is stated is a time, whatever the sample holds.
        if matches!(self.machine, Machine::Nothing) {
            return Ok(bytes.len() as u64);
        }
        if bytes.is_empty() {
            return Err(DecodeError::Empty);
        }
        match &mut self.machine {
            Machine::Nothing | Machine::Checksum => Ok(checksum::over(bytes)),
            Machine::Copy(batch) => Ok(batch.push(bytes)),
            Machine::Gzip(gzip) => gzip.decode(bytes),
            Machine::Zstd(zstd) => zstd.decode(bytes),
            Machine::Jpeg(jpeg) => jpeg.decode(bytes),
            Machine::Png(png) => png.decode(bytes),
        }
    }
}
