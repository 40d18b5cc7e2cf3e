//! Objects and parts that are made of what the bucket holds.

use std::ops::Range;
use std::sync::Arc;

use md5::{Digest as _, Md5};
use s3s::dto::{Checksum, CopySource, Range as Asked};
use s3s::{S3Result, s3_error};

use super::bucket::{Bucket, CHUNK_BYTES, append};
use super::buckets::Buckets;
use super::condition::Reading;
use super::object::{Object, Part};

/// Bytes of an object that can be copied at once
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html>).
const SOURCE_BYTES_MAX: u64 = 5 << 30;

/// Bucket and key of a source, if it is one of a bucket.
fn named(source: &CopySource) -> S3Result<(&str, &str)> {
    match source {
        CopySource::Bucket { bucket, key, version_id: None } => Ok((bucket, key)),
        CopySource::Bucket { .. } => {
            Err(s3_error!(NotImplemented, "a copy of a version; leave versionId out"))
        }
        _ => Err(s3_error!(NotImplemented, "a copy from an access point; name bucket and key")),
    }
}

impl Buckets {
    /// The object that is to be copied, with its bucket and its key.
    pub(super) fn source<'a>(
        &self,
        source: &'a CopySource,
        reading: &Reading,
    ) -> S3Result<((&'a str, &'a str), Arc<Object>)> {
        let (bucket, key) = named(source)?;
        let object = self.bucket(bucket)?.object(key)?;
        reading.check_source(&object)?;
        Ok(((bucket, key), object))
    }
}

impl Bucket {
    /// A part that is a range of an object, or all of it.
    pub(super) async fn part_of(&self, object: &Object, range: Option<&str>) -> S3Result<Part> {
        let mut left = part_range(range, object.content.length())?;
        let (mut content, mut md5) = (self.empty(), Md5::new());
        while !left.is_empty() {
            // Read and written again, as the part begins at any byte of the stream.
            let mut chunk = vec![0; (left.end - left.start).min(CHUNK_BYTES) as usize];
            object.content.read(left.start, &mut chunk);
            md5.update(&chunk);
            append(&mut content, &chunk)?;
            left.start += chunk.len() as u64;
            // Other connections are served by the same thread.
            tokio::task::yield_now().await;
        }
        Ok(Part { content, md5: md5.finalize().into(), checksum: Checksum::default() })
    }
}

/// Refuses an object that is too large to be copied at once.
pub(super) fn check_length(object: &Object) -> S3Result<()> {
    if object.content.length() > SOURCE_BYTES_MAX {
        return Err(s3_error!(
            InvalidRequest,
            "the source of a copy is at most {SOURCE_BYTES_MAX} B; copy it in parts"
        ));
    }
    Ok(())
}

/// The range of a part within so many bytes. S3 takes none that is open or too long.
fn part_range(asked: Option<&str>, bytes: u64) -> S3Result<Range<u64>> {
    let Some(asked) = asked else { return Ok(0..bytes) };
    match Asked::parse(asked) {
        // A GET is cut to the object's end; a part that is shorter than asked would be another object.
        Ok(Asked::Int { first, last: Some(last) }) if last < bytes => Ok(first..last + 1),
        _ => Err(s3_error!(
            InvalidArgument,
            "{asked:?} is no range bytes=FIRST-LAST within the {bytes} B of the source"
        )),
    }
}
