//! Requests, written by hand, and what authorises them.

use std::sync::Arc;

use backend::{Clock, ErrorKind};
use backend_http::{ByteRange, Dialect, Elements, Wall, push_number, push_path, push_query};
use dataset::{Key, Objects};

use crate::asked::Request;
use crate::date::{Stamp, stamp};
use crate::kind;
use crate::rights::Rights;

/// The version of the service's interface that is spoken.
// Of December 2021: blocks of up to 4000 MiB, and every emulator of today knows it.
const VERSION: &str = "2021-12-02";

/// Writes requests to one endpoint. Nothing is allocated for one once its buffers have grown.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    authority: String,
    rights: Rights,
}

impl Writer {
    pub(crate) fn new(authority: String, rights: Rights) -> Self {
        Self { authority, rights }
    }

    /// Appends a request's head, which is dated `date`.
    pub(crate) fn push(&mut self, request: &Request<'_>, date: &Stamp, out: &mut Vec<u8>) {
        out.extend_from_slice(request.method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(request.path);
        let mut joint = b'?';
        for (name, value) in request.query {
            if let Some(value) = value {
                out.push(joint);
                out.extend_from_slice(name.as_bytes());
                out.push(b'=');
                push_query(value, out);
                joint = b'&';
            }
        }
        if let Rights::Shared(token) = &self.rights {
            out.push(joint);
            out.extend_from_slice(token.reveal().as_bytes());
        }
        out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
        out.extend_from_slice(self.authority.as_bytes());
        out.extend_from_slice(b"\r\nUser-Agent: feedline\r\nAccept: */*\r\n");
        if let Some(range) = request.range {
            out.extend_from_slice(b"Range: ");
            range.push(out);
            out.extend_from_slice(b"\r\n");
        }
        if let Some(length) = request.length {
            out.extend_from_slice(b"Content-Length: ");
            push_number(length, out);
            out.extend_from_slice(b"\r\n");
        }
        if request.only_new {
            out.extend_from_slice(b"If-None-Match: *\r\n");
        }
        let date = std::str::from_utf8(date).unwrap_or_default();
        let headers = [("x-ms-blob-type", "BlockBlob"), ("x-ms-date", date), ("x-ms-version", VERSION)];
        // In order, as the signature wants them.
        let headers = if request.whole_blob { &headers[..] } else { &headers[1..] };
        for (name, value) in headers {
            for part in [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                out.extend_from_slice(part);
            }
        }
        if let Rights::Key(signer) = &mut self.rights {
            out.extend_from_slice(b"Authorization: ");
            signer.push(request, headers, out);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Where blobs lie: what every path begins with, and what every name in the container does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Encoded: `/CONTAINER`, or `/ACCOUNT/CONTAINER`.
    pub(crate) container: Vec<u8>,
    /// Not encoded; empty, or with a slash at its end.
    pub(crate) prefix: String,
}

impl Place {
    /// Writes the path of the blob of a key in place of what is in `out`.
    pub(crate) fn write(&self, key: &str, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.container);
        out.push(b'/');
        push_path(&self.prefix, out);
        push_path(key, out);
    }
}

/// The requests of a queue.
#[derive(Debug)]
pub(crate) struct Encoder {
    writer: Writer,
    place: Place,
    objects: Arc<Objects>,
    wall: Wall<Stamp>,
    key: String,
    path: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new(writer: Writer, place: &Place, objects: &Arc<Objects>, clock: &Clock) -> Self {
        let (key, path) = (String::with_capacity(1024), Vec::with_capacity(1024));
        let objects = Arc::clone(objects);
        Self { writer, place: place.clone(), objects, wall: Wall::new(clock, stamp), key, path }
    }

    fn object(&mut self, object: u32, asked: Request<'_>, out: &mut Vec<u8>) {
        self.key.clear();
        self.objects.write_key(object, &mut self.key);
        self.place.write(&self.key, &mut self.path);
        let request = Request { path: &self.path, ..asked };
        self.writer.push(&request, &self.wall.stamp(), out);
    }
}

impl Dialect for Encoder {
    const SERVICE: &'static str = "Azure Blob Storage";
    const ELEMENTS: &'static Elements = &kind::ELEMENTS;

    fn kind(status: u16, code: &str) -> ErrorKind {
        kind::kind(status, code)
    }

    fn get(&mut self, object: u32, range: Option<ByteRange>, out: &mut Vec<u8>) {
        self.object(object, Request { range, ..Request::new("GET", &[]) }, out);
    }

    fn head(&mut self, object: u32, out: &mut Vec<u8>) {
        self.object(object, Request::new("HEAD", &[]), out);
    }

    fn put(&mut self, object: u32, bytes: u64, out: &mut Vec<u8>) {
        let length = Some(bytes);
        self.object(object, Request { length, whole_blob: true, ..Request::new("PUT", &[]) }, out);
    }

    // Keys are not spread here: there is one root.
    fn list(&mut self, folder: Option<&Key>, _root: u32, token: Option<&str>, out: &mut Vec<u8>) {
        self.key.clear();
        self.key.push_str(&self.place.prefix);
        if let Some(folder) = folder {
            self.key.push_str(folder.as_str());
            self.key.push('/');
        }
        let query = page_query(&self.key, Some("/"), token, None);
        let request = Request { query: &query, ..Request::new("GET", &self.place.container) };
        self.writer.push(&request, &self.wall.stamp(), out);
    }

    fn scrub(&self, text: &str) -> String {
        self.writer.rights.scrub(text)
    }
}

/// The query of a page of a listing, its names in order.
pub(crate) fn page_query<'a>(
    prefix: &'a str,
    delimiter: Option<&'a str>,
    token: Option<&'a str>,
    most: Option<&'a str>,
) -> [(&'static str, Option<&'a str>); 6] {
    [
        ("comp", Some("list")),
        ("delimiter", delimiter),
        ("marker", token),
        ("maxresults", most),
        ("prefix", Some(prefix)),
        ("restype", Some("container")),
    ]
}

#[cfg(test)]
mod tests;
