//! Servers that go away during a run, and come back or not.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError, SharedStore};
use engine::{Bench, BenchSettings, CellSetup, Event, Progress, Server, Try};
use plan::{Cell, Limit, Load, Task};
use record::{Emulated, NotRun, Outage, Outcome, Rep};

use crate::run::settings;
use crate::training::JOB;
use crate::{MS, SEED, cell, setup};

struct Made {
    reps: Vec<Rep>,
    not_run: Vec<NotRun>,
    /// When a server was said to be waited for.
    noticed_ns: Vec<u64>,
    ended_ns: u64,
}

impl Made {
    /// Repetitions that met an outage, and those that were made in their place or met none.
    fn sorted(&self) -> (Vec<&Rep>, Vec<&Rep>) {
        self.reps.iter().partition(|rep| rep.outage.is_some())
    }
}

/// What happens to a run on a device of 16 channels of 1 ms each.
struct Scene {
    settings: BenchSettings,
    /// When its server fails all operations, and how.
    away_ns: Range<u64>,
    kind: ErrorKind,
    /// Whether feedline started that server.
    is_own: bool,
    stop_when_away: bool,
    /// Times at which the process is away itself.
    suspended_ns: Vec<u64>,
}

impl Scene {
    /// One whose server refuses all connections at these times.
    fn away(away_ns: Range<u64>) -> Self {
        Self {
            settings: settings(),
            away_ns,
            kind: ErrorKind::Connect,
            is_own: false,
            stop_when_away: false,
            suspended_ns: Vec::new(),
        }
    }

    /// One repetition of 5 s that ends by its bytes, at this depth and with attempts as they are by default, whose server fails
    /// so.
    fn by_bytes(kind: ErrorKind, away_ns: Range<u64>) -> (Vec<Cell>, Self) {
        let settings = crate::settings(Limit::Bytes { bytes: 20_000 * 4_096 }, 1);
        let cells = vec![Cell { retries: 2, ..cell(4) }];
        (cells, Self { settings, kind, ..Self::away(away_ns) })
    }

    /// Plays what `run` does with its cells.
    fn play<T>(
        self,
        cells: &[Cell],
        run: impl FnOnce(&mut Bench<'_>, &mut dyn FnMut(Event<'_>) -> Result<(), Infallible>) -> T,
    ) -> (T, Made) {
        let clock = Clock::simulated();
        let now = clock.clone();
        let failed = Fault::Error(OpError { kind: self.kind, code: 111 });
        let step = move |_| {
            let fault = self.away_ns.contains(&now.now_ns()).then_some(failed);
            Step { latency_ns: MS, fault }
        };
        let store: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, step));
        let server = self.is_own.then(|| Arc::new(Own) as Arc<dyn Server>);
        let setups = vec![CellSetup { server, ..setup(store, 3_200.0) }; cells.len()];
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let mut bench = Bench::new(cells, &setups, self.settings, &clock, &stop, &progress);
        let seen_ns = AtomicU64::new(0);
        let suspended = || {
            let until_ns = clock.now_ns();
            let since_ns = seen_ns.swap(until_ns, Ordering::Relaxed);
            self.suspended_ns.iter().any(|at_ns| (since_ns..until_ns).contains(at_ns))
        };
        bench.notice(&suspended);
        let (mut reps, mut noticed_ns) = (Vec::new(), Vec::new());
        let came = run(&mut bench, &mut |event| {
            match event {
                Event::Rep(rep, _) => reps.push(*rep),
                Event::Away { .. } => {
                    noticed_ns.push(clock.now_ns());
                    stop.store(self.stop_when_away, Ordering::Relaxed);
                }
                Event::Begin { .. } | Event::Ceiling(_) | Event::Made(_) | Event::Astray { .. } => {}
            }
            Ok(())
        });
        (came, Made { reps, noticed_ns, not_run: Vec::new(), ended_ns: clock.now_ns() })
    }

    fn measure(self, cells: &[Cell]) -> Made {
        let (not_run, made) = self.play(cells, |bench, emit| bench.measure(0, emit).unwrap());
        Made { not_run, ..made }
    }
}

struct Own;

impl Server for Own {
    fn begin(&self) {}

    fn end(&self) -> Emulated {
        Emulated::default()
    }
}

fn run(cells: &[Cell], away_ns: Range<u64>) -> Made {
    Scene::away(away_ns).measure(cells)
}

fn cells() -> Vec<Cell> {
    [1, 2, 4].map(cell).into()
}

#[test]
fn what_meets_an_outage_is_made_again_after_the_last_round() {
    // The second repetition is half over as the server goes.
    let made = run(&cells(), 160 * MS..2_160 * MS);
    let (met, counted) = made.sorted();
    assert_eq!((met.len(), counted.len(), made.noticed_ns.len()), (1, 9, 1));
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
    let made = Scene { suspended_ns: vec![160 * MS], ..Scene::away(0..0) }.measure(&cells());
    let (met, counted) = made.sorted();
    assert_eq!((met.len(), counted.len(), made.noticed_ns.len()), (1, 9, 0));
    assert_eq!(met[0].outage, Some(Outage { away_ns: 0, suspended: true }));
    assert!(matches!(met[0].outcome, Outcome::Failed { .. }), "its window went on by the clock");
    let last = counted.last().unwrap();
    assert_eq!((&last.cell, last.rep, last.round), (&met[0].cell, met[0].rep, 3), "in a round of its own");
    assert!(counted.iter().all(|rep| rep.outcome == Outcome::Complete));
}

#[test]
fn a_process_that_is_away_again_and_again_has_failed_repetitions_and_no_figures_of_them() {
    let always = (0..10_000).map(|n| n * MS).collect();
    let made = Scene { suspended_ns: always, ..Scene::away(0..0) }.measure(&cells());
    let (met, counted) = made.sorted();
    assert_eq!((met.len(), counted.len()), (18, 9), "each is made three times");
    assert!(made.reps.iter().all(|rep| matches!(rep.outcome, Outcome::Failed { .. })));
}

#[test]
fn a_search_goes_on_with_what_an_outage_kept_from_it() {
    let searched: Vec<Cell> = [1, 2, 4, 8].map(|depth| Cell { auto_group: Some(0), ..cell(depth) }).into();
    let undisturbed = run(&searched, 0..0);
    let made = run(&searched, 120 * MS..900 * MS);
    let measured = |made: &Made| -> Vec<(String, u32)> {
        made.sorted().1.iter().map(|rep| (rep.cell.clone(), rep.rep)).collect()
    };
    assert_eq!((made.sorted().0.len(), measured(&made)), (1, measured(&undisturbed)));
    assert_eq!(made.not_run, undisturbed.not_run);
}

#[test]
fn a_server_that_stays_away_is_waited_for_once() {
    let made = run(&cells(), 0..u64::MAX);
    assert_eq!((made.reps.len(), made.noticed_ns.len(), made.sorted().0.len()), (9, 1, 0));
    let (minutes, windows) = (300_000 * MS, 9 * 110 * MS);
    assert!((minutes - 1_000 * MS..minutes + 2 * windows).contains(&made.ended_ns), "{}", made.ended_ns);
    assert!(made.reps.iter().all(|rep| rep.errors["connect"] > 0 && rep.counters["ops"] == 0));
}

#[test]
fn a_signal_ends_the_wait_and_what_was_put_off_is_listed() {
    let made = Scene { stop_when_away: true, ..Scene::away(160 * MS..u64::MAX) }.measure(&cells());
    let left: u32 = made.not_run.iter().map(|left| left.repetitions).sum();
    assert_eq!((made.reps.len(), left), (2, 8), "the second is to be made again");
    assert!(made.not_run.iter().all(|left| left.reason == "interrupted"));
}

#[test]
fn a_repetition_by_bytes_ends_in_seconds_where_there_is_no_server() {
    for kind in [ErrorKind::Connect, ErrorKind::Reset, ErrorKind::Truncated] {
        let (cells, scene) = Scene::by_bytes(kind, 1_000 * MS..61_000 * MS);
        let made = scene.measure(&cells);
        let (met, counted) = made.sorted();
        assert_eq!((met.len(), counted.len(), made.noticed_ns.len()), (1, 1, 1), "{kind}");
        // Three seconds after the first operation that failed all three of its attempts, or a tenth later, when the worker
        // looks again.
        let (last_ns, noticed_ns) = (1_000 * MS + 153 * MS, made.noticed_ns[0] - 3_000 * MS);
        assert!((1_000 * MS..=last_ns + 100 * MS + 3 * MS).contains(&noticed_ns), "{kind}: {noticed_ns}");
        assert!(matches!(met[0].outcome, Outcome::Failed { .. }) && met[0].errors[kind.name()] >= 4);
        assert_eq!((&counted[0].outcome, counted[0].counters["ops"]), (&Outcome::Complete, 20_000));
        assert!(counted[0].errors.is_empty());
    }
}

#[test]
fn a_server_that_answers_is_not_away_whatever_it_answers() {
    for kind in [ErrorKind::Throttled, ErrorKind::Server] {
        let (cells, scene) = Scene::by_bytes(kind, 1_000 * MS..31_000 * MS);
        let made = scene.measure(&cells);
        assert_eq!((made.reps.len(), made.noticed_ns.len(), made.sorted().0.len()), (1, 0, 0), "{kind}");
        let rep = &made.reps[0];
        assert!(rep.outcome == Outcome::Complete && rep.errors[kind.name()] > 4, "{kind}: {:?}", rep.errors);
    }
}

#[test]
fn what_a_server_of_feedlines_own_refuses_is_measured() {
    let (cells, scene) = Scene::by_bytes(ErrorKind::Connect, 1_000 * MS..31_000 * MS);
    let made = Scene { is_own: true, ..scene }.measure(&cells);
    assert_eq!((made.reps.len(), made.noticed_ns.len(), made.sorted().0.len()), (1, 0, 0));
    assert!(made.reps[0].outcome == Outcome::Complete && made.reps[0].errors["connect"] > 4);
}

#[test]
fn a_trial_of_a_search_that_meets_an_outage_is_made_again() {
    let job = Cell { load: Load::Training(JOB), task: Task::ReadFile, retries: 2, ..cell(4) };
    let settings = || crate::settings(Limit::Steps { steps: 20, otherwise_ns: 1 }, 1);
    let tried = |away_ns| {
        let scene = Scene { settings: settings(), ..Scene::away(away_ns) };
        scene.play(std::slice::from_ref(&job), |bench, emit| bench.try_once(0, emit).unwrap())
    };
    let (undisturbed, _) = tried(0..0);
    let (came, made) = tried(500 * MS..6_000 * MS);
    assert!(matches!(undisturbed, Try::Ended { .. }));
    assert_eq!((came, made.reps.len(), made.sorted().0.len()), (undisturbed, 2, 1));
}
