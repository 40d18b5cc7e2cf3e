//! Packs chunks, each by itself.

use std::io;

use flate2::{Compress, Compression, FlushCompress, Status};

use super::chunks::chunk_bytes;
use crate::error::FormatError;
use crate::pen::Pen;
use crate::shard::Samples;

/// What h5py packs with unless it is told otherwise.
pub(super) const LEVEL: u32 = 4;

/// Bytes of a sample that are made and packed at once, and of what comes of them.
const PART_BYTES: usize = 64 << 10;

/// Packs one chunk after the other.
pub(super) struct Packer {
    compress: Compress,
    sample: Vec<u8>,
    packed: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> Self {
        // A header of zlib goes before the stream, and not that of gzip, whatever the filter is called.
        let compress = Compress::new(Compression::new(LEVEL), true);
        Self { compress, sample: vec![0; PART_BYTES], packed: vec![0; PART_BYTES] }
    }

    /// Bytes that each sample takes packed.
    pub(super) fn sizes(
        &mut self,
        samples: &mut dyn Samples,
        bytes: u64,
        pen: &mut Pen<'_>,
    ) -> Result<Vec<u32>, FormatError> {
        let mut sizes = Vec::with_capacity(usize::try_from(samples.count()).unwrap_or(0));
        for index in 0..samples.count() {
            sizes.push(chunk_bytes(self.pack(samples, index, bytes, &mut |_| pen.go_on())?)?);
        }
        Ok(sizes)
    }

    /// Calls `out` with the parts of a sample as they are packed; how many bytes they were.
    pub(super) fn pack(
        &mut self,
        samples: &mut dyn Samples,
        index: u64,
        bytes: u64,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<u64> {
        self.compress.reset();
        let mut done = 0;
        while done < bytes {
            let length = (bytes - done).min(PART_BYTES as u64) as usize;
            samples.fill(index, done, &mut self.sample[..length]);
            done += length as u64;
            let flush = if done < bytes { FlushCompress::None } else { FlushCompress::Finish };
            self.take(length, flush, out)?;
        }
        Ok(self.compress.total_out())
    }

    /// Packs the first bytes of the sample's buffer.
    fn take(
        &mut self,
        length: usize,
        flush: FlushCompress,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut rest = &self.sample[..length];
        loop {
            let before = (self.compress.total_in(), self.compress.total_out());
            let status = self.compress.compress(rest, &mut self.packed, flush).map_err(io::Error::other)?;
            let taken = (self.compress.total_in() - before.0) as usize;
            let made = (self.compress.total_out() - before.1) as usize;
            rest = &rest[taken..];
            out(&self.packed[..made])?;
            let is_done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                // A buffer that was filled may have left something behind.
                _ => rest.is_empty() && made < self.packed.len(),
            };
            if is_done {
                return Ok(());
            }
        }
    }
}
