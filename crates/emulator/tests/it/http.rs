//! As much of HTTP as the tests need, on a socket of one's own: what ends a connection early is seen as it is.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use emulator::{Protocol, Server, Settings};

/// How long a server may take to answer before a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server of S3 as it comes, and a client of it.
pub(crate) fn started() -> (Server, Client) {
    let server = Server::start(&Settings::new(Protocol::S3)).unwrap();
    let client = Client::connect(server.port());
    (server, client)
}

/// The same, where the server holds `/bench/k`.
pub(crate) fn holding_one() -> (Server, Client) {
    let (server, mut client) = started();
    assert_eq!(client.put("/bench/k", b"kept").status, 200);
    (server, client)
}

pub(crate) struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
    /// How the body ended, if before its length.
    pub(crate) broken: Option<Broken>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Closed,
    Reset,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
        Some(line.split_once(':')?.1.trim())
    }

    /// Status, and the code of the error that the body says.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (self.status, self.element("Code").unwrap_or(""))
    }

    /// What the first element of this name holds.
    pub(crate) fn element(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.text().split_once(&format!("<{name}>"))?;
        Some(rest.split_once('<')?.0)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new() }
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn put(&mut self, path: &str, body: &[u8]) -> Reply {
        self.send("PUT", path, &[], body)
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Reply {
        self.send_to("127.0.0.1", (method, path), headers, body)
    }

    /// Sends a request that asks for `host`.
    pub(crate) fn send_to(
        &mut self,
        host: &str,
        (method, path): (&str, &str),
        headers: &[&str],
        body: &[u8],
    ) -> Reply {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n");
        let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
        self.stream.write_all(format!("{head}{headers}\r\n").as_bytes()).unwrap();
        self.stream.write_all(body).unwrap();
        self.receive(method != "HEAD")
    }

    /// The next reply. One that only tells the client to go on is a reply too.
    pub(crate) fn receive(&mut self, has_body: bool) -> Reply {
        let end = loop {
            if let Some(at) = self.unread.windows(4).position(|end| end == b"\r\n\r\n") {
                break at + 4;
            }
            assert_eq!(self.read_more(), None, "the connection ended within a head");
        };
        let head = String::from_utf8(self.unread.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new(), broken: None };
        let length = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
        while has_body && self.unread.len() < length && reply.broken.is_none() {
            reply.broken = self.read_more();
        }
        let length = if has_body { length.min(self.unread.len()) } else { 0 };
        reply.body = self.unread.drain(..length).collect();
        reply
    }

    fn read_more(&mut self) -> Option<Broken> {
        let mut buffer = vec![0; 65_536];
        match self.stream.read(&mut buffer) {
            Ok(0) => Some(Broken::Closed),
            Ok(read) => {
                self.unread.extend_from_slice(&buffer[..read]);
                None
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Some(Broken::Reset),
            Err(error) => panic!("{error}"),
        }
    }
}
