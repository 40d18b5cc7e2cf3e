//! Operations on whole files: a sample as a `DataLoader` fetches it (open, ask the size, read all, close), the
//! look at a name, the list of a folder, a file that is written anew in the place of another, and a name that is made and removed.
//!
//! Unlike the queues of single reads these open each file anew, since that is what is measured. Deliberately
//! absent: chains of linked entries (slower than separate stages, and a failed link ends those behind it),
//! lists through a ring, which has no such operation, and files written anew through one, whose stages its kernel hands
//! to threads.

mod anew;
mod entries;
mod made;
mod names;
mod pieces;
mod posix;
mod staged;
mod stages;

use std::path::Path;

use backend::{IoQueue, QueueSpec, StoreError};

use self::anew::WritesAnew;
use self::made::NamesMade;
use self::posix::PosixCalls;
use self::staged::StagedFiles;
use crate::inline::Inline;
use crate::kept;
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

/// A queue that writes whole files anew by blocking calls, each in the place of another.
pub(crate) fn open_anew(root: &Path, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
    // First: without proof nothing is opened.
    let durability = spec.may_write()?;
    kept::release(spec.objects);
    let names = names::shared(root, spec)?;
    Ok(Box::new(Inline::new(WritesAnew::open(names, durability, spec)?, spec.clock)))
}

/// A queue that makes, renames and removes empty files by blocking calls.
pub(crate) fn open_names(root: &Path, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
    spec.may_write()?;
    let names = names::shared(root, spec)?;
    Ok(Box::new(Inline::new(NamesMade::open(names, spec.clock), spec.clock)))
}

/// A ring makes, renames and writes back files in threads of the kernel, which would be measured in place of the storage.
pub(crate) fn not_anew() -> StoreError {
    StoreError::Unsupported { store: "the engine io_uring", action: "make and rename files" }
}

/// Files are opened ahead to be mapped; opening them is what would be measured.
pub(crate) fn not_mapped() -> StoreError {
    StoreError::Unsupported { store: "the engine mmap", action: "open, look at or list what it reads" }
}
