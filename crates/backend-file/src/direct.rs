//! Direct I/O that a file system does not do.

use std::path::Path;

use backend::StoreError;

use crate::file_system::FileSystem;

/// Says which file system it is, and what to do. One in memory opens files for direct I/O and then copies memory all
/// the same.
pub(crate) fn refused(at: &Path, on: Option<FileSystem>) -> StoreError {
    let (name, in_memory) =
        on.map_or(("the file system".to_owned(), false), |found| (found.name, found.in_memory));
    let hint = if in_memory {
        "put the target on a disk: this one is memory".to_owned()
    } else {
        "set `load.cache = \"cold\"` or `\"warm\"` for this target".to_owned()
    };
    StoreError::Unavailable {
        what: "direct I/O".to_owned(),
        reason: format!("it is not honoured by {name} at `{}`", at.display()),
        hint,
    }
}
