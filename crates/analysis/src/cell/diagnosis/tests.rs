use record::counter;

use super::*;
use crate::fixture::{Builder, DEMAND, confirmed_job, figures, job_rep, null_control, rep};

/// One repetition of the job, `in_flight` of 64 reads in flight.
fn played(stall: Stall, in_flight: f64) -> Builder {
    let mut builder = confirmed_job(&[]);
    builder.push(job_rep("c", 0, stall, in_flight));
    builder
}

fn storage(share: f64) -> Stall {
    Stall { storage: share, ..Stall::default() }
}

/// Adds a closed loop that moves so many samples per second.
fn closed(builder: &mut Builder, depth: u32, samples_per_s: f64) {
    let name = format!("closed{depth}");
    builder.cell(&name, "disk", depth);
    builder.edit_cell(&name, |cell| cell.operation = "read_file".into());
    // Ten seconds, so that few reads per second are enough turns of a deep queue.
    let mut one = rep(&name, 0, samples_per_s * 100e3 * 10.0);
    (one.window_ns, one.usage.wall_ns) = (10_000_000_000, 10_000_000_000);
    builder.push(one);
}

/// Adds a closed loop of samples eight times as large.
fn of_larger_samples(builder: &mut Builder, bps: f64) {
    let mut dataset = builder.run.datasets[0].clone();
    dataset.sample_bytes *= 8.0;
    builder.run.datasets.push(dataset);
    builder.cell("large", "disk", 64);
    builder.edit_cell("large", |cell| (cell.operation, cell.dataset) = ("read_file".into(), 1));
    builder.push(rep("large", 0, bps));
}

/// Gives the job's reads these phases, in shares of their time.
fn phases(builder: &mut Builder, shares: &[(&str, f64)]) {
    let histograms: Vec<(String, record::HistogramText)> = shares
        .iter()
        .map(|(name, share)| {
            let mut histogram = record::new_histogram();
            histogram.record_n((share * 1e7) as u64, 1_000).unwrap();
            ((*name).to_owned(), record::encode(&histogram))
        })
        .collect();
    builder.edit_reps("c", |rep| rep.histograms.extend(histograms.clone()));
}

/// So many of 1,000,000 attempts were refused.
fn throttled(builder: &mut Builder, refused: u64) {
    builder.edit_reps("c", |rep| {
        rep.counters.insert(counter::ATTEMPTS.to_owned(), 1_000_000);
        rep.counters.insert(format!("{}throttled", counter::ATTEMPT_ERRORS), refused);
    });
}

fn of(builder: &Builder) -> Option<Diagnosis> {
    figures(builder, "c").training.unwrap().diagnosis
}

fn bound(builder: &Builder) -> Option<Bound> {
    of(builder).map(|diagnosis| diagnosis.bound)
}

fn said(builder: &Builder) -> Vec<String> {
    let diagnosis = of(builder).unwrap();
    std::iter::once(diagnosis.words()).chain(diagnosis.evidence).collect()
}

#[test]
fn nothing_is_looked_for_from_99_5_percent_on() {
    assert_eq!(bound(&played(storage(0.004), 64.0)), None);
    assert_eq!(bound(&played(storage(0.006), 64.0)), Some(Bound::Latency));
}

#[test]
fn what_checkpoints_take_is_no_latency_of_reads() {
    let stall = |checkpoint: f64| Stall { storage: 0.05, checkpoint, ..Stall::default() };
    let words = said(&played(stall(0.3), 64.0));
    assert_eq!(
        words[..2],
        [
            "bound by checkpoints: asynchronous checkpoints, fewer of them, or storage that takes them faster would do",
            "86 % of the stall is standing still for checkpoints (30 % of the time)",
        ]
    );
    assert_eq!(bound(&played(stall(0.05), 64.0)), Some(Bound::Latency));
}

#[test]
fn latency_says_how_much_more_in_flight_is_needed() {
    let mut builder = played(storage(0.775), 64.0);
    closed(&mut builder, 64, 2_250.0);
    closed(&mut builder, 256, 8_800.0);
    builder.push_ceiling(null_control("c", 0.9998));
    assert_eq!(
        said(&builder),
        [
            "latency-bound: 4 times as much in flight would do (32 readers)",
            "100 % of what accelerators waited for is storage (77 % of the time)",
            "reads take 28.5 ms in the mean and 64 of 64 are in flight: 2,250 reads/s; 9,000 for AU 90 % take 257 in \
             flight",
            "a closed loop moves 880 MB/s at depth 256 and 225 MB/s at 64",
            "with data from memory (null target) the same job runs at 99.98 %: the storage, not the loop, is what it \
             waits for",
        ]
    );
}

#[test]
fn a_deeper_loop_that_does_not_reach_the_target_is_worth_more_than_the_arithmetic() {
    let mut builder = played(storage(0.6), 64.0);
    closed(&mut builder, 64, 4_000.0);
    closed(&mut builder, 256, 6_000.0);
    let words = of(&builder).unwrap().words();
    assert_eq!(
        words,
        "latency-bound: more in flight helps, but depth 256 reaches 67 % of what the job is to have"
    );
}

#[test]
fn readers_that_are_not_busy_want_a_deeper_prefetch() {
    let mut builder = played(storage(0.3), 20.0);
    closed(&mut builder, 64, 20_000.0);
    closed(&mut builder, 256, 60_000.0);
    let words = of(&builder).unwrap().words();
    assert_eq!(words, "latency-bound: a deeper prefetch would keep all readers busy");
}

#[test]
fn without_closed_loops_busy_readers_explain_the_rate_and_idle_ones_do_not() {
    let busy = said(&played(storage(0.5), 64.0));
    assert_eq!(busy[0], "latency-bound: 1.8 times as much in flight would do (15 readers)");
    assert_eq!(busy[3], "whether more in flight helps was not measured in a closed loop");
    assert_eq!(bound(&played(storage(0.5), 50.0)), None, "nothing says why");
}

#[test]
fn bandwidth_is_what_no_depth_adds_to() {
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 6_000.0);
    closed(&mut builder, 256, 6_300.0);
    assert_eq!(
        said(&builder)[2..],
        [
            "a closed loop moves 630 MB/s at depth 256 and 600 MB/s at 64",
            "the job moves 600 MB/s, 95 % of the most"
        ]
    );
    assert_eq!(bound(&builder), Some(Bound::Bandwidth));
}

#[test]
fn closed_loops_that_the_client_limits_say_nothing_of_the_storage() {
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 6_000.0);
    closed(&mut builder, 256, 6_100.0);
    builder.edit_reps("closed256", |rep| rep.usage.cpu_user_ns = rep.usage.wall_ns * 8);
    assert_eq!(bound(&builder), Some(Bound::Latency));
    assert!(said(&builder)[3].contains("was not measured"), "{:?}", said(&builder));
}

#[test]
fn a_flat_loop_that_the_job_does_not_reach_is_not_its_limit() {
    let mut builder = played(storage(0.4), 20.0);
    closed(&mut builder, 64, 9_500.0);
    closed(&mut builder, 256, 9_600.0);
    assert_eq!(of(&builder).unwrap().words(), "latency-bound: a deeper prefetch would keep all readers busy");
}

#[test]
fn a_flat_loop_below_the_target_is_the_limit_of_a_loader_that_takes_turns_too() {
    let mut builder = played(storage(0.4), 20.0);
    closed(&mut builder, 64, 8_500.0);
    closed(&mut builder, 256, 8_600.0);
    let words = said(&builder);
    assert_eq!(
        words[0],
        "bandwidth-bound: a deeper prefetch alone would not do: more connections, faster storage or fewer bytes are \
         needed too"
    );
    assert_eq!(
        words[3..],
        ["the job moves 600 MB/s, 70 % of the most", "the most is 96 % of what the job is to have"]
    );
}

#[test]
fn a_slow_repetition_of_the_loop_beside_makes_no_latency_of_a_rate() {
    // The job itself shows that its depth gives more than the loop did.
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 5_400.0);
    closed(&mut builder, 256, 6_100.0);
    assert_eq!(bound(&builder), Some(Bound::Bandwidth));
}

#[test]
fn streams_that_follow_the_depth_are_no_other_way_of_reading() {
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 6_000.0);
    closed(&mut builder, 256, 6_100.0);
    for (name, streams) in [("c", 64), ("closed64", 64), ("closed256", 256)] {
        builder.edit_cell(name, |cell| cell.streams = Some(streams));
    }
    assert_eq!(bound(&builder), Some(Bound::Bandwidth));
}

#[test]
fn reads_that_are_slower_than_in_a_closed_loop_are_not_helped_by_more_of_them() {
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 8_500.0);
    closed(&mut builder, 256, 8_600.0);
    assert!(of(&builder).unwrap().advice.starts_with("as many reads are faster in a closed loop"));
}

#[test]
fn requests_are_scarce_where_larger_reads_move_more_or_the_server_refuses() {
    let mut builder = played(storage(0.45), 64.0);
    closed(&mut builder, 64, 5_500.0);
    closed(&mut builder, 256, 5_500.0);
    of_larger_samples(&mut builder, 2.2e9);
    let words = said(&builder);
    assert!(words[0].starts_with("rate-bound: larger files or shards, or more prefixes"), "{words:?}");
    assert_eq!(
        words[3],
        "that is 5,500 reads/s, while large moves 4.0 times the bytes: requests are what is scarce"
    );
    let mut refused = played(storage(0.45), 64.0);
    throttled(&mut refused, 21_000);
    let words = said(&refused);
    assert!(words[2].starts_with("2.1 % of attempts were told to come back later"), "{words:?}");
}

#[test]
fn names_take_the_time_of_small_files() {
    let mut builder = played(storage(0.5), 64.0);
    phases(&mut builder, &[("open_ns", 0.5), ("stat_ns", 0.2), ("read_ns", 0.25), ("close_ns", 0.05)]);
    let words = said(&builder);
    assert_eq!(words[0], "metadata-bound: larger files or shards, each opened once for many samples");
    assert_eq!(words[2], "75 % of a file's time moves no bytes: open 50 %, stat 20 %, close 5.0 %");
    phases(&mut builder, &[("read_ns", 0.60)]);
    assert_eq!(bound(&builder), Some(Bound::Latency));
}

#[test]
fn decoding_says_what_and_by_whom() {
    let mut builder = played(Stall { decode: 0.3, ..Stall::default() }, 8.0);
    builder.edit_cell("c", |cell| {
        let job = cell.training.as_mut().unwrap();
        (job.decode, job.decode_cost_ns) = (Some("cost".to_owned()), Some(7_000_000));
    });
    assert_eq!(
        said(&builder),
        [
            "decode-bound: faster decoding, or more readers or threads that decode",
            "100 % of what accelerators waited for is decoding (30 % of the time)",
            "each sample takes 7 ms to decode, as stated by the reader that has read it, before it reads the next",
        ]
    );
}

#[test]
fn a_loop_that_is_slow_without_storage_is_the_clients() {
    let mut builder = played(storage(0.10), 64.0);
    builder.push_ceiling(null_control("c", 0.93));
    let words = said(&builder);
    assert_eq!(words[0], "client-bound: more processors, or fewer accelerators on this client");
    assert_eq!(
        words[1],
        "with data from memory (null target) the same job reaches AU 93.0 %: 70 % of the stall needs no storage"
    );
    let mut builder = played(storage(0.20), 64.0);
    builder.push_ceiling(null_control("c", 0.93));
    assert_eq!(bound(&builder), Some(Bound::Latency));
}

#[test]
fn a_client_without_processor_time_lets_storage_look_slow() {
    let mut builder = played(storage(0.5), 64.0);
    builder.edit_reps("c", |rep| rep.usage.cpu_user_ns = rep.usage.wall_ns * 8);
    let words = said(&builder);
    assert!(words[0].starts_with("client-bound") && words[2] == "CLIENT-LIMITED, CPU 100 %", "{words:?}");
}

#[test]
fn a_short_job_is_bound_by_its_start() {
    let mut builder = played(storage(0.2), 64.0);
    builder.edit_reps("c", |rep| {
        let trained = rep.trained.as_mut().unwrap();
        trained.accelerators.iter_mut().for_each(|one| one.first_batch_ns = one.wait_ns * 9 / 10);
    });
    let words = said(&builder);
    let expected =
        "bound by the first fill: a longer job, or longer epochs, would show what it does in the long run";
    assert_eq!(words[0], expected);
    assert!(words[1].starts_with("the first batch came after 2.25 s: 90 % of the stall"), "{words:?}");
}

#[test]
fn epochs_that_fill_anew_are_bound_by_their_fills_and_readers_that_start_by_their_start() {
    let bound_by = |fill: u64, startup: u64| {
        let mut builder = played(storage(0.2), 64.0);
        builder.edit_reps("c", |rep| {
            for one in &mut rep.trained.as_mut().unwrap().accelerators {
                // Ten epochs, and one first batch that is a tenth of their fills.
                one.excluded_compute_ns = one.compute_ns / 10;
                one.startup_ns = one.wait_ns * startup / 10;
                one.storage_ns = one.wait_ns - one.startup_ns;
                one.excluded_wait_ns = one.wait_ns * (fill + startup) / 10;
                one.first_batch_ns = one.excluded_wait_ns / 10;
            }
        });
        bound(&builder)
    };
    assert_eq!(bound_by(8, 0), Some(Bound::FirstFill));
    assert_eq!(bound_by(2, 8), Some(Bound::Startup));
    // Half of the stall is no cause: what the storage does in the long run is looked at.
    assert_ne!(bound_by(5, 0), Some(Bound::FirstFill));
}

#[test]
fn a_barrier_that_is_most_of_the_stall_names_the_worst_accelerator() {
    let words = said(&played(Stall { barrier: 0.2, storage: 0.05, ..Stall::default() }, 8.0));
    assert!(words[0].starts_with("bound by the slowest accelerator: "), "{words:?}");
    assert!(words[1].starts_with("80 % of the stall is waiting for other accelerators"), "{words:?}");
}

#[test]
fn a_warm_cell_waited_for_no_storage() {
    let mut builder = played(storage(0.5), 64.0);
    builder.edit_cell("c", |cell| cell.cache = "warm".into());
    assert!(said(&builder).last().unwrap().contains("page cache (warm)"));
}

/// Numbers that depend on the seed alone (SplitMix64).
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn part_mut(stall: &mut Stall, bound: Bound) -> &mut f64 {
    match bound {
        Bound::Decode => &mut stall.decode,
        Bound::Client => &mut stall.client,
        Bound::Startup => &mut stall.startup,
        Bound::Barrier => &mut stall.barrier,
        _ => &mut stall.storage,
    }
}

/// A stall of which `share` has the cause, and the others the rest in random parts.
fn mostly(cause: Bound, share: f64, random: &mut Random) -> Stall {
    let total = random.between(0.05, 0.7);
    let mut stall = Stall::default();
    let others = [Bound::Latency, Bound::Decode, Bound::Client, Bound::Startup];
    let weights = others.map(|_| random.between(0.0, 1.0));
    let sum: f64 = weights.iter().sum();
    for (other, weight) in others.into_iter().zip(weights) {
        *part_mut(&mut stall, other) += total * (1.0 - share) * weight / sum;
    }
    *part_mut(&mut stall, cause) += total * share;
    stall
}

/// A job with one cause, of random size, and what would show it.
fn injected(cause: Bound, random: &mut Random) -> Builder {
    let share = random.between(0.65, 1.0);
    let stall = mostly(cause, share, random);
    let mut builder = played(stall, random.between(58.0, 64.0));
    let lost = stall.storage + stall.decode + stall.client + stall.startup + stall.barrier;
    let reached = DEMAND * (1.0 - lost);
    match cause {
        Bound::Latency => {
            closed(&mut builder, 64, reached * random.between(1.0, 1.2));
            closed(&mut builder, 256, reached * random.between(1.4, 4.0));
        }
        Bound::Bandwidth => {
            closed(&mut builder, 64, reached * random.between(1.0, 1.08));
            closed(&mut builder, 256, reached * random.between(1.0, 1.08));
        }
        Bound::Rate if random.between(0.0, 1.0) < 0.5 => {
            throttled(&mut builder, random.between(11_000.0, 300_000.0) as u64);
        }
        Bound::Rate => {
            closed(&mut builder, 64, reached);
            closed(&mut builder, 256, reached * random.between(0.95, 1.05));
            of_larger_samples(&mut builder, reached * 100e3 * random.between(2.3, 9.0));
        }
        Bound::Metadata => {
            let names = random.between(0.62, 0.95);
            phases(
                &mut builder,
                &[("open_ns", names * 0.7), ("close_ns", names * 0.3), ("read_ns", 1.0 - names)],
            );
        }
        _ => {}
    }
    builder
}

#[test]
fn one_injected_cause_is_named_in_20_of_20_seeds() {
    let causes = [
        Bound::Latency,
        Bound::Rate,
        Bound::Bandwidth,
        Bound::Metadata,
        Bound::Decode,
        Bound::Client,
        Bound::Startup,
        Bound::Barrier,
    ];
    for cause in causes {
        let named = (0..20).filter(|seed| bound(&injected(cause, &mut Random(*seed))) == Some(cause)).count();
        assert_eq!(named, 20, "{cause:?}");
    }
}

#[test]
fn two_causes_of_similar_size_are_mixed_and_both_are_named() {
    let pairs = [
        (Bound::Latency, "storage", Bound::Decode, "decoding"),
        (Bound::Decode, "decoding", Bound::Client, "reads not yet issued"),
        (Bound::Startup, "readers to start", Bound::Latency, "storage"),
    ];
    for (one, first, two, second) in pairs {
        for seed in 0..20 {
            let random = &mut Random(seed);
            let (total, share) = (random.between(0.05, 0.7), random.between(0.43, 0.57));
            let mut stall = Stall::default();
            *part_mut(&mut stall, one) = total * share;
            *part_mut(&mut stall, two) = total * (1.0 - share);
            let diagnosis = of(&played(stall, 64.0)).unwrap();
            assert_eq!(diagnosis.bound, Bound::Mixed);
            let evidence = &diagnosis.evidence[0];
            assert!(evidence.contains(first) && evidence.contains(second), "{evidence}");
        }
    }
}
