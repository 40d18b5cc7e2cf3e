use proptest::prelude::*;
use record::{Outcome, System};

use super::*;
use crate::fixture::{Builder, ceiling, confirmed_job, rep};
use crate::{CellSummary, Stall, summarise};
use Compared::{Au, Cpu, P50, P99, Throughput};

fn sample(builder: &Builder) -> RunSample {
    RunSample::of(&builder.record())
}

fn one_cell(reps: impl IntoIterator<Item = Rep>) -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    reps.into_iter().for_each(|rep| builder.push(rep));
    builder
}

#[track_caller]
fn close(rep: &RepSample, metric: Compared, expected: f64) {
    let found = rep.values[&metric];
    assert!((found / expected - 1.0).abs() < 1.1e-3, "{found} for {expected}");
}

/// A repetition with as many reads as asked, at `ns` each but for one in fifty at ten times that.
fn of_reads(number: u32, reads: u64, ns: u64) -> Rep {
    let mut one = rep("c", number, (reads * 100_000) as f64);
    let mut histogram = record::new_histogram();
    histogram.record_n(ns, reads - reads / 50).unwrap();
    histogram.record_n(10 * ns, reads / 50).unwrap();
    one.histograms.insert(crate::cell::latency::SERVICE.to_owned(), record::encode(&histogram));
    one.usage.cpu_user_ns = 1_000 * reads;
    one.usage.cpu_system_ns = 2_000 * reads;
    one
}

#[test]
fn a_repetition_has_its_rate_its_percentiles_and_its_processor_time() {
    let mut fast = of_reads(1, 10_000, 500_000);
    (fast.round, fast.window_ns) = (4, 500_000_000);
    let run = sample(&one_cell([of_reads(0, 10_000, 800_000), fast]));
    let reps = &run.cells[0].reps;
    assert_eq!((reps.len(), reps[1].rep, reps[1].round), (2, 1, 4));
    close(&reps[0], Throughput, 1e9);
    close(&reps[0], P50, 800_000.0);
    close(&reps[0], P99, 8_000_000.0);
    close(&reps[0], Cpu, 3_000.0);
    assert_eq!(reps[0].values.get(&Au), None);
    close(&reps[1], Throughput, 2e9);
}

#[test]
fn percentiles_rest_on_a_hundred_and_a_thousand_operations_of_one_repetition() {
    let values = |reads| sample(&one_cell([of_reads(0, reads, 1_000_000)])).cells[0].reps[0].values.clone();
    let found = |reads| [P50, P99].map(|metric| values(reads).contains_key(&metric));
    assert_eq!(found(99), [false, false]);
    assert_eq!(found(100), [true, false]);
    assert_eq!(found(999), [true, false]);
    assert_eq!(found(1_000), [true, true]);
}

#[test]
fn a_paced_load_has_its_response_over_all_arrivals() {
    let mut builder = one_cell((0..3).map(|number| rep("c", number, 0.9e9)));
    builder.pace("c", 1.0, 1.0);
    let all = sample(&builder).cells[0].reps[0].clone();
    close(&all, Throughput, Builder::LINE_BPS);
    close(&all, P50, 2_000_000.0);
    close(&all, P99, 2_000_000.0);
    // Of a hundred arrivals two are not served: the 99th percentile falls among them.
    builder.pace("c", 1.0, 0.98);
    let some = sample(&builder).cells[0].reps[0].clone();
    close(&some, Throughput, 0.98 * Builder::LINE_BPS);
    close(&some, P50, 2_000_000.0);
    assert_eq!(some.values.get(&P99), None);
}

#[test]
fn a_training_cell_has_its_utilization_and_the_samples_that_follow_from_it() {
    let run = sample(&confirmed_job(&[0.93, 0.95, 0.97]));
    let reps = &run.cells[0].reps;
    close(&reps[0], Au, 0.93);
    close(&reps[2], Au, 0.97);
    close(&reps[1], Throughput, 0.95 * 1e9);
}

#[test]
fn lookups_have_operations_per_second() {
    let mut stat = rep("c", 0, 1e9);
    stat.counters.remove(counter::BYTES);
    let mut builder = one_cell([stat]);
    builder.edit_cell("c", |cell| cell.operation = "stat".into());
    close(&sample(&builder).cells[0].reps[0], Throughput, 10_000.0);
}

#[test]
fn confirmations_and_other_cells_are_no_samples() {
    let builder = crate::fixture::confirmed_at(&[1.0, 1.1, 1.2]);
    assert_eq!(sample(&builder).cells[0].reps.len(), 3);
}

#[test]
fn a_cell_without_figures_says_why() {
    let excluded = |builder: &Builder| sample(builder).cells[0].excluded[0].clone();
    let gap = |cause: GapCause| Exclusion::Gap(cause.into());
    let recorded = |reason: &str| gap(GapCause::Recorded(reason.to_owned()));
    assert_eq!(excluded(&one_cell([])), gap(GapCause::NotRecorded));
    let mut failed = rep("c", 0, 1e9);
    failed.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
    assert_eq!(excluded(&one_cell([failed])), recorded("file is gone"));
    let nothing_ended = GapCause::NothingEnded { operation: feed::Operation::Read.into() };
    assert_eq!(excluded(&one_cell([rep("c", 0, 0.0)])), gap(nothing_ended));
    let mut cut = one_cell([]);
    cut.end = None;
    assert_eq!(excluded(&cut), gap(GapCause::RunCut));
    let mut unknown = one_cell([rep("c", 0, 1e9)]);
    unknown.run.datasets[0].sample_bytes = f64::NAN;
    assert_eq!(excluded(&unknown), gap(GapCause::NoSampleSize));
}

/// Records with every kind of doubt that a builder can make, and one without.
fn doubtful() -> Vec<Builder> {
    let plain = || one_cell((0..3).map(|number| rep("c", number, 1e9)));
    let edited = |edit: fn(&mut Rep)| {
        let mut builder = plain();
        builder.edit_reps("c", edit);
        builder
    };
    let mut limited = plain();
    limited.push_ceiling(ceiling("c", false, 12_000, 1_200_000_000));
    let mut changed = plain();
    changed.end.as_mut().unwrap().changed = vec![0];
    let mut failed = plain();
    let mut gone = rep("c", 3, 1e9);
    gone.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
    failed.push(gone);
    let mut paced = plain();
    paced.pace("c", 1.0, 0.9);
    let mut names = plain();
    names.edit_cell("c", |cell| cell.operation = "stat".into());
    vec![
        plain(),
        limited,
        changed,
        failed,
        paced,
        names,
        edited(|rep| rep.window_ns = 50_000_000),
        edited(|rep| rep.cache.after_bytes = Some(900_000_000)),
        edited(|rep| {
            rep.errors.insert("io".to_owned(), 1_000);
        }),
        edited(|rep| {
            rep.errors.insert("io".to_owned(), 1);
        }),
        edited(|rep| {
            rep.errors.insert("corrupt".to_owned(), 1);
        }),
        edited(|rep| rep.usage.cpu_user_ns = 8_000_000_000),
        edited(|rep| {
            rep.counters.insert(counter::OPS.to_owned(), 100);
        }),
        edited(|rep| rep.system = System { process_read_bytes: Some(7), ..System::default() }),
        confirmed_job(&[0.93, 0.95, 0.97]),
        confirmed_job(&[0.93, 0.40, 0.97]),
    ]
}

#[test]
fn what_is_excluded_is_what_forbids_a_verdict_in_the_summary() {
    let grave = |cell: &CellSummary| {
        let flags = cell.measured.flags().iter();
        let grave = flags.filter(|flag| flag.gravity() != Gravity::Informs);
        // What is said of the client stands last here.
        let (client, others): (Vec<&Flag>, Vec<&Flag>) = grave.partition(|flag| flag.is_client_limit());
        others.into_iter().chain(client).cloned().map(Exclusion::Flag).collect::<Vec<_>>()
    };
    let mut excluded = 0;
    for builder in doubtful() {
        let summary = summarise(&builder.record());
        let found = sample(&builder).cells[0].excluded_with_client();
        excluded += u32::from(!found.is_empty());
        assert_eq!(found, grave(&summary.cells[0]));
    }
    assert!(excluded >= 8, "{excluded}");
}

#[test]
fn waiting_elsewhere_excludes_a_job_from_a_comparison_of_storages() {
    let mut builder = confirmed_job(&[0.95, 0.95, 0.95]);
    let stall = Stall { decode: 0.5, ..Stall::default() };
    builder.edit_reps("c", |rep| rep.trained = Some(crate::fixture::trained(stall, 100)));
    assert!(!sample(&builder).cells[0].excluded.is_empty());
}

fn any_rep() -> impl Strategy<Value = Rep> {
    let count = prop_oneof![Just(0), Just(1), 1..2_000_000_u64, Just(u64::MAX / 64)];
    let counts = (count.clone(), count.clone(), count.clone(), count.clone());
    (0..4_u32, 0..4_u32, counts, count, any::<bool>(), any::<bool>()).prop_map(
        |(number, round, (ops, bytes, arrivals, served), window, is_cut, has_histogram)| {
            let mut one = rep("c", number, 1e9);
            let counters = [
                (counter::OPS, ops),
                (counter::BYTES, bytes),
                (counter::ARRIVALS, arrivals),
                (counter::SERVED, served),
                (counter::OFFERED_BPS, bytes),
            ];
            one.counters.extend(counters.map(|(name, value)| (name.to_owned(), value)));
            (one.round, one.window_ns, one.usage.cpu_user_ns) = (round, window, window);
            if is_cut {
                one.outcome = Outcome::Interrupted;
            }
            if !has_histogram {
                one.histograms.clear();
            }
            one
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_was_counted_values_are_positive_numbers_or_absent(
        reps in prop::collection::vec(any_rep(), 0..6),
        is_paced in any::<bool>(),
    ) {
        let mut builder = one_cell([]);
        if is_paced {
            builder.pace("c", 1.0, 1.0);
        }
        for rep in reps {
            builder.push(rep);
        }
        let run = sample(&builder);
        prop_assert_eq!(run.cells.len(), 1);
        for value in run.cells[0].reps.iter().flat_map(|rep| rep.values.values()) {
            prop_assert!(value.is_finite() && *value > 0.0);
        }
        prop_assert!(!run.cells[0].excluded.is_empty() || !run.cells[0].reps.is_empty());
    }
}
