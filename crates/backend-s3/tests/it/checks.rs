//! What every service must let a store do. Each check has a prefix of its own.

use std::sync::Arc;

use backend::conformance::objects as alike;
use backend::conformance::{Fixture, run_write_files, write_large_objects};
use backend::{Arena, Clock, ErrorKind, Op, Owned, QueueSpec, Store, StoreError, Writes};
use dataset::{Key, MARKER_NAME, Objects};
use plan::{Advice, Cache, Durability, Operation, Registered, S3Config};

use crate::support::{
    BOTH, Client, Engine, Opened, Setup, blocks, key, marker, names, objects, prepare, write,
};

/// A prefix of a check's own.
fn at(config: &S3Config, prefix: &str) -> S3Config {
    S3Config { prefix: prefix.to_owned(), ..config.clone() }
}

pub(crate) fn objects_are_written_listed_in_order_read_and_removed(config: &S3Config) {
    let store = Engine::Lean.open(&at(config, "store/ops")).unwrap();
    alike::objects_are_written_listed_in_order_read_and_removed(&store, "s3://bench/store/ops");
}

pub(crate) fn nothing_is_overwritten(config: &S3Config) {
    let config = at(config, "once");
    let store = Engine::Lean.open(&config).unwrap();
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    assert!(matches!(store.create_folder(&key("mine"), &marker()), Err(StoreError::Exists { .. })));
    write(&store, &owned, "mine/a", b"first").unwrap();
    assert!(matches!(write(&store, &owned, "mine/a", b"other"), Err(StoreError::Exists { .. })));
    let mut late = store.create(&owned, &key("mine/late")).unwrap();
    late.write(b"slow").unwrap();
    write(&store, &owned, "mine/late", b"fast!").unwrap();
    assert!(matches!(late.finish(), Err(StoreError::Exists { .. })));
    let mut large = store.create(&owned, &key("mine/large")).unwrap();
    large.write(&vec![1; 17 << 20]).unwrap();
    write(&store, &owned, "mine/large", b"small").unwrap();
    large.write(b"more").unwrap();
    assert!(matches!(large.finish(), Err(StoreError::Exists { .. })));
    for (name, bytes) in [("mine/a", b"first"), ("mine/late", b"fast!"), ("mine/large", b"small")] {
        let mut found = [0; 5];
        assert_eq!(store.read_at(&key(name), 0, &mut found).unwrap(), 5);
        assert_eq!(&found, bytes);
    }
    assert!(matches!(Client::new(&config).uploads(), Some(0) | None), "an upload was left");
}

pub(crate) fn what_is_not_ours_is_neither_written_nor_removed(config: &S3Config) {
    let config = at(config, "theirs");
    let client = Client::new(&config);
    client.put("theirs/a/z", b"1");
    client.put("theirs/a.bin", b"12");
    client.put("theirs/plain", b"123");
    let store = Engine::Lean.open(&config).unwrap();
    alike::what_is_not_ours_is_refused(&store);
    assert_eq!(client.keys("theirs/").len(), 4, "theirs, and our marker");
}

pub(crate) fn a_large_object_is_uploaded_in_parts_and_a_dropped_one_leaves_nothing(config: &S3Config) {
    let config = at(config, "large");
    let store = Engine::Lean.open(&config).unwrap();
    let owned = alike::a_large_object_is_there_once_it_is_whole(&store);
    let mut small = store.create(&owned, &key("mine/small")).unwrap();
    small.write(b"half").unwrap();
    drop(small);
    let client = Client::new(&config);
    assert_eq!(client.keys("large/mine/").len(), 2, "the object and the marker");
    assert!(matches!(client.uploads(), Some(0) | None), "an upload was left");
}

pub(crate) fn a_listing_goes_on_page_after_page(config: &S3Config) {
    const COUNT: u32 = 1_050;
    let config = at(config, "pages");
    let client = Client::new(&config);
    let objects = Objects::Uniform { folder: key("data"), count: COUNT, bytes: 1, files_per_folder: COUNT };
    for object in 0..COUNT {
        client.put(&format!("pages/{}", objects.key(object)), b"x");
    }
    let objects = Arc::new(objects);
    for engine in BOTH {
        let store = engine.open(&config).unwrap();
        let found = names(&store, None);
        assert_eq!(found.len(), COUNT as usize);
        assert!(found.is_sorted());
        let mut seen = 0;
        let each = &mut |_| {
            seen += 1;
            if seen == 3 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        };
        store.list(None, each).unwrap();
        assert_eq!(seen, 3);
        let mut queue =
            Opened::new(&store, &objects, Setup { operation: Operation::List, depth: 2, connections: 1 });
        assert_eq!(queue.run(&[Op::List { folder: 0 }]), [Ok(u64::from(COUNT))]);
        assert_eq!(queue.counted("messages"), 2, "a page has a thousand keys");
        queue.close();
    }
}

pub(crate) fn objects_are_spread_over_prefixes(config: &S3Config) {
    let config = S3Config { prefixes: 4, ..at(config, "spread") };
    let client = Client::new(&config);
    let store = Engine::Lean.open(&config).unwrap();
    let objects = objects();
    let owned = prepare(&store, &objects);
    let mut written: Vec<Key> = (0..objects.count()).map(|object| objects.key(object)).collect();
    written.push(key("data").join(MARKER_NAME).unwrap());
    written.sort();
    let listed = |below| -> Vec<Key> {
        let found = names(&store, below);
        found.iter().map(|name| key(name.rsplit_once('=').unwrap().0)).collect()
    };
    assert_eq!((listed(None), listed(Some("data"))), (written.clone(), written));
    assert_eq!(store.folders().unwrap(), [key("data")]);
    let roots: std::collections::BTreeSet<String> =
        client.keys("spread/0").iter().map(|name| name[.."spread/00".len()].to_owned()).collect();
    assert!(roots.len() > 1 && roots.len() <= 4, "{roots:?}");
    assert!(matches!(store.create_folder(&key("data"), &marker()), Err(StoreError::Exists { .. })));
    conforms(&config, &objects);
    for object in 0..objects.count() {
        assert!(!store.remove_empty_folder(&owned, &key("data")).unwrap());
        store.remove(&owned, &objects.key(object)).unwrap();
    }
    store.remove(&owned, &key("data").join(MARKER_NAME).unwrap()).unwrap();
    assert!(store.remove_empty_folder(&owned, &key("data")).unwrap());
    assert!(client.keys("spread/").is_empty());
}

pub(crate) fn a_folder_of_other_prefixes_is_left_alone(config: &S3Config) {
    for (written, found) in [(4, 1), (4, 16), (1, 4)] {
        let config = S3Config { prefixes: written, ..at(config, &format!("wide-{written}-{found}")) };
        let store = Engine::Lean.open(&config).unwrap();
        let owned = prepare(&store, &objects());
        assert_eq!(Owned::claim(&store, &key("data")).unwrap().folder(), &key("data"));
        let marked = key("data").join(MARKER_NAME).unwrap();
        let before = names(&store, None);

        let other = Engine::Sdk.open(&S3Config { prefixes: found, ..config.clone() }).unwrap();
        for error in [
            Owned::claim(&other, &key("data")).unwrap_err(),
            other.read_marker(&marked).unwrap_err(),
            other.remove(&owned, &marked).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(matches!(error, StoreError::Unavailable { .. }), "{text}");
            assert!(text.contains(&format!("written with prefixes = {written}, and here")), "{text}");
            assert!(
                text.contains("hint: ") && text.contains(&format!("write prefixes = {written}")),
                "{text}"
            );
        }
        assert_eq!(names(&store, None), before);
    }
}

/// The suite that every backend passes, for both engines, over a dataset that is there.
pub(crate) fn conforms(config: &S3Config, objects: &Arc<Objects>) {
    for engine in BOTH {
        alike::conforms(Arc::new(engine.open(config).unwrap()), objects);
    }
}

pub(crate) fn both_engines_conform_however_objects_are_fetched(config: &S3Config) {
    let config = at(config, "conform");
    let objects = objects();
    prepare(&Engine::Sdk.open(&config).unwrap(), &objects);
    for (part_bytes, head) in [(None, false), (Some(3_000), false), (Some(4_096), true), (None, true)] {
        conforms(&S3Config { part_bytes, head, ..config.clone() }, &objects);
    }
}

pub(crate) fn a_thousand_operations_are_under_way_at_once(config: &S3Config) {
    let config = at(config, "deep");
    let objects = Arc::new(Objects::uniform(key("data"), 4, 2_000_001));
    prepare(&Engine::Lean.open(&config).unwrap(), &objects);
    for engine in BOTH {
        let store = engine.open(&config).unwrap();
        let setup = Setup { operation: Operation::Read, depth: 1_024, connections: 32 };
        let mut queue = Opened::new(&store, &objects, setup);
        let ops = blocks(&objects);
        assert!(ops.len() > 1_024);
        assert!(queue.run(&ops).iter().all(Result::is_ok));
        if engine == Engine::Lean {
            assert!(queue.counted("wire_received_bytes") > objects.total_bytes());
            assert_eq!(queue.counted("connections_opened"), 32);
        }
        assert_eq!(queue.counted("messages"), ops.len() as u64);
        queue.close();
    }
}

pub(crate) fn what_is_gone_is_not_found(config: &S3Config) {
    let config = at(config, "gone");
    for engine in BOTH {
        let store = engine.open(&config).unwrap();
        let setup = Setup { operation: Operation::Read, depth: 2, connections: 1 };
        let mut queue = Opened::new(&store, &objects(), setup);
        let ended = queue.run(&[Op::Read { object: 1, offset: 0, len: 100 }]);
        assert_eq!(ended[0].unwrap_err().kind, ErrorKind::NotFound, "{engine:?}");
        let failure = queue.queue.report().first_failure.unwrap();
        assert!(failure.contains("404 NoSuchKey"), "{engine:?}: {failure}");
        queue.close();
    }
}

pub(crate) fn objects_are_written_anew_by_one_request_each(config: &S3Config) {
    for engine in BOTH {
        let config = at(config, &format!("anew-{engine:?}").to_lowercase());
        run_write_files(&Fixture {
            store: Arc::new(engine.open(&config).unwrap()),
            objects: objects(),
            seed: None,
            caches: vec![Cache::Bypass],
            clock: Clock::real(),
            depth: 3,
        });
        // Nobody has so much: it is refused by its size, before anything is sent.
        let store = engine.open(&config).unwrap();
        let owned = Owned::claim(&store, &key("anew-0")).unwrap();
        let objects = Arc::new(Objects::uniform(key("anew-0"), 1, (5 << 30) + 1));
        let refused = open_anew(&store, &owned, &objects, 4096).map(drop).unwrap_err().to_string();
        assert!(refused.contains("one PUT takes at most 5368709120 B"), "{refused}");
    }
}

/// What a socket takes at once is less than an object, and a buffer is less than either.
pub(crate) fn a_large_object_goes_out_of_a_small_buffer(config: &S3Config) {
    for engine in BOTH {
        goes_out_of_a_small_buffer(engine, &at(config, &format!("stream-{engine:?}").to_lowercase()));
    }
}

fn goes_out_of_a_small_buffer(engine: Engine, config: &S3Config) {
    const BYTES: u64 = (24 << 20) + 5;
    const BLOCK_BYTES: u32 = 64 << 10;
    let store = engine.open(config).unwrap();
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    let objects = Arc::new(Objects::uniform(key("mine"), 2, BYTES));
    let (mut queue, mut free, clock) = open_anew(&store, &owned, &objects, BLOCK_BYTES).unwrap();
    let buffers = (&mut free, &clock);
    write_large_objects(&store, &mut *queue, buffers, (&objects, BLOCK_BYTES), |stamps| {
        assert_eq!(stamps.phase_ns[0] > 0, engine == Engine::Lean, "it was sent before it was answered");
    });
    assert_eq!(queue.close(clock.now_ns() + 1_000_000_000, &mut Vec::new()), 0);
}

pub(crate) type Anew = (Box<dyn backend::IoQueue>, Vec<backend::Buf>, Clock);

pub(crate) fn open_anew(
    store: &dyn Store,
    owned: &Owned,
    objects: &Arc<Objects>,
    block_bytes: u32,
) -> Result<Anew, StoreError> {
    let (arena, clock) = (Arena::new(2, block_bytes).unwrap(), Clock::real());
    let queue = store.open_queue(&QueueSpec {
        depth: 2,
        submit_batch: 2,
        connections: 2,
        block_bytes,
        cache: Cache::Bypass,
        operation: Operation::WriteFile,
        writes: Some(Writes { owned, durability: Durability::Data }),
        advice: Advice::Normal,
        registered: Registered::Auto,
        objects,
        arena: &arena,
        clock: &clock,
    })?;
    Ok((queue, arena.buffers(), clock))
}
