//! Writes over blocks and whole objects: what they count, and what is read again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::simulated::{Fault, Step};
use backend::{ErrorKind, OpError};
use plan::{Arrivals, Durability, Limit, Load, Mix, Pace, Rate, Task};

use crate::{MS, Sim, histogram};

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

/// Whole objects of 10,000 B in three pieces each, one at a time, each of a millisecond.
fn anew(script: impl Fn(u64) -> Step + Send + Sync + 'static) -> Sim {
    let mut sim = sim(script);
    sim.cell.task = Task::WriteFile(Durability::Data);
    sim
}

#[test]
fn objects_that_are_written_anew_count_whole_and_the_end_of_the_last_is_read_again() {
    let rep = anew(|_| Step::ok(MS)).run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (99, 990_000));
    assert_eq!(rep.counters["verified"], 1, "the one buffer holds the last piece of one object");
    let service = histogram(&rep, "service_ns");
    assert_eq!(service.len(), 100);
    assert!(
        service.min().abs_diff(MS) < MS / 500 && service.max().abs_diff(MS) < MS / 500,
        "from issue to promise"
    );
    assert!(rep.errors.is_empty() && rep.epochs.is_empty(), "{rep:?}");
}

#[test]
fn objects_of_different_sizes_are_written_anew_to_their_ends() {
    let mut sim = anew(|_| Step::ok(MS));
    let mut listed = dataset::Listed::default();
    // Less than a stamp, a block, whole blocks, and blocks with a tail.
    let sizes = [10, 4096, 8192, 10_000, 123];
    for (number, bytes) in sizes.iter().enumerate() {
        listed.push(&dataset::Key::new(format!("d/{number:09}.bin")).unwrap(), *bytes);
    }
    sim.objects = Arc::new(dataset::Objects::Listed(listed));
    (sim.cell.queue_depth, sim.cell.submit_batch) = (5, 5);
    sim.limit = Limit::Bytes { bytes: sizes.iter().sum() };
    let rep = sim.run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (5, sizes.iter().sum()));
    assert_eq!(
        rep.counters["verified"], 5,
        "each from the first piece of its buffer to the end of its object"
    );
    assert!(rep.errors.is_empty(), "{:?}", rep.errors);
}

#[test]
fn an_object_that_is_not_kept_as_it_was_written_is_found() {
    let rep = anew(|n| Step { latency_ns: MS, fault: (n == 99).then_some(Fault::Corrupt) }).run();
    assert_eq!((rep.counters["verified"], rep.errors["corrupt"]), (1, 1));
}

#[test]
fn an_object_that_another_write_has_replaced_since_is_no_loss() {
    let mut sim = anew(|n| Step::ok(MS + n % 3));
    (sim.cell.queue_depth, sim.cell.submit_batch) = (4, 4);
    sim.cell.access = plan::Access::Random;
    sim.objects = crate::objects(2, 10_000);
    sim.limit = Limit::Duration { duration_ns: 500 * MS };
    let rep = sim.run();
    assert!(rep.errors.is_empty(), "{:?}", rep.errors);
    assert!((1..=4).contains(&rep.counters["verified"]), "{:?}", rep.counters);
}

#[test]
fn a_put_that_fails_is_tried_again_and_its_time_is_that_of_all_attempts() {
    let throttled = Some(Fault::Error(OpError { kind: ErrorKind::Throttled, code: 503 }));
    let mut sim = anew(move |n| Step { latency_ns: MS, fault: throttled.filter(|_| n == 0) });
    sim.cell.retries = 2;
    sim.limit = Limit::Bytes { bytes: 30_000 };
    let rep = sim.run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (3, 30_000));
    assert!(rep.errors.is_empty(), "{:?}", rep.errors);
    assert_eq!(histogram(&rep, "attempt_ns").len(), 4);
    assert!(histogram(&rep, "service_ns").max() > 2 * MS, "the first took two attempts and a pause");
    assert_eq!(rep.counters["verified"], 1);
    let mut sim = anew(move |n| Step { latency_ns: MS, fault: throttled.filter(|_| n == 0) });
    sim.limit = Limit::Bytes { bytes: 30_000 };
    assert_eq!(sim.run().errors["throttled"], 1, "it is counted where nothing is tried again");
}

#[test]
fn a_paced_load_writes_objects_anew_at_its_rate() {
    let mut sim = anew(|_| Step::ok(MS));
    // 500 objects a second, half of what one at a time could be.
    sim.cell.load = plan::Load::Paced(plan::Pace {
        rate: plan::Rate::Bytes { per_s: 5e6 },
        arrivals: plan::Arrivals::Constant,
        spin_ns: 0,
    });
    let rep = sim.run();
    assert!((49..=51).contains(&rep.counters["ops"]), "{:?}", rep.counters);
    assert!(rep.errors.is_empty(), "{:?}", rep.errors);
}

/// A mix of which 30 % are writes, one of 4 KiB at a time, each of a millisecond.
fn mix(script: impl Fn(u64) -> Step + Send + Sync + 'static) -> Sim {
    let mut sim = sim(script);
    sim.cell.task = Task::Mix(Mix { write_percent: 30, durability: Durability::Data });
    sim.objects = crate::objects(1, 1 << 20);
    sim
}

#[test]
fn a_mix_reads_and_writes_its_share_and_counts_both_apart() {
    let rep = mix(|_| Step::ok(MS)).run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (99, 99 * 4096));
    let lens = ["service_ns", "service_read_ns", "service_write_ns"].map(|name| histogram(&rep, name).len());
    // The last operation began inside the window, and ended as it closed.
    assert_eq!((lens[0], lens[1] + lens[2]), (100, 100));
    let written = rep.counters["written_bytes"] / 4096;
    assert!((29..=31).contains(&written) && lens[2].abs_diff(written) <= 1, "{written} of 99, {lens:?}");
    assert!(rep.errors.is_empty() && rep.epochs.is_empty(), "{rep:?}");
}

#[test]
fn a_paced_mix_counts_the_responses_of_reads_and_of_writes_apart() {
    let rate = Rate::Bytes { per_s: 4_096_000.0 };
    let mut sim = mix(|_| Step::ok(MS / 10));
    sim.cell.load = Load::Paced(Pace { rate, arrivals: Arrivals::Constant, spin_ns: 0 });
    let rep = sim.run();
    let lens =
        ["response_ns", "response_read_ns", "response_write_ns"].map(|name| histogram(&rep, name).len());
    assert_eq!((lens[0], lens[1] + lens[2]), (100, 100));
    assert!((29..=31).contains(&lens[2]), "{lens:?}");
}

#[test]
fn of_a_mix_writes_alone_are_read_again_and_found_lost() {
    let kept = |fault: Option<Fault>| {
        let mut sim = mix(move |_| Step { latency_ns: MS, fault });
        (sim.cell.queue_depth, sim.cell.submit_batch) = (16, 16);
        let rep = sim.run();
        (rep.counters["verified"], rep.errors.get("corrupt").copied().unwrap_or(0))
    };
    let (verified, corrupt) = kept(None);
    // Of each worker eight at most; of 16 places some hold reads.
    assert!((1..=8).contains(&verified) && corrupt == 0, "{verified} {corrupt}");
    assert_eq!(kept(Some(Fault::Corrupt)), (verified, verified), "every write was changed");
}

#[test]
fn what_a_mix_reads_and_writes_does_not_depend_on_its_depth() {
    let written = |depth| {
        let mut sim = mix(|_| Step::ok(MS));
        (sim.cell.queue_depth, sim.cell.submit_batch) = (depth, depth);
        sim.limit = Limit::Bytes { bytes: 256 * 4096 };
        sim.run().counters["written_bytes"] / 4096
    };
    assert_eq!([1, 4, 16].map(written), [written(1); 3], "a whole pass over 256 blocks");
}
