//! Buckets, and queues over them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_s3::config::{BehaviorVersion, Region};
use aws_sdk_s3::primitives::ByteStream;
use backend::conformance;
use backend::{Arena, Buf, Clock, Completion, IoQueue, Op, OpError, Owned, QueueSpec, Store, StoreError};
use backend_s3::S3Store;
use dataset::{Key, Marker, Objects, payload};
use plan::{Addresses, Advice, BucketStyle, Cache, Keys, Operation, Registered, S3Config, Secret};

/// Seed of all content.
pub(crate) const SEED: u64 = 7;
pub(crate) const BLOCK_BYTES: u32 = 4096;
pub(crate) const BUCKET: &str = "bench";
/// What no text may show.
pub(crate) const ID: &str = "AKIACANARY0000000001";
pub(crate) const SECRET: &str = "wJalrCANARY/K7MDENG+bPxRfiCYKEY";

/// Longer than any test waits.
const LATER_NS: u64 = 60_000_000_000;

/// What reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Lean,
    Sdk,
}

pub(crate) const BOTH: [Engine; 2] = [Engine::Lean, Engine::Sdk];

impl Engine {
    pub(crate) fn open(self, config: &S3Config) -> Result<S3Store, StoreError> {
        match self {
            Self::Lean => S3Store::lean(config),
            Self::Sdk => S3Store::sdk(config),
        }
    }

    pub(crate) fn open_with(self, config: &S3Config, reply: Duration) -> Result<S3Store, StoreError> {
        match self {
            Self::Lean => S3Store::lean_with(config, reply),
            Self::Sdk => S3Store::sdk_with(config, reply),
        }
    }
}

pub(crate) fn own(id: &str, secret: &str) -> Keys {
    Keys::Own { id: id.to_owned(), secret: Secret::new(secret) }
}

pub(crate) fn config(endpoint: &str, prefix: &str) -> S3Config {
    S3Config {
        bucket: BUCKET.to_owned(),
        prefix: prefix.to_owned(),
        region: None,
        endpoint: Some(endpoint.to_owned()),
        style: BucketStyle::Auto,
        ca: None,
        keys: own(ID, SECRET),
        addresses: Addresses::First,
        part_bytes: None,
        prefixes: 1,
        head: false,
        checksum: false,
    }
}

/// A client that is not the one under test.
pub(crate) struct Client {
    runtime: tokio::runtime::Runtime,
    s3: aws_sdk_s3::Client,
}

impl Client {
    pub(crate) fn new(config: &S3Config) -> Self {
        let Keys::Own { id, secret } = &config.keys else { panic!("keys of one's own") };
        let config = aws_sdk_s3::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url(config.endpoint.clone().unwrap())
            .force_path_style(true)
            .credentials_provider(Credentials::new(id, secret.reveal(), None, None, "tests"))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, s3: aws_sdk_s3::Client::from_conf(config) }
    }

    pub(crate) fn make_bucket(&self) {
        self.runtime.block_on(self.s3.create_bucket().bucket(BUCKET).send()).unwrap();
    }

    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        let body = ByteStream::from(bytes.to_vec());
        self.runtime.block_on(self.s3.put_object().bucket(BUCKET).key(key).body(body).send()).unwrap();
    }

    pub(crate) fn keys(&self, prefix: &str) -> Vec<String> {
        let asked = self.s3.list_objects_v2().bucket(BUCKET).prefix(prefix).send();
        let page = self.runtime.block_on(asked).unwrap();
        page.contents().iter().map(|object| object.key().unwrap().to_owned()).collect()
    }

    /// Uploads that were begun and not ended; `None` where the service does not say.
    pub(crate) fn uploads(&self) -> Option<usize> {
        let asked = self.s3.list_multipart_uploads().bucket(BUCKET).send();
        self.runtime.block_on(asked).ok().map(|found| found.uploads().len())
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

pub(crate) fn write(store: &S3Store, owned: &Owned, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let mut writer = store.create(owned, &key(name))?;
    writer.write(bytes)?;
    writer.finish()
}

/// Writes a dataset through the store.
pub(crate) fn prepare(store: &S3Store, objects: &Objects) -> Owned {
    let owned = store.create_folder(&key("data"), &marker()).unwrap();
    for object in 0..objects.count() {
        let name = objects.key(object);
        write(store, &owned, name.as_str(), &content(object, objects.bytes(object))).unwrap();
    }
    owned
}

/// Name and size of what lies below a prefix.
pub(crate) fn names(store: &S3Store, prefix: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let each = &mut |entry: backend::Entry| {
        found.push(format!("{}={}", entry.key, entry.bytes));
        ControlFlow::Continue(())
    };
    store.list(prefix.map(key).as_ref(), each).unwrap();
    found
}

/// How a queue is opened.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) operation: Operation,
    pub(crate) depth: u32,
    pub(crate) connections: u32,
}

/// A queue with its free buffers.
pub(crate) struct Opened {
    pub(crate) queue: Box<dyn IoQueue>,
    pub(crate) free: Vec<Buf>,
    pub(crate) clock: Clock,
}

impl Opened {
    pub(crate) fn new(store: &S3Store, objects: &Arc<Objects>, setup: Setup) -> Self {
        let (arena, clock) = (Arena::new(setup.depth, BLOCK_BYTES).unwrap(), Clock::real());
        let queue = store.open_queue(&QueueSpec {
            depth: setup.depth,
            submit_batch: setup.depth,
            block_bytes: BLOCK_BYTES,
            connections: setup.connections,
            cache: Cache::Bypass,
            operation: setup.operation,
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects,
            arena: &arena,
            clock: &clock,
        });
        Self { queue: queue.unwrap(), free: arena.buffers(), clock }
    }

    /// The ends of operations, in their order, as many at once as there are buffers; what was read well is right.
    pub(crate) fn run(&mut self, ops: &[Op]) -> Vec<Result<u64, OpError>> {
        let mut results = vec![None; ops.len()];
        let patience = (&self.clock, LATER_NS);
        conformance::drive(&mut *self.queue, &mut self.free, ops, patience, |at, completion| {
            verify(ops[at], completion);
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

fn verify(op: Op, completion: &Completion) {
    let (object, at, len) = match (op, completion.result) {
        (Op::Read { object, offset, .. }, Ok(bytes)) => (object, offset, bytes),
        (Op::ReadFile { object, .. }, Ok(bytes)) => {
            let last = bytes.saturating_sub(1) / u64::from(BLOCK_BYTES) * u64::from(BLOCK_BYTES);
            (object, last, bytes - last)
        }
        _ => return,
    };
    payload::verify(SEED, object, at, &completion.buf.as_slice()[..len as usize])
        .unwrap_or_else(|error| panic!("{op:?}: {error}"));
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
