//! A running server: its threads, and the connections dealt out to them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use record::Emulated;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::content::{Budget, MEMORY_BYTES_MAX};
use crate::error::EmulatorError;
use crate::nfs::Export;
use crate::s3::Service;
use crate::settings::{Protocol, Settings};
use crate::shape::Shape;
use crate::timer::Timer;

/// What answers connections.
#[derive(Clone)]
enum Served {
    S3(Arc<Service>),
    Nfs(Arc<Export>),
}

/// A server on loopback. It ends when this is dropped, and what it holds is gone.
pub struct Server {
    port: u16,
    shape: Arc<Shape>,
    /// Dropped to end the thread that accepts; the others end with their channels.
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. It takes connections when this returns.
    pub fn start(settings: &Settings) -> Result<Self, EmulatorError> {
        settings.check()?;
        let (listener, port) = listen(settings.port)?;
        let shape = Shape::new(&settings.emulation);
        let budget = Budget::new(MEMORY_BYTES_MAX);
        let served = match settings.protocol {
            Protocol::S3 => Served::S3(Arc::new(Service::new(settings, &shape, &budget))),
            Protocol::Nfs => Served::Nfs(Arc::new(Export::new(settings, &shape, &budget))),
        };
        let mut threads = Vec::new();
        let mut dealt = Vec::new();
        for _ in 0..settings.threads.max(1) {
            // A connection stays on its thread, and its requests wake no other.
            let (deal, connections) = unbounded_channel();
            threads.push(spawn(worker(connections, served.clone()))?);
            dealt.push(deal);
        }
        let (stop, stopped) = oneshot::channel();
        threads.push(spawn(accept(listener, dealt, stopped))?);
        Ok(Self { port, shape, stop: Some(stop), threads })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Neither limits, paces, delays nor fails requests until a span begins.
    pub fn rest(&self) {
        self.shape.rest();
    }

    /// Begins a span: what happened before it is forgotten.
    pub fn begin(&self) {
        self.shape.begin();
    }

    /// What happened since the span began.
    pub fn end(&self) -> Emulated {
        self.shape.end()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn listen(port: u16) -> Result<(TcpListener, u16), EmulatorError> {
    // Loopback alone: it may be unsigned, and is for nobody else on the network.
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listening = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    listening().map_err(|cause: io::Error| EmulatorError::Listen { address, cause })
}

/// Runs `work` on a thread with a runtime of its own. One runtime for all threads costs a small request twice as much.
fn spawn(
    work: impl Future<Output = io::Result<()>> + Send + 'static,
) -> Result<JoinHandle<()>, EmulatorError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(EmulatorError::Thread)?;
    let run = move || {
        // Without its timer or its sockets a thread can do nothing: connections dealt to it are closed.
        let _ = runtime.block_on(work);
        // Connections are dropped with the runtime, stalled ones too.
        drop(runtime);
    };
    thread::Builder::new().name("emulator".to_owned()).spawn(run).map_err(EmulatorError::Thread)
}

async fn worker(mut connections: UnboundedReceiver<TcpStream>, served: Served) -> io::Result<()> {
    let timer = Timer::start()?;
    while let Some(socket) = connections.recv().await {
        let Ok(socket) = tokio::net::TcpStream::from_std(socket) else { continue };
        match served.clone() {
            Served::S3(service) => tokio::spawn(service.serve(socket, Arc::clone(&timer))),
            Served::Nfs(export) => tokio::spawn(export.serve(socket, Arc::clone(&timer))),
        };
    }
    Ok(())
}

/// Deals connections out in turn until it is stopped.
async fn accept(
    listener: TcpListener,
    dealt: Vec<UnboundedSender<TcpStream>>,
    mut stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut turn = (0..dealt.len()).cycle();
    loop {
        let accepted = std::future::poll_fn(|cx| {
            if Future::poll(std::pin::Pin::new(&mut stopped), cx).is_ready() {
                return std::task::Poll::Ready(None);
            }
            listener.poll_accept(cx).map(Some)
        });
        match accepted.await {
            None => return Ok(()),
            Some(Ok((socket, _))) => {
                // In turn and not by load, so that runs with as many connections are served alike.
                let at = turn.next().unwrap_or(0);
                // Without it a reply in two segments waits for a delayed acknowledgement: 40 ms.
                if let Ok(socket) = socket.set_nodelay(true).and_then(|()| socket.into_std()) {
                    let _ = dealt[at].send(socket);
                }
            }
            // Out of descriptors, most likely: those that wait are served when others end.
            Some(Err(_)) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    }
}
