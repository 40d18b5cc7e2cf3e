//! The runtime of a store: one thread for everything that is not timed.

use std::fmt;
use std::thread::{self, JoinHandle};

use backend::StoreError;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A runtime that its own thread drives, asleep while nothing is asked.
pub(crate) struct Runtime {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(runtime)")
    }
}

impl Runtime {
    pub(crate) fn new() -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| StoreError::Unavailable {
            what: "S3".to_owned(),
            reason: format!("its runtime does not start: {error}"),
            hint: "look at the limits of threads and open files (`ulimit -u -n`)".to_owned(),
        };
        // A thread of its own keeps credentials renewed while nobody calls. Nothing that is timed runs here,
        // so one is enough.
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let drive = move || {
            // Ends when the sender is dropped, too.
            let _ = runtime.block_on(stopped);
        };
        let thread = thread::Builder::new().name("s3-control".to_owned()).spawn(drive).map_err(failed)?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Awaits `future` on the calling thread.
    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Drives `future` for as long as the store lives.
    pub(crate) fn keep(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(future);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Waited for: a renewal that is under way still uses the process's sockets.
            let _ = thread.join();
        }
    }
}
