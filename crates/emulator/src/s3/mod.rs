//! S3 over plain HTTP: `s3s` reads requests, checks their signatures and writes replies; the buckets, the delays
//! and the faults are ours.

mod api;
mod bucket;
mod buckets;
mod condition;
mod copy;
mod description;
mod digest;
mod host;
mod known;
mod lent;
mod listing;
mod object;
mod paced;

use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderValue, SERVER,
};
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpError, HttpResponse};
use tokio::net::TcpStream;

use crate::content::Budget;
use crate::draw::Fault;
use crate::line::{Line, Scissors};
use crate::send_limits::SendLimits;
use crate::settings::{BucketKeys, Settings};
use crate::shape::{Extent, RequestKind, Shape, Ticket};
use crate::timer::Timer;
use bucket::CHUNK_BYTES;
use buckets::Buckets;
use digest::Whole;
use host::Hosts;
use lent::Rest;
use paced::Paced;

/// What every response says of its server: a target at an address that was pasted is known by it as no storage.
const SERVER_NAME: HeaderValue = HeaderValue::from_static("feedline-emulator");

/// Bodies up to this size are taken before they are looked at.
// `s3s` refuses a request before it reads its body. A connection that is closed over unread bytes is reset,
// and the client may never see why.
const SMALL_BODY_BYTES: u64 = 64 << 10;

/// A list of keys to delete is taken up to this size: a thousand of the longest, with every character escaped.
const LIST_BYTES: u64 = 8 << 20;

/// The service that all connections share.
pub(crate) struct Service {
    inner: S3Service,
    shape: Arc<Shape>,
    bucket: String,
    prefix_folders: usize,
}

/// What a request is about, by its host and its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Named<'a> {
    bucket: &'a str,
    /// Empty where the bucket is meant.
    key: &'a str,
}

impl Service {
    pub(crate) fn new(settings: &Settings, shape: &Arc<Shape>, budget: &Arc<Budget>) -> Self {
        let mut builder = S3ServiceBuilder::new(Buckets::new(&settings.bucket, shape, budget));
        if let BucketKeys::Signed { id, secret } = &settings.keys {
            builder.set_auth(SimpleAuth::from_single(id.as_str(), secret.reveal()));
        }
        builder.set_host(Hosts { bucket: settings.bucket.clone() });
        Self {
            inner: builder.build(),
            shape: Arc::clone(shape),
            bucket: settings.bucket.clone(),
            prefix_folders: settings.prefix_folders as usize,
        }
    }

    /// Serves one connection to its end.
    pub(crate) async fn serve(self: Arc<Self>, socket: TcpStream, timer: Arc<Timer>) {
        let scissors = Arc::new(Scissors::default());
        let line = Line::new(socket, &scissors, None);
        let limits = self.shape.send_limits();
        let answer = service_fn(move |request| {
            let (service, scissors, timer) = (Arc::clone(&self), Arc::clone(&scissors), Arc::clone(&timer));
            let limits = limits.clone();
            async move {
                let mut response = service.answer(request, &scissors, limits.as_ref(), &timer).await?;
                response.headers_mut().insert(SERVER, SERVER_NAME);
                Ok::<_, HttpError>(response)
            }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        // The default allows many times a block of what is generated and not yet sent.
        http.max_buf_size(512 * 1024);
        // How a connection ends is the client's business, or a fault that was asked for.
        let _ = http.serve_connection(TokioIo::new(line), answer).await;
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        scissors: &Scissors,
        limits: Option<&Arc<SendLimits>>,
        timer: &Arc<Timer>,
    ) -> Result<HttpResponse, HttpError> {
        let (ticket, object, is_data) = {
            let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
            let named = named(request.uri().path(), host::bucket(host, &self.bucket));
            let kind = kind(request.method(), named.key, request.uri().query());
            let prefix = prefix(named.key, self.prefix_folders);
            // Each bucket has prefixes of its own.
            let ticket = self.shape.admit(kind, &format!("{}/{prefix}", named.bucket));
            (ticket, hash(&[named.bucket, named.key]), kind == RequestKind::Data)
        };
        let Some(ticket) = ticket else { return Ok(slow_down()) };
        match ticket.fault {
            Some(Fault::SlowDown) => return Ok(slow_down()),
            Some(Fault::ServerError) => {
                return Ok(error(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "InternalError",
                    "asked for by the seed",
                ));
            }
            // HTTP has no handles; an object that is gone is what comes closest.
            Some(Fault::Stale) => {
                return Ok(error(StatusCode::NOT_FOUND, "NoSuchKey", "asked for by the seed"));
            }
            Some(Fault::Reset | Fault::Stall | Fault::Truncated | Fault::Corrupted) | None => {}
        }
        let (rest, is_waiting) = (Rest::default(), is_waiting(&request));
        let mut request = taken(request, &rest).await?;
        if let Some(fault) = ticket.fault {
            request.extensions_mut().insert(fault);
        }
        let mut response = self.inner.call(request).await?;
        // Who waits to be told to go on is told to stop.
        // The others are still sending: of 20 clients 15 saw a broken pipe in place of 412 when the rest was
        // left unread.
        if !is_waiting {
            rest.drain().await;
        }
        // RFC 9110, section 15.4.5: a 304 has no content, and `s3s` gives every error a text.
        if response.status() == StatusCode::NOT_MODIFIED {
            *response.body_mut() = Body::empty();
        }
        let ready_ns = self.hold(&ticket, object, &response, timer).await;
        let bytes = number(response.headers(), CONTENT_LENGTH.as_str()).unwrap_or(0);
        let mut sent_bytes = bytes;
        if let Some(fault @ (Fault::Reset | Fault::Truncated)) = ticket.fault {
            scissors.cut_body(bytes, fault == Fault::Reset);
            // Only what goes before the cut.
            sent_bytes /= 2;
        }
        let has_data = is_data && response.status().is_success();
        // Larger bodies are counted as they are made.
        if has_data && bytes <= CHUNK_BYTES {
            self.shape.stats.sent(sent_bytes);
        }
        Ok(match limits.filter(|_| has_data && ticket.is_paced()) {
            Some(limits) => response.map(|body| Paced::body(body, limits, timer, ready_ns, bytes)),
            None => response,
        })
    }

    async fn hold(&self, ticket: &Ticket, object: u64, response: &HttpResponse, timer: &Arc<Timer>) -> u64 {
        let extent = response.status().is_success().then(|| Extent {
            object,
            at: range_start(response.headers()),
            bytes: number(response.headers(), CONTENT_LENGTH.as_str()).unwrap_or(0),
        });
        self.shape.hold(ticket, extent, timer).await
    }
}

/// A request whose small body has come in full, so that no refusal leaves it unread. A list of keys is held against its
/// digests as it came.
async fn taken(request: Request<Incoming>, rest: &Rest) -> Result<Request<Body>, HttpError> {
    let bytes = number(request.headers(), CONTENT_LENGTH.as_str());
    let is_list = *request.method() == Method::POST && has(request.uri().query(), "delete");
    let limit = match (is_list, is_waiting(&request)) {
        (true, _) => LIST_BYTES,
        // To begin with the body is to tell a client to go on that is to be told to stop.
        (false, true) => 0,
        (false, false) => SMALL_BODY_BYTES,
    };
    let mut request = request.map(|body| rest.lend(body));
    if bytes.is_some_and(|bytes| bytes <= limit) {
        let body = request.body_mut().store_all_limited(limit as usize).await.map_err(HttpError::new)?;
        request.extensions_mut().insert(Whole(body));
    }
    Ok(request)
}

/// Whether a client sends its body only once it is told to go on.
fn is_waiting<T>(request: &Request<T>) -> bool {
    request.headers().contains_key(EXPECT)
}

/// The bucket that a host names, or the path, and what the path names behind it.
fn named<'a>(path: &'a str, of_host: Option<&'a str>) -> Named<'a> {
    let path = path.trim_start_matches('/');
    let (bucket, key) = match of_host {
        Some(bucket) => (bucket, path),
        None => path.split_once('/').unwrap_or((path, "")),
    };
    Named { bucket, key }
}

/// Whether a query has this name, with a value or without.
fn has(query: Option<&str>, name: &str) -> bool {
    // By name: SDKs add their operation to the query (`x-id=`), and a search in the text found other requests
    // than were sent.
    query.unwrap_or_default().split('&').any(|pair| pair.split('=').next() == Some(name))
}

fn kind(method: &Method, key: &str, query: Option<&str>) -> RequestKind {
    let is_about = ["uploadId", "tagging"].iter().any(|name| has(query, name));
    match *method {
        Method::GET if !key.is_empty() && !is_about => RequestKind::Data,
        Method::GET | Method::HEAD => RequestKind::Metadata,
        _ => RequestKind::Other,
    }
}

/// The folders that begin a key, at most so many: what shares one rate of requests.
fn prefix(key: &str, folders: usize) -> &str {
    let ends = key.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
    ends.take(folders).last().map_or("", |end| &key[..end])
}

fn hash(names: &[&str]) -> u64 {
    // Without random keys, so that a token is valid on every connection.
    let mut hasher = DefaultHasher::new();
    for name in names {
        hasher.write(name.as_bytes());
        // No text has this byte: two names are told from one.
        hasher.write_u8(0xff);
    }
    hasher.finish()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// Where the answer begins within its object: `bytes 4096-8191/65536`.
fn range_start(headers: &HeaderMap) -> u64 {
    let range = headers.get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
    let first = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok());
    first.unwrap_or(0)
}

fn slow_down() -> HttpResponse {
    error(StatusCode::SERVICE_UNAVAILABLE, "SlowDown", "Please reduce your request rate.")
}

fn error(status: StatusCode, code: &str, message: &str) -> HttpResponse {
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    );
    let mut response = HttpResponse::new(Body::from(xml));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_the_folders_that_begin_a_key() {
        assert_eq!(prefix("bench/p1/set/000/7", 1), "bench");
        assert_eq!(prefix("bench/p1/set/000/7", 2), "bench/p1");
        assert_eq!(prefix("bench/7", 2), "bench");
        assert_eq!(prefix("7", 2), "");
        assert_eq!(prefix("bench/7", 0), "");
    }

    #[test]
    fn requests_are_told_apart_by_their_line() {
        let kind = |method, path, query| kind(&method, named(path, None).key, query);
        assert_eq!(kind(Method::GET, "/b/key", None), RequestKind::Data);
        assert_eq!(kind(Method::GET, "/b/key", Some("x-id=GetObject")), RequestKind::Data);
        assert_eq!(kind(Method::GET, "/b/key", Some("uploadId=1")), RequestKind::Metadata);
        assert_eq!(kind(Method::GET, "/b", Some("list-type=2&prefix=a")), RequestKind::Metadata);
        assert_eq!(kind(Method::GET, "/b/", None), RequestKind::Metadata);
        assert_eq!(kind(Method::GET, "/b/key", Some("tagging&x-id=GetObjectTagging")), RequestKind::Metadata);
        assert_eq!(kind(Method::HEAD, "/b/key", None), RequestKind::Metadata);
        assert_eq!(kind(Method::PUT, "/b/key", None), RequestKind::Other);
        assert_eq!(kind(Method::POST, "/b", Some("delete")), RequestKind::Other);
    }
}
