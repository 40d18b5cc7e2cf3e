//! Runs that were interrupted and are gone on with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError, SharedStore};
use engine::{Bench, Event, Progress};
use plan::Cell;
use record::{NotRun, Outcome, Rep, Role};

use crate::run::settings;
use crate::{MS, SEED, cell, setup};

/// What a test stops at.
struct WentAstray(String);

/// Repetitions in the order in which they were made or passed over, and what was left.
struct Made {
    reps: Vec<Rep>,
    passed_over: usize,
    not_run: Vec<NotRun>,
}

impl Made {
    /// All that does not depend on when it was made.
    fn without_times(&self) -> Vec<Rep> {
        let timeless = |rep: &Rep| Rep {
            order: 0,
            window_start_ns: 0,
            window_unix_ns: None,
            usage: record::Usage::default(),
            system: record::System::default(),
            cache: record::CacheProof::default(),
            ..rep.clone()
        };
        self.reps.iter().map(timeless).collect()
    }
}

/// Measures `cells` on a device of 16 channels of 1 ms each, and then two of them afresh, until `most` repetitions were
/// made. Its server refuses all from 160 ms to 900 ms of the run's clock, where `goes_away`.
fn run(cells: &[Cell], before: &[Rep], most: usize, goes_away: bool) -> Result<Made, WentAstray> {
    let clock = Clock::simulated();
    clock.advance_to(before.iter().map(|rep| rep.window_start_ns + rep.window_ns).max().unwrap_or(0));
    let now = clock.clone();
    let refused = Fault::Error(OpError { kind: ErrorKind::Connect, code: 111 });
    let step = move |_| {
        let is_away = goes_away && (160 * MS..900 * MS).contains(&now.now_ns());
        Step { latency_ns: MS, fault: is_away.then_some(refused) }
    };
    let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, step));
    let setup = setup(store, 3_200.0);
    let setups = vec![setup; cells.len()];
    let (stop, progress) = (AtomicBool::new(most == 0), Progress::default());
    let mut bench = Bench::new(cells, &setups, settings(), &clock, &stop, &progress);
    bench.go_on_after(before.to_vec(), u32::from(!before.is_empty()));
    let (mut reps, mut passed_over) = (Vec::new(), 0);
    let mut take = |event: Event<'_>| {
        match event {
            Event::Rep(rep, _) => reps.push(*rep),
            Event::Made(rep) => {
                reps.push(*rep);
                passed_over += 1;
            }
            Event::Astray { made, cell } => {
                return Err(WentAstray(format!("{} for {}", made.cell, cell.slug)));
            }
            Event::Begin { .. } | Event::Ceiling(_) | Event::Away { .. } => {}
        }
        stop.store(reps.len() >= most, Ordering::Relaxed);
        Ok(())
    };
    let mut not_run = bench.measure(0, &mut take)?;
    not_run.extend(bench.confirm(&[0, 1], 0..2, &mut take)?);
    not_run.extend(bench.confirm(&[0, 1], 2..4, &mut take)?);
    Ok(Made { reps, passed_over, not_run })
}

fn whole(cells: &[Cell], before: &[Rep], goes_away: bool) -> Made {
    run(cells, before, usize::MAX, goes_away).unwrap_or_else(|WentAstray(why)| panic!("{why}"))
}

/// Cells of three depths, and of a search for the depth.
fn kinds() -> [Vec<Cell>; 2] {
    let searched = [1, 2, 4, 8].map(|depth| Cell { auto_group: Some(0), ..cell(depth) });
    [[1, 2, 4].map(cell).into(), searched.into()]
}

/// A run of `cells` that is stopped after `most` repetitions, and gone on with.
fn stopped_after(most: usize, cells: &[Cell], goes_away: bool) -> Made {
    let Ok(begun) = run(cells, &[], most, goes_away) else { panic!("nothing was made before") };
    assert_eq!(begun.reps.len(), most);
    let gone_on = whole(cells, &begun.reps, goes_away);
    assert_eq!(gone_on.passed_over, most);
    let orders: Vec<u32> = gone_on.reps.iter().map(|rep| rep.order).collect();
    assert_eq!(orders, (0..orders.len() as u32).collect::<Vec<_>>());
    gone_on
}

#[test]
fn a_run_that_is_gone_on_with_is_the_undisturbed_one() {
    for cells in kinds() {
        let undisturbed = whole(&cells, &[], false);
        for most in 0..=undisturbed.reps.len() {
            let gone_on = stopped_after(most, &cells, false);
            assert!(gone_on.without_times() == undisturbed.without_times(), "after {most}");
            assert_eq!(gone_on.not_run, undisturbed.not_run);
        }
    }
}

#[test]
fn none_is_lost_or_made_twice_where_a_server_goes_away_too() {
    // What counts: an outage is met at other times.
    let counted = |made: &Made| -> Vec<(String, bool, u32)> {
        let counted = made.reps.iter().filter(|rep| rep.outage.is_none());
        let mut all: Vec<_> =
            counted.map(|rep| (rep.cell.clone(), rep.role == Role::Confirm, rep.rep)).collect();
        all.sort();
        all
    };
    for cells in kinds() {
        let undisturbed = whole(&cells, &[], true);
        for most in 0..=undisturbed.reps.len() {
            let gone_on = stopped_after(most, &cells, true);
            assert_eq!(counted(&gone_on), counted(&undisturbed), "after {most}");
            assert_eq!(gone_on.not_run, undisturbed.not_run);
        }
    }
}

#[test]
fn a_repetition_that_a_signal_ended_is_made_again() {
    let cells = [1, 2, 4].map(cell);
    let undisturbed = whole(&cells, &[], false);
    let mut before = undisturbed.reps[..4].to_vec();
    before[3].outcome = Outcome::Interrupted;
    let gone_on = whole(&cells, &before, false);
    assert_eq!((gone_on.passed_over, gone_on.reps[3].order), (3, 4), "it keeps its place");
    assert!(gone_on.without_times() == undisturbed.without_times());
}

#[test]
fn a_record_of_another_plan_is_noticed() {
    let cells = [1, 2, 4].map(cell);
    let before = whole(&cells, &[], false).reps;
    let Err(WentAstray(why)) = run(&[1, 2, 8].map(cell), &before, usize::MAX, false) else {
        panic!("it was taken for its own");
    };
    assert!(why.contains(" for "), "{why}");
}
