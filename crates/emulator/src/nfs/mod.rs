//! NFS version 3 over TCP: `nfs3_server` speaks RPC, XDR, the port mapper and MOUNT; the tree of files, the delays and
//! the faults are ours.

mod tree;
mod vfs;

use std::sync::Arc;
use std::time::Duration;

use nfs3_server::test_reexports::{RPCContext, TransactionTracker, process_socket};
use tokio::net::TcpStream;

use crate::calls::Calls;
use crate::content::Budget;
use crate::line::{Line, Scissors};
use crate::settings::Settings;
use crate::shape::Shape;
use crate::timer::Timer;
use tree::Tree;
use vfs::Vfs;

/// How long the number of an answered call is remembered, to drop it when it comes again. The crate's own 60 s cost
/// megabytes at the rates of a benchmark.
// Clients of feedline never repeat a call, and number each anew.
const REMEMBERED: Duration = Duration::from_millis(100);

/// Calls of one connection under way, at most; the crate's own limit is 256.
// Beyond the limit the crate answers SYSTEM_ERR, which a deep queue would meet as a failing server.
const CALLS_MAX: u16 = 8192;

/// The export that all connections share.
pub(crate) struct Export {
    context: RPCContext<Vfs>,
    tree: Arc<Tree>,
    shape: Arc<Shape>,
}

impl Export {
    pub(crate) fn new(settings: &Settings, shape: &Arc<Shape>, budget: &Arc<Budget>) -> Self {
        let tree = Arc::new(Tree::new(budget));
        let nobody = Vfs::new(&tree, shape, None);
        // One context for all connections: it holds the generation in every file handle.
        let context = RPCContext::test_ctx(&settings.export, Arc::new(nobody));
        Self { context, tree, shape: Arc::clone(shape) }
    }

    /// Serves one connection to its end. Each has a file system of its own over the shared tree, which knows what to
    /// do to this connection, and its own memory of calls.
    pub(crate) async fn serve(self: Arc<Self>, socket: TcpStream, timer: Arc<Timer>) {
        let Ok(peer) = socket.peer_addr() else { return };
        let scissors = Arc::new(Scissors::default());
        let mut context = self.context.clone();
        context.client_addr = peer.to_string();
        context.vfs = Arc::new(Vfs::new(&self.tree, &self.shape, Some((&timer, &scissors))));
        context.transaction_tracker =
            Arc::new(TransactionTracker::new(REMEMBERED, CALLS_MAX, usize::from(CALLS_MAX) + 1));
        let line = Line::new(socket, &scissors, Some(Calls::default()));
        // How a connection ends is the client's business, or a fault that was asked for.
        let _ = process_socket(line, context).await;
    }
}
