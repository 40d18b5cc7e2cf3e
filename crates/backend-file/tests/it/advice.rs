//! Advice on open files: that the kernel is told, and what it then reads; and where there is nothing to tell.

use std::path::Path;
use std::sync::Arc;

use backend::{CacheAction, Op, Store, StoreError};
use backend_file::probe_path;
use dataset::Objects;
use plan::{Advice, Cache, Operation};

use crate::machine::skip;
use crate::support::{Setup, both, check, folder, granted, open, open_for, write_dataset};

const ADVICES: [Advice; 2] = [Advice::Random, Advice::Sequential];

/// Many times what any kernel reads ahead of a first read.
const BYTES: u64 = 8 << 20;

/// A page, far from the beginning and the end.
const PAGE: Op = Op::Read { object: 0, offset: 4 << 20, len: 4096 };

fn advised(advice: Advice, cache: Cache) -> Setup {
    Setup { depth: 1, submit_batch: 1, advice, cache, ..Setup::default() }
}

/// Bytes in the page cache once `ops` were read from an empty one; `None` where the kernel does not say.
fn resident(
    root: &Path,
    objects: &Arc<Objects>,
    store: &dyn Store,
    advice: Advice,
    ops: &[Op],
) -> Option<u64> {
    if probe_path(root).in_memory {
        return None;
    }
    store.cache(CacheAction::Evict, objects).unwrap();
    let mut opened = open(store, objects, advised(advice, Cache::Cold));
    opened.run(ops, check);
    drop(opened.close());
    store.cache(CacheAction::Inspect, objects).unwrap().resident_bytes
}

#[test]
fn advice_is_reported_where_it_was_given_and_reads_are_what_they_were() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 3, 40_000);
    let ops: Vec<Op> = (0..3).map(|object| Op::Read { object, offset: 8192, len: 8192 }).collect();
    for (name, store) in both(dir.path()) {
        for advice in ADVICES {
            let mut opened = open(&store, &objects, advised(advice, Cache::Warm));
            opened.run(&ops, check);
            assert_eq!(granted(&opened.close(), "fadvise"), advice.name(), "{name}");
        }
        let mut plain = open(&store, &objects, advised(Advice::Normal, Cache::Warm));
        plain.run(&ops, check);
        let report = plain.close();
        assert!(report.granted.iter().all(|(what, _)| *what != "fadvise"), "{name}: {report:?}");
    }
}

#[test]
fn nothing_comes_into_memory_but_what_is_read_at_random() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, BYTES);
    for (name, store) in both(dir.path()) {
        let Some(random) = resident(dir.path(), &objects, &store, Advice::Random, &[PAGE]) else {
            skip("the kernel does not say what is in memory");
            return;
        };
        // Memory may run short and lose the page again; nothing but reading ahead brings a second one.
        assert!(random <= 4096, "{name}: {random} B of 4,096 that were read");
    }
}

#[test]
fn advice_that_nothing_would_follow_from_is_refused() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 1, 40_000);
    for (name, store) in both(dir.path()) {
        for advice in ADVICES {
            for (operation, cache, why) in [
                (Operation::Read, Cache::Bypass, "direct I/O"),
                (Operation::ReadFile, Cache::Cold, "opened anew"),
                (Operation::Stat, Cache::Warm, "opened anew"),
            ] {
                let Err(error) = open_for(&store, &objects, operation, advised(advice, cache)) else {
                    panic!("{name} takes {advice:?} for {operation:?} and {cache:?}")
                };
                assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
                assert!(error.to_string().contains(why), "{error}");
            }
        }
        let setup = advised(Advice::WillNeed, Cache::Warm);
        let error = open_for(&store, &objects, Operation::Read, setup).err().unwrap();
        assert!(error.to_string().contains("memory maps"), "{error}");
    }
}
