//! A shard of any codec, read forwards through one buffer.

use plan::Codec;

use crate::codec::Unpacked;
use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX};
use crate::shard::Source;

/// The unpacked bytes of a shard, of which one buffer is held, up to a limit.
pub(crate) struct Stream<'a> {
    unpacked: Unpacked<'a>,
    buffer: Vec<u8>,
    /// Offset in the unpacked shard of the first byte that is held.
    from: u64,
    start: usize,
    end: usize,
    packed_bytes: u64,
    ratio_max: u64,
}

impl<'a> Stream<'a> {
    /// At the beginning of a shard, which is said to hold `layout`.
    pub(crate) fn new(
        layout: &'static str,
        codec: Codec,
        source: &'a mut dyn Source,
        ratio_max: u64,
    ) -> Result<Self, FormatError> {
        let packed_bytes = source.bytes();
        let unpacked = Unpacked::new(layout, codec, source)?;
        let buffer = vec![0; PART_BYTES_MAX];
        Ok(Self { unpacked, buffer, from: 0, start: 0, end: 0, packed_bytes, ratio_max })
    }

    /// Reads what is left and forgets it, so that checksums at the end of the stream are looked at too.
    pub(crate) fn drain(&mut self) -> Result<(), FormatError> {
        loop {
            self.drop_held(self.end - self.start);
            if !self.more()? {
                return Ok(());
            }
        }
    }

    fn drop_held(&mut self, bytes: usize) {
        self.start += bytes;
        self.from += bytes as u64;
    }

    /// Reads on; false at the end.
    fn more(&mut self) -> Result<bool, FormatError> {
        if self.start > 0 {
            // What is held moves to the front: `at` returns one slice, and a header may lie across two reads.
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let read = self.unpacked.read(&mut self.buffer[self.end..])?;
        self.end += read;
        // Checked with every read, so that a bomb ends after one buffer too many and not after its gigabytes.
        if self.from + self.end as u64 > self.packed_bytes.saturating_mul(self.ratio_max) {
            return Err(FormatError::Expands { ratio: self.ratio_max, bytes: self.packed_bytes });
        }
        Ok(read > 0)
    }

    /// Goes on to `offset`; false where the shard ends before it.
    fn skip_to(&mut self, offset: u64) -> Result<bool, FormatError> {
        loop {
            let left = offset.saturating_sub(self.from);
            let held = self.end - self.start;
            self.drop_held(left.min(held as u64) as usize);
            if self.from >= offset {
                return Ok(true);
            }
            if !self.more()? {
                return Ok(false);
            }
        }
    }
}

impl Input for Stream<'_> {
    fn at(&mut self, what: &'static str, offset: u64, needed: usize) -> Result<Option<&[u8]>, FormatError> {
        self.has(what, offset, 0)?;
        while self.end - self.start < needed {
            if !self.more()? {
                let (needed_bytes, left_bytes) = (needed as u64, (self.end - self.start) as u64);
                if left_bytes == 0 {
                    return Ok(None);
                }
                return Err(FormatError::Truncated { what, offset, needed_bytes, left_bytes });
            }
        }
        Ok(Some(&self.buffer[self.start..self.start + needed]))
    }

    fn has(&mut self, what: &'static str, offset: u64, bytes: u64) -> Result<(), FormatError> {
        if !self.skip_to(offset.saturating_add(bytes))? {
            let left_bytes = self.from.saturating_sub(offset);
            return Err(FormatError::Truncated { what, offset, needed_bytes: bytes, left_bytes });
        }
        Ok(())
    }
}
