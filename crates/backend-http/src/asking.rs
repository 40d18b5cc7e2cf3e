//! What a queue asks, and of what.

use std::sync::Arc;

use backend::{ErrorKind, Op, OpError};
use dataset::{Key, Objects};
use plan::Operation;

use crate::etags::Etags;
use crate::kind::plain;

/// Ranges of one object that are fetched at once, at most.
pub const PARTS_MAX: u64 = plan::PARTS_AT_ONCE_MAX as u64;

/// What a queue asks, and of what.
#[derive(Debug)]
pub struct Asking {
    /// The objects.
    pub objects: Arc<Objects>,
    /// What was seen of them.
    pub etags: Arc<Etags>,
    /// What is done over and over.
    pub operation: Operation,
    /// Bytes of a buffer.
    pub block_bytes: u32,
    /// A whole object is fetched in ranges of this size; `None` fetches it by one request.
    pub part_bytes: Option<u64>,
    /// Whether each whole object is asked for its size first.
    pub head: bool,
    /// Prefixes that a folder's entries are spread over.
    pub roots: u32,
}

impl Asking {
    /// The folders that a queue of listings asks for, by their numbers; none for other operations.
    pub fn folders(&self) -> Vec<Option<Key>> {
        if self.operation == Operation::List { self.objects.folders() } else { Vec::new() }
    }

    /// Keys of one folder after which its listing is given up. Others may put files beside those of the dataset; only a
    /// service that makes up keys has more than this.
    pub fn keys_max(&self) -> u64 {
        2 * u64::from(self.objects.count()) + 100_000
    }

    /// Ranges of one object that are fetched at once.
    pub fn parts(&self) -> u64 {
        let Some(part_bytes) = self.part_bytes.filter(|_| self.operation == Operation::ReadFile) else {
            return 1;
        };
        self.objects.bytes_max().div_ceil(part_bytes.max(1)).clamp(1, PARTS_MAX)
    }

    /// Refuses an operation that the queue was not opened for, and one on what is not among its objects and `folders`.
    ///
    /// # Errors
    /// `EINVAL` of an operation of another kind; of what is not there, that it was not found.
    pub fn check(&self, op: Op, folders: usize) -> Result<(), OpError> {
        let is_object = |object: u32| object < self.objects.count();
        let (operation, is_known) = match op {
            Op::Read { object, .. } => (Operation::Read, is_object(object)),
            Op::ReadFile { object, .. } => (Operation::ReadFile, is_object(object)),
            Op::Stat { object } => (Operation::Stat, is_object(object)),
            Op::GetAttr { object } => (Operation::GetAttr, is_object(object)),
            Op::List { folder } => (Operation::List, (folder as usize) < folders),
            Op::WriteFile { object, .. } => (Operation::WriteFile, is_object(object)),
            // Refused as another operation than the queue was opened for: an object is replaced whole, and has one name.
            Op::Write { object, .. } => (Operation::Write, is_object(object)),
            Op::Names { object } => (Operation::Names, is_object(object)),
        };
        match is_known {
            _ if operation != self.operation => Err(OpError::from_errno(libc::EINVAL)),
            true => Ok(()),
            // HTTP/1.1 allows requests behind each other (RFC 9112, section 9.3.2), but replies come in
            // order: a large object would hold up all behind it.
            false => Err(plain(ErrorKind::NotFound)),
        }
    }
}
