//! Requests, written by hand: GET, HEAD, PUT and a page of a listing, signed.

use std::sync::Arc;

use aws_credential_types::Credentials;
use backend::{Clock, ErrorKind};
use backend_http::{ByteRange, Dialect, Elements, Wall, push_number, push_path, push_query};
use dataset::{Key, Objects};

use crate::credentials::Keyring;
use crate::endpoint::Endpoint;
use crate::kind;
use crate::names::Names;
use crate::sign::{Signed, Signer, UNSIGNED};
use crate::wall::{Stamp, stamp};

/// Writes requests. Nothing is allocated for one once its buffers have grown.
#[derive(Debug)]
pub(crate) struct Encoder {
    authority: String,
    /// What every path begins with, encoded.
    base: Vec<u8>,
    names: Names,
    objects: Arc<Objects>,
    signing: Option<Signing>,
    wall: Wall<Stamp>,
    name: String,
    key: String,
    path: Vec<u8>,
    query: Vec<u8>,
}

/// What a request has beside its name.
#[derive(Debug, Clone, Copy)]
enum With {
    Nothing,
    /// It asks for these bytes.
    Range(ByteRange),
    /// So many bytes follow it. Their sum is not signed: that would cost the processor more than to send them.
    Body(u64),
}

#[derive(Debug)]
struct Signing {
    keyring: Arc<Keyring>,
    generation: u64,
    credentials: Credentials,
    signer: Signer,
    region: String,
}

impl Signing {
    fn new(keyring: Arc<Keyring>, region: &str) -> Self {
        let generation = keyring.generation();
        let credentials = keyring.current();
        let signer = Signer::new(credentials.access_key_id(), credentials.secret_access_key(), region);
        Self { keyring, generation, credentials, signer, region: region.to_owned() }
    }

    /// Takes over credentials that were renewed.
    fn refresh(&mut self) {
        // One atomic load for each request; the credentials themselves are behind a lock.
        if self.keyring.generation() != self.generation {
            *self = Self::new(Arc::clone(&self.keyring), &self.region);
        }
    }
}

impl Encoder {
    pub(crate) fn new(
        endpoint: &Endpoint,
        names: &Names,
        objects: &Arc<Objects>,
        keyring: Option<&Arc<Keyring>>,
        clock: &Clock,
    ) -> Self {
        let mut base = Vec::new();
        push_path(&endpoint.base, &mut base);
        Self {
            authority: endpoint.origin.authority(),
            base,
            names: names.clone(),
            objects: Arc::clone(objects),
            signing: keyring.map(|keyring| Signing::new(Arc::clone(keyring), &endpoint.region)),
            wall: Wall::new(clock, stamp),
            name: String::with_capacity(1024),
            key: String::with_capacity(1024),
            path: Vec::with_capacity(1024),
            query: Vec::with_capacity(1024),
        }
    }

    fn object_path(&mut self, object: u32) {
        self.name.clear();
        self.objects.write_key(object, &mut self.name);
        self.key.clear();
        self.names.write(&self.name, &mut self.key);
        self.path.clear();
        self.path.extend_from_slice(&self.base);
        push_path(&self.key, &mut self.path);
        self.query.clear();
    }

    fn request(&mut self, method: &'static str, with: With, out: &mut Vec<u8>) {
        out.extend_from_slice(method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(&self.path);
        if !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
        out.extend_from_slice(self.authority.as_bytes());
        // Not signed, so that a proxy on the way may change them.
        out.extend_from_slice(b"\r\nUser-Agent: feedline\r\nAccept: */*\r\n");
        match with {
            With::Nothing => {}
            With::Range(range) => {
                out.extend_from_slice(b"Range: ");
                range.push(out);
                out.extend_from_slice(b"\r\n");
            }
            With::Body(bytes) => {
                out.extend_from_slice(b"Content-Length: ");
                push_number(bytes, out);
                out.extend_from_slice(b"\r\n");
            }
        }
        if let Some(signing) = &mut self.signing {
            signing.refresh();
            let stamp = self.wall.stamp();
            let date = std::str::from_utf8(&stamp).unwrap_or_default();
            let token = signing.credentials.session_token();
            let headers = [
                ("host", &*self.authority),
                ("x-amz-content-sha256", UNSIGNED),
                ("x-amz-date", date),
                ("x-amz-security-token", token.unwrap_or_default()),
            ];
            // An empty token in the signature would be another request than the one that is sent.
            let signed = if token.is_some() { &headers[..] } else { &headers[..3] };
            for (name, value) in &signed[1..] {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                out.extend_from_slice(value.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
            out.extend_from_slice(b"Authorization: ");
            let (path, query) = (&self.path, &self.query);
            let request = Signed { method, path, query, headers: signed, body: UNSIGNED };
            signing.signer.push(&request, &stamp, out);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl Dialect for Encoder {
    const SERVICE: &'static str = "S3";
    const ELEMENTS: &'static Elements = &kind::ELEMENTS;

    fn kind(status: u16, code: &str) -> ErrorKind {
        kind::kind(status, code)
    }

    fn advice(code: &str, endpoint: &str) -> Option<String> {
        let sent_on = kind::sent_on(code, endpoint)?;
        Some(format!("{sent_on}: {}", kind::GATEWAYS_FETCH))
    }

    fn get(&mut self, object: u32, range: Option<ByteRange>, out: &mut Vec<u8>) {
        self.object_path(object);
        self.request("GET", range.map_or(With::Nothing, With::Range), out);
    }

    fn head(&mut self, object: u32, out: &mut Vec<u8>) {
        self.object_path(object);
        self.request("HEAD", With::Nothing, out);
    }

    fn put(&mut self, object: u32, bytes: u64, out: &mut Vec<u8>) {
        self.object_path(object);
        self.request("PUT", With::Body(bytes), out);
    }

    fn list(&mut self, folder: Option<&Key>, root: u32, token: Option<&str>, out: &mut Vec<u8>) {
        self.path.clear();
        self.path.extend_from_slice(&self.base);
        self.key.clear();
        self.key.push_str(&self.names.root(root));
        if let Some(folder) = folder {
            self.key.push_str(folder.as_str());
            self.key.push('/');
        }
        // In the order of the names, as the signature wants them.
        self.query.clear();
        if let Some(token) = token {
            self.query.extend_from_slice(b"continuation-token=");
            push_query(token, &mut self.query);
            self.query.push(b'&');
        }
        self.query.extend_from_slice(b"delimiter=%2F&list-type=2&prefix=");
        push_query(&self.key, &mut self.query);
        self.request("GET", With::Nothing, out);
    }

    fn scrub(&self, text: &str) -> String {
        self.signing.as_ref().map_or_else(|| text.to_owned(), |signing| signing.keyring.scrub(text))
    }
}

#[cfg(test)]
pub(crate) mod tests;
