//! Listings: pages of keys, in the order of the names.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use aws_sdk_s3::operation::head_object::HeadObjectOutput;
use aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output;
use aws_sdk_s3::types::Object;
use aws_smithy_types::DateTime;
use backend::{Entry, StoreError};
use backend_http::fnv;
use backend_net::Trail;
use dataset::{Key, MARKER_NAME};

use crate::open::Bucket;

/// Nanoseconds since 1970 of a modification. A listing has milliseconds and a look at one object seconds (HTTP dates),
/// so both are cut to seconds: an object that was not modified must not seem to be.
fn modified_ns(time: Option<&DateTime>) -> i128 {
    time.map_or(0, |time| i128::from(time.secs()) * 1_000_000_000)
}

/// The objects of one prefix of the bucket, page by page.
struct Pages<'a> {
    bucket: &'a Bucket,
    /// What the keys of the bucket have before those of the target.
    root: String,
    prefix: String,
    page: VecDeque<Object>,
    token: Option<String>,
    trail: Trail,
    ended: bool,
}

impl<'a> Pages<'a> {
    fn new(bucket: &'a Bucket, root: String, below: Option<&Key>) -> Self {
        let prefix = below.map_or_else(|| root.clone(), |below| format!("{root}{below}/"));
        let (page, trail) = (VecDeque::new(), Trail::default());
        Self { bucket, root, prefix, page, token: None, trail, ended: false }
    }

    fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        loop {
            if let Some(object) = self.page.pop_front() {
                if let Some(entry) = self.entry(&object)? {
                    return Ok(Some(entry));
                }
                continue;
            }
            if self.ended {
                return Ok(None);
            }
            let page = page(self.bucket, &self.prefix, None, self.token.take(), None)?;
            self.token = next_token(self.bucket, &self.prefix, &page, &mut self.trail)?;
            self.ended = self.token.is_none();
            self.page = page.contents.unwrap_or_default().into();
        }
    }

    /// `None` for what stands for a folder in other tools: a key with a slash at its end.
    fn entry(&self, object: &Object) -> Result<Option<Entry>, StoreError> {
        let physical = object.key().unwrap_or_default();
        // The console of AWS makes such keys, without bytes, to show an empty folder.
        if physical.ends_with('/') {
            return Ok(None);
        }
        let name = physical.strip_prefix(&self.root).unwrap_or(physical);
        let key = Key::new(name).map_err(|error| StoreError::Object {
            action: "list",
            object: self.bucket.shown(physical),
            source: io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
        })?;
        let bytes = u64::try_from(object.size().unwrap_or(0)).unwrap_or(0);
        let modified_ns = modified_ns(object.last_modified());
        Ok(Some(Entry { key, bytes, modified_ns, allocated_bytes: None }))
    }
}

/// One page.
fn page(
    bucket: &Bucket,
    prefix: &str,
    delimiter: Option<&str>,
    token: Option<String>,
    keys_max: Option<i32>,
) -> Result<ListObjectsV2Output, StoreError> {
    let asked = bucket
        .client
        .list_objects_v2()
        .bucket(&bucket.config.bucket)
        .prefix(prefix)
        .set_delimiter(delimiter.map(str::to_owned))
        .set_continuation_token(token)
        .set_max_keys(keys_max);
    bucket
        .runtime
        .run(asked.send())
        .map_err(|error| bucket.failed(&error).into_store("list", &bucket.shown(prefix)))
}

/// The token of the next page; `None` at the end of the listing.
fn next_token(
    bucket: &Bucket,
    prefix: &str,
    page: &ListObjectsV2Output,
    trail: &mut Trail,
) -> Result<Option<String>, StoreError> {
    if page.is_truncated() != Some(true) {
        return Ok(None);
    }
    match page.next_continuation_token() {
        Some(token) if trail.goes_on(fnv(token.as_bytes())) => Ok(Some(token.to_owned())),
        token => {
            let says = if token.is_some() { "says where for the second time" } else { "does not say where" };
            let reason = format!(
                "the listing should go on, and the service {says}\n  hint: the service (or a proxy before it) does \
                 not keep to ListObjectsV2; its own log says more"
            );
            Err(StoreError::Object {
                action: "list",
                object: bucket.shown(prefix),
                source: io::Error::new(io::ErrorKind::InvalidData, reason),
            })
        }
    }
}

/// Every object below `below`, in the order of the names, until `each` breaks off.
///
/// Where objects are spread over prefixes, the listings of all of them are merged; markers, which are not spread, are
/// looked for in their folders.
pub(crate) fn list(
    bucket: &Bucket,
    below: Option<&Key>,
    each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let roots = bucket.names.spread();
    let mut pages: Vec<Pages<'_>> =
        (0..roots).map(|root| Pages::new(bucket, bucket.names.root(root), below)).collect();
    let mut heads = pages.iter_mut().map(Pages::next).collect::<Result<Vec<_>, _>>()?;
    if roots > 1 {
        for marker in markers(bucket, below)? {
            pages.push(Pages { ended: true, ..Pages::new(bucket, String::new(), None) });
            heads.push(Some(marker));
        }
    }
    loop {
        // A listing of each prefix is in order, so the smallest head of all is the next. Few prefixes make a
        // heap not worth it.
        let first = (0..heads.len())
            .filter_map(|number| Some((&heads[number].as_ref()?.key, number)))
            .min()
            .map(|(_, number)| number);
        let Some(first) = first else { return Ok(()) };
        let next = pages[first].next()?;
        if let Some(entry) = std::mem::replace(&mut heads[first], next)
            && each(entry).is_break()
        {
            return Ok(());
        }
    }
}

/// Markers of folders whose objects are spread.
fn markers(bucket: &Bucket, below: Option<&Key>) -> Result<Vec<Entry>, StoreError> {
    let folders = match below {
        Some(below) => vec![below.clone()],
        None => folders(bucket)?,
    };
    let looks = folders.iter().filter_map(|folder| folder.join(MARKER_NAME).ok());
    let entries = looks.map(|key| stat(bucket, &key)).collect::<Result<Vec<_>, _>>()?;
    Ok(entries.into_iter().flatten().collect())
}

/// The folders directly below the target's prefix, in the order of their names.
pub(crate) fn folders(bucket: &Bucket) -> Result<Vec<Key>, StoreError> {
    let root = bucket.names.prefix();
    let (mut folders, mut token, mut trail) = (Vec::new(), None, Trail::default());
    loop {
        let page = page(bucket, root, Some("/"), token, None)?;
        for found in page.common_prefixes() {
            let name = found.prefix().and_then(|prefix| prefix.strip_prefix(root)?.strip_suffix('/'));
            // A name that is no key is left out.
            let key =
                name.filter(|name| !bucket.names.is_spread_folder(name)).and_then(|name| Key::new(name).ok());
            folders.extend(key);
        }
        token = next_token(bucket, root, &page, &mut trail)?;
        if token.is_none() {
            // `a.b/` comes before `a/`, but `a` before `a.b`.
            folders.sort();
            return Ok(folders);
        }
    }
}

/// What a HEAD says of the object at a key of the bucket; `None` where there is none.
pub(crate) fn head(bucket: &Bucket, physical: &str) -> Result<Option<HeadObjectOutput>, StoreError> {
    let asked = bucket.client.head_object().bucket(&bucket.config.bucket).key(physical).send();
    match bucket.runtime.run(asked) {
        Ok(found) => Ok(Some(found)),
        Err(error) => match bucket.failed(&error) {
            failed if failed.is_missing() => Ok(None),
            failed => Err(failed.into_store("look at", &bucket.shown(physical))),
        },
    }
}

/// Size and time of one object.
pub(crate) fn stat(bucket: &Bucket, key: &Key) -> Result<Option<Entry>, StoreError> {
    let found = head(bucket, &bucket.names.of(key))?;
    Ok(found.map(|found| Entry {
        key: key.clone(),
        bytes: u64::try_from(found.content_length().unwrap_or(0)).unwrap_or(0),
        modified_ns: modified_ns(found.last_modified()),
        allocated_bytes: None,
    }))
}

/// Whether nothing lies below a folder, markers included.
pub(crate) fn is_empty(bucket: &Bucket, folder: &Key) -> Result<bool, StoreError> {
    let spread = bucket.names.spread();
    let roots = (0..spread).map(|root| bucket.names.root(root));
    let plain = (spread > 1).then(|| bucket.names.prefix().to_owned());
    for root in roots.chain(plain) {
        // One key answers it, however many there are.
        let page = page(bucket, &format!("{root}{folder}/"), None, None, Some(1))?;
        if !page.contents().is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
