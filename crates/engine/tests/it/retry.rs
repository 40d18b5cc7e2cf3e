//! Failures that may pass: attempts, back-offs and what each counts, exact on the virtual clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError};
use engine::Server;
use plan::{Arrivals, Limit, Load, Pace, Rate};
use record::{Emulated, Outcome, Rep};

use crate::{MS, SEED, Sim, histogram};

/// Limit of the first back-off.
const BASE_NS: u64 = 50 * MS;

fn fails(kind: ErrorKind) -> Fault {
    Fault::Error(OpError { kind, code: 503 })
}

/// One operation at a time of 1 ms, of which those that `failing` says are refused; ended by their number.
fn sim(retries: u32, failing: impl Fn(u64) -> bool + Send + Sync + 'static) -> Sim {
    let script = move |n| Step { latency_ns: MS, fault: failing(n).then_some(fails(ErrorKind::Throttled)) };
    let mut sim = Sim::new(1, 1, script);
    sim.cell.retries = retries;
    sim.limit = Limit::Epochs { epochs: 1 };
    sim
}

fn counted(rep: &Rep, name: &str) -> u64 {
    rep.counters.get(name).copied().unwrap_or(0)
}

#[test]
fn a_refused_operation_is_attempted_again_and_its_latency_holds_the_back_off() {
    let rep = sim(2, |n| n == 10).run();
    assert_eq!((&rep.outcome, &rep.errors), (&Outcome::Complete, &BTreeMap::new()));
    // 1,000 files of three blocks, and one attempt more.
    let counters = |name: &str| rep.counters[name];
    assert_eq!([counters("ops"), counters("attempts"), counters("recovered")], [3_000, 3_001, 1]);
    assert_eq!(counters("attempt_errors/throttled"), 1);
    let back_off_ns = rep.window_ns - 3_001 * MS;
    assert!((1..=BASE_NS).contains(&back_off_ns), "{back_off_ns}");
    let service_ns = histogram(&rep, "service_ns");
    assert!(service_ns.equivalent(service_ns.max(), 2 * MS + back_off_ns));
    assert_eq!(service_ns.count_between(0, MS + MS / 100), 2_999);
    let attempt_ns = histogram(&rep, "attempt_ns");
    assert!(attempt_ns.len() == 3_001 && attempt_ns.equivalent(attempt_ns.max(), MS));
}

#[test]
fn an_operation_fails_after_its_last_attempt_and_once() {
    let rep = sim(2, |n| (10..13).contains(&n)).run();
    assert_eq!((counted(&rep, "ops"), rep.errors["throttled"]), (2_999, 1));
    let counts = ["attempts", "recovered", "attempt_errors/throttled"].map(|name| counted(&rep, name));
    assert_eq!(counts, [3_002, 0, 3]);
}

#[test]
fn what_another_attempt_cannot_mend_is_not_attempted_again() {
    let mut sim = Sim::new(1, 1, |n| Step {
        latency_ns: MS,
        fault: (n % 10 == 0).then_some(fails(ErrorKind::NotFound)),
    });
    (sim.cell.retries, sim.limit) = (5, Limit::Epochs { epochs: 1 });
    let rep = sim.run();
    assert_eq!((rep.errors["not_found"], counted(&rep, "attempts"), rep.window_ns), (300, 3_000, 3_000 * MS));
}

#[test]
fn without_retries_nothing_of_attempts_is_counted() {
    let rep = sim(0, |n| n == 10).run();
    assert_eq!((counted(&rep, "ops"), rep.errors["throttled"]), (2_999, 1));
    assert!(!rep.histograms.contains_key("attempt_ns"));
    assert!(rep.counters.keys().all(|name| !name.contains("attempt") && name != "recovered"));
}

#[test]
fn others_go_on_while_one_waits_and_it_keeps_its_slot() {
    // Two slots: while the first operation waits, the other makes one operation each millisecond.
    let script = |n| Step { latency_ns: MS, fault: (n == 0).then_some(fails(ErrorKind::Reset)) };
    let mut sim = Sim::new(2, 2, script);
    (sim.cell.retries, sim.limit) = (1, Limit::Duration { duration_ns: 100 * MS });
    let rep = sim.run();
    let service_ns = histogram(&rep, "service_ns");
    let waited_ns = service_ns.max() - 2 * MS;
    let lost = counted(&rep, "started").abs_diff(200 - waited_ns.div_ceil(MS) - 1);
    assert!(lost <= 1, "{} started, {waited_ns} ns waited", counted(&rep, "started"));
}

#[test]
fn what_waits_as_the_window_closes_is_given_its_last_error() {
    // Every attempt from 5 ms on is refused, and there are attempts enough.
    let script = |n| Step { latency_ns: MS, fault: (n >= 5).then_some(fails(ErrorKind::Throttled)) };
    let mut sim = Sim::new(1, 1, script);
    (sim.cell.retries, sim.limit) = (1_000, Limit::Duration { duration_ns: 60_000 * MS });
    let rep = sim.run();
    assert_eq!((counted(&rep, "ops"), rep.errors["throttled"]), (5, 1), "one operation, refused all along");
    assert_eq!(counted(&rep, "attempt_errors/throttled") + 5, counted(&rep, "attempts"));
    assert_eq!((rep.outcome, rep.window_ns), (Outcome::Complete, 60_000 * MS));
}

#[test]
fn attempts_at_what_began_in_the_warm_up_are_not_counted() {
    let mut sim = sim(2, |n| n % 100 == 0);
    (sim.warmup_ns, sim.limit) = (1_000 * MS, Limit::Duration { duration_ns: 1_000 * MS });
    let rep = sim.run();
    assert_eq!(
        counted(&rep, "attempts"),
        counted(&rep, "started") + counted(&rep, "attempt_errors/throttled")
    );
    assert_eq!(histogram(&rep, "attempt_ns").len(), counted(&rep, "attempts"));
    assert_eq!(counted(&rep, "recovered"), counted(&rep, "attempt_errors/throttled"));
    assert!(counted(&rep, "recovered") > 0);
}

#[test]
fn a_paced_operation_is_answered_from_its_intended_time_on() {
    let mut sim = sim(1, |n| n == 3);
    let pace = Pace { rate: Rate::Bytes { per_s: 333_333.33 }, arrivals: Arrivals::Constant, spin_ns: 0 };
    (sim.cell.load, sim.limit) = (Load::Paced(pace), Limit::Duration { duration_ns: 1_000 * MS });
    let rep = sim.run();
    let (service_ns, response_ns) = (histogram(&rep, "service_ns"), histogram(&rep, "response_ns"));
    assert_eq!(counted(&rep, "recovered"), 1);
    assert!(service_ns.max() > MS && response_ns.max() >= service_ns.max());
    assert_eq!(counted(&rep, "arrivals"), counted(&rep, "served"));
}

#[test]
fn a_storm_of_refusals_does_not_make_the_worker_spin() {
    let mut sim = sim(0, |_| true);
    sim.limit = Limit::Duration { duration_ns: 60_000 * MS };
    let rep = sim.run();
    // Were it to go on at once, 60,000 operations of 1 ms would fail, or 1,000 end it. From the eighth on each is
    // followed by a pause, the longest of them 5 s.
    let failed = rep.errors["throttled"];
    assert!((10..100).contains(&failed), "{failed} operations");
    assert_eq!((&rep.outcome, rep.window_ns, counted(&rep, "ops")), (&Outcome::Complete, 60_000 * MS, 0));
}

#[test]
fn a_storm_that_passes_is_forgotten() {
    let rep = sim(0, |n| (100..120).contains(&n)).run();
    assert_eq!((counted(&rep, "ops"), rep.errors["throttled"]), (2_980, 20));
    let paused_ns = rep.window_ns - 3_000 * MS;
    assert!(paused_ns > 0 && paused_ns < 13 * 5_000 * MS, "{paused_ns}");
}

#[test]
fn the_same_seed_waits_the_same_times() {
    let window_ns = |seed| {
        let mut sim = sim(3, |n| n % 7 == 0);
        sim.cell.seed = seed;
        sim.run().window_ns
    };
    assert_eq!(window_ns(3), window_ns(3));
    assert_ne!(window_ns(3), window_ns(4));
}

#[derive(Default)]
struct Counts {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Server for Counts {
    fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self) -> Emulated {
        self.ended.fetch_add(1, Ordering::Relaxed);
        Emulated { requests: 11, ..Emulated::default() }
    }
}

#[test]
fn a_server_of_ours_is_told_of_a_repetition_and_of_its_end() {
    let server = Arc::new(Counts::default());
    let mut sim = sim(0, |_| false);
    sim.server = Some(Arc::clone(&server) as Arc<dyn Server>);
    assert_eq!(sim.run().emulated.map(|emulated| emulated.requests), Some(11));
    let clock = Clock::simulated();
    let broken = Step { latency_ns: MS, fault: Some(Fault::Break) };
    let mut sim = Sim::on(Simulated::new(&clock, 1, SEED, move |_| broken), &clock, 1);
    sim.server = Some(Arc::clone(&server) as Arc<dyn Server>);
    assert!(matches!(sim.run().outcome, Outcome::Failed { .. }));
    assert_eq!([&server.begun, &server.ended].map(|count| count.load(Ordering::Relaxed)), [2, 2]);
}
