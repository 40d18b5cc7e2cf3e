//! One operation through the SDK.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::ByteStreamError;
use aws_sdk_s3::types::ChecksumMode;
use backend::{Buf, Clock, Completion, ErrorKind, FilePieces, Op, OpError, Request, Stamps};
use backend_http::{Asking, ByteRange, PARTS_MAX, content_range, fnv, plain};
use backend_net::Trail;
use dataset::Key;
use plan::Operation;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::failure::{self, Failed};
use crate::open::Bucket;
use crate::{kind, sums};

use super::object;
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

impl Shared {
    pub(crate) fn new(
        bucket: &Arc<Bucket>,
        client: Client,
        asking: Asking,
        connections: u32,
        clock: &Clock,
    ) -> Self {
        Self {
            bucket: Arc::clone(bucket),
            client,
            keys_max: asking.keys_max(),
            folders: asking.folders(),
            asking,
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

    /// As [`Asking::check`].
    pub(crate) fn check(&self, op: Op) -> Result<(), OpError> {
        self.asking.check(op, self.folders.len())
    }

    /// Waits for one reply with the patience for it, which begins when its request has a connection.
    async fn patiently<T>(&self, reply: impl Future<Output = Result<T, OpError>>) -> Result<T, OpError> {
        let reply = tokio::time::timeout(self.bucket.reply_timeout, reply).await;
        reply.unwrap_or(Err(plain(ErrorKind::Timeout)))
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
        self.note(|| match (&failed.sent_on, &failed.region) {
            (Some(sent_on), _) => format!("{}; {sent_on}: {}", failed.text(), kind::GATEWAYS_FETCH),
            (None, Some(region)) => format!("{} (the bucket is in the region {region})", failed.text()),
            (None, None) => failed.text(),
        });
        failed.error
    }

    /// Why a body broke off.
    fn broken(&self, error: &ByteStreamError) -> OpError {
        let text = failure::causes(error);
        self.note(|| text.clone());
        if sums::is_mismatch(&text) {
            return plain(ErrorKind::Corrupt);
        }
        // The HTTP client's errors are of types that the SDK does not give out.
        if text.contains("end of file before message length") || text.contains("unexpected EOF") {
            return plain(ErrorKind::Truncated);
        }
        failure::io_cause(error).unwrap_or(plain(ErrorKind::Reset))
    }

    fn changed(&self) -> OpError {
        self.note(|| "the object was replaced".to_owned());
        plain(ErrorKind::Changed)
    }

    /// A GET up to its headers, checked against what was asked.
    async fn get(
        &self,
        object: u32,
        range: Option<ByteRange>,
        bytes: Option<u64>,
        marks: &Arc<Marks>,
    ) -> Result<GetObjectOutput, OpError> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        let probe = Probe::new(marks, &self.clock);
        let status = Arc::clone(&probe.status);
        let asked = self
            .client
            .get_object()
            .bucket(&self.bucket.config.bucket)
            .key(self.key(object))
            .set_range(range.map(ByteRange::header))
            .set_checksum_mode(self.bucket.config.checksum.then_some(ChecksumMode::Enabled))
            .customize()
            .interceptor(probe);
        let reply = asked.send().await.map_err(|error| {
            let error = self.failed(&error);
            // A range behind the end of an object of a known size: the object is not the planned one.
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
        range: Option<ByteRange>,
        bytes: Option<u64>,
        reply: &GetObjectOutput,
        whole: bool,
    ) -> Result<(), OpError> {
        let unusable = |reason: &str| {
            self.note(|| format!("the reply cannot be used: {reason}"));
            Err(plain(ErrorKind::Protocol))
        };
        let length = reply.content_length().and_then(|length| u64::try_from(length).ok());
        let Some(length) = length else {
            return unusable("it does not say how long its body is");
        };
        let Some(range) = range else {
            return match bytes {
                _ if !whole => unusable("a part came where all was asked"),
                Some(bytes) if bytes != length => Err(self.changed()),
                _ => Ok(()),
            };
        };
        let found = reply.content_range().and_then(|found| content_range(found.as_bytes()));
        if let Err(reason) = range.check(length, whole, found) {
            return unusable(reason);
        }
        let total = found.filter(|_| !whole).and_then(|found| found.total);
        if bytes.is_some() && (length < range.len || total.is_some_and(|total| Some(total) != bytes)) {
            return Err(self.changed());
        }
        if length < range.len { Err(plain(ErrorKind::Eof)) } else { Ok(()) }
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
                    return Err(plain(ErrorKind::Protocol));
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

    /// Fetches the bytes `from..to` of an object in ranges, several at once. With `buf` they go into the buffer; without
    /// it they are only counted, as they would be gone from the buffer in the end.
    async fn ranges(
        self: &Arc<Self>,
        object: u32,
        Range { start: from, end: to }: Range<u64>,
        part_bytes: u64,
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
                        let mut reply =
                            shared.get(object, Some(ByteRange { offset, len }), Some(bytes), &marks).await?;
                        let (mut pieces, mut read) = (Vec::new(), 0);
                        while let Some(piece) = reply.body.next().await {
                            let piece = piece.map_err(|error| shared.broken(&error))?;
                            mark(&marks.first_byte, &shared.clock);
                            read += piece.len() as u64;
                            // Bodies of parts are kept as the SDK gave them and copied at the end, as parts
                            // may not share the buffer while they come.
                            if kept {
                                pieces.push(piece);
                            }
                        }
                        let whole = (offset, pieces);
                        if read == len { Ok(whole) } else { Err(plain(ErrorKind::Truncated)) }
                    };
                    shared.patiently(fetched).await
                });
            }
            match parts.join_next().await {
                Some(Ok(Ok(part))) => arrived.push(part),
                // Dropping the set aborts the other parts.
                Some(Ok(Err(error))) => return Err(error),
                Some(Err(_)) => return Err(plain(ErrorKind::Other)),
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
            self.ranges(object, 0..last, part_bytes, bytes, None, marks).await?;
            self.ranges(object, last..bytes, part_bytes, bytes, Some(buf), marks).await?;
            return Ok(bytes);
        }
        let _permit = self.connections.acquire().await;
        self.patiently(async {
            let reply = self.get(object, None, Some(bytes), marks).await?;
            let read = self.stream(reply, buf, block as usize, marks).await?;
            if read == bytes { Ok(read) } else { Err(plain(ErrorKind::Truncated)) }
        })
        .await
    }

    /// Replaces an object by one PUT, whose body is made of the buffer.
    async fn put(&self, object: u32, bytes: u64, buf: &mut Buf) -> Result<u64, OpError> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        let pieces = FilePieces::new(bytes, self.asking.block_bytes);
        let asked = self
            .client
            .put_object()
            .bucket(&self.bucket.config.bucket)
            .key(self.key(object))
            .body(object::stream(pieces, buf.as_slice()));
        asked.send().await.map_err(|error| self.failed(&error))?;
        // The caller holds what lies at the end of the object against its buffer.
        pieces.number(pieces.count() - 1, buf.as_mut_slice());
        Ok(bytes)
    }

    async fn act(self: &Arc<Self>, op: Op, buf: &mut Buf, marks: &Arc<Marks>) -> Result<u64, OpError> {
        match op {
            Op::Read { object, offset, len } => {
                let _permit = self.connections.acquire().await;
                self.patiently(async {
                    let reply = self
                        .get(object, Some(ByteRange { offset, len: u64::from(len) }), None, marks)
                        .await?;
                    let read = self.stream(reply, buf, len as usize, marks).await?;
                    if read == u64::from(len) { Ok(read) } else { Err(plain(ErrorKind::Truncated)) }
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
            Op::WriteFile { object, bytes } => {
                let _permit = self.connections.acquire().await;
                // The SDK's future of a PUT is large, and the others would be as large with it.
                Box::pin(self.patiently(self.put(object, bytes, buf))).await
            }
            // Refused where a queue is opened.
            Op::Write { .. } | Op::Names { .. } => Err(plain(ErrorKind::Other)),
        }
    }
}

/// Runs an operation to its end. It begins when it is submitted: what the runtime does first is the SDK's time.
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

/// The completion of an operation that this queue does not take.
pub(crate) fn refused(request: Request, error: OpError, now_ns: u64) -> Completion {
    let stamps = Stamps { begun_ns: now_ns, done_ns: now_ns, ..Stamps::default() };
    Completion { token: request.token, buf: request.buf, result: Err(error), stamps }
}
