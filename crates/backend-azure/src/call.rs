//! Calls that are not timed: a request, its body, and the whole answer, over connections that are kept.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use backend::Clock;
use backend_http::{CONNECT_TIMEOUT, ContentRange, Framing, Parsed, ReplyHead, now, parse};
use backend_net::Tls;
use rustls::{ClientConnection, StreamOwned};

use crate::asked::Request;
use crate::date::{nanoseconds, stamp};
use crate::failure::Failed;
use crate::request::Writer;
use crate::rights::Rights;

/// Attempts at a call.
// Writing a dataset takes thousands of calls; one 503 among them is no reason to give up.
const ATTEMPTS: u32 = 4;
/// The pause before the second attempt; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(200);
/// Bytes of an answer that is not a blob, at most: twice a page of 5,000 of the longest names.
pub(crate) const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 << 10;
/// An answer that still comes is waited for this many times as long as for the next byte of it.
const WHOLE_ANSWER_TIMES: u64 = 10;

/// What was answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Bytes that the service says the blob has, of a HEAD; else those of the body.
    pub(crate) length: Option<u64>,
    pub(crate) range: Option<ContentRange>,
    /// When the blob was written, nanoseconds since 1970; 0 where it is not said.
    pub(crate) modified_ns: i128,
    pub(crate) body: Vec<u8>,
}

/// Calls one endpoint.
#[derive(Debug)]
pub(crate) struct Caller {
    addresses: Vec<SocketAddr>,
    tls: Option<Tls>,
    rights: Rights,
    writer: Writer,
    patience: Duration,
    clock: Clock,
    idle: Mutex<Vec<Stream>>,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// An answer as it comes.
struct Answer {
    reply: Reply,
    /// What the head calls a failure.
    code: String,
    /// Whether the connection takes another request.
    keeps: bool,
}

impl Caller {
    /// Calls addresses that were reached; waits `patience` for each next byte.
    pub(crate) fn new(
        addresses: &[SocketAddr],
        tls: Option<&Tls>,
        (authority, rights): (String, &Rights),
        patience: Duration,
    ) -> Self {
        Self {
            addresses: addresses.to_vec(),
            tls: tls.cloned(),
            rights: rights.clone(),
            writer: Writer::new(authority, rights.clone()),
            patience,
            clock: Clock::real(),
            idle: Mutex::default(),
        }
    }

    /// Calls until the service answers other than with a failure that may pass, four times at most. The answer has `most`
    /// bytes, at most; an error may have more than that.
    pub(crate) fn call(&self, request: &Request<'_>, body: &[u8], most: usize) -> Result<Reply, Failed> {
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            match self.call_once(request, body, most) {
                Err(failed) if failed.error.kind.is_transient() => wait(pause),
                ended => return ended,
            }
            pause *= 2;
        }
        self.call_once(request, body, most)
    }

    /// Calls once.
    pub(crate) fn call_once(&self, request: &Request<'_>, body: &[u8], most: usize) -> Result<Reply, Failed> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // A service closes connections that were idle for a while: what fails on a kept one says nothing of the service.
        if let Some(stream) = idle
            && let Ok(answer) = self.exchange(stream, request, body, most)
        {
            return self.taken(answer);
        }
        let answer = self.connect().and_then(|stream| self.exchange(stream, request, body, most));
        self.taken(answer.map_err(|error| Failed::of_io(&error))?)
    }

    fn taken(&self, answer: Answer) -> Result<Reply, Failed> {
        let Answer { reply, code, .. } = answer;
        if (200..300).contains(&reply.status) {
            return Ok(reply);
        }
        Err(Failed::of_reply(reply.status, &code, &reply.body, &self.rights))
    }

    fn connect(&self) -> io::Result<Stream> {
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, CONNECT_TIMEOUT) {
                Ok(socket) => return self.opened(socket),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn opened(&self, socket: TcpStream) -> io::Result<Stream> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(self.patience))?;
        socket.set_write_timeout(Some(self.patience))?;
        let Some(tls) = &self.tls else { return Ok(Stream::Plain(socket)) };
        let connection =
            ClientConnection::new(Arc::clone(&tls.config), tls.name.clone()).map_err(io::Error::other)?;
        Ok(Stream::Encrypted(Box::new(StreamOwned::new(connection, socket))))
    }

    fn exchange(
        &self,
        mut stream: Stream,
        request: &Request<'_>,
        body: &[u8],
        most: usize,
    ) -> io::Result<Answer> {
        let mut head = Vec::with_capacity(1024);
        let date = stamp(now().duration_since(UNIX_EPOCH).unwrap_or_default());
        self.writer.clone().push(request, &date, &mut head);
        let sent = stream.send(&head, body);
        let until_ns = self.clock.now_ns() + WHOLE_ANSWER_TIMES * self.patience.as_nanos() as u64;
        let in_time = || self.clock.now_ns() < until_ns;
        // A service that refuses a request may say so, and hang up, before all of its body has come.
        let answer = match (receive(&mut stream, request.method == "HEAD", most, in_time), sent) {
            (Ok(answer), _) => answer,
            (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(error),
        };
        if answer.keeps {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        }
        Ok(answer)
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing that is timed waits here")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

impl Stream {
    fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let out: &mut dyn Write = match self {
            Self::Plain(socket) => socket,
            Self::Encrypted(tls) => tls,
        };
        out.write_all(head)?;
        out.write_all(body)?;
        out.flush()
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Plain(socket) => socket.read(into),
                Self::Encrypted(tls) => tls.read(into),
            };
            match read {
                // signal(7): a socket with a time-out is not read on by itself after a signal.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The end without TLS's own goodbye; whether bytes are missing shows in the answer.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
        }
    }
}

/// Reads an answer to its end.
fn receive(
    stream: &mut Stream,
    is_look: bool,
    most: usize,
    in_time: impl Fn() -> bool,
) -> io::Result<Answer> {
    let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, format!("its answer {reason}"));
    let mut piece = vec![0; PIECE_BYTES];
    let mut unread = Vec::new();
    let mut more = |unread: &mut Vec<u8>| -> io::Result<()> {
        if !in_time() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match stream.receive(&mut piece)? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended before the answer")),
            bytes => {
                unread.extend_from_slice(&piece[..bytes]);
                Ok(())
            }
        }
    };
    let (mut answer, mut framing) = loop {
        match parse(&unread) {
            Parsed::Head(head) => {
                let begun = begin(&head, is_look).ok_or_else(|| invalid("does not say where it ends"))?;
                let used = head.bytes;
                unread.drain(..used);
                break begun;
            }
            Parsed::Broken(reason) => return Err(invalid(&format!("cannot be used: {reason}"))),
            Parsed::Need(_) => more(&mut unread)?,
        }
    };
    // An error is text of a length of its own, however little was asked.
    let most = if answer.reply.status < 300 { most } else { ANSWER_BYTES_MAX };
    loop {
        let body = &mut answer.reply.body;
        let used = framing.take(&unread, |text| {
            // One byte more is kept, which shows that it is too long.
            let room = (most + 1 - body.len()).min(text.len());
            body.extend_from_slice(&text[..room]);
        });
        unread.drain(..used.map_err(|_| invalid("has chunks that make no sense"))?);
        if body.len() > most {
            return Err(invalid("is longer than any has reason to be"));
        }
        if framing == Framing::Ended {
            // What follows an answer that nobody asked for belongs to no request.
            answer.keeps &= unread.is_empty();
            return Ok(answer);
        }
        more(&mut unread)?;
    }
}

/// What a head says, and where the body behind it ends; `None` where that is not said.
fn begin(head: &ReplyHead<'_>, is_look: bool) -> Option<(Answer, Framing)> {
    let framing = match head.length {
        _ if is_look || matches!(head.status, 204 | 304) => Framing::Ended,
        _ if head.chunked => Framing::ChunkLength,
        Some(0) => Framing::Ended,
        Some(length) => Framing::Length(length),
        None => return None,
    };
    let reply = Reply {
        status: head.status,
        length: head.length,
        range: head.range,
        modified_ns: head.modified.and_then(nanoseconds).unwrap_or(0),
        body: Vec::new(),
    };
    let code = head.code.unwrap_or_default().to_owned();
    Some((Answer { reply, code, keeps: !head.close }, framing))
}
