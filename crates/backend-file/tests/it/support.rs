//! A dataset on disk and a queue over it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use backend::conformance;
use backend::{Arena, Buf, Clock, Completion, IoQueue, Op, QueueReport, QueueSpec, Store, StoreError};
use backend_file::FileStore;
use dataset::{Key, Objects, payload};
use plan::{Advice, Cache, Registered};
use tempfile::TempDir;

/// Seed of all content.
pub(crate) const SEED: u64 = 7;

/// Longer than any test waits.
pub(crate) const LATER_NS: u64 = 60_000_000_000;

/// A folder below the target directory, on a disk where the checkout is.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Writes a generated dataset of `count` files of `bytes` each.
pub(crate) fn write_dataset(root: &Path, count: u32, bytes: u64) -> Arc<Objects> {
    let objects = Objects::uniform(Key::new("data").unwrap(), count, bytes);
    for object in 0..count {
        let path = root.join(objects.key(object).as_str());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut content = vec![0; bytes as usize];
        payload::fill(SEED, object, 0, &mut content);
        fs::write(path, content).unwrap();
    }
    Arc::new(objects)
}

/// Puts a node of another kind in the place of a file.
pub(crate) fn put_in_place(path: &Path, kind: u32, device: u64) {
    fs::remove_file(path).unwrap();
    let kind = rustix::fs::FileType::from_raw_mode(kind);
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RUSR, device).unwrap();
}

/// How a test reads.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) depth: u32,
    pub(crate) submit_batch: u32,
    pub(crate) block_bytes: u32,
    pub(crate) cache: Cache,
    pub(crate) advice: Advice,
    pub(crate) registered: Registered,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            depth: 8,
            submit_batch: 8,
            block_bytes: 8192,
            cache: Cache::Warm,
            advice: Advice::Normal,
            registered: Registered::Auto,
        }
    }
}

/// A queue with its free buffers.
pub(crate) struct Opened {
    pub(crate) queue: Box<dyn IoQueue>,
    pub(crate) free: Vec<Buf>,
    pub(crate) clock: Clock,
}

pub(crate) fn try_open(
    store: &dyn Store,
    objects: &Arc<Objects>,
    setup: Setup,
) -> Result<Opened, StoreError> {
    open_for(store, objects, plan::Operation::Read, setup)
}

/// A queue for one kind of operation.
pub(crate) fn open_for(
    store: &dyn Store,
    objects: &Arc<Objects>,
    operation: plan::Operation,
    setup: Setup,
) -> Result<Opened, StoreError> {
    let arena = Arena::new(setup.depth, setup.block_bytes).unwrap();
    let clock = Clock::real();
    let queue = store.open_queue(&QueueSpec {
        depth: setup.depth,
        submit_batch: setup.submit_batch,
        connections: 0,
        block_bytes: setup.block_bytes,
        cache: setup.cache,
        operation,
        writes: None,
        advice: setup.advice,
        registered: setup.registered,
        objects,
        arena: &arena,
        clock: &clock,
    })?;
    Ok(Opened { queue, free: arena.buffers(), clock })
}

pub(crate) fn open(store: &dyn Store, objects: &Arc<Objects>, setup: Setup) -> Opened {
    try_open(store, objects, setup).unwrap()
}

/// Both engines over one folder.
pub(crate) fn both(root: &Path) -> [(&'static str, FileStore); 2] {
    [("io_uring", FileStore::uring(root)), ("pread", FileStore::pread(root))]
}

impl Opened {
    /// Runs all operations, as many at once as there are buffers, and hands each end to `each`.
    pub(crate) fn run(&mut self, ops: &[Op], mut each: impl FnMut(Op, &Completion)) {
        let patience = (&self.clock, LATER_NS);
        conformance::drive(&mut *self.queue, &mut self.free, ops, patience, |at, completion| {
            each(ops[at], completion);
        });
    }

    /// The end of one operation.
    pub(crate) fn run_one(&mut self, op: Op) -> Result<u64, backend::OpError> {
        let mut result = None;
        self.run(&[op], |_, completion| result = Some(completion.result));
        result.unwrap()
    }

    /// Closes the queue, of which nothing is outstanding.
    pub(crate) fn close(self) -> QueueReport {
        let report = self.queue.report();
        assert_eq!(self.queue.close(LATER_NS, &mut Vec::new()), 0);
        report
    }
}

/// Every block of every object, in order.
pub(crate) fn blocks(objects: &Objects, block_bytes: u32) -> Vec<Op> {
    let block = u64::from(block_bytes);
    (0..objects.count())
        .flat_map(|object| {
            let bytes = objects.bytes(object);
            (0..bytes.div_ceil(block)).map(move |index| Op::Read {
                object,
                offset: index * block,
                len: block.min(bytes - index * block) as u32,
            })
        })
        .collect()
}

/// The operation ended well, with the bytes that were written.
pub(crate) fn check(op: Op, completion: &Completion) {
    let Op::Read { object, offset, len } = op else { panic!("{op:?} is not a read") };
    assert_eq!(completion.result, Ok(u64::from(len)), "{op:?}");
    assert!(completion.stamps.begun_ns <= completion.stamps.done_ns, "{:?}", completion.stamps);
    payload::verify(SEED, object, offset, &completion.buf.as_slice()[..len as usize]).unwrap();
}

/// What a queue was granted, by name.
pub(crate) fn granted<'a>(report: &'a QueueReport, name: &str) -> &'a str {
    report.granted.iter().find(|(given, _)| *given == name).map_or("", |(_, value)| value)
}
