//! Non-blocking sockets and requests signed by hand: what a GET costs at least.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;

use anyhow::{Context as _, Result, bail, ensure};

use crate::Args;
use crate::draw::Draw;
use crate::sign::Signer;
use crate::tally::{Tally, now_s};

/// Room for the head of a response.
const HEAD_BYTES: usize = 4096;
/// Events taken at once.
const EVENTS: usize = 64;

/// A connection with one request under way. Head and body come into one buffer, so that nothing is copied twice.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// Where the response ends, once its head is there.
    end: Option<usize>,
}

struct Reader<'a> {
    args: &'a Args,
    paths: Vec<String>,
    draw: Draw,
    signer: Signer,
    request: String,
    tally: Tally,
}

/// Reads by one request at a time on each of as many connections as the depth says.
pub(crate) fn read(args: &Args) -> Result<Tally> {
    let mut reader = Reader {
        args,
        paths: (0..args.objects).map(|object| format!("/{}/{}", args.bucket, args.key(object))).collect(),
        draw: Draw::new(args.objects, args.object_bytes, args.block_bytes),
        signer: Signer::new(&args.address),
        request: String::new(),
        tally: Tally::default(),
    };
    // SAFETY: the call takes no pointer.
    let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    ensure!(epoll >= 0, "epoll_create1: {}", std::io::Error::last_os_error());
    let mut connections = (0..args.depth).map(|_| open(args)).collect::<Result<Vec<_>>>()?;
    for (index, connection) in connections.iter().enumerate() {
        watch(epoll, connection, index)?;
    }
    let begun_s = now_s();
    for connection in &mut connections {
        reader.issue(connection)?;
    }
    let mut outstanding = connections.len();
    while outstanding > 0 {
        let going_on = now_s() - begun_s < args.seconds;
        for index in ready(epoll)? {
            if !reader.receive(&mut connections[index])? {
                continue;
            }
            reader.tally.ops += 1;
            if going_on {
                reader.tally.bytes += args.block_bytes;
                reader.issue(&mut connections[index])?;
            } else {
                outstanding -= 1;
            }
        }
    }
    Ok(Tally { window_s: args.seconds, ..reader.tally })
}

impl Reader<'_> {
    fn issue(&mut self, connection: &mut Connection) -> Result<()> {
        let (object, offset) = self.draw.next();
        let range = (offset, offset + self.args.block_bytes - 1);
        self.signer.get(&self.paths[object as usize], range, &mut self.request);
        connection.filled = 0;
        connection.end = None;
        // A request is far smaller than what a socket takes at once.
        let sent = connection.stream.write(self.request.as_bytes()).context("send")?;
        ensure!(sent == self.request.len(), "a request was sent in part");
        Ok(())
    }

    /// Takes what is there. Whether that was the last of the response.
    fn receive(&self, connection: &mut Connection) -> Result<bool> {
        loop {
            let room = connection.buffer.len() - connection.filled;
            match connection.stream.read(&mut connection.buffer[connection.filled..]) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(bytes) => {
                    connection.filled += bytes;
                    if connection.end.is_none() {
                        connection.end = self.end(&connection.buffer[..connection.filled])?;
                    }
                    if connection.end == Some(connection.filled) {
                        return Ok(true);
                    }
                    if bytes < room {
                        return Ok(false);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error).context("receive"),
            }
        }
    }

    /// Where a response ends whose head is all there.
    fn end(&self, response: &[u8]) -> Result<Option<usize>> {
        let Some(head) = response.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(None) };
        let text = std::str::from_utf8(&response[..head])?;
        ensure!(text.starts_with("HTTP/1.1 206"), "{text}");
        let length = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<u64>().ok())?
        });
        ensure!(length == Some(self.args.block_bytes), "{length:?} bytes came\n{text}");
        Ok(Some(head + 4 + self.args.block_bytes as usize))
    }
}

fn open(args: &Args) -> Result<Connection> {
    let stream = TcpStream::connect(&args.address).with_context(|| args.address.clone())?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(Connection { stream, buffer: vec![1; HEAD_BYTES + args.block_bytes as usize], filled: 0, end: None })
}

fn watch(epoll: i32, connection: &Connection, index: usize) -> Result<()> {
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: index as u64 };
    // SAFETY: both descriptors are open and the pointer is to a local that lives across the call.
    let added =
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, connection.stream.as_raw_fd(), &raw mut event) };
    ensure!(added == 0, "epoll_ctl: {}", std::io::Error::last_os_error());
    Ok(())
}

/// The connections that have something, after waiting for one that does.
fn ready(epoll: i32) -> Result<impl Iterator<Item = usize>> {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
    // SAFETY: the pointer is to a local of that many events that lives across the call.
    let count = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), EVENTS as i32, 10_000) };
    ensure!(count > 0, "no answer within 10 s: {}", std::io::Error::last_os_error());
    Ok(events.into_iter().take(count as usize).map(|event| event.u64 as usize))
}
