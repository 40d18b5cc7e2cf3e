//! The fakes pass the suite that real backends pass, and the simulation keeps its script to the nanosecond.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use backend::conformance::{Fixture, WholeFiles, run, run_whole};
use backend::null::NullStore;
use backend::simulated::{Fault, Simulated, Step};
use backend::slowed::{Slowed, Slowness};
use backend::{Arena, Clock, Completion, ErrorKind, Op, OpError, QueueSpec, Request, SharedStore, Store};
use dataset::{Key, Objects};
use feed::bounds::Burst;
use plan::{Cache, Delay, Emulation, Operation, Registered};

/// What both fakes offer beside reads of blocks.
const WHOLE: [Operation; 3] = [Operation::ReadFile, Operation::Stat, Operation::List];

fn objects() -> Arc<Objects> {
    Arc::new(Objects::uniform(Key::new("d").unwrap(), 3, 20_001))
}

#[test]
fn the_null_backend_conforms() {
    for store in [NullStore::default(), NullStore::copying(10_000)] {
        let fixture = Fixture {
            store: Arc::new(store),
            objects: objects(),
            seed: None,
            caches: vec![Cache::Bypass],
            clock: Clock::real(),
            depth: 4,
        };
        run(&fixture);
        run_whole(&WholeFiles { fixture: &fixture, operations: &WHOLE, by_name: false });
    }
}

#[test]
fn the_simulated_backend_conforms() {
    let clock = Clock::simulated();
    let own = Simulated::new(&clock, 2, 7, |_| Step::ok(1_000));
    conforms_by(clock, Arc::new(own));
}

#[test]
fn a_storage_that_is_slowed_down_conforms() {
    let clock = Clock::simulated();
    let own = Simulated::new(&clock, 2, 7, |_| Step::ok(1_000));
    let asked = Emulation {
        first_byte: Some(Delay::Constant { ns: 1_500 }),
        total_bps: Some(4e9),
        seek_ns: Some(300),
        ..Emulation::default()
    };
    conforms_by(clock, Arc::new(Slowed::new(Arc::new(own), Arc::new(Slowness::new(&asked)))));
}

#[test]
fn a_storage_whose_credits_run_out_conforms() {
    let clock = Clock::simulated();
    let own = Simulated::new(&clock, 2, 7, |_| Step::ok(1_000));
    let asked = Emulation {
        requests_per_s: Some(100e3),
        request_burst: Some(Burst { per_s: 1e6, credits: 3.0 }),
        total_bps: Some(40e6),
        byte_burst: Some(Burst { per_s: 4e9, credits: 50_000.0 }),
        ..Emulation::default()
    };
    conforms_by(clock, Arc::new(Slowed::new(Arc::new(own), Arc::new(Slowness::new(&asked)))));
}

/// Runs the suite on a simulated storage of seed 7.
fn conforms_by(clock: Clock, store: SharedStore) {
    let fixture =
        Fixture { store, objects: objects(), seed: Some(7), caches: vec![Cache::Bypass], clock, depth: 4 };
    run(&fixture);
    run_whole(&WholeFiles { fixture: &fixture, operations: &WHOLE, by_name: false });
}

/// Submits `count` reads at time zero and returns what came back, in order.
fn outcome(
    channels: u32,
    count: u32,
    script: impl Fn(u64) -> Step + Send + Sync + 'static,
) -> Vec<Completion> {
    let clock = Clock::simulated();
    let store = Simulated::new(&clock, channels, 7, script);
    let arena = Arena::new(count, 4096).unwrap();
    let spec = QueueSpec {
        depth: count,
        submit_batch: count,
        connections: 0,
        block_bytes: 4096,
        cache: Cache::Bypass,
        operation: plan::Operation::Read,
        writes: None,
        advice: plan::Advice::Normal,
        registered: Registered::Off,
        objects: &objects(),
        arena: &arena,
        clock: &clock,
    };
    let mut queue = store.open_queue(&spec).unwrap();
    let op = Op::Read { object: 0, offset: 0, len: 4096 };
    let mut requests: Vec<Request> = arena
        .buffers()
        .into_iter()
        .enumerate()
        .map(|(token, buf)| Request { token: token as u32, op, buf })
        .collect();
    let mut done = Vec::new();
    queue.submit(&mut requests, &mut done).unwrap();
    queue.wait(count as usize, u64::MAX, &mut done).unwrap();
    done
}

#[test]
fn channels_serve_first_come_first_served() {
    let done = outcome(2, 5, |_| Step::ok(100));
    let ends: Vec<u64> = done.iter().map(|completion| completion.stamps.done_ns).collect();
    assert_eq!(ends, [100, 100, 200, 200, 300]);
}

#[test]
fn a_scripted_stall_delays_its_own_channel_only() {
    let done = outcome(2, 4, |n| Step::ok(if n == 0 { 1_000 } else { 100 }));
    let ends: Vec<(u32, u64)> = done.iter().map(|c| (c.token, c.stamps.done_ns)).collect();
    assert_eq!(ends, [(1, 100), (2, 200), (3, 300), (0, 1_000)]);
}

#[test]
fn scripted_faults_arrive_as_typed_errors_and_wrong_bytes() {
    let io = OpError { kind: ErrorKind::Io, code: 5 };
    let done = outcome(1, 2, move |n| Step {
        latency_ns: 10,
        fault: Some(if n == 0 { Fault::Error(io) } else { Fault::Corrupt }),
    });
    assert_eq!(done[0].result, Err(io));
    assert_eq!(done[1].result, Ok(4096));
    assert!(dataset::payload::verify(7, 0, 0, &done[1].buf.as_slice()[..4096]).is_err());
}

#[test]
fn a_deadline_before_the_first_completion_moves_the_clock_to_itself() {
    let clock = Clock::simulated();
    let store = Simulated::new(&clock, 1, 7, |_| Step::ok(500));
    let arena = Arena::new(1, 4096).unwrap();
    let spec = QueueSpec {
        depth: 1,
        submit_batch: 1,
        connections: 0,
        block_bytes: 4096,
        cache: Cache::Bypass,
        operation: plan::Operation::Read,
        writes: None,
        advice: plan::Advice::Normal,
        registered: Registered::Off,
        objects: &objects(),
        arena: &arena,
        clock: &clock,
    };
    let mut queue = store.open_queue(&spec).unwrap();
    let op = Op::Read { object: 0, offset: 0, len: 10 };
    let mut requests = arena.buffers().into_iter().map(|buf| Request { token: 0, op, buf }).collect();
    let mut done = Vec::new();
    queue.submit(&mut requests, &mut done).unwrap();
    queue.wait(1, 200, &mut done).unwrap();
    assert_eq!((done.len(), clock.now_ns(), queue.in_flight()), (0, 200, 1));
    assert_eq!(queue.close(300, &mut done), 1, "the operation is abandoned at the deadline");
}
