//! Queues of the engine `lean`.

use std::net::SocketAddr;
use std::time::Duration;

use backend::{IoQueue, QueueSpec, StoreError};
use backend_net::{Settings, SourcePort, Tls};

use crate::asking::{Asking, PARTS_MAX};
use crate::connect::CONNECT_TIMEOUT;
use crate::dialect::Dialect;
use crate::lean::Lean;

/// Patience for a whole reply: a busy service may take its time, a dead one is found out.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// How an endpoint is reached.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// Its addresses; connections are spread over them in turn.
    pub addresses: &'a [SocketAddr],
    /// Encryption.
    pub tls: Option<&'a Tls>,
    /// Patience for a whole reply.
    pub reply_timeout: Duration,
}

/// Connections of a queue; one for each request where nothing else is said.
pub fn connections(spec: &QueueSpec<'_>) -> u32 {
    // HTTP/1.1 has one request at a time on a connection, so fewer would make operations wait for each other.
    if spec.connections == 0 { spec.depth.max(1) } else { spec.connections }
}

/// Opens a queue on the calling thread.
///
/// # Errors
/// As [`backend_net::open`].
pub fn open<D: Dialect + 'static>(
    dialect: D,
    asking: Asking,
    way: Way<'_>,
    spec: &QueueSpec<'_>,
) -> Result<Box<dyn IoQueue>, StoreError> {
    let settings = Settings {
        addresses: way.addresses.to_vec(),
        connections: connections(spec),
        connect_timeout_ns: CONNECT_TIMEOUT.as_nanos() as u64,
        reply_timeout_ns: way.reply_timeout.as_nanos() as u64,
        tls: way.tls.cloned(),
        source_port: SourcePort::Any,
    };
    // An operation of one request is kept small: its state is moved as it begins and ends.
    if asking.parts() > 1 {
        backend_net::open(Lean::<D, { PARTS_MAX as usize }>::new(asking, dialect), &settings, spec)
    } else {
        backend_net::open(Lean::<D, 1>::new(asking, dialect), &settings, spec)
    }
}
