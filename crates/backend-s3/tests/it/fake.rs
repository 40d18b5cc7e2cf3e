//! A service of our own that knows one bucket of four objects, and answers as a test wants.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dataset::{Objects, payload};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::SockRef;

use crate::support::{SEED, key};

pub(crate) const BYTES: u64 = 10_000;

pub(crate) fn objects() -> Arc<Objects> {
    Arc::new(Objects::uniform(key("d"), 4, BYTES))
}

/// A request.
pub(crate) struct Asked {
    pub(crate) head: String,
    /// Requests for the same object, or the same path, that came before it.
    pub(crate) number: u64,
    /// What the last PUT of this path brought.
    pub(crate) written: Vec<u8>,
}

/// What to do about a request.
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Sends, then closes.
    Close(Vec<u8>),
    /// Sends, then resets the connection.
    Reset(Vec<u8>),
    /// Sends, then says nothing more.
    Silence(Vec<u8>),
}

pub(crate) type Answer = fn(&Asked) -> Act;

impl Asked {
    /// The object asked for; `None` where it is a listing.
    pub(crate) fn object(&self) -> Option<u32> {
        let end = self.head.find(".bin")?;
        self.head[end - 9..end].parse().ok()
    }

    pub(crate) fn is_look(&self) -> bool {
        self.head.starts_with("HEAD ")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let of =
            |line: &'_ str| line.split_once(':').is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| of(line)).map(|line| line.split_once(':').unwrap().1.trim())
    }

    /// First and last byte asked for.
    fn range(&self) -> Option<(u64, u64)> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse::<u64>().ok()?.min(BYTES - 1)))
    }

    /// What was asked for, with fields and a length that need not be right.
    pub(crate) fn data(&self, fields: &str, length: impl FnOnce(u64) -> u64) -> Vec<u8> {
        let (first, last) = self.range().unwrap_or((0, BYTES - 1));
        let mut body = vec![0; (last + 1 - first) as usize];
        payload::fill(SEED, self.object().unwrap(), first, &mut body);
        let status = if self.range().is_some() { "206 Partial Content" } else { "200 OK" };
        let length = length(body.len() as u64);
        let head = format!(
            "HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\nContent-Range: bytes \
             {first}-{last}/{BYTES}\r\n\r\n"
        );
        let body = if self.is_look() { Vec::new() } else { body };
        [head.into_bytes(), body].concat()
    }

    /// What a service should say.
    pub(crate) fn well(&self) -> Act {
        if self.object().is_some() {
            return Act::Send(self.data("ETag: \"1\"\r\n", |length| length));
        }
        Act::Send(text("200 OK", "", "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"))
    }

    /// An error that repeats what a careless service would: who asked, and by which signature.
    pub(crate) fn error(&self, status: &str, code: &str, fields: &str) -> Vec<u8> {
        let said = ["authorization", "x-amz-security-token"].map(|name| self.header(name).unwrap_or("none"));
        let message = said.join(" and ");
        let error = format!("<Error><Code>{code}</Code><Message>no: {message}</Message></Error>");
        text(status, fields, if self.is_look() { "" } else { &error })
    }
}

pub(crate) fn text(status: &str, fields: &str, text: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

/// Signatures that came, and how often each object was asked for.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) signatures: Vec<String>,
    /// First lines of all requests.
    pub(crate) lines: Vec<String>,
    counts: [u64; 4],
    paths: HashMap<String, (u64, Vec<u8>)>,
}

pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

impl Fake {
    /// Serves until the process ends.
    pub(crate) fn serve(answer: Answer) -> Self {
        Self::start("127.0.0.1", answer, None)
    }

    /// At every address of this machine.
    pub(crate) fn serve_everywhere(answer: Answer) -> Self {
        Self::start("0.0.0.0", answer, None)
    }

    pub(crate) fn serve_tls(answer: Answer, tls: Arc<ServerConfig>) -> Self {
        Self::start("127.0.0.1", answer, Some(tls))
    }

    fn start(at: &str, answer: Answer, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((at, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (seen, tls) = (Arc::clone(&kept), tls.clone());
                std::thread::spawn(move || {
                    let raw = socket.try_clone().unwrap();
                    match tls {
                        None => talk(socket, &raw, answer, &seen),
                        Some(tls) => {
                            let tls = ServerConnection::new(tls).unwrap();
                            talk(StreamOwned::new(tls, socket), &raw, answer, &seen)
                        }
                    }
                });
            }
        });
        Self { address, seen }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn talk(mut stream: impl Read + Write, raw: &TcpStream, answer: Answer, seen: &Mutex<Seen>) -> Option<()> {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        while let Some(end) = read.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = String::from_utf8(read.drain(..end + 4).collect()).ok()?;
            let body_bytes = length(&head);
            while read.len() < body_bytes {
                let bytes = stream.read(&mut piece).ok()?;
                read.extend_from_slice(piece.get(..bytes).filter(|piece| !piece.is_empty())?);
            }
            let body = read.drain(..body_bytes).collect();
            match answer(&note(head, body, seen)) {
                Act::Send(bytes) => stream.write_all(&bytes).ok()?,
                Act::Close(bytes) => return stream.write_all(&bytes).ok(),
                Act::Reset(bytes) => {
                    stream.write_all(&bytes).ok()?;
                    return SockRef::from(raw).set_linger(Some(Duration::ZERO)).ok();
                }
                Act::Silence(bytes) => {
                    stream.write_all(&bytes).ok()?;
                    return std::io::copy(&mut stream, &mut std::io::sink()).ok().map(drop);
                }
            }
        }
        let bytes = stream.read(&mut piece).ok()?;
        read.extend_from_slice(piece.get(..bytes).filter(|piece| !piece.is_empty())?);
    }
}

fn length(head: &str) -> usize {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    lengths.next().map_or(0, |(_, value)| value.trim().parse().unwrap())
}

fn note(head: String, body: Vec<u8>, seen: &Mutex<Seen>) -> Asked {
    let mut asked = Asked { head, number: 0, written: Vec::new() };
    let mut seen = seen.lock().unwrap();
    let line = asked.head.lines().next().unwrap_or_default().to_owned();
    let path = line.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
    let (number, written) = seen.paths.entry(path).or_default();
    if line.starts_with("PUT ") {
        *written = body;
    }
    (asked.number, asked.written) = (*number, written.clone());
    *number += 1;
    seen.lines.push(line);
    if let Some((_, signature)) =
        asked.header("authorization").and_then(|text| text.rsplit_once("Signature="))
    {
        seen.signatures.push(signature.to_owned());
    }
    if let Some(object) = asked.object() {
        asked.number = seen.counts[object as usize];
        seen.counts[object as usize] += 1;
    }
    asked
}
