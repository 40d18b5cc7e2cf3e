//! The cases over a network: which work all do, who does it, and what feedline is held to.

mod duel;
mod means;
mod peer;
mod server;
mod table;

use crate::case::{Bound, Measure};

pub(crate) use duel::Duel;
pub(crate) use means::means;
pub(crate) use table::cases;

/// One comparison over a network.
#[derive(Debug, Clone)]
pub(crate) struct NetCase {
    /// Name on the command line and of the record.
    pub(crate) name: String,
    /// One line that says what is read, and how.
    pub(crate) about: String,
    /// Who serves.
    pub(crate) service: Service,
    /// Bytes of one read.
    pub(crate) block_bytes: u64,
    /// Reads outstanding.
    pub(crate) queue_depth: u32,
    /// Who reads beside feedline, in their order.
    pub(crate) peers: &'static [Peer],
    /// What feedline is held to.
    pub(crate) targets: Vec<NetTarget>,
}

/// Who serves, and how feedline reads from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// NFS-Ganesha in a namespace, over its loopback interface.
    Nfs {
        /// Connections of feedline's; none leaves it its default.
        connections: Option<u32>,
        /// Connections of the peer's.
        peer_connections: u32,
    },
    /// The null server.
    S3 {
        /// feedline's engine.
        engine: &'static str,
    },
}

/// Who reads beside feedline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// libnfs, by our driver.
    Libnfs,
    /// The crate `object_store`.
    ObjectStore,
    /// The AWS SDK at its defaults.
    Sdk,
    /// Raw sockets.
    Raw,
}

impl Peer {
    /// Name in records and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Libnfs => "libnfs",
            Self::ObjectStore => "object_store",
            Self::Sdk => "sdk defaults",
            Self::Raw => "raw sockets",
        }
    }
}

/// One thing that feedline is held to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetTarget {
    /// Against whom.
    pub(crate) against: Peer,
    /// What is compared.
    pub(crate) measure: Measure,
    /// What the ratio must be.
    pub(crate) bound: Bound,
}
