//! Calls outside of any measurement, from any number of threads at once.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nfs3_client::RpcError;
use nfs3_client::rpc::RpcClient;
use nfs3_types::rpc::opaque_auth;
use nfs3_types::xdr_codec::{Pack, Unpack};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Patience;
use crate::connect::{Io, connect, is_idle};
use crate::failure::Failure;

/// A remote program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) number: u32,
    pub(crate) version: u32,
}

pub(crate) const PORT_MAPPER: Program = Program {
    name: "port mapper",
    number: nfs3_types::portmap::PROGRAM,
    version: nfs3_types::portmap::VERSION,
};
pub(crate) const MOUNT: Program =
    Program { name: "MOUNT", number: nfs3_types::mount::PROGRAM, version: nfs3_types::mount::VERSION };
pub(crate) const NFS: Program =
    Program { name: "NFS", number: nfs3_types::nfs3::PROGRAM, version: nfs3_types::nfs3::VERSION };

/// The results of a call, as they came: the library's own types make room for any length that a reply names.
pub(crate) struct Results(pub(crate) Vec<u8>);

impl Unpack for Results {
    fn unpack(input: &mut impl io::Read) -> nfs3_types::xdr_codec::Result<(Self, usize)> {
        // Bounded all the same: `connect::Io` ends the record that this reads from.
        let mut bytes = Vec::new();
        let length = input.read_to_end(&mut bytes)?;
        Ok((Self(bytes), length))
    }
}

/// One connection, for one call at a time.
pub(crate) struct Line {
    client: RpcClient<Io>,
    stream: Arc<TcpStream>,
    patience: Patience,
}

impl Line {
    /// Connects, and says whether from a privileged port.
    pub(crate) async fn open(
        to: SocketAddr,
        credential: opaque_auth<'static>,
        patience: Patience,
    ) -> Result<(Self, bool), Failure> {
        let (io, privileged) = connect(to, patience).await?;
        let stream = io.stream();
        let client = RpcClient::new_with_auth(io, credential, opaque_auth::default());
        Ok((Self { client, stream, patience }, privileged))
    }

    /// The address that it comes from.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        self.stream.local_addr().ok()
    }

    /// One call. After a failure that is no answer the line must be dropped: nothing says what comes next on it.
    pub(crate) async fn call<A: Pack + Send + Sync>(
        &mut self,
        program: Program,
        procedure: u32,
        args: &A,
    ) -> Result<Vec<u8>, CallError> {
        let call = self.client.call::<A, Results>(program.number, program.version, procedure, args);
        match timeout(self.patience.reply, call).await {
            Ok(Ok(results)) => Ok(results.0),
            Ok(Err(error)) => {
                let usable = is_answer(&error);
                Err(CallError { failure: Failure::of(error, program.name), usable })
            }
            // The reply may still come: whoever called next on this connection would read it as its own.
            Err(_) => Err(CallError { failure: Failure::Timeout(self.patience.reply), usable: false }),
        }
    }
}

/// A call that failed, and whether its connection can take another.
pub(crate) struct CallError {
    pub(crate) failure: Failure,
    usable: bool,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        error.failure
    }
}

fn is_answer(error: &RpcError) -> bool {
    matches!(
        error,
        RpcError::Auth(_)
            | RpcError::RpcMismatch { .. }
            | RpcError::ProgUnavail
            | RpcError::ProgMismatch { .. }
            | RpcError::ProcUnavail
            | RpcError::GarbageArgs
            | RpcError::SystemErr
    )
}

/// Connections to the NFS program of one server: as many as there are calls at once, kept for those that follow.
///
/// The runtime is of one thread and none of its own: whoever waits for a call drives it, for all who wait. So a store
/// that is not used costs no thread, and several threads that write or look have their calls under way side by side.
pub(crate) struct Control {
    idle: Mutex<Vec<Line>>,
    address: SocketAddr,
    credential: opaque_auth<'static>,
    patience: Patience,
    privileged: AtomicBool,
    runtime: Arc<tokio::runtime::Runtime>,
}

impl Control {
    pub(crate) fn new(
        runtime: Arc<tokio::runtime::Runtime>,
        address: SocketAddr,
        credential: opaque_auth<'static>,
        patience: Patience,
    ) -> Self {
        let privileged = AtomicBool::new(false);
        Self { idle: Mutex::default(), address, credential, patience, privileged, runtime }
    }

    /// Makes a first connection.
    pub(crate) fn warm_up(&self) -> Result<Option<SocketAddr>, Failure> {
        // Refusals and time-outs of the NFS port itself are met here, and named with its address.
        let line = self.runtime.block_on(self.open())?;
        let from = line.local_address();
        self.put_back(line);
        Ok(from)
    }

    /// The server's address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether the last connection came from a privileged port.
    pub(crate) fn is_privileged(&self) -> bool {
        self.privileged.load(Ordering::Relaxed)
    }

    async fn open(&self) -> Result<Line, Failure> {
        let (line, privileged) = Line::open(self.address, self.credential.clone(), self.patience).await?;
        self.privileged.store(privileged, Ordering::Relaxed);
        Ok(line)
    }

    fn put_back(&self, line: Line) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn take_idle(&self) -> Option<Line> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that the server has closed meanwhile is dropped, so that no call is lost with it.
        while let Some(line) = idle.pop() {
            if is_idle(&line.stream) {
                return Some(line);
            }
        }
        None
    }

    async fn exchange<A: Pack + Send + Sync>(&self, procedure: u32, args: &A) -> Result<Vec<u8>, Failure> {
        let mut line = match self.take_idle() {
            Some(line) => line,
            None => self.open().await?,
        };
        match line.call(NFS, procedure, args).await {
            Ok(results) => {
                self.put_back(line);
                Ok(results)
            }
            Err(CallError { failure, usable }) => {
                if usable {
                    self.put_back(line);
                }
                Err(failure)
            }
        }
    }

    /// Results of one call of the NFS program.
    pub(crate) fn call<A: Pack + Send + Sync>(&self, procedure: u32, args: &A) -> Result<Vec<u8>, Failure> {
        self.runtime.block_on(self.exchange(procedure, args))
    }
}

/// A runtime for [`Control`].
pub(crate) fn runtime() -> io::Result<Arc<tokio::runtime::Runtime>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map(Arc::new)
}
