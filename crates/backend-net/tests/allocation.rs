//! The engine allocates nothing per operation. A binary of its own, because the allocator counts for the whole
//! process; the server's thread does not count.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use backend::{Arena, Clock, Op, Request};
use backend_net::{Settings, SourcePort, open};
use dataset::{Key, Objects};
use plan::{Advice, Cache, Operation, Registered};

#[path = "it/line.rs"]
mod line;
#[path = "it/server.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod server;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Allocations of this thread while 1,000 operations run after 500 of the same kind.
fn allocations_of(protocol: line::Line, len: u32, writes: bool) -> u64 {
    let server = server::Server::start(move |_, mut peer| {
        while let Some(asked) = peer.ask() {
            peer.say(&if writes { asked.data(b"") } else { asked.right(server::SEED) });
        }
    });
    let settings = Settings {
        addresses: vec![server.address],
        connections: 4,
        connect_timeout_ns: 10_000_000_000,
        reply_timeout_ns: 20_000_000_000,
        tls: None,
        source_port: SourcePort::Any,
    };
    let (arena, clock) = (Arena::new(16, len).unwrap(), Clock::real());
    let spec = backend::QueueSpec {
        depth: 16,
        submit_batch: 16,
        block_bytes: len,
        connections: 4,
        cache: Cache::Bypass,
        operation: Operation::Read,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Auto,
        objects: &std::sync::Arc::new(Objects::uniform(Key::new("d").unwrap(), 1, 1 << 20)),
        arena: &arena,
        clock: &clock,
    };
    let mut queue = open(protocol, &settings, &spec).unwrap();
    let mut free = arena.buffers();
    let (mut requests, mut done) = (Vec::with_capacity(16), Vec::with_capacity(64));
    let (mut ended, mut before) = (0, 0);
    while ended < 1_500 {
        for (token, buf) in (0_u32..).zip(free.drain(..)) {
            requests.push(Request { token, op: Op::Read { object: 0, offset: 0, len }, buf });
        }
        queue.submit(&mut requests, &mut done).unwrap();
        // Those that failed while they were sent have ended already; there may be nothing to wait for.
        if done.is_empty() {
            queue.wait(1, u64::MAX, &mut done).unwrap();
        }
        for end in done.drain(..) {
            assert_eq!(end.result, Ok(u64::from(len)));
            ended += 1;
            if ended == 500 {
                before = ALLOCATIONS.with(Cell::get);
            }
            free.push(end.buf);
        }
    }
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn a_steady_state_allocates_nothing_per_operation() {
    for pipelines in [true, false] {
        for len in [1_000, 20_000] {
            let reads = allocations_of(line::Line::new(pipelines), len, false);
            let parts = allocations_of(line::Line::in_parts(pipelines, 3), len, false);
            let turns = allocations_of(line::Line::in_turns(pipelines, 6, 2), len, false);
            let writes = allocations_of(line::Line::writing(pipelines), len, true);
            // A buffer may still find its size; 1,000 operations are counted.
            let all = [reads, parts, turns, writes];
            assert!(all.iter().all(|count| *count <= 16), "{all:?} allocations, pipelines: {pipelines}");
        }
    }
}
