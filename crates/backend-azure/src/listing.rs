//! Listings: pages of blobs, in the order of the names; and looks at one blob.

use std::io;
use std::ops::ControlFlow;

use backend::{Entry, StoreError};
use backend_http::fnv;
use backend_net::Trail;
use dataset::Key;

use crate::asked::Request;
use crate::call::ANSWER_BYTES_MAX;
use crate::container::Container;
use crate::page::{self, Blob, Page};
use crate::request::page_query;

/// The pages of a listing.
struct Pages<'a> {
    container: &'a Container,
    prefix: String,
    delimiter: Option<&'static str>,
    token: Option<String>,
    trail: Trail,
    ended: bool,
}

impl<'a> Pages<'a> {
    fn new(container: &'a Container, prefix: String, delimiter: Option<&'static str>) -> Self {
        Self { container, prefix, delimiter, token: None, trail: Trail::default(), ended: false }
    }

    /// The next page; `None` behind the last.
    fn next(&mut self) -> Result<Option<Page>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let page = page(self.container, &self.prefix, self.delimiter, self.token.as_deref(), None)?;
        if let Some(token) = &page.next
            && !self.trail.goes_on(fnv(token.as_bytes()))
        {
            let reason = "the listing should go on, and the service says where for the second time\n  hint: the service \
                          (or a proxy before it) does not keep to List Blobs; its own log says more";
            return Err(broken(self.container, &self.prefix, reason.to_owned()));
        }
        self.token.clone_from(&page.next);
        self.ended = self.token.is_none();
        Ok(Some(page))
    }
}

/// One page.
fn page(
    container: &Container,
    prefix: &str,
    delimiter: Option<&str>,
    token: Option<&str>,
    most: Option<&str>,
) -> Result<Page, StoreError> {
    let query = page_query(prefix, delimiter, token, most);
    let asked = Request { query: &query, ..Request::new("GET", &container.place.container) };
    let reply = container.caller.call(&asked, &[], ANSWER_BYTES_MAX);
    let reply = reply.map_err(|failed| failed.into_store("list", &container.shown(prefix)))?;
    page::read(&reply.body).map_err(|reason| broken(container, prefix, reason))
}

fn broken(container: &Container, name: &str, reason: String) -> StoreError {
    StoreError::Object {
        action: "list",
        object: container.shown(name),
        source: io::Error::new(io::ErrorKind::InvalidData, reason),
    }
}

/// Every blob below `below`, in the order of the names, until `each` breaks off.
pub(crate) fn list(
    container: &Container,
    below: Option<&Key>,
    each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let root = &container.place.prefix;
    let prefix = below.map_or_else(|| root.clone(), |below| format!("{root}{below}/"));
    let mut pages = Pages::new(container, prefix, None);
    while let Some(page) = pages.next()? {
        for blob in &page.blobs {
            if let Some(entry) = entry(container, blob)?
                && each(entry).is_break()
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// `None` for what stands for a folder in other tools: a name with a slash at its end.
fn entry(container: &Container, blob: &Blob) -> Result<Option<Entry>, StoreError> {
    if blob.name.ends_with('/') {
        return Ok(None);
    }
    let name = blob.name.strip_prefix(&container.place.prefix).unwrap_or(&blob.name);
    let key = Key::new(name).map_err(|error| broken(container, &blob.name, error.to_string()))?;
    Ok(Some(Entry { key, bytes: blob.bytes, modified_ns: blob.modified_ns, allocated_bytes: None }))
}

/// The folders directly below the target's prefix, in the order of their names.
pub(crate) fn folders(container: &Container) -> Result<Vec<Key>, StoreError> {
    let root = &container.place.prefix;
    let (mut folders, mut pages) = (Vec::new(), Pages::new(container, root.clone(), Some("/")));
    while let Some(page) = pages.next()? {
        let names = page.folders.iter().filter_map(|name| name.strip_prefix(root)?.strip_suffix('/'));
        // A name that is no key is left out.
        folders.extend(names.filter_map(|name| Key::new(name).ok()));
    }
    // `a.b/` comes before `a/`, but `a` before `a.b`.
    folders.sort();
    Ok(folders)
}

/// Size and time of one blob.
pub(crate) fn stat(container: &Container, key: &Key) -> Result<Option<Entry>, StoreError> {
    let mut path = Vec::new();
    container.place.write(key.as_str(), &mut path);
    match container.caller.call(&Request::new("HEAD", &path), &[], 0) {
        Ok(reply) => Ok(Some(Entry {
            key: key.clone(),
            bytes: reply.length.unwrap_or(0),
            modified_ns: reply.modified_ns,
            allocated_bytes: None,
        })),
        Err(failed) if failed.is_missing() => Ok(None),
        Err(failed) => Err(failed.into_store("look at", &shown(container, key))),
    }
}

/// As the user would write the blob of a key.
pub(crate) fn shown(container: &Container, key: &Key) -> String {
    container.shown(&format!("{}{key}", container.place.prefix))
}

/// Whether nothing lies below a folder.
pub(crate) fn is_empty(container: &Container, folder: &Key) -> Result<bool, StoreError> {
    let prefix = format!("{}{folder}/", container.place.prefix);
    let mut pages = Pages::new(container, prefix, None);
    // A page may be without blobs and not be the last.
    while let Some(page) = pages.next()? {
        if !page.blobs.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
