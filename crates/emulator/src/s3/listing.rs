//! One page of a listing.

use std::ops::Bound;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use s3s::{S3Result, s3_error};

use super::hash;
use super::object::Objects;

/// Keys on a page, at most: the limit of the service itself
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).
pub(super) const PAGE_KEYS_MAX: i32 = 1000;

/// What is listed.
pub(super) struct Query<'a> {
    pub(super) prefix: &'a str,
    pub(super) delimiter: Option<&'a str>,
    /// Everything up to this key, or common prefix, was listed before.
    pub(super) after: Option<&'a str>,
    /// At most [`PAGE_KEYS_MAX`].
    pub(super) keys_max: usize,
}

/// What is there.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Page {
    pub(super) keys: Vec<String>,
    pub(super) common_prefixes: Vec<String>,
    /// Where the next page goes on.
    pub(super) next: Option<String>,
}

/// One page, in the order of keys. A common prefix is skipped over as a whole.
pub(super) fn page(objects: &Objects, query: &Query<'_>) -> Page {
    let mut page = Page::default();
    if query.keys_max == 0 {
        return page;
    }
    let mut last: Option<String> = query.after.map(str::to_owned);
    loop {
        let from = match &last {
            Some(last) if last.as_str() >= query.prefix => Bound::Excluded(beyond(last, query)),
            _ => Bound::Included(query.prefix.to_owned()),
        };
        let next = objects.range((from, Bound::Unbounded)).next();
        let Some((key, _)) = next.filter(|(key, _)| key.starts_with(query.prefix)) else { return page };
        if page.keys.len() + page.common_prefixes.len() >= query.keys_max {
            page.next = last;
            return page;
        }
        let common = query.delimiter.and_then(|delimiter| {
            let rest = &key[query.prefix.len()..];
            rest.find(delimiter).map(|at| query.prefix.len() + at + delimiter.len())
        });
        if let Some(end) = common {
            page.common_prefixes.push(key[..end].to_owned());
            last = Some(key[..end].to_owned());
        } else {
            page.keys.push(key.clone());
            last = Some(key.clone());
        }
    }
}

/// The greatest string that a listed entry stands for: a common prefix, which is always longer than what was asked
/// for, stands for all keys below it.
fn beyond(last: &str, query: &Query<'_>) -> String {
    match query.delimiter {
        Some(delimiter) if last.len() > query.prefix.len() && last.ends_with(delimiter) => {
            format!("{last}{}", char::MAX)
        }
        _ => last.to_owned(),
    }
}

/// The token that a client gets for where the next page goes on. It carries a hash, so that nothing but a token is
/// taken for one.
pub(super) fn token(next: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode([&hash(next).to_be_bytes()[..], next.as_bytes()].concat())
}

/// Where the page goes on that a client has this token for.
pub(super) fn after(token: &str) -> S3Result<String> {
    let next = || {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
        let (hashed, next) = bytes.split_first_chunk()?;
        let next = String::from_utf8(next.to_vec()).ok()?;
        (hash(&next).to_be_bytes() == *hashed).then_some(next)
    };
    next().ok_or_else(|| s3_error!(InvalidArgument, "the continuation token is none that was given out"))
}

/// Refuses what a listing could not say of a key: XML 1.0 has no way to write most control characters, and makes others
/// of some (<https://www.w3.org/TR/xml/#charsets>).
pub(super) fn check_text(name: &str, text: &str) -> S3Result<()> {
    if text.contains(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) {
        return Err(s3_error!(
            InvalidArgument,
            "a {name} with a control character, which the emulated server could not list; leave it out"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::description::Description;
    use super::super::object::Object;
    use super::*;
    use crate::content::{Budget, Content};

    fn objects(keys: &[&str]) -> Objects {
        let object =
            || Arc::new(Object::of_parts(Content::new(&Budget::new(0)), Vec::new(), Description::default()));
        keys.iter().map(|key| ((*key).to_owned(), object())).collect()
    }

    fn all(objects: &Objects, prefix: &str, delimiter: Option<&str>, keys_max: usize) -> Vec<String> {
        let (mut listed, mut after) = (Vec::new(), None);
        for _ in 0..100 {
            let query = Query { prefix, delimiter, after: after.as_deref(), keys_max };
            let page = page(objects, &query);
            assert!(page.keys.len() + page.common_prefixes.len() <= keys_max);
            listed.extend(page.keys);
            listed.extend(page.common_prefixes);
            after = page.next;
            if after.is_none() {
                listed.sort();
                return listed;
            }
        }
        panic!("the listing does not end");
    }

    #[test]
    fn pages_of_any_size_make_the_same_listing() {
        let folder = objects(&["b/", "b/1"]);
        let objects = objects(&["a", "b/1", "b/2/x", "b/3", "c/1", "d", "b!"]);
        for keys_max in 1..8 {
            assert_eq!(all(&objects, "", None, keys_max).len(), 7);
            assert_eq!(all(&objects, "", Some("/"), keys_max), ["a", "b!", "b/", "c/", "d"]);
            assert_eq!(all(&objects, "b/", Some("/"), keys_max), ["b/1", "b/2/", "b/3"]);
            assert_eq!(all(&objects, "b", None, keys_max), ["b!", "b/1", "b/2/x", "b/3"]);
            assert_eq!(all(&folder, "b/", Some("/"), keys_max), ["b/", "b/1"], "a folder's own marker");
            assert!(all(&objects, "x", Some("/"), keys_max).is_empty());
        }
    }
}
