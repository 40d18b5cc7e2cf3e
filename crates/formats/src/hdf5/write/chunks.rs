//! The chunks of a dataset, and how many bytes of each are stored.

use crate::error::FormatError;
use crate::hdf5::refusal::LAYOUT;

/// The chunks of a dataset.
pub(super) enum Chunks {
    /// As many of all.
    Even { count: u64, bytes: u32 },
    /// As packing made them.
    Packed(Vec<u32>),
}

impl Chunks {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Even { count, .. } => *count,
            Self::Packed(sizes) => sizes.len() as u64,
        }
    }

    /// Of the chunk of that number; 0 where there is none.
    pub(super) fn bytes(&self, number: u64) -> u32 {
        match self {
            Self::Even { count, bytes } => u32::from(number < *count) * bytes,
            Self::Packed(sizes) => {
                usize::try_from(number).ok().and_then(|number| sizes.get(number)).copied().unwrap_or(0)
            }
        }
    }

    /// Of all of them.
    pub(super) fn total(&self) -> u64 {
        match self {
            Self::Even { count, bytes } => count.saturating_mul(u64::from(*bytes)),
            Self::Packed(sizes) => sizes.iter().map(|bytes| u64::from(*bytes)).sum(),
        }
    }
}

/// Bytes of a chunk, in as many bits as a file has for them.
pub(super) fn chunk_bytes(bytes: u64) -> Result<u32, FormatError> {
    u32::try_from(bytes)
        .map_err(|_| FormatError::unwritable(LAYOUT, format!("a chunk of {bytes} B, beyond 32 bits")))
}
