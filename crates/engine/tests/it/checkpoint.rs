//! Checkpoints written one after the other, on a storage that is made up: exact times, and what lies there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::scripted::{Scripted, Writing};
use backend::{Clock, SharedStore, Store};
use dataset::{Data, Key, Marker, Objects};
use engine::{Destination, Measured, RepError, RepSpec, run_rep};
use plan::{Cell, Checkpoint, Engine, Limit, Task};
use record::{CheckpointOutcome, Outcome, Rep};

use crate::histogram;

const KEEP: u32 = 2;

/// Checkpoints of `files` files, each written by two calls.
fn plan(files: u32) -> Checkpoint {
    Checkpoint {
        label: "made up".to_owned(),
        files,
        file_bytes: 6_000,
        to: 0,
        durable: true,
        keep: KEEP,
        block_bytes: 4_096,
    }
}

struct Sim {
    clock: Clock,
    store: Scripted,
    files: u32,
    limit: Limit,
    stop: Arc<AtomicBool>,
}

impl Sim {
    fn new(files: u32, limit: Limit, script: impl Fn(u64) -> Writing + Send + Sync + 'static) -> Self {
        let clock = Clock::simulated();
        let store = Scripted::new(&clock, script);
        Self { clock, store, files, limit, stop: Arc::default() }
    }

    fn run(&self) -> Rep {
        self.run_in(true).unwrap().rep
    }

    fn run_in(&self, has_folder: bool) -> Result<Measured, RepError> {
        let plan = plan(self.files);
        let folder = Key::new("feedline-x").unwrap();
        let marker = Marker { format: 1, note: String::new(), dataset: "checkpoints".to_owned() };
        let owned = self.store.create_folder(&folder, &marker).unwrap();
        let objects = Arc::new(Objects::uniform(folder, self.files * (KEEP + 1), plan.file_bytes));
        let store: SharedStore = Arc::new(self.store.clone());
        let to = Destination::new(Arc::clone(&store), owned, Arc::clone(&objects), (&plan, 7));
        let cell = Cell { task: Task::Checkpoint(plan), ..Cell::plain(Engine::Null, 4_096, 1) };
        run_rep(&RepSpec {
            checkpoints: has_folder.then_some(&to),
            stop: &self.stop,
            ..RepSpec::plain(&cell, &store, &Data::files(objects, None), self.limit, &self.clock)
        })
    }
}

fn even(_: u64) -> Writing {
    Writing { write_ns: 100, finish_ns: 50, fails: false }
}

#[test]
fn checkpoints_follow_each_other_until_the_time_is_over_and_the_last_is_written_to_its_end() {
    let sim = Sim::new(1, Limit::Duration { duration_ns: 600 }, even);
    let rep = sim.run();
    // Two calls of 100 and 50 to publish: from 0, 250 and 500 on.
    assert_eq!((rep.window_ns, &rep.outcome), (750, &Outcome::Complete));
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (3, 18_000));
    let made: Vec<_> = rep
        .checkpoints
        .iter()
        .map(|one| {
            (one.step, one.due_ns, one.begun_ns, one.write_ns, one.publish_ns, one.bytes, one.stall_ns)
        })
        .collect();
    let one = |step: u64| (step, step * 250, step * 250, 200, 50, 6_000, 0);
    assert_eq!(made, [one(0), one(1), one(2)]);
    assert!(rep.checkpoints.iter().all(|one| one.outcome == CheckpointOutcome::Complete));
    for (name, ns) in [("service_ns", 250), ("write_ns", 200), ("publish_ns", 50)] {
        let times = histogram(&rep, name);
        assert_eq!((times.len(), times.min(), times.max()), (3, ns, ns), "{name}");
    }
    assert_eq!(rep.second_bytes.iter().sum::<u64>(), 18_000);
    assert_eq!(rep.second_ops.iter().sum::<u64>(), 3);
}

#[test]
fn the_oldest_is_removed_beyond_those_that_are_kept_and_none_stays_in_the_end() {
    let sim = Sim::new(3, Limit::Epochs { epochs: 5 }, even);
    let rep = sim.run();
    assert_eq!((rep.checkpoints.len(), rep.counters["ops"]), (5, 15));
    assert_eq!(sim.store.most(), 9, "two that are kept and the third, just whole");
    assert_eq!((sim.store.names().len(), sim.store.removed().len()), (0, 15));
}

#[test]
fn bytes_end_a_repetition_once_as_many_are_written() {
    let rep = Sim::new(1, Limit::Bytes { bytes: 12_001 }, even).run();
    assert_eq!(rep.checkpoints.len(), 3);
}

#[test]
fn a_checkpoint_that_fails_is_counted_by_its_kind_and_leaves_nothing() {
    let sim = Sim::new(1, Limit::Epochs { epochs: 3 }, |n| Writing { fails: n == 1, ..even(n) });
    let rep = sim.run();
    assert_eq!(rep.outcome, Outcome::Complete, "others are whole");
    assert_eq!(rep.errors.get("io"), Some(&1));
    assert!(
        matches!(&rep.checkpoints[1].outcome, CheckpointOutcome::Failed { reason } if reason.contains("finish"))
    );
    assert_eq!((rep.counters["ops"], rep.checkpoints.len()), (2, 3));
    assert!(sim.store.names().is_empty());
}

#[test]
fn a_checkpoint_that_cannot_be_removed_is_a_failure_and_ends_the_repetition() {
    // At its end, and beyond those that are kept: the second of five is then not written over.
    for (epochs, made) in [(1, 1), (5, 3)] {
        let sim = Sim::new(1, Limit::Epochs { epochs }, even);
        sim.store.keep();
        let rep = sim.run();
        assert_eq!((rep.checkpoints.len(), rep.errors.values().sum::<u64>()), (made, 1), "{:?}", rep.errors);
        assert_eq!((rep.counters["ops"], &rep.outcome), (made as u64, &Outcome::Complete));
    }
}

#[test]
fn a_storage_that_writes_nothing_ends_the_repetition_with_its_reason() {
    let sim = Sim::new(2, Limit::Duration { duration_ns: u64::MAX }, |n| Writing { fails: true, ..even(n) });
    let rep = sim.run();
    assert!(
        matches!(&rep.outcome, Outcome::Failed { reason } if reason.contains("feedline-x")),
        "{:?}",
        rep.outcome
    );
    assert_eq!(rep.checkpoints.len(), 3, "it would only fail again");
}

#[test]
fn a_signal_leaves_the_checkpoint_unfinished_and_nothing_behind() {
    let stop: Arc<AtomicBool> = Arc::default();
    let sets = Arc::clone(&stop);
    let sim = Sim::new(1, Limit::Duration { duration_ns: u64::MAX }, move |n| {
        sets.store(n == 2, Ordering::Relaxed);
        even(n)
    });
    let rep = Sim { stop, ..sim.clone_parts() }.run();
    assert_eq!(rep.outcome, Outcome::Interrupted);
    let outcomes: Vec<_> = rep.checkpoints.iter().map(|one| &one.outcome).collect();
    let complete = &CheckpointOutcome::Complete;
    assert_eq!(outcomes, [complete, complete, &CheckpointOutcome::Unfinished]);
    assert!(sim.store.names().is_empty());
}

#[test]
fn a_cell_without_a_folder_cannot_be_run() {
    let error = Sim::new(1, Limit::Epochs { epochs: 1 }, even).run_in(false).unwrap_err();
    assert!(error.to_string().contains("no folder"), "{error}");
}

impl Sim {
    /// The same storage and clock.
    fn clone_parts(&self) -> Self {
        Self {
            clock: self.clock.clone(),
            store: self.store.clone(),
            files: self.files,
            limit: self.limit,
            stop: Arc::default(),
        }
    }
}
