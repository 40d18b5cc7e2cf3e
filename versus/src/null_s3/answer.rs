//! What the null server answers.

use std::fmt::Write as _;

use crate::args::NullS3Args;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Its head, with the empty line.
    pub(super) head: String,
    /// What follows.
    pub(super) body: Body,
}

/// What follows a head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// This.
    Text(String),
    /// So many bytes of an object.
    Bytes(u64),
}

/// What every object says of itself.
const ABOUT_OBJECT: &str = "etag: \"00000000000000000000000000000000\"\r\nlast-modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
                            accept-ranges: bytes\r\ncontent-type: application/octet-stream\r\n";

/// Answers a request, given without the empty line.
pub(super) fn to(request: &str, args: &NullS3Args) -> Answer {
    let mut lines = request.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let range = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("range").then(|| value.trim())
    });
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = decoded(path.trim_start_matches('/'));
    let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
    let mut answer = if bucket != args.bucket {
        missing("NoSuchBucket")
    } else if key.is_empty() {
        text("200 OK", &listing(query, args))
    } else if (0..args.objects).any(|object| name(object, args) == key) {
        object(range, args.object_bytes)
    } else {
        missing("NoSuchKey")
    };
    if method == "HEAD" {
        answer.body = Body::Bytes(0);
    }
    answer
}

fn name(object: u32, args: &NullS3Args) -> String {
    format!("{}{object:03}.bin", args.prefix)
}

fn object(range: Option<&str>, object_bytes: u64) -> Answer {
    let Some((first, last)) = range.and_then(|range| bounds(range, object_bytes)) else {
        let head = format!("HTTP/1.1 200 OK\r\n{ABOUT_OBJECT}content-length: {object_bytes}\r\n\r\n");
        return Answer { head, body: Body::Bytes(object_bytes) };
    };
    let bytes = last - first + 1;
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\n{ABOUT_OBJECT}content-range: bytes {first}-{last}/{object_bytes}\r\n\
         content-length: {bytes}\r\n\r\n"
    );
    Answer { head, body: Body::Bytes(bytes) }
}

/// First and last byte of `bytes=FIRST-LAST` or `bytes=FIRST-`, of which some must be there.
fn bounds(range: &str, object_bytes: u64) -> Option<(u64, u64)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let first: u64 = first.parse().ok()?;
    let last = if last.is_empty() { object_bytes - 1 } else { last.parse().ok()? };
    (first <= last && first < object_bytes).then(|| (first, last.min(object_bytes - 1)))
}

fn missing(code: &str) -> Answer {
    text("404 Not Found", &format!("<Error><Code>{code}</Code><Message>Not there.</Message></Error>"))
}

fn text(status: &str, body: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/xml\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    Answer { head, body: Body::Text(body) }
}

/// `ListObjectsV2`: all objects on one page, since there are few.
fn listing(query: &str, args: &NullS3Args) -> String {
    let parameter = |wanted: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == wanted).map(|(_, value)| decoded(value)).unwrap_or_default()
    };
    let (prefix, delimiter) = (parameter("prefix"), parameter("delimiter"));
    let most = parameter("max-keys").parse().unwrap_or(1000);
    let after = parameter("start-after");
    let mut entries = String::new();
    let (mut count, mut folders) = (0_usize, Vec::new());
    for key in (0..args.objects).map(|object| name(object, args)).filter(|key| key.starts_with(&prefix)) {
        let rest = &key[prefix.len()..];
        let folder = if delimiter.is_empty() { None } else { rest.split_once(&delimiter) };
        if let Some((folder, _)) = folder {
            let folder = format!("{prefix}{folder}{delimiter}");
            if !folders.contains(&folder) {
                let _ = write!(entries, "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
                folders.push(folder);
            }
        } else if key > after && count < most {
            count += 1;
            let _ = write!(
                entries,
                "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
                 <ETag>&quot;00000000000000000000000000000000&quot;</ETag><Size>{}</Size>\
                 <StorageClass>STANDARD</StorageClass></Contents>",
                args.object_bytes
            );
        }
    }
    format!(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>{}</Name>\
         <Prefix>{prefix}</Prefix><KeyCount>{}</KeyCount><MaxKeys>{most}</MaxKeys>\
         <IsTruncated>false</IsTruncated>{entries}</ListBucketResult>",
        args.bucket,
        count + folders.len()
    )
}

/// Text without the escapes of a URL.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = escape.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> NullS3Args {
        NullS3Args { bucket: "bench".to_owned(), prefix: "x/".to_owned(), objects: 2, object_bytes: 100 }
    }

    fn status(request: &str) -> String {
        to(request, &args()).head.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_range_gets_its_bytes() {
        let answer = to("GET /bench/x/001.bin HTTP/1.1\r\nHost: a\r\nRange: bytes=10-19", &args());
        assert_eq!(answer.body, Body::Bytes(10));
        assert!(answer.head.starts_with("HTTP/1.1 206 Partial Content\r\n"), "{}", answer.head);
        assert!(answer.head.contains("content-range: bytes 10-19/100\r\ncontent-length: 10\r\n\r\n"));
        assert_eq!(to("GET /bench/x/001.bin HTTP/1.1\r\nrange: bytes=90-", &args()).body, Body::Bytes(10));
        assert_eq!(to("GET /bench/x%2F001.bin HTTP/1.1", &args()).body, Body::Bytes(100));
    }

    #[test]
    fn a_head_has_a_length_and_no_body() {
        let answer = to("HEAD /bench/x/000.bin HTTP/1.1", &args());
        assert!(answer.head.contains("content-length: 100\r\n") && answer.body == Body::Bytes(0));
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(status("GET /bench/x/002.bin HTTP/1.1"), "HTTP/1.1 404 Not Found");
        assert_eq!(status("HEAD /other/x/000.bin HTTP/1.1"), "HTTP/1.1 404 Not Found");
        assert_eq!(status("HEAD /bench HTTP/1.1"), "HTTP/1.1 200 OK");
    }

    #[test]
    fn objects_are_listed_below_their_prefix() {
        let list = |query: &str| match to(&format!("GET /bench?list-type=2{query} HTTP/1.1"), &args()).body {
            Body::Text(text) => text,
            Body::Bytes(bytes) => panic!("{bytes} bytes"),
        };
        let all = list("&prefix=x%2F");
        assert!(all.contains("<Key>x/000.bin</Key>") && all.contains("<Key>x/001.bin</Key>"), "{all}");
        assert!(all.contains("<Size>100</Size>") && all.contains("<KeyCount>2</KeyCount>"), "{all}");
        assert!(list("&prefix=y").contains("<KeyCount>0</KeyCount>"));
        let folders = list("&delimiter=%2F");
        assert!(folders.contains("<CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes>"), "{folders}");
        assert!(list("&max-keys=1").contains("<KeyCount>1</KeyCount>"));
    }
}
