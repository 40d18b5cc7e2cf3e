//! The kinds of error that failures are counted as, by what HTTP itself says.

use backend::{ErrorKind, OpError};

/// The kind of a reply other than a success, by its status alone.
pub fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        408 => ErrorKind::Timeout,
        // Services ask for fewer requests by 503 or by 429. Neither is a fault of the server.
        429 | 503 => ErrorKind::Throttled,
        300..=303 | 305..=399 => ErrorKind::Redirect,
        401 | 403 => ErrorKind::Permission,
        404 | 410 => ErrorKind::NotFound,
        304 | 409 | 412 => ErrorKind::Changed,
        416 => ErrorKind::Eof,
        407 | 100..=299 => ErrorKind::Protocol,
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::Other,
    }
}

/// A failure without a number.
pub fn plain(kind: ErrorKind) -> OpError {
    OpError { kind, code: 0 }
}
