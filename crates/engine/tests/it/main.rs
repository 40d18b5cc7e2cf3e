//! The engine on the simulated backend and the virtual clock: expectations are exact.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checkpoint;
mod copy;
mod epochs;
mod loaders;
mod operation;
mod outages;
mod paced;
mod resume;
mod retry;
mod run;
mod stalls;
mod streams;
mod training;
mod window;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::simulated::{Simulated, Step};
use backend::{Clock, SharedStore, Store};
use dataset::{Content, Data, Key, Objects, Samples};
use engine::{Progress, RepError, RepOutcome, RepSpec, Seat, Server, run_rep};
use plan::{Cell, Engine, Limit};
use record::Histogram;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SEED: u64 = 7;

pub(crate) fn objects(count: u32, bytes: u64) -> Arc<Objects> {
    Arc::new(Objects::uniform(Key::new("d").unwrap(), count, bytes))
}

pub(crate) fn cell(queue_depth: u32) -> Cell {
    Cell { seed: 3, ..Cell::plain(Engine::Null, 4096, queue_depth) }
}

/// What a cell reads: 100,000 blocks of feedline's on a device.
pub(crate) fn seat(store: SharedStore, line_samples_per_s: f64) -> Seat {
    Seat {
        copy_to: None,
        server: None,
        store,
        data: Arc::new(Data::files(objects(100_000, 4_096), Some(SEED))),
        checkpoints: None,
        sample_bytes: 4_096.0,
        line_samples_per_s,
    }
}

/// A repetition on a simulated device.
pub(crate) struct Sim {
    pub(crate) clock: Clock,
    pub(crate) store: SharedStore,
    pub(crate) server: Option<Arc<dyn Server>>,
    pub(crate) cell: Cell,
    pub(crate) objects: Arc<Objects>,
    pub(crate) samples: Samples,
    pub(crate) warmup_ns: u64,
    pub(crate) limit: Limit,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) verify_seed: Option<u64>,
    /// Number of the repetition, and this client among all.
    pub(crate) epoch: u64,
    pub(crate) part: plan::Share,
}

impl Sim {
    pub(crate) fn new(
        queue_depth: u32,
        channels: u32,
        script: impl Fn(u64) -> Step + Send + Sync + 'static,
    ) -> Self {
        let clock = Clock::simulated();
        Self::on(Simulated::new(&clock, channels, SEED, script), &clock, queue_depth)
    }

    pub(crate) fn on(store: impl Store + 'static, clock: &Clock, queue_depth: u32) -> Self {
        Self {
            clock: clock.clone(),
            store: Arc::new(store),
            server: None,
            cell: cell(queue_depth),
            objects: objects(1_000, 10_000),
            samples: Samples::Objects,
            warmup_ns: 0,
            limit: Limit::Duration { duration_ns: 100 * MS },
            stop: Arc::default(),
            verify_seed: Some(SEED),
            epoch: 0,
            part: plan::Share::WHOLE,
        }
    }

    pub(crate) fn run(&self) -> RepOutcome {
        self.try_run().unwrap()
    }

    pub(crate) fn try_run(&self) -> Result<RepOutcome, RepError> {
        let content = self.verify_seed.map(|seed| Content::Objects { seed });
        run_rep(&RepSpec {
            server: self.server.as_deref(),
            cell: &self.cell,
            store: &self.store,
            data: &Data::new(Arc::clone(&self.objects), self.samples.clone(), content).unwrap(),
            checkpoints: None,
            verify: true,
            sample_bytes: 10_000.0,
            line_bps: 1e9,
            warmup_ns: self.warmup_ns,
            limit: self.limit,
            epoch: self.epoch,
            part: self.part,
            wait: None,
            cores: 1,
            clock: &self.clock,
            stop: &self.stop,
            progress: &Progress::default(),
        })
    }
}

/// A histogram of a repetition.
pub(crate) fn histogram(rep: &RepOutcome, name: &str) -> Histogram<u64> {
    rep.histograms[name].decode().unwrap()
}
