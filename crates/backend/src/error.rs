//! Failures, by kind: of one operation, of a queue, of a store.

use std::fmt;

use dataset::Key;

/// Why one operation failed. Kinds are what a record counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// The object ended before the bytes asked: it was truncated.
    Eof,
    /// The object is gone.
    NotFound,
    /// The object does not have the size that the plan knows.
    Changed,
    /// Access was denied.
    Permission,
    /// The device or transport failed (`EIO` and its like).
    Io,
    /// The bytes are not those that were written.
    Corrupt,
    /// No room is left: the storage or a quota is full.
    Full,
    /// No file could be opened: the limit of open files is reached.
    TooManyOpen,
    /// The server took longer than its time-out.
    Timeout,
    /// The server asks to come back later: 503 `SlowDown`, `NFS3ERR_JUKEBOX`.
    Throttled,
    /// The server reports a failure of its own: another 5xx, `NFS3ERR_SERVERFAULT`.
    Server,
    /// The file that a handle stands for is gone (`NFS3ERR_STALE`).
    Stale,
    /// The connection ended while the operation was under way.
    Reset,
    /// No connection could be made: refused, unreachable, a name without address, a certificate not trusted.
    Connect,
    /// The reply ended before the bytes that it had promised.
    Truncated,
    /// The reply makes no sense in this protocol, or is of a form that is not read here.
    Protocol,
    /// The server sends elsewhere: another region or endpoint.
    Redirect,
    /// Anything else; the code says which.
    Other,
}

feed::words!(ErrorKind {
    Eof = "eof",
    NotFound = "not_found",
    Changed = "changed",
    Permission = "permission",
    Io = "io",
    Corrupt = "corrupt",
    Full = "full",
    TooManyOpen = "too_many_open",
    Timeout = "timeout",
    Throttled = "throttled",
    Server = "server",
    Stale = "stale",
    Reset = "reset",
    Connect = "connect",
    Truncated = "truncated",
    Protocol = "protocol",
    Redirect = "redirect",
    Other = "other",
});

impl ErrorKind {
    /// Whether another attempt may end well: the failure is one of the moment, not of what was asked.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            // An I/O error of a local disk is not among them: the kernel has tried again already, and a second
            // attempt would hide a failing device.
            Self::Throttled | Self::Server | Self::Reset | Self::Connect | Self::Truncated | Self::Timeout
        )
    }

    /// Whether nobody answered to the end at the address.
    pub fn is_lost(self) -> bool {
        // Not one that timed out: a server that is silent for its time-out may answer the next.
        matches!(self, Self::Reset | Self::Connect | Self::Truncated)
    }

    /// The kind of an operating-system error number.
    pub fn from_errno(errno: i32) -> Self {
        match errno {
            // Only numbers that a read, a write, a look or a connection can end with; all others are counted with their code,
            // which the first failure's words repeat.
            libc::ENOENT => Self::NotFound,
            libc::ESTALE => Self::Stale,
            libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Self::Reset,
            libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EADDRNOTAVAIL => {
                Self::Connect
            }
            // A file system that became read-only says EROFS of every write.
            libc::EACCES | libc::EPERM | libc::EROFS => Self::Permission,
            libc::EIO | libc::EREMOTEIO | libc::ENXIO | libc::ENODEV => Self::Io,
            libc::ENOSPC | libc::EDQUOT => Self::Full,
            // ENFILE is the limit of the whole machine; what a user does about either is the same.
            libc::EMFILE | libc::ENFILE => Self::TooManyOpen,
            libc::ETIMEDOUT | libc::ETIME => Self::Timeout,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failed operation. `Copy`: a storm of failures allocates nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpError {
    /// What a record counts.
    pub kind: ErrorKind,
    /// The operating system's or protocol's own number; 0 when there is none.
    pub code: u32,
}

impl OpError {
    /// From an operating-system error number.
    pub fn from_errno(errno: i32) -> Self {
        Self { kind: ErrorKind::from_errno(errno), code: errno.unsigned_abs() }
    }
}

/// A queue that cannot go on: what was asked of it is lost, and so is the repetition.
#[derive(Debug, thiserror::Error)]
#[error("{engine}: cannot {action}: {source}\n  hint: {hint}")]
pub struct QueueError {
    /// The engine.
    pub engine: &'static str,
    /// What was attempted.
    pub action: &'static str,
    /// What to do next.
    pub hint: String,
    /// The cause.
    pub source: std::io::Error,
}

/// A failure of a store, outside of any measurement.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The machine or the storage cannot do what was asked; the scenario's `on_unavailable` decides.
    #[error("{what} is not available: {reason}\n  hint: {hint}")]
    Unavailable {
        /// The engine or option.
        what: String,
        /// Which limit or refusal.
        reason: String,
        /// What to do next.
        hint: String,
    },
    /// A server takes no connection: it is away, or was never there.
    #[error("{what} is not available: {reason}\n  hint: {hint}")]
    NoConnection {
        /// Who wanted it, to which address.
        what: String,
        /// How it was refused.
        reason: String,
        /// What to do next.
        hint: String,
    },
    /// An operation on one object failed.
    #[error("cannot {action} `{object}`: {source}")]
    Object {
        /// What was attempted.
        action: &'static str,
        /// Path or key, as the user would write it.
        object: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The storage is full, or a quota is.
    #[error(
        "no space left while writing `{object}`\n  hint: free some space, or make `dataset.size` smaller"
    )]
    Full {
        /// Path or key.
        object: String,
    },
    /// The object exists; feedline never overwrites.
    #[error("`{object}` exists already and is never overwritten")]
    Exists {
        /// Path or key.
        object: String,
    },
    /// The folder is not feedline's: it carries no marker of its own.
    #[error("`{folder}` carries no marker of feedline; nothing in it is written or removed")]
    NotOwned {
        /// The folder.
        folder: Key,
    },
    /// This store cannot do that at all.
    #[error("{store} cannot {action}")]
    Unsupported {
        /// The store, in words.
        store: &'static str,
        /// What was attempted.
        action: &'static str,
    },
}

impl StoreError {
    /// What a record counts it as.
    pub fn kind(&self) -> ErrorKind {
        let source = match self {
            Self::Object { source, .. } => source,
            Self::NoConnection { .. } => return ErrorKind::Connect,
            // The others are answers of feedline's own, before any storage was asked.
            _ => return ErrorKind::Other,
        };
        // The number first: `io::ErrorKind` has no kind of its own for a stale handle or a failed device.
        if let Some(errno) = source.raw_os_error() {
            return ErrorKind::from_errno(errno);
        }
        // Without a number it was made by a library or by feedline itself, which chose a kind.
        match source.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            std::io::ErrorKind::TimedOut => ErrorKind::Timeout,
            std::io::ErrorKind::ConnectionReset
            | std::io::ErrorKind::ConnectionAborted
            | std::io::ErrorKind::BrokenPipe => ErrorKind::Reset,
            std::io::ErrorKind::ConnectionRefused
            | std::io::ErrorKind::HostUnreachable
            | std::io::ErrorKind::NetworkUnreachable => ErrorKind::Connect,
            std::io::ErrorKind::UnexpectedEof => ErrorKind::Eof,
            _ => ErrorKind::Other,
        }
    }
}
