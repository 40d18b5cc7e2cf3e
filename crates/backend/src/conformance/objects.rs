//! What stores of objects do alike: services that have names and no folders. And what their tests need: a folder of objects, and a
//! queue with its buffers.
#![expect(clippy::unwrap_used, reason = "a check that fails panics with what was found")]

use std::ops::ControlFlow;
use std::sync::Arc;

use dataset::{Key, MARKER_NAME, Marker, Objects, payload};
use plan::{Advice, Cache, Operation, Registered};

use super::{Fixture, LATER_NS, WholeFiles, drive, run, run_whole};
use crate::{
    Arena, Buf, Clock, Completion, Entry, IoQueue, Op, OpError, Owned, QueueSpec, SharedStore, Store,
    StoreError,
};

/// Seed of all content.
pub const SEED: u64 = 7;
/// Bytes of the blocks that [`Opened`] reads.
pub const BLOCK_BYTES: u32 = 4096;

/// The key of a name.
pub fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// A marker.
pub fn marker() -> Marker {
    Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() }
}

/// A dataset of equal sizes, none a multiple of 4096, in folders of three.
pub fn objects() -> Arc<Objects> {
    Arc::new(Objects::Uniform { folder: key("data"), count: 6, bytes: 10_001, files_per_folder: 3 })
}

/// The content of an object of so many bytes.
pub fn content(object: u32, bytes: u64) -> Vec<u8> {
    let mut content = vec![0; bytes as usize];
    payload::fill(SEED, object, 0, &mut content);
    content
}

/// Writes one object.
///
/// # Errors
/// Where the store refuses it.
pub fn write(store: &dyn Store, owned: &Owned, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let mut writer = store.create(owned, &key(name))?;
    writer.write(bytes)?;
    writer.finish()
}

/// Writes a dataset into the folder `data`.
pub fn prepare(store: &dyn Store, objects: &Objects) -> Owned {
    let owned = store.create_folder(&key("data"), &marker()).unwrap();
    for object in 0..objects.count() {
        let name = objects.key(object);
        write(store, &owned, name.as_str(), &content(object, objects.bytes(object))).unwrap();
    }
    owned
}

/// Name and size of what lies below a prefix: `a/b=3`.
pub fn names(store: &dyn Store, prefix: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let each = &mut |entry: Entry| {
        found.push(format!("{}={}", entry.key, entry.bytes));
        ControlFlow::Continue(())
    };
    store.list(prefix.map(key).as_ref(), each).unwrap();
    found
}

/// How a queue is opened.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// What it does.
    pub operation: Operation,
    /// Requests that it keeps outstanding.
    pub depth: u32,
    /// Its connections.
    pub connections: u32,
}

/// A queue with its free buffers.
pub struct Opened {
    /// The queue.
    pub queue: Box<dyn IoQueue>,
    /// Buffers that no operation has.
    pub free: Vec<Buf>,
    /// Its clock.
    pub clock: Clock,
}

impl Opened {
    /// Opens a queue over `objects`.
    pub fn new(store: &dyn Store, objects: &Arc<Objects>, setup: Setup) -> Self {
        let (arena, clock) = (Arena::new(setup.depth, BLOCK_BYTES).unwrap(), Clock::real());
        let queue = store.open_queue(&QueueSpec {
            depth: setup.depth,
            submit_batch: setup.depth,
            block_bytes: BLOCK_BYTES,
            connections: setup.connections,
            cache: Cache::Bypass,
            operation: setup.operation,
            writes: None,
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects,
            arena: &arena,
            clock: &clock,
        });
        Self { queue: queue.unwrap(), free: arena.buffers(), clock }
    }

    /// The ends of operations, in their order, as many at once as there are buffers; what was read well is right.
    pub fn run(&mut self, ops: &[Op]) -> Vec<Result<u64, OpError>> {
        let mut results = vec![None; ops.len()];
        let patience = (&self.clock, LATER_NS);
        drive(&mut *self.queue, &mut self.free, ops, patience, |at, completion| {
            verify(ops[at], completion);
            results[at] = Some(completion.result);
        });
        results.into_iter().map(Option::unwrap).collect()
    }

    /// The sum of what the queue counted under a name.
    pub fn counted(&self, name: &str) -> u64 {
        let report = self.queue.report();
        report.counted.iter().filter(|(counted, _)| counted == name).map(|(_, count)| count).sum()
    }

    /// Closes it; nothing is outstanding.
    pub fn close(self) {
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
pub fn blocks(objects: &Objects) -> Vec<Op> {
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

/// The suite that every backend passes, over a dataset of [`objects`] or its like that is there.
pub fn conforms(store: SharedStore, objects: &Arc<Objects>) {
    let fixture = Fixture {
        store,
        objects: Arc::clone(objects),
        seed: Some(SEED),
        caches: vec![Cache::Bypass],
        clock: Clock::real(),
        depth: 4,
    };
    run(&fixture);
    let operations = [Operation::ReadFile, Operation::Stat, Operation::List];
    run_whole(&WholeFiles { fixture: &fixture, operations: &operations, by_name: true });
}

/// Over an empty target, of which errors say `place`.
pub fn objects_are_written_listed_in_order_read_and_removed(store: &dyn Store, place: &str) {
    assert!(names(store, None).is_empty() && store.folders().unwrap().is_empty());
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    let marked = key("mine").join(MARKER_NAME).unwrap();
    assert_eq!(store.read_marker(&marked).unwrap(), Some(marker()));
    let written = ["mine/a.bin", "mine/a/b/c", "mine/a/z", "mine/a0", "mine/s p+a&c=e~!'()*/ü.bin"];
    for (number, name) in (1_u32..).zip(written) {
        write(store, &owned, name, &content(number, u64::from(number))).unwrap();
    }
    write(store, &owned, "mine/empty", b"").unwrap();
    let found = names(store, None);
    let listed: Vec<&str> = found.iter().map(|name| name.rsplit_once('=').unwrap().0).collect();
    assert!(listed.is_sorted(), "{found:?}");
    assert_eq!(listed.len(), written.len() + 2, "the marker, too: {found:?}");
    assert_eq!(names(store, Some("mine/a")), ["mine/a/b/c=2", "mine/a/z=3"]);
    assert!(names(store, Some("missing/too")).is_empty());
    assert_eq!(store.folders().unwrap(), [key("mine")]);

    for (number, name) in (1_u32..).zip(written) {
        let mut bytes = vec![0; 10];
        assert_eq!(store.read_at(&key(name), 0, &mut bytes).unwrap(), number as usize, "{name}");
        payload::verify(SEED, number, 0, &bytes[..number as usize]).unwrap();
        assert_eq!(store.stat(&key(name)).unwrap().unwrap().bytes, u64::from(number));
    }
    let entry = store.stat(&key("mine/a0")).unwrap().unwrap();
    let mut listed_ns = 0;
    let each = &mut |found: Entry| {
        if found.key == entry.key {
            listed_ns = found.modified_ns;
        }
        ControlFlow::Continue(())
    };
    store.list(None, each).unwrap();
    assert!(listed_ns > 0 && listed_ns == entry.modified_ns, "a listing and a look agree on the time");
    assert_eq!(store.read_at(&key("mine/a0"), 3, &mut [0; 10]).unwrap(), 1);
    assert_eq!(store.read_at(&key("mine/a0"), 30, &mut [0; 10]).unwrap(), 0);
    assert_eq!(store.read_at(&key("mine/empty"), 0, &mut [0; 10]).unwrap(), 0);
    for missing in ["missing", "mine", "mine/a", "mine/a0/x"] {
        assert_eq!(store.stat(&key(missing)).unwrap(), None, "{missing}");
    }
    let error = store.read_at(&key("missing"), 0, &mut [0; 10]).unwrap_err().to_string();
    assert!(error.contains(&format!("{place}/missing")) && error.contains("hint: "), "{error}");

    for name in written.iter().chain(&["mine/empty"]) {
        assert!(!store.remove_empty_folder(&owned, &key("mine")).unwrap());
        store.remove(&owned, &key(name)).unwrap();
        store.remove(&owned, &key(name)).unwrap();
    }
    store.remove(&owned, &marked).unwrap();
    assert!(store.remove_empty_folder(&owned, &key("mine")).unwrap());
    assert!(names(store, None).is_empty());
}

/// Over a target on which the folder `a` is somebody's and holds `a/z` of one byte.
pub fn what_is_not_ours_is_refused(store: &dyn Store) {
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    for name in ["a/z", "a.bin", "mine2/x", "mine"] {
        let refused = store.remove(&owned, &key(name)).unwrap_err();
        assert!(matches!(refused, StoreError::NotOwned { .. }), "{name}: {refused}");
        assert!(matches!(store.create(&owned, &key(name)), Err(StoreError::NotOwned { .. })), "{name}");
    }
    assert!(matches!(store.remove_empty_folder(&owned, &key("a")), Err(StoreError::NotOwned { .. })));
    assert!(matches!(Owned::claim(store, &key("a")), Err(StoreError::NotOwned { .. })));
    assert!(matches!(store.create_folder(&key("a"), &marker()), Err(StoreError::Exists { .. })));
    assert_eq!(names(store, Some("a")), ["a/z=1"]);
}

/// Over an empty target: an object of several parts is there once it is whole, and one that is dropped is not.
pub fn a_large_object_is_there_once_it_is_whole(store: &dyn Store) -> Owned {
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    let bytes = content(3, (33 << 20) + 5);
    let mut writer = store.create(&owned, &key("mine/large")).unwrap();
    for piece in bytes.chunks(5_000_011) {
        writer.write(piece).unwrap();
    }
    assert_eq!(store.stat(&key("mine/large")).unwrap(), None, "not before it is complete");
    writer.finish().unwrap();
    let mut found = vec![0; bytes.len() + 10];
    assert_eq!(store.read_at(&key("mine/large"), 0, &mut found).unwrap(), bytes.len());
    assert!(found[..bytes.len()] == bytes, "the bytes are those that were written");
    let mut dropped = store.create(&owned, &key("mine/dropped")).unwrap();
    dropped.write(&bytes).unwrap();
    drop(dropped);
    assert_eq!(names(store, None).len(), 2, "the object and the marker");
    owned
}

/// Over a dataset of [`objects`] that is there, by somebody who may read alone: refusals say all of `says`.
pub fn a_reader_reads_and_writes_nothing(store: &dyn Store, owned: &Owned, says: [&str; 2]) {
    let name = objects().key(1);
    assert_eq!(store.read_at(&name, 0, &mut [0; 100]).unwrap(), 100);
    for refused in [
        store.create_folder(&key("other"), &marker()).map(drop),
        write(store, owned, "data/new", b"new"),
        store.remove(owned, &name),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(says.iter().all(|word| text.contains(word)), "{text}");
    }
    assert!(store.stat(&name).unwrap().is_some());
}
