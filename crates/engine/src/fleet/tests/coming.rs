//! Batches that are put together from what comes.

use super::*;
use crate::fleet::Coming;

const STREAM: Coming = Coming { readers: 1, together: 1, behind: 0 };

/// An epoch of so many reads that bring so many samples.
fn streamed(reads: u64, samples: u64, coming: Coming) -> JobData {
    JobData { first_ticket: 7, tickets_per_epoch: reads, samples, coming: Some(coming), endless: false }
}

/// When the batches of the first accelerator were ready.
fn ready_ns(played: &Played) -> Vec<u64> {
    played.end.tally.timeline.iter().map(|step| step.ready_ns).collect()
}

#[test]
fn a_batch_is_ready_with_the_read_that_brings_its_last_sample() {
    // Five samples in two reads, and batches of four: after 4, 7 (in truth 6.4), 10, 13 reads.
    let data = streamed(100, 250, STREAM);
    let training = Training { batch: 4, prefetch: 9, ..PLAIN };
    for fetch in [Fetch::Shared, Fetch::Readers { count: 1 }] {
        let played = play(job(Training { fetch, ..training }, data, 5), 1, ENDLESS, |_| (10, true));
        // 2.5 samples a read: 4 after two, 8 after four (10), 12 after five, 16 after seven (17), 20 after eight.
        assert_eq!(ready_ns(&played), [20, 40, 50, 70, 80]);
        assert_eq!(played.tickets, (7..15).collect::<Vec<_>>());
    }
}

#[test]
fn one_read_makes_several_batches_and_those_behind_it_need_none() {
    // Ten samples a read.
    let data = streamed(10, 100, STREAM);
    let training = Training { batch: 4, prefetch: 4, ..PLAIN };
    for fetch in [Fetch::Shared, Fetch::Readers { count: 1 }] {
        let played = play(job(Training { fetch, ..training }, data, 25), 1, ENDLESS, |_| (15, true));
        assert_eq!(ready_ns(&played)[..5], [15, 15, 30, 30, 30]);
        assert_eq!(played.tickets.len(), 10);
        // The reads of a step take 6 of its 10 ns: after the first fill it never waits.
        let counts = played.end.accelerators[0].1;
        assert_eq!((counts.steps, counts.wall_ns, counts.wait_ns, counts.late), (25, 265, 15, 0));
    }
}

#[test]
fn a_storage_of_half_the_rate_halves_the_utilization_whatever_the_batch_and_the_block() {
    // A sample takes 6 ns to read and 3 to compute: 1,200 of them take 7,200 ns, and the last batch its step on top.
    for (batch, per_read) in [(1, 1), (4, 3), (4, 10), (7, 2), (40, 30), (32, 9), (32, 1), (3, 40)] {
        let reads = 3_600 / per_read;
        let training =
            Training { batch, prefetch: 2, drop_last: false, compute_ns: u64::from(batch) * 3, ..PLAIN };
        let data = streamed(reads, 3_600, STREAM);
        let steps = 3_600_u64.div_ceil(u64::from(batch));
        for fetch in [Fetch::Shared, Fetch::Readers { count: 1 }] {
            let played =
                play(job(Training { fetch, ..training }, data, steps), 1, ENDLESS, |_| (6 * per_read, true));
            let counts = played.end.accelerators[0].1;
            assert_eq!((counts.steps, counts.compute_ns), (steps, 3 * 3_600));
            // Reading never stops but where batches ahead are used up; the last read brings the last samples.
            let last = *played.done_ns.values().max().unwrap();
            assert!(counts.wall_ns >= last && last >= 6 * 3_600, "{batch} in reads of {per_read}");
            assert_eq!(played.tickets.len() as u64, reads);
            if u64::from(batch) >= per_read {
                assert_eq!(last, 6 * 3_600, "{batch} in reads of {per_read}");
            }
        }
    }
}

#[test]
fn readers_stream_parts_of_a_pass_that_are_theirs_alone() {
    // Two accelerators with two readers: 25 reads and 60 samples each, in batches of seven.
    let training =
        Training { accelerators: 2, batch: 7, prefetch: 2, fetch: Fetch::Readers { count: 2 }, ..PLAIN };
    let data = streamed(100, 240, Coming { readers: 2, ..STREAM });
    let job = job(training, data, 32);
    assert_eq!(job.steps_per_epoch, 16);
    let played = play(job, 4, ENDLESS, |_| (5, true));
    // 56 of 60 samples are 24 of 25 reads (23.3), in each of two epochs.
    assert_eq!(job.ops_per_epoch(1), Some(96));
    let parts = |epoch: u64| [0, 25, 50, 75].map(|first| 7 + epoch * 100 + first);
    let expected = [0, 1].map(parts).concat().into_iter().flat_map(|first| first..first + 24);
    assert_eq!(played.tickets.iter().copied().collect::<BTreeSet<_>>(), expected.collect());
    assert_eq!(played.tickets[..4], [7, 32, 57, 82]);
    assert!(played.end.accelerators.iter().all(|(_, counts)| counts.steps == 32));
}

#[test]
fn a_shared_batch_waits_for_the_read_of_the_one_before_it_that_holds_its_beginning() {
    // 1.5 samples a read, batches of two: reads 0 and 1, then 2 (4 after three), then 3 (6 after four).
    let training = Training { batch: 2, prefetch: 3, fetch: Fetch::Shared, ..PLAIN };
    let latencies = [5, 100, 5, 5];
    let played = play(job(training, streamed(100, 150, STREAM), 2), 4, ENDLESS, |n| {
        (*latencies.get(n as usize).unwrap_or(&5), true)
    });
    // The second batch has its own read at 5, and its beginning in that which ends at 100.
    assert_eq!(ready_ns(&played), [100, 100]);
}

#[test]
fn samples_of_row_groups_come_with_the_last_read_of_each() {
    // Four reads and 30 samples a group, in batches of 20.
    let training = Training { batch: 20, prefetch: 5, ..PLAIN };
    let data = streamed(40, 300, Coming { together: 4, ..STREAM });
    let played = play(job(training, data, 6), 1, ENDLESS, |_| (10, true));
    assert_eq!(ready_ns(&played), [40, 80, 80, 120, 160, 160]);
}

#[test]
fn samples_are_decoded_one_by_one_with_the_batch_that_they_are_of() {
    // Three samples a read, batches of two; a read takes 10, a sample 4.
    let training = Training { batch: 2, prefetch: 3, decode: Some(cost(4, None)), ..PLAIN };
    let data = streamed(20, 60, STREAM);
    let played = play(job(training, data, 3), 1, ENDLESS, |_| (10, true));
    // Read, two; then the third, a read, one; then two.
    assert_eq!(ready_ns(&played), [18, 18 + 4 + 10 + 4, 36 + 8]);
    assert_eq!(played.end.tally.decode_ns.len(), 6);
    // Shared samples are decoded as they come with their batch, by two servers at once.
    let shared = Training { fetch: Fetch::Shared, decode: Some(cost(4, Some(2))), ..training };
    let played = play(job(shared, data, 3), 1, ENDLESS, |_| (10, true));
    assert_eq!(ready_ns(&played), [14, 24, 28]);
    assert_eq!(played.end.tally.decode_ns.len(), 6);
}

#[test]
fn a_read_that_failed_loses_as_many_samples_as_it_holds_on_average() {
    let lost = |data, batch| job(Training { batch, ..PLAIN }, data, 1).lost_samples(3);
    assert_eq!(lost(streamed(100, 1_000, STREAM), 20), 30);
    assert_eq!(lost(streamed(1_000, 200, STREAM), 20), 1);
    assert_eq!(lost(data(1_000, 1), 20), 3);
    let training = Training { batch: 20, fetch: Fetch::Shared, ..PLAIN };
    let played = play(job(training, streamed(100, 1_000, STREAM), 10), 1, ENDLESS, |n| (1, n != 4));
    let counts = played.end.accelerators[0].1;
    assert_eq!((counts.steps, played.tickets.len()), (10, 20));
}

fn streams() -> impl Strategy<Value = (u64, u64, Coming)> {
    (4_u64..60, 1_u64..300, 1_u32..4, 1_u64..4, 0_u64..3).prop_map(
        |(reads, samples, readers, together, behind)| {
            let behind = if together == 1 { behind } else { 0 };
            (reads * together, samples, Coming { readers, together, behind })
        },
    )
}

proptest! {
    /// Compute time is in proportion to samples: their sum is that of the batches.
    #[test]
    fn a_pass_has_every_sample_and_every_read_once_whatever_the_batch_the_reads_and_the_readers(
        training in trainings(), (reads, samples, mut coming) in streams(), batch in 1_u32..50,
        epochs in 1_u64..3, drop_last: bool, slots in 1_usize..6,
        latencies in prop::collection::vec(0_u64..40, 1..50),
    ) {
        let compute_ns = u64::from(batch) * 5;
        let training = Training { batch, drop_last, compute_ns, ..training };
        if let Fetch::Readers { count } = training.fetch {
            coming.readers = count;
        }
        let Some(made) = Job::new(training, streamed(reads, samples, coming)) else {
            prop_assert!(drop_last);
            return Ok(());
        };
        let steps = made.steps_per_epoch * epochs;
        let job = job(training, streamed(reads, samples, coming), steps);
        let played = play(job, slots, ENDLESS, |n| (latencies[n as usize % latencies.len()], true));
        assert_adds_up(&played.end);
        prop_assert!(played.end.is_complete);
        let all: BTreeSet<u64> = played.tickets.iter().copied().collect();
        prop_assert_eq!(all.len(), played.tickets.len(), "a read was issued twice");
        prop_assert_eq!(all.len() as u64, job.ops_per_epoch(1).unwrap() * epochs);
        let computed_ns: u64 = played.end.accelerators.iter().map(|(_, counts)| counts.compute_ns).sum();
        let whole = steps * training.samples_per_step();
        prop_assert_eq!(computed_ns, 5 * if drop_last { whole } else { samples * epochs });
        prop_assert!(played.end.accelerators.iter().all(|(_, counts)| counts.steps == steps));
        let decoded = if training.decode.is_some() { computed_ns / 5 } else { 0 };
        prop_assert_eq!(played.end.tally.decode_ns.len(), decoded);
        for (step, number) in played.end.tally.timeline.iter().zip(0..) {
            let piece: Vec<u64> = (0..job.reads(0, number))
                .map(|sample| job.ticket(Position { accelerator: 0, batch: number, sample, op: 0 }))
                .collect();
            let before = std::iter::successors(job.before(number), |batch| job.before(*batch));
            let before = before.flat_map(|batch| (0..job.reads(0, batch)).map(move |sample| Position { accelerator: 0, batch, sample, op: 0 }));
            let needed = before.map(|position| job.ticket(position)).chain(piece.iter().copied());
            let there_ns = needed.map(|ticket| played.done_ns[&ticket]).max().unwrap_or(0);
            prop_assert!(step.ready_ns >= there_ns);
            if !piece.is_empty() && training.decode.is_none() {
                prop_assert_eq!(step.ready_ns, there_ns);
            }
        }
    }
}
