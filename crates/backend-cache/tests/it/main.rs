//! A storage behind a cache: the conformance suite, what is hit and when, and whose the folder is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use backend::conformance::{self, Fixture};
use backend::simulated::{Simulated, Step};
use backend::{
    Arena, CacheAction, Clock, Op, QueueReport, QueueSpec, Residency, SharedStore, Store, StoreError,
};
use backend_cache::{TierFile, TieredStore};
use backend_file::{FileStore, probe_io_uring};
use dataset::{Data, Key, Objects, payload};
use engine::{Measured, RepSpec, run_rep};
use plan::{Access, Advice, Cache, Cell, Engine, Limit, Operation, Registered, Tier, TierPolicy};
use tempfile::TempDir;

const SEED: u64 = 7;
const LATER_NS: u64 = 60_000_000_000;
const BLOCK_BYTES: u32 = 4_096;

/// A folder below the target directory, on a disk where the checkout is.
fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn write_dataset(root: &Path, count: u32, bytes: u64) -> Arc<Objects> {
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

fn near(root: &Path) -> SharedStore {
    if probe_io_uring().is_ok() { Arc::new(FileStore::uring(root)) } else { Arc::new(FileStore::pread(root)) }
}

fn tiered(slow: SharedStore, root: &Path, capacity_bytes: u64, policy: TierPolicy) -> TieredStore {
    let place = TierFile::claim(root, near(root), capacity_bytes).unwrap();
    TieredStore::new(slow, place, policy)
}

fn open(store: &dyn Store, objects: &Arc<Objects>, clock: &Clock, depth: u32) -> Opened {
    let arena = Arena::new(depth, BLOCK_BYTES).unwrap();
    let spec = QueueSpec {
        depth,
        submit_batch: depth,
        connections: 0,
        block_bytes: BLOCK_BYTES,
        cache: Cache::Warm,
        operation: Operation::Read,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Off,
        objects,
        arena: &arena,
        clock,
    };
    Opened { queue: store.open_queue(&spec).unwrap(), free: arena.buffers(), clock: clock.clone() }
}

struct Opened {
    queue: Box<dyn backend::IoQueue>,
    free: Vec<backend::Buf>,
    clock: Clock,
}

impl Opened {
    /// Reads these blocks, checks them, and returns how many came from the cache.
    fn read(&mut self, objects: &Objects, blocks: &[(u32, u64)]) -> u64 {
        let before = self.counted("tier_hits");
        let op = |(object, offset): &(u32, u64)| {
            let len = u64::from(BLOCK_BYTES).min(objects.bytes(*object) - offset) as u32;
            Op::Read { object: *object, offset: *offset, len }
        };
        let ops: Vec<Op> = blocks.iter().map(op).collect();
        let patience = (&self.clock, LATER_NS);
        conformance::drive(&mut *self.queue, &mut self.free, &ops, patience, |number, completion| {
            let Op::Read { object, offset, len } = ops[number] else { unreachable!() };
            assert_eq!(completion.result, Ok(u64::from(len)));
            payload::verify(SEED, object, offset, &completion.buf.as_slice()[..len as usize]).unwrap();
        });
        self.counted("tier_hits") - before
    }

    fn counted(&self, name: &str) -> u64 {
        let QueueReport { counted, .. } = self.queue.report();
        counted.into_iter().find(|(known, _)| known == name).unwrap().1
    }
}

#[test]
fn the_wrapper_passes_the_conformance_suite_over_files() {
    let (slow, fast) = (folder(), folder());
    let objects = write_dataset(slow.path(), 3, 114_660);
    for policy in [TierPolicy::Lru, TierPolicy::Random] {
        // Fewer slots than blocks, so that slots change hands while they are read.
        let store = tiered(Arc::new(FileStore::pread(slow.path())), fast.path(), 20 * 4_096, policy);
        conformance::run(&Fixture {
            store: Arc::new(store),
            objects: Arc::clone(&objects),
            seed: Some(SEED),
            caches: vec![Cache::Warm],
            clock: Clock::real(),
            depth: 7,
        });
    }
}

#[test]
fn the_wrapper_passes_the_conformance_suite_over_a_simulated_storage() {
    let fast = folder();
    let clock = Clock::simulated();
    let slow = Simulated::new(&clock, 4, SEED, |_| Step::ok(1_000_000));
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 3, 114_660));
    conformance::run(&Fixture {
        store: Arc::new(tiered(Arc::new(slow), fast.path(), 1 << 20, TierPolicy::Lru)),
        objects,
        seed: Some(SEED),
        caches: vec![Cache::Bypass],
        clock,
        depth: 7,
    });
}

#[test]
fn what_was_read_once_comes_from_the_cache_until_the_next_repetition() {
    let (slow, fast) = (folder(), folder());
    let objects = write_dataset(slow.path(), 2, 10_000);
    let store = tiered(Arc::new(FileStore::pread(slow.path())), fast.path(), 1 << 20, TierPolicy::Lru);
    let clock = Clock::real();
    let blocks = [(0, 0), (0, 4_096), (0, 8_192), (1, 0)];
    let mut opened = open(&store, &objects, &clock, 1);
    assert_eq!(opened.read(&objects, &blocks), 0);
    // The last blocks may still wait to be written; reading on until all were is what a job does too.
    while opened.read(&objects, &blocks[3..]) == 0 {}
    assert!(opened.queue.was_cached(0) && opened.counted("tier_hit_bytes") == 4_096);
    assert_eq!(opened.read(&objects, &blocks[..3]), 3);
    assert_eq!(opened.counted("tier_hit_bytes"), 3 * 4_096 + 1_808);
    drop(opened);
    store.cache(CacheAction::Inspect, &objects).unwrap();
    assert_eq!(open(&store, &objects, &clock, 1).read(&objects, &blocks[..1]), 0, "it is empty again");
}

/// Passes over 64 blocks through a cache of `slots`, one read at a time, each a millisecond of a virtual clock.
fn passes(slots: u64, access: Access) -> Measured {
    let fast = folder();
    let clock = Clock::simulated();
    let slow = Simulated::new(&clock, 1, SEED, |_| Step::ok(1_000_000));
    let tier = Tier { at: fast.path().to_owned(), capacity_bytes: slots * 4_096, policy: TierPolicy::Lru };
    let store: SharedStore = Arc::new(tiered(Arc::new(slow), fast.path(), tier.capacity_bytes, tier.policy));
    let cell = Cell { access, seed: 3, tier: Some(tier), ..Cell::plain(Engine::Null, 4_096, 1) };
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 16, 4 * 4_096));
    let data = Data::files(objects, Some(SEED));
    run_rep(&RepSpec::plain(&cell, &store, &data, Limit::Epochs { epochs: 3 }, &clock)).unwrap()
}

#[test]
fn epochs_say_what_the_cache_served_of_them() {
    let Measured { rep, .. } = passes(64, Access::ShuffledEpoch);
    let served: Vec<u64> = rep.epochs.iter().map(|epoch| epoch.tier_bytes.unwrap()).collect();
    let counted: u64 = served.iter().sum();
    assert_eq!((rep.counters["ops"], rep.epochs.len(), served[0]), (3 * 64, 3, 0));
    assert_eq!(rep.counters["tier_hit_bytes"], counted);
    assert_eq!(rep.counters["tier_hits"] + rep.counters["tier_misses"], 3 * 64);
    assert!(rep.epochs.iter().all(|epoch| epoch.complete && epoch.bytes == 64 * 4_096));
    // Once everything is there nothing is read from below; how soon that is, is up to the thread that writes.
    assert!(served[2] >= served[1], "{served:?}");
    assert_eq!(rep.counters["tier_evictions"], 0);
}

#[test]
fn no_more_is_written_than_was_missed() {
    let Measured { rep, .. } = passes(32, Access::Sequential);
    let [hits, misses, fills] = ["tier_hits", "tier_misses", "tier_fills"].map(|name| rep.counters[name]);
    assert_eq!(hits + misses, 3 * 64);
    assert!(fills + rep.counters["tier_skipped"] <= misses && rep.counters["tier_evictions"] <= fills);
    assert_eq!((rep.counters["tier_fill_errors"], rep.epochs[0].tier_bytes), (0, Some(0)));
}

#[test]
fn a_cache_is_of_one_process_and_of_feedline_alone() {
    let fast = folder();
    let first = TierFile::claim(fast.path(), near(fast.path()), 1 << 20).unwrap();
    let Err(second) = TierFile::claim(fast.path(), near(fast.path()), 1 << 20) else {
        panic!("claimed twice")
    };
    assert!(second.to_string().contains("another process uses it"), "{second}");
    drop(first);
    assert!(TierFile::claim(fast.path(), near(fast.path()), 1 << 19).is_ok(), "smaller, over the one before");
    let others = folder();
    fs::create_dir(others.path().join("feedline-cache-tier")).unwrap();
    fs::write(others.path().join("feedline-cache-tier/mine"), "x").unwrap();
    assert!(TierFile::claim(others.path(), near(others.path()), 1 << 20).is_err());
}

/// Puts what `other` makes in the place of the file of a cache that was claimed before, and claims it again.
fn claim_instead(other: impl FnOnce(&Path)) -> Result<Arc<TierFile>, StoreError> {
    let fast = folder();
    drop(TierFile::claim(fast.path(), near(fast.path()), 1 << 20).unwrap());
    let blocks = fast.path().join("feedline-cache-tier/blocks.bin");
    fs::remove_file(&blocks).unwrap();
    other(&blocks);
    TierFile::claim(fast.path(), near(fast.path()), 1 << 16)
}

#[test]
fn a_file_that_another_name_leads_to_is_neither_cut_nor_written() {
    let users = folder();
    let mine = users.path().join("mine");
    fs::write(&mine, vec![7; 1 << 18]).unwrap();
    let kept = || fs::read(&mine).unwrap() == vec![7; 1 << 18];
    assert!(claim_instead(|blocks| std::os::unix::fs::symlink(&mine, blocks).unwrap()).is_err());
    assert!(kept(), "a symbolic link was followed");
    let Err(linked) = claim_instead(|blocks| fs::hard_link(&mine, blocks).unwrap()) else {
        panic!("a file with two names was taken")
    };
    assert!(kept(), "a file with two names was cut");
    assert!(linked.to_string().contains("not only the cache's"), "{linked}");
}

#[test]
fn a_folder_that_a_link_leads_to_is_not_the_caches() {
    let (fast, users) = (folder(), folder());
    drop(TierFile::claim(users.path(), near(users.path()), 1 << 20).unwrap());
    let link = fast.path().join("feedline-cache-tier");
    std::os::unix::fs::symlink(users.path().join("feedline-cache-tier"), link).unwrap();
    assert!(TierFile::claim(fast.path(), near(fast.path()), 1 << 16).is_err());
    let blocks = users.path().join("feedline-cache-tier/blocks.bin");
    assert_eq!(fs::metadata(blocks).unwrap().len(), 1 << 20);
}

#[test]
fn only_reads_of_blocks_are_served() {
    let (slow, fast) = (folder(), folder());
    let objects = write_dataset(slow.path(), 1, 10_000);
    let store = tiered(Arc::new(FileStore::pread(slow.path())), fast.path(), 1 << 20, TierPolicy::Lru);
    let (arena, clock) = (Arena::new(1, BLOCK_BYTES).unwrap(), Clock::real());
    let refused = store.open_queue(&QueueSpec {
        depth: 1,
        submit_batch: 1,
        connections: 0,
        block_bytes: BLOCK_BYTES,
        cache: Cache::Warm,
        operation: Operation::ReadFile,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Off,
        objects: &objects,
        arena: &arena,
        clock: &clock,
    });
    assert!(matches!(refused, Err(StoreError::Unsupported { .. })));
    let Residency { total_bytes, .. } = store.cache(CacheAction::Inspect, &objects).unwrap();
    assert_eq!(total_bytes, 10_000, "everything else is the storage's own");
}
