//! Loaders on storage of a known rate: what theory says of them, and what the engine makes of it, blocking or not.

use std::sync::Arc;

use backend::simulated::{Simulated, Step};
use feed::{Curve, Fetchers, Loader, Side};
use plan::{Decode, Fetch, Training, Work};
use record::Rep;

use crate::training::{JOB, cost, only, sim};
use crate::{MS, SEED, objects};

/// Utilization as DLIO would have seen it on the steps of the only accelerator.
fn dlio_au(rep: &Rep) -> f64 {
    let [first, .., last] = &rep.trained.as_ref().unwrap().timeline[..] else { panic!("two steps") };
    let counts = only(rep);
    let compute_ns = counts.compute_ns - counts.excluded_compute_ns;
    let wall_ns = counts.wall_ns - counts.excluded_wait_ns - counts.excluded_compute_ns;
    assert_eq!(wall_ns, last.end_ns - first.end_ns, "one epoch: the steps but the first");
    compute_ns as f64 / wall_ns as f64
}

/// The job of 100 steps of 100 ms for `readers` readers, each a thread that is blocked in its read or all through one
/// queue, on a storage that makes `channels` reads of this latency at a time.
fn read_by(is_blocking: bool, (readers, prefetch): (u32, u32), (channels, latency_ns): (u32, u64)) -> Rep {
    let training = Training { fetch: Fetch::Readers { count: readers }, prefetch, ..JOB };
    let mut sim = sim(training, 100, channels, |_| Step::ok(0));
    let device = Simulated::new(&sim.clock, channels, SEED, move |_| Step::ok(latency_ns));
    sim.store = Arc::new(if is_blocking { device.with_blocking_reads() } else { device });
    sim.run()
}

#[test]
fn readers_of_either_engine_use_an_accelerator_as_theory_has_it() {
    // Readers that each take 800 ms for a batch: a round of them, then steps in a row.
    let latency =
        [((4, 4), 25 * 800 + 400), ((4, 8), 25 * 800 + 400), ((4, 2), 50 * 800 + 200), ((1, 2), 80_100)];
    for (loader, wall_ms) in latency {
        for is_blocking in [false, true] {
            let rep = read_by(is_blocking, loader, (4, 80 * MS));
            assert_eq!(only(&rep).wall_ns, wall_ms * MS, "{loader:?} {is_blocking}");
            let dlio = 9_900.0 / (wall_ms as f64 - 900.0);
            assert!((dlio_au(&rep) - dlio).abs() < 1e-9, "{loader:?} {is_blocking}: {}", dlio_au(&rep));
        }
    }
    // Fifty samples a second of a hundred: the last is read after 20 s, and one to four steps are left.
    for loader in [(4, 2), (4, 4), (4, 8), (1, 2), (2, 8)] {
        for is_blocking in [false, true] {
            let rep = read_by(is_blocking, loader, (1, 20 * MS));
            let counts = only(&rep);
            assert!(
                (20_100 * MS..=20_400 * MS).contains(&counts.wall_ns),
                "{loader:?} {is_blocking} {counts:?}"
            );
            let dlio = dlio_au(&rep);
            assert!((0.48..0.52).contains(&dlio), "{loader:?} {is_blocking}: {dlio}");
        }
    }
    // Twice what is needed, after the first fill: all readers that may read end together, but for the last samples.
    for (loader, fill_ms) in [((4, 2), 95..=100), ((4, 8), 185..=200), ((1, 8), 50..=50)] {
        for is_blocking in [false, true] {
            let rep = read_by(is_blocking, loader, (1, 5 * MS));
            let counts = only(&rep);
            assert_eq!((counts.late, counts.wall_ns), (0, counts.first_batch_ns + 10_000 * MS));
            assert!(fill_ms.contains(&(counts.first_batch_ns / MS)), "{loader:?} {is_blocking} {counts:?}");
            assert!((dlio_au(&rep) - 1.0).abs() < 1e-9);
        }
    }
}

/// A storage that makes so many reads at a time, each for so long.
#[derive(Debug, Clone, Copy)]
struct Storage {
    channels: u32,
    latency_ns: u64,
}

impl Storage {
    /// What closed loops at these depths make of it.
    fn curve(self, depths: impl IntoIterator<Item = u32>) -> Curve {
        let per_s = |depth: u32| f64::from(depth.min(self.channels)) * 1e9 / self.latency_ns as f64;
        Curve::new(depths.into_iter().map(|depth| (depth, per_s(depth)))).unwrap()
    }

    /// The utilization of a job of one epoch, the mean over its accelerators.
    fn play(self, training: Training, (steps, depth): (u64, u32)) -> f64 {
        let mut sim = sim(training, steps, self.channels, move |_| Step::ok(self.latency_ns));
        sim.cell.queue_depth = depth;
        sim.objects = objects((steps * training.samples_per_step()) as u32, 64);
        let rep = sim.run();
        let accelerators = &rep.trained.as_ref().unwrap().accelerators;
        let aus = accelerators.iter().map(|one| one.compute_ns as f64 / one.wall_ns as f64);
        aus.sum::<f64>() / accelerators.len() as f64
    }
}

/// Steps of a job that is foretold.
const STEPS: u64 = 90;

/// Storages that are bound by latency at any depth of the grid, by their rate at any, and by either.
fn storages() -> impl Iterator<Item = Storage> {
    let all = [(1, 4), (1, 8), (1, 16), (4, 16), (4, 60), (64, 40), (64, 120)];
    all.into_iter().map(|(channels, latency_ms)| Storage { channels, latency_ns: latency_ms * MS })
}

/// No decoding, and two costs of it, by whoever reads or by two threads.
fn decodes() -> impl Iterator<Item = Option<Decode>> + Clone {
    [None, Some(cost(5 * MS, None)), Some(cost(30 * MS, None)), Some(cost(5 * MS, Some(2)))].into_iter()
}

/// The job as the formula takes it.
fn loader(training: Training, depth: u32) -> Loader {
    let decode_ns = training.decode.map_or(0, |decode| match decode.work {
        Work::Cost { per_sample_ns } => per_sample_ns,
        _ => panic!("no time is known of it"),
    });
    Loader {
        accelerators: training.accelerators,
        batch: training.batch,
        compute_s: training.compute_ns as f64 / 1e9,
        fetchers: match training.fetch {
            Fetch::Readers { count } => Fetchers::Readers(count),
            Fetch::Shared => Fetchers::Shared(depth),
        },
        prefetch: training.prefetch,
        decode_s: decode_ns as f64 / 1e9,
        decode_threads: training.decode.and_then(|decode| decode.threads),
        startup_s: 0.0,
    }
}

/// Holds what is foretold of a job to what the engine makes of it: the bounds hold it whatever was measured, and from
/// closed loops at every depth that it reaches they are as close to it as `within` says. `None`: as far apart as they are.
fn hold(storage: Storage, training: Training, depth: u32, within: Option<f64>) {
    let loader = loader(training, depth);
    let played = storage.play(training, (STEPS, depth));
    let au = |curve: &Curve, side| STEPS as f64 * loader.compute_s / loader.epoch_s(curve, side, STEPS);
    let reach = loader.reach();
    let hold = |depths: &[u32], within: Option<f64>| {
        let curve = storage.curve(depths.iter().copied());
        let [least, most] = [Side::Least, Side::Most].map(|side| au(&curve, side));
        let words = format!("{least} to {most} for {played} from {depths:?}: {storage:?} {training:?}");
        assert!(least <= played + 0.005 && played <= most + 0.005, "{words}");
        assert!(within.is_none_or(|within| most - least <= within), "{words}");
    };
    hold(&(1..=reach).collect::<Vec<_>>(), within);
    hold(&[reach, reach * 4], None);
    hold(&[training.accelerators, reach], None);
}

#[test]
fn readers_do_what_is_foretold_of_them() {
    for storage in storages() {
        for (accelerators, readers, prefetch) in
            [(1, 1, 2), (1, 4, 1), (1, 4, 2), (1, 4, 8), (1, 8, 3), (1, 3, 4), (2, 4, 2), (3, 2, 3)]
        {
            for decode in decodes() {
                let fetch = Fetch::Readers { count: readers };
                let training = Training { accelerators, fetch, prefetch, decode, batch: 20, ..JOB };
                hold(storage, training, accelerators * readers, Some(0.001));
            }
        }
    }
}

#[test]
fn what_is_foretold_of_turns_and_of_shared_reads_holds_what_they_do() {
    for storage in storages() {
        for decode in decodes() {
            let turns =
                Training { fetch: Fetch::Readers { count: 2 }, prefetch: 0, decode, batch: 20, ..JOB };
            hold(storage, turns, 2, Some(0.001));
            hold(storage, Training { accelerators: 3, ..turns }, 6, None);
            for (accelerators, depth, prefetch) in [(1, 4, 2), (1, 16, 1), (2, 8, 4), (2, 64, 0), (1, 4, 0)] {
                let threads =
                    decode.map(|decode| Decode { threads: Some(decode.threads.unwrap_or(4)), ..decode });
                let training = Training {
                    accelerators,
                    fetch: Fetch::Shared,
                    prefetch,
                    decode: threads,
                    batch: 20,
                    ..JOB
                };
                hold(storage, training, depth, None);
            }
        }
    }
}
