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

/// What to do about a gateway that sends elsewhere.
pub(crate) const GATEWAYS_FETCH: &str =
    "let its gateways fetch what they are asked for (`ais config cluster features S3-Reverse-Proxy`)";

/// What is said of a reply by which a gateway of `AIStore` sends a read or a write on to the node that holds the object;
/// `None` of other replies.
///
/// It is 307 with the code and the endpoint in its text, unless the cluster is told that gateways fetch:
/// <https://docs.nvidia.com/aistore/s3compat>.
// Not followed: the node's connections would be opened, counted and given up while reads are timed, each read would be two, and
// the signature goes to the endpoint that the user named alone.
pub(crate) fn sent_on(code: &str, endpoint: &str) -> Option<String> {
    // S3 names a host. AIStore names one with the path of its interface, or of the object.
    let is_of_host = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
    let (node, _) = endpoint.split_once('/')?;
    (code == "TemporaryRedirect" && !node.is_empty() && node.chars().all(is_of_host)).then(|| {
        format!("a gateway of AIStore sends each read and write on to a node ({node}), which is not followed")
    })
}

/// A failure by its status.
pub(crate) fn error(status: u16, code: &str) -> OpError {
    OpError { kind: kind(status, code), code: u32::from(status) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_sends_on_is_told_from_a_bucket_that_is_elsewhere() {
        let node = sent_on("TemporaryRedirect", "10.0.0.7:51081/s3").unwrap();
        assert!(node.contains("AIStore") && node.contains("(10.0.0.7:51081)"), "{node}");
        assert!(sent_on("TemporaryRedirect", "10.0.0.7:51081/bucket/key?pid=x").is_some());
        for (code, endpoint) in [
            ("TemporaryRedirect", "bucket.s3.eu-south-2.amazonaws.com"),
            ("TemporaryRedirect", ""),
            ("TemporaryRedirect", "/s3"),
            ("TemporaryRedirect", "a b\n/s3"),
            ("PermanentRedirect", "10.0.0.7/s3"),
        ] {
            assert_eq!(sent_on(code, endpoint), None, "{code} {endpoint}");
        }
    }

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
