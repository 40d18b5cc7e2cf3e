//! Operations on whole files: a sample as a `DataLoader` fetches it (open, ask the size, read all, close), the
//! look at a name, and the list of a folder.
//!
//! Unlike the queues of single reads these open each file anew, since that is what is measured. Deliberately
//! absent: chains of linked entries (slower than separate stages, and a failed link ends those behind it),
//! and lists through a ring, which has no such operation.

mod entries;
mod names;
mod pieces;
mod posix;
mod staged;
mod stages;

use std::path::Path;

use backend::{IoQueue, QueueSpec, StoreError};

use self::posix::PosixCalls;
use self::staged::StagedFiles;
use crate::inline::Inline;
use crate::uring::turns::RingQueue;

/// A queue of blocking calls, one operation at a time.
pub(crate) fn open_posix(root: &Path, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
    let names = names::shared(root, spec)?;
    Ok(Box::new(Inline::new(PosixCalls::open(names, spec)?, spec.clock)))
}

/// A queue over a ring, with as many files under way as it is deep.
pub(crate) fn open_uring(root: &Path, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
    let names = names::shared(root, spec)?;
    Ok(Box::new(RingQueue(StagedFiles::open(names, spec)?)))
}

/// Files are opened ahead to be mapped; opening them is what would be measured.
pub(crate) fn not_mapped() -> StoreError {
    StoreError::Unsupported { store: "the engine mmap", action: "open, look at or list what it reads" }
}
