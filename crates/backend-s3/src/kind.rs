//! The kinds of error that failures of the service are counted as.

use backend::{ErrorKind, OpError};
use backend_http::{Elements, kind_of_status};

/// What is looked for in texts of S3.
pub(crate) const ELEMENTS: Elements = Elements {
    listing: b"ListBucketResult",
    entries: [b"Key", b"CommonPrefixes"],
    token: b"NextContinuationToken",
    truncated: Some(b"IsTruncated"),
};

/// The kind of a reply other than a success, by its status and, where it was read, the code in its text.
///
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>
pub(crate) fn kind(status: u16, code: &str) -> ErrorKind {
    match (status, code) {
        (_, "RequestTimeout") => ErrorKind::Timeout,
        (_, "SlowDown" | "ServiceUnavailable" | "Throttling" | "ThrottlingException" | "TooManyRequests") => {
            ErrorKind::Throttled
        }
        // A signature for another region than the bucket's.
        (_, "AuthorizationHeaderMalformed" | "PermanentRedirect" | "TemporaryRedirect") => {
            ErrorKind::Redirect
        }
        // S3 answers an expired token with 400.
        (400, "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired") => ErrorKind::Permission,
        _ => kind_of_status(status),
    }
}

/// A failure by its status.
pub(crate) fn error(status: u16, code: &str) -> OpError {
    OpError { kind: kind(status, code), code: u32::from(status) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reply_is_of_the_kind_that_says_what_to_do_about_it() {
        for (status, code, expected) in [
            (503, "SlowDown", ErrorKind::Throttled),
            (503, "", ErrorKind::Throttled),
            (429, "", ErrorKind::Throttled),
            (400, "RequestTimeout", ErrorKind::Timeout),
            (400, "ExpiredToken", ErrorKind::Permission),
            (400, "AuthorizationHeaderMalformed", ErrorKind::Redirect),
            (400, "InvalidArgument", ErrorKind::Other),
            (301, "PermanentRedirect", ErrorKind::Redirect),
            (307, "", ErrorKind::Redirect),
            (403, "RequestTimeTooSkewed", ErrorKind::Permission),
            (401, "", ErrorKind::Permission),
            (404, "NoSuchKey", ErrorKind::NotFound),
            (407, "", ErrorKind::Protocol),
            (412, "PreconditionFailed", ErrorKind::Changed),
            (416, "InvalidRange", ErrorKind::Eof),
            (500, "InternalError", ErrorKind::Server),
            (502, "", ErrorKind::Server),
            (504, "", ErrorKind::Server),
        ] {
            assert_eq!(kind(status, code), expected, "{status} {code}");
        }
    }
}
