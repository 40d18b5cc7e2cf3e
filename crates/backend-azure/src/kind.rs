//! The kinds of error that failures of the service are counted as, and the elements of its texts.

use backend::ErrorKind;
use backend_http::{Elements, kind_of_status};

/// What is looked for in texts of the service.
///
/// <https://learn.microsoft.com/rest/api/storageservices/list-blobs>
pub(crate) const ELEMENTS: Elements = Elements {
    listing: b"EnumerationResults",
    entries: [b"Blob", b"BlobPrefix"],
    token: b"NextMarker",
    truncated: None,
};

/// The kind of a reply other than a success, by its status and, where the service said one, its code.
///
/// <https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes> and
/// <https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes>
pub(crate) fn kind(status: u16, code: &str) -> ErrorKind {
    match code {
        // The service's own time limit for one operation, by status 500.
        "OperationTimedOut" => ErrorKind::Timeout,
        "ServerBusy" | "TooManyRequests" => ErrorKind::Throttled,
        "InvalidAuthenticationInfo" | "NoAuthenticationInformation" | "PublicAccessNotPermitted" => {
            ErrorKind::Permission
        }
        // Statuses 409 and 412 of a blob that cannot be read as it is: no other version of it was seen.
        "BlobArchived" | "BlobBeingRehydrated" | "InvalidBlobType" | "LeaseIdMissing" => ErrorKind::Other,
        _ => kind_of_status(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reply_is_of_the_kind_that_says_what_to_do_about_it() {
        for (status, code, expected) in [
            (503, "ServerBusy", ErrorKind::Throttled),
            (503, "", ErrorKind::Throttled),
            (500, "OperationTimedOut", ErrorKind::Timeout),
            (500, "InternalError", ErrorKind::Server),
            (403, "AuthenticationFailed", ErrorKind::Permission),
            (403, "AuthorizationPermissionMismatch", ErrorKind::Permission),
            (400, "InvalidAuthenticationInfo", ErrorKind::Permission),
            (401, "NoAuthenticationInformation", ErrorKind::Permission),
            (409, "PublicAccessNotPermitted", ErrorKind::Permission),
            (409, "BlobArchived", ErrorKind::Other),
            (404, "BlobNotFound", ErrorKind::NotFound),
            (404, "ContainerNotFound", ErrorKind::NotFound),
            (412, "ConditionNotMet", ErrorKind::Changed),
            (416, "InvalidRange", ErrorKind::Eof),
            (400, "InvalidQueryParameterValue", ErrorKind::Other),
        ] {
            assert_eq!(kind(status, code), expected, "{status} {code}");
        }
    }
}
