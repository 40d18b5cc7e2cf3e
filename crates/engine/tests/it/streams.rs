//! Shards: streamed, read by index, and trained on; exact on the virtual clock.

use backend::simulated::{Fault, Step};
use backend::{ErrorKind, OpError};
use dataset::{Even, Extent, Index, Samples};
use engine::RepError;
use plan::{Access, Decode, Fetch, Limit, Load, Streams, Task, Training, Work};
use record::{Outcome, TrainedAccelerator};

use crate::{MS, Sim, histogram, objects};

const BLOCK_BYTES: u32 = 100_000;

/// 20 samples a step of 100 ms, two batches ahead, through a queue that all reads share.
const JOB: Training = Training::plain(1, 20, 100 * MS);

/// 40 shards of 100 samples of 10,000 B: ten reads a shard, and two reads for a batch of the job.
fn sim(training: Training, steps: u64, script: impl Fn(u64) -> Step + Send + Sync + 'static) -> Sim {
    let depth = match training.fetch {
        Fetch::Readers { count } => training.accelerators * count,
        Fetch::Shared => 1,
    };
    let mut sim = Sim::new(depth, depth, script);
    sim.objects = objects(40, 1_000_000);
    sim.samples = Samples::Streamed { count: 4_000 };
    sim.cell.load = Load::Training(training);
    sim.cell.access = Access::ShuffledShards(Streams::of(depth));
    sim.cell.block_bytes = BLOCK_BYTES;
    sim.limit = Limit::Steps { steps, otherwise_ns: 1 };
    sim
}

fn only(rep: &record::Rep) -> TrainedAccelerator {
    let [counts] = &rep.trained.as_ref().unwrap().accelerators[..] else { panic!("one accelerator") };
    assert_eq!(counts.compute_ns + counts.wait_ns + counts.barrier_ns, counts.wall_ns, "{counts:?}");
    *counts
}

#[test]
fn a_streamed_job_that_is_fed_exactly_at_the_line_waits_for_its_first_batch_alone() {
    // Two reads a batch, one after the other, in the 100 ms of a step.
    let rep = sim(JOB, 20, |_| Step::ok(50 * MS)).run();
    let counts = only(&rep);
    assert_eq!((counts.steps, counts.wall_ns, counts.compute_ns), (20, 2_100 * MS, 2_000 * MS));
    assert_eq!((counts.wait_ns, counts.first_batch_ns, counts.late), (100 * MS, 100 * MS, 0));
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (40, 40 * u64::from(BLOCK_BYTES)));
    assert_eq!((&rep.outcome, counts.lost_samples), (&Outcome::Complete, 0));
    assert!(rep.counters["verified"] > 0);
}

#[test]
fn a_streamed_job_at_half_the_line_waits_for_every_batch() {
    let counts = only(&sim(JOB, 100, |_| Step::ok(100 * MS)).run());
    assert_eq!((counts.wall_ns, counts.compute_ns, counts.late), (20_100 * MS, 10_000 * MS, 99));
    assert_eq!((counts.storage_ns, counts.client_ns), (counts.wait_ns, 0));
}

#[test]
fn readers_stream_their_batches_side_by_side() {
    // A batch takes a reader 200 ms: two of them are the line.
    let training = Training { fetch: Fetch::Readers { count: 2 }, ..JOB };
    let counts = only(&sim(training, 20, |_| Step::ok(100 * MS)).run());
    assert_eq!((counts.wait_ns, counts.late), (200 * MS, 0));
    let training = Training { fetch: Fetch::Readers { count: 1 }, ..JOB };
    assert_eq!(only(&sim(training, 20, |_| Step::ok(100 * MS)).run()).late, 19);
}

#[test]
fn a_pass_over_the_shards_has_as_many_steps_as_its_reads_make() {
    let mut sim = sim(JOB, 1, |_| Step::ok(MS));
    sim.limit = Limit::Epochs { epochs: 3 };
    let rep = sim.run();
    assert_eq!((only(&rep).steps, rep.counters["ops"]), (3 * 200, 3 * 400));
}

#[test]
fn a_read_that_failed_is_its_share_of_the_batch_lost() {
    let error = OpError { kind: ErrorKind::Io, code: 5 };
    let script = move |n| {
        if n == 5 { Step { latency_ns: MS, fault: Some(Fault::Error(error)) } } else { Step::ok(MS) }
    };
    let counts = only(&sim(JOB, 20, script).run());
    assert_eq!((counts.steps, counts.lost_samples), (20, 10));
}

#[test]
fn decoding_by_cost_takes_as_long_as_the_samples_of_a_batch() {
    let decode = Decode { work: Work::Cost { per_sample_ns: 2 * MS }, threads: None };
    let training = Training { fetch: Fetch::Readers { count: 1 }, decode: Some(decode), ..JOB };
    // Two reads of 30 ms, and 20 samples of 2 ms.
    let counts = only(&sim(training, 20, |_| Step::ok(30 * MS)).run());
    assert_eq!((counts.wait_ns, counts.first_batch_ns, counts.late), (100 * MS, 100 * MS, 0));
}

#[test]
fn real_decoders_decode_as_many_samples_as_streams_bring() {
    for fetch in [Fetch::Shared, Fetch::Readers { count: 2 }] {
        for work in [Work::Checksum, Work::Copy, Work::Zstd, Work::Processor { per_sample_ns: 1_000 }] {
            let decode = Decode { work, threads: Some(1) };
            let rep = sim(Training { decode: Some(decode), fetch, ..JOB }, 20, |_| Step::ok(MS)).run();
            let counts = only(&rep);
            assert_eq!((&rep.outcome, counts.steps, counts.lost_samples), (&Outcome::Complete, 20, 0));
            assert_eq!(histogram(&rep, "decode_ns").len(), 20 * 20);
            assert_eq!(rep.trained.as_ref().unwrap().decode_failures, 0);
        }
    }
}

#[test]
fn samples_of_the_user_that_differ_in_their_reads_are_not_replaced_by_a_stand_in() {
    let decode = Decode { work: Work::Zstd, threads: Some(1) };
    let mut sim = row_groups(2);
    sim.cell.load = Load::Training(Training { decode: Some(decode), ..JOB });
    let mut index = Index::default();
    for object in 0..40 {
        index.push(1, &[Extent { object, offset: 0, bytes: 50_000 + u64::from(object) * 10_000 }]);
    }
    sim.samples = Samples::Indexed(index);
    sim.verify_seed = None;
    assert!(matches!(sim.try_run(), Err(RepError::Decoder { work: "zstd", largest_bytes: 440_000 })));
    sim.verify_seed = Some(7);
    assert!(sim.try_run().is_ok());
}

/// A tenth of samples of 114,660 B in blocks of 1 MiB: 9.145 of them a read, and 3.5 reads a batch of 32.
#[test]
fn any_batch_of_any_block_is_fed_as_fast_as_its_bytes_come() {
    // 2,048 samples in eight shards of 256, of which each is 28 reads, 27.99 of them full.
    let stream = |training: Training, latency_ns: u64| {
        let mut sim = sim(training, 1, move |_| Step::ok(latency_ns));
        sim.objects = objects(8, 256 * 11_466);
        sim.samples = Samples::Streamed { count: 2_048 };
        sim.cell.block_bytes = 104_858;
        sim.limit = Limit::Epochs { epochs: 1 };
        sim
    };
    let job = Training { batch: 32, compute_ns: 70 * MS, prefetch: 2, ..JOB };
    for fetch in [Fetch::Shared, Fetch::Readers { count: 1 }] {
        // 3.5 reads of 10 ms are half of a step: only the first fill, of four reads, is waited for.
        let rep = stream(Training { fetch, ..job }, 10 * MS).run();
        let counts = only(&rep);
        assert_eq!((counts.steps, counts.wait_ns, counts.late), (64, 40 * MS, 0));
        assert_eq!((counts.wall_ns, rep.counters["ops"]), ((64 * 70 + 40) * MS, 8 * 28));
        // Reads of 40 ms are twice as slow as the job: it ends with the last of them, and its step.
        let rep = stream(Training { fetch, ..job }, 40 * MS).run();
        let counts = only(&rep);
        assert_eq!((counts.wall_ns, counts.compute_ns), ((224 * 40 + 70) * MS, 64 * 70 * MS));
    }
    // 2,048 samples are 20 batches of 100, and one of 48 that is computed for 48 % of the time.
    let kept = Training { batch: 100, compute_ns: 100 * MS, drop_last: false, ..job };
    let counts = only(&stream(kept, MS).run());
    assert_eq!((counts.steps, counts.compute_ns), (21, 2_048 * MS));
    let counts = only(&stream(Training { drop_last: true, ..kept }, MS).run());
    assert_eq!((counts.steps, counts.compute_ns), (20, 2_000 * MS));
}

#[test]
fn clients_that_share_shards_train_on_their_own_alone() {
    // Of nine shards the first of two clients has five, and 100 samples of each.
    for (index, shards) in [(0, 5), (1, 4)] {
        let mut sim = sim(Training { batch: 16, ..JOB }, 1, |_| Step::ok(MS));
        sim.objects = objects(9, 1_000_000);
        sim.samples = Samples::Streamed { count: 900 };
        sim.cell.cache = plan::Cache::Cold;
        sim.part = plan::Share { index, of: 2 };
        sim.limit = Limit::Epochs { epochs: 1 };
        let counts = only(&sim.run());
        assert_eq!(counts.steps, shards * 100 / 16);
    }
}

/// Samples of 4,096 B with headers and padding of as many, ten in a shard.
fn by_index(sim: &mut Sim) {
    sim.objects = objects(200, 81_920);
    let even = Even { count: 2_000, per_object: 10, first_byte: 4_096, stride_bytes: 8_192, bytes: 4_096 };
    sim.samples = Samples::Even(Even { count: 1_999, ..even });
    sim.cell.access = Access::ShuffledEpoch;
    sim.cell.block_bytes = 2_048;
}

#[test]
fn samples_of_shards_that_are_read_by_index_train_as_files_do() {
    let mut sim = sim(JOB, 20, |_| Step::ok(2 * MS + MS / 2));
    by_index(&mut sim);
    let rep = sim.run();
    let counts = only(&rep);
    assert_eq!((counts.wall_ns, counts.wait_ns, counts.late), (2_100 * MS, 100 * MS, 0));
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (20 * 40, 20 * 20 * 4_096));
}

/// 40 groups of 100 samples, in two columns of four and six reads.
fn row_groups(prefetch: u32) -> Sim {
    let mut index = Index::default();
    for object in 0..40 {
        let part = |offset, bytes| Extent { object, offset, bytes };
        index.push(100, &[part(0, 400_000), part(500_000, 600_000)]);
    }
    let mut sim = sim(Training { prefetch, ..JOB }, 20, |_| Step::ok(50 * MS));
    sim.objects = objects(40, 1_100_000);
    sim.samples = Samples::Indexed(index);
    sim.cell.access = Access::ShuffledEpoch;
    sim
}

#[test]
fn a_row_group_is_read_whole_and_serves_several_batches() {
    // Ten reads bring five batches: with a group ahead, only the first is waited for.
    let rep = row_groups(6).run();
    assert_eq!((only(&rep).wait_ns, rep.counters["ops"]), (500 * MS, 40));
    // Two batches ahead, each group is begun two steps before it is wanted.
    let rep = row_groups(2).run();
    assert_eq!((only(&rep).wait_ns, rep.counters["ops"]), ((500 + 3 * 300) * MS, 40));
}

#[test]
fn groups_that_differ_in_their_reads_are_counted_no_earlier_than_they_end() {
    let mut sim = row_groups(6);
    let mut index = Index::default();
    for object in 0..40 {
        let bytes = if object % 2 == 0 { 300_000 } else { 700_000 };
        index.push(50 + u64::from(object % 2) * 100, &[Extent { object, offset: 0, bytes }]);
    }
    sim.samples = Samples::Indexed(index);
    sim.limit = Limit::Epochs { epochs: 1 };
    let rep = sim.run();
    let counts = only(&rep);
    // 4,000 samples in 200 reads; a batch of 20 is one read, after six in which a group might still not have ended.
    assert_eq!((counts.steps, rep.counters["ops"]), (200, 200));
    assert_eq!((counts.first_batch_ns, counts.wait_ns, counts.late), (350 * MS, 350 * MS, 0));
}

#[test]
fn a_limit_in_bytes_counts_what_is_read_and_not_what_objects_hold() {
    let mut sim = sim(JOB, 1, |_| Step::ok(MS));
    by_index(&mut sim);
    sim.cell.load = Load::Closed;
    sim.limit = Limit::Bytes { bytes: 100 * 2_048 };
    let rep = sim.run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (100, 100 * 2_048));
}

#[test]
fn whole_shards_are_streamed_as_files_too() {
    let mut sim = sim(JOB, 1, |_| Step::ok(MS));
    sim.cell.load = Load::Closed;
    sim.cell.task = Task::ReadFile;
    sim.limit = Limit::Epochs { epochs: 1 };
    let rep = sim.run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (40, 40_000_000));
}
