//! The engine under test, with buffers and what came of them.

use std::net::SocketAddr;
use std::time::Duration;

use backend::{Arena, Buf, Clock, Completion, ErrorKind, QueueReport};
use backend_net::{Settings, SourcePort, Wire};
use dataset::payload;

use crate::line::{Line, Task};
use crate::server::SEED;

/// Longer than any test waits.
pub(crate) const LATER_NS: u64 = 60_000_000_000;

pub(crate) const LEN: u32 = 5000;

/// Between two looks at whether something came.
const LOOK: Duration = Duration::from_millis(1);

pub(crate) fn settings(addresses: &[SocketAddr]) -> Settings {
    Settings {
        addresses: addresses.to_vec(),
        connections: 1,
        connect_timeout_ns: 10_000_000_000,
        reply_timeout_ns: 20_000_000_000,
        tls: None,
        source_port: SourcePort::Any,
    }
}

pub(crate) type End = Result<u64, ErrorKind>;

pub(crate) struct Client {
    pub(crate) wire: Wire<Line>,
    pub(crate) free: Vec<Buf>,
    pub(crate) clock: Clock,
    pub(crate) done: Vec<Completion>,
}

impl Client {
    /// `depth` operations on `connections` connections.
    pub(crate) fn new(protocol: Line, settings: &Settings, depth: u32, connections: u32) -> Self {
        Self::on(Clock::real(), protocol, settings, depth, connections)
    }

    /// As [`Self::new`]. On a clock that stands still nothing is late, however busy the machine.
    pub(crate) fn on(
        clock: Clock,
        protocol: Line,
        settings: &Settings,
        depth: u32,
        connections: u32,
    ) -> Self {
        let wire = Wire::connect(protocol, settings, depth, connections, &clock).unwrap();
        let free = Arena::new(depth, LEN).unwrap().buffers();
        Self { wire, free, clock, done: Vec::new() }
    }

    pub(crate) fn start(&mut self, token: u32) {
        let buf = self.free.pop().expect("a buffer is free");
        let task = Task::read(token, 100 * u64::from(token), LEN);
        assert!(self.wire.start(token, task, buf).is_ok(), "there is room");
    }

    /// Waits until everything has ended; by token.
    pub(crate) fn finish(&mut self) -> Vec<End> {
        let wanted = self.wire.in_flight() as usize;
        while self.wire.in_flight() > 0 {
            self.wire.turn(1, LATER_NS, &mut self.done).unwrap();
        }
        assert_eq!(self.done.len(), wanted, "each ends once");
        self.done.sort_by_key(|end| end.token);
        let mut ends = Vec::new();
        for Completion { token, buf, result, stamps } in self.done.drain(..) {
            let [sent, head, first] = stamps.phase_ns;
            if result.is_ok() {
                assert_eq!(result, Ok(u64::from(LEN)));
                let data = &buf.as_slice()[..LEN as usize];
                payload::verify(SEED, token, 100 * u64::from(token), data).expect("the right bytes");
                assert!([stamps.begun_ns, sent, head, first, stamps.done_ns].is_sorted(), "{stamps:?}");
                assert!(sent > 0);
            }
            assert!(stamps.begun_ns <= stamps.done_ns);
            self.free.push(buf);
            ends.push(result.map_err(|error| error.kind));
        }
        ends
    }

    /// One operation.
    pub(crate) fn run(&mut self, token: u32) -> End {
        self.start(token);
        self.finish().pop().unwrap()
    }

    /// Does what can be done at once.
    pub(crate) fn turn(&mut self) {
        self.wire.turn(0, 0, &mut self.done).unwrap();
    }

    /// Lets time pass on a clock that stands still.
    pub(crate) fn pass(&mut self, ns: u64) {
        self.clock.advance_to(self.clock.now_ns() + ns);
    }

    /// Turns until `count` connections were made.
    pub(crate) fn until_opened(&mut self, count: u64) {
        while counted(&self.wire.report(), "connections_opened") < count {
            self.turn();
            std::thread::park_timeout(LOOK);
        }
    }

    pub(crate) fn counted(&self, name: &str) -> u64 {
        counted(&self.wire.report(), name)
    }
}

pub(crate) fn counted(report: &QueueReport, name: &str) -> u64 {
    report.counted.iter().find(|(given, _)| given == name).map_or(0, |(_, count)| *count)
}

pub(crate) fn granted(report: &QueueReport, name: &str) -> String {
    report.granted.iter().find(|(given, _)| *given == name).map_or(String::new(), |(_, value)| value.clone())
}
