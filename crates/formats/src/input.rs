//! What a shard is read with: forwards, a header at a time, from a source or from an unpacked stream.

use crate::error::FormatError;
use crate::shard::Source;

/// The most that is asked for at once, and the most that is kept.
pub(crate) const PART_BYTES_MAX: usize = 256 << 10;

/// What is read first of a shard, and after a leap.
const PART_BYTES_MIN: usize = 4096;

/// A gap up to which the bytes between two headers are read too, rather than left out: four pages.
const NEAR_BYTES: u64 = 16 << 10;

/// A shard that is read forwards.
pub(crate) trait Input {
    /// The `needed` bytes at `offset`, at most [`PART_BYTES_MAX`]; `None` where the shard ends exactly there.
    fn at(&mut self, what: &'static str, offset: u64, needed: usize) -> Result<Option<&[u8]>, FormatError>;

    /// Makes sure that `bytes` from `offset` on are there. They need not be readable afterwards.
    fn has(&mut self, what: &'static str, offset: u64, bytes: u64) -> Result<(), FormatError>;

    /// The `needed` bytes at `offset`, without which the shard is torn.
    fn must(&mut self, what: &'static str, offset: u64, needed: usize) -> Result<&[u8], FormatError> {
        let torn = FormatError::Truncated { what, offset, needed_bytes: needed as u64, left_bytes: 0 };
        self.at(what, offset, needed)?.ok_or(torn)
    }
}

/// Whether `needed_bytes` from `offset` on lie in a shard of `bytes`.
pub(crate) fn fits(
    what: &'static str,
    offset: u64,
    needed_bytes: u64,
    bytes: u64,
) -> Result<(), FormatError> {
    let left_bytes = bytes.saturating_sub(offset);
    if needed_bytes > left_bytes {
        return Err(FormatError::Truncated { what, offset, needed_bytes, left_bytes });
    }
    Ok(())
}

/// The little-endian number that some bytes begin with; 0 of fewer than it takes.
pub(crate) fn number32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// As [`number32`].
pub(crate) fn number64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The part of a source that was read last. Headers that lie near each other come with one read, those far apart with a
/// small one each.
pub(crate) struct Window<'a> {
    source: &'a mut dyn Source,
    bytes: u64,
    buffer: Vec<u8>,
    from: u64,
    asked_end: u64,
    part_bytes: usize,
}

impl<'a> Window<'a> {
    /// Nothing read yet.
    pub(crate) fn new(source: &'a mut dyn Source) -> Self {
        let bytes = source.bytes();
        Self { source, bytes, buffer: Vec::new(), from: 0, asked_end: 0, part_bytes: PART_BYTES_MIN }
    }

    /// Bytes of the source.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `out` with the bytes from `offset` on, past what is kept.
    pub(crate) fn read(&mut self, offset: u64, out: &mut [u8]) -> Result<(), FormatError> {
        fits("shard", offset, out.len() as u64, self.bytes)?;
        Ok(self.source.read_exact_at(offset, out)?)
    }

    fn load(&mut self, offset: u64, needed: usize) -> Result<(), FormatError> {
        // Headers of small samples follow each other closely, and reading on costs less than a round trip; those of
        // large ones lie far apart, and what is between them would be read for nothing.
        let is_near = offset.checked_sub(self.asked_end).is_some_and(|gap| gap <= NEAR_BYTES);
        // Doubled from a page up: a shard of one large sample costs one small read, one of many small samples soon
        // comes in parts of 256 KiB.
        self.part_bytes = if is_near { (self.part_bytes * 2).min(PART_BYTES_MAX) } else { PART_BYTES_MIN };
        let wanted = if is_near { self.part_bytes.max(needed) } else { needed };
        let part = (self.bytes - offset).min(wanted as u64) as usize;
        self.buffer.resize(part, 0);
        self.from = offset;
        let read = self.source.read_exact_at(offset, &mut self.buffer);
        // What is in the buffer now is neither the old part nor the new one.
        if read.is_err() {
            self.buffer.clear();
        }
        Ok(read?)
    }
}

impl Input for Window<'_> {
    fn at(&mut self, what: &'static str, offset: u64, needed: usize) -> Result<Option<&[u8]>, FormatError> {
        // Exactly at its end a shard is whole; a header that begins before it and reaches over is a cut.
        if offset == self.bytes {
            return Ok(None);
        }
        fits(what, offset, needed as u64, self.bytes)?;
        let end = offset + needed as u64;
        if offset < self.from || end > self.from + self.buffer.len() as u64 {
            self.load(offset, needed)?;
        }
        self.asked_end = end;
        let from = (offset - self.from) as usize;
        Ok(Some(&self.buffer[from..from + needed]))
    }

    fn has(&mut self, what: &'static str, offset: u64, bytes: u64) -> Result<(), FormatError> {
        fits(what, offset, bytes, self.bytes)
    }
}
