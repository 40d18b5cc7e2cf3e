use feed::Judgement;
use proptest::prelude::*;
use record::{Rep, Role, Trained, TrainedAccelerator};

use super::*;
use crate::fixture::{
    Builder, cell_of_job, confirmed_job, figures, job, job_rep, null_control, rep, trained,
};
use crate::{
    Bound, Cause, DataLoader, Figures, Flag, GapCause, JobGap, MeasuredDecoding, Measurement, NotTested,
    ReadVerdict, summarise,
};

fn storage(share: f64) -> Stall {
    Stall { storage: share, ..Stall::default() }
}

/// A cell `c` that plays the job, with these repetitions.
fn played(reps: Vec<Rep>) -> Builder {
    let mut builder = confirmed_job(&[]);
    for rep in reps {
        builder.push(rep);
    }
    builder
}

fn of(builder: &Builder) -> (Figures, TrainingFigures) {
    let figures = figures(builder, "c");
    let training = figures.training.clone().unwrap();
    (figures, training)
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}

#[test]
fn the_rate_is_what_the_job_takes_by_its_utilization() {
    let aus = [0.80, 0.82, 0.84];
    let (figures, training) = of(&confirmed_job(&aus));
    assert_close(training.au.mean, 0.82);
    // Half width of three points 0.02 apart: 4.302,653 x 0.02 / sqrt(3).
    assert_close(training.au.interval.unwrap().high - 0.82, 4.302_652_7 * 0.02 / 3.0_f64.sqrt());
    assert!((figures.samples_per_s.mean / 8_200.0 - 1.0).abs() < 1e-6);
    assert!((figures.bps.mean / 0.82e9 - 1.0).abs() < 1e-6);
    assert_close(figures.of_line.unwrap(), 0.82 / 0.9);
    assert_eq!((training.steps, training.late), (3 * 800, 3 * 792));
}

#[test]
fn utilization_is_the_mean_over_accelerators_and_the_worst_is_told() {
    let mut one = job_rep("c", 0, storage(0.0), 8.0);
    let accelerators = &mut one.trained.as_mut().unwrap().accelerators;
    // One of eight waits for half of the time.
    accelerators[3] = trained(storage(0.5), 100).accelerators[0];
    let (_, training) = of(&played(vec![one]));
    assert_close(training.au.mean, 7.5 / 8.0);
    assert_close(training.worst_au, 0.5);
    assert_close(training.stall.storage, 0.5 / 8.0);
}

#[test]
fn the_parts_of_the_time_and_the_utilization_add_up_to_all_of_it() {
    let stall =
        Stall { storage: 0.1, decode: 0.05, client: 0.02, startup: 0.03, barrier: 0.04, checkpoint: 0.06 };
    let (_, training) = of(&played(vec![job_rep("c", 0, stall, 8.0), job_rep("c", 1, storage(0.3), 8.0)]));
    let Stall { storage, decode, client, startup, barrier, checkpoint } = training.stall;
    assert_close(storage, 0.2);
    assert_close(decode, 0.025);
    assert_close(training.au.mean + storage + decode + client + startup + barrier + checkpoint, 1.0);
}

#[test]
fn dlio_counts_no_first_step_of_an_epoch_and_no_checkpoint() {
    // 10 s of computing, 2.5 s of waiting, 1.25 s of checkpoints.
    let stall = Stall { storage: 2.5 / 13.75, checkpoint: 1.25 / 13.75, ..Stall::default() };
    let mut one = job_rep("c", 0, stall, 8.0);
    let mut dlio_au = |edit: fn(&mut TrainedAccelerator)| {
        one.trained.as_mut().unwrap().accelerators.iter_mut().for_each(edit);
        of(&played(vec![one.clone()])).1.dlio_au
    };
    let two_epochs = |one: &mut TrainedAccelerator| {
        (one.excluded_wait_ns, one.excluded_compute_ns) = (500_000_000, 200_000_000);
    };
    assert_close(dlio_au(two_epochs).unwrap(), 9.8 / 11.8);
    // What a client noticed late is no compute time, and has no part in it.
    let late = |one: &mut TrainedAccelerator| {
        (one.measured_compute_ns, one.measured_wall_ns) = (20_000_000_000, 21_000_000_000);
    };
    assert_close(dlio_au(late).unwrap(), 9.8 / 11.8);
    // An older record tells the first step alone.
    let older = |one: &mut TrainedAccelerator| {
        (one.excluded_wait_ns, one.excluded_compute_ns, one.first_batch_ns) = (0, 0, 300_000_000);
    };
    assert_close(dlio_au(older).unwrap(), 9.9 / 12.1);
    let one_step = |one: &mut TrainedAccelerator| one.compute_ns = 100_000_000;
    assert_eq!(dlio_au(one_step), None, "fewer than two steps");
}

#[test]
fn waits_are_percentiles_and_a_step_that_did_not_wait_waited_nothing() {
    let mut one = job_rep("c", 0, storage(0.2), 8.0);
    let mut wait = record::new_histogram();
    wait.record_n(1, 900).unwrap();
    wait.record_n(5_000_000, 100).unwrap();
    one.histograms.insert("wait_ns".to_owned(), record::encode(&wait));
    one.trained.as_mut().unwrap().occupancy = vec![1, 0, 3];
    let (_, training) = of(&played(vec![one]));
    assert_eq!(training.wait_p50_ns, Some(0));
    assert!(training.wait_p99_ns.unwrap().abs_diff(5_000_000) < 5_000);
    assert!(training.wait_max_ns.unwrap().abs_diff(5_000_000) < 5_000);
    assert_eq!(training.occupancy, [0.25, 0.0, 0.75]);
    assert!(training.lag_p99_ns.is_none(), "800 steps say nothing of a 99th percentile");
}

#[test]
fn idle_accelerators_cost_hours_and_their_price() {
    // 8 accelerators that idle for 30 % of a day (F51).
    let mut builder = confirmed_job(&[0.7]);
    assert_close(of(&builder).1.idle.gpu_hours_per_day, 57.6);
    assert_eq!(of(&builder).1.idle.price_per_day, None);
    builder.edit_cell("c", |cell| cell.training.as_mut().unwrap().price_per_hour = Some(3.0));
    assert_close(of(&builder).1.idle.price_per_day.unwrap(), 172.8);
}

#[test]
fn the_lowest_control_without_storage_counts() {
    let mut builder = confirmed_job(&[0.7]);
    for au in [0.9998, 0.9995] {
        builder.push_ceiling(null_control("c", au));
    }
    let (figures, training) = of(&builder);
    assert_close(training.null_au.unwrap(), 0.9995);
    assert_eq!((figures.is_client_limited(), figures.ceiling_share), (false, None));
    builder.push_ceiling(null_control("c", 0.998));
    let (figures, _) = of(&builder);
    assert!(figures.is_client_limited());
    assert!(
        matches!(figures.flags[0], Flag::ClientLimited { null_au: Some(au), .. } if (au - 0.998).abs() < 1e-9),
        "{:?}",
        figures.flags
    );
}

#[test]
fn controls_of_jobs_are_no_ceilings_of_reads() {
    let mut builder = confirmed_job(&[0.7]);
    builder.push_ceiling(null_control("c", 1.0));
    assert_eq!(summarise(&builder.record()).head.ceiling_bps, None);
}

/// Why nothing can be said of a damaged repetition.
fn gap_of(edit: impl Fn(&mut Rep)) -> GapCause {
    let mut builder = confirmed_job(&[0.7; 3]);
    builder.edit_reps("c", edit);
    let summary = summarise(&builder.record());
    let Measurement::Failed { reason, .. } = &summary.cells[0].measured else {
        panic!("{:?}", summary.cells[0].measured)
    };
    reason.cause.clone()
}

#[test]
fn a_damaged_record_has_a_gap_and_no_figures() {
    let edit = |edit: fn(&mut Trained)| move |rep: &mut Rep| edit(rep.trained.as_mut().unwrap());
    for (gap, expected) in [
        (gap_of(|rep| rep.trained = None), JobGap::NotRecorded),
        (gap_of(edit(|trained| trained.accelerators.clear())), JobGap::NoAccelerator),
        (gap_of(edit(|trained| trained.accelerators[0].wall_ns = 0)), JobGap::NoTime),
        (gap_of(edit(|trained| trained.accelerators[0].compute_ns = u64::MAX)), JobGap::ComputedTooLong),
    ] {
        assert_eq!(gap, GapCause::Job(expected));
    }
    let mut builder = confirmed_job(&[0.7; 3]);
    builder.edit_cell("c", |cell| cell.training.as_mut().unwrap().compute_ns = 0);
    assert!(summarise(&builder.record()).cells[0].figures().is_none());
}

#[test]
fn figures_that_cannot_be_are_finite_all_the_same() {
    let mut builder = confirmed_job(&[0.7; 3]);
    builder.edit_reps("c", |rep| {
        let all = TrainedAccelerator {
            steps: u64::MAX,
            wall_ns: 1,
            compute_ns: 0,
            ..TrainedAccelerator::default()
        };
        let odd =
            TrainedAccelerator { storage_ns: u64::MAX, first_batch_ns: u64::MAX, late: u64::MAX, ..all };
        rep.trained.as_mut().unwrap().accelerators = vec![all, odd];
        rep.trained.as_mut().unwrap().occupancy = vec![u64::MAX, u64::MAX];
        rep.trained.as_mut().unwrap().decode_failures = u64::MAX;
    });
    let (figures, training) = of(&builder);
    assert_close(training.au.mean, 0.0);
    let all = [figures.bps.mean, training.stall.storage, training.worst_au, training.idle.gpu_hours_per_day];
    assert!(all.iter().all(|value| value.is_finite()), "{all:?}");
    let flags = format!("{:?}", figures.flags);
    assert!(!flags.contains("NaN") && !flags.contains("inf"), "{flags}");
}

fn flags(edit: impl Fn(&mut Rep)) -> Vec<Flag> {
    let mut builder = confirmed_job(&[1.0; 3]);
    builder.edit_reps("c", edit);
    of(&builder).0.flags
}

fn edit_accelerators(edit: fn(&mut TrainedAccelerator)) -> impl Fn(&mut Rep) {
    move |rep| rep.trained.as_mut().unwrap().accelerators.iter_mut().for_each(edit)
}

#[test]
fn a_job_that_waits_for_nothing_has_no_flags() {
    assert_eq!(flags(|_| {}), []);
}

#[test]
fn fewer_than_20_steps_are_no_measure() {
    assert_eq!(flags(edit_accelerators(|one| one.steps = 20)), []);
    let few = flags(edit_accelerators(|one| one.steps = 19));
    assert_eq!(few, [Flag::FewSteps { repetitions: 3, steps: 19 }]);
}

#[test]
fn few_reads_for_the_depth_are_no_flag_of_a_job() {
    let mut builder = confirmed_job(&[1.0; 3]);
    builder.edit_cell("c", |cell| cell.queue_depth = 1_000_000);
    assert_eq!(of(&builder).0.flags, []);
}

#[test]
fn a_dataset_that_ran_out_is_told_once() {
    let ran_out = flags(|rep| {
        rep.trained.as_mut().unwrap().ran_out = true;
        rep.outcome = record::Outcome::Exhausted;
        rep.trained.as_mut().unwrap().accelerators[2].steps = 37;
    });
    assert_eq!(ran_out, [Flag::RanOut { repetitions: 3, steps: 37, asked: Some(100) }]);
}

#[test]
fn samples_that_were_not_decoded_are_told_unless_they_are_errors_already() {
    let fail = |rep: &mut Rep| {
        rep.trained.as_mut().unwrap().decode_failures = 100;
        rep.granted.insert("first_decode_failure".to_owned(), "not a JPEG".to_owned());
    };
    let expected = Flag::NotDecoded { samples: 300, share: 1e-3, first: Some("not a JPEG".to_owned()) };
    assert_eq!(flags(fail), [expected]);
    let counted = flags(|rep| {
        fail(rep);
        rep.errors.insert("decode".to_owned(), 100);
    });
    assert!(matches!(counted.as_slice(), [Flag::Errors { failed: 300, .. }]), "{counted:?}");
}

#[test]
fn a_first_fill_beyond_a_twentieth_of_the_job_is_told() {
    assert_eq!(flags(edit_accelerators(|one| one.first_batch_ns = 500_000_000)), []);
    let long = flags(edit_accelerators(|one| one.first_batch_ns = 501_000_000));
    assert!(matches!(long[..], [Flag::LongFill { first_batch_ns: 501_000_000, .. }]), "{long:?}");
}

#[test]
fn definitions_that_are_apart_are_told() {
    // 10 s of computing and 0.4 or 0.6 of waiting, all of it before the first step.
    let waited = |ns: u64| {
        move |one: &mut TrainedAccelerator| {
            one.wall_ns += ns;
            (one.wait_ns, one.storage_ns, one.first_batch_ns) = (ns, ns, ns);
        }
    };
    let apart = |ns| {
        let flags = flags(|rep| rep.trained.as_mut().unwrap().accelerators.iter_mut().for_each(waited(ns)));
        flags.iter().any(|flag| matches!(flag, Flag::AuApart { .. }))
    };
    assert_eq!([400_000_000, 600_000_000].map(apart), [false, true]);
}

#[test]
fn storage_starves_nobody_where_decoding_makes_what_is_missing() {
    let verdict = |prefetch: u32, stall: Stall| {
        let mut builder = confirmed_job(&[]);
        builder.edit_cell("c", |cell| cell.training.as_mut().unwrap().prefetch = prefetch);
        for number in 0..3 {
            let one = job_rep("c", number, stall, 8.0);
            builder.push(one.clone());
            builder.push(Rep { role: Role::Confirm, ..one });
        }
        crate::fixture::reads_of(&builder)
    };
    let is_decode = |verdict: &ReadVerdict| {
        matches!(verdict.cause, Cause::Flagged(Flag::WaitsElsewhere { .. }))
            && verdict.judgement == Judgement::Uncertain
    };
    assert!(is_decode(&verdict(8, Stall { decode: 0.25, storage: 0.05, ..Stall::default() })));
    let both = verdict(8, Stall { decode: 0.15, storage: 0.35, ..Stall::default() });
    assert_eq!(both.judgement, Judgement::Starves);
    // Readers that fetch ahead are busy all the time: without decoding they would take 15 of 40 parts of it. Those that take
    // turns with the steps would still wait for 15 of 75.
    let parts = Stall { decode: 0.25, storage: 0.15, ..Stall::default() };
    let [ahead, in_turn] = [8, 0].map(|prefetch| verdict(prefetch, parts));
    assert!(is_decode(&ahead), "{:?}", ahead.cause);
    assert_eq!(in_turn.judgement, Judgement::Starves);
}

#[test]
fn storage_starves_a_job_by_its_checkpoints_whatever_falls_away_of_waits() {
    let verdict = |stall: Stall| {
        let mut builder = confirmed_job(&[]);
        for number in 0..3 {
            let one = job_rep("c", number, stall, 8.0);
            builder.push(one.clone());
            builder.push(Rep { role: Role::Confirm, ..one });
        }
        crate::fixture::reads_of(&builder)
    };
    // Most of next to nothing is not most of the stall.
    let slight = Stall { storage: 2e-4, client: 5e-4, checkpoint: 0.27, ..Stall::default() };
    let saved = verdict(slight);
    assert!(matches!(saved.cause, Cause::Short { .. }), "{:?}", saved.cause);
    assert_eq!(saved.judgement, Judgement::Starves);
    let why = saved.played.and_then(|played| played.diagnosis).map(|diagnosis| diagnosis.bound);
    assert_eq!(why, Some(Bound::Checkpoint));
    // Beside decoding that takes more: with checkpoints alone it would reach its line.
    let decoding = verdict(Stall { decode: 0.2, checkpoint: 0.05, ..Stall::default() });
    assert!(matches!(decoding.cause, Cause::Flagged(Flag::WaitsElsewhere { cause: Bound::Decode, .. })));
}

/// The job at this utilization and, beside it, closed loops at these depths and samples per second.
fn beside(au: f64, closed: &[(u32, f64)]) -> Builder {
    let mut builder = confirmed_job(&[au; 3]);
    for (depth, samples_per_s) in closed {
        let name = format!("closed{depth}");
        builder.cell(&name, "disk", *depth);
        builder.edit_cell(&name, |cell| cell.operation = "read_file".into());
        (0..3).for_each(|number| builder.push(rep(&name, number, samples_per_s * 100e3)));
    }
    builder
}

#[test]
fn a_closed_loop_of_the_same_depth_foretells_the_utilization() {
    // Four times as much in flight moves four times as much: with fewer readers at work it moves as much less.
    let predicted = of(&beside(0.5, &[(64, 5_000.0), (256, 20_000.0)])).1.predicted.unwrap();
    // Eight readers fill for 1.6 s and bring thirteen rounds of that; 10 s of computing, epochs of ten steps.
    assert_eq!(predicted.from, "closed64");
    assert_close(predicted.au, 10.0 / (10.0 * (2.0 * 1.6 + 0.2)));
    assert_close(predicted.samples_per_s, 5_000.0);
    assert_close(predicted.demand_samples_per_s, 10_000.0);
    assert_eq!((predicted.depth, predicted.steps, predicted.epochs), (64, 100, 10));
}

#[test]
fn what_closed_loops_leave_open_is_not_foretold() {
    let predicted = |closed: &[(u32, f64)], edit: fn(&mut record::Training)| {
        let mut builder = beside(0.5, closed);
        builder.edit_cell("c", |cell| edit(cell.training.as_mut().unwrap()));
        // One epoch.
        builder.run.datasets[0].bytes *= 100;
        of(&builder).1.predicted.map(|predicted| predicted.long_run)
    };
    let all = |_: &mut record::Training| ();
    let few = |job: &mut record::Training| job.prefetch = 4;
    let decoding = |job: &mut record::Training| {
        (job.decode, job.decode_cost_ns) = (Some("cost".to_owned()), Some(10_000_000));
    };
    assert_close(predicted(&[(64, 5_000.0)], all).unwrap(), 0.5);
    // Half of the readers read half as much where latency binds, and as much where the rate does.
    assert_close(predicted(&[(64, 5_000.0), (256, 20_000.0)], few).unwrap(), 0.25);
    assert_close(predicted(&[(32, 5_000.0), (64, 5_000.0)], few).unwrap(), 0.5);
    assert_eq!(predicted(&[(64, 5_000.0), (256, 5_000.0)], few), None);
    // Reads of 12.8 ms and 10 ms of decoding.
    let of_decoding = predicted(&[(64, 5_000.0), (256, 20_000.0)], decoding);
    assert_close(of_decoding.unwrap(), 64.0 / 0.0228 / 10_000.0);
    assert_eq!(predicted(&[(64, 5_000.0), (256, 5_000.0)], decoding), None);
    assert_eq!(predicted(&[(64, 5_000.0)], |job| job.decode = Some("jpeg".to_owned())), None);
    // Ten steps an epoch, mostly with fewer readers at work than the closed loops tell of.
    assert_eq!(of(&beside(0.5, &[(64, 5_000.0), (256, 9_000.0)])).1.predicted, None);
}

#[test]
fn a_job_that_no_closed_loop_can_foretell_says_why() {
    let of_job = |samples: u64, edit: fn(&mut record::Training)| {
        let mut builder = beside(0.5, &[(64, 5_000.0), (256, 20_000.0)]);
        builder.edit_cell("c", |cell| edit(cell.training.as_mut().unwrap()));
        builder.run.datasets[0].bytes = samples * 100_000;
        let trained = of(&builder).1;
        (trained.predicted.is_some(), trained.not_predicted)
    };
    let decoding = of_job(800_000, |job| job.decode = Some("jpeg".to_owned()));
    let unknown = NotPredicted::Decoding { work: "jpeg".to_owned() };
    assert_eq!(decoding, (false, Some(unknown)));
    // A step of all takes 1,000 samples.
    let kept = |job: &mut record::Training| job.drop_last = false;
    assert_eq!(of_job(800_001, kept), (false, Some(NotPredicted::UnevenBatches)));
    let several = |job: &mut record::Training| job.fetches = 2;
    assert_eq!(of_job(800_000, several), (false, Some(NotPredicted::SeveralReads)));
    assert_eq!(of_job(800_000, kept), (true, None), "no batch is smaller");
    assert_eq!(of_job(800_001, |_| ()), (true, None), "the rest is dropped");
    let mut alone = confirmed_job(&[0.5; 3]);
    alone.edit_cell("c", |cell| cell.training.as_mut().unwrap().decode = Some("jpeg".to_owned()));
    assert_eq!(of(&alone).1.not_predicted, None, "nobody asked a closed loop");
}

#[test]
fn a_closed_loop_that_reads_otherwise_foretells_nothing() {
    let edits: [fn(&mut record::Cell); 6] = [
        |cell| cell.engine = "pread".to_owned(),
        |cell| cell.operation = "read".into(),
        |cell| cell.cache = "warm".into(),
        |cell| cell.access = "random".into(),
        |cell| cell.connections = 4,
        |cell| cell.queue_depth = 32,
    ];
    for edit in edits {
        let mut builder = beside(0.5, &[(64, 5_000.0)]);
        builder.run.datasets[0].bytes *= 100;
        assert!(of(&builder).1.predicted.is_some());
        builder.edit_cell("closed64", edit);
        assert_eq!(of(&builder).1.predicted, None);
    }
}

#[test]
fn a_utilization_that_nothing_explains_is_told() {
    let apart = |au: f64| {
        let mut builder = beside(au, &[(64, 5_000.0), (256, 20_000.0)]);
        // One epoch, so that the job is foretold 10 / (13 x 1.6 + 0.4).
        builder.run.datasets[0].bytes *= 100;
        of(&builder).0.flags.iter().any(|flag| matches!(flag, Flag::NotAsPredicted { .. }))
    };
    assert_eq!([0.41, 0.43, 0.47, 0.52, 0.53].map(apart), [true, false, false, false, true]);
    let mut decoding = beside(0.5, &[(64, 9_000.0)]);
    decoding
        .edit_reps("c", |rep| rep.trained = Some(trained(Stall { decode: 0.5, ..Stall::default() }, 100)));
    let flags = of(&decoding).0.flags;
    assert!(!flags.iter().any(|flag| matches!(flag, Flag::NotAsPredicted { .. })), "{flags:?}");
}

fn loader(edit: impl Fn(&mut record::Training)) -> Option<DataLoader> {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.edit_cell("c", |cell| edit(cell.training.as_mut().unwrap()));
    let summary = summarise(&builder.record());
    DataLoader::of(&summary, &summary.cells[0])
}

#[test]
fn what_a_data_loader_is_given_follows_from_the_job() {
    let expected = DataLoader {
        readers: 8,
        fetches: 1,
        prefetch: 12,
        startup_ns: 0,
        decoding: MeasuredDecoding::No,
        judgement: Some(Judgement::Feeds),
        ahead_bytes: Some(1_200_000_000),
    };
    assert_eq!(loader(|job| job.prefetch = 12), Some(expected));
    let decoding = |work: &str| loader(|job| job.decode = Some(work.to_owned())).unwrap().decoding;
    assert_eq!(decoding("jpeg"), MeasuredDecoding::Yes);
    assert_eq!(decoding("cost"), MeasuredDecoding::StatedCost);
    assert_eq!(decoding("copy"), MeasuredDecoding::No);
    assert_eq!(loader(|job| job.readers = None), None);
}

#[test]
fn decode_is_tested_where_every_judged_cell_decodes() {
    let not_tested = |work: Option<&str>| {
        let mut builder = confirmed_job(&[0.95; 3]);
        builder.edit_cell("c", |cell| cell.training.as_mut().unwrap().decode = work.map(str::to_owned));
        summarise(&builder.record()).not_tested
    };
    let decode = |cost, checksum| Some(NotTested::Decode { cost, checksum });
    assert_eq!(not_tested(None).pop(), decode(false, false));
    assert!(!not_tested(Some("jpeg")).iter().any(|one| matches!(one, NotTested::Decode { .. })));
    assert_eq!(not_tested(Some("cost")).pop(), decode(true, false));
    assert_eq!(not_tested(Some("copy")).pop(), decode(false, false));
}

#[test]
fn a_job_has_no_place_on_a_curve() {
    let summary = summarise(&beside(0.5, &[(64, 5_000.0)]).record());
    let on_curves: Vec<usize> =
        summary.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| curve.cells.clone()).collect();
    assert_eq!(on_curves, [1]);
    assert_eq!(summary.training().count(), 1);
}

#[test]
fn the_fixtures_job_takes_what_the_need_says() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 64);
    builder.edit_cell("c", cell_of_job);
    assert_eq!(figures::demand_samples_per_s(&job()), Some(crate::fixture::DEMAND));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_record_of_a_job_makes_figures_that_are_no_numbers(
        counts in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 1..1_000_000_000_u64], 15), 0..3),
        shape in any::<[u32; 4]>(),
        compute_ns in any::<u64>(),
    ) {
        let mut builder = beside(0.5, &[(64, 5_000.0), (256, 9_000.0)]);
        let accelerators: Vec<TrainedAccelerator> = counts.iter().map(|counts| accelerator(counts)).collect();
        builder.edit_reps("c", |rep| rep.trained.as_mut().unwrap().accelerators.clone_from(&accelerators));
        builder.edit_cell("c", |cell| {
            let job = cell.training.as_mut().unwrap();
            (job.accelerators, job.batch, job.prefetch, job.readers) = (shape[0], shape[1], shape[2], Some(shape[3]));
            job.compute_ns = compute_ns;
        });
        let summary = summarise(&builder.record());
        let words = format!("{:?} {:?}", summary.cells[0].measured, DataLoader::of(&summary, &summary.cells[0]));
        prop_assert!(!words.contains("NaN") && !words.contains("inf"), "{words}");
    }
}

fn accelerator(counts: &[u64]) -> TrainedAccelerator {
    TrainedAccelerator {
        steps: counts[0],
        wall_ns: counts[1],
        compute_ns: counts[2].min(counts[1]),
        wait_ns: counts[3],
        barrier_ns: counts[4],
        first_batch_ns: counts[5],
        late: counts[6],
        storage_ns: counts[7],
        decode_ns: counts[8],
        client_ns: counts[9],
        startup_ns: counts[10],
        lost_samples: counts[11],
        excluded_wait_ns: counts[12],
        excluded_compute_ns: counts[13],
        checkpoint_ns: counts[14],
        ..TrainedAccelerator::default()
    }
}
