//! Writes over blocks: what they count, and what is read again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::simulated::{Fault, Step};
use backend::{ErrorKind, OpError};
use plan::{Durability, Limit, Task};

use crate::{MS, Sim};

/// Writes of 4 KiB, one at a time, each of a millisecond.
fn sim(script: impl Fn(u64) -> Step + Send + Sync + 'static) -> Sim {
    let mut sim = Sim::new(1, 1, script);
    sim.cell.task = Task::Write(Durability::Data);
    sim
}

#[test]
fn writes_count_their_bytes_and_the_last_is_read_again() {
    let rep = sim(|_| Step::ok(MS)).run();
    // The one that ends as the window closes is not in it.
    // 33 files of 10,000 B, in three blocks each.
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (99, 330_000));
    assert_eq!(rep.counters["verified"], 1, "the one buffer holds one block");
    assert!(rep.errors.is_empty(), "{:?}", rep.errors);
}

#[test]
fn as_many_are_read_again_as_are_outstanding() {
    let mut sim = sim(|_| Step::ok(MS));
    sim.cell.queue_depth = 4;
    sim.cell.submit_batch = 4;
    assert_eq!(sim.run().counters["verified"], 4);
}

#[test]
fn a_write_that_is_not_kept_as_it_was_is_found() {
    // The last of the window.
    let rep = sim(|n| Step { latency_ns: MS, fault: (n == 99).then_some(Fault::Corrupt) }).run();
    assert_eq!((rep.counters["verified"], rep.errors["corrupt"]), (1, 1));
}

#[test]
fn a_write_that_fails_is_counted_by_its_kind_and_not_read_again() {
    let full = Some(Fault::Error(OpError { kind: ErrorKind::Full, code: 28 }));
    let rep = sim(move |n| Step { latency_ns: MS, fault: full.filter(|_| n >= 50) }).run();
    assert_eq!((rep.errors["full"], rep.counters["ops"], rep.counters["verified"]), (50, 50, 0));
}

#[test]
fn a_block_that_was_written_since_is_no_loss() {
    // Ten blocks of one file, over and over, by four at once: the last writes of a slot are often not the last of their
    // block.
    let mut sim = sim(|n| Step::ok(MS + n % 3));
    sim.cell.queue_depth = 4;
    sim.cell.submit_batch = 4;
    sim.cell.access = plan::Access::Random;
    sim.objects = crate::objects(1, 2 * 4096);
    sim.limit = Limit::Duration { duration_ns: 500 * MS };
    let rep = sim.run();
    assert!(rep.errors.is_empty(), "{:?}", rep.errors);
    assert!(rep.counters["verified"] <= 4);
}

#[test]
fn nothing_is_read_again_after_a_signal() {
    let stop = Arc::new(AtomicBool::new(false));
    let signal = Arc::clone(&stop);
    let mut sim = sim(move |n| {
        signal.store(n >= 50, Ordering::Relaxed);
        Step::ok(MS)
    });
    sim.stop = stop;
    assert_eq!(sim.run().counters["verified"], 0);
}
