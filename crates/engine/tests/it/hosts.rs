//! Cells in which some processes of a run take part, and the others none.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::null::NullStore;
use backend::simulated::{Simulated, Step};
use backend::{Clock, SharedStore};
use dataset::{Data, Key, Listed, Objects};
use engine::{Bench, BenchSettings, CellSetup, Event, Progress, Try, Turn};
use plan::{Cache, Cell, Limit, Load, Share, Task};
use record::{Outcome, Rep, Role, Trained, TrainedAccelerator};

use crate::training::JOB;
use crate::{MS, SEED, cell, objects, settings, setup};

/// Processes of the run.
const PROCESSES: u32 = 4;

/// What the processes made that one leads.
type Others<'a> = &'a (dyn Fn() -> Vec<Rep> + Sync);

/// Lets the process of this rank work on cells that all read `data`.
fn with_bench<T>(
    (rank, others): (u32, Option<Others<'_>>),
    cells: &[Cell],
    data: Data,
    limit: Limit,
    work: impl FnOnce(&mut Bench<'_>, &mut dyn FnMut(Event<'_>) -> Result<(), Infallible>) -> T,
) -> (T, Vec<Rep>) {
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, |_| Step::ok(MS)));
    let setups = vec![CellSetup { data: Arc::new(data), ..setup(store, 1e9) }; cells.len()];
    let settings =
        BenchSettings { rank: Share { index: rank, of: PROCESSES }, searches: true, ..settings(limit, 1) };
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(cells, &setups, settings, &clock, &stop, &progress);
    if let Some(others) = others {
        bench.lead(others);
    }
    let mut reps = Vec::new();
    let done = work(&mut bench, &mut |event| {
        if let Event::Rep(rep, _) = event {
            reps.push(*rep);
        }
        Ok(())
    });
    (done, reps)
}

/// Files of which each is twice as large as the one before: the bytes that were read tell which of them were.
fn powers() -> Data {
    let mut listed = Listed::default();
    for power in 0..12 {
        assert!(listed.push(&Key::new(format!("d/{power}")).unwrap(), 1 << power));
    }
    Data::files(Arc::new(Objects::Listed(listed)), Some(SEED))
}

#[test]
fn processes_that_take_part_share_the_whole_dataset_and_none_of_it_twice() {
    for hosts in 1..=PROCESSES {
        let cells = [Cell { ranks: Some(hosts), cache: Cache::Cold, ..cell(1) }];
        let read = |rank: u32| {
            let once = |bench: &mut Bench<'_>, emit: &mut dyn FnMut(Event<'_>) -> Result<(), Infallible>| {
                let Ok(()) = bench.once(Turn { cell: 0, rep: 0, round: 0, again: 0 }, Role::Measure, emit);
            };
            let ((), reps) = with_bench((rank, None), &cells, powers(), Limit::Epochs { epochs: 1 }, once);
            assert_eq!((reps[0].rank, reps[0].ranks), (rank, hosts));
            reps[0].counters["bytes"]
        };
        let parts: Vec<u64> = (0..hosts).map(read).collect();
        assert_eq!(parts.iter().fold(0, |all, part| all | part), 4_095, "{parts:?}");
        assert_eq!(parts.iter().sum::<u64>(), 4_095, "{parts:?}");
    }
}

#[test]
fn who_takes_no_part_makes_nothing_and_goes_on_in_the_same_place() {
    let cells = [Cell { ranks: Some(2), ..cell(1) }, Cell { ranks: Some(PROCESSES), ..cell(2) }];
    let data = || Data::files(objects(100_000, 4_096), Some(SEED));
    let limit = Limit::Duration { duration_ns: 10 * MS };
    let turn = |cell| Turn { cell, rep: 0, round: 0, again: 0 };
    let ((), reps) = with_bench((3, None), &cells, data(), limit, |bench, emit| {
        bench.sit_out();
        let Ok(()) = bench.once(turn(1), Role::Measure, emit);
    });
    let places: Vec<(String, u32)> = reps.iter().map(|rep| (rep.cell.clone(), rep.order)).collect();
    assert_eq!(places, [(cells[1].slug.clone(), 1)], "the second of the run");
}

#[test]
fn who_takes_no_part_has_no_ceiling_to_measure() {
    let cells = [Cell { ranks: Some(2), ..cell(1) }, Cell { ranks: Some(3), ..cell(1) }, cell(1)];
    // The null target takes no time on a virtual clock, and its window would never end.
    let clock = Clock::real();
    let setups = vec![setup(Arc::new(NullStore::default()), 1e9); cells.len()];
    let measured = |rank: u32| {
        let settings = settings(Limit::Duration { duration_ns: MS }, 1);
        let settings = BenchSettings { rank: Share { index: rank, of: PROCESSES }, ..settings };
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let mut shapes = 0;
        let bench = Bench::new(&cells, &setups, settings, &clock, &stop, &progress);
        let Ok(()) = bench.ceilings::<Infallible>(&[0, 1, 2], &mut |event| {
            shapes += usize::from(matches!(event, Event::Ceiling(_)));
            Ok(())
        });
        shapes
    };
    // Of other numbers of processes they are others, which are added up.
    assert_eq!([0, 2, 3].map(measured), [3, 2, 1]);
}

/// What another process made, whose accelerator was busy for this share of the time; it failed without one.
fn other(au: Option<f64>) -> Rep {
    let outcome = au.map_or(Outcome::Failed { reason: "x".to_owned() }, |_| Outcome::Complete);
    let busy = TrainedAccelerator {
        wall_ns: 1_000,
        compute_ns: (au.unwrap_or(1.0) * 1e3) as u64,
        ..TrainedAccelerator::default()
    };
    Rep {
        trained: Some(Trained { accelerators: vec![busy], ..Trained::default() }),
        counters: BTreeMap::new(),
        ..Rep::empty("c", outcome)
    }
}

#[test]
fn a_search_goes_by_all_that_take_part_and_fails_where_one_of_them_does() {
    let job = Cell { load: Load::Training(JOB), task: Task::ReadFile, ranks: Some(3), ..cell(4) };
    let tried = |others: [Option<f64>; 2]| {
        let others = || others.map(other).to_vec();
        let data = Data::files(objects(2_000, 4_096), Some(SEED));
        let limit = Limit::Steps { steps: 20, otherwise_ns: 1 };
        let led: (u32, Option<Others<'_>>) = (0, Some(&others));
        let (came, reps) = with_bench(led, std::slice::from_ref(&job), data, limit, |bench, emit| {
            let Ok(came) = bench.try_once(0, emit);
            came
        });
        let [one] = &reps[0].trained.as_ref().unwrap().accelerators[..] else { panic!("one accelerator") };
        (came, one.compute_ns as f64 / one.wall_ns as f64)
    };
    let (came, own) = tried([Some(0.5), Some(0.25)]);
    let Try::Ended { au } = came else { panic!("{came:?}") };
    assert!((au - (own + 0.75) / 3.0).abs() < 1e-9 && own > 0.9, "{au}, of which its own {own}");
    assert_eq!(tried([Some(0.5), None]).0, Try::Failed);
}
