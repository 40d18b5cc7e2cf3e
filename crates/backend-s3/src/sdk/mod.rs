//! The engine `sdk`: the AWS SDK as a careful user would set it up.
//!
//! One runtime of one thread and one client for each queue: measured, that is twice as fast as one runtime of two
//! threads. One attempt, since retries would hide in the latency; bodies are streamed into the buffer as they come,
//! since collecting them first takes twice the processor time.

mod object;
mod operation;
mod probe;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use backend::{Clock, Completion, IoQueue, QueueError, QueueReport, QueueSpec, Request, StoreError};
use backend_http::Asking;
use plan::Operation;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::client::{self, Purpose};
use crate::open::Bucket;
use operation::Shared;

/// A queue of operations of the SDK.
pub(crate) struct SdkQueue {
    shared: Arc<Shared>,
    runtime: Runtime,
    ended: UnboundedReceiver<Completion>,
    sender: UnboundedSender<Completion>,
    clock: Clock,
    depth: u32,
    in_flight: u32,
    enters: u64,
}

impl fmt::Debug for SdkQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SdkQueue").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

impl SdkQueue {
    pub(crate) fn open(
        bucket: &Arc<Bucket>,
        asking: Asking,
        connections: u32,
        spec: &QueueSpec<'_>,
    ) -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| StoreError::Unavailable {
            what: "the engine `sdk`".to_owned(),
            reason: format!("its runtime does not start: {error}"),
            hint: "look at the limit of open files (`ulimit -n`)".to_owned(),
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        // A pool of connections of its own: one that is shared would be locked by every queue.
        let http = client::http(&bucket.trust)?;
        let purpose = Purpose::Measured { checksum: bucket.config.checksum };
        let client = client::client(&bucket.endpoint, bucket.keyring.as_ref(), http, purpose);
        let shared = Shared::new(bucket, client, asking, connections, spec.clock);
        // Bounded by the depth all the same: `submit` takes no more requests than that.
        let (sender, ended) = mpsc::unbounded_channel();
        Ok(Self {
            shared: Arc::new(shared),
            runtime,
            ended,
            sender,
            clock: spec.clock.clone(),
            depth: spec.depth,
            in_flight: 0,
            enters: 0,
        })
    }

    /// Drives the runtime until `min` operations have ended or `until_ns` has come.
    fn drive(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) {
        let before = done.len();
        // A wait that nothing can end is not begun.
        let min = if until_ns == u64::MAX { min.min(self.in_flight as usize) } else { min };
        let (ended, clock) = (&mut self.ended, &self.clock);
        self.enters += 1;
        self.runtime.block_on(async {
            // Lets the runtime look at its sockets once, even if nothing is waited for.
            tokio::task::yield_now().await;
            loop {
                while let Ok(completion) = ended.try_recv() {
                    done.push(completion);
                }
                let now_ns = clock.now_ns();
                if done.len() - before >= min || now_ns >= until_ns {
                    break;
                }
                // tokio's timer counts whole milliseconds and rounds up; so much later a paced request may
                // go.
                let left = Duration::from_nanos(until_ns - now_ns);
                if let Ok(Some(completion)) = tokio::time::timeout(left, ended.recv()).await {
                    done.push(completion);
                }
            }
        });
        self.in_flight -= (done.len() - before) as u32;
    }
}

impl IoQueue for SdkQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let room = (self.depth - self.in_flight) as usize;
        let begun_ns = self.clock.now_ns();
        for request in requests.drain(..room.min(requests.len())) {
            if let Err(error) = self.shared.check(request.op) {
                done.push(operation::refused(request, error, begun_ns));
                continue;
            }
            let (shared, sender) = (Arc::clone(&self.shared), self.sender.clone());
            self.in_flight += 1;
            self.runtime.spawn(async move {
                // The queue is gone only when nobody waits any more.
                let _ = sender.send(operation::run(&shared, request, begun_ns).await);
            });
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // With nothing outstanding too: who paces itself lets time pass here.
        self.drive(min, until_ns, done);
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn phases(&self) -> &'static [&'static str] {
        match self.shared.operation() {
            Operation::Read | Operation::ReadFile => &["send_ns", "headers_ns", "first_byte_ns", "body_ns"],
            _ => &[],
        }
    }

    fn report(&self) -> QueueReport {
        QueueReport {
            granted: vec![
                ("client", "aws-sdk-s3, one attempt, streamed bodies".to_owned()),
                ("addresses", "by name, as the SDK's HTTP client resolves it".to_owned()),
            ],
            enters: self.enters,
            counted: self.shared.counted(),
            first_failure: self.shared.first_failure(),
            ..QueueReport::default()
        }
    }

    fn close(mut self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        self.drive(self.in_flight as usize, until_ns, done);
        // Not dropped where it stands: that would wait for name lookups, which block a thread of their own.
        self.runtime.shutdown_background();
        self.in_flight
    }
}
