//! Passes over the data inside a repetition, exact on the virtual clock.

use backend::simulated::{Fault, Step};
use backend::{ErrorKind, OpError};
use plan::{Access, Cache, Limit, Load, Task, Training};
use record::{Epoch, Outcome};

use crate::{MS, Sim, objects};

/// A job of ten samples a step, read one by one.
const JOB: Training = Training { startup_ns: 70 * MS, ..Training::plain(1, 10, 100 * MS) };

/// Forty blocks, each of which takes a millisecond.
fn sim(limit: Limit) -> Sim {
    let mut sim = Sim::new(1, 1, |_| Step::ok(MS));
    sim.objects = objects(10, 4 * 4_096);
    (sim.cell.cache, sim.limit) = (Cache::ColdStart, limit);
    sim
}

/// An epoch of so many of those blocks, issued one after the other from `begun_ms` on.
fn epoch(number: u64, begun_ms: u64, ops: u64) -> Epoch {
    Epoch {
        epoch: number,
        begun_ns: begun_ms * MS,
        first_ns: (begun_ms + 1) * MS,
        first_batch_ns: None,
        ended_ns: (begun_ms + ops) * MS,
        ops,
        bytes: ops * 4_096,
        storage_bytes: None,
        tier_bytes: None,
        complete: ops == 40,
    }
}

#[test]
fn a_window_of_two_and_a_half_passes_has_two_whole_epochs_and_a_part() {
    // What ends at its close is not inside it.
    let rep = sim(Limit::Duration { duration_ns: 100 * MS + 1 }).run();
    assert_eq!(rep.epochs, [epoch(0, 0, 40), epoch(1, 40, 40), epoch(2, 80, 20)]);
    assert_eq!((rep.outcome, rep.counters["ops"]), (Outcome::Complete, 100));
}

#[test]
fn passes_that_were_asked_for_are_all_read_after_a_cold_start() {
    for access in [Access::Sequential, Access::ShuffledEpoch, Access::Random] {
        let mut sim = sim(Limit::Epochs { epochs: 3 });
        sim.cell.access = access;
        let rep = sim.run();
        assert_eq!(rep.epochs, [epoch(0, 0, 40), epoch(1, 40, 40), epoch(2, 80, 40)], "{access:?}");
        assert_eq!(rep.outcome, Outcome::Complete, "{access:?}");
    }
}

#[test]
fn a_window_within_one_pass_has_no_epoch_to_tell() {
    assert_eq!(sim(Limit::Duration { duration_ns: 39 * MS }).run().epochs, []);
    let mut cold = sim(Limit::Epochs { epochs: 3 });
    cold.cell.cache = Cache::Cold;
    let rep = cold.run();
    assert_eq!((rep.outcome, rep.epochs), (Outcome::Exhausted, vec![epoch(0, 0, 40)]));
}

#[test]
fn what_a_warm_up_has_read_is_missing_from_its_epoch() {
    let mut sim = sim(Limit::Duration { duration_ns: 75 * MS + 1 });
    sim.warmup_ns = 5 * MS;
    let rep = sim.run();
    // The fifth read ends as the window opens, which counts.
    let first = Epoch { begun_ns: 0, first_ns: 0, complete: false, ..epoch(0, 0, 36) };
    let first = Epoch { ended_ns: 35 * MS, ..first };
    assert_eq!(rep.epochs, [first, epoch(1, 35, 40)]);
}

#[test]
fn operations_that_fail_end_a_pass_too() {
    let error = Fault::Error(OpError { kind: ErrorKind::NotFound, code: 0 });
    let mut sim = Sim::new(1, 1, move |n| Step { latency_ns: MS, fault: (n == 5).then_some(error) });
    sim.objects = objects(10, 4 * 4_096);
    sim.limit = Limit::Epochs { epochs: 1 };
    let [only] = &sim.run().epochs[..] else { panic!("one epoch") };
    assert_eq!((only.ops, only.bytes, only.complete), (39, 39 * 4_096, true));
}

#[test]
fn workers_and_slots_share_the_passes() {
    let mut sim = Sim::new(8, 8, |_| Step::ok(MS));
    (sim.objects, sim.limit) = (objects(10, 4 * 4_096), Limit::Epochs { epochs: 2 });
    let rep = sim.run();
    let of = |number: u64| Epoch {
        first_ns: (5 * number + 1) * MS,
        ended_ns: 5 * (number + 1) * MS,
        ..epoch(number, 5 * number, 40)
    };
    assert_eq!(rep.epochs, [of(0), of(1)], "eight at a time: five milliseconds a pass");
}

#[test]
fn names_that_are_looked_at_are_no_passes_over_data() {
    let mut sim = sim(Limit::Epochs { epochs: 2 });
    (sim.cell.task, sim.cell.cache) = (Task::Stat, Cache::Warm);
    assert_eq!(sim.run().epochs, []);
}

#[test]
fn a_repetition_that_reads_on_counts_its_own_epochs_from_0() {
    let mut sim = sim(Limit::Epochs { epochs: 2 });
    (sim.epoch, sim.part) = (7, plan::Share::WHOLE);
    assert_eq!(sim.run().epochs, [epoch(0, 0, 40), epoch(1, 40, 40)]);
}

#[test]
fn a_rank_counts_passes_from_where_it_begins_and_a_cold_one_its_part() {
    let mut sim = sim(Limit::Epochs { epochs: 2 });
    (sim.epoch, sim.part) = (3, plan::Share { index: 1, of: 2 });
    assert_eq!(sim.run().epochs, [epoch(0, 0, 40), epoch(1, 40, 40)]);
    sim.cell.cache = Cache::Cold;
    assert_eq!(sim.run().epochs, [Epoch { complete: true, ..epoch(0, 0, 20) }]);
}

#[test]
fn an_epoch_of_a_job_begins_with_its_readers_and_ends_before_the_next() {
    let mut sim = sim(Limit::Epochs { epochs: 2 });
    (sim.cell.load, sim.cell.task) = (Load::Training(JOB), Task::ReadFile);
    // Four steps a pass; five samples are dropped.
    sim.objects = objects(45, 4_096);
    let rep = sim.run();
    let of = |number: u64, begun_ms: u64| Epoch {
        first_batch_ns: Some((begun_ms + 10) * MS),
        // The last batch is allowed as the second step begins, 110 ms after the first read.
        ended_ns: (begun_ms + 120) * MS,
        ..epoch(number, begun_ms, 40)
    };
    // A pass takes 70 ms to start, 10 ms of the first batch and four steps.
    assert_eq!(rep.epochs, [of(0, 70), of(1, 550)]);
}
