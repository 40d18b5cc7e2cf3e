//! Why a call of the control plane failed, and what a user is told.

use std::io;
use std::time::Duration;

use backend::StoreError;
use nfs3_client::RpcError;
use nfs3_types::rpc::auth_stat;

use crate::status::Status;
use crate::xdr::Unread;

/// A call that brought no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server's answer.
    #[error("{0}")]
    Status(Status),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    /// No connection in time.
    #[error("no connection within {} s", .0.as_secs_f64())]
    ConnectTimeout(Duration),
    /// No reply in time.
    #[error("no reply within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// The server refuses whoever calls.
    #[error("the server refuses the credentials ({0})")]
    Denied(auth_stat),
    /// The server has not this version of the program.
    #[error("the server has no version {wanted} of the {program} program, only {low} to {high}")]
    Version { program: &'static str, wanted: u32, low: u32, high: u32 },
    /// The server has not this program, or not this procedure.
    #[error("the server does not offer {0}")]
    Absent(&'static str),
    /// The pages of a folder lead back to one that was read.
    #[error("the listing comes back to where it was (cookie {0:#x}), and never ends")]
    Endless(u64),
    /// What came is no reply.
    #[error("the reply makes no sense: {0}")]
    Protocol(String),
}

impl Failure {
    /// What an error of the client library means.
    pub(crate) fn of(error: RpcError, program: &'static str) -> Self {
        match error {
            // `connect::Io` says so of records that are no replies.
            RpcError::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Self::Protocol(error.to_string())
            }
            RpcError::Io(error) => Self::Broken(error),
            RpcError::Auth(stat) => Self::Denied(stat),
            RpcError::ProgMismatch { low, high } => Self::Version { program, wanted: 3, low, high },
            RpcError::ProgUnavail => Self::Absent(program),
            RpcError::ProcUnavail => Self::Absent("this procedure"),
            // RFC 5531 section 9: an error of the server's own, such as a lack of memory, before the
            // procedure ran.
            RpcError::SystemErr => Self::Status(Status::SERVERFAULT),
            other => Self::Protocol(other.to_string()),
        }
    }

    pub(crate) fn status(&self) -> Option<Status> {
        if let Self::Status(status) = self { Some(*status) } else { None }
    }

    pub(crate) fn is(&self, status: Status) -> bool {
        self.status() == Some(status)
    }

    /// Whether the server does not know the handle any more.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.status(), Some(Status::STALE | Status::BADHANDLE))
    }

    /// Whether the server lacks the procedure.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.is(Status::NOTSUPP) || matches!(self, Self::Absent(_))
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Status(status) => status.hint(),
            Self::Connect(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "nothing listens there: check that the NFS server runs, and its port"
            }
            Self::Connect(_) => "check the server's address and the network between",
            Self::ConnectTimeout(_) => {
                "the network drops the packets: check the server's address, and firewalls for the ports 111, 2049 \
                 and that of mountd"
            }
            Self::Timeout(_) => {
                "the server took the call and stays silent: see whether it hangs, and its log"
            }
            Self::Broken(_) => {
                "the server, or something between, closed the connection; see the server's log"
            }
            Self::Denied(auth_stat::AUTH_TOOWEAK) => {
                "the server wants more than AUTH_SYS from this port: export it with sec=sys, and with `insecure` where \
                 this user may not use ports below 1024"
            }
            Self::Denied(_) => "export the folder to this host with sec=sys",
            Self::Version { .. } | Self::Absent(_) => {
                "feedline speaks NFS version 3 over TCP: enable it on the server, or mount the export with the kernel's \
                 client and measure the mount point"
            }
            Self::Endless(_) => {
                "the server gives two entries of this folder the same place, as some file systems do with many names in \
                 one folder: spread the files over more folders, or see the server's release notes"
            }
            Self::Protocol(_) => "check that an NFS server listens at this port",
        }
    }

    /// As an operating-system error, whose text ends with the hint.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match &self {
            Self::Status(status) => status.io_kind(),
            Self::Connect(error) | Self::Broken(error) => error.kind(),
            Self::ConnectTimeout(_) | Self::Timeout(_) => io::ErrorKind::TimedOut,
            Self::Denied(_) => io::ErrorKind::PermissionDenied,
            Self::Version { .. } | Self::Absent(_) => io::ErrorKind::Unsupported,
            // InvalidData is kept for names that cannot be keys.
            Self::Protocol(_) | Self::Endless(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, format!("{self}\n  hint: {}", self.hint()))
    }

    /// A failed operation on one object.
    pub(crate) fn object(self, action: &'static str, object: impl Into<String>) -> StoreError {
        StoreError::Object { action, object: object.into(), source: self.into_io() }
    }

    /// A failed write: a full disk and an exhausted quota are one thing to the user.
    pub(crate) fn written(self, action: &'static str, object: impl Into<String>) -> StoreError {
        match self.status() {
            Some(Status::NOSPC | Status::DQUOT) => StoreError::Full { object: object.into() },
            Some(Status::EXIST) => StoreError::Exists { object: object.into() },
            _ => self.object(action, object),
        }
    }

    /// A storage that cannot be used at all.
    pub(crate) fn unavailable(&self, what: impl Into<String>) -> StoreError {
        StoreError::Unavailable { what: what.into(), reason: self.to_string(), hint: self.hint().to_owned() }
    }
}

/// A control reply is there in full: one that ends before its values was cut by the server.
impl From<Unread> for Failure {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::More(_) => Self::Protocol("it ends too early".to_owned()),
            Unread::Wrong(what) => Self::Protocol(what.to_owned()),
        }
    }
}
