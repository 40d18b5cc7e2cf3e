use record::counter;

use super::symptom::LoopPair;
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

fn symptoms(builder: &Builder) -> Vec<Symptom> {
    of(builder).unwrap().symptoms
}

fn remedy(builder: &Builder) -> Remedy {
    of(builder).unwrap().remedy
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-2 * expected.abs()
}

/// Whether the symptom is that of all waiting for one part, for this share of the time.
fn is_mostly(symptom: &Symptom, expected: WaitedFor, share: f64) -> bool {
    matches!(symptom, Symptom::Mostly { part, of_waited, of_time }
        if *part == expected && is_near(*of_waited, 1.0) && is_near(*of_time, share))
}

fn loops(deeper_bps: f64, bps: f64) -> Symptom {
    Symptom::Loops(LoopPair { deeper_depth: 256, deeper_bps, depth: 64, bps })
}

#[test]
fn nothing_is_looked_for_from_99_5_percent_on() {
    assert_eq!(bound(&played(storage(0.004), 64.0)), None);
    assert_eq!(bound(&played(storage(0.006), 64.0)), Some(Bound::Latency));
}

#[test]
fn what_checkpoints_take_is_no_latency_of_reads() {
    let stall = |checkpoint: f64| Stall { storage: 0.05, checkpoint, ..Stall::default() };
    let found = of(&played(stall(0.3), 64.0)).unwrap();
    assert_eq!((found.bound, found.remedy), (Bound::Checkpoint, Remedy::Checkpoints));
    assert!(
        matches!(found.symptoms[0], Symptom::Checkpoints { of_stall, of_time }
            if is_near(of_stall, 0.3 / 0.35) && is_near(of_time, 0.3)),
        "{:?}",
        found.symptoms
    );
    assert_eq!(bound(&played(stall(0.05), 64.0)), Some(Bound::Latency));
}

#[test]
fn latency_says_how_much_more_in_flight_is_needed() {
    let mut builder = played(storage(0.775), 64.0);
    closed(&mut builder, 64, 2_250.0);
    closed(&mut builder, 256, 8_800.0);
    builder.push_ceiling(null_control("c", 0.9998));
    assert_eq!(bound(&builder), Some(Bound::Latency));
    assert_eq!(remedy(&builder), Remedy::Times { times: 4.0, readers: Some(32.0), depth: 256.0 });
    let found = symptoms(&builder);
    let [mostly, Symptom::InFlight(little), of_loops, Symptom::FastFromMemory { .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(is_mostly(mostly, WaitedFor::Storage, 0.775), "{mostly:?}");
    let reads = (little.ops_per_s, little.needed_ops_per_s, little.needed);
    assert!(is_near(reads.0, 2_250.0) && is_near(reads.1, 9_000.0) && is_near(reads.2, 256.5), "{little:?}");
    assert_eq!(*of_loops, loops(880e6, 225e6));
}

#[test]
fn a_deeper_loop_that_does_not_reach_the_target_is_worth_more_than_the_arithmetic() {
    let mut builder = played(storage(0.6), 64.0);
    closed(&mut builder, 64, 4_000.0);
    closed(&mut builder, 256, 6_000.0);
    let found = remedy(&builder);
    assert!(
        matches!(found, Remedy::MoreButShort { depth: 256, of_target } if is_near(of_target, 2.0 / 3.0)),
        "{found:?}"
    );
}

#[test]
fn readers_that_are_not_busy_want_a_deeper_prefetch() {
    let mut builder = played(storage(0.3), 20.0);
    closed(&mut builder, 64, 20_000.0);
    closed(&mut builder, 256, 60_000.0);
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::Latency), Remedy::DeeperPrefetch));
}

#[test]
fn readers_that_decode_are_busy_with_less_in_flight() {
    let mut builder = played(Stall { storage: 0.3, decode: 0.2, ..Stall::default() }, 0.6 * 64.0);
    closed(&mut builder, 64, 20_000.0);
    closed(&mut builder, 256, 60_000.0);
    let found = remedy(&builder);
    assert!(matches!(found, Remedy::Times { readers: Some(_), .. }), "{found:?}");
}

#[test]
fn without_closed_loops_busy_readers_explain_the_rate_and_idle_ones_do_not() {
    let busy = of(&played(storage(0.5), 64.0)).unwrap();
    assert_eq!(busy.remedy, Remedy::Times { times: 1.8, readers: Some(15.0), depth: 116.0 });
    assert_eq!(busy.symptoms[2], Symptom::DeeperNotMeasured);
    assert_eq!(bound(&played(storage(0.5), 50.0)), None, "nothing says why");
}

#[test]
fn bandwidth_is_what_no_depth_adds_to() {
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 6_000.0);
    closed(&mut builder, 256, 6_300.0);
    let found = symptoms(&builder);
    assert_eq!(found[1], loops(630e6, 600e6));
    assert!(matches!(found[2], Symptom::JobMoves { of_most, .. } if is_near(of_most, 0.952)), "{found:?}");
    assert_eq!(bound(&builder), Some(Bound::Bandwidth));
    assert_eq!(remedy(&builder), Remedy::MoreBandwidth { with_prefetch: false });
}

#[test]
fn closed_loops_that_the_client_limits_say_nothing_of_the_storage() {
    let mut builder = played(storage(0.4), 64.0);
    closed(&mut builder, 64, 6_000.0);
    closed(&mut builder, 256, 6_100.0);
    builder.edit_reps("closed256", |rep| rep.usage.cpu_user_ns = rep.usage.wall_ns * 8);
    assert_eq!(bound(&builder), Some(Bound::Latency));
    assert_eq!(symptoms(&builder)[2], Symptom::DeeperNotMeasured);
}

#[test]
fn a_flat_loop_that_the_job_does_not_reach_is_not_its_limit() {
    let mut builder = played(storage(0.4), 20.0);
    closed(&mut builder, 64, 9_500.0);
    closed(&mut builder, 256, 9_600.0);
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::Latency), Remedy::DeeperPrefetch));
}

#[test]
fn a_flat_loop_below_the_target_is_the_limit_of_a_loader_that_takes_turns_too() {
    let mut builder = played(storage(0.4), 20.0);
    closed(&mut builder, 64, 8_500.0);
    closed(&mut builder, 256, 8_600.0);
    assert_eq!(bound(&builder), Some(Bound::Bandwidth));
    assert_eq!(remedy(&builder), Remedy::MoreBandwidth { with_prefetch: true });
    let found = symptoms(&builder);
    assert!(
        matches!(found[2..], [Symptom::JobMoves { of_most, .. }, Symptom::MostIsShort { of_target }]
            if is_near(of_most, 0.698) && is_near(of_target, 0.956)),
        "{found:?}"
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
    assert_eq!(remedy(&builder), Remedy::LookElsewhere);
}

#[test]
fn requests_are_scarce_where_larger_reads_move_more_or_the_server_refuses() {
    let mut builder = played(storage(0.45), 64.0);
    closed(&mut builder, 64, 5_500.0);
    closed(&mut builder, 256, 5_500.0);
    of_larger_samples(&mut builder, 2.2e9);
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::Rate), Remedy::FewerRequests));
    let found = symptoms(&builder);
    assert!(
        matches!(&found[2], Symptom::LargerReads { ops_per_s, cell, times }
            if is_near(*ops_per_s, 5_500.0) && cell == "large" && is_near(*times, 4.0)),
        "{found:?}"
    );
    let mut refused = played(storage(0.45), 64.0);
    throttled(&mut refused, 21_000);
    assert_eq!((bound(&refused), remedy(&refused)), (Some(Bound::Rate), Remedy::FewerRefusals));
    let found = symptoms(&refused);
    assert!(matches!(found[1], Symptom::Refused { share, .. } if is_near(share, 0.021)), "{found:?}");
}

#[test]
fn names_take_the_time_of_small_files() {
    let mut builder = played(storage(0.5), 64.0);
    phases(&mut builder, &[("open_ns", 0.5), ("stat_ns", 0.2), ("read_ns", 0.25), ("close_ns", 0.05)]);
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::Metadata), Remedy::FewerFiles));
    let found = symptoms(&builder);
    let Symptom::NoBytes { share, phases: named } = &found[1] else { panic!("{found:?}") };
    assert!(is_near(*share, 0.75), "{found:?}");
    assert_eq!(named.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["open", "stat", "close"]);
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
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::Decode), Remedy::Decoding));
    let found = symptoms(&builder);
    assert!(is_mostly(&found[0], WaitedFor::Decoding, 0.3), "{found:?}");
    let by = Some(Decoder::Reader);
    let stated = Symptom::Decoding { work: "cost".to_owned(), cost_ns: Some(7_000_000), by };
    assert_eq!(found[1..], [stated]);
}

#[test]
fn a_loop_that_is_slow_without_storage_is_the_clients() {
    let mut builder = played(storage(0.10), 64.0);
    builder.push_ceiling(null_control("c", 0.93));
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::Client), Remedy::Client));
    let found = symptoms(&builder);
    assert!(
        matches!(found[0], Symptom::SlowFromMemory { null_au, of_stall }
            if is_near(null_au, 0.93) && is_near(of_stall, 0.7)),
        "{found:?}"
    );
    let mut builder = played(storage(0.20), 64.0);
    builder.push_ceiling(null_control("c", 0.93));
    assert_eq!(bound(&builder), Some(Bound::Latency));
}

#[test]
fn a_client_without_processor_time_lets_storage_look_slow() {
    let mut builder = played(storage(0.5), 64.0);
    builder.edit_reps("c", |rep| rep.usage.cpu_user_ns = rep.usage.wall_ns * 8);
    let of_client = |flag: &Flag| flag.is_client_limit();
    assert_eq!(bound(&builder), Some(Bound::Client));
    assert!(matches!(&symptoms(&builder)[1], Symptom::Flagged(flag) if of_client(flag)));
    assert!(matches!(&remedy(&builder), Remedy::OfFlag(flag) if of_client(flag)));
}

#[test]
fn a_short_job_is_bound_by_its_start() {
    let mut builder = played(storage(0.2), 64.0);
    builder.edit_reps("c", |rep| {
        let trained = rep.trained.as_mut().unwrap();
        trained.accelerators.iter_mut().for_each(|one| one.first_batch_ns = one.wait_ns * 9 / 10);
    });
    assert_eq!((bound(&builder), remedy(&builder)), (Some(Bound::FirstFill), Remedy::LongerJob));
    let found = symptoms(&builder);
    assert!(
        matches!(found[0], Symptom::Fills { first_batch_ns: 2_250_000_000, of_stall } if is_near(of_stall, 0.9)),
        "{found:?}"
    );
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
    let found = of(&played(Stall { barrier: 0.2, storage: 0.05, ..Stall::default() }, 8.0)).unwrap();
    assert_eq!((found.bound, found.remedy), (Bound::Barrier, Remedy::EvenBatches));
    assert!(
        matches!(found.symptoms[..2], [Symptom::Barrier { of_stall, .. }, Symptom::Worst { .. }]
            if is_near(of_stall, 0.8)),
        "{:?}",
        found.symptoms
    );
}

#[test]
fn a_warm_cell_waited_for_no_storage() {
    let mut builder = played(storage(0.5), 64.0);
    builder.edit_cell("c", |cell| cell.cache = "warm".into());
    assert_eq!(symptoms(&builder).last(), Some(&Symptom::Warm));
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
        (Bound::Latency, WaitedFor::Storage, Bound::Decode, WaitedFor::Decoding),
        (Bound::Decode, WaitedFor::Decoding, Bound::Client, WaitedFor::Client),
        (Bound::Startup, WaitedFor::Startup, Bound::Latency, WaitedFor::Storage),
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
            let Symptom::Several { parts } = &diagnosis.symptoms[0] else { panic!("{diagnosis:?}") };
            assert!(parts[0].0 == first || parts[0].0 == second, "{parts:?}");
            assert!(parts[1].0 == first || parts[1].0 == second, "{parts:?}");
            assert_eq!(parts.len(), 2, "{parts:?}");
        }
    }
}
