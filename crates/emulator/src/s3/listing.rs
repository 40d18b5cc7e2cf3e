//! Listings, in either version of the request.

use std::ops::Bound;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use s3s::dto::{CommonPrefix, EncodingType, Object as Entry, Owner};
use s3s::{S3Result, s3_error};

use super::bucket::Bucket;
use super::hash;
use super::object::{Object, Objects};

/// Keys on a page, at most: the limit of the service itself
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).
const PAGE_KEYS_MAX: i32 = 1000;

/// What a page is to hold.
struct Query<'a> {
    prefix: &'a str,
    delimiter: Option<&'a str>,
    /// Everything up to this key, or common prefix, was listed before.
    after: Option<&'a str>,
    /// At most [`PAGE_KEYS_MAX`].
    keys_max: usize,
}

/// One page.
#[derive(Debug, PartialEq, Eq, Default)]
struct Page {
    keys: Vec<String>,
    common_prefixes: Vec<String>,
    /// Where the next page goes on.
    next: Option<String>,
}

/// One page, in the order of keys. A common prefix is skipped over as a whole.
fn page(objects: &Objects, query: &Query<'_>) -> Page {
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
        // Asked only once another entry is known to follow: a page that is full by chance is not truncated.
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
            // No key is greater that begins with the prefix.
            format!("{last}{}", char::MAX)
        }
        _ => last.to_owned(),
    }
}

/// The token that a client gets for where the next page goes on. It carries a hash, so that nothing but a token is
/// taken for one.
pub(super) fn token(next: &str) -> String {
    // In the letters of a URL, since clients put it into a query.
    BASE64_URL_SAFE_NO_PAD.encode([&hash(&[next]).to_be_bytes()[..], next.as_bytes()].concat())
}

/// Where the page goes on that a client has this token for.
pub(super) fn after(token: &str) -> S3Result<String> {
    let next = || {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
        let (hashed, next) = bytes.split_first_chunk()?;
        let next = String::from_utf8(next.to_vec()).ok()?;
        (hash(&[next.as_str()]).to_be_bytes() == *hashed).then_some(next)
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

/// Who is said to own every bucket and every object.
pub(super) fn owner() -> Owner {
    Owner { id: Some("feedline-emulator".to_owned()), ..Owner::default() }
}

/// What a client asks for.
pub(super) struct ListRequest<'a> {
    pub(super) prefix: Option<&'a str>,
    pub(super) delimiter: Option<&'a str>,
    /// Everything up to this key, or common prefix, was listed before.
    pub(super) after: Option<&'a str>,
    pub(super) keys_max: Option<i32>,
    pub(super) encoding: Option<&'a EncodingType>,
    pub(super) has_owner: bool,
}

/// What it is answered.
pub(super) struct Listing {
    pub(super) contents: Vec<Entry>,
    pub(super) common_prefixes: Vec<CommonPrefix>,
    /// Where the next page goes on.
    pub(super) next: Option<String>,
    pub(super) keys_max: i32,
    pub(super) names: Names,
}

/// How keys and what is like them are written.
#[derive(Clone, Copy)]
pub(super) enum Names {
    Plain,
    PercentEncoded,
}

impl Names {
    fn of(asked: Option<&EncodingType>) -> S3Result<Self> {
        match asked.map(EncodingType::as_str) {
            None => Ok(Self::Plain),
            Some(EncodingType::URL) => Ok(Self::PercentEncoded),
            Some(other) => Err(s3_error!(InvalidArgument, "encoding-type={other}: it can only be url")),
        }
    }

    /// What the answer says of it.
    pub(super) fn encoding(self) -> Option<EncodingType> {
        match self {
            Self::Plain => None,
            Self::PercentEncoded => Some(EncodingType::from_static(EncodingType::URL)),
        }
    }

    pub(super) fn write(self, name: String) -> String {
        match self {
            Self::Plain => name,
            Self::PercentEncoded => percent_encoded(&name),
        }
    }
}

impl Bucket {
    /// One page.
    pub(super) fn list(&self, asked: &ListRequest<'_>) -> S3Result<Listing> {
        for (name, text) in [("prefix", asked.prefix), ("delimiter", asked.delimiter), ("key", asked.after)] {
            check_text(name, text.unwrap_or_default())?;
        }
        let names = Names::of(asked.encoding)?;
        // S3 caps what is asked for at 1,000 without a word.
        let keys_max = asked.keys_max.unwrap_or(PAGE_KEYS_MAX).min(PAGE_KEYS_MAX);
        let query = Query {
            prefix: asked.prefix.unwrap_or_default(),
            delimiter: asked.delimiter.filter(|delimiter| !delimiter.is_empty()),
            after: asked.after,
            keys_max: usize::try_from(keys_max)
                .map_err(|_| s3_error!(InvalidArgument, "max-keys={keys_max}: it cannot be below 0"))?,
        };
        let objects = self.objects();
        let page = page(&objects, &query);
        let entry = |key: &String| objects.get(key).map(|object| entry(key, object, names, asked.has_owner));
        let common = |prefix| CommonPrefix { prefix: Some(names.write(prefix)) };
        Ok(Listing {
            contents: page.keys.iter().filter_map(entry).collect(),
            common_prefixes: page.common_prefixes.into_iter().map(common).collect(),
            next: page.next,
            keys_max,
            names,
        })
    }
}

fn entry(key: &str, object: &Object, names: Names, has_owner: bool) -> Entry {
    Entry {
        key: Some(names.write(key.to_owned())),
        size: Some(object.content.length().cast_signed()),
        e_tag: Some(object.e_tag()),
        last_modified: Some(object.modified()),
        owner: has_owner.then(owner),
        ..Entry::default()
    }
}

/// All but what needs no encoding in a URL and the slash. A space is no `+`, so that it is read the same by clients that
/// take a plus sign for itself.
fn percent_encoded(name: &str) -> String {
    let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value)]);
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.extend(['%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::description::Description;
    use super::*;
    use crate::content::{Budget, Content};

    fn objects(keys: &[&str]) -> Objects {
        let object = || {
            Arc::new(Object::of_parts(
                Content::new(&Budget::new(0)),
                Vec::new(),
                Description::default(),
                String::new(),
            ))
        };
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
