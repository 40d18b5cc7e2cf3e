//! A writer with one buffer, in which samples are generated and from which they are written.

use std::io::{self, Write};

use crate::checksum::Sum;
use crate::shard::Samples;

/// Bytes gathered before they are written. Fits a core's cache, and a file takes it in one call.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes the parts of a shard one after the other, and knows how far it is.
pub(crate) struct Pen<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    held: usize,
    at: u64,
    sum: Option<Sum>,
}

impl<'a> Pen<'a> {
    /// At the beginning of a shard.
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: vec![0; BUFFER_BYTES], held: 0, at: 0, sum: None }
    }

    /// Bytes of the shard so far.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Sums what is written from here on.
    pub(crate) fn begin_sum(&mut self) {
        self.sum = Some(Sum::new());
    }

    /// CRC-32C of what was written since the sum began.
    pub(crate) fn end_sum(&mut self) -> u32 {
        self.sum.take().map_or(0, |sum| sum.value())
    }

    /// Writes nothing, and ends where whoever takes the bytes was asked to stop: for work before the first of them.
    pub(crate) fn go_on(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes some bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.make(bytes.len() as u64, |from, out| {
            out.copy_from_slice(&bytes[from as usize..from as usize + out.len()]);
        })
    }

    /// Writes so many zeros.
    pub(crate) fn zeros(&mut self, count: u64) -> io::Result<()> {
        self.make(count, |_, out| out.fill(0))
    }

    /// Writes zeros up to a multiple of `step_bytes`.
    pub(crate) fn align(&mut self, step_bytes: u64) -> io::Result<()> {
        self.zeros(self.at.next_multiple_of(step_bytes) - self.at)
    }

    /// Writes `bytes` of a sample, from its byte `from` on.
    pub(crate) fn sample(
        &mut self,
        samples: &mut dyn Samples,
        index: u64,
        from: u64,
        bytes: u64,
    ) -> io::Result<()> {
        self.make(bytes, |offset, out| samples.fill(index, from + offset, out))
    }

    /// Writes the rest of the buffer.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    fn make(&mut self, bytes: u64, mut fill: impl FnMut(u64, &mut [u8])) -> io::Result<()> {
        let mut done = 0;
        while done < bytes {
            let room = (BUFFER_BYTES - self.held) as u64;
            let part = room.min(bytes - done) as usize;
            let out = &mut self.buffer[self.held..self.held + part];
            // Samples are made in the buffer that is written from: a copy for each would cost as much as making them.
            fill(done, out);
            // While the bytes are in the cache that filled them.
            if let Some(sum) = &mut self.sum {
                sum.add(out);
            }
            self.held += part;
            self.at += part as u64;
            done += part as u64;
            if self.held == BUFFER_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer[..self.held])?;
        self.held = 0;
        Ok(())
    }
}
