//! The engine as a queue.

use backend::{Completion, IoQueue, QueueError, QueueReport, QueueSpec, Request, Stamps, StoreError};

use crate::wire::Wire;
use crate::{Protocol, Settings};

/// Opens a queue of `spec.connections` connections (`settings.connections` where that is 0), all of which are made
/// when it returns. May block for the connect time-out.
///
/// # Errors
/// [`StoreError::Unavailable`] names the first address that could not be reached, why, and what to do.
pub fn open<P: Protocol + 'static>(
    protocol: P,
    settings: &Settings,
    spec: &QueueSpec<'_>,
) -> Result<Box<dyn IoQueue>, StoreError> {
    let connections = if spec.connections == 0 { settings.connections } else { spec.connections };
    let phases = protocol.phases().names;
    let wire = Wire::connect_for(protocol, settings, spec.depth, connections, spec.clock, spec.block_bytes)?;
    Ok(Box::new(NetQueue { wire, phases }))
}

struct NetQueue<P: Protocol> {
    wire: Wire<P>,
    phases: &'static [&'static str],
}

impl<P: Protocol> IoQueue for NetQueue<P> {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let taken = requests.len().min(self.wire.ops.room());
        // One reading for the batch. All of it is written and sent below, before `submit` returns.
        let now_ns = self.wire.clock.now_ns();
        for Request { token, op, buf } in requests.drain(..taken) {
            let refused = match self.wire.ops.protocol.task(op) {
                Ok(task) => match self.wire.ops.start(token, task, buf, now_ns) {
                    Ok(()) => continue,
                    // There is room for as many as were taken.
                    Err(buf) => (buf, backend::OpError::from_errno(libc::EAGAIN)),
                },
                Err(error) => (buf, error),
            };
            let stamps = Stamps { begun_ns: now_ns, done_ns: now_ns, ..Stamps::default() };
            done.push(Completion { token, buf: refused.0, result: Err(refused.1), stamps });
        }
        self.wire.push(done);
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.wire.turn(min, until_ns, done)
    }

    fn in_flight(&self) -> u32 {
        self.wire.in_flight()
    }

    fn phases(&self) -> &'static [&'static str] {
        self.phases
    }

    fn report(&self) -> QueueReport {
        self.wire.report()
    }

    fn close(mut self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        // A turn may end before its time, on a signal or a whole millisecond (`Readiness::wait`).
        while self.wire.in_flight() > 0 && self.wire.clock.now_ns() < until_ns {
            if self.wire.turn(self.wire.in_flight() as usize, until_ns, done).is_err() {
                break;
            }
        }
        self.wire.give_up(done);
        0
    }
}
