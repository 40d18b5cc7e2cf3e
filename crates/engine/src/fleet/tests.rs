//! Jobs on a made-up storage: exact expectations, and what holds of every job.

mod coming;
mod pauses;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::{Arc, Mutex};

use plan::{Decode, Fetch, Training, Work};
use proptest::prelude::*;
use record::TrainedStep;

use super::{Ended, Fleet, FleetEnd, Job, JobData, Members, Position, Servers, Steps};
use crate::next::Next;

/// One accelerator, one reader, batches of one sample, 10 ns a step, one batch ahead.
const PLAIN: Training =
    Training { fetch: Fetch::Readers { count: 1 }, prefetch: 1, ..Training::plain(1, 1, 10) };

const ENDLESS: u64 = u64::MAX;

fn cost(per_sample_ns: u64, threads: Option<u32>) -> Decode {
    Decode { work: Work::Cost { per_sample_ns }, threads }
}

fn data(samples: u64, ops_per_sample: u64) -> JobData {
    let tickets_per_epoch = samples * ops_per_sample;
    JobData { first_ticket: 7, tickets_per_epoch, samples, coming: None, endless: false }
}

fn job(training: Training, data: JobData, steps: u64) -> Job {
    let mut job = Job::new(training, data).unwrap();
    job.steps = Steps { count: steps, run_out: false };
    job
}

/// What came of a job, and what was read for it.
struct Played {
    end: FleetEnd,
    tickets: Vec<u64>,
    /// When each of them was done.
    done_ns: BTreeMap<u64, u64>,
    /// Batches that one accelerator had open at once.
    open_max: u64,
    /// Reads that were outstanding at once.
    depth_max: usize,
}

/// A read that is under way: when it ends, its ticket, when it was meant to begin and did, and whether it ends well.
type UnderWay = (u64, u64, u64, u64, bool);

/// Plays `job` on `slots` reads at a time, of which the `n`th takes and ends as `serve(n)` says, until `close_ns`.
fn play(job: Job, slots: usize, close_ns: u64, serve: impl FnMut(u64) -> (u64, bool)) -> Played {
    play_beside(job, slots, close_ns, serve, None)
}

/// The same, with checkpoints that are made beside.
fn play_beside(
    job: Job,
    slots: usize,
    close_ns: u64,
    mut serve: impl FnMut(u64) -> (u64, bool),
    mut saving: Option<pauses::Saving<'_>>,
) -> Played {
    let servers = job.training.decode.and_then(|decode| decode.threads);
    let servers = servers.map(|count| Arc::new(Mutex::new(Servers::new(count))));
    let mut fleet = Fleet::new(job, Members::ALL, slots as u32, servers);
    if let Some(saving) = &mut saving {
        fleet = fleet.with_checkpoints(saving.pauses());
    }
    fleet.begin(0, close_ns);
    let mut all_done_ns = BTreeMap::new();
    let mut under_way: BinaryHeap<Reverse<UnderWay>> = BinaryHeap::new();
    let (mut tickets, mut open_max, mut depth_max, mut now_ns) = (Vec::new(), 0, 0, 0);
    let end_ns = loop {
        fleet.advance(now_ns);
        let mut is_over = false;
        while under_way.len() < slots {
            match fleet.next(now_ns) {
                Next::Issue { ticket, intended_ns } => {
                    let (latency_ns, is_ok) = serve(tickets.len() as u64);
                    under_way.push(Reverse((now_ns + latency_ns, ticket, intended_ns, now_ns, is_ok)));
                    tickets.push(ticket);
                    all_done_ns.insert(ticket, now_ns + latency_ns);
                }
                Next::At(_) => break,
                Next::Finished => {
                    is_over = true;
                    break;
                }
            }
        }
        let open = fleet.accelerators.iter().map(|one| one.opened - one.taken).max();
        open_max = open_max.max(open.unwrap_or(0));
        depth_max = depth_max.max(under_way.len());
        let first_ns = under_way.peek().map_or(u64::MAX, |Reverse((done_ns, ..))| *done_ns);
        let saved_ns = saving.as_mut().map_or(u64::MAX, |saving| saving.ends_ns(now_ns));
        let next_ns = fleet.event_ns().min(first_ns).min(close_ns).min(saved_ns);
        assert!(is_over || next_ns != u64::MAX, "a job that nothing can bring on");
        if is_over || next_ns >= close_ns {
            break if is_over { now_ns } else { close_ns };
        }
        now_ns = next_ns;
        if let Some(saved) = saving.as_mut().and_then(|saving| saving.saved(now_ns)) {
            fleet.saved(saved);
        }
        while under_way.peek().is_some_and(|Reverse((done_ns, ..))| *done_ns <= now_ns) {
            let Some(Reverse((done_ns, ticket, intended_ns, begun_ns, is_ok))) = under_way.pop() else {
                break;
            };
            assert!(!fleet.done(&Ended { ticket, intended_ns, begun_ns, done_ns, is_ok }));
        }
    };
    // What is outstanding ends after the window.
    for Reverse((done_ns, ticket, intended_ns, begun_ns, is_ok)) in under_way.into_sorted_vec() {
        fleet.done(&Ended { ticket, intended_ns, begun_ns, done_ns, is_ok });
    }
    Played { end: fleet.into_end(end_ns), tickets, done_ns: all_done_ns, open_max, depth_max }
}

fn step(ready_ns: u64, start_ns: u64, end_ns: u64) -> TrainedStep {
    TrainedStep { ready_ns, start_ns, end_ns }
}

#[test]
fn a_step_begins_when_the_one_before_it_ended_or_when_its_batch_was_ready() {
    let latencies = [4, 9, 13, 1];
    let played = play(job(PLAIN, data(100, 1), 4), 1, ENDLESS, |n| (latencies[n as usize], true));
    // Each batch is allowed as the step before it begins.
    let steps = [step(4, 4, 14), step(13, 14, 24), step(27, 27, 37), step(28, 37, 47)];
    assert_eq!(played.end.tally.timeline, steps);
    let counts = played.end.accelerators[0].1;
    assert_eq!((counts.steps, counts.wall_ns, counts.compute_ns, counts.wait_ns), (4, 47, 40, 7));
    assert_eq!((counts.first_batch_ns, counts.late, counts.storage_ns), (4, 1, 7));
    // DLIO leaves the first step out.
    assert_eq!((counts.excluded_wait_ns, counts.excluded_compute_ns), (4, 10));
    assert!(played.end.is_complete);
}

/// How late each step of `training` was noticed, and how often a client looked at the clock for it, whose waits end 3 ns late.
fn noticed(training: Training, steps: u64) -> (Vec<(u64, u64)>, u64) {
    let mut fleet = Fleet::new(job(training, data(100, 1), steps), Members::ALL, 1, None);
    fleet.begin(0, ENDLESS);
    let (mut now_ns, mut looks) = (0, 0);
    loop {
        match fleet.next(now_ns) {
            Next::Issue { ticket, intended_ns } => {
                let begun_ns = now_ns;
                fleet.done(&Ended { ticket, intended_ns, begun_ns, done_ns: now_ns, is_ok: true });
            }
            Next::At(at_ns) if at_ns > now_ns => now_ns = at_ns + 3,
            Next::At(_) => {
                now_ns += 1;
                looks += 1;
            }
            Next::Finished => break,
        }
    }
    let late = fleet.into_end(now_ns).tally.lag_ns;
    (late.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect(), looks)
}

#[test]
fn the_end_of_a_step_is_slept_for_until_its_spin_begins_and_looked_for_from_then_on() {
    let spinning = |spin_ns| noticed(Training { spin_ns, ..PLAIN }, 4);
    assert_eq!(spinning(0), (vec![(3, 4)], 0));
    // A wait that ends late within the spin is made up for, by as many looks as are left.
    assert_eq!(spinning(2), (vec![(1, 4)], 0));
    assert_eq!(spinning(5), (vec![(0, 4)], 4 * 2));
    assert_eq!(spinning(50), (vec![(0, 4)], 4 * 10), "a spin is no longer than a step");
}

#[test]
fn without_prefetch_a_batch_is_fetched_once_it_is_waited_for() {
    let training = Training { prefetch: 0, ..PLAIN };
    let counts = play(job(training, data(100, 1), 5), 1, ENDLESS, |_| (3, true)).end.accelerators[0].1;
    assert_eq!((counts.wall_ns, counts.wait_ns, counts.late), (5 * 13, 5 * 3, 4));
}

#[test]
fn an_epoch_ends_before_the_next_is_fetched_and_its_readers_start_first() {
    // Seven samples make two steps of three, and one is dropped.
    let training = Training { batch: 3, prefetch: 4, startup_ns: 100, ..PLAIN };
    let played = play(job(training, data(7, 1), 4), 1, ENDLESS, |_| (2, true));
    let counts = played.end.accelerators[0].1;
    // 100 to start, 6 to fetch, 20 to compute, and once more.
    assert_eq!((counts.wall_ns, counts.wait_ns, counts.startup_ns, counts.storage_ns), (252, 212, 200, 12));
    assert_eq!(played.tickets, [7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19]);
    assert_eq!((counts.late, counts.first_batch_ns), (1, 106));
    // DLIO leaves out the first step of each epoch, and no other waited.
    assert_eq!((counts.excluded_wait_ns, counts.excluded_compute_ns), (counts.wait_ns, 20));
}

#[test]
fn accelerators_take_samples_in_turn_and_their_readers_share_the_batches() {
    let training =
        Training { accelerators: 2, batch: 2, prefetch: 2, fetch: Fetch::Readers { count: 2 }, ..PLAIN };
    let played = play(job(training, data(8, 1), 2), 4, ENDLESS, |_| (5, true));
    // First samples of batches 0 and 1 of the first accelerator, then of the second; then the second ones, as their
    // readers were free.
    assert_eq!(played.tickets, [7, 11, 8, 12, 9, 10, 13, 14]);
    assert_eq!(played.depth_max, 4);
    let wall_ns = played.end.accelerators.iter().map(|(_, counts)| counts.wall_ns).collect::<Vec<_>>();
    assert_eq!(wall_ns, [30, 30]);
}

#[test]
fn a_reader_reads_the_blocks_of_a_sample_one_after_the_other() {
    let played = play(job(PLAIN, data(10, 3), 2), 4, ENDLESS, |_| (2, true));
    assert_eq!((played.tickets, played.depth_max), (vec![7, 8, 9, 10, 11, 12], 1));
    assert_eq!(played.end.accelerators[0].1.wait_ns, 6);
}

#[test]
fn shared_reads_go_to_the_most_urgent_batch_and_to_accelerators_in_turn() {
    let training = Training { accelerators: 2, batch: 2, prefetch: 2, fetch: Fetch::Shared, ..PLAIN };
    let played = play(job(training, data(16, 2), 2), 1, ENDLESS, |_| (1, true));
    let job = job(training, data(16, 2), 2);
    let places: Vec<_> = played.tickets.iter().map(|ticket| job.position(*ticket)).collect();
    let of = |accelerator, batch, sample, op| Position { accelerator, batch, sample, op };
    let first = [of(0, 0, 0, 0), of(1, 0, 0, 0), of(0, 0, 0, 1), of(1, 0, 0, 1), of(0, 0, 1, 0)];
    assert_eq!(places[..5], first);
    assert!(
        places[..8].iter().all(|position| position.batch == 0) && places[8..].iter().all(|p| p.batch == 1)
    );
    // Both batches of the one are read after those of the other: 7 and 8 ns, and again 8 later.
    let waits = played.end.accelerators.iter().map(|(_, counts)| (counts.first_batch_ns, counts.late));
    assert_eq!(waits.collect::<Vec<_>>(), [(7, 0), (8, 0)]);
}

#[test]
fn accelerators_with_a_barrier_wait_for_the_slowest() {
    let training = Training { accelerators: 2, barrier: true, ..PLAIN };
    // The second accelerator's batches take 4 and 30.
    let latencies = [2, 4, 2, 30, 2, 2];
    let played = play(job(training, data(100, 1), 3), 2, ENDLESS, |n| (latencies[n as usize], true));
    let [first, second] = [0, 1].map(|index: usize| played.end.accelerators[index].1);
    // Steps of the first: 2 to 12, 14 to 24, 44 to 54; of the second: 4 to 14, 34 to 44, 44 to 54.
    assert_eq!((first.wall_ns, first.wait_ns, first.barrier_ns), (54, 2, 22));
    assert_eq!((second.wall_ns, second.wait_ns, second.barrier_ns), (54, 4 + 20, 0));
    assert_eq!((first.late, second.late), (0, 1));
}

#[test]
fn a_window_cuts_a_step_and_a_wait() {
    let played = play(job(PLAIN, data(100, 1), ENDLESS), 1, 29, |_| (4, true));
    let counts = played.end.accelerators[0].1;
    assert_eq!((counts.steps, counts.wall_ns, counts.compute_ns, counts.wait_ns), (3, 29, 25, 4));
    assert_eq!(played.end.tally.timeline[2], step(18, 24, 29));
    let first = play(job(PLAIN, data(100, 1), ENDLESS), 1, 10, |_| (4, true)).end.accelerators[0].1;
    assert_eq!((first.compute_ns, first.excluded_compute_ns, first.excluded_wait_ns), (6, 6, 4));
    let none = play(job(PLAIN, data(100, 1), ENDLESS), 1, 3, |_| (4, true)).end.accelerators[0].1;
    assert_eq!((none.wait_ns, none.excluded_wait_ns), (3, 3));
    let waits = play(job(PLAIN, data(100, 1), ENDLESS), 1, 30, |n| (if n == 1 { 50 } else { 4 }, true));
    let counts = waits.end.accelerators[0].1;
    assert_eq!((counts.steps, counts.wall_ns, counts.compute_ns, counts.wait_ns), (1, 30, 10, 20));
    assert_eq!((counts.storage_ns, counts.late, counts.lost_samples), (20, 0, 0));
}

#[test]
fn a_sample_that_failed_is_lost_and_its_batch_goes_on() {
    let training = Training { batch: 4, ..PLAIN };
    for (fetch, ops) in [(Fetch::Shared, 1), (Fetch::Shared, 2), (Fetch::Readers { count: 1 }, 1)] {
        let job = job(Training { fetch, ..training }, data(40, ops), 2);
        let played = play(job, 1, ENDLESS, |n| (1, n != 2));
        let counts = played.end.accelerators[0].1;
        assert_eq!((counts.steps, counts.lost_samples), (2, 1));
        assert_eq!(played.tickets.len() as u64, 8 * ops);
    }
    // A reader leaves the rest of a sample that failed.
    let played = play(job(training, data(40, 3), 1), 1, ENDLESS, |n| (1, n != 1));
    assert_eq!(played.tickets, [7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
}

#[test]
fn readers_decode_before_they_read_on_and_shared_servers_meanwhile() {
    let readers = Training { batch: 2, decode: Some(cost(6, None)), ..PLAIN };
    let counts = play(job(readers, data(40, 1), 1), 1, ENDLESS, |_| (2, true)).end.accelerators[0].1;
    // Read, decode, read, decode.
    assert_eq!((counts.wait_ns, counts.storage_ns, counts.decode_ns), (16, 4, 12));
    let shared = Training { fetch: Fetch::Shared, decode: Some(cost(6, Some(1))), ..readers };
    let played = play(job(shared, data(40, 1), 1), 1, ENDLESS, |_| (2, true));
    let counts = played.end.accelerators[0].1;
    // Read to 2 and to 4; decoded from 2 to 8 and to 14. Four were spent on reading, and 6 + 10 on decoding; the
    // second read waited for the slot by itself.
    assert_eq!((counts.wait_ns, counts.decode_ns, counts.storage_ns), (14, 11, 3));
    assert_eq!(played.end.tally.decode_ns.max(), 10);
    let two =
        play(job(Training { decode: Some(cost(6, Some(2))), ..shared }, data(40, 1), 1), 1, ENDLESS, |_| {
            (2, true)
        });
    assert_eq!(two.end.accelerators[0].1.wait_ns, 10);
}

#[test]
fn what_the_client_noticed_late_is_lag_and_moves_no_step() {
    let mut fleet = Fleet::new(job(PLAIN, data(100, 1), 3), Members::ALL, 1, None);
    fleet.begin(0, ENDLESS);
    let read = |fleet: &mut Fleet, now_ns, done_ns| {
        let Next::Issue { ticket, intended_ns } = fleet.next(now_ns) else {
            panic!("nothing to read at {now_ns}")
        };
        fleet.done(&Ended { ticket, intended_ns, begun_ns: now_ns, done_ns, is_ok: true });
        intended_ns
    };
    assert_eq!([read(&mut fleet, 0, 1), read(&mut fleet, 3, 5)], [0, 1]);
    // The second step began at 11 and ended at 21; the client looks at 25 and issues what was allowed at 11.
    assert_eq!((read(&mut fleet, 25, 26), fleet.event_ns()), (11, 26));
    assert_eq!((fleet.next(26), fleet.next(40)), (Next::At(36), Next::Finished));
    let end = fleet.into_end(40);
    let counts = end.accelerators[0].1;
    // The third batch was allowed for 14 ns before it was read for 1: of the 5 that it was waited for, 14 in 15.
    assert_eq!((counts.wall_ns, counts.wait_ns, counts.client_ns), (36, 6, 4));
    assert_eq!((counts.excluded_wait_ns, counts.excluded_compute_ns), (1, 10));
    // Noticed at 25, at 25 and at 40: lags of 14, 4 and 4.
    assert_eq!((end.tally.lag_ns.len(), end.tally.lag_ns.max()), (3, 14));
}

#[test]
fn steps_are_counted_by_the_batches_that_were_ready_behind_theirs() {
    let training = Training { prefetch: 3, ..PLAIN };
    let played = play(job(training, data(100, 1), 5), 1, ENDLESS, |_| (1, true));
    // The first begins with none; later two wait behind it, until the job has no more.
    assert_eq!(played.end.tally.occupancy, [2, 1, 2]);
}

#[test]
fn data_that_make_no_step_make_no_job() {
    let five = Training { batch: 5, ..PLAIN };
    assert!(Job::new(five, data(4, 1)).is_none());
    assert!(Job::new(Training { drop_last: false, ..five }, data(4, 1)).is_some());
    assert!(Job::new(Training { drop_last: false, ..five }, data(0, 1)).is_none());
    let uneven = JobData { tickets_per_epoch: 11, ..data(10, 1) };
    assert!(Job::new(PLAIN, uneven).is_none());
}

#[test]
fn what_is_left_of_a_pass_is_a_smaller_batch_that_is_computed_for_as_long_as_it_is() {
    let training = Training { batch: 3, prefetch: 4, drop_last: false, compute_ns: 30, ..PLAIN };
    let played = play(job(training, data(7, 1), 6), 1, ENDLESS, |_| (2, true));
    assert_eq!(played.tickets, (7..21).collect::<Vec<_>>());
    let counts = played.end.accelerators[0].1;
    // Two whole batches and one of one sample in each epoch, whose first fill is 6.
    assert_eq!((counts.steps, counts.compute_ns, counts.wall_ns), (6, 2 * 70, 2 * 76));
    assert_eq!(played.end.tally.timeline[2], step(14, 66, 76));
    // Of two accelerators one has nothing left.
    let two = Training { accelerators: 2, ..training };
    let played = play(job(two, data(7, 1), 2), 1, ENDLESS, |_| (2, true));
    let steps = played.end.accelerators.iter().map(|(_, counts)| (counts.steps, counts.compute_ns));
    assert_eq!(steps.collect::<Vec<_>>(), [(2, 40), (2, 30)]);
    assert_eq!(played.tickets.len(), 7);
}

fn trainings() -> impl Strategy<Value = Training> {
    let fetch = prop_oneof![Just(Fetch::Shared), (1_u32..4).prop_map(|count| Fetch::Readers { count })];
    let decode = prop_oneof![
        Just(None),
        (0_u64..20, prop::option::of(1_u32..3))
            .prop_map(|(per_sample_ns, threads)| Some(cost(per_sample_ns, threads))),
    ];
    let sizes = (1_u32..4, 1_u32..4, 1_u64..30, (0_u32..5, 1_u32..4));
    (sizes, fetch, decode, any::<bool>(), 0_u64..30).prop_map(
        |((accelerators, batch, compute_ns, (prefetch, fetches)), fetch, decode, barrier, startup_ns)| {
            Training {
                accelerators,
                batch,
                compute_ns,
                fetch,
                fetches,
                prefetch,
                barrier,
                decode,
                startup_ns,
                ..PLAIN
            }
        },
    )
}

fn assert_adds_up(end: &FleetEnd) {
    for (_, counts) in &end.accelerators {
        assert!(counts.compute_ns <= counts.wall_ns);
        let idle_ns = counts.wait_ns + counts.barrier_ns + counts.checkpoint_ns;
        assert_eq!(counts.compute_ns + idle_ns, counts.wall_ns, "{counts:?}");
        let causes_ns = counts.storage_ns + counts.decode_ns + counts.client_ns + counts.startup_ns;
        assert_eq!(causes_ns, counts.wait_ns, "{counts:?}");
        assert!(counts.late <= counts.steps.saturating_sub(1));
        let excluded_ns = (counts.excluded_wait_ns, counts.excluded_compute_ns);
        assert!(excluded_ns.0 <= counts.wait_ns && excluded_ns.1 <= counts.compute_ns, "{counts:?}");
    }
    let steps: u64 = end.accelerators.iter().map(|(_, counts)| counts.steps).sum();
    assert_eq!(end.tally.occupancy.iter().sum::<u64>(), steps);
    assert_eq!(end.tally.wait_ns.len(), steps);
}

/// One accelerator whose only reader has two reads under way, of samples of three.
fn inner(play_op: impl FnMut(u64) -> (u64, bool)) -> Played {
    let training =
        Training { fetch: Fetch::Readers { count: 1 }, fetches: 2, batch: 2, prefetch: 1, ..PLAIN };
    play(job(training, data(10, 3), 2), 9, ENDLESS, play_op)
}

#[test]
fn a_reader_has_so_many_reads_of_its_batch_under_way_and_no_more() {
    let played = inner(|_| (4, true));
    // Six reads of a batch, two at once: three turns of 4 each.
    assert_eq!((played.depth_max, played.tickets.len()), (2, 12));
    assert_eq!(played.end.tally.timeline[0].start_ns, 12);
}

#[test]
fn a_sample_of_which_a_read_failed_is_lost_once_and_its_other_reads_are_not_made() {
    // The first read of all fails; the second, of the same sample, was under way.
    let played = inner(|n| (4, n != 0));
    assert_eq!(played.end.accelerators[0].1.lost_samples, 1);
    assert_eq!(
        (played.depth_max, played.tickets.len()),
        (2, 11),
        "the third read of that sample is not made"
    );
}

proptest! {
    #[test]
    fn every_job_adds_up_and_reads_each_sample_once_an_epoch(
        training in trainings(), samples in 9_u64..40, ops in 1_u64..3, steps in 1_u64..20, slots in 1_usize..6,
        latencies in prop::collection::vec((0_u64..40, prop::bool::weighted(0.9)), 1..50),
    ) {
        let job = job(training, data(samples, ops), steps);
        let mut failed = false;
        let played = play(job, slots, ENDLESS, |n| {
            let (ns, is_ok) = latencies[n as usize % latencies.len()];
            failed |= !is_ok;
            (ns, is_ok)
        });
        assert_adds_up(&played.end);
        prop_assert!(played.end.is_complete && played.depth_max <= slots);
        prop_assert!(played.open_max <= u64::from(training.prefetch.max(1)));
        prop_assert!(played.end.accelerators.iter().all(|(_, counts)| counts.steps == steps));
        let all: BTreeSet<u64> = played.tickets.iter().copied().collect();
        prop_assert_eq!(all.len(), played.tickets.len(), "an operation was issued twice");
        for batch in 0..steps {
            for accelerator in 0..training.accelerators {
                for sample in 0..training.batch {
                    let ticket = |op| job.ticket(Position { accelerator, batch, sample, op });
                    prop_assert!(all.contains(&ticket(0)));
                    prop_assert!(failed || (0..ops as u32).all(|op| all.contains(&ticket(op))));
                    prop_assert!((ticket(0) - 7) % (samples * ops) < samples * ops);
                    prop_assert_eq!(job.position(ticket(0)), Position { accelerator, batch, sample, op: 0 });
                }
            }
        }
        let most = steps * training.samples_per_step() * ops;
        prop_assert!(failed || all.len() as u64 == most, "{} of {most}", all.len());
        for (before, after) in played.end.tally.timeline.iter().zip(played.end.tally.timeline.iter().skip(1)) {
            prop_assert!(training.barrier || after.start_ns == before.end_ns.max(after.ready_ns));
            prop_assert!(after.start_ns >= before.end_ns.max(after.ready_ns));
        }
    }

    #[test]
    fn a_window_that_cuts_a_job_anywhere_adds_up(
        training in trainings(), close_ns in 1_u64..400, slots in 1_usize..6,
        latencies in prop::collection::vec(0_u64..40, 1..50),
    ) {
        let job = job(training, data(40, 1), ENDLESS);
        let played = play(job, slots, close_ns, |n| (latencies[n as usize % latencies.len()], true));
        assert_adds_up(&played.end);
        prop_assert!(played.end.accelerators.iter().all(|(_, counts)| counts.wall_ns == close_ns));
    }
}
