//! Reads that never end: a hung mount answers nothing, and fails nothing.

use backend::simulated::Step;
use plan::{Fetch, Limit, Training};
use record::{Outcome, counter};

use crate::training::{self, JOB};
use crate::{MS, Sim, objects};

/// Longer than anything waits.
const FOREVER_NS: u64 = 1 << 50;

/// A device of 4 channels whose tenth operation never ends.
fn step(number: u64) -> Step {
    Step::ok(if number == 9 { FOREVER_NS } else { MS })
}

fn reason(outcome: &Outcome) -> &str {
    let Outcome::Failed { reason } = outcome else { panic!("{outcome:?}") };
    reason
}

#[test]
fn a_read_that_never_ends_ends_a_repetition_by_bytes() {
    let mut sim = Sim::new(4, 4, step);
    sim.objects = objects(1_000, 4_096);
    sim.limit = Limit::Bytes { bytes: 100 * 4_096 };
    let rep = sim.run();
    assert_eq!(reason(&rep.outcome), "none of 1 reads under way ended in 600 s; the worker gave up");
    assert_eq!((rep.counters[counter::ABANDONED], rep.counters[counter::STARTED]), (1, 99));
}

#[test]
fn a_read_that_never_ends_keeps_no_window() {
    let rep = Sim::new(4, 4, step).run();
    assert_eq!((&rep.outcome, rep.counters[counter::ABANDONED]), (&Outcome::Complete, 1));
}

#[test]
fn a_sample_that_never_comes_ends_a_job_with_all_its_threads() {
    let mut sim = training::sim(Training { fetch: Fetch::Readers { count: 4 }, ..JOB }, 20, 4, step);
    sim.cell.threads = 2;
    let rep = sim.run();
    assert!(reason(&rep.outcome).contains("under way ended in 600 s"), "{:?}", rep.outcome);
    assert_eq!(rep.counters[counter::ABANDONED], 1);
}
