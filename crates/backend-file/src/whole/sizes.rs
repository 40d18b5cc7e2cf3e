//! What a look at a file says about it.

use backend::{ErrorKind, OpError};
use rustix::fs::FileType;

/// A file that is there with the size of the plan; the error says what else it is.
pub(super) fn judge(mode: u32, bytes: u64, planned: u64) -> Result<(), OpError> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile if bytes == planned => Ok(()),
        FileType::RegularFile => Err(OpError { kind: ErrorKind::Changed, code: 0 }),
        FileType::Symlink => Err(OpError::from_errno(libc::ELOOP)),
        FileType::Directory => Err(OpError::from_errno(libc::EISDIR)),
        _ => Err(OpError::from_errno(libc::EINVAL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_the_planned_size_is_well() {
        assert_eq!(judge(libc::S_IFREG | 0o644, 10, 10), Ok(()));
        assert_eq!(judge(libc::S_IFREG, 11, 10).unwrap_err().kind, ErrorKind::Changed);
        assert_eq!(judge(libc::S_IFLNK, 10, 10).unwrap_err().code, libc::ELOOP as u32);
        assert_eq!(judge(libc::S_IFDIR, 10, 10).unwrap_err().code, libc::EISDIR as u32);
        assert_eq!(judge(libc::S_IFIFO, 10, 10).unwrap_err().kind, ErrorKind::Other);
    }
}
