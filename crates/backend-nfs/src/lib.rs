//! NFS version 3 in user space: no mount, no root, no cache of the kernel's client.
//!
//! [`NfsStore`] finds an export and keeps a few connections to it for everything that is not timed. Its queues, and
//! what writes objects, go through the engine of `backend-net`.

mod calls;
mod connect;
mod control;
mod failure;
pub mod fuzzing;
mod handles;
mod identity;
mod listing;
mod mount;
mod protocol;
mod shared;
mod status;
mod store;
mod tree;
mod upload;
mod write;
mod xdr;

use std::time::Duration;

pub use store::NfsStore;

/// The engine's name, as scenarios and records have it.
const ENGINE: &str = "nfs3";

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For a whole reply.
    pub reply: Duration,
}

impl Default for Patience {
    /// 5 s for a connection, 30 s for a reply: a busy server may take its time, a dead one is found out.
    fn default() -> Self {
        // A disk that sleeps, or a tier that is recalled, takes seconds, and that is no failure.
        Self { connect: Duration::from_secs(5), reply: Duration::from_secs(30) }
    }
}
