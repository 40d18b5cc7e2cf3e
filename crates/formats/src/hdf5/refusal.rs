//! What is said of a file that is not read.

use crate::error::FormatError;

/// Something at `offset` of the file that is broken, or that is not read.
pub(crate) fn malformed(found: impl Into<String>, offset: u64) -> FormatError {
    FormatError::Malformed { layout: "hdf5", found: found.into(), offset }
}
