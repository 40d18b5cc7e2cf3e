//! One read.

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
