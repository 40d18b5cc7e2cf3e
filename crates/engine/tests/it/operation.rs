//! Whole files, looks and listings: what each counts, and what it asks of the caches.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use backend::null::NullStore;
use backend::simulated::{Fault, Simulated, Step};
use backend::{CacheAction, Clock, ErrorKind, OpError};
use dataset::Data;
use engine::{Bench, CellSetup, Event, Progress};
use plan::{Arrivals, Cache, Cell, Limit, Load, Pace, Rate, Task};

use crate::{MS, SEED, Sim, cell, histogram, objects, settings};

const PHASES: [&str; 4] = ["open_ns", "stat_ns", "read_ns", "close_ns"];

fn sim(task: Task, script: impl Fn(u64) -> Step + Send + Sync + 'static) -> Sim {
    let mut sim = Sim::new(1, 1, script);
    sim.cell.task = task;
    sim
}

#[test]
fn whole_files_count_their_bytes_and_the_phases_of_each() {
    let rep = sim(Task::ReadFile, |_| Step::ok(4 * MS)).run();
    assert_eq!((rep.counters["started"], rep.counters["ops"], rep.counters["bytes"]), (25, 24, 240_000));
    for phase in PHASES {
        let phase_ns = histogram(&rep, phase);
        assert_eq!((phase_ns.len(), phase_ns.count_at(MS)), (25, 25), "{phase}");
    }
}

#[test]
fn a_file_that_failed_has_no_phases_and_is_counted() {
    let error = Some(Fault::Error(OpError { kind: ErrorKind::Changed, code: 0 }));
    let script = move |n| Step { latency_ns: 4 * MS, fault: error.filter(|_| n % 5 == 0) };
    let rep = sim(Task::ReadFile, script).run();
    assert_eq!((rep.errors["changed"], rep.counters["started"]), (5, 20));
    assert!(PHASES.iter().all(|phase| histogram(&rep, phase).len() == 20));
}

#[test]
fn files_begun_in_the_warm_up_have_no_phases_and_their_last_piece_is_checked() {
    // Every file ends in a piece of 1,808 B at 8,192 B, as the third of its pieces.
    let script = |n| Step { latency_ns: 4 * MS, fault: (n == 3).then_some(Fault::Corrupt) };
    let mut sim = sim(Task::ReadFile, script);
    sim.warmup_ns = 40 * MS;
    let rep = sim.run();
    // The tenth ends as the window opens.
    assert_eq!((rep.counters["warmup_ops"], rep.counters["verified"], rep.errors["corrupt"]), (10, 8, 1));
    assert_eq!(histogram(&rep, "open_ns").len(), 25);
}

#[test]
fn looks_and_listings_move_no_bytes() {
    let stat = sim(Task::Stat, |_| Step::ok(MS)).run();
    assert_eq!((stat.counters["ops"], stat.counters["bytes"], stat.counters["verified"]), (99, 0, 0));
    assert!(!stat.counters.contains_key("entries"));
    // The simulated folder holds all thousand files.
    let list = sim(Task::List, |_| Step::ok(MS)).run();
    assert_eq!((list.counters["ops"], list.counters["bytes"], list.counters["entries"]), (99, 0, 99_000));
    assert!(list.second_bytes.iter().all(|bytes| *bytes == 0));
}

#[test]
fn a_cold_pass_looks_at_every_name_once() {
    let cold = |task| {
        let mut sim = sim(task, |_| Step::ok(MS / 100));
        sim.cell.cache = Cache::Cold;
        sim.objects = objects(2_500, 10_000);
        sim.run()
    };
    assert_eq!(cold(Task::Stat).counters["ops"], 2_500);
    assert_eq!(cold(Task::List).counters["ops"], 3, "a thousand files to a folder");
    assert_eq!(cold(Task::ReadFile).counters["bytes"], 25_000_000);
}

#[test]
fn caches_are_set_for_what_is_done() {
    use CacheAction::{Evict, EvictNames, Inspect, Warm, WarmNames};
    use Task::{List, Read, ReadFile, Stat};
    let expected: &[(Task, Cache, &[CacheAction])] = &[
        (Read, Cache::Cold, &[Evict]),
        (ReadFile, Cache::Cold, &[EvictNames]),
        (Stat, Cache::Cold, &[EvictNames]),
        (List, Cache::Cold, &[EvictNames]),
        (Read, Cache::Warm, &[Evict, Warm]),
        (ReadFile, Cache::Warm, &[Evict, Warm, WarmNames]),
        (Stat, Cache::Warm, &[WarmNames]),
        (List, Cache::Warm, &[WarmNames]),
        (Read, Cache::DontCache, &[Evict]),
        (ReadFile, Cache::DontCache, &[Evict]),
        (ReadFile, Cache::Bypass, &[Inspect]),
    ];
    for (task, cache, actions) in expected {
        let clock = Clock::simulated();
        let store = Simulated::new(&clock, 1, SEED, |_| Step::ok(MS));
        let mut sim = Sim::on(store.clone(), &clock, 1);
        (sim.cell.task, sim.cell.cache) = (task.clone(), *cache);
        sim.run();
        let asked = store.cache_actions();
        // Every repetition looks at the end.
        assert_eq!(asked.split_last(), Some((&Inspect, *actions)), "{task:?} {cache:?}");
    }
}

#[test]
fn a_search_over_looks_ends_where_depth_gains_nothing_and_not_by_the_line() {
    let cells: Vec<Cell> = [4, 8, 16, 32, 64, 128]
        .map(|depth| Cell { auto_group: Some(0), task: Task::Stat, ..cell(depth) })
        .into();
    let clock = Clock::simulated();
    let store = Arc::new(Simulated::new(&clock, 16, SEED, |_| Step::ok(MS)));
    let setup = CellSetup {
        copy_to: None,
        beside: None,
        server: None,
        store,
        data: Arc::new(Data::files(objects(1_000, 4_096), None)),
        checkpoints: None,
        sample_bytes: 4_096.0,
        line_samples_per_s: 1.0,
    };
    let mut tried = 0;
    with_bench(&cells, &setup, &clock, |bench| {
        let mut count = |event: Event<'_>| -> Result<(), Infallible> {
            tried += u32::from(matches!(event, Event::Rep(..)));
            Ok(())
        };
        bench.measure(0, &mut count).unwrap();
    });
    // 16 channels: 32 and 64 gain nothing over 16.
    assert_eq!(tried, 5);
}

#[test]
fn a_paced_cell_shares_the_ceiling_of_its_closed_loop_and_a_look_has_its_own() {
    let pace = Pace { rate: Rate::OfLine { share: 1.0 }, arrivals: Arrivals::Constant, spin_ns: 0 };
    let cells = [
        cell(1),
        Cell { slug: "paced".to_owned(), load: Load::Paced(pace), ..cell(1) },
        Cell { slug: "stat".to_owned(), task: Task::Stat, cache: Cache::Warm, ..cell(1) },
    ];
    let clock = Clock::real();
    let setup = CellSetup {
        copy_to: None,
        beside: None,
        server: None,
        store: Arc::new(NullStore::default()),
        data: Arc::new(Data::files(objects(1_000, 4_096), None)),
        checkpoints: None,
        sample_bytes: 4_096.0,
        // A sample a second: were it paced, the window would hold no operation at all.
        line_samples_per_s: 1.0,
    };
    let mut ceilings = Vec::new();
    with_bench(&cells, &setup, &clock, |bench| {
        let mut keep = |event: Event<'_>| -> Result<(), Infallible> {
            if let Event::Ceiling(ceiling) = event {
                ceilings.push(ceiling);
            }
            Ok(())
        };
        bench.ceilings(&[0, 1, 2], &mut keep).unwrap();
    });
    let [read, stat] = ceilings.as_slice() else { panic!("{ceilings:?}") };
    assert_eq!(
        (&read.cells[..], &stat.cells[..]),
        (&[cells[0].slug.clone(), "paced".to_owned()][..], &["stat".to_owned()][..])
    );
    assert!(read.ops > 20 && stat.ops > 20 && read.bytes == read.ops * 4_096, "{ceilings:?}");
    assert_eq!((stat.bytes, stat.copies), (0, false));
}

fn with_bench(cells: &[Cell], setup: &CellSetup, clock: &Clock, act: impl FnOnce(&mut Bench<'_>)) {
    let setups = vec![setup.clone(); cells.len()];
    let settings = settings(Limit::Duration { duration_ns: 100 * MS }, 1);
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    act(&mut Bench::new(cells, &setups, settings, clock, &stop, &progress));
}
