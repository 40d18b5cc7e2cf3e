//! The objects of the bucket, and those on their way into it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hyper::body::{Body as _, Bytes};
use s3s::dto::{BucketLocationConstraint, ETag, Range as AskedRange, StreamingBlob, Timestamp};
use s3s::{Body, S3Result, s3_error};

use crate::clock;
use crate::content::{Budget, Content, NoSpace, RECOGNISED_FROM_BYTES};
use crate::draw::corrupt;
use crate::shape::Shape;

use super::condition::{Reading, Writing};
use super::description::Description;
use super::digest::Digests;
use super::object::{Object, Objects, Part, timestamp};

/// Refuses the number of a part that an upload cannot have
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html>).
pub(super) fn check_part_number(number: i32) -> S3Result<()> {
    if (1..=10_000).contains(&number) {
        return Ok(());
    }
    Err(s3_error!(InvalidArgument, "partNumber={number}: parts are numbered from 1 to 10000"))
}

/// An upload in parts.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) key: String,
    pub(super) description: Description,
    pub(super) parts: BTreeMap<i32, Part>,
}

/// A bucket.
pub(super) struct Bucket {
    pub(super) created: Timestamp,
    /// Where it was asked to lie. It lies here.
    pub(super) location: Option<BucketLocationConstraint>,
    objects: RwLock<Objects>,
    uploads: Mutex<HashMap<String, Upload>>,
    next_upload: AtomicU64,
    budget: Arc<Budget>,
}

impl Bucket {
    pub(super) fn new(budget: &Arc<Budget>, location: Option<BucketLocationConstraint>) -> Self {
        Self {
            created: timestamp(u64::from(clock::unix_time().0)),
            location,
            objects: RwLock::default(),
            uploads: Mutex::default(),
            next_upload: AtomicU64::new(1),
            budget: Arc::clone(budget),
        }
    }

    pub(super) fn objects(&self) -> RwLockReadGuard<'_, Objects> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn objects_mut(&self) -> RwLockWriteGuard<'_, Objects> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn object(&self, key: &str) -> S3Result<Arc<Object>> {
        self.objects().get(key).cloned().ok_or_else(|| s3_error!(NoSuchKey))
    }

    /// The object of a read whose conditions hold, and what of it is asked for; `None` is all of it.
    pub(super) fn read(
        &self,
        key: &str,
        reading: &Reading,
        range: Option<AskedRange>,
    ) -> S3Result<(Arc<Object>, Option<Range<u64>>)> {
        let object = self.object(key)?;
        reading.check(&object)?;
        let range = range.map(|range| range.check(object.content.length())).transpose()?;
        Ok((object, range))
    }

    /// Refuses a write early, before its body is taken in.
    pub(super) fn may_write(&self, key: &str, writing: &Writing) -> S3Result<()> {
        writing.check(self.objects().get(key).map(Arc::as_ref))
    }

    /// Keeps an object, where the one that is there may be replaced.
    pub(super) fn keep(&self, key: String, object: Object, writing: &Writing) -> S3Result<ETag> {
        let e_tag = object.e_tag();
        let mut objects = self.objects_mut();
        // Under the lock: of two writers that may not replace anything, one is refused.
        writing.check(objects.get(&key).map(Arc::as_ref))?;
        objects.insert(key, Arc::new(object));
        Ok(e_tag)
    }

    /// Removes an object, if there is one.
    pub(super) fn remove(&self, key: &str, writing: &Writing) -> S3Result<()> {
        let mut objects = self.objects_mut();
        writing.check(objects.get(key).map(Arc::as_ref))?;
        objects.remove(key);
        Ok(())
    }

    pub(super) fn begin_upload(&self, key: String, description: Description) -> String {
        let id = format!("upload-{}", self.next_upload.fetch_add(1, Ordering::Relaxed));
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.insert(id.clone(), Upload { key, description, parts: BTreeMap::new() });
        id
    }

    /// Does something with an upload under way to `key`.
    pub(super) fn upload<T>(&self, id: &str, key: &str, with: impl FnOnce(&mut Upload) -> T) -> S3Result<T> {
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        match uploads.get_mut(id) {
            // An upload is of one key; to any other it does not exist.
            Some(upload) if upload.key == key => Ok(with(upload)),
            _ => Err(s3_error!(NoSuchUpload)),
        }
    }

    /// What an upload was completed to, while it is there.
    pub(super) fn completed(&self, id: &str, key: &str) -> Option<ETag> {
        let objects = self.objects();
        objects.get(key).filter(|object| object.is_of_upload(id)).map(|object| object.e_tag())
    }

    pub(super) fn end_upload(&self, id: &str, key: &str) -> S3Result<Upload> {
        self.upload(id, key, |_| ())?;
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.remove(id).ok_or_else(|| s3_error!(NoSuchUpload))
    }

    /// An empty content that counts against this bucket's memory.
    pub(super) fn empty(&self) -> Content {
        Content::new(&self.budget)
    }

    /// Takes in a body to its end.
    pub(super) async fn receive(&self, body: Option<StreamingBlob>, mut digests: Digests) -> S3Result<Part> {
        let mut content = self.empty();
        let mut body = body.map_or_else(Body::empty, Body::from);
        // Payload is recognised by a piece of some length, however the body is cut.
        let mut gathered = Vec::new();
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame = frame.map_err(|error| s3_error!(IncompleteBody, "the body ended early: {error}"))?;
            let data = frame.into_data().unwrap_or_default();
            digests.update(&data);
            if content.length() > 0 {
                append(&mut content, &data)?;
                continue;
            }
            gathered.extend_from_slice(&data);
            if gathered.len() >= RECOGNISED_FROM_BYTES {
                append(&mut content, &gathered)?;
                gathered = Vec::new();
            }
        }
        append(&mut content, &gathered)?;
        let (md5, checksum) = digests.finish()?;
        Ok(Part { content, md5, checksum })
    }
}

pub(super) fn append(content: &mut Content, data: &[u8]) -> S3Result<()> {
    let at = content.length();
    content.write(at, data).map_err(|error: NoSpace| s3_error!(error, EntityTooLarge, "{error}"))
}

/// Bytes of a body that are made at once.
pub(super) const CHUNK_BYTES: u64 = 256 * 1024;

/// What is left to be sent of an object.
struct Remaining {
    object: Arc<Object>,
    shape: Arc<Shape>,
    at: u64,
    end: u64,
    is_corrupted: bool,
}

impl Remaining {
    fn next(&mut self) -> Bytes {
        // Made as it is sent, so that an object of any length takes the memory of one chunk.
        let mut chunk = vec![0; (self.end - self.at).min(CHUNK_BYTES) as usize];
        self.object.content.read(self.at, &mut chunk);
        if self.is_corrupted {
            corrupt(&mut chunk);
        }
        self.at += chunk.len() as u64;
        chunk.into()
    }
}

impl hyper::body::Body for Remaining {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        let is_over = self.at == self.end;
        std::task::Poll::Ready((!is_over).then(|| {
            let chunk = self.next();
            self.shape.stats.sent(chunk.len() as u64);
            Ok(hyper::body::Frame::data(chunk))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.at == self.end
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        hyper::body::SizeHint::with_exact(self.end - self.at)
    }
}

/// The bytes of a range of an object: up to [`CHUNK_BYTES`] at once, more of them as they are sent, and counted then.
pub(super) fn body(
    object: Arc<Object>,
    range: Range<u64>,
    shape: &Arc<Shape>,
    is_corrupted: bool,
) -> StreamingBlob {
    let mut remaining =
        Remaining { object, shape: Arc::clone(shape), at: range.start, end: range.end, is_corrupted };
    // A body in one piece has no stream behind it, and costs a small read less.
    let body = if range.end - range.start <= CHUNK_BYTES {
        Body::from(remaining.next())
    } else {
        Body::http_body(remaining)
    };
    body.into()
}
