//! A storage that follows a script, and a witness of all that passed between it and the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backend::simulated::{Fault, Simulated};
use backend::{
    CacheAction, Clock, Completion, IoQueue, Limits, QueueError, QueueReport, QueueSpec, Request, Residency,
    Store, StoreError,
};
use dataset::{Key, Objects};

use crate::disturbed::script::Script;

/// Calls of queues that no run of a scene comes near to: one that makes more never ends.
const CALLS_MAX: u64 = 4_000_000;

/// What passed through one queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// Buffers that it has.
    pub(crate) depth: u32,
    /// Requests that it took.
    pub(crate) begun: u64,
    /// Operations that ended well.
    pub(crate) ended_well: u64,
    /// Those that failed, by kind.
    pub(crate) failed: BTreeMap<&'static str, u64>,
    /// Operations begun whose bytes were to be wrong.
    pub(crate) lies: u64,
    /// Operations that it gave up as it was closed; `None` of a queue that was not.
    pub(crate) abandoned: Option<u32>,
    /// Calls that submitted something and left fewer than `depth` operations under way.
    pub(crate) unfilled: u64,
    /// Whether it broke.
    pub(crate) is_broken: bool,
}

impl Log {
    /// Operations that ended, well or not.
    pub(crate) fn ended(&self) -> u64 {
        self.ended_well + self.failed.values().sum::<u64>()
    }
}

#[derive(Debug, Default)]
struct Seen {
    logs: Vec<Log>,
    calls: u64,
    begun: u64,
    /// What no queue may ever be asked.
    wrongs: Vec<String>,
    /// Sets the flag once so many operations were begun.
    stop: Option<(u64, Arc<AtomicBool>)>,
}

/// Sees what passes through the queues of all storages of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<Seen>>);

impl Witness {
    /// One that sets `flag` as operation `begun` begins.
    pub(crate) fn stopping(begun: u64, flag: &Arc<AtomicBool>) -> Self {
        let seen = Seen { stop: Some((begun, Arc::clone(flag))), ..Seen::default() };
        Self(Arc::new(Mutex::new(seen)))
    }

    /// The queues since this was last asked, in the order in which they were opened.
    pub(crate) fn take(&self) -> Vec<Log> {
        std::mem::take(&mut self.seen().logs)
    }

    /// What was asked of queues and may not be.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        self.seen().wrongs.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begins(&self, fault: Option<Fault>) {
        let mut seen = self.seen();
        seen.begun += 1;
        if let Some((at, flag)) = &seen.stop
            && seen.begun >= *at
        {
            flag.store(true, Ordering::Relaxed);
        }
        if let (Some(Fault::Corrupt | Fault::Short), Some(log)) = (fault, seen.logs.last_mut()) {
            log.lies += 1;
        }
    }

    fn is_called(&self) {
        let mut seen = self.seen();
        seen.calls += 1;
        assert!(seen.calls < CALLS_MAX, "the run does not end: its queues were called {CALLS_MAX} times");
    }

    fn is_wrong(&self, what: String) {
        self.seen().wrongs.push(what);
    }
}

/// A storage that follows its script.
pub(crate) struct Misbehaving {
    inner: Simulated,
    script: Arc<Script>,
    clock: Clock,
    witness: Witness,
}

impl fmt::Debug for Misbehaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Misbehaving").field("script", &self.script).finish_non_exhaustive()
    }
}

impl Misbehaving {
    /// The storage of `script`, whose content has the seed `content`.
    pub(crate) fn new(script: Script, content: u64, clock: &Clock, witness: &Witness) -> Self {
        let script = Arc::new(script);
        let (steps, now, seen) = (Arc::clone(&script), clock.clone(), witness.clone());
        let stalled = Mutex::new(Vec::new());
        let step = move |number| {
            let mut stalled = stalled.lock().unwrap_or_else(PoisonError::into_inner);
            let step = steps.step(number, now.now_ns(), &mut stalled);
            seen.begins(step.fault);
            step
        };
        Self {
            inner: Simulated::new(clock, script.channels, content, step),
            script,
            clock: clock.clone(),
            witness: witness.clone(),
        }
    }
}

impl Store for Misbehaving {
    fn facts(&self) -> Vec<(&'static str, String)> {
        self.inner.facts()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        self.inner.limits()
    }

    backend::holds_no_data!("the simulated storage");

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        self.inner.read_at(key, offset, buf)
    }

    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        match self.script.refuses_cache(self.clock.now_ns()) {
            Some(refusal) => Err(refusal),
            None => self.inner.cache(action, objects),
        }
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        self.witness.is_called();
        if let Some(refusal) = self.script.refuses_queue(self.clock.now_ns()) {
            return Err(refusal);
        }
        let inner = self.inner.open_queue(spec)?;
        let mut seen = self.witness.seen();
        seen.logs.push(Log { depth: spec.depth, ..Log::default() });
        let number = seen.logs.len() - 1;
        drop(seen);
        let witness = self.witness.clone();
        Ok(Box::new(Watched { inner, passing: Passing { number, witness, with_storage: BTreeSet::new() } }))
    }
}

/// A queue, seen.
struct Watched {
    inner: Box<dyn IoQueue>,
    passing: Passing,
}

/// What passes through a queue.
struct Passing {
    /// Place of its log.
    number: usize,
    witness: Witness,
    /// Buffers that the storage has.
    with_storage: BTreeSet<u32>,
}

impl Passing {
    fn log<T>(&self, look: impl FnOnce(&mut Log) -> T) -> Option<T> {
        self.witness.seen().logs.get_mut(self.number).map(look)
    }

    fn takes(&mut self, slots: &[u32]) {
        for slot in slots {
            if !self.with_storage.insert(*slot) {
                self.witness.is_wrong(format!("buffer {slot} was handed over while the storage had it"));
            }
        }
        self.log(|log| log.begun += slots.len() as u64);
    }

    fn gives(&mut self, done: &[Completion]) {
        for completion in done {
            if !self.with_storage.remove(&completion.buf.slot()) {
                self.witness.is_wrong(format!("buffer {} came back twice", completion.buf.slot()));
            }
            self.log(|log| match completion.result {
                Ok(_) => log.ended_well += 1,
                Err(error) => *log.failed.entry(error.kind.name()).or_default() += 1,
            });
        }
    }

    fn is_closed(&mut self, abandoned: u32) {
        let kept = self.with_storage.len();
        let is_broken = self.log(|log| {
            log.abandoned = Some(abandoned);
            log.is_broken
        });
        // What a broken queue was asked last is lost.
        if kept != abandoned as usize && is_broken != Some(true) {
            self.witness.is_wrong(format!("{kept} buffers never came back, and {abandoned} were abandoned"));
        }
    }
}

impl IoQueue for Watched {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.passing.witness.is_called();
        let slots: Vec<u32> = requests.iter().map(|request| request.buf.slot()).collect();
        let before = done.len();
        let submitted = self.inner.submit(requests, done);
        self.passing.takes(&slots[..slots.len() - requests.len()]);
        self.passing.gives(&done[before..]);
        let under_way = self.inner.in_flight();
        self.passing.log(|log| {
            log.unfilled += u64::from(under_way < log.depth);
            log.is_broken |= submitted.is_err();
        });
        submitted
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.passing.witness.is_called();
        let before = done.len();
        self.inner.wait(min, until_ns, done)?;
        self.passing.gives(&done[before..]);
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.inner.in_flight()
    }

    fn phases(&self) -> &'static [&'static str] {
        self.inner.phases()
    }

    fn report(&self) -> QueueReport {
        self.inner.report()
    }

    fn close(self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        let Self { inner, mut passing } = *self;
        let before = done.len();
        let abandoned = inner.close(until_ns, done);
        passing.gives(&done[before..]);
        passing.is_closed(abandoned);
        abandoned
    }
}
