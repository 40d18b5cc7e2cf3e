//! What is said of a file that is not read.

use crate::error::FormatError;

/// Name of the layout.
pub(crate) const LAYOUT: &str = "hdf5";

/// Something at `offset` of the file that is broken, or that is not read.
pub(crate) fn malformed(found: impl Into<String>, offset: u64) -> FormatError {
    FormatError::Malformed { layout: LAYOUT, found: found.into(), offset }
}
