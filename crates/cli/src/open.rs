//! The only place that knows which crate serves which backend: a new one adds an arm here.

use std::collections::BTreeMap;
use std::sync::Arc;

use backend::{SharedStore, null::NullStore};
use backend_file::FileStore;
use plan::{BackendConfig, Engine, Plan};

/// The stores of a plan, one for each target and engine in use.
#[derive(Clone)]
pub(crate) struct Stores(BTreeMap<(usize, &'static str), SharedStore>);

impl Stores {
    /// Opens what the cells of `plan` use.
    pub(crate) fn open(plan: &Plan) -> Self {
        let used = plan.cells.iter().map(|cell| (cell.target, cell.engine));
        Self(
            used.map(|(target, engine)| {
                ((target, engine.name()), store(&plan.targets[target].config, engine))
            })
            .collect(),
        )
    }

    /// The store of a target for an engine that a cell uses.
    pub(crate) fn get(&self, target: usize, engine: Engine) -> &SharedStore {
        &self.0[&(target, engine.name())]
    }
}

/// A store for untimed work on a target: its listing and its dataset.
pub(crate) fn for_data(config: &BackendConfig) -> SharedStore {
    store(config, Engine::Pread)
}

/// A store for untimed work on a local path.
pub(crate) fn local(at: &str) -> SharedStore {
    for_data(&BackendConfig::File { root: at.into() })
}

fn store(config: &BackendConfig, engine: Engine) -> SharedStore {
    match (config, engine) {
        (BackendConfig::Null, _) => Arc::new(NullStore { copies: false }),
        (BackendConfig::File { root }, Engine::IoUring) => Arc::new(FileStore::uring(root)),
        (BackendConfig::File { root }, Engine::Pread | Engine::Null) => Arc::new(FileStore::pread(root)),
        (BackendConfig::File { root }, Engine::Mmap) => Arc::new(FileStore::mmap(root)),
        (BackendConfig::Device { path }, Engine::IoUring) => Arc::new(FileStore::uring_device(path)),
        (BackendConfig::Device { path }, Engine::Pread | Engine::Null) => {
            Arc::new(FileStore::pread_device(path))
        }
        (BackendConfig::Device { path }, Engine::Mmap) => Arc::new(FileStore::mmap_device(path)),
    }
}
