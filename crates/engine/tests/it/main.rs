//! The engine on the simulated backend and the virtual clock: expectations are exact.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checkpoint;
mod copy;
mod epochs;
mod hosts;
mod loaders;
mod operation;
mod outages;
mod paced;
mod resume;
mod retry;
mod run;
mod slowed;
mod stalls;
mod streams;
mod training;
mod window;
mod writes;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::simulated::{Simulated, Step};
use backend::{Clock, SharedStore, Store};
use dataset::{Content, Data, Key, Objects, Samples};
use engine::{BenchSettings, CellSetup, Measured, RepError, RepSpec, Server, run_rep};
use plan::{Cell, CellOrder, Engine, Limit, Measure};
use record::{Histogram, Rep};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SEED: u64 = 7;

pub(crate) fn objects(count: u32, bytes: u64) -> Arc<Objects> {
    Arc::new(Objects::uniform(Key::new("d").unwrap(), count, bytes))
}

pub(crate) fn cell(queue_depth: u32) -> Cell {
    Cell { seed: 3, ..Cell::plain(Engine::Null, 4096, queue_depth) }
}

/// What a cell reads: 100,000 blocks of feedline's on a device.
pub(crate) fn setup(store: SharedStore, line_samples_per_s: f64) -> CellSetup {
    CellSetup {
        copy_to: None,
        beside: None,
        server: None,
        store,
        data: Arc::new(Data::files(objects(100_000, 4_096), Some(SEED))),
        checkpoints: None,
        sample_bytes: 4_096.0,
        line_samples_per_s,
    }
}

/// So many repetitions of each cell in the order of the file, without a warm-up.
pub(crate) fn settings(limit: Limit, repetitions: u32) -> BenchSettings {
    let measure = Measure {
        warmup_ns: 0,
        limit,
        repetitions,
        fresh_rounds: repetitions,
        budget_ns: None,
        cell_order: CellOrder::File,
        seed: 1,
    };
    BenchSettings::alone(measure, 1)
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

    pub(crate) fn run(&self) -> Rep {
        self.try_run().unwrap().rep
    }

    pub(crate) fn try_run(&self) -> Result<Measured, RepError> {
        let content = self.verify_seed.map(|seed| Content::Objects { seed });
        let data = Data::new(Arc::clone(&self.objects), self.samples.clone(), content).unwrap();
        run_rep(&RepSpec {
            server: self.server.as_deref(),
            sample_bytes: 10_000.0,
            warmup_ns: self.warmup_ns,
            epoch: self.epoch,
            part: self.part,
            stop: &self.stop,
            ..RepSpec::plain(&self.cell, &self.store, &data, self.limit, &self.clock)
        })
    }
}

/// A histogram of a repetition.
pub(crate) fn histogram(rep: &Rep, name: &str) -> Histogram<u64> {
    rep.histograms[name].decode().unwrap()
}
