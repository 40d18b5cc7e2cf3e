//! Checkpoints beside jobs, written in a time that is made up.

use std::sync::mpsc::{Receiver, channel};

use plan::{Fetch, Saving as Mode, Training};
use proptest::prelude::*;
use record::{Checkpoint, CheckpointOutcome};

use super::super::pauses::{Order, Pauses, Saved};
use super::{ENDLESS, PLAIN, Played, assert_adds_up, data, job, play, play_beside, trainings};

/// Whoever writes: the `n`th checkpoint takes as long as `takes` says, of which the last nanosecond publishes it.
pub(super) struct Saving<'a> {
    every_steps: u64,
    mode: Mode,
    takes: &'a dyn Fn(u64) -> (u64, CheckpointOutcome),
    orders: Option<Receiver<Order>>,
    taken: u64,
    under_way: Option<Saved>,
}

impl<'a> Saving<'a> {
    fn new(every_steps: u64, mode: Mode, takes: &'a dyn Fn(u64) -> (u64, CheckpointOutcome)) -> Self {
        Self { every_steps, mode, takes, orders: None, taken: 0, under_way: None }
    }

    pub(super) fn pauses(&mut self) -> Pauses {
        let (sender, orders) = channel();
        self.orders = Some(orders);
        Pauses::new(self.every_steps, self.mode, sender)
    }

    /// When what is being written will be whole; takes an order that came by `now_ns`.
    pub(super) fn ends_ns(&mut self, now_ns: u64) -> u64 {
        let order = self.orders.as_ref().and_then(|orders| orders.try_recv().ok());
        if let Some(order) = order {
            assert!(self.under_way.is_none(), "one is written at a time");
            let (takes_ns, outcome) = (self.takes)(self.taken);
            self.taken += 1;
            let begun_ns = order.from_ns.max(now_ns);
            let ended_ns = begun_ns + takes_ns;
            let written_ns = ended_ns.saturating_sub(1).max(begun_ns);
            self.under_way = Some(Saved { begun_ns, written_ns, ended_ns, bytes: 5, outcome });
        }
        self.under_way.as_ref().map_or(u64::MAX, |saved| saved.ended_ns)
    }

    pub(super) fn saved(&mut self, now_ns: u64) -> Option<Saved> {
        self.under_way.take_if(|saved| saved.ended_ns <= now_ns)
    }
}

fn whole(ns: u64) -> impl Fn(u64) -> (u64, CheckpointOutcome) {
    move |_| (ns, CheckpointOutcome::Complete)
}

/// A job whose batches take 1 each, for steps of 10.
fn made(training: Training, steps: u64, every: u64, mode: Mode, takes_ns: u64) -> (Played, Vec<Checkpoint>) {
    let takes = whole(takes_ns);
    let saving = Saving::new(every, mode, &takes);
    let slots = training.accelerators as usize;
    let played =
        play_beside(job(training, data(1_000, 1), steps), slots, ENDLESS, |_| (1, true), Some(saving));
    let checkpoints = played.end.checkpoints.clone();
    (played, checkpoints)
}

#[test]
fn a_synchronous_checkpoint_adds_its_time_to_every_so_many_steps_and_nothing_else() {
    let plain = play(job(PLAIN, data(1_000, 1), 7), 1, ENDLESS, |_| (1, true)).end.accelerators[0].1;
    let (played, checkpoints) = made(PLAIN, 7, 2, Mode::Sync, 30);
    let counts = played.end.accelerators[0].1;
    // After steps 2, 4 and 6.
    assert_eq!((counts.wall_ns, counts.checkpoint_ns), (plain.wall_ns + 3 * 30, 90));
    assert_eq!((counts.wait_ns, counts.barrier_ns, counts.late), (plain.wait_ns, 0, 0));
    let first = Checkpoint {
        step: 2,
        due_ns: 21,
        begun_ns: 21,
        stall_ns: 30,
        write_ns: 29,
        publish_ns: 1,
        bytes: 5,
        outcome: CheckpointOutcome::Complete,
    };
    let after = |step, due_ns| Checkpoint { step, due_ns, begun_ns: due_ns, ..first.clone() };
    assert_eq!(checkpoints, [first.clone(), after(4, 71), after(6, 121)]);
    let starts: Vec<u64> = played.end.tally.timeline.iter().map(|step| step.start_ns).collect();
    assert_eq!(starts, [1, 11, 51, 61, 101, 111, 151]);
    // To DLIO each checkpoint ends a block, of which it leaves out the first step.
    assert_eq!((counts.excluded_wait_ns, counts.excluded_compute_ns), (1, 4 * 10));
}

#[test]
fn an_asynchronous_checkpoint_adds_the_copy_alone() {
    let (played, checkpoints) = made(PLAIN, 7, 2, Mode::Async { copy_ns: 3 }, 15);
    let counts = played.end.accelerators[0].1;
    assert_eq!((counts.wall_ns, counts.checkpoint_ns, counts.wait_ns), (1 + 7 * 10 + 3 * 3, 9, 1));
    let times: Vec<_> = checkpoints.iter().map(|one| (one.due_ns, one.begun_ns, one.stall_ns)).collect();
    assert_eq!(times, [(21, 24, 3), (44, 47, 3), (67, 70, 3)]);
    assert_eq!(
        checkpoints.iter().map(|one| one.write_ns).collect::<Vec<_>>(),
        [14, 14, 0],
        "cut with the job"
    );
    // Steps 3 and 4 take from 24 to 44: the first ended at 39. The job ended at 80, and the third at 85.
    assert_eq!(
        checkpoints.iter().map(|one| &one.outcome).collect::<Vec<_>>(),
        [&CheckpointOutcome::Complete, &CheckpointOutcome::Complete, &CheckpointOutcome::Unfinished]
    );
}

#[test]
fn a_checkpoint_that_is_due_while_the_one_before_is_written_is_left_out_and_holds_nobody() {
    let (played, checkpoints) = made(PLAIN, 7, 2, Mode::Async { copy_ns: 3 }, 25);
    let outcomes: Vec<_> = checkpoints.iter().map(|one| (one.step, one.stall_ns, &one.outcome)).collect();
    let (overrun, unfinished) = (&CheckpointOutcome::Overrun, &CheckpointOutcome::Unfinished);
    // The first is written from 24 to 49, the second due at 44, the third at 64 and written from 67 on.
    assert_eq!(outcomes, [(2, 3, &CheckpointOutcome::Complete), (4, 0, overrun), (6, 3, unfinished)]);
    assert_eq!(played.end.accelerators[0].1.checkpoint_ns, 6);
}

#[test]
fn all_accelerators_wait_for_the_last_before_a_checkpoint_and_that_is_no_stall() {
    let training = Training { accelerators: 2, ..PLAIN };
    let takes = whole(20);
    // The second accelerator's first batch takes 8, every other one 1: without a barrier it is 7 behind.
    let serve = |n: u64| (if n == 1 { 8 } else { 1 }, true);
    let saving = Saving::new(2, Mode::Sync, &takes);
    let played = play_beside(job(training, data(1_000, 1), 3), 2, ENDLESS, serve, Some(saving));
    let [first, second] = [0, 1].map(|index: usize| played.end.accelerators[index].1);
    assert_eq!(played.end.checkpoints[0].due_ns, 28);
    assert_eq!((first.wait_ns, first.barrier_ns, first.checkpoint_ns, first.wall_ns), (1, 7, 20, 58));
    assert_eq!((second.wait_ns, second.barrier_ns, second.checkpoint_ns, second.wall_ns), (8, 0, 20, 58));
}

#[test]
fn a_wait_for_data_counts_only_where_no_checkpoint_holds_the_accelerator() {
    // The third batch is allowed at 14 and takes 40: it is ready at 54, and the checkpoint was due from 24 to 44.
    let takes = whole(20);
    let serve = |n: u64| (if n == 2 { 40 } else { 4 }, true);
    let saving = Saving::new(2, Mode::Sync, &takes);
    let played = play_beside(job(PLAIN, data(1_000, 1), 3), 1, ENDLESS, serve, Some(saving));
    let counts = played.end.accelerators[0].1;
    assert_eq!((counts.checkpoint_ns, counts.wait_ns, counts.wall_ns), (20, 4 + 10, 64));
    assert_eq!((counts.late, counts.barrier_ns), (1, 0));
}

#[test]
fn a_checkpoint_that_failed_is_kept_with_its_reason_and_the_job_goes_on() {
    let takes = |n: u64| {
        let failed = CheckpointOutcome::Failed { reason: "the disk is full".to_owned() };
        (5, if n == 0 { failed } else { CheckpointOutcome::Complete })
    };
    let saving = Saving::new(1, Mode::Sync, &takes);
    let played = play_beside(job(PLAIN, data(1_000, 1), 3), 1, ENDLESS, |_| (1, true), Some(saving));
    let outcomes: Vec<_> = played.end.checkpoints.iter().map(|one| &one.outcome).collect();
    assert!(matches!(outcomes[0], CheckpointOutcome::Failed { reason } if reason == "the disk is full"));
    assert_eq!(outcomes[1..], [&CheckpointOutcome::Complete], "none after the last step");
    assert!(played.end.is_complete && played.end.accelerators[0].1.checkpoint_ns == 10);
}

#[test]
fn a_window_that_closes_during_a_checkpoint_cuts_its_stall() {
    for (mode, stall_ns) in
        [(Mode::Sync, 9), (Mode::Async { copy_ns: 4 }, 4), (Mode::Async { copy_ns: 40 }, 9)]
    {
        let takes = whole(100);
        let saving = Saving::new(2, mode, &takes);
        let played = play_beside(job(PLAIN, data(1_000, 1), ENDLESS), 1, 30, |_| (1, true), Some(saving));
        let one = &played.end.checkpoints[0];
        assert_eq!((one.due_ns, one.stall_ns, &one.outcome), (21, stall_ns, &CheckpointOutcome::Unfinished));
        assert_eq!(played.end.accelerators[0].1.checkpoint_ns, stall_ns);
        assert_adds_up(&played.end);
    }
}

proptest! {
    #[test]
    fn every_job_with_checkpoints_adds_up_and_ends(
        training in trainings(), steps in 1_u64..20, slots in 1_usize..6, every in 1_u64..6,
        copy_ns in prop::option::of(0_u64..30), takes_ns in 0_u64..80, latency_ns in 0_u64..30,
        close_ns in prop::option::of(1_u64..800),
    ) {
        let mode = copy_ns.map_or(Mode::Sync, |copy_ns| Mode::Async { copy_ns });
        let takes = whole(takes_ns);
        let is_cut = close_ns.is_some();
        let saving = Saving::new(every, mode, &takes);
        let job = job(training, data(40, 1), steps);
        let played = play_beside(job, slots, close_ns.unwrap_or(ENDLESS), |_| (latency_ns, true), Some(saving));
        assert_adds_up(&played.end);
        let checkpoints = &played.end.checkpoints;
        if !is_cut {
            prop_assert!(played.end.is_complete);
            prop_assert_eq!(checkpoints.len() as u64, (steps - 1) / every);
        }
        let stalls_ns: u64 = checkpoints.iter().map(|one| one.stall_ns).sum();
        for (_, counts) in &played.end.accelerators {
            prop_assert_eq!(counts.checkpoint_ns, stalls_ns, "each stands still for all of them");
        }
        let readers = matches!(training.fetch, Fetch::Readers { .. });
        prop_assert!(!readers || played.depth_max <= slots);
    }
}
