//! Servers that go away during a run, and come back or not.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError, SharedStore};
use engine::{Bench, Event, Progress};
use plan::Cell;
use record::{NotRun, Outage, Outcome, Rep};

use crate::run::settings;
use crate::{MS, SEED, cell, setup};

struct Made {
    reps: Vec<Rep>,
    not_run: Vec<NotRun>,
    /// How often a server was waited for.
    away: u32,
    ended_ns: u64,
}

impl Made {
    /// Repetitions that met an outage, and those that were made in their place or met none.
    fn sorted(&self) -> (Vec<&Rep>, Vec<&Rep>) {
        self.reps.iter().partition(|rep| rep.outage.is_some())
    }
}

/// Runs `cells` on a device of 16 channels of 1 ms each behind a server that refuses all in `away_ns`.
fn run(cells: &[Cell], away_ns: Range<u64>, stop_when_away: bool) -> Made {
    run_with(cells, away_ns, stop_when_away, &[])
}

/// The same by a process that is away at these times itself.
fn run_with(cells: &[Cell], away_ns: Range<u64>, stop_when_away: bool, suspended_ns: &[u64]) -> Made {
    let clock = Clock::simulated();
    let now = clock.clone();
    let refused = Fault::Error(OpError { kind: ErrorKind::Connect, code: 111 });
    let step = move |_| {
        let fault = away_ns.contains(&now.now_ns()).then_some(refused);
        Step { latency_ns: MS, fault }
    };
    let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, step));
    let setup = setup(store, 3_200.0);
    let setups = vec![setup; cells.len()];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(cells, &setups, settings(), &clock, &stop, &progress);
    let seen_ns = AtomicU64::new(0);
    let suspended = || {
        let until_ns = clock.now_ns();
        let since_ns = seen_ns.swap(until_ns, Ordering::Relaxed);
        suspended_ns.iter().any(|at_ns| (since_ns..until_ns).contains(at_ns))
    };
    bench.notice(&suspended);
    let (mut reps, mut away) = (Vec::new(), 0);
    let not_run = bench
        .measure::<Infallible>(0, &mut |event| {
            match event {
                Event::Rep(rep, _) => reps.push(*rep),
                Event::Away { .. } => {
                    away += 1;
                    stop.store(stop_when_away, Ordering::Relaxed);
                }
                Event::Begin { .. } | Event::Ceiling(_) | Event::Made(_) | Event::Astray { .. } => {}
            }
            Ok(())
        })
        .unwrap();
    Made { reps, not_run, away, ended_ns: clock.now_ns() }
}

fn cells() -> Vec<Cell> {
    [1, 2, 4].map(cell).into()
}

#[test]
fn what_meets_an_outage_is_made_again_after_the_last_round() {
    // The second repetition is half over as the server goes.
    let made = run(&cells(), 160 * MS..2_160 * MS, false);
    let (met, counted) = made.sorted();
    assert_eq!((met.len(), counted.len(), made.away), (1, 9, 1));
    assert!(met[0].errors["connect"] > 0 && met[0].counters["ops"] > 0, "some of it came");
    let away_ns = met[0].outage.unwrap().away_ns;
    assert!((1_900 * MS..=2_600 * MS).contains(&away_ns), "{away_ns}");
    let last = counted.last().unwrap();
    assert_eq!((&last.cell, last.rep, last.role), (&met[0].cell, met[0].rep, met[0].role));
    assert_eq!((last.round, last.order), (3, 9), "in a round of its own");
    assert!(counted.iter().all(|rep| rep.outcome == Outcome::Complete && rep.errors.is_empty()));
    assert!(made.not_run.is_empty());
}

#[test]
fn what_this_process_was_away_in_is_made_again_after_the_last_round() {
    let made = run_with(&cells(), 0..0, false, &[160 * MS]);
    let (met, counted) = made.sorted();
    assert_eq!((met.len(), counted.len(), made.away), (1, 9, 0));
    assert_eq!(met[0].outage, Some(Outage { away_ns: 0, suspended: true }));
    assert!(matches!(met[0].outcome, Outcome::Failed { .. }), "its window went on by the clock");
    let last = counted.last().unwrap();
    assert_eq!((&last.cell, last.rep, last.round), (&met[0].cell, met[0].rep, 3), "in a round of its own");
    assert!(counted.iter().all(|rep| rep.outcome == Outcome::Complete));
}

#[test]
fn a_process_that_is_away_again_and_again_has_failed_repetitions_and_no_figures_of_them() {
    let always: Vec<u64> = (0..10_000).map(|n| n * MS).collect();
    let made = run_with(&cells(), 0..0, false, &always);
    let (met, counted) = made.sorted();
    assert_eq!((met.len(), counted.len()), (18, 9), "each is made three times");
    assert!(made.reps.iter().all(|rep| matches!(rep.outcome, Outcome::Failed { .. })));
}

#[test]
fn a_search_goes_on_with_what_an_outage_kept_from_it() {
    let searched: Vec<Cell> = [1, 2, 4, 8].map(|depth| Cell { auto_group: Some(0), ..cell(depth) }).into();
    let undisturbed = run(&searched, 0..0, false);
    let made = run(&searched, 120 * MS..900 * MS, false);
    let measured = |made: &Made| -> Vec<(String, u32)> {
        made.sorted().1.iter().map(|rep| (rep.cell.clone(), rep.rep)).collect()
    };
    assert_eq!((made.sorted().0.len(), measured(&made)), (1, measured(&undisturbed)));
    assert_eq!(made.not_run, undisturbed.not_run);
}

#[test]
fn a_server_that_stays_away_is_waited_for_once() {
    let made = run(&cells(), 0..u64::MAX, false);
    assert_eq!((made.reps.len(), made.away, made.sorted().0.len()), (9, 1, 0));
    let (minutes, windows) = (300_000 * MS, 9 * 110 * MS);
    assert!((minutes - 1_000 * MS..minutes + 2 * windows).contains(&made.ended_ns), "{}", made.ended_ns);
    assert!(made.reps.iter().all(|rep| rep.errors["connect"] > 0 && rep.counters["ops"] == 0));
}

#[test]
fn a_signal_ends_the_wait_and_what_was_put_off_is_listed() {
    let made = run(&cells(), 160 * MS..u64::MAX, true);
    let left: u32 = made.not_run.iter().map(|left| left.repetitions).sum();
    assert_eq!((made.reps.len(), left), (2, 8), "the second is to be made again");
    assert!(made.not_run.iter().all(|left| left.reason == "interrupted"));
}
