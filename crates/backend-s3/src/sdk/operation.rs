//! One operation through the SDK.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStreamError;
use aws_sdk_s3::types::ChecksumMode;
use backend::{Buf, Clock, Completion, ErrorKind, FilePieces, Op, OpError, Request, Stamps};
use backend_net::Trail;
use dataset::Key;
use plan::Operation;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::failure::{self, Failed};
use crate::lean::{Asking, PARTS_MAX, span};
use crate::names::fnv;
use crate::open::Bucket;
use crate::{kind, listing, sums};

use super::probe::{Marks, Probe, mark};

/// What the operations of a queue share.
#[derive(Debug)]
pub(crate) struct Shared {
    bucket: Arc<Bucket>,
    client: Client,
    asking: Asking,
    folders: Vec<Option<Key>>,
    /// Keys after which a listing is given up.
    keys_max: u64,
    /// One for each connection: the pool of the SDK has no bound of its own.
    connections: Semaphore,
    clock: Clock,
    pub(crate) messages: AtomicU64,
    /// Replies that came with a checksum of their bytes, which the SDK verifies.
    pub(crate) checked: AtomicU64,
    failure: Mutex<Option<String>>,
}

/// A range of an object; `None` asks for all of it.
type Range = Option<(u64, u64)>;

impl Shared {
    pub(crate) fn new(
        bucket: &Arc<Bucket>,
        client: Client,
        asking: Asking,
        connections: u32,
        clock: &Clock,
    ) -> Self {
        let folders = if asking.operation == Operation::List { asking.objects.folders() } else { Vec::new() };
        Self {
            bucket: Arc::clone(bucket),
            client,
            keys_max: listing::keys_max(asking.objects.count()),
            asking,
            folders,
            connections: Semaphore::new(connections.max(1) as usize),
            clock: clock.clone(),
            messages: AtomicU64::new(0),
            checked: AtomicU64::new(0),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn operation(&self) -> Operation {
        self.asking.operation
    }

    /// What was counted. How many replies had a checksum is said where checksums are asked for: many services keep none.
    pub(crate) fn counted(&self) -> Vec<(String, u64)> {
        let named = |name: &str, count: &AtomicU64| (name.to_owned(), count.load(Ordering::Relaxed));
        let mut counted = vec![named("messages", &self.messages)];
        if self.bucket.config.checksum {
            counted.push(named("replies_with_checksum", &self.checked));
        }
        counted
    }

    pub(crate) fn first_failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether an operation is one that this queue was opened for.
    pub(crate) fn check(&self, op: Op) -> Result<(), OpError> {
        let objects = self.asking.objects.count();
        let (operation, known) = match op {
            Op::Read { object, .. } => (Operation::Read, object < objects),
            Op::ReadFile { object, .. } => (Operation::ReadFile, object < objects),
            Op::Stat { object } => (Operation::Stat, object < objects),
            Op::List { folder } => (Operation::List, (folder as usize) < self.folders.len()),
            Op::GetAttr { object } => (Operation::GetAttr, object < objects),
        };
        if operation != self.asking.operation {
            Err(OpError::from_errno(libc::EINVAL))
        } else if known {
            Ok(())
        } else {
            Err(kind::plain(ErrorKind::NotFound))
        }
    }

    /// As long as there is patience for one reply, however long its request waited for a connection.
    async fn patiently<T>(&self, reply: impl Future<Output = Result<T, OpError>>) -> Result<T, OpError> {
        let reply = tokio::time::timeout(self.bucket.reply_timeout, reply).await;
        reply.unwrap_or(Err(kind::plain(ErrorKind::Timeout)))
    }

    fn key(&self, object: u32) -> String {
        self.bucket.names.of(&self.asking.objects.key(object))
    }

    fn note(&self, text: impl FnOnce() -> String) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(text);
    }

    fn failed<E>(&self, error: &SdkError<E, HttpResponse>) -> OpError
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        let failed: Failed = self.bucket.failed(error);
        self.note(|| match &failed.region {
            Some(region) => format!("{} (the bucket is in the region {region})", failed.text()),
            None => failed.text(),
        });
        failed.error
    }

    /// Why a body broke off.
    fn broken(&self, error: &ByteStreamError) -> OpError {
        let text = failure::causes(error);
        self.note(|| text.clone());
        if sums::is_mismatch(&text) {
            return kind::plain(ErrorKind::Corrupt);
        }
        // The HTTP client's errors are of types that the SDK does not give out.
        if text.contains("end of file before message length") || text.contains("unexpected EOF") {
            return kind::plain(ErrorKind::Truncated);
        }
        failure::io_cause(error).unwrap_or(kind::plain(ErrorKind::Reset))
    }

    fn changed(&self) -> OpError {
        self.note(|| "the object was replaced".to_owned());
        kind::plain(ErrorKind::Changed)
    }

    /// A GET up to its headers, checked against what was asked.
    async fn get(
        &self,
        object: u32,
        range: Range,
        bytes: Option<u64>,
        marks: &Arc<Marks>,
    ) -> Result<GetObjectOutput, OpError> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        let probe = Probe::new(marks, &self.clock);
        let status = Arc::clone(&probe.status);
        let bounds = range.map(|(offset, len)| format!("bytes={offset}-{}", offset + len.saturating_sub(1)));
        let asked = self
            .client
            .get_object()
            .bucket(&self.bucket.config.bucket)
            .key(self.key(object))
            .set_range(bounds)
            .set_checksum_mode(self.bucket.config.checksum.then_some(ChecksumMode::Enabled))
            .customize()
            .interceptor(probe);
        let reply = asked.send().await.map_err(|error| {
            let error = self.failed(&error);
            let gone = error.kind == ErrorKind::Eof && bytes.is_some();
            if gone { OpError { kind: ErrorKind::Changed, ..error } } else { error }
        })?;
        mark(&marks.headers, &self.clock);
        self.hold(range, bytes, &reply, status.load(Ordering::Relaxed) == 200)?;
        if !self.asking.etags.agrees(object, reply.e_tag().map(str::as_bytes)) {
            return Err(self.changed());
        }
        if self.bucket.config.checksum && range.is_none() && sums::has_checksum(&reply) {
            self.checked.fetch_add(1, Ordering::Relaxed);
        }
        Ok(reply)
    }

    /// Holds what a reply says of its body against what was asked; `whole` is a reply that says that it has all of an object.
    fn hold(
        &self,
        range: Range,
        bytes: Option<u64>,
        reply: &GetObjectOutput,
        whole: bool,
    ) -> Result<(), OpError> {
        let unusable = |reason: &str| {
            self.note(|| format!("the reply cannot be used: {reason}"));
            Err(kind::plain(ErrorKind::Protocol))
        };
        let length = reply.content_length().and_then(|length| u64::try_from(length).ok());
        let Some(length) = length else {
            return unusable("it does not say how long its body is");
        };
        let Some((offset, len)) = range else {
            return match bytes {
                _ if !whole => unusable("a part came where all was asked"),
                Some(bytes) if bytes != length => Err(self.changed()),
                _ => Ok(()),
            };
        };
        if whole && (offset != 0 || length != len) {
            return unusable("the endpoint ignores Range");
        }
        let span = reply.content_range().and_then(|found| span(found.as_bytes())).filter(|_| !whole);
        let fits = span.is_some_and(|span| {
            span.first == offset && span.last - span.first == length.wrapping_sub(1) && length <= len
        });
        if !whole && !fits {
            return unusable("its Content-Range is not what was asked");
        }
        let total = span.and_then(|span| span.total);
        if bytes.is_some() && (length < len || total.is_some_and(|total| Some(total) != bytes)) {
            return Err(self.changed());
        }
        if length < len { Err(kind::plain(ErrorKind::Eof)) } else { Ok(()) }
    }

    async fn look(&self, object: u32, bytes: u64, marks: &Arc<Marks>) -> Result<(), OpError> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        let asked = self
            .client
            .head_object()
            .bucket(&self.bucket.config.bucket)
            .key(self.key(object))
            .customize()
            .interceptor(Probe::new(marks, &self.clock));
        let found = asked.send().await.map_err(|error| self.failed(&error))?;
        mark(&marks.headers, &self.clock);
        let same = found.content_length().and_then(|length| u64::try_from(length).ok()) == Some(bytes);
        if same && self.asking.etags.agrees(object, found.e_tag().map(str::as_bytes)) {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    async fn list(&self, folder: u32) -> Result<u64, OpError> {
        let mut entries = 0;
        for root in 0..self.asking.roots {
            let mut prefix = self.bucket.names.root(root);
            if let Some(folder) = &self.folders[folder as usize] {
                prefix = format!("{prefix}{folder}/");
            }
            let (mut token, mut trail) = (None, Trail::default());
            loop {
                self.messages.fetch_add(1, Ordering::Relaxed);
                let asked = self
                    .client
                    .list_objects_v2()
                    .bucket(&self.bucket.config.bucket)
                    .prefix(&prefix)
                    .delimiter("/")
                    .set_continuation_token(token.take());
                let page = async { asked.send().await.map_err(|error| self.failed(&error)) };
                let page = self.patiently(page).await?;
                entries += (page.contents().len() + page.common_prefixes().len()) as u64;
                if page.is_truncated() != Some(true) {
                    break;
                }
                token = page.next_continuation_token().map(str::to_owned);
                let going = |token: &String| entries <= self.keys_max && trail.goes_on(fnv(token.as_bytes()));
                if !token.as_ref().is_some_and(going) {
                    self.note(|| {
                        "a listing does not come to an end, or does not say where it goes on".to_owned()
                    });
                    return Err(kind::plain(ErrorKind::Protocol));
                }
            }
        }
        // There are no folders in S3: one without entries is one that is not there.
        if entries == 0 { Err(kind::error(404, "")) } else { Ok(entries) }
    }

    /// A body into the buffer, from its start again whenever `wrap` bytes of it are full.
    async fn stream(
        &self,
        mut reply: GetObjectOutput,
        buf: &mut Buf,
        wrap: usize,
        marks: &Marks,
    ) -> Result<u64, OpError> {
        let slice = &mut buf.as_mut_slice()[..wrap];
        let (mut at, mut read) = (0, 0);
        while let Some(piece) = reply.body.next().await {
            let piece = piece.map_err(|error| self.broken(&error))?;
            mark(&marks.first_byte, &self.clock);
            read += piece.len() as u64;
            let mut rest = &piece[..];
            while !rest.is_empty() {
                let room = (slice.len() - at).min(rest.len());
                slice[at..at + room].copy_from_slice(&rest[..room]);
                at = if at + room == slice.len() { 0 } else { at + room };
                rest = &rest[room..];
            }
        }
        Ok(read)
    }

    /// Ranges `from..to` of an object, several at once. What belongs to the last piece is handed to its place in the
    /// buffer; everything else is only counted, as it would be gone from the buffer in the end.
    async fn ranges(
        self: &Arc<Self>,
        object: u32,
        (from, to, part_bytes): (u64, u64, u64),
        bytes: u64,
        buf: Option<&mut Buf>,
        marks: &Arc<Marks>,
    ) -> Result<u64, OpError> {
        let kept = buf.is_some();
        let mut parts = JoinSet::new();
        let (mut next, mut read) = (from, 0);
        let mut arrived = Vec::new();
        loop {
            while next < to && (parts.len() as u64) < PARTS_MAX {
                let (offset, len) = (next, part_bytes.min(to - next));
                let (shared, marks) = (Arc::clone(self), Arc::clone(marks));
                next += len;
                parts.spawn(async move {
                    let _permit = shared.connections.acquire().await;
                    let fetched = async {
                        let mut reply = shared.get(object, Some((offset, len)), Some(bytes), &marks).await?;
                        let (mut pieces, mut read) = (Vec::new(), 0);
                        while let Some(piece) = reply.body.next().await {
                            let piece = piece.map_err(|error| shared.broken(&error))?;
                            mark(&marks.first_byte, &shared.clock);
                            read += piece.len() as u64;
                            if kept {
                                pieces.push(piece);
                            }
                        }
                        let whole = (offset, pieces);
                        if read == len { Ok(whole) } else { Err(kind::plain(ErrorKind::Truncated)) }
                    };
                    shared.patiently(fetched).await
                });
            }
            match parts.join_next().await {
                Some(Ok(Ok(part))) => arrived.push(part),
                Some(Ok(Err(error))) => return Err(error),
                Some(Err(_)) => return Err(kind::plain(ErrorKind::Other)),
                None => break,
            }
        }
        read += to - from;
        if let Some(buf) = buf {
            for (offset, pieces) in arrived {
                let mut at = (offset - from) as usize;
                for piece in pieces {
                    buf.as_mut_slice()[at..at + piece.len()].copy_from_slice(&piece);
                    at += piece.len();
                }
            }
        }
        Ok(read)
    }

    async fn read_file(
        self: &Arc<Self>,
        object: u32,
        bytes: u64,
        buf: &mut Buf,
        marks: &Arc<Marks>,
    ) -> Result<u64, OpError> {
        if self.asking.head {
            let _permit = self.connections.acquire().await;
            self.patiently(self.look(object, bytes, marks)).await?;
        }
        let block = self.asking.block_bytes.max(1);
        if let Some(part_bytes) = self.asking.part_bytes.filter(|part_bytes| *part_bytes < bytes) {
            let last = FilePieces::new(bytes, block).last().offset;
            self.ranges(object, (0, last, part_bytes), bytes, None, marks).await?;
            self.ranges(object, (last, bytes, part_bytes), bytes, Some(buf), marks).await?;
            return Ok(bytes);
        }
        let _permit = self.connections.acquire().await;
        self.patiently(async {
            let reply = self.get(object, None, Some(bytes), marks).await?;
            let read = self.stream(reply, buf, block as usize, marks).await?;
            if read == bytes { Ok(read) } else { Err(kind::plain(ErrorKind::Truncated)) }
        })
        .await
    }

    async fn act(self: &Arc<Self>, op: Op, buf: &mut Buf, marks: &Arc<Marks>) -> Result<u64, OpError> {
        match op {
            Op::Read { object, offset, len } => {
                let _permit = self.connections.acquire().await;
                self.patiently(async {
                    let reply = self.get(object, Some((offset, u64::from(len))), None, marks).await?;
                    let read = self.stream(reply, buf, len as usize, marks).await?;
                    if read == u64::from(len) { Ok(read) } else { Err(kind::plain(ErrorKind::Truncated)) }
                })
                .await
            }
            Op::ReadFile { object, bytes } => self.read_file(object, bytes, buf, marks).await,
            Op::Stat { object } | Op::GetAttr { object } => {
                let _permit = self.connections.acquire().await;
                let bytes = self.asking.objects.bytes(object);
                self.patiently(self.look(object, bytes, marks)).await.map(|()| 0)
            }
            Op::List { folder } => {
                let _permit = self.connections.acquire().await;
                self.list(folder).await
            }
        }
    }
}

/// An operation to its end. It began when it was submitted: whatever else the runtime did first is the SDK's time.
pub(crate) async fn run(shared: &Arc<Shared>, mut request: Request, begun_ns: u64) -> Completion {
    let marks = Arc::new(Marks::default());
    let result = shared.act(request.op, &mut request.buf, &marks).await;
    let done_ns = shared.clock.now_ns();
    let mut phase_ns = [0; backend::PHASE_STAMPS];
    if shared.asking.operation.reads_bytes() {
        let reached = [&marks.sent, &marks.headers, &marks.first_byte];
        for (phase_ns, mark) in phase_ns.iter_mut().zip(reached) {
            // A body without bytes has no first one.
            let at_ns = mark.load(Ordering::Relaxed);
            *phase_ns = if at_ns == 0 && result.is_ok() { done_ns } else { at_ns };
        }
    }
    let stamps = Stamps { begun_ns, phase_ns, done_ns };
    Completion { token: request.token, buf: request.buf, result, stamps }
}

/// The end of an operation that is none of this queue's.
pub(crate) fn refused(request: Request, error: OpError, now_ns: u64) -> Completion {
    let stamps = Stamps { begun_ns: now_ns, done_ns: now_ns, ..Stamps::default() };
    Completion { token: request.token, buf: request.buf, result: Err(error), stamps }
}
