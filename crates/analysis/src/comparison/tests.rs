use feed::Compared;
use proptest::prelude::*;
use record::Variant;

use super::*;
use crate::cell::gap::GapCause;
use crate::cell::metric::Margins;
use crate::fixture::Builder;

/// Two runs of two cells whose repetitions have these values of every metric.
pub(super) fn sample(id: &str, cells: &[Vec<[f64; 5]>]) -> RunSample {
    let mut builder = Builder::new();
    for (index, _) in cells.iter().enumerate() {
        builder.cell(&format!("c{index}"), "disk", 8 << index);
    }
    builder.run.run_id = id.to_owned();
    builder.run.started = id.to_owned();
    builder.run.variant =
        Some(Variant { name: id.to_owned(), group: "g".to_owned(), number: 0, settings: Vec::new() });
    let reps = |values: &Vec<[f64; 5]>| {
        let rep = |(rep, values): (usize, &[f64; 5])| RepSample {
            rep: rep as u32,
            round: rep as u32,
            values: Compared::ALL.into_iter().zip(*values).collect(),
        };
        values.iter().enumerate().map(rep).collect()
    };
    let cell = |(index, values)| CellSample { index, reps: reps(values), ..CellSample::default() };
    RunSample {
        run: builder.record().run,
        env: record::Environment::default(),
        cells: cells.iter().enumerate().map(cell).collect(),
    }
}

fn gone() -> Vec<Exclusion> {
    vec![Exclusion::Gap(GapCause::Recorded("file is gone".to_owned()).into())]
}

/// What is said of a pair of variants called `a` of which the one after has no figures.
fn excluded_after() -> Excluded {
    Excluded::Sides([Vec::new(), gone()].map(|reasons| SideExclusions { name: "a".to_owned(), reasons }))
}

fn gap(cell: &str, reason: UncomparedReason) -> Uncompared {
    Uncompared::Of { name: cell.to_owned(), reason }
}

#[test]
fn without_rounds_in_common_repetitions_are_paired_by_their_number() {
    let one = sample("a", &[vec![[100.0; 5], [200.0; 5], [300.0; 5]]]);
    let mut other = one.clone();
    for rep in &mut other.cells[0].reps {
        rep.round += 100;
    }
    let found = compare_variants(&one, &other, &Margins::INTERLEAVED).unwrap();
    assert_eq!(found.cells[0].effects[0].samples_before, 3);
    assert_eq!(found.cells[0].effects[0].change, Change::Unchanged);
}

#[test]
fn what_one_side_lacks_is_a_gap() {
    let one = sample("a", &[vec![[100.0; 5]; 3], vec![[100.0; 5]; 3]]);
    let mut other = one.clone();
    for rep in &mut other.cells[0].reps {
        rep.values.remove(&Compared::P99);
    }
    other.cells[1].reps.clear();
    other.cells[1].excluded = gone();
    let found = compare_variants(&one, &other, &Margins::INTERLEAVED).unwrap();
    assert_eq!((found.cells.len(), found.cells[0].effects.len()), (1, 4));
    let side = OneSide::Named("a".to_owned());
    let one_sided = gap("c0", UncomparedReason::OneSided { metric: Compared::P99, side });
    assert!(found.gaps.contains(&one_sided), "{:?}", found.gaps);
    let no_figures = gap("c1", UncomparedReason::NoFigures(NoFigures::Excluded(excluded_after())));
    assert!(found.gaps.contains(&no_figures), "{:?}", found.gaps);
}

#[test]
fn what_is_excluded_shows_its_figures_and_is_not_judged() {
    let one = sample("a", &[vec![[100.0; 5]; 3]]);
    let mut other = sample("a", &[vec![[50.0; 5]; 3]]);
    other.cells[0].excluded = gone();
    let found = compare_variants(&one, &other, &Margins::INTERLEAVED).unwrap();
    let cell = &found.cells[0];
    assert_eq!(cell.excluded, Some(excluded_after()));
    assert!(cell.effects.iter().all(|effect| effect.change == Change::Inconclusive));
    assert!((cell.effects[0].ratio.mean - 0.5).abs() < 1e-12);
    assert_eq!((found.judged().count(), found.headlines.len()), (0, 0));
    assert_eq!(found.gaps, [Uncompared::NoHeadline { target: "disk".to_owned() }]);
}

#[test]
fn a_headline_is_the_geometric_mean_over_the_cells_of_a_target() {
    let one = sample("a", &[vec![[100.0; 5]; 3], vec![[400.0; 5]; 3]]);
    let other = sample("a", &[vec![[50.0; 5]; 3], vec![[800.0; 5]; 4]]);
    let found = compare_variants(&one, &other, &Margins::INTERLEAVED).unwrap();
    let headline = &found.headlines[0];
    assert_eq!((headline.target.as_str(), headline.cells), ("disk", 2));
    assert_eq!(headline.effect.metric.compared(), Some(Compared::Throughput));
    assert!(
        (headline.effect.before - 200.0).abs() < 1e-9 && (headline.effect.ratio.mean - 1.0).abs() < 1e-12
    );
    let judged: Vec<&str> = found.judged().map(|(name, _)| name).collect();
    assert_eq!(judged[..3], ["disk", "c0", "c0"]);
}

#[test]
fn a_cell_with_another_cache_checkpoint_or_copy_is_not_the_one_before() {
    let before = sample("r0", &[vec![[100.0; 5]; 3]]);
    let gaps = |edit: &dyn Fn(&mut record::Cell)| {
        let mut after = sample("r1", &[vec![[100.0; 5]; 3]]);
        edit(&mut after.run.cells[0]);
        compare_stored("b", std::slice::from_ref(&before), &after, 1, &[], &Margins::STORED).unwrap().gaps
    };
    assert!(gaps(&|_| {}).is_empty());
    let checkpoint = |durable: bool| record::CheckpointPlan {
        label: "1 GB".to_owned(),
        bytes: 1 << 30,
        files: 8,
        mode: "sync".to_owned(),
        every_steps: None,
        copy_ns: 0,
        durable,
        keep: 1,
        price_per_hour: None,
    };
    let tier = |capacity_bytes: u64| record::Tier {
        at: "/nvme".to_owned(),
        capacity_bytes,
        policy: "lru".to_owned(),
    };
    let edits: [&dyn Fn(&mut record::Cell); 7] = [
        &|cell| cell.cache = "cold_start".into(),
        &|cell| cell.tier = Some(tier(1)),
        &|cell| cell.checkpoint = Some(checkpoint(false)),
        &|cell| cell.copy = Some(record::CopyPlan { to: "near".to_owned(), layout: None }),
        &|cell| cell.streams = Some(2),
        &|cell| cell.run_length = Some(2),
        &|cell| cell.shuffle_buffer = Some(2),
    ];
    for edit in edits {
        assert!(gaps(edit).contains(&gap("c0", UncomparedReason::OtherSettings)), "{:?}", gaps(edit));
    }
}

#[test]
fn the_run_itself_and_runs_of_another_plan_are_left_out_of_a_baseline() {
    let run = sample("r9", &[vec![[100.0; 5]; 3]]);
    let mut baseline: Vec<RunSample> =
        (0..4).map(|day| sample(&format!("r{day}"), &[vec![[100.0 + f64::from(day); 5]; 3]])).collect();
    baseline[1].run.plan_hash = "other".to_owned();
    baseline.push(run.clone());
    let found = compare_stored("nightly", &baseline, &run, 3, &[], &Margins::STORED).unwrap();
    assert_eq!(found.before.run_ids, ["r0", "r2", "r3"]);
    assert_eq!(found.gaps.len(), 2, "{:?}", found.gaps);
    let refused = compare_stored("nightly", &baseline[1..2], &run, 3, &[], &Margins::STORED).unwrap_err();
    assert_eq!(refused.differences[0].what, "plan");
}

#[test]
fn a_baseline_that_holds_nothing_is_a_gap() {
    let run = sample("r9", &[vec![[100.0; 5]; 3]]);
    let found = compare_stored("nightly", &[], &run, 8, &[], &Margins::STORED).unwrap();
    assert_eq!(found.gaps, [Uncompared::NoRun { baseline: "nightly".to_owned() }]);
    assert_eq!(found.judged().count(), 0);
}

#[test]
fn below_the_runs_that_are_asked_for_nothing_is_decided() {
    let day = |day: u32| sample(&format!("r{day}"), &[vec![[100.0 + f64::from(day) / 10.0; 5]; 3]]);
    let run = sample("r99", &[vec![[40.0; 5]; 3]]);
    let baseline: Vec<RunSample> = (10..18).map(day).collect();
    let change = |runs: usize| {
        let found = compare_stored("n", &baseline[..runs], &run, 8, &[], &Margins::STORED).unwrap();
        (found.headlines[0].effect.change, found.headlines[0].effect.because)
    };
    assert_eq!(change(7), (Change::Inconclusive, Some(Because::FewRuns { runs: 7, wanted: 8 })));
    assert_eq!(change(8), (Change::Regressed, None));
}

#[test]
fn a_target_that_is_not_there_is_refused_with_those_that_are() {
    let run = sample("r", &[vec![[1.0; 5]; 3]]);
    let refused = compare_targets(&run, "disk", "nvme", &Margins::INTERLEAVED).unwrap_err();
    assert_eq!(refused.differences[0].to_string(), "targets disk -> nvme (not among disk)");
    assert_eq!(refused.hint(), RefusalHint::NameTargets);
}

#[test]
fn a_target_that_plays_jobs_alone_has_its_utilization_as_headline() {
    let headline = |edit: fn(&mut RunSample)| {
        let mut one = sample("a", &[vec![[100.0; 5]; 3], vec![[100.0; 5]; 3]]);
        edit(&mut one);
        let found = compare_variants(&one, &one, &Margins::INTERLEAVED).unwrap();
        (found.headlines[0].effect.metric.word(), found.headlines[0].cells)
    };
    let job = |sample: &mut RunSample| sample.run.cells.iter_mut().for_each(crate::fixture::cell_of_job);
    assert_eq!(headline(job), ("au", 2));
    assert_eq!(headline(|sample| crate::fixture::cell_of_job(&mut sample.run.cells[0])), ("throughput", 2));
    // Names looked up per second are no bytes per second.
    assert_eq!(headline(|sample| sample.run.cells[1].operation = "stat".into()), ("throughput", 1));
}

#[test]
fn targets_are_paired_by_what_their_cells_do_and_by_engine_where_both_have_it() {
    let mut run = sample("r", &vec![vec![[100.0; 5]; 3]; 5]);
    let mut other = run.run.targets[0].clone();
    other.name = "bucket".to_owned();
    run.run.targets.push(other);
    let cells =
        [("disk", "pread", 8), ("disk", "io_uring", 8), ("bucket", "lean", 8), ("bucket", "pread", 8)];
    for (cell, (target, engine, depth)) in run.run.cells.iter_mut().zip(cells) {
        (cell.target, cell.engine, cell.queue_depth) = (target.to_owned(), engine.to_owned(), depth);
    }
    (run.run.cells[4].target, run.run.cells[4].queue_depth) = ("bucket".to_owned(), 512);
    let found = compare_targets(&run, "disk", "bucket", &Margins::INTERLEAVED).unwrap();
    let labels: Vec<(&str, &str)> =
        found.cells.iter().map(|cell| (cell.cell.as_str(), cell.label.as_str())).collect();
    assert_eq!(labels, [("c0", "pread, depth 8"), ("c1", "io_uring -> lean, depth 8")]);
    assert_eq!(found.gaps, [gap("c4", UncomparedReason::NoCounterpart { target: "disk".to_owned() })]);
    assert_eq!(found.headlines[0].target, "disk");
}

/// Two forms of a dataset that store as many bytes are read of each of two targets; the second names them the other way round.
#[test]
fn targets_are_paired_form_by_form() {
    let mut run = sample("r", &vec![vec![[100.0; 5]; 3]; 4]);
    let mut other = run.run.targets[0].clone();
    other.name = "bucket".to_owned();
    run.run.targets.push(other);
    let cells = [("disk", "gzip"), ("disk", "zstd"), ("bucket", "zstd"), ("bucket", "gzip")];
    for (cell, (target, codec)) in run.run.cells.iter_mut().zip(cells) {
        (cell.target, cell.queue_depth) = (target.to_owned(), 8);
        let words =
            record::AxisWords { name: "codec".to_owned(), value: codec.to_owned(), unit: String::new() };
        cell.axes.push(words);
    }
    for (cell, values) in run.cells.iter_mut().zip([100.0, 50.0, 100.0, 50.0]) {
        cell.reps.iter_mut().for_each(|rep| rep.values.values_mut().for_each(|value| *value = values));
    }
    let found = compare_targets(&run, "disk", "bucket", &Margins::INTERLEAVED).unwrap();
    let percent = |cell: &CellComparison| (cell.effects[0].ratio.mean * 100.0).round() as u64;
    let ratios: Vec<(&str, u64)> =
        found.cells.iter().map(|cell| (cell.label.as_str(), percent(cell))).collect();
    assert_eq!(ratios, [("io_uring, codec gzip, depth 8", 50), ("io_uring, codec zstd, depth 8", 200)]);
}

fn any_value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        (1e-3..1e12_f64).prop_map(Some),
        prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX])
            .prop_map(Some),
    ]
}

fn any_run() -> impl Strategy<Value = RunSample> {
    let rep = (0..4_u32, 0..4_u32, prop::array::uniform5(any_value())).prop_map(|(rep, round, values)| {
        let given = |(metric, value): (Compared, Option<f64>)| Some((metric, value?));
        let values = Compared::ALL.into_iter().zip(values).filter_map(given).collect();
        RepSample { rep, round, values }
    });
    let cell =
        (0..3_usize, prop::collection::vec(rep, 0..5), any::<bool>()).prop_map(|(index, reps, out)| {
            let excluded = if out { gone() } else { Vec::new() };
            CellSample { index, reps, excluded, ..CellSample::default() }
        });
    (prop::collection::vec(cell, 0..4), 0..20_u32).prop_map(|(cells, day)| {
        let mut run = sample(&format!("r{day:02}"), &[Vec::new(), Vec::new()]);
        run.cells = cells;
        run
    })
}

fn is_sound(effect: &Effect) -> bool {
    let Ratio { low, mean, high } = effect.ratio;
    let is_decided = effect.change != Change::Inconclusive;
    let is_number = !low.is_nan() && !mean.is_nan() && !high.is_nan();
    is_number && low <= high && (is_decided == effect.because.is_none())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_the_samples_hold_a_comparison_has_numbers_and_reasons(
        runs in prop::collection::vec(any_run(), 2..6),
        share in prop_oneof![0.0..0.5_f64, Just(2.0), Just(f64::NAN), Just(-1.0)],
        runs_min in 0..4_u32,
    ) {
        let margins = Compared::ALL.into_iter().fold(Margins::NONE, |margins, metric| margins.with(metric, share));
        let found = [
            compare_variants(&runs[0], &runs[1], &margins).unwrap(),
            compare_stored("n", &runs[1..], &runs[0], runs_min, &[], &margins).unwrap(),
            compare_targets(&runs[0], "disk", "disk", &margins).unwrap(),
        ];
        for comparison in found {
            prop_assert!(comparison.judged().all(|(_, effect)| is_sound(effect)), "{comparison:?}");
        }
        prop_assert!(history(&runs).is_some());
        prop_assert!(calibrate(&runs[0], &runs[1]).is_ok() && calibrate_history(&runs, 8, &[]).is_ok());
    }

    #[test]
    fn the_order_of_a_baseline_does_not_matter(values in prop::collection::vec(50.0..150.0_f64, 4..10), seed in any::<u64>()) {
        let mut runs: Vec<RunSample> = values
            .iter()
            .enumerate()
            .map(|(day, value)| sample(&format!("r{day:02}"), &[vec![[*value; 5]; 2]]))
            .collect();
        let last = runs.pop().unwrap();
        let compared = |runs: &[RunSample]| compare_stored("n", runs, &last, 3, &[], &Margins::STORED).unwrap();
        let first = compared(&runs);
        runs.rotate_left(seed as usize % values.len().min(3));
        prop_assert_eq!(compared(&runs), first);
    }
}
