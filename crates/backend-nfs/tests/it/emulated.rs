//! The emulator of this repository, in this process: what users try the backend on.

use std::sync::Arc;

use backend::conformance::{
    Fixture, WholeFiles, run, run_names, run_whole, run_write_files, run_writes, write_large_objects,
};
use backend::{Arena, Clock, ErrorKind, QueueSpec, Store, Writes};
use backend_nfs::NfsStore;
use dataset::{Key, Marker, Objects, payload};
use emulator::{Protocol, Server, Settings};
use plan::{Advice, Cache, Durability, Emulation, Faults, Operation, Registered};

use crate::memory::{self, SEED, config};
use crate::reader::{Load, Reader};
use crate::store;

/// A server that rests, and a store on it.
fn serving(emulation: Emulation) -> (Server, Arc<NfsStore>) {
    let server = Server::start(&Settings { emulation, ..Settings::new(Protocol::Nfs) }).unwrap();
    server.rest();
    let store = NfsStore::open(&config(server.port(), "/export/target")).unwrap();
    (server, Arc::new(store))
}

/// With a dataset that was written through the store, as `prepare` does.
fn with_dataset(emulation: Emulation) -> (Server, Arc<NfsStore>, Arc<Objects>) {
    let (server, store) = serving(emulation);
    let objects = Arc::new(memory::objects());
    let marker = Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() };
    let owned = store.create_folder(&Key::new("data").unwrap(), &marker).unwrap();
    for object in 0..objects.count() {
        let mut content = vec![0; objects.bytes(object) as usize];
        payload::fill(SEED, object, 0, &mut content);
        let mut writer = store.create(&owned, &objects.key(object)).unwrap();
        writer.write(&content).unwrap();
        writer.finish().unwrap();
    }
    (server, store, objects)
}

fn fixture(store: &Arc<NfsStore>, objects: &Arc<Objects>) -> Fixture {
    Fixture {
        store: Arc::clone(store) as _,
        objects: Arc::clone(objects),
        seed: Some(SEED),
        caches: vec![Cache::Bypass],
        clock: Clock::real(),
        depth: 4,
    }
}

#[test]
fn reads_of_blocks_conform() {
    let (server, store, objects) = with_dataset(Emulation::default());
    server.begin();
    run(&fixture(&store, &objects));
}

#[test]
fn writes_of_blocks_conform() {
    let (server, store, objects) = with_dataset(Emulation::default());
    server.begin();
    run_writes(&fixture(&store, &objects));
}

#[test]
fn files_are_written_anew_on_a_filer() {
    let (server, store, objects) = with_dataset(Emulation::default());
    server.begin();
    run_write_files(&fixture(&store, &objects));
}

/// Pieces of several WRITEs, all of which are under way at once, on several connections.
#[test]
fn a_piece_beyond_what_the_server_takes_at_once_is_written_in_parts() {
    const BYTES: u64 = (7 << 20) + 5;
    const BLOCK_BYTES: u32 = 3 << 20;
    let (server, store) = serving(Emulation::default());
    let marker = Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() };
    let owned = store.create_folder(&Key::new("large").unwrap(), &marker).unwrap();
    let objects = Arc::new(Objects::uniform(Key::new("large").unwrap(), 2, BYTES));
    for object in 0..2 {
        store.create(&owned, &objects.key(object)).unwrap().finish().unwrap();
    }
    server.begin();
    let (arena, clock) = (Arena::new(2, BLOCK_BYTES).unwrap(), Clock::real());
    let mut queue = store
        .open_queue(&QueueSpec {
            depth: 2,
            submit_batch: 2,
            connections: 3,
            block_bytes: BLOCK_BYTES,
            cache: Cache::Bypass,
            operation: Operation::WriteFile,
            writes: Some(Writes { owned: &owned, durability: Durability::Data }),
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects: &objects,
            arena: &arena,
            clock: &clock,
        })
        .unwrap();
    let mut free = arena.buffers();
    let buffers = (&mut free, &clock);
    write_large_objects(&*store, &mut *queue, buffers, (&objects, BLOCK_BYTES), |stamps| {
        assert!(stamps.phase_ns.iter().all(|end_ns| *end_ns > 0), "{stamps:?}");
    });
    let report = queue.report();
    let messages = report.counted.iter().find(|(name, _)| name == "messages").unwrap().1;
    // Of 3 MiB, 3 MiB and the rest, in parts of 1 MiB: 3, 3 and 2 WRITEs, with CREATE, COMMIT and RENAME, for each of four files.
    assert_eq!(messages, 4 * (8 + 3));
    assert_eq!(queue.close(u64::MAX, &mut Vec::new()), 0);
}

#[test]
fn names_are_made_and_removed_on_a_filer() {
    let (server, store, objects) = with_dataset(Emulation::default());
    server.begin();
    run_names(&fixture(&store, &objects));
}

#[test]
fn operations_on_whole_files_conform() {
    let (server, store, objects) = with_dataset(Emulation::default());
    server.begin();
    let fixture = fixture(&store, &objects);
    let by_name = [Operation::ReadFile, Operation::Stat, Operation::List];
    run_whole(&WholeFiles { fixture: &fixture, operations: &by_name, by_name: true });
    run_whole(&WholeFiles { fixture: &fixture, operations: &[Operation::GetAttr], by_name: false });
}

#[test]
fn a_folder_of_ones_own_holds_objects_that_are_never_overwritten() {
    let (_server, store) = serving(Emulation::default());
    store::owns_a_folder(&store);
}

#[test]
fn threads_write_side_by_side() {
    let (_server, store) = serving(Emulation::default());
    store::side_by_side(&store);
}

#[test]
fn reads_that_are_cut_short_end_well_and_are_counted() {
    let faults = Faults { truncated: 1.0, ..Faults::default() };
    let (server, store, objects) = with_dataset(Emulation { faults, ..Emulation::default() });
    server.begin();
    for operation in [Operation::Read, Operation::ReadFile] {
        let load = Load { operation, depth: 4, connections: 2, block_bytes: 4096 };
        let mut reader = Reader::open(&store, &objects, load);
        reader.reads_everything();
        // Of 4096 bytes, 12 READs bring less than was asked, and of the 1809 at the end of a file 10.
        assert_eq!(reader.report().short_reads, u64::from(objects.count()) * (12 + 12 + 10));
    }
    let span = server.end();
    assert_eq!(span.sent_bytes, 2 * objects.total_bytes());
    assert!(span.faults["truncated"] > 0);
}

#[test]
fn faults_that_are_asked_for_are_told_apart() {
    for (faults, kind) in [
        (Faults { slow_down: 1.0, ..Faults::default() }, ErrorKind::Throttled),
        (Faults { stale: 1.0, ..Faults::default() }, ErrorKind::Stale),
        (Faults { server_error: 1.0, ..Faults::default() }, ErrorKind::Server),
        (Faults { reset: 1.0, ..Faults::default() }, ErrorKind::Reset),
    ] {
        let (server, store, objects) = with_dataset(Emulation { faults, ..Emulation::default() });
        server.begin();
        let mut reader = Reader::open(&store, &objects, Load::blocks(1, 1, 4096));
        let ops = reader.everything();
        for end in reader.run(&ops) {
            assert_eq!(end.unwrap_err().kind, kind);
        }
    }
}

#[test]
fn facts_say_that_a_server_is_ours_and_on_this_host() {
    let said = |store: &NfsStore, fact: &str| {
        store.facts().into_iter().find(|(name, _)| *name == fact).map(|(_, value)| value)
    };
    let (_server, store) = serving(Emulation::default());
    assert_eq!(said(&store, "emulated_by").as_deref(), Some("feedline"));
    assert_eq!(said(&store, "server_is_local").as_deref(), Some("true"));
    let other = memory::with_dataset();
    let store = other.store("/");
    assert_eq!(said(&store, "emulated_by"), None);
    assert_eq!(said(&store, "server_is_local").as_deref(), Some("true"));
}
