//! One read.

use crate::Extent;

/// One read; of a folder, or of a file that is only looked at, its number alone has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSpan {
    /// Index of the object.
    pub object: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes asked; the last block of an object, or of a part of a unit, may be short.
    pub len: u64,
}

impl ReadSpan {
    /// The block that begins `offset` bytes after the beginning of a part of an object.
    #[inline]
    pub(super) fn within(part: Extent, offset: u64, block_bytes: u64) -> Self {
        Self { object: part.object, offset: part.offset + offset, len: block_bytes.min(part.bytes - offset) }
    }
}
