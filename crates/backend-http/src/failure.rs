//! Calls of a control plane that failed, in words.

use std::io;

use backend::{ErrorKind, StoreError};

/// Status, code and message in one line; a status of 0 stands for no reply, an empty text for none.
pub fn failure_text(status: u16, code: &str, message: &str) -> String {
    let status = (status > 0).then(|| status.to_string());
    let head: Vec<&str> =
        status.as_deref().into_iter().chain([code]).filter(|part| !part.is_empty()).collect();
    match (head.is_empty(), message.is_empty()) {
        (true, _) => message.to_owned(),
        (false, true) => head.join(" "),
        (false, false) => format!("{}: {message}", head.join(" ")),
    }
}

/// A failure of a store, of one object, with what to do about it; `permissions` says which rights are needed.
pub fn object_error(
    (action, object): (&'static str, &str),
    (failed, text): (ErrorKind, &str),
    permissions: &str,
) -> StoreError {
    let (kind, hint) = match failed {
        ErrorKind::NotFound => (io::ErrorKind::NotFound, "was it removed meanwhile?"),
        ErrorKind::Permission => (io::ErrorKind::PermissionDenied, permissions),
        ErrorKind::Timeout => (io::ErrorKind::TimedOut, "is the service overloaded, or gone?"),
        ErrorKind::Connect | ErrorKind::Reset | ErrorKind::Truncated => {
            (io::ErrorKind::ConnectionReset, "is the service running, and the network up?")
        }
        ErrorKind::Throttled => {
            (io::ErrorKind::Other, "the service asks for fewer requests: try again later")
        }
        _ => (io::ErrorKind::Other, "the service's own log says more"),
    };
    let source = io::Error::new(kind, format!("{text}\n  hint: {hint}"));
    StoreError::Object { action, object: object.to_owned(), source }
}
