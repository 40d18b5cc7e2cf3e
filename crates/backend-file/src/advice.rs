//! What the kernel is told of how open files are read: `posix_fadvise`, as fio's `fadvise_hint` has it.

use backend::{QueueSpec, StoreError};
use plan::{Advice, Cache, Operation};
use rustix::fd::OwnedFd;
use rustix::fs::{self, fadvise};
use rustix::io::Errno;

/// The advice on the files of a queue.
///
/// # Errors
/// Where the kernel would take it and nothing would follow from it.
pub(crate) fn of_files(spec: &QueueSpec<'_>) -> Result<Advice, StoreError> {
    let reason = match (spec.advice, spec.operation, spec.cache) {
        (Advice::Normal, ..) => return Ok(Advice::Normal),
        // Of a whole file it starts a read of all of it, which nobody asked for.
        (Advice::WillNeed, ..) => "`willneed` is advice on memory maps",
        (_, Operation::Read, Cache::Bypass) => "direct I/O reads nothing ahead",
        (_, Operation::Read, _) => return Ok(spec.advice),
        _ => "each file is opened anew, and read in full or not at all",
    };
    Err(StoreError::Unavailable {
        what: format!("the advice `{}`", spec.advice.name()),
        reason: reason.to_owned(),
        hint: "remove `load.fadvise`, or set `load.cache = \"cold\"` or `\"warm\"` and `load.operation = \"read\"`"
            .to_owned(),
    })
}

/// Tells the kernel of the whole file.
pub(crate) fn give(file: &OwnedFd, advice: Advice) -> Result<(), Errno> {
    let advice = match advice {
        // No call at all: `POSIX_FADV_NORMAL` would be one more of each file, and says what holds already.
        Advice::Normal => return Ok(()),
        Advice::Random => fs::Advice::Random,
        Advice::Sequential => fs::Advice::Sequential,
        Advice::WillNeed => return Err(Errno::INVAL),
    };
    fadvise(file, 0, None, advice)
}
