use std::collections::BTreeMap;

use record::{Checkpoint, CheckpointOutcome, Epoch, Histogram, Line, Outcome, Rep, RunRecord, counter};

use super::*;
use crate::fixture::{Builder, DEMAND, ceiling, cell_of_job, job_rep, rep};
use crate::{Note, Stall, Verdict, summarise};

/// When the first window opens.
const OPENING_NS: u64 = 1_795_236_083_000_000_000;

/// A repetition of a rank whose window opened so many milliseconds late.
fn of_rank(rank: u32, number: u32, bps: f64, late_ms: u64) -> Rep {
    Rep {
        rank,
        ranks: 2,
        window_unix_ns: Some(OPENING_NS + late_ms * 1_000_000),
        second_ops: vec![7],
        ..rep("c", number, bps)
    }
}

fn merged(reps: Vec<Rep>) -> RunRecord {
    let mut builder = Builder::new();
    builder.run.ranks = 2;
    builder.cell("c", "disk", 16);
    for rep in reps {
        builder.push(rep);
    }
    builder.record()
}

fn folded(reps: Vec<Rep>) -> Vec<Rep> {
    let record = merged(reps);
    let folded = fold_ranks(&record);
    super::reps(&folded).cloned().collect()
}

#[track_caller]
fn failed(reps: Vec<Rep>) -> String {
    let mut folded = folded(reps);
    assert_eq!(folded.len(), 1);
    match folded.remove(0).outcome {
        Outcome::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

fn histogram(rep: &Rep) -> Histogram<u64> {
    rep.histograms["service_ns"].decode().unwrap()
}

#[test]
fn counters_errors_histograms_and_usage_of_the_ranks_are_added() {
    let (mut a, mut b) = (of_rank(0, 0, 1e9, 0), of_rank(1, 0, 2e9, 10));
    a.errors.insert("io".to_owned(), 1);
    b.errors = BTreeMap::from([("io".to_owned(), 2), ("timeout".to_owned(), 3)]);
    (a.usage.cpu_user_ns, b.usage.cpu_user_ns) = (100, 20);
    (a.usage.psi_io_some_ns, b.usage.psi_io_some_ns) = (Some(5), Some(9));
    (a.usage.steal_ns, b.usage.steal_ns) = (Some(5), None);
    (a.system.process_read_bytes, b.system.process_read_bytes) = (Some(40), Some(2));
    a.granted =
        BTreeMap::from([("huge_pages".to_owned(), "yes".to_owned()), ("x".to_owned(), "1".to_owned())]);
    b.granted =
        BTreeMap::from([("huge_pages".to_owned(), "no".to_owned()), ("x".to_owned(), "1".to_owned())]);
    b.cache.before_bytes = Some(17);
    // The lines of another rank may come first.
    let one = folded(vec![b.clone(), a.clone()]).remove(0);
    assert_eq!((one.rank, one.ranks, &one.outcome), (0, 2, &Outcome::Complete));
    assert_eq!((one.counters[counter::OPS], one.counters[counter::BYTES]), (30_000, 3_000_000_000));
    assert_eq!(one.errors, BTreeMap::from([("io".to_owned(), 3), ("timeout".to_owned(), 3)]));
    let mut both = histogram(&a);
    both.add(histogram(&b)).unwrap();
    assert_eq!(histogram(&one), both);
    assert_eq!((one.usage.cpu_user_ns, one.usage.cores, one.usage.wall_ns), (120, 16, 1_000_000_000));
    assert_eq!((one.usage.psi_io_some_ns, one.usage.steal_ns), (Some(9), None));
    assert_eq!(one.system.process_read_bytes, Some(42));
    assert_eq!(one.granted["huge_pages"], "yes (rank 0), no (rank 1)");
    assert_eq!(one.granted["x"], "1");
    assert_eq!((one.cache.total_bytes, one.cache.before_bytes), (2_000_000_000, Some(17)));
    assert_eq!((one.window_ns, one.second_ops), (1_000_000_000, vec![14]));
}

#[test]
fn passes_and_checkpoints_of_the_ranks_are_one_of_all() {
    let of = |rank: u32, ended_ns: u64, outcome: CheckpointOutcome| Rep {
        epochs: vec![Epoch {
            epoch: 0,
            begun_ns: u64::from(rank),
            first_ns: 5,
            first_batch_ns: None,
            ended_ns,
            ops: 2,
            bytes: 10,
            storage_bytes: (rank == 0).then_some(4),
            tier_bytes: Some(1),
            complete: true,
        }],
        checkpoints: vec![Checkpoint {
            step: 9,
            due_ns: 1,
            begun_ns: 2,
            stall_ns: ended_ns,
            write_ns: 3,
            publish_ns: 4,
            bytes: 100,
            outcome,
        }],
        ..of_rank(rank, 0, 1e9, 0)
    };
    let failed = CheckpointOutcome::Failed { reason: "no space".to_owned() };
    let one = folded(vec![of(0, 70, CheckpointOutcome::Complete), of(1, 90, failed.clone())]).remove(0);
    let epoch = &one.epochs[0];
    assert_eq!((epoch.begun_ns, epoch.ended_ns, epoch.bytes, epoch.complete), (0, 90, 20, true));
    assert_eq!((epoch.storage_bytes, epoch.tier_bytes), (None, Some(2)), "what one does not know");
    let made = &one.checkpoints[0];
    assert_eq!((made.bytes, made.stall_ns, &made.outcome), (200, 90, &failed));
}

#[test]
fn passes_of_the_ranks_are_one_and_complete_where_all_are() {
    let epoch = |number: u64, begun_ns: u64, storage_bytes: Option<u64>| Epoch {
        epoch: number,
        begun_ns,
        first_ns: begun_ns + 5,
        first_batch_ns: None,
        ended_ns: begun_ns + 100,
        ops: 10,
        bytes: 1_000,
        storage_bytes,
        tier_bytes: None,
        complete: true,
    };
    let (mut a, mut b) = (of_rank(0, 0, 1e9, 0), of_rank(1, 0, 1e9, 0));
    a.epochs = vec![epoch(0, 0, Some(900)), epoch(1, 100, Some(400))];
    b.epochs = vec![epoch(0, 30, Some(800))];
    let both =
        Epoch { ended_ns: 130, ops: 20, bytes: 2_000, storage_bytes: Some(1_700), ..epoch(0, 0, None) };
    let one_alone = Epoch { complete: false, ..epoch(1, 100, Some(400)) };
    assert_eq!(folded(vec![a.clone(), b.clone()])[0].epochs, [both, one_alone]);
    b.epochs[0].storage_bytes = None;
    assert_eq!(
        folded(vec![a, b])[0].epochs[0].storage_bytes,
        None,
        "a sum that is known where all parts are"
    );
}

#[test]
fn what_one_host_saw_of_its_device_and_its_processors_is_left_out() {
    let (mut a, b) = (of_rank(0, 0, 1e9, 0), of_rank(1, 0, 1e9, 0));
    a.system.device = Some(record::Device::default());
    a.system.core_busy_ns = vec![1, 2];
    a.system.process_read_bytes = Some(1);
    let both = vec![a, b];
    assert_eq!(folded(both.clone()).remove(0).system, record::System::default());
    // The device of the one machine that both ran on saw the reads of both.
    let mut record = merged(both);
    record.run.team = Some(crate::fixture::team(2));
    let device = |record: &RunRecord| {
        let folded = fold_ranks(record);
        let reps =
            folded.lines.iter().filter_map(|line| if let Line::Rep(rep) = line { Some(rep) } else { None });
        reps.map(|rep| rep.system.device.clone()).collect::<Vec<_>>()
    };
    assert_eq!(device(&record), [None]);
    record.run.team.as_mut().unwrap().members[1].machine = 0;
    assert_eq!(device(&record), [Some(record::Device::default())]);
}

#[test]
fn windows_that_overlap_by_95_percent_are_one_and_less_is_a_failure_that_says_how_much() {
    let both = |late_ms| vec![of_rank(0, 0, 1e9, 0), of_rank(1, 0, 1e9, late_ms)];
    assert_eq!(folded(both(50)).remove(0).outcome, Outcome::Complete);
    assert!(failed(both(51)).starts_with("the windows of the ranks overlap by 94 % only: "));
    assert!(failed(both(570)).contains(" 43 % only"), "{}", failed(both(570)));
    assert!(failed(both(5_000)).contains(" 0 % only"));
    let mut short = both(0);
    short[1].window_ns = 500_000_000;
    assert!(failed(short).contains(" 50 % only"));
    let mut unknown = both(0);
    unknown[1].window_unix_ns = None;
    assert!(failed(unknown).contains("does not say when"));
}

/// The reason of a repetition of two ranks that met, the second of which took so long.
#[track_caller]
fn failed_after(second_ns: u64, edit: impl Fn(&mut RunRecord)) -> String {
    let mut slow = of_rank(1, 0, 1e9, if second_ns == 1_000_000_000 { 300 } else { 0 });
    slow.window_ns = second_ns;
    let mut record = merged(vec![of_rank(0, 0, 1e9, 0), slow]);
    let member =
        record::Member { host: String::new(), machine: 0, clock_ahead_ns: 0, clock_uncertainty_ns: 0 };
    record.run.team =
        Some(record::Team { launcher: "Slurm".to_owned(), members: vec![member.clone(), member] });
    edit(&mut record);
    match super::reps(&fold_ranks(&record)).next().unwrap().outcome.clone() {
        Outcome::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ranks_that_were_not_at_one_time_are_told_what_fits_what_ends_them() {
    let by_bytes = |record: &mut RunRecord| {
        (record.run.measure.duration_ns, record.run.measure.bytes) = (None, Some(1));
    };
    assert_eq!(
        failed_after(1_600_000_000, by_bytes),
        "the windows of the ranks overlap by 62 % only, since rank 1 took 1.6 times as long as rank 0: end repetitions by a time \
         that is alike for all, with measure.duration instead of measure.bytes"
    );
    assert!(
        failed_after(1_000_000_000, by_bytes)
            .ends_with("70 % only: give each repetition more to do with measure.bytes")
    );
    let by_steps = |record: &mut RunRecord| {
        cell_of_job(&mut record.run.cells[0]);
        (record.run.measure.duration_ns, record.run.measure.steps) = (None, Some(100));
    };
    assert!(
        failed_after(1_600_000_000, by_steps).ends_with("with measure.duration instead of training.steps")
    );
    let by_time = failed_after(1_000_000_000, |_| ());
    assert!(by_time.ends_with(" only: measure for longer with measure.duration"), "{by_time}");
    // A cold pass ends with its data, whatever was planned.
    let read_up = failed_after(1_600_000_000, |record| {
        let Line::Rep(rep) = &mut record.lines[0] else { panic!("{:?}", record.lines[0]) };
        rep.outcome = Outcome::Exhausted;
    });
    assert!(read_up.contains(": give each rank more data (dataset.size)"), "{read_up}");
}

#[test]
fn a_rank_that_is_missing_or_failed_or_there_twice_fails_the_repetition() {
    // Rank 1 made another repetition, so the record is a merged one.
    let alone = folded(vec![of_rank(0, 0, 1e9, 0), of_rank(0, 1, 1e9, 0), of_rank(1, 1, 1e9, 0)]);
    let reasons: Vec<bool> = alone.iter().map(|rep| matches!(rep.outcome, Outcome::Failed { .. })).collect();
    assert_eq!(reasons, [true, false]);
    let Outcome::Failed { reason } = &alone[0].outcome else { panic!("{:?}", alone[0]) };
    assert_eq!(reason, "rank 1 of 2 did not make this repetition");

    let mut broken = of_rank(1, 0, 1e9, 0);
    broken.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
    assert_eq!(failed(vec![of_rank(0, 0, 1e9, 0), broken]), "rank 1: file is gone");
    let twice = vec![of_rank(0, 0, 1e9, 0), of_rank(1, 0, 1e9, 0), of_rank(1, 0, 1e9, 0)];
    assert_eq!(failed(twice), "rank 1 has this repetition twice");
}

#[test]
fn an_interrupted_rank_interrupts_all() {
    let mut cut = of_rank(1, 0, 1e9, 0);
    (cut.outcome, cut.window_ns) = (Outcome::Interrupted, 980_000_000);
    let one = folded(vec![of_rank(0, 0, 1e9, 0), cut.clone()]).remove(0);
    assert_eq!((one.outcome, one.window_ns), (Outcome::Interrupted, 980_000_000));
    cut.window_ns = 600_000_000;
    let one = folded(vec![of_rank(0, 0, 1e9, 0), cut]).remove(0);
    assert_eq!((one.outcome, one.window_ns), (Outcome::Interrupted, 0), "too little was measured together");
}

#[test]
fn seconds_are_added_where_all_ranks_measured_them() {
    let long = |rank, late_ms, seconds: &[u64]| Rep {
        window_ns: 60_000_000_000,
        second_ops: seconds.to_vec(),
        second_bytes: seconds.iter().map(|ops| ops * 10).collect(),
        ..of_rank(rank, 0, 1e9, late_ms)
    };
    let early: Vec<u64> = (0..60).collect();
    let late: Vec<u64> = (0..60).map(|second| 1_000 * second).collect();
    // The second window opens 1.6 s later: its first second is nearest to the third of the other.
    let one = folded(vec![long(0, 0, &early), long(1, 1_600, &late)]).remove(0);
    assert_eq!((one.second_ops.len(), one.second_ops[0], one.second_ops[1]), (58, 2, 1_003));
    assert_eq!((one.second_ops[57], one.second_bytes[1]), (57_059, 10_030));
    // Nothing ended in the last seconds of one rank: they are zeros, and not unknown.
    let stalled = folded(vec![long(0, 0, &early), long(1, 0, &late[..50])]).remove(0);
    assert_eq!((stalled.second_ops.len(), stalled.second_ops[59]), (60, 59));
}

#[test]
fn ceilings_are_added_by_their_rates_and_one_that_a_rank_lacks_is_left_out() {
    let mut record = merged(vec![of_rank(0, 0, 1e9, 0), of_rank(1, 0, 1e9, 0)]);
    let mut longer = ceiling("c", false, 3_000, 300);
    longer.window_ns *= 10;
    let lines = [ceiling("c", false, 1_000, 100), longer, ceiling("d", false, 1, 1)];
    record.lines.extend(lines.map(Line::Ceiling));
    let folded = fold_ranks(&record);
    let ceilings: Vec<&record::Ceiling> = folded
        .lines
        .iter()
        .filter_map(|line| if let Line::Ceiling(one) = line { Some(one) } else { None })
        .collect();
    assert_eq!(ceilings.len(), 1);
    assert_eq!((ceilings[0].ops, ceilings[0].bytes, ceilings[0].window_ns), (1_300, 130, 1_000_000_000));
}

#[test]
fn a_histogram_that_cannot_be_read_is_not_left_out_silently() {
    let mut broken = of_rank(1, 0, 1e9, 0);
    broken.histograms.insert("service_ns".to_owned(), record::HistogramText::new("no".to_owned()));
    let one = folded(vec![of_rank(0, 0, 1e9, 0), broken]).remove(0);
    assert!(one.histograms["service_ns"].decode().is_err());
}

#[test]
fn records_of_one_process_are_left_as_they_are_and_one_rank_alone_is_one_process() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 1e9));
    assert!(matches!(fold_ranks(&builder.record()), Cow::Borrowed(_)));
    assert_eq!(Ranks::of(&builder.record()), None);
    let alone = merged(vec![of_rank(1, 0, 1e9, 0)]);
    let folded = fold_ranks(&alone);
    assert!(matches!(&folded.lines[0], Line::Rep(rep) if rep.ranks == 1), "{:?}", folded.lines);
    assert_eq!(Ranks::of(&alone), Some(Ranks::Alone { rank: 0, ranks: 2 }));
}

#[test]
fn others_that_read_make_no_repetition_of_a_rank_that_read_nothing() {
    let of_second = |change: fn(&mut Rep)| {
        let mut second = of_rank(1, 0, 0.0, 0);
        change(&mut second);
        let folded = folded(vec![of_rank(0, 0, 1e9, 0), second]);
        let Outcome::Failed { reason } = &folded[0].outcome else { panic!("{:?}", folded[0].outcome) };
        reason.clone()
    };
    assert_eq!(of_second(|_| {}), "rank 1: nothing ended in its window");
    let exhausted = of_second(|rep| rep.outcome = Outcome::Exhausted);
    assert_eq!(exhausted, "rank 1: its warm-up read all of its data");
    let failed = of_second(|rep| {
        rep.errors.insert("timeout".to_owned(), 12);
    });
    assert_eq!(failed, "rank 1: 12 operations failed, and none ended in its window");
}

#[test]
fn a_merged_run_is_judged_like_any_other_and_says_of_whom() {
    let mut builder = Builder::new();
    builder.run.ranks = 2;
    builder.cell("c", "disk", 16);
    // Each rank alone stays below the line that is theirs together.
    for number in 0..3 {
        for role in [Role::Measure, Role::Confirm] {
            for rank in 0..2 {
                let one = of_rank(rank, number, 0.6 * Builder::LINE_BPS, u64::from(rank) * 10);
                builder.push(Rep { role, ..one });
            }
        }
    }
    let summary = summarise(&builder.record());
    let figures = summary.cells[0].figures().unwrap();
    assert_eq!(figures.repetitions, 3);
    assert!((figures.of_line.unwrap() - 1.2).abs() < 1e-3, "{:?}", figures.of_line);
    assert_eq!(summary.verdicts.iter().map(Verdict::word).collect::<Vec<_>>(), ["FEEDS"]);
    let together = Note::Ranks(Ranks::Together { ranks: 2, fewer: false, overlap: Some(0.99) });
    assert!(summary.notes.contains(&together), "{:?}", summary.notes);
}

#[test]
fn the_jobs_of_all_ranks_are_one_job_of_all_their_accelerators() {
    let mut builder = Builder::new();
    builder.run.ranks = 2;
    builder.cell("c", "disk", 128);
    builder.edit_cell("c", |cell| {
        cell_of_job(cell);
        // As the merge writes it.
        let training = cell.training.as_mut().unwrap();
        (training.accelerators, training.barrier) = (2 * training.accelerators, true);
    });
    builder.run.need.accelerators *= 2;
    // One host waits for nothing, the other a fiftieth of its time, and in step the first waits for it.
    for (rank, storage) in [(0, 0.0), (1, 0.02)] {
        let one = job_rep("c", 0, Stall { storage, ..Stall::default() }, 64.0);
        builder.push(Rep { rank, ranks: 2, window_unix_ns: Some(OPENING_NS), ..one });
    }
    let record = builder.record();
    let folded = fold_ranks(&record);
    let trained = super::reps(&folded).next().unwrap().trained.clone().unwrap();
    assert_eq!((trained.accelerators.len(), trained.occupancy.as_slice()), (16, &[1_600][..]));
    let summary = summarise(&record);
    let figures = summary.cells[0].figures().unwrap();
    let training = figures.training.as_ref().unwrap();
    assert!((training.au.mean - 0.98).abs() < 1e-6, "{:?}", training.au);
    assert!((training.stall.barrier - 0.01).abs() < 1e-6, "{:?}", training.stall);
    assert!((figures.samples_per_s.mean - 0.98 * 2.0 * DEMAND).abs() < 0.1, "{:?}", figures.samples_per_s);
}

/// Processes wait for each other in the job that is asked about, and not while they measure: together they are as slow as the
/// slowest at least, and at most as all of them one after the other.
#[test]
fn a_job_of_processes_that_may_be_slow_in_turn_is_not_fed_by_what_each_of_them_has() {
    let verdict_of = |storages: [f64; 2], barrier: bool, asked: f64| {
        let mut builder = Builder::new();
        builder.run.need.utilization = asked;
        builder.run.ranks = 2;
        builder.cell("c", "disk", 128);
        builder.edit_cell("c", |cell| {
            cell_of_job(cell);
            // Each of the processes has half of the accelerators that the need names.
            cell.training.as_mut().unwrap().barrier = barrier;
        });
        for number in 0..3 {
            for (rank, storage) in (0..).zip(storages) {
                let one = job_rep("c", number, Stall { storage, ..Stall::default() }, 64.0);
                // As long as the other's, which loses another part of it.
                let one = Rep { window_ns: 10_000_000_000, ..one };
                let opens = OPENING_NS + u64::from(number) * 100_000_000_000;
                for role in [Role::Measure, Role::Confirm] {
                    builder.push(Rep { rank, ranks: 2, role, window_unix_ns: Some(opens), ..one.clone() });
                }
            }
        }
        let summary = summarise(&builder.record());
        let least_au = summary.cells[0].figures().unwrap().training.as_ref().unwrap().least_au;
        (summary.verdicts[0].word(), least_au)
    };
    let verdict = |storages: [f64; 2], barrier: bool| verdict_of(storages, barrier, 0.9);
    let (word, least_au) = verdict([0.02, 0.02], true);
    // Each loses 2 for 98 of computing.
    assert!((least_au.unwrap() - 1.0 / (1.0 + 2.0 * 2.0 / 98.0)).abs() < 1e-6, "{least_au:?}");
    assert_eq!(word, "FEEDS", "in turn they are 96 % busy, and 90 % are asked for");
    assert_eq!(
        verdict([0.06, 0.07], true).0,
        "UNCERTAIN",
        "93 % if one of them is the slowest, 87 % in turn"
    );
    assert_eq!(verdict([0.0, 0.13], true).0, "STARVES", "of one that is always the slowest nothing is open");
    assert_eq!(verdict([0.06, 0.07], false), ("FEEDS", None), "who does not wait loses nothing by others");
    let least_au = verdict([0.06, 0.07], true).1.unwrap();
    assert_eq!(verdict_of([0.06, 0.07], true, least_au).0, "FEEDS", "the target itself is enough");
}
