//! Paced loads: what is issued when, what is counted, what is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::null::NullStore;
use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError};
use plan::{Arrivals, Cache, Limit, Load, Pace, Rate};
use record::{Outcome, Rep};

use crate::{MS, SEED, Sim, histogram, objects};

const US: u64 = 1_000;
const BLOCK_BYTES: f64 = 4_096.0;
const STEPWISE: Arrivals = Arrivals::Batch { samples: 8 };

fn load(ops_per_s: f64, arrivals: Arrivals) -> Load {
    Load::Paced(Pace { rate: Rate::Bytes { per_s: ops_per_s * BLOCK_BYTES }, arrivals, spin_ns: 0 })
}

/// A thousand arrivals a second, one every millisecond, each of one whole file of 4,096 B.
fn paced(mut sim: Sim) -> Sim {
    sim.cell.load = load(1_000.0, Arrivals::Constant);
    sim.objects = objects(1_000, 4_096);
    sim
}

fn counts(rep: &Rep) -> [u64; 3] {
    ["arrivals", "served", "not_issued"].map(|name| rep.counters[name])
}

/// Every latency of a histogram is one of these, so many times.
fn assert_latencies(rep: &Rep, name: &str, expected: impl IntoIterator<Item = (u64, u64)>) {
    let histogram = histogram(rep, name);
    let mut total = 0;
    for (ns, count) in expected {
        assert_eq!(histogram.count_at(ns), count, "{name} of {ns} ns");
        total += count;
    }
    assert_eq!(histogram.len(), total, "{name}");
}

#[test]
fn a_fast_device_answers_each_arrival_in_its_own_time() {
    let rep = paced(Sim::new(4, 4, |_| Step::ok(MS / 10))).run();
    assert_eq!(
        (rep.outcome.clone(), rep.window_ns, counts(&rep)),
        (Outcome::Complete, 100 * MS, [100, 100, 0])
    );
    assert_eq!((rep.counters["ops"], rep.counters["offered_bps"]), (100, 4_096_000));
    assert_latencies(&rep, "lag_ns", [(0, 100)]);
    assert_latencies(&rep, "response_ns", [(MS / 10, 100)]);
    assert_latencies(&rep, "service_ns", [(MS / 10, 100)]);
}

#[test]
fn a_slow_device_answers_ever_later_at_a_constant_service_time() {
    let rep = paced(Sim::new(1, 1, |_| Step::ok(2 * MS))).run();
    // Arrival k is issued at 2k ms and answered 2 ms later; after 100 ms half of them still wait.
    assert_eq!(counts(&rep), [100, 50, 50]);
    assert_latencies(&rep, "service_ns", [(2 * MS, 50)]);
    assert_latencies(&rep, "response_ns", (0..50).map(|k| ((k + 2) * MS, 1)));
    // Only the first found the queue free; that the others waited was not the client's doing.
    assert_latencies(&rep, "lag_ns", [(0, 1)]);
}

#[test]
fn no_more_than_the_queue_depth_is_outstanding() {
    let rep = paced(Sim::new(4, 64, |_| Step::ok(10 * MS))).run();
    // Four at 0, 1, 2 and 3 ms, the next four ten milliseconds later, and so on.
    assert_eq!((counts(&rep), rep.counters["started"]), ([100, 40, 60], 40));
    assert_latencies(&rep, "service_ns", [(10 * MS, 40)]);
    assert_latencies(&rep, "response_ns", (0..10).map(|turn| ((10 + 6 * turn) * MS, 4)));
}

#[test]
fn a_batch_arrives_at_once_and_its_last_sample_waits_for_the_others() {
    // Steps of 8 samples of 10,000 B: 20 blocks, every 10 ms, on a device of 4 channels.
    let mut sim = paced(Sim::new(4, 4, |_| Step::ok(MS)));
    sim.cell.load = load(2_000.0, STEPWISE);
    let rep = sim.run();
    assert_eq!(counts(&rep), [200, 200, 0]);
    assert_latencies(&rep, "response_ns", (1..=5).map(|ms| (ms * MS, 40)));
    // A window of no whole number of steps ends with a whole one all the same.
    sim.limit = Limit::Duration { duration_ns: 95 * MS };
    assert_eq!(counts(&sim.run()), [180, 180, 0]);
}

#[test]
fn random_arrivals_come_at_the_asked_rate_and_replay_exactly() {
    let mut sim = paced(Sim::new(64, 64, |_| Step::ok(MS)));
    sim.cell.load = load(10_000.0, Arrivals::Poisson);
    sim.limit = Limit::Duration { duration_ns: 1_000 * MS };
    let rep = sim.run();
    // Of a mean of 10,000 the standard deviation is 100.
    let [arrivals, served, _] = counts(&rep);
    assert!(arrivals.abs_diff(10_000) < 500 && served > 9_500, "{arrivals} {served}");
    let again = || {
        let mut again = paced(Sim::new(64, 64, |_| Step::ok(MS)));
        (again.cell.load, again.limit) = (sim.cell.load, sim.limit);
        again
    };
    let replayed = again().run();
    assert_eq!((&replayed.counters, &replayed.histograms), (&rep.counters, &rep.histograms));
    let mut other = again();
    other.cell.seed += 1;
    assert_ne!(other.run().histograms, rep.histograms);
}

#[test]
fn a_stall_delays_every_arrival_behind_it_and_the_service_of_one() {
    let rep = paced(Sim::new(1, 1, |n| Step::ok(if n == 50 { 20 * MS } else { MS / 10 }))).run();
    assert_eq!(counts(&rep), [100, 100, 0], "a full queue is no reason to give up");
    assert_latencies(&rep, "service_ns", [(20 * MS, 1), (MS / 10, 99)]);
    // Arrival 50 + j ends at 70 ms + j / 10 ms, until the queue is empty again after j = 22.
    let behind = (0..=22).map(|j| (20 * MS - j * 9 * MS / 10, 1));
    assert_latencies(&rep, "response_ns", behind.chain([(MS / 10, 77)]));
}

#[test]
fn a_client_that_was_away_gives_up_what_it_missed_and_makes_no_burst() {
    let clock = Clock::simulated();
    let device = Simulated::new(&clock, 4, SEED, |_| Step::ok(MS / 10));
    let away_ns = 50_500 * US..70_500 * US;
    let rep = paced(Sim::on(device.with_client_away(away_ns), &clock, 4)).run();
    // Back at 70.5 ms: arrivals 51 to 60 are more than 10 ms late. 61 to 64 take the four slots, late by the
    // client's fault; 65 to 70 wait for a slot.
    assert_eq!((counts(&rep), rep.counters["given_up"]), ([100, 90, 10], 10));
    let late = (51..65).map(|arrival| (70_500 * US - arrival * MS, 1));
    assert_latencies(&rep, "lag_ns", late.chain([(0, 80)]));
    let answered = |arrival, ns| (ns - arrival * MS, 1);
    let first = (61..65).map(|arrival| answered(arrival, 70_600 * US));
    let second = (65..69).map(|arrival| answered(arrival, 70_700 * US));
    let third = (69..71).map(|arrival| answered(arrival, 70_800 * US));
    assert_latencies(&rep, "response_ns", first.chain(second).chain(third).chain([(MS / 10, 80)]));
}

#[test]
fn what_was_due_while_the_client_was_away_to_the_end_is_given_up_too() {
    let clock = Clock::simulated();
    let device = Simulated::new(&clock, 4, SEED, |_| Step::ok(MS / 10));
    let away_ns = 50_500 * US..150 * MS;
    let rep = paced(Sim::on(device.with_client_away(away_ns), &clock, 4)).run();
    // The window closes at 100 ms: 51 to 89 are more than 10 ms late by then, and 90 to 99 are left.
    assert_eq!((counts(&rep), rep.counters["given_up"]), ([100, 51, 49], 39));
    assert_latencies(&rep, "lag_ns", (51..90).map(|arrival| ((100 - arrival) * MS, 1)).chain([(0, 51)]));
}

#[test]
fn a_queue_that_was_full_to_the_end_is_no_reason_to_give_up() {
    let rep = paced(Sim::new(1, 1, |_| Step::ok(30 * MS))).run();
    assert_eq!((counts(&rep), rep.counters["given_up"]), ([100, 4, 96], 0));
}

#[test]
fn every_arrival_is_served_given_up_or_failed() {
    let error = Some(Fault::Error(OpError { kind: ErrorKind::Io, code: 5 }));
    let rep =
        paced(Sim::new(1, 1, move |n| Step { latency_ns: 2 * MS, fault: error.filter(|_| n % 10 == 3) }))
            .run();
    assert_eq!((counts(&rep), rep.errors["io"]), ([100, 45, 50], 5));
    assert_eq!(histogram(&rep, "response_ns").len(), 45);
}

#[test]
fn arrivals_of_the_warm_up_are_not_counted_and_their_rest_takes_no_room_in_the_window() {
    let mut sim = paced(Sim::new(1, 1, |_| Step::ok(2 * MS)));
    sim.warmup_ns = 50 * MS;
    let rep = sim.run();
    // 25 of the 50 are still waiting as the window opens.
    assert_eq!((rep.counters["warmup_ops"], counts(&rep)), (25, [100, 50, 50]));
    assert_latencies(&rep, "response_ns", (0..50).map(|k| ((k + 2) * MS, 1)));
}

#[test]
fn a_pass_that_ends_early_ends_the_arrivals_too() {
    let cold = |latency_ns| {
        let mut sim = paced(Sim::new(1, 1, move |_| Step::ok(latency_ns)));
        sim.cell.cache = Cache::Cold;
        sim.objects = objects(20, 4_096);
        sim.run()
    };
    let fast = cold(MS / 10);
    assert_eq!((fast.outcome.clone(), counts(&fast)), (Outcome::Exhausted, [20, 20, 0]));
    assert_eq!(fast.window_ns, 19 * MS + MS / 10);
    // The last of the pass ends at 40 ms, when 20 more had arrived: half of what was offered.
    let slow = cold(2 * MS);
    assert_eq!((slow.outcome.clone(), counts(&slow)), (Outcome::Exhausted, [40, 20, 20]));
}

#[test]
fn a_signal_ends_a_paced_load_and_what_was_to_come_is_not_counted() {
    let stop: Arc<AtomicBool> = Arc::default();
    let raise = Arc::clone(&stop);
    let mut sim = paced(Sim::new(1, 1, move |n| {
        raise.store(n == 10, Ordering::Relaxed);
        Step::ok(MS / 10)
    }));
    sim.stop = stop;
    let rep = sim.run();
    assert_eq!((rep.outcome.clone(), counts(&rep)), (Outcome::Interrupted, [11, 11, 0]));
}

#[test]
fn nothing_but_failures_ends_a_paced_load_as_failed() {
    let error = Fault::Error(OpError { kind: ErrorKind::NotFound, code: 2 });
    let mut sim = paced(Sim::new(2, 2, move |_| Step { latency_ns: 1, fault: Some(error) }));
    sim.cell.load = load(1e6, Arrivals::Constant);
    let rep = sim.run();
    assert!(matches!(rep.outcome, Outcome::Failed { .. }), "{:?}", rep.outcome);
    assert_eq!(counts(&rep), [1_000, 0, 0]);
}

#[test]
fn a_share_of_the_line_is_offered_in_operations_of_mean_size() {
    let mut sim = Sim::new(64, 64, |_| Step::ok(MS / 10));
    // The line is 1 GB/s, and files of 10,000 B are read in three blocks.
    let rate = Rate::OfLine { share: 0.01 };
    sim.cell.load = Load::Paced(Pace { rate, arrivals: Arrivals::Constant, spin_ns: 0 });
    let rep = sim.run();
    assert_eq!((rep.counters["offered_bps"], counts(&rep)), (10_000_000, [300, 300, 0]));
}

#[test]
fn a_closed_loop_records_nothing_of_arrivals() {
    let rep = Sim::new(1, 1, |_| Step::ok(MS)).run();
    assert_eq!(rep.histograms.keys().collect::<Vec<_>>(), ["service_ns"]);
    let names = ["arrivals", "served", "not_issued", "given_up", "offered_bps", "entries"];
    assert!(names.iter().all(|name| !rep.counters.contains_key(*name)), "{:?}", rep.counters);
}

/// On the machine's clock and the null target: counts only.
fn real(ops_per_s: f64, arrivals: Arrivals) -> Sim {
    let mut sim = Sim::on(NullStore::default(), &Clock::real(), 4);
    let rate = Rate::Bytes { per_s: ops_per_s * 10_000.0 / 3.0 };
    sim.cell.load = Load::Paced(Pace { rate, arrivals, spin_ns: 60 * US });
    sim
}

#[test]
fn threads_share_one_schedule_and_read_every_block_once() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson, STEPWISE] {
        let mut sim = real(100_000.0, arrivals);
        sim.cell.threads = 2;
        sim.limit = Limit::Epochs { epochs: 1 };
        let rep = sim.run();
        assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (3_000, 10_000_000));
        let [arrivals, served, not_issued] = counts(&rep);
        assert_eq!((served, arrivals), (3_000, served + not_issued));
    }
}

#[test]
fn a_rate_beyond_all_issuing_is_counted_as_such() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson, STEPWISE] {
        let mut sim = real(1e11, arrivals);
        sim.limit = Limit::Duration { duration_ns: 300 * MS };
        let rep = sim.run();
        let [all, served, not_issued] = counts(&rep);
        assert_eq!((rep.outcome, all), (Outcome::Complete, served + not_issued));
        assert!((all as f64 / 3e10 - 1.0).abs() < 0.01 && not_issued > 0, "{all} arrivals");
    }
}
