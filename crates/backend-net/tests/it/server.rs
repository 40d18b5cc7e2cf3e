//! A server on loopback whose every connection follows a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::line::Asked;

/// Seed of all content.
pub(crate) const SEED: u64 = 11;

/// One connection, as the server sees it.
pub(crate) struct Peer<S> {
    stream: BufReader<S>,
    /// The bytes of the last write.
    pub(crate) payload: Vec<u8>,
}

impl<S: Read + Write> Peer<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self { stream: BufReader::new(stream), payload: Vec::new() }
    }

    pub(crate) fn socket(&self) -> &S {
        self.stream.get_ref()
    }

    /// The next request; none when the client has gone.
    pub(crate) fn ask(&mut self) -> Option<Asked> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let asked = Asked::parse(&line);
        if asked.writes {
            self.payload.resize(asked.len as usize + 1, 0);
            self.stream.read_exact(&mut self.payload).ok()?;
            assert_eq!(self.payload.pop(), Some(b'.'), "the trailer follows the payload");
        }
        Some(asked)
    }

    /// A client that has gone is none of the server's business.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes).and_then(|()| self.stream.get_mut().flush());
    }

    /// Answers as asked until the client goes; what lies past `object_bytes` is past the end.
    pub(crate) fn serve(&mut self, object_bytes: u64) {
        while let Some(asked) = self.ask() {
            let reply = if asked.offset + u64::from(asked.len) > object_bytes {
                asked.error(1, "past the end")
            } else {
                asked.right(SEED)
            };
            self.say(&reply);
        }
    }

    /// Answers nothing until the client goes.
    pub(crate) fn ignore(&mut self) {
        while self.ask().is_some() {}
    }
}

impl Peer<TcpStream> {
    /// Ends with RST instead of FIN.
    pub(crate) fn reset(self) {
        socket2::SockRef::from(self.socket()).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    }
}

/// Listens until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// `script` gets each connection and its number, from 0.
    pub(crate) fn start(script: impl Fn(u32, Peer<TcpStream>) + Send + Sync + 'static) -> Self {
        Self::start_raw(move |number, stream| script(number, Peer::over(stream)))
    }

    pub(crate) fn start_raw(script: impl Fn(u32, TcpStream) + Send + Sync + 'static) -> Self {
        Self::listening(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    pub(crate) fn listening(
        listener: TcpListener,
        script: impl Fn(u32, TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let (stop, script) = (Arc::new(AtomicBool::new(false)), Arc::new(script));
        let stopped = Arc::clone(&stop);
        let listening = std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if stopped.load(Ordering::Acquire) {
                    break;
                }
                let (script, stream) = (Arc::clone(&script), stream.unwrap());
                std::thread::spawn(move || script(number as u32, stream));
            }
        });
        Self { address, stop, listening: Some(listening) }
    }

    /// Answers everything as asked.
    pub(crate) fn right() -> Self {
        Self::start(|_, mut peer| peer.serve(u64::MAX))
    }

    /// Listens no more; connections that are made stay.
    pub(crate) fn stop(&mut self) {
        if let Some(listening) = self.listening.take() {
            self.stop.store(true, Ordering::Release);
            let _ = TcpStream::connect(self.address);
            listening.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
