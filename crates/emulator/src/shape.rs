//! What is done to a request before and after it is served, the same for both protocols.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dataset::Draws;
use plan::{Delay, Emulation, Faults};
use record::Emulated;

use crate::clock;
use crate::draw::{self, Fault};
use crate::limits::{Head, Pacer, RequestRate};
use crate::send_limits::SendLimits;
use crate::stats::Stats;
use crate::timer::Timer;

/// What a request asks for. Writes are counted, and neither limited, delayed nor failed: a dataset has to get there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// Bytes of an object.
    Data,
    /// Names or attributes.
    Metadata,
    /// Anything else.
    Other,
}

/// Which bytes a request for data gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// A number that stands for the object.
    pub(crate) object: u64,
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

/// A request that was let in.
#[derive(Debug)]
pub(crate) struct Ticket {
    kind: RequestKind,
    arrived_ns: u64,
    delay_ns: Option<u64>,
    pub(crate) fault: Option<Fault>,
}

impl Ticket {
    /// Whether the bytes of the reply go at the declared rates.
    pub(crate) fn is_paced(&self) -> bool {
        self.kind == RequestKind::Data
    }
}

/// The declared server.
pub(crate) struct Shape {
    first_byte: Option<Delay>,
    metadata: Option<Delay>,
    faults: Faults,
    connection_bps: Option<f64>,
    rate: Option<Mutex<RequestRate>>,
    total: Option<Arc<Mutex<Pacer>>>,
    head: Option<Mutex<Head>>,
    fault_draws: Draws,
    data_draws: Draws,
    metadata_draws: Draws,
    /// Whether requests are neither limited, delayed nor failed for the time being.
    rests: AtomicBool,
    pub(crate) stats: Stats,
}

impl Shape {
    pub(crate) fn new(asked: &Emulation) -> Arc<Self> {
        // Behind a head the bytes come off the medium one read after the other: the rate is the head's.
        let total = if asked.seek_ns.is_some() { None } else { asked.total_bps };
        Arc::new(Self {
            first_byte: asked.first_byte,
            metadata: asked.metadata,
            faults: asked.faults,
            connection_bps: asked.connection_bps,
            rate: asked.requests_per_s.map(|per_s| Mutex::new(RequestRate::new(per_s))),
            total: total.map(|bps| Arc::new(Mutex::new(Pacer::new(bps)))),
            head: asked.seek_ns.map(|seek_ns| Mutex::new(Head::new(seek_ns, asked.total_bps))),
            // Three sequences, so that a fault that is added to a scenario leaves the delays as they were.
            fault_draws: Draws::new(asked.seed, 0),
            data_draws: Draws::new(asked.seed, 1),
            metadata_draws: Draws::new(asked.seed, 2),
            rests: AtomicBool::new(false),
            stats: Stats::new(),
        })
    }

    /// Lets a request in and draws its fate, or refuses it (`None`) because its prefix has had too many.
    pub(crate) fn admit(&self, kind: RequestKind, prefix: &str) -> Option<Ticket> {
        self.stats.request();
        let arrived_ns = clock::now_ns();
        // What a run writes and checks between its repetitions is not what is tried out.
        let kind = if self.rests.load(Ordering::Relaxed) { RequestKind::Other } else { kind };
        let ticket = Ticket { kind, arrived_ns, delay_ns: None, fault: None };
        if kind == RequestKind::Other {
            return Some(ticket);
        }
        // Before any delay is drawn: a service refuses at once, and a refusal that waited would occupy a
        // connection.
        if let Some(rate) = &self.rate
            && !rate.lock().unwrap_or_else(PoisonError::into_inner).take(prefix, arrived_ns)
        {
            self.stats.throttled();
            return None;
        }
        if kind == RequestKind::Metadata {
            let delay_ns = self.metadata.map(|delay| self.metadata_draws.delay_ns(delay));
            return Some(Ticket { delay_ns, ..ticket });
        }
        let fault = if self.faults == Faults::default() {
            None
        } else {
            draw::fault(&self.fault_draws, &self.faults)
        };
        if let Some(fault) = fault {
            self.stats.fault(fault);
        }
        let delay_ns = self.first_byte.map(|delay| self.data_draws.delay_ns(delay));
        Some(Ticket { delay_ns, fault, ..ticket })
    }

    /// Waits until the reply to a request may begin: what was drawn, and where a head moves, until it has the bytes.
    /// Says when that was due: what follows goes by the schedule, however late the wait ended.
    pub(crate) async fn hold(&self, ticket: &Ticket, extent: Option<Extent>, timer: &Arc<Timer>) -> u64 {
        let extent = extent.filter(|_| ticket.kind == RequestKind::Data);
        let moved_ns = match self.head.as_ref().zip(extent) {
            Some((head, extent)) => Some(moved(head, extent, ticket.arrived_ns, timer).await),
            None => None,
        };
        let due_ns = moved_ns.unwrap_or(ticket.arrived_ns) + ticket.delay_ns.unwrap_or(0);
        if ticket.fault == Some(Fault::Stall) {
            // Longer than clients are patient: what they do about a reply that does not come is what is
            // tried.
            timer.until(due_ns + Faults::STALL_NS).await;
        } else if ticket.delay_ns.is_some() || moved_ns.is_some() {
            timer.until(due_ns).await;
            let achieved_ns = clock::now_ns().saturating_sub(ticket.arrived_ns);
            // Beside what was asked: on a busy machine delays of at most 30 ms took up to 58, and a run must
            // show it.
            self.stats.delayed(ticket.kind == RequestKind::Metadata, due_ns - ticket.arrived_ns, achieved_ns);
        }
        due_ns
    }

    /// The limits of a new connection; `None` where nothing holds its bytes back.
    pub(crate) fn send_limits(&self) -> Option<Arc<SendLimits>> {
        SendLimits::new(self.connection_bps, self.total.as_ref())
    }

    pub(crate) fn rest(&self) {
        self.rests.store(true, Ordering::Relaxed);
    }

    pub(crate) fn begin(&self) {
        self.rests.store(false, Ordering::Relaxed);
        self.stats.begin();
    }

    pub(crate) fn end(&self) -> Emulated {
        self.stats.end()
    }
}

/// Waits until a head has read `extent`; when that was, by the schedule.
async fn moved(head: &Mutex<Head>, extent: Extent, arrived_ns: u64, timer: &Arc<Timer>) -> u64 {
    let head = || head.lock().unwrap_or_else(PoisonError::into_inner);
    let (read_ns, cost_ns) = head().read(extent.object, extent.at, extent.bytes, arrived_ns);
    let mut due_ns = read_ns;
    loop {
        timer.until(due_ns).await;
        let released = head().release(cost_ns, clock::now_ns());
        match released {
            Ok(()) => return read_ns,
            Err(opens_ns) => due_ns = opens_ns,
        }
    }
}
