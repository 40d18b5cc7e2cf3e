//! What a window counts.

use std::sync::atomic::Ordering;

use backend::simulated::{Fault, Step};
use backend::{ErrorKind, OpError};
use plan::{Access, Cache, Limit};
use record::Outcome;

use crate::{MS, Sim, histogram};

#[test]
fn a_device_of_constant_latency_gives_exactly_depth_over_latency() {
    let rep = Sim::new(4, 4, |_| Step::ok(MS)).run();
    assert_eq!(rep.outcome, Outcome::Complete);
    assert_eq!(rep.window_ns, 100 * MS);
    // The reads that end at the closing of the window end outside it.
    assert_eq!(rep.counters["ops"], 4 * 99);
    assert_eq!(rep.counters["started"], 4 * 100);
    let service_ns = histogram(&rep, "service_ns");
    assert_eq!(service_ns.len(), 400);
    assert!(service_ns.equivalent(service_ns.max(), MS) && service_ns.equivalent(service_ns.min(), MS));
}

#[test]
fn a_deeper_queue_than_the_device_has_channels_adds_latency_and_no_throughput() {
    let shallow = Sim::new(2, 2, |_| Step::ok(MS)).run();
    let deep = Sim::new(8, 2, |_| Step::ok(MS)).run();
    assert_eq!(shallow.counters["ops"], deep.counters["ops"]);
    let service_ns = histogram(&deep, "service_ns");
    assert!(service_ns.equivalent(service_ns.value_at_quantile(0.5), 4 * MS));
}

#[test]
fn reads_of_the_warm_up_are_made_checked_and_not_counted() {
    let mut sim = Sim::new(1, 1, |n| Step::ok(if n < 10 { 5 * MS } else { MS }));
    sim.warmup_ns = 50 * MS;
    let rep = sim.run();
    // The tenth warm-up read ends as the window opens, and so counts for throughput alone.
    assert_eq!((rep.counters["warmup_ops"], rep.counters["started"], rep.counters["ops"]), (10, 100, 100));
    assert_eq!(rep.counters["verified"], 8);
    let service_ns = histogram(&rep, "service_ns");
    assert!(service_ns.equivalent(service_ns.max(), MS), "a warm-up latency was counted");
    assert_eq!(rep.window_start_ns, 50 * MS);
}

/// 160 reads are all there is, which is less than the warm-up would take.
#[test]
fn the_warm_up_of_a_cold_repetition_leaves_its_window_something_to_read() {
    for depth in [1, 4] {
        let mut sim = Sim::new(depth, depth, |_| Step::ok(MS));
        sim.objects = crate::objects(20, 8 * u64::from(sim.cell.block_bytes));
        (sim.cell.cache, sim.warmup_ns, sim.limit) =
            (Cache::Cold, 1_000 * MS, Limit::Duration { duration_ns: 1_000 * MS });
        let rep = sim.run();
        let (depth, warmup) = (u64::from(depth), 160 / 8);
        assert_eq!(rep.outcome, Outcome::Exhausted);
        assert_eq!(rep.counters["warmup_ops"], warmup);
        assert_eq!(rep.counters["started"], 160 - warmup);
        assert_eq!(rep.window_start_ns, warmup / depth * MS);
        assert_eq!(rep.window_ns, (160 - warmup) / depth * MS);
        assert_eq!(rep.counters["ops"], 160 - warmup);
    }
}

#[test]
fn a_stall_at_the_end_of_the_window_keeps_its_latency() {
    // Reads 0 to 98 take 1 ms; read 99 begins at 99 ms and ends at 599 ms, long after the window.
    let rep = Sim::new(1, 1, |n| Step::ok(if n == 99 { 500 * MS } else { MS })).run();
    assert_eq!((rep.counters["started"], rep.counters["ops"]), (100, 99));
    let service_ns = histogram(&rep, "service_ns");
    assert!(service_ns.equivalent(service_ns.max(), 500 * MS), "the tail was cut off");
}

#[test]
fn failures_are_counted_by_kind_and_move_no_bytes() {
    let fault = |kind| Some(Fault::Error(OpError { kind, code: 5 }));
    let rep = Sim::new(1, 1, move |n| Step {
        latency_ns: MS,
        fault: match n % 10 {
            3 => fault(ErrorKind::Io),
            7 => fault(ErrorKind::Eof),
            _ => None,
        },
    })
    .run();
    assert_eq!((rep.errors["io"], rep.errors["eof"]), (10, 10));
    assert_eq!(rep.counters["started"], 80);
    assert_eq!(histogram(&rep, "service_ns").len(), 80);
}

#[test]
fn wrong_bytes_are_found_in_the_warm_up() {
    let mut sim = Sim::new(1, 1, |n| Step { latency_ns: MS, fault: (n == 2).then_some(Fault::Corrupt) });
    sim.warmup_ns = 20 * MS;
    assert_eq!(sim.run().errors["corrupt"], 1);
}

#[test]
fn wrong_bytes_are_found_where_there_is_no_warm_up_and_nothing_is_left_to_read() {
    let of_pass = |corrupt: u64| {
        let script = move |n| Step { latency_ns: MS, fault: (n == corrupt).then_some(Fault::Corrupt) };
        let mut sim = Sim::new(4, 4, script);
        sim.objects = crate::objects(20, 10_000);
        (sim.cell.cache, sim.limit) = (Cache::ColdStart, Limit::Epochs { epochs: 1 });
        sim.run()
    };
    let whole = of_pass(u64::MAX);
    let ops = whole.counters["ops"];
    assert_eq!((whole.counters["verified"], whole.errors.len()), (4, 0));
    assert_eq!(of_pass(ops - 1).errors["corrupt"], 1);
}

#[test]
fn nothing_but_failures_ends_the_repetition_as_failed() {
    let error = Fault::Error(OpError { kind: ErrorKind::NotFound, code: 2 });
    let rep = Sim::new(2, 2, move |_| Step { latency_ns: 1, fault: Some(error) }).run();
    let Outcome::Failed { reason } = rep.outcome else { panic!("{:?}", rep.outcome) };
    assert!(reason.contains("not_found"), "{reason}");
    assert!(rep.errors["not_found"] >= 1_000);
}

#[test]
fn a_silent_storage_ends_the_repetition_where_no_time_does() {
    let error = Fault::Error(OpError { kind: ErrorKind::Timeout, code: 0 });
    let mut sim = Sim::new(2, 2, move |_| Step { latency_ns: 30_000 * MS, fault: Some(error) });
    sim.limit = Limit::Epochs { epochs: 1 };
    let rep = sim.run();
    let Outcome::Failed { reason } = rep.outcome else { panic!("{:?}", rep.outcome) };
    assert!(reason.starts_with("8 reads in a row failed (8 timeout)"), "{reason}");
}

#[test]
fn a_broken_queue_is_a_failed_repetition_that_keeps_what_it_counted() {
    let rep = Sim::new(1, 1, |n| Step { latency_ns: MS, fault: (n == 50).then_some(Fault::Break) }).run();
    assert!(matches!(rep.outcome, Outcome::Failed { .. }));
    assert_eq!(rep.counters["ops"], 50);
}

#[test]
fn a_cold_repetition_reads_no_byte_twice_and_says_that_it_ran_out() {
    let mut sim = Sim::new(1, 1, |_| Step::ok(MS / 100));
    sim.cell.cache = Cache::Cold;
    let rep = sim.run();
    // 1,000 files of 10,000 B in blocks of 4,096 B: three reads each.
    assert_eq!((rep.outcome, rep.counters["ops"]), (Outcome::Exhausted, 3_000));
    assert_eq!((rep.counters["bytes"], rep.window_ns), (10_000_000, 30 * MS));
}

#[test]
fn random_reads_of_a_cold_cell_are_each_of_another_block() {
    let mut sim = Sim::new(1, 1, |_| Step::ok(MS / 100));
    (sim.cell.cache, sim.cell.access) = (Cache::Cold, Access::Random);
    let rep = sim.run();
    assert_eq!((rep.outcome, rep.counters["ops"]), (Outcome::Exhausted, 3_000));
    assert_eq!(rep.counters["bytes"], 10_000_000, "every byte once");
}

#[test]
fn epochs_that_a_cold_cell_may_not_read_are_not_called_complete() {
    let mut sim = Sim::new(1, 1, |_| Step::ok(MS / 100));
    sim.cell.cache = Cache::Cold;
    sim.limit = Limit::Epochs { epochs: 5 };
    let rep = sim.run();
    assert_eq!((rep.outcome, rep.counters["ops"]), (Outcome::Exhausted, 3_000));
}

#[test]
fn bytes_and_epochs_end_a_window_too() {
    let mut sim = Sim::new(1, 1, |_| Step::ok(MS));
    // Reads are of 3,333 B on average: the last of each file is short.
    sim.limit = Limit::Bytes { bytes: 40_000 };
    let rep = sim.run();
    assert_eq!((rep.outcome, rep.counters["ops"], rep.window_ns), (Outcome::Complete, 12, 12 * MS));
    sim.limit = Limit::Epochs { epochs: 2 };
    assert_eq!(sim.run().counters["ops"], 6_000);
}

#[test]
fn a_signal_keeps_what_was_measured() {
    let sim = Sim::new(1, 1, |_| Step::ok(MS));
    sim.stop.store(true, Ordering::Relaxed);
    let rep = sim.run();
    assert_eq!((rep.outcome, rep.counters["ops"]), (Outcome::Interrupted, 0));
}

#[test]
fn what_a_queue_counts_covers_what_was_under_way_at_the_end() {
    // The fourth read of each channel begins at 90 ms and ends 20 ms after the window.
    let rep = Sim::new(4, 4, |_| Step::ok(30 * MS)).run();
    assert_eq!((rep.counters["ops"], rep.counters["started"]), (4 * 3, 4 * 4));
    assert_eq!(rep.counters["messages"], 4 * 4);
}

#[test]
fn seconds_add_up_to_the_window() {
    let mut sim = Sim::new(2, 2, |_| Step::ok(10 * MS));
    sim.limit = Limit::Duration { duration_ns: 2_500 * MS };
    let rep = sim.run();
    assert_eq!(rep.second_ops, [2 * 99, 2 * 100, 2 * 50]);
    assert_eq!(rep.second_ops.iter().sum::<u64>(), rep.counters["ops"]);
    assert_eq!(rep.second_bytes.iter().sum::<u64>(), rep.counters["bytes"]);
}

#[test]
fn the_reads_do_not_depend_on_how_many_threads_share_them() {
    let ops = |threads| {
        let mut sim = Sim::new(4, 64, |_| Step::ok(MS));
        sim.store = std::sync::Arc::new(backend::null::NullStore::default());
        sim.clock = backend::Clock::real();
        sim.limit = Limit::Epochs { epochs: 1 };
        sim.cell.threads = threads;
        let rep = sim.run();
        (rep.counters["bytes"], rep.counters["ops"])
    };
    assert_eq!(ops(1), (10_000_000, 3_000));
    assert_eq!(ops(4), ops(1));
}
