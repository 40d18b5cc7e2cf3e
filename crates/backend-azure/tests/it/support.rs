//! Containers, and queues over them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use backend::conformance;
use backend::{Arena, Buf, Clock, IoQueue, Op, OpError, Owned, QueueSpec, Store, StoreError};
use backend_azure::AzureStore;
use dataset::{Key, Marker, Objects, payload};
use plan::{Addresses, Advice, AzureConfig, Cache, Operation, Registered};

/// Seed of all content.
pub(crate) const SEED: u64 = 7;
pub(crate) const BLOCK_BYTES: u32 = 4096;
pub(crate) const CONTAINER: &str = "bench";

/// Longer than any test waits.
const LATER_NS: u64 = 60_000_000_000;
/// Longer than any answer takes that comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What the environment says.
pub(crate) type Variables<'a> = &'a [(&'static str, String)];

pub(crate) fn open(config: &AzureConfig, variables: Variables<'_>) -> Result<AzureStore, StoreError> {
    open_with(config, variables, PATIENCE)
}

pub(crate) fn open_with(
    config: &AzureConfig,
    variables: Variables<'_>,
    reply: Duration,
) -> Result<AzureStore, StoreError> {
    AzureStore::open_with(config, reply, |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    })
}

pub(crate) fn config(endpoint: &str, ca: Option<PathBuf>, prefix: &str) -> AzureConfig {
    AzureConfig {
        container: CONTAINER.to_owned(),
        prefix: prefix.to_owned(),
        endpoint: Some(endpoint.to_owned()),
        ca,
        anonymous: false,
        addresses: Addresses::First,
        part_bytes: None,
        head: false,
    }
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

pub(crate) fn marker() -> Marker {
    Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() }
}

/// A dataset of equal sizes, none a multiple of 4096, in folders of three.
pub(crate) fn objects() -> Arc<Objects> {
    Arc::new(Objects::Uniform { folder: key("data"), count: 6, bytes: 10_001, files_per_folder: 3 })
}

pub(crate) fn content(object: u32, bytes: u64) -> Vec<u8> {
    let mut content = vec![0; bytes as usize];
    payload::fill(SEED, object, 0, &mut content);
    content
}

pub(crate) fn write(store: &AzureStore, owned: &Owned, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let mut writer = store.create(owned, &key(name))?;
    writer.write(bytes)?;
    writer.finish()
}

/// Writes a dataset through the store.
pub(crate) fn prepare(store: &AzureStore, objects: &Objects) -> Owned {
    let owned = store.create_folder(&key("data"), &marker()).unwrap();
    for object in 0..objects.count() {
        let name = objects.key(object);
        write(store, &owned, name.as_str(), &content(object, objects.bytes(object))).unwrap();
    }
    owned
}

/// Name and size of what lies below a prefix.
pub(crate) fn names(store: &AzureStore, prefix: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let each = &mut |entry: backend::Entry| {
        found.push(format!("{}={}", entry.key, entry.bytes));
        ControlFlow::Continue(())
    };
    store.list(prefix.map(key).as_ref(), each).unwrap();
    found
}

/// A queue with its free buffers.
pub(crate) struct Opened {
    pub(crate) queue: Box<dyn IoQueue>,
    free: Vec<Buf>,
    clock: Clock,
}

impl Opened {
    pub(crate) fn new(
        store: &AzureStore,
        objects: &Arc<Objects>,
        operation: Operation,
        (depth, connections): (u32, u32),
    ) -> Self {
        let (arena, clock) = (Arena::new(depth, BLOCK_BYTES).unwrap(), Clock::real());
        let queue = store.open_queue(&QueueSpec {
            depth,
            submit_batch: depth,
            block_bytes: BLOCK_BYTES,
            connections,
            cache: Cache::Bypass,
            operation,
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects,
            arena: &arena,
            clock: &clock,
        });
        Self { queue: queue.unwrap(), free: arena.buffers(), clock }
    }

    /// The ends of operations, in their order, as many at once as there are buffers; blocks that were read well are right.
    pub(crate) fn run(&mut self, ops: &[Op]) -> Vec<Result<u64, OpError>> {
        let mut results = vec![None; ops.len()];
        let patience = (&self.clock, LATER_NS);
        conformance::drive(&mut *self.queue, &mut self.free, ops, patience, |at, completion| {
            if let (Op::Read { object, offset, .. }, Ok(bytes)) = (ops[at], completion.result) {
                payload::verify(SEED, object, offset, &completion.buf.as_slice()[..bytes as usize]).unwrap();
            }
            results[at] = Some(completion.result);
        });
        results.into_iter().map(Option::unwrap).collect()
    }

    pub(crate) fn counted(&self, name: &str) -> u64 {
        let report = self.queue.report();
        report.counted.iter().filter(|(counted, _)| counted == name).map(|(_, count)| count).sum()
    }

    pub(crate) fn close(self) {
        assert_eq!(self.queue.close(self.clock.now_ns() + LATER_NS, &mut Vec::new()), 0);
    }
}

/// Every block of every object, in order.
pub(crate) fn blocks(objects: &Objects) -> Vec<Op> {
    let block = u64::from(BLOCK_BYTES);
    let of = |object| {
        let bytes = objects.bytes(object);
        (0..bytes.div_ceil(block)).map(move |index| {
            let offset = index * block;
            Op::Read { object, offset, len: block.min(bytes - offset) as u32 }
        })
    };
    (0..objects.count()).flat_map(of).collect()
}
