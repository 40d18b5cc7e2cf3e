//! Writing and removing: the only file that changes anything in a bucket, but for loads that write objects anew.
//!
//! An object appears complete or not at all: by one PUT, or by the end of a multipart upload. Nothing is ever
//! overwritten: both carry `If-None-Match: *`. The key is looked for just before as well where a service is found to
//! ignore that, and before the end of every upload, where some do that otherwise keep to it.

use std::sync::Arc;

use aws_sdk_s3::Config;
use aws_sdk_s3::config::RequestChecksumCalculation;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{BucketVersioningStatus, CompletedMultipartUpload, CompletedPart};
use aws_smithy_types::body::SdkBody;
use backend::{ObjectWriter, StoreError};
use backend_http::fnv;
use backend_net::Trail;
use dataset::{Key, MARKER_NAME};

use crate::failure::{self, Failed};
use crate::listing;
use crate::open::Bucket;

/// Bytes of a part, and of the largest object that is written by one PUT.
// S3 takes parts from 5 MiB on and 10,000 of them, so this writes objects of up to 156 GiB.
const PART_BYTES: usize = 16 << 20;

/// Any version of the object.
const ANY: &str = "*";

/// Writes an object that is not there yet, in one request.
pub(crate) fn put_new(
    bucket: &Bucket,
    physical: &str,
    bytes: Vec<u8>,
    conditional: bool,
) -> Result<(), StoreError> {
    if !conditional && listing::head(bucket, physical)?.is_some() {
        return Err(StoreError::Exists { object: bucket.shown(physical) });
    }
    let (body, kept) = twice(bytes);
    match put(bucket, physical, body, conditional) {
        Ok(()) => Ok(()),
        // The SDK repeats a PUT whose reply was lost, and the second one finds the first one's object.
        Err(failed) if conditional && failed.is_taken() => ours_or_taken(bucket, physical, &kept),
        Err(failed) => Err(failed.into_store("write", &bucket.shown(physical))),
    }
}

/// The same bytes, for a request and for a comparison later; they are not copied.
fn twice(bytes: Vec<u8>) -> (SdkBody, SdkBody) {
    let body = SdkBody::from(bytes);
    let kept = body.try_clone().unwrap_or_else(SdkBody::empty);
    (body, kept)
}

/// Whether a refused PUT found our own bytes in its place: the reply to an earlier attempt may have been lost, and then
/// the object is written.
fn ours_or_taken(bucket: &Bucket, physical: &str, kept: &SdkBody) -> Result<(), StoreError> {
    let ours = kept.bytes().unwrap_or_default();
    let exists = || StoreError::Exists { object: bucket.shown(physical) };
    let asked = bucket.client.get_object().bucket(&bucket.config.bucket).key(physical);
    bucket.runtime.run(async {
        let mut found = asked.send().await.map_err(|error| {
            let failed = bucket.failed(&error);
            if failed.is_missing() {
                exists()
            } else {
                failed.into_store("read back", &bucket.shown(physical))
            }
        })?;
        let mut rest = ours;
        while let Some(piece) = found.body.next().await {
            let piece = piece.map_err(|error| StoreError::Object {
                action: "read back",
                object: bucket.shown(physical),
                source: std::io::Error::other(format!(
                    "{}\n  hint: is the service running, and the network up?",
                    failure::causes(&error)
                )),
            })?;
            // Compared piece by piece as it comes: another's object may be of any length.
            rest = rest.strip_prefix(&piece[..]).ok_or_else(exists)?;
        }
        if rest.is_empty() { Ok(()) } else { Err(exists()) }
    })
}

fn put(bucket: &Bucket, physical: &str, body: SdkBody, conditional: bool) -> Result<(), Failed> {
    let asked = bucket
        .client
        .put_object()
        .bucket(&bucket.config.bucket)
        .key(physical)
        .set_if_none_match(conditional.then(|| ANY.to_owned()))
        .body(ByteStream::new(body))
        .customize();
    // Services other than AWS keep only the checksum that they are given.
    let asked = if bucket.config.checksum {
        let calculation = RequestChecksumCalculation::WhenSupported;
        asked.config_override(Config::builder().request_checksum_calculation(calculation))
    } else {
        asked
    };
    bucket.runtime.run(asked.send()).map(drop).map_err(|error| bucket.failed(&error))
}

/// Writes the marker of a new folder; refuses when anything lies below it.
pub(crate) fn create_folder(bucket: &Bucket, folder: &Key, text: Vec<u8>) -> Result<(), StoreError> {
    let physical = marker(bucket, folder);
    // A bucket has no folders: what makes one is a key below it, whoever put it there.
    if !listing::is_empty(bucket, folder)? {
        return Err(StoreError::Exists {
            object: bucket.shown(&format!("{}{folder}/", bucket.names.prefix())),
        });
    }
    let (body, kept) = twice(text.clone());
    match put(bucket, &physical, body, true) {
        Ok(()) => Ok(()),
        Err(failed) if failed.is_taken() => ours_or_taken(bucket, &physical, &kept),
        Err(failed) if failed.is_not_implemented() => put_new(bucket, &physical, text, false),
        Err(failed) => Err(failed.into_store("write", &bucket.shown(&physical))),
    }
}

fn marker(bucket: &Bucket, folder: &Key) -> String {
    format!("{}{folder}/{MARKER_NAME}", bucket.names.prefix())
}

/// Whether the service keeps to `If-None-Match: *`. The marker of a folder of feedline's own is written once more: a
/// service that keeps to it refuses, and on any other the marker stays as it was.
pub(crate) fn keeps_conditions(bucket: &Bucket, folder: &Key, text: Vec<u8>) -> Result<bool, StoreError> {
    let physical = marker(bucket, folder);
    match put(bucket, &physical, SdkBody::from(text), true) {
        Err(failed) if failed.is_taken() => Ok(true),
        Ok(()) => Ok(false),
        Err(failed) if failed.is_not_implemented() => Ok(false),
        Err(failed) => Err(failed.into_store("write", &bucket.shown(&physical))),
    }
}

/// Whether a bucket keeps the objects that are replaced, which are then in no listing and are paid for. Not of one that does not say.
pub(crate) fn keeps_versions(bucket: &Bucket) -> bool {
    let asked = bucket.client.get_bucket_versioning().bucket(&bucket.config.bucket).send();
    // Many services know no versions, and many users may not ask for them.
    let found = bucket.runtime.run(asked).ok();
    found.is_some_and(|found| found.status == Some(BucketVersioningStatus::Enabled))
}

/// Removes one object, or nothing when it is gone already.
pub(crate) fn remove(bucket: &Bucket, key: &Key) -> Result<(), StoreError> {
    let physical = bucket.names.of(key);
    let asked = bucket.client.delete_object().bucket(&bucket.config.bucket).key(&physical).send();
    match bucket.runtime.run(asked) {
        Ok(_) => Ok(()),
        Err(error) => {
            let failed = bucket.failed(&error);
            if failed.is_missing() {
                Ok(())
            } else {
                Err(failed.into_store("remove", &bucket.shown(&physical)))
            }
        }
    }
}

/// Ends uploads of the objects of a folder that a killed process began; they are in no listing, and are paid for.
/// Others may upload to the bucket too, and not every service keeps to the prefix: only what has the name of an object
/// of this folder is ended. A service that does not list them has none to end.
pub(crate) fn end_uploads(bucket: &Bucket, folder: &Key) {
    for root in (0..bucket.names.spread()).map(|root| bucket.names.root(root)) {
        let prefix = format!("{root}{folder}/");
        let (mut key_marker, mut id_marker, mut trail) = (None, None, Trail::default());
        loop {
            let asked = bucket
                .client
                .list_multipart_uploads()
                .bucket(&bucket.config.bucket)
                .prefix(&prefix)
                .set_key_marker(key_marker)
                .set_upload_id_marker(id_marker)
                .send();
            let Ok(found) = bucket.runtime.run(asked) else { return };
            for upload in found.uploads() {
                if let (Some(key), Some(id)) = (upload.key(), upload.upload_id())
                    && key.starts_with(&prefix)
                    && bucket.names.is_generated(folder, key)
                {
                    abort(bucket, key, id);
                }
            }
            let (next_key, next_id) = (found.next_key_marker, found.next_upload_id_marker);
            let place = format!("{next_key:?} {next_id:?}");
            if found.is_truncated != Some(true) || next_key.is_none() || !trail.goes_on(fnv(place.as_bytes()))
            {
                break;
            }
            (key_marker, id_marker) = (next_key, next_id);
        }
    }
}

fn abort(bucket: &Bucket, physical: &str, upload: &str) {
    let asked =
        bucket.client.abort_multipart_upload().bucket(&bucket.config.bucket).key(physical).upload_id(upload);
    // Nothing more can be done about one that does not end; buckets have rules that remove them.
    let _ = bucket.runtime.run(asked.send());
}

/// An object being written.
#[derive(Debug)]
pub(crate) struct S3Writer {
    bucket: Arc<Bucket>,
    physical: String,
    conditional: bool,
    rest: Vec<u8>,
    upload: Option<Upload>,
}

#[derive(Debug)]
struct Upload {
    id: String,
    parts: Vec<CompletedPart>,
}

impl S3Writer {
    pub(crate) fn new(bucket: &Arc<Bucket>, key: &Key, conditional: bool) -> Result<Self, StoreError> {
        let physical = bucket.names.of(key);
        if !conditional && listing::head(bucket, &physical)?.is_some() {
            return Err(StoreError::Exists { object: bucket.shown(&physical) });
        }
        Ok(Self { bucket: Arc::clone(bucket), physical, conditional, rest: Vec::new(), upload: None })
    }

    fn failed(&self, failed: Failed) -> StoreError {
        if failed.is_taken() {
            return StoreError::Exists { object: self.bucket.shown(&self.physical) };
        }
        failed.into_store("write", &self.bucket.shown(&self.physical))
    }

    /// Sends what was gathered as the next part.
    fn send_part(&mut self) -> Result<(), StoreError> {
        let body = std::mem::replace(&mut self.rest, Vec::with_capacity(PART_BYTES));
        let bucket = Arc::clone(&self.bucket);
        let upload = if let Some(upload) = self.upload.take() {
            upload
        } else {
            let name = &bucket.config.bucket;
            let asked = bucket.client.create_multipart_upload().bucket(name).key(&self.physical);
            let begun = bucket.runtime.run(asked.send());
            let begun = begun.map_err(|error| self.failed(bucket.failed(&error)))?;
            Upload { id: begun.upload_id().unwrap_or_default().to_owned(), parts: Vec::new() }
        };
        let upload = self.upload.insert(upload);
        let number = i32::try_from(upload.parts.len()).unwrap_or(i32::MAX - 1) + 1;
        let asked = bucket
            .client
            .upload_part()
            .bucket(&bucket.config.bucket)
            .key(&self.physical)
            .upload_id(&upload.id)
            .part_number(number)
            .body(ByteStream::from(body));
        match bucket.runtime.run(asked.send()) {
            Ok(sent) => {
                // The ETag of each part must be sent back at the end; services refuse a part that has another
                // (InvalidPart).
                let part = CompletedPart::builder().part_number(number).set_e_tag(sent.e_tag);
                upload.parts.push(part.build());
                Ok(())
            }
            Err(error) => Err(self.failed(bucket.failed(&error))),
        }
    }

    fn complete(&mut self) -> Result<(), StoreError> {
        if !self.rest.is_empty() {
            self.send_part()?;
        }
        // Ceph's gateway keeps to the condition of a PUT and passes over that of an upload's end.
        if listing::head(&self.bucket, &self.physical)?.is_some() {
            return Err(StoreError::Exists { object: self.bucket.shown(&self.physical) });
        }
        let Some(upload) = &self.upload else { return Ok(()) };
        let parts = CompletedMultipartUpload::builder().set_parts(Some(upload.parts.clone())).build();
        let asked = self
            .bucket
            .client
            .complete_multipart_upload()
            .bucket(&self.bucket.config.bucket)
            .key(&self.physical)
            .upload_id(&upload.id)
            .set_if_none_match(self.conditional.then(|| ANY.to_owned()))
            .multipart_upload(parts);
        match self.bucket.runtime.run(asked.send()) {
            Ok(_) => {
                self.upload = None;
                Ok(())
            }
            Err(error) => Err(self.failed(self.bucket.failed(&error))),
        }
    }
}

impl ObjectWriter for S3Writer {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            if self.rest.len() == PART_BYTES {
                self.send_part()?;
            }
            let room = (PART_BYTES - self.rest.len()).min(bytes.len());
            self.rest.extend_from_slice(&bytes[..room]);
            bytes = &bytes[room..];
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        if self.upload.is_some() {
            return self.complete();
        }
        let body = std::mem::take(&mut self.rest);
        // An object that fits into one part takes one request instead of three.
        put_new(&self.bucket, &self.physical, body, self.conditional)
    }
}

impl Drop for S3Writer {
    fn drop(&mut self) {
        if let Some(upload) = &self.upload {
            // Parts of an upload that never ends are in no listing and are paid for.
            abort(&self.bucket, &self.physical, &upload.id);
        }
    }
}
