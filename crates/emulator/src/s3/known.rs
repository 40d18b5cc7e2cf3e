//! The parts of a request that are known. All others are refused: a 200 would say that they were honoured.

use s3s::{S3Request, S3Result, s3_error};

use super::description::METADATA;

/// Parts of the query that say who asks, or with what. Signing is for `s3s` to look at.
const CARRIED_QUERIES: [&str; 12] = [
    "AWSAccessKeyId",
    "Expires",
    "Signature",
    "X-Amz-Algorithm",
    "X-Amz-Content-Sha256",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "x-id",
];

/// Headers that say who asks, or how a body is sent.
// What SDKs and command lines add to every request by themselves must not be refused.
const CARRIED_HEADERS: [&str; 10] = [
    "x-amz-api-version",
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-decoded-content-length",
    "x-amz-request-payer",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-security-token",
    "x-amz-te",
    "x-amz-trailer",
    "x-amz-user-agent",
];

/// What a request may ask for because it is so in any case.
const ANYHOW: [(&str, &str); 5] = [
    ("x-amz-acl", "bucket-owner-full-control"),
    ("x-amz-acl", "private"),
    ("x-amz-storage-class", "STANDARD"),
    ("x-amz-tagging-directive", "COPY"),
    ("versionId", "null"),
];

/// Conditions of a read.
pub(super) const READING: &[&str] =
    &["if-match", "if-modified-since", "if-none-match", "if-unmodified-since"];

/// Conditions of a write.
pub(super) const WRITING: &[&str] = &["if-match", "if-none-match"];

/// The request for checksums, of which none is kept.
pub(super) const CHECKED: &[&str] = &["x-amz-checksum-mode"];

/// Digests of a body.
pub(super) const DIGESTS: &[&str] = &[
    "x-amz-checksum-crc32",
    "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme",
    "x-amz-checksum-sha1",
    "x-amz-checksum-sha256",
];

/// How checksums of parts and of their whole are to be kept, of which none is.
pub(super) const SUMMED: &[&str] = &["x-amz-checksum-algorithm", "x-amz-checksum-type"];

/// A client's own metadata, by what its headers begin with.
pub(super) const DESCRIPTION: &[&str] = &[METADATA];

/// The source of a copy.
pub(super) const SOURCE: &[&str] = &[
    "x-amz-copy-source",
    "x-amz-copy-source-if-match",
    "x-amz-copy-source-if-modified-since",
    "x-amz-copy-source-if-none-match",
    "x-amz-copy-source-if-unmodified-since",
];

/// Headers of a response that the query of a read says.
pub(super) const SAID: &[&str] = &[
    "response-cache-control",
    "response-content-disposition",
    "response-content-encoding",
    "response-content-language",
    "response-content-type",
    "response-expires",
];

/// The pages of a listing, in its second version and in its first.
pub(super) const PAGES: [&[&str]; 2] = [
    &[
        "continuation-token",
        "delimiter",
        "encoding-type",
        "fetch-owner",
        "list-type",
        "max-keys",
        "prefix",
        "start-after",
    ],
    &["delimiter", "encoding-type", "marker", "max-keys", "prefix"],
];

/// Refuses a request that asks for more than these queries and headers can say.
pub(super) fn only<T>(request: &S3Request<T>, queries: &[&str], headers: &[&[&str]]) -> S3Result<()> {
    for pair in request.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_known = queries.contains(&name) || CARRIED_QUERIES.contains(&name);
        if !is_known && !ANYHOW.contains(&(name, value)) {
            return Err(s3_error!(
                NotImplemented,
                "?{name} is nothing that the emulated server does; leave it out"
            ));
        }
    }
    for (name, value) in &request.headers {
        let name = name.as_str();
        // All others are HTTP's own: what a server does not know of those it may pass over.
        if !name.starts_with("x-amz-") && !name.starts_with("if-") {
            continue;
        }
        let is = |known: &&str| name == *known || (*known == METADATA && name.starts_with(METADATA));
        let is_known = headers.iter().any(|known| known.iter().any(is)) || CARRIED_HEADERS.contains(&name);
        if !is_known && !ANYHOW.contains(&(name, value.to_str().unwrap_or_default())) {
            return Err(s3_error!(
                NotImplemented,
                "{name} is nothing that the emulated server does; leave it out"
            ));
        }
    }
    Ok(())
}
