//! A storage whose rate is known, on the virtual clock.
//!
//! Bytes pass one after the other through a pipe of a given rate, and no operation is shorter than a given latency. So `d`
//! operations of `b` bytes outstanding give `min(rate, d x b / latency)`, exactly where the two are not close.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use backend::{
    CacheAction, Clock, Completion, ErrorKind, IoQueue, Limits, Op, OpError, PHASE_STAMPS, QueueError,
    QueueReport, QueueSpec, Request, Residency, Stamps, Store, StoreError,
};
use dataset::Objects;
use plan::Operation;

use crate::draw::Draw;

/// By how much the latency of one operation differs from the mean, at most: clients that move in step would be counted in
/// whole turns.
pub(crate) const JITTER: f64 = 0.2;

/// Parts of a file's time where it is looked up first, as a client of NFS counts them.
const FILE_PHASES: [&str; 2] = ["lookup_ns", "read_ns"];

/// How far ahead of its rate a storage that refuses lets those who ask be, as the emulated servers do.
const REFUSAL_BURST_NS: f64 = 1e8;

/// Time of this machine's that an idle reader leaves to threads that write: as much as it then lets pass on the virtual clock.
const LEFT_TO_WRITERS: Duration = Duration::from_micros(250);

/// `503 SlowDown`.
const REFUSED: OpError = OpError { kind: ErrorKind::Throttled, code: 503 };

/// `EIO`.
// Written out: the number goes into the record as the kernel would have given it, on whatever system the
// worlds are played.
const EIO: u32 = 5;

/// What a storage is.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Bytes per second of all operations together.
    pub rate_bps: f64,
    /// Mean latency of an operation that waits for no other.
    // A floating-point number, since what a noisy repetition multiplies it with must not be rounded first.
    pub latency_ns: f64,
    /// Standard deviation of the logarithm of what each repetition multiplies both with.
    pub noise: f64,
    /// How the storage changes.
    pub change: Change,
    /// Others that use it too.
    pub others: Option<Others>,
    /// Share of operations that fail, 0 to 1.
    pub errors: f64,
    /// How many times as long as a read a write takes in the pipe.
    pub write_cost: f64,
    /// How much faster what was read before is read again, by a cache of the server.
    pub cached: f64,
    /// Operations per second that the client takes in at most, whatever the storage.
    pub client_ops_per_s: f64,
    /// Time in which a whole file is looked up before it is read.
    pub lookup_ns: f64,
    /// Operations per second beyond which it tells those who ask to come back later.
    pub taken_per_s: f64,
}

impl Device {
    /// One that is never waited for.
    pub const IDEAL: Self = Self {
        rate_bps: f64::INFINITY,
        latency_ns: 0.0,
        noise: 0.0,
        change: Change::None,
        others: None,
        errors: 0.0,
        write_cost: 1.0,
        cached: 1.0,
        client_ops_per_s: f64::INFINITY,
        lookup_ns: 0.0,
        taken_per_s: f64::INFINITY,
    };
}

/// How a storage changes by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Not at all.
    None,
    /// By a straight line from 1 at the start to a factor at a time, and on.
    Linear {
        /// The factor.
        to: f64,
        /// The time, nanoseconds.
        at_ns: u64,
    },
    /// At one time.
    Step {
        /// The factor from then on.
        to: f64,
        /// The time, nanoseconds.
        at_ns: u64,
    },
    /// When so many bytes were read.
    Credits {
        /// The factor from then on.
        to: f64,
        /// Bytes.
        bytes: u64,
    },
}

/// Others that use a storage in some repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Others {
    /// In which share of the repetitions, 0 to 1.
    pub repetitions: f64,
    /// Which share of the storage they take then, 0 to 1.
    pub share: f64,
}

/// What a repetition met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepTruth {
    /// What the change had come to when it began.
    pub changed: f64,
    /// Share that others took, 0 to 1.
    pub others: f64,
}

/// A storage, and what it has served.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    device: Device,
    clock: Clock,
    state: Arc<Mutex<State>>,
    beside_writers: bool,
}

#[derive(Debug)]
struct State {
    draw: Draw,
    served_bytes: u64,
    // By place and not by block: a server's cache is asked for what was read, however it was asked for.
    seen: HashSet<(u32, u64)>,
    repetitions: Vec<RepTruth>,
    /// Of the repetition that runs.
    factor: f64,
    /// When those who ask would be at its rate again, if nobody asked.
    asked_until_ns: f64,
}

impl State {
    /// Whether one who asks now is told to come back later.
    fn refuses(&mut self, now_ns: f64, taken_per_s: f64) -> bool {
        let until_ns = self.asked_until_ns.max(now_ns) + 1e9 / taken_per_s;
        let is_refused = until_ns - now_ns > REFUSAL_BURST_NS;
        if !is_refused {
            self.asked_until_ns = until_ns;
        }
        is_refused
    }
}

impl Model {
    pub(crate) fn new(device: Device, seed: u64, clock: &Clock) -> Self {
        let state = State {
            draw: Draw::new(seed),
            served_bytes: 0,
            seen: HashSet::new(),
            repetitions: Vec::new(),
            factor: 1.0,
            asked_until_ns: 0.0,
        };
        Self { device, clock: clock.clone(), state: Arc::new(Mutex::new(state)), beside_writers: false }
    }

    /// The same storage, whose readers let other threads write while they have nothing to read.
    // Those threads need time of this machine's to move the virtual clock on. A reader that only looks at the clock would
    // meanwhile move it on by itself, to the end of its window.
    pub(crate) fn beside_writers(self) -> Self {
        Self { beside_writers: true, ..self }
    }

    /// What each repetition met, in their order.
    pub(crate) fn repetitions(&self) -> Vec<RepTruth> {
        self.state().repetitions.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A repetition begins.
    // Noise is drawn for a repetition and not for a read: storages differ from run to run, and noise by
    // read would vanish in the mean of thousands.
    fn begin(&self) {
        let mut state = self.state();
        let noise = state.draw.log_normal(self.device.noise);
        let met = self.device.others.filter(|others| state.draw.unit() < others.repetitions);
        let others = met.map_or(0.0, |others| others.share);
        let changed = self.device.change.factor(self.clock.now_ns(), state.served_bytes);
        state.factor = noise * (1.0 - others);
        state.repetitions.push(RepTruth { changed, others });
    }
}

impl Change {
    /// What it has come to.
    fn factor(self, now_ns: u64, served_bytes: u64) -> f64 {
        match self {
            Self::Linear { to, at_ns } => {
                let line = 1.0 + (to - 1.0) * now_ns as f64 / at_ns as f64;
                // A straight line goes on below zero; a tenth is starving by any line.
                line.max(0.1)
            }
            Self::Step { to, at_ns } if now_ns >= at_ns => to,
            Self::Credits { to, bytes } if served_bytes >= bytes => to,
            Self::None | Self::Step { .. } | Self::Credits { .. } => 1.0,
        }
    }
}

impl Store for Model {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("storage", "simulated".to_owned())]
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        // No residency has to be proven, which would be the machine's and not the model's.
        Ok(Limits { direct_align_bytes: Some(512), page_cache: false })
    }

    backend::holds_no_data!("the simulated storage");

    fn read_at(&self, _: &dataset::Key, _: u64, _: &mut [u8]) -> Result<usize, backend::StoreError> {
        Err(backend::StoreError::Unsupported {
            store: "the simulated storage",
            action: "read an object untimed",
        })
    }

    fn cache(&self, _: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency::user_space(objects))
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        self.begin();
        Ok(Box::new(Queue {
            model: self.clone(),
            depth: spec.depth as usize,
            looks_up: spec.operation == Operation::ReadFile && self.device.lookup_ns > 0.0,
            pipe_free_ns: 0.0,
            client_free_ns: 0.0,
            waiting: Vec::new(),
        }))
    }
}

struct Queue {
    model: Model,
    depth: usize,
    /// Whether each file is looked up before it is read.
    looks_up: bool,
    /// When the pipe has passed all that was submitted.
    pipe_free_ns: f64,
    /// When the client has taken in all that was submitted.
    client_free_ns: f64,
    /// By the time of ending.
    waiting: Vec<Completion>,
}

impl Queue {
    fn begin(&mut self, request: Request) -> Completion {
        let Model { device, clock, .. } = &self.model;
        let begun_ns = clock.now_ns();
        let now = begun_ns as f64;
        let mut state = self.model.state();
        if state.refuses(now, device.taken_per_s) {
            let stamps = Stamps { begun_ns, phase_ns: [begun_ns; PHASE_STAMPS], done_ns: begun_ns };
            return Completion { token: request.token, buf: request.buf, result: Err(REFUSED), stamps };
        }
        let (bytes, place) = match request.op {
            Op::Read { object, offset, len } | Op::Write { object, offset, len } => {
                (u64::from(len), (object, offset))
            }
            Op::ReadFile { object, bytes } | Op::WriteFile { object, bytes } => (bytes, (object, 0)),
            Op::Stat { object } | Op::GetAttr { object } | Op::Names { object } => (0, (object, 0)),
            Op::List { folder } => (0, (folder, 0)),
        };
        let mut factor = state.factor * device.change.factor(begun_ns, state.served_bytes);
        state.served_bytes += bytes;
        if device.cached > 1.0 && !state.seen.insert(place) {
            factor *= device.cached;
        }
        let writes = matches!(request.op, Op::Write { .. } | Op::WriteFile { .. });
        let cost = if writes { device.write_cost } else { 1.0 };
        let jitter = state.draw.beside_one(JITTER);
        let fails = device.errors > 0.0 && state.draw.unit() < device.errors;
        drop(state);
        let lookup_ns = if self.looks_up { device.lookup_ns } else { 0.0 };
        self.pipe_free_ns =
            self.pipe_free_ns.max(now) + bytes as f64 * cost / (device.rate_bps * factor) * 1e9;
        self.client_free_ns = self.client_free_ns.max(now) + 1e9 / device.client_ops_per_s;
        let least_ns = lookup_ns + device.latency_ns * jitter / factor;
        let served = (now + least_ns).max(self.pipe_free_ns);
        // A client that is behind sees its reads late, and stamps them when it sees them.
        let done = served.max(self.client_free_ns);
        Completion {
            token: request.token,
            buf: request.buf,
            result: if fails { Err(OpError { kind: ErrorKind::Io, code: EIO }) } else { Ok(bytes) },
            // Up, as a read that has not ended may not be seen.
            stamps: Stamps {
                begun_ns,
                phase_ns: [begun_ns + lookup_ns as u64; PHASE_STAMPS],
                done_ns: done.ceil() as u64,
            },
        }
    }

    fn reap(&mut self, done: &mut Vec<Completion>) {
        let now_ns = self.model.clock.now_ns();
        let ended = self.waiting.partition_point(|completion| completion.stamps.done_ns <= now_ns);
        done.extend(self.waiting.drain(..ended));
    }
}

impl IoQueue for Queue {
    fn submit(&mut self, requests: &mut Vec<Request>, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let accepted = requests.len().min(self.depth - self.waiting.len());
        for request in requests.drain(..accepted) {
            let completion = self.begin(request);
            let later = |other: &Completion| other.stamps.done_ns <= completion.stamps.done_ns;
            let at = self.waiting.partition_point(later);
            self.waiting.insert(at, completion);
        }
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "time of this machine's, which moves no clock")]
    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        if self.model.beside_writers && self.waiting.is_empty() {
            thread::sleep(LEFT_TO_WRITERS);
        }
        if let Some(last) = min.checked_sub(1) {
            let wanted_ns = self.waiting.get(last).map_or(until_ns, |completion| completion.stamps.done_ns);
            // A wait that nothing can end is not begun.
            if wanted_ns.min(until_ns) != u64::MAX {
                self.model.clock.advance_to(wanted_ns.min(until_ns));
            }
        }
        self.reap(done);
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn phases(&self) -> &'static [&'static str] {
        if self.looks_up { &FILE_PHASES } else { &[] }
    }

    fn report(&self) -> QueueReport {
        QueueReport::default()
    }

    fn close(mut self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        let last_ns = self.waiting.last().map_or(0, |completion| completion.stamps.done_ns);
        self.model.clock.advance_to(last_ns.min(until_ns));
        self.reap(done);
        self.waiting.len() as u32
    }
}
