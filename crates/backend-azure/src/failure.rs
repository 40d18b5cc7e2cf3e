//! Calls that failed, in words.

use std::io;

use backend::{ErrorKind, OpError, StoreError};
use backend_http::{Scan, failure_text, object_error, one_line, plain};

use crate::kind::{self, ELEMENTS};
use crate::rights::Rights;

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    /// Of the reply; 0 where there was none.
    pub(crate) status: u16,
    /// What the service calls it; empty where it did not say.
    pub(crate) code: String,
    /// The service's message, or the cause. Without secrets.
    pub(crate) message: String,
    /// The error of an operation that fails in this way.
    pub(crate) error: OpError,
}

impl Failed {
    /// A reply other than a success. `named` is what its head calls it.
    pub(crate) fn of_reply(status: u16, named: &str, text: &[u8], rights: &Rights) -> Self {
        let mut scan = Scan::new(&ELEMENTS);
        scan.push(text);
        let code = if named.is_empty() { scan.code() } else { named };
        // Number and time of the request follow in lines of their own.
        let message = scan.message();
        let message = message.lines().next().unwrap_or_default().trim();
        Self {
            status,
            code: one_line(&rights.scrub(code)),
            message: one_line(&rights.scrub(message)),
            error: OpError { kind: kind::kind(status, code), code: u32::from(status) },
        }
    }

    /// A call without a reply.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        let known = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => plain(ErrorKind::Timeout),
            io::ErrorKind::UnexpectedEof => plain(ErrorKind::Truncated),
            io::ErrorKind::InvalidData => plain(ErrorKind::Protocol),
            _ => error.raw_os_error().map_or(plain(ErrorKind::Reset), OpError::from_errno),
        };
        let message = match known.kind {
            ErrorKind::Timeout => "no answer in time".to_owned(),
            _ => one_line(&error.to_string()),
        };
        Self { status: 0, code: String::new(), message, error: known }
    }

    /// In one line, without the object.
    pub(crate) fn text(&self) -> String {
        failure_text(self.status, &self.code, &self.message)
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.status == 404
    }

    /// The blob was there already.
    pub(crate) fn is_taken(&self) -> bool {
        // Blobs that are there are answered by 409, and the condition on others by 412.
        (self.status == 409 && self.code == "BlobAlreadyExists") || self.status == 412
    }

    /// As a failure of a store, of one blob.
    pub(crate) fn into_store(self, action: &'static str, object: &str) -> StoreError {
        object_error(
            (action, object),
            (self.error.kind, &self.text()),
            "a shared access signature needs the rights to read and list (sp=rl), and to prepare a dataset also to create, \
             write and delete (sp=rcwdl)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_text_code_and_first_line_are_kept_and_what_was_signed_is_not() {
        let text = b"\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>AuthenticationFailed</Code><Message>\
                     Server failed to authenticate the request.\nRequestId:1\nTime:2</Message>\
                     <AuthenticationErrorDetail>The MAC signature 'c2ln' differs: GET\n\n</AuthenticationErrorDetail></Error>";
        let failed = Failed::of_reply(403, "", text, &Rights::Anonymous);
        assert_eq!(failed.text(), "403 AuthenticationFailed: Server failed to authenticate the request.");
        assert_eq!(failed.error, OpError { kind: ErrorKind::Permission, code: 403 });
        let named = Failed::of_reply(404, "BlobNotFound", b"", &Rights::Anonymous);
        assert!(named.is_missing() && named.text() == "404 BlobNotFound", "{named:?}");
    }
}
