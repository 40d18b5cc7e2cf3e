//! The kinds of error that failures of the service are counted as.

use backend::{ErrorKind, OpError};

/// The kind of a reply other than a success, by its status and, where it was read, the code in its text.
///
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>
pub(crate) fn kind(status: u16, code: &str) -> ErrorKind {
    match (status, code) {
        (_, "RequestTimeout") | (408, _) => ErrorKind::Timeout,
        (_, "SlowDown" | "ServiceUnavailable" | "Throttling" | "ThrottlingException" | "TooManyRequests")
        // S3 asks for fewer requests by 503 SlowDown, other services by 429. Neither is a fault of the
        // server.
        | (429 | 503, _) => ErrorKind::Throttled,
        // A signature for another region than the bucket's.
        (_, "AuthorizationHeaderMalformed" | "PermanentRedirect" | "TemporaryRedirect")
        | (300..=303 | 305..=399, _) => ErrorKind::Redirect,
        // S3 answers an expired token with 400.
        (401 | 403, _) | (400, "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired") => {
            ErrorKind::Permission
        }
        (404 | 410, _) => ErrorKind::NotFound,
        (304 | 409 | 412, _) => ErrorKind::Changed,
        (416, _) => ErrorKind::Eof,
        (407 | 100..=299, _) => ErrorKind::Protocol,
        (500..=599, _) => ErrorKind::Server,
        _ => ErrorKind::Other,
    }
}

/// A failure by its status.
pub(crate) fn error(status: u16, code: &str) -> OpError {
    OpError { kind: kind(status, code), code: u32::from(status) }
}

/// A failure without a number.
pub(crate) fn plain(kind: ErrorKind) -> OpError {
    OpError { kind, code: 0 }
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
