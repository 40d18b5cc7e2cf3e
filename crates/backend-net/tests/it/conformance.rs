//! The suite of all backends, over the engine.

use std::ops::ControlFlow;
use std::sync::Arc;

use backend::conformance::{Fixture, run};
use backend::{
    Arena, CacheAction, Clock, Entry, ErrorKind, IoQueue, Limits, ObjectWriter, Op, Owned, QueueSpec,
    Request, Residency, Store, StoreError,
};
use backend_net::{Settings, open};
use dataset::{Key, Marker, Objects};
use plan::{Advice, Cache, Operation, Registered};

use crate::client::{LATER_NS, settings};
use crate::line::Line;
use crate::server::{SEED, Server};

const OBJECT_BYTES: u64 = 50_001;

struct LineStore {
    settings: Settings,
    pipelines: bool,
}

const UNSUPPORTED: StoreError = StoreError::Unsupported { store: "the line protocol", action: "do that" };

impl Store for LineStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: None, page_cache: false })
    }

    fn list(&self, _: Option<&Key>, _: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), StoreError> {
        Err(UNSUPPORTED)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        Err(UNSUPPORTED)
    }

    fn stat(&self, _: &Key) -> Result<Option<Entry>, StoreError> {
        Err(UNSUPPORTED)
    }

    fn read_at(&self, _: &Key, _: u64, _: &mut [u8]) -> Result<usize, StoreError> {
        Err(UNSUPPORTED)
    }

    fn create_folder(&self, _: &Key, _: &Marker) -> Result<Owned, StoreError> {
        Err(UNSUPPORTED)
    }

    fn read_marker(&self, _: &Key) -> Result<Option<Marker>, StoreError> {
        Err(UNSUPPORTED)
    }

    fn create(&self, _: &Owned, _: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        Err(UNSUPPORTED)
    }

    fn remove(&self, _: &Owned, _: &Key) -> Result<(), StoreError> {
        Err(UNSUPPORTED)
    }

    fn remove_empty_folder(&self, _: &Owned, _: &Key) -> Result<bool, StoreError> {
        Err(UNSUPPORTED)
    }

    fn cache(&self, _: CacheAction, _: &Objects) -> Result<Residency, StoreError> {
        Err(UNSUPPORTED)
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        open(Line::new(self.pipelines), &self.settings, spec)
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }
}

fn fixture(server: &Server, pipelines: bool) -> Fixture {
    Fixture {
        store: Arc::new(LineStore {
            settings: Settings { connections: 3, ..settings(&[server.address]) },
            pipelines,
        }),
        objects: Arc::new(Objects::uniform(Key::new("data").unwrap(), 2, OBJECT_BYTES)),
        seed: Some(SEED),
        caches: vec![Cache::Bypass],
        clock: Clock::real(),
        depth: 8,
    }
}

#[test]
fn the_suite_of_all_backends_passes() {
    let server = Server::start(|_, mut peer| peer.serve(OBJECT_BYTES));
    for pipelines in [true, false] {
        run(&fixture(&server, pipelines));
    }
}

#[test]
fn closing_ends_what_gets_no_reply_and_an_operation_that_is_not_known_ends_at_once() {
    let server = Server::start(|_, mut peer| peer.ignore());
    let Fixture { store, objects, clock, .. } = fixture(&server, true);
    let arena = Arena::new(2, 4096).unwrap();
    let spec = QueueSpec {
        depth: 2,
        submit_batch: 2,
        block_bytes: 4096,
        connections: 2,
        cache: Cache::Bypass,
        operation: Operation::Read,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Auto,
        objects: &objects,
        arena: &arena,
        clock: &clock,
    };
    let mut queue = store.open_queue(&spec).unwrap();
    let mut bufs = arena.buffers();
    let ops = [Op::Stat { object: 0 }, Op::Read { object: 0, offset: 0, len: 4096 }];
    let mut requests: Vec<Request> = ops
        .into_iter()
        .zip(bufs.drain(..))
        .enumerate()
        .map(|(token, (op, buf))| Request { token: token as u32, op, buf })
        .collect();
    let mut done = Vec::new();
    queue.submit(&mut requests, &mut done).unwrap();
    assert_eq!((done.len(), done[0].token, queue.in_flight()), (1, 0, 1));
    assert!(done.pop().unwrap().result.is_err());
    assert_eq!(queue.phases().len(), 4);
    let until_ns = LATER_NS.min(clock.now_ns() + 20_000_000);
    assert_eq!(queue.close(until_ns, &mut done), 0);
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].result.unwrap_err().kind, ErrorKind::Timeout);
}
