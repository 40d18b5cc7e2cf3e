//! What a store and its writers share.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use backend::StoreError;
use backend_net::{Settings, SourcePort};
use plan::{Addresses, NfsConfig};

use crate::Patience;
use crate::calls::Facts;
use crate::handles::Handles;
use crate::identity::Identity;
use crate::mount::Mounted;
use crate::protocol::{Nfs, Sizes};
use crate::tree::Tree;
use crate::upload::Upload;

/// Bytes of a page of names in a timed listing, at most: what an engine's buffer takes in without being read for long.
const LISTING_BYTES_MAX: u32 = 64 << 10;
/// Bytes of one READ by the engine, at most, whatever the server allows. No block is larger.
const READ_BYTES_MAX: u32 = 1 << 30;

/// What a store and its writers share.
pub(crate) struct Shared {
    pub(crate) tree: Tree,
    pub(crate) config: NfsConfig,
    pub(crate) identity: Identity,
    pub(crate) patience: Patience,
    pub(crate) facts: Facts,
    pub(crate) file_system: u64,
    pub(crate) mounted: Mounted,
    pub(crate) local_address: Option<SocketAddr>,
    /// Connections that write, when nothing is being written by them.
    pub(crate) uploads: Mutex<Vec<Upload>>,
    /// Handles of the dataset that a queue was opened over last.
    pub(crate) handles: Mutex<Option<Arc<Handles>>>,
}

impl Shared {
    /// A path as the user would write it.
    pub(crate) fn shown(&self, path: &str) -> String {
        let NfsConfig { host, path: root, .. } = &self.config;
        let root = root.trim_end_matches('/');
        if path.is_empty() { format!("nfs://{host}{root}/") } else { format!("nfs://{host}{root}/{path}") }
    }

    /// Where the engine connects to. A queue is spread over all addresses where the user wants it; what writes is not.
    pub(crate) fn settings(&self, connections: u32, addresses: Addresses) -> Settings {
        let addresses = match addresses {
            Addresses::First => vec![self.tree.control().address()],
            Addresses::All => self.mounted.addresses.clone(),
        };
        Settings {
            addresses,
            connections,
            connect_timeout_ns: self.patience.connect.as_nanos() as u64,
            reply_timeout_ns: self.patience.reply.as_nanos() as u64,
            tls: None,
            source_port: SourcePort::PrivilegedIfAllowed,
        }
    }

    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            // rtmax is an upper bound, and servers differ widely: Ganesha allows 64 MiB, nfs3_server 1 MiB.
            read_bytes: self.facts.read_bytes_max.min(READ_BYTES_MAX),
            write_bytes: self.facts.write_bytes_max.max(1),
            listing_bytes: self.tree.page_bytes().min(LISTING_BYTES_MAX),
        }
    }

    /// A connection to write with: one that is idle, or a new one.
    pub(crate) fn upload(&self) -> Result<Upload, StoreError> {
        let idle = self.uploads.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // A dataset has files by the million: a connection for each would use up the privileged ports, of
        // which there are some hundreds.
        idle.map_or_else(
            || {
                let protocol = Nfs::for_writer(&self.identity.credential(), self.sizes());
                let settings = self.settings(1, Addresses::First);
                Upload::open(protocol, &settings, self.facts.write_bytes_max)
            },
            Ok,
        )
    }

    /// Keeps a connection that has nothing more to write.
    pub(crate) fn keep(&self, upload: Upload) {
        self.uploads.lock().unwrap_or_else(PoisonError::into_inner).push(upload);
    }

    /// Forgets the handles of a dataset that was written to.
    pub(crate) fn forget_handles(&self) {
        *self.handles.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
