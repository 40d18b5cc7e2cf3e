//! The only place that knows which crate serves which backend: a new one adds an arm here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use backend::numa::Beside;
use backend::slowed::{Slowed, Slowness};
use backend::{SharedStore, StoreError, null::NullStore};
use backend_azure::AzureStore;
use backend_cache::{TierFile, TieredStore};
use backend_file::{FileStore, probe_io_uring};
use backend_nfs::NfsStore;
use backend_s3::S3Store;
use engine::Server;
use plan::{BackendConfig, Cell, Engine, Numa, Plan, Target, Tier};
use record::LockedFile;

use crate::emulated::{Emulated, Reached};
use crate::exit::Failure;
use crate::in_use;

/// Who starts the servers that targets declare.
pub(crate) enum Servers {
    /// This process does.
    Own,
    /// Another one has, and they are reached so, by target.
    OfLeader(Vec<Option<Reached>>),
}

/// The stores of a plan, each connected once: one for each way that a cell reads, and one of each target for untimed work.
pub(crate) struct Stores {
    cells: BTreeMap<Key, SharedStore>,
    tiers: BTreeMap<PathBuf, Arc<TierFile>>,
    /// The folders of the cache tiers, against a removal.
    tier_folders: Vec<LockedFile>,
    data: Vec<SharedStore>,
    servers: Vec<Option<Arc<Emulated>>>,
    /// What slows down the paths that are, by target.
    slowed: Vec<Option<Arc<Slowness>>>,
    /// The processors beside each target of which a cell keeps its threads there.
    beside: BTreeMap<usize, Beside>,
}

impl Stores {
    /// Opens what the cells of `plan` use.
    ///
    /// # Errors
    /// What a target or its server refuses, with the name and the address of the target.
    pub(crate) fn open(plan: &Plan) -> Result<Self, Failure> {
        Self::through(plan, &Servers::Own)
    }

    /// The same; whoever leads this process may have started the servers that targets declare.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn through(plan: &Plan, servers: &Servers) -> Result<Self, Failure> {
        let mut stores = Self::for_data_through(plan, servers)?;
        for cell in &plan.cells {
            let (key, straight) = (key(cell), (cell.target, cell.engine.name(), None));
            if !stores.cells.contains_key(&straight) {
                let opened = stores.connect(plan, cell.target, cell.engine)?;
                // What is not timed is not slowed down.
                let opened = match &stores.slowed[cell.target] {
                    Some(slowness) => Arc::new(Slowed::new(opened, Arc::clone(slowness))),
                    None => opened,
                };
                stores.cells.insert(straight, opened);
            }
            if cell.numa == Numa::Device && !stores.beside.contains_key(&cell.target) {
                let target = &plan.targets[cell.target];
                let beside = Beside::of(&*stores.cells[&straight])
                    .with_context(|| place(target))
                    .context("`load.numa = \"device\"` cannot be honoured")?;
                stores.beside.insert(cell.target, beside);
            }
            if let Some(tier) = cell.tier.as_ref().filter(|_| !stores.cells.contains_key(&key)) {
                let slow = Arc::clone(&stores.cells[&straight]);
                let tiered = TieredStore::new(slow, stores.place(tier)?, tier.policy);
                stores.cells.insert(key, Arc::new(tiered));
            }
        }
        Ok(stores)
    }

    /// Opens only what listing and writing need.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn for_data(plan: &Plan) -> anyhow::Result<Self> {
        Self::for_data_through(plan, &Servers::Own)
    }

    fn for_data_through(plan: &Plan, by: &Servers) -> anyhow::Result<Self> {
        let count = plan.targets.len();
        let (data, servers) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let slowed = Vec::with_capacity(count);
        let (cells, tiers) = (BTreeMap::new(), BTreeMap::new());
        let mut stores =
            Self { cells, tiers, tier_folders: Vec::new(), data, servers, slowed, beside: BTreeMap::new() };
        for (index, target) in plan.targets.iter().enumerate() {
            let server = match (target.is_served_here(), by) {
                (false, _) => None,
                (true, Servers::Own) => Some(Emulated::start(target)?),
                (true, Servers::OfLeader(all)) => {
                    Some(Emulated::of_leader(target, all.get(index).and_then(Option::as_ref))?)
                }
            };
            stores.servers.push(server.map(Arc::new));
            let slowed = target.emulate.as_ref().filter(|_| target.is_slowed_here());
            stores.slowed.push(slowed.map(|asked| Arc::new(Slowness::new(asked))));
            let engine = data_engine(plan, index);
            let opened = stores.connect(plan, index, engine)?;
            // On a network the store for untimed work is one of those that are measured: a second one would
            // log in twice.
            if target.config.capabilities().network {
                stores.cells.insert((index, engine.name(), None), Arc::clone(&opened));
            }
            stores.data.push(opened);
        }
        Ok(stores)
    }

    fn connect(&self, plan: &Plan, target: usize, engine: Engine) -> anyhow::Result<SharedStore> {
        let (server, target) = (&self.servers[target], &plan.targets[target]);
        let config = server.as_ref().map_or(&target.config, |server| server.config());
        store(config, engine).with_context(|| place(target))
    }

    /// The server that was started for a target, if any. It ends with these stores.
    pub(crate) fn server(&self, target: usize) -> Option<Arc<dyn Server>> {
        let server = self.servers[target].clone().filter(|server| server.is_own());
        server.map(|server| server as Arc<dyn Server>)
    }

    /// How the servers that were started are reached, by target, for other processes of this machine.
    pub(crate) fn reached(&self) -> Vec<Option<Reached>> {
        self.servers.iter().map(|server| server.as_ref().map(|server| server.how_reached())).collect()
    }

    /// The room of a cache tier, claimed once and shared by the cells that are read through one there.
    fn place(&mut self, tier: &Tier) -> Result<Arc<TierFile>, Failure> {
        if let Some(place) = self.tiers.get(&tier.at) {
            return Ok(Arc::clone(place));
        }
        in_use::make(&tier.at);
        self.tier_folders.extend(in_use::hold_to_use(&tier.at)?);
        // The tier is feedline's own part of the path, so that it takes the best engine there is, and its
        // own stand-in.
        let near: SharedStore = match probe_io_uring() {
            Ok(()) => Arc::new(FileStore::uring(&tier.at)),
            Err(_) => Arc::new(FileStore::pread(&tier.at)),
        };
        let place = TierFile::claim(&tier.at, near, tier.capacity_bytes)
            .with_context(|| format!("cache tier at `{}`", tier.at.display()))?;
        self.tiers.insert(tier.at.clone(), Arc::clone(&place));
        Ok(place)
    }

    /// The store that a cell reads through.
    pub(crate) fn get(&self, cell: &Cell) -> &SharedStore {
        &self.cells[&key(cell)]
    }

    /// The processors on which a cell's threads are kept; `None` where they may be anywhere.
    pub(crate) fn beside(&self, cell: &Cell) -> Option<Beside> {
        self.beside.get(&cell.target).filter(|_| cell.numa == Numa::Device).cloned()
    }

    /// The store for untimed work on a target: its facts, its listing and its dataset.
    pub(crate) fn data(&self, target: usize) -> &SharedStore {
        &self.data[target]
    }
}

/// A target, in the words of an error.
pub(crate) fn place(target: &Target) -> String {
    format!("target `{}` at `{}`", target.name, target.at)
}

/// Target, engine, and the policy of the cache tier before it.
type Key = (usize, &'static str, Option<&'static str>);

fn key(cell: &Cell) -> Key {
    (cell.target, cell.engine.name(), cell.tier.as_ref().map(|tier| tier.policy.name()))
}

/// A store for untimed work on an address that `clean` names.
///
/// # Errors
/// What the server refuses.
pub(crate) fn connect(config: &BackendConfig) -> Result<SharedStore, StoreError> {
    store(config, untimed(config))
}

/// A store for untimed work on a local path.
// pread for what is not timed: it works everywhere, and needs no ring.
pub(crate) fn local(at: &str) -> SharedStore {
    Arc::new(FileStore::pread(Path::new(at)))
}

/// A store for untimed work on a local folder that may be written to; `None` for every other target.
pub(crate) fn local_folder(config: &BackendConfig) -> Option<SharedStore> {
    local_root(config).map(|root| Arc::new(FileStore::pread(root)) as SharedStore)
}

/// A local folder that may be written to; `None` for every other target.
pub(crate) fn local_root(config: &BackendConfig) -> Option<&Path> {
    match config {
        BackendConfig::File { root, .. } => Some(root),
        BackendConfig::Null
        | BackendConfig::Device { .. }
        | BackendConfig::Nfs(_)
        | BackendConfig::S3(_)
        | BackendConfig::Azure(_) => None,
    }
}

/// The engine for untimed work: on a network one of those that the cells use anyway.
fn data_engine(plan: &Plan, target: usize) -> Engine {
    let config = &plan.targets[target].config;
    let used = plan.cells.iter().find(|cell| cell.target == target).map(|cell| cell.engine);
    used.filter(|_| config.capabilities().network).unwrap_or_else(|| untimed(config))
}

fn untimed(config: &BackendConfig) -> Engine {
    let capabilities = config.capabilities();
    if capabilities.network { capabilities.engines[0] } else { Engine::Pread }
}

fn store(config: &BackendConfig, engine: Engine) -> Result<SharedStore, StoreError> {
    Ok(match (config, engine) {
        (BackendConfig::Null, _) => Arc::new(NullStore::default()),
        (BackendConfig::File { root, open_files }, engine) => {
            let store = match engine {
                Engine::IoUring => FileStore::uring(root),
                Engine::Mmap => FileStore::mmap(root),
                _ => FileStore::pread(root),
            };
            Arc::new(match open_files {
                Some(files) => store.with_open_files_max(*files),
                None => store,
            })
        }
        (BackendConfig::Device { path }, Engine::IoUring) => Arc::new(FileStore::uring_device(path)),
        (BackendConfig::Device { path }, Engine::Mmap) => Arc::new(FileStore::mmap_device(path)),
        (BackendConfig::Device { path }, _) => Arc::new(FileStore::pread_device(path)),
        (BackendConfig::Nfs(config), _) => Arc::new(NfsStore::open(config)?),
        (BackendConfig::S3(config), Engine::Sdk) => Arc::new(S3Store::sdk(config)?),
        (BackendConfig::S3(config), _) => Arc::new(S3Store::lean(config)?),
        (BackendConfig::Azure(config), _) => Arc::new(AzureStore::open(config)?),
    })
}
