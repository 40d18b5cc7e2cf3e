//! Listings as clients ask for them and read them, in either version.

use s3s::dto::{CommonPrefix, EncodingType, Object as Entry, Owner};
use s3s::{S3Result, s3_error};

use super::bucket::Bucket;
use super::listing::{self, PAGE_KEYS_MAX, Query};
use super::object::Object;

/// Who is said to own every object.
const OWNER: &str = "feedline-emulator";

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) prefix: Option<&'a str>,
    pub(super) delimiter: Option<&'a str>,
    /// Everything up to this key, or common prefix, was listed before.
    pub(super) after: Option<&'a str>,
    pub(super) keys_max: Option<i32>,
    pub(super) encoding: Option<&'a EncodingType>,
    pub(super) has_owner: bool,
}

/// What is answered.
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
    pub(super) fn list(&self, asked: &Asked<'_>) -> S3Result<Listing> {
        for (name, text) in [("prefix", asked.prefix), ("delimiter", asked.delimiter), ("key", asked.after)] {
            listing::check_text(name, text.unwrap_or_default())?;
        }
        let names = Names::of(asked.encoding)?;
        let keys_max = asked.keys_max.unwrap_or(PAGE_KEYS_MAX).min(PAGE_KEYS_MAX);
        let query = Query {
            prefix: asked.prefix.unwrap_or_default(),
            delimiter: asked.delimiter.filter(|delimiter| !delimiter.is_empty()),
            after: asked.after,
            keys_max: usize::try_from(keys_max)
                .map_err(|_| s3_error!(InvalidArgument, "max-keys={keys_max}: it cannot be below 0"))?,
        };
        let objects = self.objects();
        let page = listing::page(&objects, &query);
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
        owner: has_owner.then(|| Owner { id: Some(OWNER.to_owned()), ..Owner::default() }),
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
