//! From the operating system's errors to the store's.

use std::io;
use std::path::Path;

use backend::{OpError, StoreError};
use rustix::io::Errno;

/// An operation on one object that failed.
pub(crate) fn object(action: &'static str, path: &Path, source: impl Into<io::Error>) -> StoreError {
    StoreError::Object { action, object: path.display().to_string(), source: source.into() }
}

/// A measured operation that failed.
pub(crate) fn of_operation(errno: Errno) -> OpError {
    OpError::from_errno(errno.raw_os_error())
}

/// A write that failed: a full disk and an exhausted quota are one thing to the user.
pub(crate) fn written(action: &'static str, path: &Path, errno: Errno) -> StoreError {
    match errno {
        Errno::NOSPC | Errno::DQUOT => StoreError::Full { object: path.display().to_string() },
        Errno::EXIST => StoreError::Exists { object: path.display().to_string() },
        _ => object(action, path, errno),
    }
}
