//! Sums that a service keeps of the bytes of an object: its checksums, and an ETag that is an MD5.

use std::time::Duration;

use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::types::{ChecksumMode, ServerSideEncryption};
use backend::{StoreError, Summed};
use dataset::Key;
use md5::{Digest as _, Md5};

use crate::failure;
use crate::open::Bucket;

/// Whether a reply has a checksum of all its bytes: one of an object that was uploaded in parts may be made of theirs
/// (it ends in their number), and the SDK passes over it.
pub(crate) fn has_checksum(reply: &GetObjectOutput) -> bool {
    let found = [
        reply.checksum_crc32(),
        reply.checksum_crc32_c(),
        reply.checksum_crc64_nvme(),
        reply.checksum_sha1(),
        reply.checksum_sha256(),
    ];
    // AWS marks such a composite checksum by a hyphen and the number of parts; it is of the parts' checksums
    // and not of the bytes.
    found.into_iter().flatten().any(|checksum| !checksum.contains('-'))
}

/// Whether a body broke off because its bytes have another checksum than its headers say. The SDK exports no type for
/// that error, so its text decides.
pub(crate) fn is_mismatch(causes: &str) -> bool {
    causes.contains("checksum mismatch")
}

/// The MD5 of the bytes, where the ETag of a reply has the form of one: 32 hexadecimal digits, of an object that was
/// uploaded at once and is encrypted by the service's own keys or not at all.
///
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html>
fn md5_of_etag(reply: &GetObjectOutput) -> Option<u128> {
    let own_keys = matches!(reply.server_side_encryption(), None | Some(ServerSideEncryption::Aes256))
        && reply.sse_customer_algorithm().is_none();
    let digits = reply.e_tag()?.strip_prefix('"')?.strip_suffix('"')?;
    // An object of several parts has a hyphen and their number behind the digits.
    let is_md5 = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u128::from_str_radix(digits, 16).ok().filter(|_| is_md5 && own_keys)
}

/// A whole object and whether it has the sum that the service keeps of it. As [`backend::Store::read_summed`].
pub(crate) fn read(
    bucket: &Bucket,
    key: &Key,
    bytes_max: u64,
    limit: Duration,
) -> Result<Option<Summed>, StoreError> {
    // A time-out of zero would still take a reply that is there at the first poll.
    if limit.is_zero() {
        return Ok(None);
    }
    let physical = bucket.names.of(key);
    let asked = bucket
        .client
        .get_object()
        .bucket(&bucket.config.bucket)
        .key(&physical)
        .checksum_mode(ChecksumMode::Enabled);
    let reading = async {
        let reply = asked
            .send()
            .await
            .map_err(|error| bucket.failed(&error).into_store("read", &bucket.shown(&physical)))?;
        let length = reply.content_length().and_then(|length| u64::try_from(length).ok());
        let is_declared = has_checksum(&reply);
        let md5 = md5_of_etag(&reply).filter(|_| !is_declared);
        // The whole object is held in memory, since its sum is known only at its end.
        if length.is_none_or(|length| length > bytes_max) || !(is_declared || md5.is_some()) {
            return Ok(None);
        }
        body(reply, md5).await.map(Some).map_err(|reason| StoreError::Object {
            action: "read",
            object: bucket.shown(&physical),
            source: std::io::Error::other(reason),
        })
    };
    // An object that takes longer is left out of the check; that is no failure.
    bucket.runtime.run(async { tokio::time::timeout(limit, reading).await }).unwrap_or(Ok(None))
}

/// The bytes of a reply, held against `md5`; against its checksum, which the SDK verifies as they come, where that is
/// absent. A checksum that fails is found at the end, where all bytes are there.
async fn body(mut reply: GetObjectOutput, md5: Option<u128>) -> Result<Summed, String> {
    let mut bytes = Vec::new();
    let mut agrees = true;
    while let Some(piece) = reply.body.next().await {
        match piece {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(error) => {
                let causes = failure::causes(&error);
                if md5.is_some() || !is_mismatch(&causes) {
                    return Err(causes);
                }
                agrees = false;
                break;
            }
        }
    }
    if let Some(md5) = md5 {
        agrees = u128::from_be_bytes(Md5::digest(&bytes).into()) == md5;
    }
    Ok(Summed { bytes, agrees, is_declared: md5.is_none() })
}
