//! Shards: streamed, read by index, and trained on; exact on the virtual clock.

use backend::simulated::{Fault, Step};
use backend::{ErrorKind, OpError};
use dataset::{Even, Extent, Index, Samples};
use engine::RepError;
use plan::{Access, Decode, Fetch, Limit, Load, Operation, Training, Work};
use record::{Outcome, TrainedAccelerator};

use crate::{MS, Sim, objects};

const BLOCK_BYTES: u32 = 100_000;

/// 20 samples a step of 100 ms, two batches ahead, through a queue that all reads share.
const JOB: Training = Training {
    accelerators: 1,
    batch: 20,
    compute_ns: 100 * MS,
    fetch: Fetch::Shared,
    prefetch: 2,
    barrier: false,
    decode: None,
    startup_ns: 0,
    threshold: 0.9,
    price_per_hour: None,
};

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
    sim.cell.access = Access::ShuffledShards;
    sim.cell.streams = depth;
    sim.cell.block_bytes = BLOCK_BYTES;
    sim.limit = Limit::Steps { steps, otherwise_ns: 1 };
    sim
}

fn only(rep: &engine::RepOutcome) -> TrainedAccelerator {
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
fn real_decoders_of_streamed_samples_are_refused() {
    let decode = Decode { work: Work::Checksum, threads: None };
    let sim = sim(Training { decode: Some(decode), ..JOB }, 20, |_| Step::ok(MS));
    let Err(error) = sim.try_run() else { panic!("it decodes") };
    assert!(matches!(error, RepError::DecoderOfParts { work: "checksum" }), "{error}");
    assert!(
        error.to_string().contains("\n  hint: state what decoding takes (`decode = { cost = \"6ms\" }`)")
    );
}

#[test]
fn a_batch_that_is_no_whole_number_of_reads_is_refused_with_a_block_size_that_fits() {
    let run = |batch, block_bytes| {
        let mut sim = sim(Training { batch, ..JOB }, 5, |_| Step::ok(MS));
        sim.cell.block_bytes = block_bytes;
        sim.try_run()
    };
    let Err(error) = run(25, BLOCK_BYTES) else { panic!("2.5 reads are no batch") };
    let RepError::BatchReads { exact, reads, fitting_bytes, .. } = error else { panic!("{error}") };
    assert_eq!((exact, reads, fitting_bytes), (2.5, 3, 8_192), "4 % of 250,000 B, in pages");
    assert!(run(25, fitting_bytes as u32).is_ok());
    assert!(run(25, 50_000).is_ok(), "it divides the batch");
    // A batch of less than one read.
    assert!(matches!(run(4, BLOCK_BYTES), Err(RepError::BatchReads { reads: 1, .. })));
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

#[test]
fn a_batch_of_row_groups_is_so_many_reads_of_them() {
    let mut index = Index::default();
    for group in 0..40_u64 {
        let object = group as u32;
        let part = |offset, bytes| Extent { object, offset, bytes };
        // Two columns: ten reads for 100 samples.
        index.push(100, &[part(0, 400_000), part(500_000, 600_000 - 500_000 + 500_000)]);
    }
    let mut sim = sim(JOB, 20, |_| Step::ok(50 * MS));
    sim.objects = objects(40, 1_100_000);
    sim.samples = Samples::Indexed(index);
    sim.cell.access = Access::ShuffledEpoch;
    let rep = sim.run();
    assert_eq!((only(&rep).wait_ns, rep.counters["ops"]), (100 * MS, 40));
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
    sim.cell.operation = Operation::ReadFile;
    sim.limit = Limit::Epochs { epochs: 1 };
    let rep = sim.run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (40, 40_000_000));
}
