//! The statuses by which a server refuses a call.

use std::{fmt, io};

use backend::{ErrorKind, OpError};

/// `nfsstat3` (RFC 1813 section 2.6), known or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u32);

impl Status {
    pub(crate) const OK: Self = Self(0);
    pub(crate) const PERM: Self = Self(1);
    pub(crate) const NOENT: Self = Self(2);
    pub(crate) const IO: Self = Self(5);
    pub(crate) const ACCES: Self = Self(13);
    pub(crate) const EXIST: Self = Self(17);
    pub(crate) const NOTDIR: Self = Self(20);
    pub(crate) const ISDIR: Self = Self(21);
    pub(crate) const NOSPC: Self = Self(28);
    pub(crate) const ROFS: Self = Self(30);
    pub(crate) const MLINK: Self = Self(31);
    pub(crate) const NOTEMPTY: Self = Self(66);
    pub(crate) const DQUOT: Self = Self(69);
    pub(crate) const STALE: Self = Self(70);
    pub(crate) const BADHANDLE: Self = Self(10_001);
    pub(crate) const NOTSUPP: Self = Self(10_004);
    pub(crate) const SERVERFAULT: Self = Self(10_006);
    pub(crate) const JUKEBOX: Self = Self(10_008);

    fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "NFS3_OK",
            1 => "NFS3ERR_PERM",
            2 => "NFS3ERR_NOENT",
            5 => "NFS3ERR_IO",
            6 => "NFS3ERR_NXIO",
            13 => "NFS3ERR_ACCES",
            17 => "NFS3ERR_EXIST",
            18 => "NFS3ERR_XDEV",
            19 => "NFS3ERR_NODEV",
            20 => "NFS3ERR_NOTDIR",
            21 => "NFS3ERR_ISDIR",
            22 => "NFS3ERR_INVAL",
            27 => "NFS3ERR_FBIG",
            28 => "NFS3ERR_NOSPC",
            30 => "NFS3ERR_ROFS",
            31 => "NFS3ERR_MLINK",
            63 => "NFS3ERR_NAMETOOLONG",
            66 => "NFS3ERR_NOTEMPTY",
            69 => "NFS3ERR_DQUOT",
            70 => "NFS3ERR_STALE",
            71 => "NFS3ERR_REMOTE",
            10_001 => "NFS3ERR_BADHANDLE",
            10_002 => "NFS3ERR_NOT_SYNC",
            10_003 => "NFS3ERR_BAD_COOKIE",
            10_004 => "NFS3ERR_NOTSUPP",
            10_005 => "NFS3ERR_TOOSMALL",
            10_006 => "NFS3ERR_SERVERFAULT",
            10_007 => "NFS3ERR_BADTYPE",
            10_008 => "NFS3ERR_JUKEBOX",
            _ => return None,
        })
    }

    /// The error of an operation that fails with it.
    pub(crate) fn op_error(self) -> OpError {
        let kind = match self {
            Self::PERM | Self::ACCES | Self::ROFS => ErrorKind::Permission,
            Self::NOSPC | Self::DQUOT => ErrorKind::Full,
            Self::NOENT => ErrorKind::NotFound,
            Self::IO => ErrorKind::Io,
            // Alike for a reader: the handle that was found before the run has no file any more.
            Self::STALE | Self::BADHANDLE => ErrorKind::Stale,
            Self::SERVERFAULT => ErrorKind::Server,
            // RFC 1813 section 2.6: the request is to be made again later, as for a file on tape. It is
            // counted and not repeated: a retry inside an operation would hide in its latency.
            Self::JUKEBOX => ErrorKind::Throttled,
            _ => ErrorKind::Other,
        };
        OpError { kind, code: self.0 }
    }

    pub(crate) fn io_kind(self) -> io::ErrorKind {
        match self {
            Self::PERM | Self::ACCES => io::ErrorKind::PermissionDenied,
            Self::NOENT => io::ErrorKind::NotFound,
            Self::EXIST => io::ErrorKind::AlreadyExists,
            Self::NOTDIR => io::ErrorKind::NotADirectory,
            Self::ISDIR => io::ErrorKind::IsADirectory,
            Self::NOTEMPTY => io::ErrorKind::DirectoryNotEmpty,
            Self::NOSPC => io::ErrorKind::StorageFull,
            Self::DQUOT => io::ErrorKind::QuotaExceeded,
            Self::ROFS => io::ErrorKind::ReadOnlyFilesystem,
            Self::STALE | Self::BADHANDLE => io::ErrorKind::StaleNetworkFileHandle,
            Self::NOTSUPP => io::ErrorKind::Unsupported,
            Self::JUKEBOX => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::Other,
        }
    }

    /// What to do next, where the status alone says it.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::PERM | Self::ACCES => {
                "the server denies it to this user; where this is root, the export may have root_squash: run as the \
                 owner of the folder, or export it with no_root_squash"
            }
            Self::NOENT => "check the path; another client may have removed it",
            Self::ROFS => "the export is read-only: export it read-write, or measure data of your own",
            Self::STALE | Self::BADHANDLE => {
                "the server does not know the file any more: it was removed or exported anew; run again"
            }
            Self::JUKEBOX => {
                "the server asks to come back later: it may be recalling data from a slower tier"
            }
            Self::NOTSUPP => "the server does not do this over NFS version 3",
            Self::SERVERFAULT | Self::IO => "the server failed by its own account; see its log",
            _ => "see the server's log",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "unknown NFS status {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_counted_as_what_it_means() {
        for (code, kind) in [
            (10_008, ErrorKind::Throttled),
            (70, ErrorKind::Stale),
            (10_001, ErrorKind::Stale),
            (13, ErrorKind::Permission),
            (1, ErrorKind::Permission),
            (2, ErrorKind::NotFound),
            (5, ErrorKind::Io),
            (10_006, ErrorKind::Server),
            (21, ErrorKind::Other),
            (22, ErrorKind::Other),
            (4_711, ErrorKind::Other),
        ] {
            assert_eq!(Status(code).op_error(), OpError { kind, code });
        }
        assert_eq!(Status(4_711).to_string(), "unknown NFS status 4711");
        assert_eq!(Status::JUKEBOX.to_string(), "NFS3ERR_JUKEBOX");
    }
}
