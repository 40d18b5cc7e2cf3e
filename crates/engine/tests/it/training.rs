//! Training loads: steps and waits, exact on the virtual clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::null::NullStore;
use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError};
use dataset::Data;
use engine::{Bench, CellSetup, Event, Progress};
use plan::{Cache, Decode, Engine, Fetch, Limit, Load, Task, Training, Work};
use record::{Outcome, Rep, TrainedAccelerator};

use crate::{MS, SEED, Sim, histogram, objects, settings};

/// Ten samples a step of 100 ms, two batches ahead, through a queue that all reads share.
pub(crate) const JOB: Training = Training::plain(1, 10, 100 * MS);

/// The job of so many steps over whole files of 4,096 B, each read of which takes as long as the script says, one at
/// a time on each of `channels`.
pub(crate) fn sim(
    training: Training,
    steps: u64,
    channels: u32,
    script: impl Fn(u64) -> Step + Send + Sync + 'static,
) -> Sim {
    let depth = training.reads_max().unwrap_or(channels);
    let mut sim = Sim::new(depth, channels, script);
    sim.cell.load = Load::Training(training);
    sim.cell.task = Task::ReadFile;
    sim.objects = objects(2_000, 4_096);
    sim.limit = Limit::Steps { steps, otherwise_ns: 1 };
    sim
}

fn all(rep: &Rep) -> &[TrainedAccelerator] {
    let accelerators = &rep.trained.as_ref().unwrap().accelerators;
    for counts in accelerators {
        assert_eq!(counts.compute_ns + counts.wait_ns + counts.barrier_ns, counts.wall_ns, "{counts:?}");
    }
    accelerators
}

pub(crate) fn only(rep: &Rep) -> TrainedAccelerator {
    let [counts] = all(rep) else { panic!("one accelerator") };
    *counts
}

#[test]
fn a_storage_that_takes_no_time_leaves_an_accelerator_no_wait() {
    let rep = sim(JOB, 20, 4, |_| Step::ok(0)).run();
    let counts = only(&rep);
    assert_eq!((&rep.outcome, rep.window_ns), (&Outcome::Complete, 2_000 * MS));
    assert_eq!((counts.steps, counts.compute_ns, counts.wall_ns), (20, 2_000 * MS, 2_000 * MS));
    assert_eq!((counts.excluded_compute_ns, counts.excluded_wait_ns), (100 * MS, 0));
    assert_eq!((rep.counters["ops"], rep.counters["warmup_ops"]), (200, 0));
    let ends = histogram(&rep, "lag_ns");
    assert_eq!((ends.count_at(0), ends.len()), (20, 20));
}

#[test]
fn a_storage_that_is_fast_enough_is_waited_for_once() {
    // A batch of ten takes 50 ms.
    let rep = sim(JOB, 20, 1, |_| Step::ok(5 * MS)).run();
    let counts = only(&rep);
    assert_eq!((counts.wall_ns, counts.wait_ns, counts.late), (2_050 * MS, 50 * MS, 0));
    assert_eq!((counts.first_batch_ns, counts.storage_ns), (50 * MS, 50 * MS));
    let waits = histogram(&rep, "wait_ns");
    assert_eq!((waits.count_at(1), waits.count_at(50 * MS)), (19, 1));
    // Two batches are asked for at the start, so the second took 100 ms; from then on each waits for no other.
    let fetches = histogram(&rep, "fetch_ns");
    assert_eq!((fetches.count_at(50 * MS), fetches.count_at(100 * MS)), (18, 2));
    assert_eq!(rep.trained.unwrap().timeline.len(), 20);
}

#[test]
fn a_storage_of_half_the_rate_uses_half_of_an_accelerator_less_the_first_fill() {
    let rep = sim(JOB, 100, 1, |_| Step::ok(20 * MS)).run();
    let counts = only(&rep);
    // Every batch takes 200 ms; the last step ends 100 ms after the hundredth.
    assert_eq!((counts.wall_ns, counts.compute_ns, counts.late), (20_100 * MS, 10_000 * MS, 99));
    assert_eq!(counts.compute_ns * 10_000 / counts.wall_ns, 4_975);
    assert_eq!((counts.storage_ns, counts.client_ns), (counts.wait_ns, 0));
}

/// One reader, batches of one sample that take 10 ms, steps of 100 ms; the 20th read stalls.
fn stalled(stall_ns: u64) -> TrainedAccelerator {
    let training = Training { batch: 1, fetch: Fetch::Readers { count: 1 }, ..JOB };
    only(&sim(training, 40, 1, move |n| Step::ok(if n == 20 { stall_ns } else { 10 * MS })).run())
}

#[test]
fn a_stall_that_the_prefetch_covers_delays_no_step() {
    // Batch 20 is asked for as step 18 begins, and wanted 200 ms later.
    assert_eq!(stalled(200 * MS).late, 0);
    let longer = stalled(250 * MS);
    assert_eq!((longer.late, longer.wait_ns), (1, (10 + 50) * MS));
    // Batch 21 is read after the stall, in 10 ms.
    assert_eq!(longer.wall_ns, 4_060 * MS);
}

#[test]
fn one_batch_less_ahead_waits_for_a_step_longer() {
    let training = Training { batch: 1, prefetch: 1, fetch: Fetch::Readers { count: 1 }, ..JOB };
    let script = |n| Step::ok(if n == 20 { 200 * MS } else { 10 * MS });
    let counts = only(&sim(training, 40, 1, script).run());
    assert_eq!((counts.late, counts.wait_ns), (1, (10 + 100) * MS));
    let none = Training { prefetch: 0, ..training };
    let counts = only(&sim(none, 40, 1, script).run());
    assert_eq!((counts.late, counts.wait_ns), (39, (39 * 10 + 200) * MS));
}

#[test]
fn what_is_added_to_every_read_is_what_every_step_waits() {
    let waits_ns = |added_ns| {
        let training = Training { batch: 4, prefetch: 0, fetch: Fetch::Readers { count: 1 }, ..JOB };
        only(&sim(training, 50, 1, move |_| Step::ok(MS + added_ns)).run()).wait_ns
    };
    assert_eq!(waits_ns(2 * MS) - waits_ns(0), 50 * 4 * 2 * MS);
}

#[test]
fn readers_fetch_their_batches_side_by_side() {
    // A reader takes 400 ms for a batch that is due every 100: one is too few, and four are just enough.
    let run = |count| {
        let training = Training { fetch: Fetch::Readers { count }, prefetch: 4, ..JOB };
        only(&sim(training, 20, 4, |_| Step::ok(40 * MS)).run())
    };
    let (one, four) = (run(1), run(4));
    assert_eq!((one.wall_ns, one.late), ((20 * 400 + 100) * MS, 19));
    assert_eq!((four.wall_ns, four.late), ((400 + 20 * 100) * MS, 0));
    // One that has four reads of its batch under way takes three turns for ten samples, and begins the next batch with all of them.
    let inner = Training { fetch: Fetch::Readers { count: 1 }, fetches: 4, prefetch: 4, ..JOB };
    let inner = only(&sim(inner, 20, 4, |_| Step::ok(40 * MS)).run());
    assert_eq!((inner.wall_ns, inner.first_batch_ns), ((20 * 120 + 100) * MS, 120 * MS));
    // Four reads at a time of all batches have the first one in 120 ms, since they share its samples.
    let shared = only(&sim(Training { prefetch: 4, ..JOB }, 20, 4, |_| Step::ok(40 * MS)).run());
    assert_eq!((shared.first_batch_ns, shared.late), (120 * MS, 0));
}

#[test]
fn accelerators_with_a_barrier_wait_for_each_other() {
    let training =
        Training { accelerators: 2, batch: 1, barrier: true, fetch: Fetch::Readers { count: 1 }, ..JOB };
    // Reads of the first: 0, 2, …; the 40th of both stalls.
    let rep = sim(training, 40, 2, |n| Step::ok(if n == 41 { 500 * MS } else { MS })).run();
    let [first, second] = all(&rep) else { panic!("two accelerators") };
    assert_eq!(first.wall_ns, second.wall_ns);
    let (waited, held) = if first.barrier_ns > 0 { (second, first) } else { (first, second) };
    assert_eq!((waited.late, waited.barrier_ns, held.late), (1, 0, 0));
    // It was asked for as the step two before it began.
    assert_eq!((waited.wait_ns - MS, held.barrier_ns), (300 * MS, 300 * MS));
}

#[test]
fn a_job_of_epochs_starts_its_readers_in_each() {
    let mut sim = sim(Training { startup_ns: 70 * MS, ..JOB }, 1, 1, |_| Step::ok(MS));
    sim.objects = objects(45, 4_096);
    sim.limit = Limit::Epochs { epochs: 3 };
    let rep = sim.run();
    let counts = only(&rep);
    // Four steps an epoch; five samples are dropped.
    assert_eq!((&rep.outcome, counts.steps, rep.counters["ops"]), (&Outcome::Complete, 12, 120));
    assert_eq!((counts.wall_ns, counts.startup_ns), (3 * (70 + 10 + 400) * MS, 3 * 70 * MS));
    assert_eq!((counts.storage_ns, counts.late, rep.window_ns), (30 * MS, 2, counts.wall_ns));
}

#[test]
fn a_cold_pass_runs_out_and_is_not_read_again() {
    let cold = |limit| {
        let mut sim = sim(JOB, 1, 1, |_| Step::ok(MS));
        (sim.cell.cache, sim.limit, sim.objects) = (Cache::Cold, limit, objects(55, 4_096));
        sim.run()
    };
    for limit in [Limit::Steps { steps: 6, otherwise_ns: 1 }, Limit::Duration { duration_ns: 9_000 * MS }] {
        let rep = cold(limit);
        assert_eq!((&rep.outcome, rep.window_ns, only(&rep).steps), (&Outcome::Exhausted, 510 * MS, 5));
        assert!(rep.trained.unwrap().ran_out);
    }
    let rep = cold(Limit::Steps { steps: 5, otherwise_ns: 1 });
    assert_eq!((rep.outcome, rep.trained.unwrap().ran_out), (Outcome::Complete, false));
}

#[test]
fn a_window_ends_in_the_middle_of_a_step() {
    let mut sim = sim(JOB, 1, 1, |_| Step::ok(5 * MS));
    sim.limit = Limit::Duration { duration_ns: 275 * MS };
    // A warm-up is none of a job.
    sim.warmup_ns = 50 * MS;
    let rep = sim.run();
    let counts = only(&rep);
    assert_eq!((&rep.outcome, rep.window_ns, rep.counters["warmup_ops"]), (&Outcome::Complete, 275 * MS, 0));
    assert_eq!((counts.steps, counts.compute_ns, counts.wait_ns), (3, 225 * MS, 50 * MS));
}

#[test]
fn a_sample_that_cannot_be_read_is_lost_and_its_batch_goes_on() {
    let error = Fault::Error(OpError { kind: ErrorKind::Io, code: 5 });
    let script = move |n| Step { latency_ns: 5 * MS, fault: (n == 33).then_some(error) };
    let rep = sim(JOB, 20, 1, script).run();
    let counts = only(&rep);
    assert_eq!((counts.steps, counts.lost_samples, counts.late), (20, 1, 0));
    assert_eq!((rep.errors["io"], rep.counters["ops"], &rep.outcome), (1, 199, &Outcome::Complete));
}

#[test]
fn a_sample_is_waited_for_until_its_last_attempt() {
    let error = Fault::Error(OpError { kind: ErrorKind::Throttled, code: 503 });
    let training = Training { batch: 1, prefetch: 0, ..JOB };
    let script = move |n| Step { latency_ns: MS, fault: (n == 3).then_some(error) };
    let mut sim = sim(training, 10, 1, script);
    sim.cell.retries = 2;
    let rep = sim.run();
    let counts = only(&rep);
    assert_eq!((counts.lost_samples, rep.counters["recovered"], counts.steps), (0, 1, 10));
    let back_off_ns = counts.wait_ns - 11 * MS;
    assert!((1..=50 * MS).contains(&back_off_ns), "{back_off_ns}");
    assert_eq!(counts.storage_ns, counts.wait_ns);
}

#[test]
fn nothing_but_failures_ends_a_job_as_failed() {
    let error = Fault::Error(OpError { kind: ErrorKind::NotFound, code: 2 });
    let rep = sim(JOB, 1_000, 2, move |_| Step { latency_ns: 1, fault: Some(error) }).run();
    assert!(matches!(rep.outcome, Outcome::Failed { .. }), "{:?}", rep.outcome);
    assert!(only(&rep).lost_samples >= 1_000);
}

#[test]
fn a_thread_whose_queue_breaks_ends_the_job_of_those_that_it_shares_it_with() {
    let script = |n| Step { latency_ns: MS, fault: (n == 20).then_some(Fault::Break) };
    let mut sim = sim(Training { accelerators: 2, ..JOB }, 1_000, 2, script);
    (sim.cell.engine, sim.cell.threads) = (Engine::Pread, 2);
    let rep = sim.run();
    assert!(matches!(rep.outcome, Outcome::Failed { .. }), "{:?}", rep.outcome);
    assert!(all(&rep).iter().all(|counts| counts.steps < 1_000));
}

#[test]
fn a_signal_ends_a_job_where_it_is() {
    let stop: Arc<AtomicBool> = Arc::default();
    let raise = Arc::clone(&stop);
    // The 30th read, the last of the third batch, is asked for 10 ms + 9 reads after the start of the first step.
    let mut sim = sim(JOB, 50, 1, move |n| {
        raise.store(n == 29, Ordering::Relaxed);
        Step::ok(MS)
    });
    sim.stop = stop;
    let rep = sim.run();
    let counts = only(&rep);
    assert_eq!((&rep.outcome, counts.steps), (&Outcome::Interrupted, 1));
    assert_eq!((counts.wall_ns, rep.window_ns), (30 * MS, 30 * MS));
    assert_eq!((counts.compute_ns, counts.wait_ns), (20 * MS, 10 * MS));
}

pub(crate) fn cost(per_sample_ns: u64, threads: Option<u32>) -> Decode {
    Decode { work: Work::Cost { per_sample_ns }, threads }
}

#[test]
fn readers_decode_what_they_read_and_the_wait_is_split_between_both() {
    let training = Training { fetch: Fetch::Readers { count: 1 }, decode: Some(cost(15 * MS, None)), ..JOB };
    let rep = sim(training, 10, 1, |_| Step::ok(5 * MS)).run();
    let counts = only(&rep);
    // 200 ms a batch, three quarters of them decoding.
    assert_eq!((counts.wall_ns, counts.wait_ns), (2_100 * MS, 1_100 * MS));
    assert_eq!((counts.decode_ns, counts.storage_ns, counts.client_ns), (825 * MS, 275 * MS, 0));
    let decoded = histogram(&rep, "decode_ns");
    assert_eq!((decoded.count_at(15 * MS), decoded.len()), (100, 100));
}

#[test]
fn servers_decode_while_others_read() {
    // 15 ms for each sample by two servers is faster than the 100 ms of a step; by one it is not.
    let run = |threads| {
        let training = Training { decode: Some(cost(15 * MS, Some(threads))), ..JOB };
        only(&sim(training, 10, 1, |_| Step::ok(5 * MS)).run())
    };
    let (two, one) = (run(2), run(1));
    assert_eq!((two.late, two.first_batch_ns), (0, 85 * MS));
    assert_eq!((one.late, one.wall_ns), (9, (5 + 10 * 150 + 100) * MS));
    assert!(one.decode_ns > one.wait_ns / 2, "{one:?}");
}

#[test]
fn a_client_that_was_away_is_named_for_what_its_absence_cost() {
    let clock = Clock::simulated();
    let device = Simulated::new(&clock, 1, SEED, |_| Step::ok(5 * MS));
    let mut sim = sim(Training { prefetch: 0, ..JOB }, 5, 1, |_| Step::ok(5 * MS));
    // Without it the third step would begin at 450 ms, after a fetch from 400 on.
    sim.store = Arc::new(device.with_client_away(300 * MS..450 * MS));
    sim.clock = clock;
    let counts = only(&sim.run());
    // Steps of 100 ms and fetches of 50 by turns: the end of the second step, at 300 ms, is noticed at 450.
    assert_eq!((counts.wait_ns, counts.late), ((5 * 50 + 150) * MS, 4));
    // It is no compute time, to DLIO neither: nobody slept through it.
    assert_eq!((counts.compute_ns, counts.excluded_compute_ns), (500 * MS, 100 * MS));
    assert!(counts.client_ns > 100 * MS && counts.client_ns <= 150 * MS, "{counts:?}");
}

#[test]
fn where_time_passes_in_waits_alone_nobody_looks_for_the_end_of_a_step() {
    let [counts, spinning] = [0, 10 * MS]
        .map(|spin_ns| only(&sim(Training { spin_ns, ..JOB }, 20, 1, |_| Step::ok(5 * MS)).run()));
    assert_eq!(counts, spinning);
}

#[test]
fn samples_of_several_blocks_are_read_in_full() {
    let mut sim = sim(JOB, 8, 4, |_| Step::ok(MS));
    sim.cell.task = Task::Read;
    sim.objects = objects(100, 10_000);
    let rep = sim.run();
    assert_eq!((rep.counters["ops"], rep.counters["bytes"]), (240, 800_000));
    assert_eq!((only(&rep).steps, rep.errors.len()), (8, 0));
}

/// On the machine's clock and the null target: counts only.
fn real(training: Training, engine: Engine, threads: u32) -> Sim {
    let mut sim = Sim::on(NullStore::default(), &Clock::real(), threads.max(4));
    sim.cell.load = Load::Training(training);
    sim.cell.task = Task::ReadFile;
    sim.cell.engine = engine;
    sim.cell.threads = threads;
    if let Fetch::Readers { count } = training.fetch {
        sim.cell.queue_depth = training.accelerators * count;
    }
    sim.objects = objects(2_000, 4_096);
    sim.limit = Limit::Epochs { epochs: 2 };
    sim
}

#[test]
fn threads_share_a_job_and_read_every_sample_once() {
    let job = Training { accelerators: 4, compute_ns: MS / 10, ..JOB };
    let readers = Training { fetch: Fetch::Readers { count: 2 }, ..job };
    let cases = [
        (job, Engine::Null, 1),
        (job, Engine::Null, 2),
        (readers, Engine::Null, 3),
        (readers, Engine::Pread, 8),
        (Training { barrier: true, ..readers }, Engine::Pread, 8),
        (job, Engine::Pread, 4),
        (Training { spin_ns: MS / 20, ..job }, Engine::Null, 2),
        // All of a step, so that every rest is one in which the clock is looked at.
        (Training { spin_ns: MS, barrier: true, ..readers }, Engine::Pread, 8),
    ];
    for (training, engine, threads) in cases {
        let rep = real(training, engine, threads).run();
        assert_eq!(
            (&rep.outcome, rep.counters["ops"]),
            (&Outcome::Complete, 4_000),
            "{training:?} {threads}"
        );
        assert!(all(&rep).iter().all(|counts| counts.steps == 100 && counts.lost_samples == 0));
        assert_eq!(histogram(&rep, "wait_ns").len(), 400);
    }
}

/// Decodes for real, on threads of its own.
fn decoded(work: Work, training: Training, (engine, threads): (Engine, u32), seed: Option<u64>) -> Rep {
    let training = Training { decode: Some(Decode { work, threads: Some(2) }), ..training };
    let mut sim = real(training, engine, threads);
    sim.verify_seed = seed;
    sim.run()
}

#[test]
fn samples_are_decoded_by_threads_that_say_when() {
    let job = Training { accelerators: 4, compute_ns: MS / 10, ..JOB };
    let readers = Training { fetch: Fetch::Readers { count: 2 }, ..job };
    for (training, threads) in [
        (job, (Engine::Null, 1)),
        (readers, (Engine::Null, 2)),
        (readers, (Engine::Pread, 8)),
        (job, (Engine::Pread, 4)),
    ] {
        let rep = decoded(Work::Checksum, training, threads, Some(SEED));
        assert_eq!((&rep.outcome, rep.counters["ops"]), (&Outcome::Complete, 4_000), "{training:?}");
        assert!(all(&rep).iter().all(|counts| counts.steps == 100 && counts.lost_samples == 0));
        assert_eq!(histogram(&rep, "decode_ns").len(), 4_000);
        assert_eq!(rep.granted["decode_input"], "the bytes that were read");
        let trained = rep.trained.unwrap();
        assert!(trained.decode_failures == 0 && trained.decode_cpu_ns > 0);
    }
}

#[test]
fn generated_data_are_decoded_by_a_stand_in_and_others_as_they_are() {
    let job = Training { compute_ns: MS / 10, ..JOB };
    let generated = decoded(Work::Gzip, job, (Engine::Null, 1), Some(SEED));
    assert_eq!(generated.granted["decode_input"], "a stand-in of the sample's size");
    assert_eq!((only(&generated).lost_samples, generated.outcome), (0, Outcome::Complete));
    // What the null target leaves in a buffer is no gzip member.
    let others = decoded(Work::Gzip, job, (Engine::Null, 1), None);
    assert_eq!(
        (only(&others).lost_samples, only(&others).steps, &others.outcome),
        (4_000, 400, &Outcome::Complete)
    );
    assert!(others.granted["first_decode_failure"].contains("gzip"), "{:?}", others.granted);
    assert_eq!(others.trained.unwrap().decode_failures, 4_000);
}

#[test]
fn a_stated_processor_time_is_taken_for_each_sample_whatever_its_size() {
    let per_sample_ns = 20_000;
    let job = Training { compute_ns: MS / 10, ..JOB };
    let rep = decoded(Work::Processor { per_sample_ns }, job, (Engine::Null, 1), None);
    assert_eq!((only(&rep).lost_samples, only(&rep).steps, &rep.outcome), (0, 400, &Outcome::Complete));
    assert_eq!(histogram(&rep, "decode_ns").len(), 4_000);
    assert_eq!(rep.granted["decode_input"], "processor time in place of a decoder");
    let trained = rep.trained.unwrap();
    assert!(trained.decode_cpu_ns >= 4_000 * per_sample_ns, "{trained:?}");
}

#[test]
fn a_sample_larger_than_its_buffer_is_decoded_by_its_stand_in() {
    let decode = Some(Decode { work: Work::Gzip, threads: Some(1) });
    let mut sim = real(Training { compute_ns: MS / 10, decode, ..JOB }, Engine::Null, 1);
    sim.objects = objects(100, 10_000);
    sim.verify_seed = Some(SEED);
    let rep = sim.run();
    assert_eq!((only(&rep).lost_samples, only(&rep).steps, &rep.outcome), (0, 20, &Outcome::Complete));
}

#[test]
fn a_decoder_that_cannot_have_the_whole_sample_is_refused() {
    let training = Training { decode: Some(Decode { work: Work::Checksum, threads: None }), ..JOB };
    let mut sim = sim(training, 1, 1, |_| Step::ok(MS));
    sim.objects = objects(100, 10_000);
    let error = sim.try_run().unwrap_err().to_string();
    assert!(error.contains("10000 bytes") && error.contains("hint:"), "{error}");
}

#[test]
fn the_control_plays_the_same_job_on_no_storage() {
    let sim = sim(Training { startup_ns: 50 * MS, ..JOB }, 40, 1, |_| Step::ok(MS));
    let cells = [sim.cell.clone()];
    let setup = CellSetup {
        copy_to: None,
        beside: None,
        store: Arc::clone(&sim.store),
        server: None,
        data: Arc::new(Data::files(Arc::clone(&sim.objects), None)),
        checkpoints: None,
        sample_bytes: 4_096.0,
        line_samples_per_s: 100.0,
    };
    let settings = settings(sim.limit, 1);
    let setups = [setup];
    let progress = Progress::default();
    let clock = sim.clock.clone();
    let bench = Bench::new(&cells, &setups, settings, &clock, &sim.stop, &progress);
    let mut ceilings = Vec::new();
    let _ = bench.ceilings::<()>(&[0], &mut |event| {
        if let Event::Ceiling(ceiling) = event {
            ceilings.push(ceiling);
        }
        Ok(())
    });
    let [played] = &ceilings[..] else { panic!("{} ceilings", ceilings.len()) };
    // Twelve steps of 100 ms, without the start of readers.
    let [counts] = &played.trained.as_ref().unwrap().accelerators[..] else { panic!("one accelerator") };
    assert_eq!((played.window_ns, counts.wall_ns, counts.startup_ns), (1_200 * MS, 1_200 * MS, 0));
    assert_eq!((counts.steps, counts.compute_ns, played.copies), (12, 1_200 * MS, false));
}

#[test]
fn a_job_that_the_data_do_not_fit_is_refused() {
    let mut sim = sim(JOB, 1, 1, |_| Step::ok(MS));
    sim.objects = objects(9, 4_096);
    let error = sim.try_run().unwrap_err().to_string();
    assert!(error.contains("9 samples") && error.contains("hint:"), "{error}");
}
