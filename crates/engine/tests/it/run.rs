//! Whole runs: rounds, searches, confirmation, budget.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, SharedStore};
use dataset::Data;
use engine::{Bench, BenchSettings, CellSetup, Event, Progress, Turn};
use plan::{Cell, CellOrder, Limit, Measure};
use record::{NotRun, Outcome, Rep, Reread, Role};

use crate::{MS, SEED, cell, objects, setup};

struct Made {
    reps: Vec<Rep>,
    not_run: Vec<NotRun>,
    /// Reads and bytes that a display was shown.
    shown: (u64, u64),
}

/// Runs `cells` on a device with 16 channels of 1 ms each: 1,000 samples of one block per second and channel.
fn run(cells: &[Cell], line_samples_per_s: f64, budget_ns: Option<u64>, stop_after: Option<usize>) -> Made {
    run_within(cells, line_samples_per_s, (budget_ns, 0), stop_after)
}

/// Runs them within a budget of which time for some repetitions is kept back.
fn run_within(
    cells: &[Cell],
    line_samples_per_s: f64,
    (budget_ns, kept_back): (Option<u64>, u64),
    stop_after: Option<usize>,
) -> Made {
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, |_| Step::ok(MS)));
    let setup = setup(store, line_samples_per_s);
    let setups = vec![setup; cells.len()];
    let stop = AtomicBool::new(false);
    let progress = Progress::default();
    let settings = BenchSettings { measure: Measure { budget_ns, ..settings().measure }, ..settings() };
    let mut bench = Bench::new(cells, &setups, settings, &clock, &stop, &progress);
    let mut reps = Vec::new();
    let not_run = bench
        .measure::<Infallible>(kept_back, &mut |event| {
            if let Event::Rep(rep, _) = event {
                reps.push(*rep);
                stop.store(stop_after.is_some_and(|after| reps.len() >= after), Ordering::Relaxed);
            }
            Ok(())
        })
        .unwrap();
    Made { reps, not_run, shown: progress.get() }
}

pub(crate) fn settings() -> BenchSettings {
    let settings = crate::settings(Limit::Duration { duration_ns: 100 * MS }, 3);
    let measure = Measure { warmup_ns: 10 * MS, cell_order: CellOrder::Random, ..settings.measure };
    BenchSettings { measure, ..settings }
}

#[test]
fn what_is_shown_while_it_runs_is_in_the_end_what_was_counted() {
    let made = run(&[1, 4].map(cell), 1e9, None, None);
    let sum = |counter: &str| made.reps.iter().map(|rep| rep.counters[counter]).sum::<u64>();
    assert!(made.shown.0 > 0);
    assert_eq!(made.shown, (sum("ops"), sum("bytes")));
}

#[test]
fn every_cell_is_repeated_and_numbered_in_the_order_of_execution() {
    let cells: Vec<Cell> = [1, 2, 4].map(cell).into();
    let made = run(&cells, 1e9, None, None);
    assert_eq!(made.reps.len(), 9);
    assert!(made.reps.iter().enumerate().all(|(index, rep)| rep.order == index as u32));
    for depth in [1, 2, 4] {
        let of_cell: Vec<&Rep> = made.reps.iter().filter(|rep| rep.cell == cell(depth).slug).collect();
        assert_eq!(of_cell.iter().map(|rep| rep.rep).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(of_cell.iter().all(|rep| rep.role == Role::Measure && rep.outcome == Outcome::Complete));
        assert!(of_cell.iter().all(|rep| rep.counters["ops"] == u64::from(depth) * 100));
    }
    assert!(made.not_run.is_empty());
}

#[test]
fn a_search_stops_above_the_line_and_measures_only_what_it_tried() {
    let cells: Vec<Cell> =
        [1, 2, 4, 8, 16, 32].map(|depth| Cell { auto_group: Some(0), ..cell(depth) }).into();
    // Depth 4 reaches 4,000 samples/s: 1.25 times the line of 3,200.
    let made = run(&cells, 3_200.0, None, None);
    let deepest = made.reps.iter().filter(|rep| rep.cell == cell(4).slug).count();
    assert_eq!((made.reps.len(), deepest), (9, 3));
    assert_eq!(made.not_run.len(), 3);
    assert!(made.not_run.iter().all(|left| left.reason.starts_with("auto: ")));
}

#[test]
fn a_search_ends_where_depth_gains_nothing() {
    let cells: Vec<Cell> =
        [4, 8, 16, 32, 64, 128, 256].map(|depth| Cell { auto_group: Some(0), ..cell(depth) }).into();
    let made = run(&cells, 1e9, None, None);
    // 16 channels: 32 and 64 gain nothing over 16.
    assert_eq!(made.reps.iter().filter(|rep| rep.rep == 0).count(), 5);
}

#[test]
fn a_budget_that_is_spent_lists_what_is_left() {
    let cells: Vec<Cell> = [1, 2].map(cell).into();
    let made = run(&cells, 1e9, Some(700 * MS), None);
    let left: u32 = made.not_run.iter().map(|left| left.repetitions).sum();
    assert!(!made.reps.is_empty() && made.reps.len() < 6, "{}", made.reps.len());
    assert_eq!(made.reps.len() + left as usize, 6);
    assert!(made.not_run.iter().all(|left| left.reason == "budget"));
}

#[test]
fn what_is_kept_back_for_the_confirmation_leaves_half_of_the_budget_to_what_is_confirmed() {
    let cells: Vec<Cell> = [1, 2].map(cell).into();
    let made = |kept_back| run_within(&cells, 1e9, (Some(1_000 * MS), kept_back), None).reps.len();
    assert_eq!(made(0), 6);
    assert!((1..6).contains(&made(1_000)), "{}", made(1_000));
    assert_eq!(made(1_000), made(10_000));
}

#[test]
fn a_signal_between_repetitions_lists_what_is_left() {
    let cells: Vec<Cell> = [1, 2].map(cell).into();
    let made = run(&cells, 1e9, None, Some(4));
    assert_eq!(made.reps.len(), 4);
    assert_eq!(made.not_run.iter().map(|left| left.repetitions).sum::<u32>(), 2);
    assert!(made.not_run.iter().all(|left| left.reason == "interrupted"));
}

#[test]
fn a_confirmation_is_fresh_and_of_the_chosen_cells_alone() {
    let cells: Vec<Cell> = [1, 2].map(cell).into();
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, |n| Step {
        latency_ns: MS,
        fault: (n == 5).then_some(Fault::Break),
    }));
    let setup = CellSetup {
        copy_to: None,
        beside: None,
        server: None,
        store,
        data: Arc::new(Data::files(objects(1_000, 4_096), None)),
        checkpoints: None,
        sample_bytes: 4_096.0,
        line_samples_per_s: 1e9,
    };
    let setups = vec![setup; 2];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(&cells, &setups, settings(), &clock, &stop, &progress);
    let mut reps: Vec<Rep> = Vec::new();
    let mut keep = |event: Event<'_>| -> Result<(), Infallible> {
        if let Event::Rep(rep, _) = event {
            reps.push(*rep);
        }
        Ok(())
    };
    bench.measure(0, &mut keep).unwrap();
    bench.confirm(&[1], 0..3, &mut keep).unwrap();
    let confirmed: Vec<&Rep> = reps.iter().filter(|rep| rep.role == Role::Confirm).collect();
    assert_eq!(
        confirmed.iter().map(|rep| (rep.rep, rep.order)).collect::<Vec<_>>(),
        [(0, 6), (1, 7), (2, 8)]
    );
    assert!(confirmed.iter().all(|rep| rep.cell == cells[1].slug));
    let failed = reps.iter().filter(|rep| matches!(rep.outcome, Outcome::Failed { .. })).count();
    assert_eq!((reps.len(), failed), (9, 1), "a failed repetition is a record, and the others go on");
}

/// Makes these repetitions, each after `start`.
fn once(settings: BenchSettings, turns: &[Turn], start: &(dyn Fn(u32) + Sync)) -> Vec<Rep> {
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, |_| Step::ok(MS)));
    let cells = [cell(1), cell(2)];
    let setup = setup(store, 1.0);
    let setups = vec![setup; cells.len()];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(&cells, &setups, settings, &clock, &stop, &progress);
    bench.start_by(start);
    let mut reps = Vec::new();
    for turn in turns {
        bench
            .once::<Infallible>(*turn, Role::Measure, &mut |event| {
                if let Event::Rep(rep, _) = event {
                    reps.push(*rep);
                }
                Ok(())
            })
            .unwrap();
    }
    reps
}

#[test]
fn a_repetition_that_is_asked_for_has_the_numbers_it_was_given() {
    let settings = BenchSettings {
        variant: "b".to_owned(),
        variants: plan::Share { index: 1, of: 2 },
        rank: plan::Share { index: 1, of: 3 },
        ..settings()
    };
    let turns = [Turn { cell: 1, rep: 0, round: 0, again: 0 }, Turn { cell: 0, rep: 4, round: 4, again: 0 }];
    let reps = once(settings, &turns, &|_| {});
    let numbers: Vec<_> = reps.iter().map(|rep| (rep.cell.clone(), rep.rep, rep.round, rep.order)).collect();
    assert_eq!(numbers, [(cell(2).slug, 0, 0, 0), (cell(1).slug, 4, 4, 1)]);
    let of_whom = |rep: &Rep| (rep.variant.as_str().to_owned(), rep.rank, rep.ranks, rep.role);
    assert!(reps.iter().all(|rep| of_whom(rep) == ("b".to_owned(), 1, 3, Role::Measure)));
    assert!(reps.iter().all(|rep| rep.outcome == Outcome::Complete && rep.errors.is_empty()));
}

#[test]
fn every_repetition_waits_for_its_place_in_the_run() {
    let asked = std::sync::Mutex::new(Vec::new());
    let start = |place| asked.lock().unwrap().push(place);
    let turns = [0, 1, 2].map(|rep| Turn { cell: 0, rep, round: rep, again: 0 });
    assert_eq!(once(settings(), &turns, &start).len(), 3);
    assert_eq!(*asked.lock().unwrap(), [0, 1, 2]);
}

/// What a second reading finds of a cell on a device whose reads do what `script` says.
fn reread(seed: Option<u64>, script: impl Fn(u64) -> Step + Send + Sync + 'static) -> Vec<Reread> {
    let clock = Clock::simulated();
    let store = Arc::new(Simulated::new(&clock, 1, SEED, script));
    let setup = CellSetup {
        copy_to: None,
        beside: None,
        server: None,
        store: Arc::clone(&store) as SharedStore,
        data: Arc::new(Data::files(objects(100_000, 4_096), seed)),
        checkpoints: None,
        sample_bytes: 4_096.0,
        line_samples_per_s: 1e9,
    };
    let (cells, setups) = (vec![cell(1)], vec![setup]);
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(&cells, &setups, settings(), &clock, &stop, &progress);
    bench.measure::<Infallible>(0, &mut |_| Ok(())).unwrap();
    bench.reread(&[0], &*store)
}

#[test]
fn a_second_reading_finds_what_came_wrong_of_bytes_that_others_wrote() {
    let well = reread(None, |_| Step::ok(MS));
    assert_eq!(well.len(), 3, "each repetition has its share: {well:?}");
    assert!(well.iter().all(|of_rep| of_rep.wrong == 0 && of_rep.checked >= 8), "{well:?}");
    // The fourth read of the second repetition's warm-up; each makes 110 and leaves none outstanding.
    let once = |n| Step { latency_ns: MS, fault: (n == 115).then_some(Fault::Corrupt) };
    let wrong: Vec<(u32, u64)> =
        reread(None, once).iter().map(|of_rep| (of_rep.order, of_rep.wrong)).collect();
    assert_eq!(wrong, [(0, 0), (1, 1), (2, 0)]);
    assert_eq!(reread(Some(SEED), |_| Step::ok(MS)), [], "what feedline wrote is checked at once");
}

#[test]
fn a_search_that_leads_goes_by_the_mean_of_all() {
    let cells: Vec<Cell> = [1, 2, 4, 8, 16].map(|depth| Cell { auto_group: Some(0), ..cell(depth) }).into();
    // Alone, depth 4 clears the line of 3,200 with headroom; with another that gets half as much, depth 8 does.
    let deepest = |others: Option<f64>| {
        let clock = Clock::simulated();
        let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, |_| Step::ok(MS)));
        let setups = vec![setup(store, 3_200.0); cells.len()];
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let mut bench = Bench::new(&cells, &setups, settings(), &clock, &stop, &progress);
        let last = std::sync::Mutex::new(None::<Rep>);
        let made = || {
            let mut rep = last.lock().unwrap().clone().unwrap();
            for count in rep.counters.values_mut() {
                *count = (*count as f64 * others.unwrap_or(1.0)) as u64;
            }
            vec![rep]
        };
        if others.is_some() {
            bench.lead(&made);
        }
        let mut tried = Vec::new();
        bench
            .measure::<Infallible>(0, &mut |event| {
                if let Event::Rep(rep, _) = event {
                    tried.push(rep.cell.clone());
                    *last.lock().unwrap() = Some(*rep);
                }
                Ok(())
            })
            .unwrap();
        [1, 2, 4, 8, 16].into_iter().filter(|depth| tried.contains(&cell(*depth).slug)).max()
    };
    assert_eq!((deepest(None), deepest(Some(1.0)), deepest(Some(0.5))), (Some(4), Some(4), Some(8)));
    // One that measures nothing ends the search, as its failure would.
    assert_eq!(deepest(Some(0.0)), Some(1));
}

#[test]
fn a_repetition_that_fails_before_its_threads_start_waits_for_the_others_all_the_same() {
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 1, SEED, |_| Step::ok(MS)));
    // A checkpoint without a place to write it to.
    let checkpoint = plan::Checkpoint {
        label: "1 MiB".to_owned(),
        files: 1,
        file_bytes: 1 << 20,
        to: 0,
        durable: false,
        keep: 1,
        block_bytes: 1 << 20,
    };
    let cells = [Cell { task: plan::Task::Checkpoint(checkpoint), ..cell(1) }];
    let setups = vec![setup(store, 1.0)];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let waits = std::sync::Mutex::new(Vec::new());
    let start = |order: u32| waits.lock().unwrap().push(order);
    let mut bench = Bench::new(&cells, &setups, settings(), &clock, &stop, &progress);
    bench.start_by(&start);
    let turn = Turn { cell: 0, rep: 0, round: 0, again: 0 };
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        bench
            .once::<Infallible>(turn, Role::Measure, &mut |event| {
                if let Event::Rep(rep, _) = event {
                    outcomes.push(rep.outcome.clone());
                }
                Ok(())
            })
            .unwrap();
    }
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Failed { .. })), "{outcomes:?}");
    assert_eq!(*waits.lock().unwrap(), [0, 1], "once for each");
}
