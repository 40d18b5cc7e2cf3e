use proptest::prelude::*;
use record::{Cell, Outcome, Rep, Role, counter};

use super::over_run::{Point, change};
use super::window::{Window, in_rounds, number_of_rounds};
use crate::cell::flag::{Flag, Gravity};
use crate::fixture::{Builder, confirmed_at, rep};
use crate::summary::soak::{Course, Soak};
use crate::{Cause, GateResult, Note, Summary, WhyUnmet, gate, summarise};

/// Makes a repetition of these seconds, in megabytes each, of 1,000 operations.
fn play(rep: &mut Rep, megabytes: &[u64]) {
    rep.window_ns = megabytes.len() as u64 * 1_000_000_000;
    rep.usage.wall_ns = rep.window_ns;
    rep.second_bytes = megabytes.iter().map(|megabytes| megabytes * 1_000_000).collect();
    rep.second_ops = vec![1_000; megabytes.len()];
    rep.counters.insert(counter::BYTES.to_owned(), rep.second_bytes.iter().sum());
    rep.counters.insert(counter::OPS.to_owned(), megabytes.len() as u64 * 1_000);
}

fn cell() -> Cell {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.run.cells.remove(0)
}

fn window_of(megabytes: &[u64]) -> Option<Window> {
    let mut rep = rep("c", 0, 1e9);
    play(&mut rep, megabytes);
    Window::of(&cell(), &rep)
}

/// Cell `c` of the fixture, with these seconds in every repetition.
fn of_seconds(megabytes: &[u64]) -> Builder {
    let mut builder = confirmed_at(&[1.0; 3]);
    builder.edit_reps("c", |rep| play(rep, megabytes));
    builder
}

fn summary_of(megabytes: &[u64]) -> Summary {
    summarise(&of_seconds(megabytes).record())
}

fn unsteady(summary: &Summary) -> Vec<Flag> {
    summary.cells[0].measured.flags().iter().filter(|flag| flag.is_unsteady()).cloned().collect()
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
}

#[test]
fn range_and_slope_are_those_of_snia_by_hand() {
    // Average 104; no slope, since both halves mirror each other.
    let even = window_of(&[100, 105, 110, 105, 100]).unwrap();
    assert_near(even.range, 10.0 / 104.0);
    assert_near(even.slope, 0.0);
    assert_near(even.end, 104e6);
    // -2 * 120 - 110 + 90 + 2 * 85 = -90, by 10: -9 a second, of 101, over the four seconds between the middles.
    let falling = window_of(&[120, 110, 100, 90, 85]).unwrap();
    assert_near(falling.range, 35.0 / 101.0);
    assert_near(falling.slope, -9.0 * 4.0 / 101.0);
    assert_near(falling.end / 1e6, 101.0 - 9.0 * 2.0);
    assert!(even.is_steady() && !falling.is_steady());
}

#[test]
fn the_limits_themselves_are_steady() {
    // Range 20 % of 100 and no slope; slope 10 % of 1,000 and range 10 %.
    assert!(window_of(&[100, 90, 100, 110, 100]).unwrap().slope.abs() < 0.1);
    assert!(window_of(&[100, 90, 120, 90, 100]).is_some_and(|window| !window.is_steady()));
    let at_range = window_of(&[90, 110, 100, 110, 90]).unwrap();
    assert_near(at_range.range, 0.2);
    let at_slope = window_of(&[1_050, 1_025, 1_000, 975, 950]).unwrap();
    assert_near(at_slope.slope, -0.1);
    assert!(at_range.is_steady() && at_slope.is_steady());
    assert!(!window_of(&[1_051, 1_025, 1_000, 975, 950]).unwrap().is_steady());
}

#[test]
fn a_window_is_cut_into_equal_rounds_and_loses_none_of_it() {
    let counts = [5, 10, 300, 301, 600, 1_500, 14_400].map(|seconds| number_of_rounds(seconds, 1e9));
    assert_eq!(counts, [5, 5, 5, 6, 10, 25, 25].map(Some));
    assert_eq!((number_of_rounds(600, 7.9), number_of_rounds(600, 4.9)), (Some(7), None));
    assert_eq!(
        in_rounds(&[1, 3, 5, 7, 9, 11, 13, 15, 17, 19], 5),
        [(1.0, 2.0), (3.0, 6.0), (5.0, 10.0), (7.0, 14.0), (9.0, 18.0)]
    );
    let uneven = in_rounds(&[6, 6, 4, 8, 6, 5, 7], 5);
    assert_eq!(uneven.iter().map(|(middle, _)| *middle).collect::<Vec<_>>(), [0.5, 1.5, 3.0, 4.5, 6.0]);
    assert!(uneven.iter().all(|(_, per_s)| (per_s - 6.0).abs() < 1e-12), "{uneven:?}");
}

#[test]
fn nothing_is_said_of_short_windows_nor_of_few_operations() {
    assert_eq!(window_of(&[100, 10, 100, 10]), None);
    assert_eq!(unsteady(&summary_of(&[1_000, 100, 1_000, 100])), []);
    let wild = [1_000, 100, 1_000, 100, 1_000];
    assert_eq!(unsteady(&summary_of(&wild)).len(), 1);
    let mut few = of_seconds(&wild);
    few.edit_reps("c", |rep| rep.second_ops = vec![399; 5]);
    assert_eq!(unsteady(&summarise(&few.record())), []);
    let mut deep = of_seconds(&wild);
    deep.edit_cell("c", |cell| cell.queue_depth = 51);
    assert_eq!(unsteady(&summarise(&deep.record())), []);
    let mut unknown = of_seconds(&wild);
    unknown.edit_reps("c", |rep| (rep.second_ops, rep.second_bytes) = (Vec::new(), Vec::new()));
    assert_eq!(unsteady(&summarise(&unknown.record())), []);
}

#[test]
fn a_second_that_is_cut_short_is_left_out() {
    let mut cut = rep("c", 0, 1e9);
    play(&mut cut, &[100, 100, 100, 100, 100, 3]);
    cut.window_ns = 5_030_000_000;
    assert!(Window::of(&cell(), &cut).unwrap().is_steady());
    play(&mut cut, &[100, 100, 100, 100, 100, 60]);
    assert!(!Window::of(&cell(), &cut).unwrap().is_steady());
    cut.outcome = Outcome::Exhausted;
    assert!(Window::of(&cell(), &cut).unwrap().is_steady());
}

#[test]
fn jobs_and_arrivals_in_steps_have_no_rate_of_their_own() {
    let mut rep = rep("c", 0, 1e9);
    play(&mut rep, &[100, 10, 100, 10, 100]);
    let mut paced = cell();
    let arrivals = |words: &str| {
        Some(record::Pace {
            rate_bps: None,
            of_line: Some(1.0),
            arrivals: words.to_owned(),
            batch_samples: None,
            spin_ns: 0,
        })
    };
    paced.pace = arrivals("poisson");
    assert!(Window::of(&paced, &rep).is_some());
    paced.pace = arrivals("batch");
    assert_eq!(Window::of(&paced, &rep), None);
}

#[test]
fn a_flag_tells_the_worst_window_and_how_many() {
    let mut builder = of_seconds(&[1_000; 5]);
    builder.edit_reps("c", |rep| {
        if rep.rep == 1 {
            play(rep, &[1_000, 1_300, 1_000, 1_000, 1_000]);
        }
    });
    let flags = unsteady(&summarise(&builder.record()));
    // Average 1,060; -1,300 + 1,000 = -300, by 10 a second, over four seconds.
    let [Flag::NotSteady { repetitions: 1, made: 3, range, slope, end_of_line: Some(end) }] =
        flags.as_slice()
    else {
        panic!("{flags:?}")
    };
    assert_near(*range, 300.0 / 1_060.0);
    assert_near(*slope, -30.0 * 4.0 / 1_060.0);
    assert_near(*end, (1_060.0 - 60.0) / 900.0);
}

#[test]
fn a_fall_below_the_line_takes_feeds_back_and_one_above_it_does_not() {
    // The line is 900 MB/s; both have a mean above it.
    let above = summary_of(&[1_500, 1_450, 1_400, 1_350, 1_300]);
    assert_eq!(above.verdicts[0].judgement(), feed::Judgement::Feeds);
    assert!(unsteady(&above)[0].gravity() == Gravity::Informs);
    let below = summary_of(&[1_060, 1_010, 960, 910, 870]);
    assert!(matches!(unsteady(&below)[0], Flag::NotSteady { .. }));
    assert_eq!(below.verdicts[0].judgement(), feed::Judgement::Uncertain);
    let cause = &below.verdicts[0].of_reads().unwrap().cause;
    assert!(matches!(cause, Cause::Flagged(Flag::NotSteady { repetitions: 3, made: 3, .. })), "{cause:?}");
    let starved = summary_of(&[600, 550, 500, 450, 400]);
    assert_eq!(starved.verdicts[0].judgement(), feed::Judgement::Starves);
    let rising = summary_of(&[700, 760, 830, 900, 960]);
    assert_eq!(rising.verdicts[0].judgement(), feed::Judgement::Uncertain);
}

#[test]
fn a_fall_in_every_window_is_burst_credit() {
    let flags = unsteady(&summary_of(&[2_000, 2_000, 2_000, 800, 500, 500]));
    let [Flag::Bursts { fall, in_windows: true, end_of_line: Some(end) }] = flags.as_slice() else {
        panic!("{flags:?}")
    };
    assert_near(*fall, 0.75);
    assert_near(*end, 500.0 / 900.0);
    assert_eq!(flags[0].gravity(), Gravity::ForbidsFeeds);
    let mut but_one = of_seconds(&[2_000, 2_000, 2_000, 800, 500, 500]);
    but_one.edit_reps("c", |rep| {
        if rep.rep == 0 {
            play(rep, &[1_000; 6]);
        }
    });
    assert!(matches!(unsteady(&summarise(&but_one.record()))[..], [Flag::NotSteady { repetitions: 2, .. }]));
}

#[test]
fn names_are_steady_by_their_operations() {
    let mut builder = of_seconds(&[0; 5]);
    builder.edit_cell("c", |cell| cell.operation = "stat".into());
    builder.edit_reps("c", |rep| rep.second_ops = vec![9_000, 1_000, 9_000, 1_000, 9_000]);
    let flags = unsteady(&summarise(&builder.record()));
    assert!(matches!(flags[..], [Flag::NotSteady { end_of_line: None, .. }]), "{flags:?}");
}

#[test]
fn an_unsteady_cell_passes_no_gate_and_is_no_excuse() {
    let gated = |megabytes: &[u64]| {
        let mut builder = of_seconds(megabytes);
        builder.run.gate.feeds = vec!["disk".to_owned()];
        gate(&summarise(&builder.record()))
    };
    assert_eq!(gated(&[1_500; 5]), GateResult::Met);
    let GateResult::Inconclusive(unmet) = gated(&[1_500, 1_450, 1_400, 1_350, 1_300]) else {
        panic!("decided")
    };
    assert!(matches!(unmet[0].why, WhyUnmet::Flagged(Flag::NotSteady { .. })), "{unmet:?}");
    assert!(matches!(gated(&[600, 550, 500, 450, 400]), GateResult::Missed(_)));
}

/// Points of one cell at these times, with these rates.
fn points(rates: &[(f64, f64)]) -> Vec<Point> {
    let n = rates.len() as f64;
    let mean_s = rates.iter().map(|(at, _)| at).sum::<f64>() / n;
    let mean_ln = rates.iter().map(|(_, rate)| rate.ln()).sum::<f64>() / n;
    let point = |(round, (at_s, rate)): (usize, &(f64, f64))| Point {
        from_mean_s: at_s - mean_s,
        ln_of_mean: rate.ln() - mean_ln,
        at_s: *at_s,
        round: round as u32,
    };
    rates.iter().enumerate().map(point).collect()
}

#[test]
fn a_trend_is_told_over_the_whole_run() {
    // Every 100 s a twentieth less, with a little noise, on two cells of different rates: 0.95^9 is left of the first.
    let falling = |scale: f64| {
        let rate = |k: i32| scale * 0.95_f64.powi(k) * if k % 2 == 0 { 1.01 } else { 0.99 };
        points(&(0..10).map(|k| (f64::from(k) * 100.0, rate(k))).collect::<Vec<_>>())
    };
    let Some(Flag::Drifts { change, over_ns }) = change(&[falling(1.0), falling(70.0)]) else {
        panic!("no trend")
    };
    assert!((change - (0.95_f64.powi(9) - 1.0)).abs() < 0.02, "{change}");
    assert_eq!(over_ns, 900_000_000_000);
    let exact: Vec<(f64, f64)> = (0..5).map(|k| (f64::from(k), 1.1_f64.powi(k))).collect();
    let Some(Flag::Drifts { change: risen, .. }) = super::over_run::change(&[points(&exact)]) else {
        panic!("no trend")
    };
    assert_near(risen, 1.1_f64.powi(4) - 1.0);
}

#[test]
fn noise_small_trends_and_few_points_are_no_drift() {
    let noise = [1.0, 1.2, 0.9, 1.1, 1.0, 1.15, 0.95, 1.05];
    let at = |rates: &[f64]| {
        let timed: Vec<(f64, f64)> = rates.iter().enumerate().map(|(k, rate)| (k as f64, *rate)).collect();
        change(&[points(&timed)])
    };
    assert_eq!(at(&noise), None);
    assert_eq!(at(&[1.0, 0.98, 0.96, 0.94, 0.92, 0.905]), None);
    assert_eq!(at(&[1.0, 0.9, 0.8, 0.7]), None);
    assert_eq!(change(&[]), None);
    assert_eq!(at(&[1.0]), None);
}

#[test]
fn two_levels_are_burst_credit_and_one_fast_round_is_not() {
    let at = |rates: &[f64]| {
        let timed: Vec<(f64, f64)> = rates.iter().enumerate().map(|(k, rate)| (k as f64, *rate)).collect();
        change(&[points(&timed)])
    };
    let Some(Flag::Bursts { fall, in_windows: false, end_of_line: None }) = at(&[1.0, 1.0, 0.5, 0.5, 0.5])
    else {
        panic!("no fall")
    };
    assert_near(fall, 0.5);
    assert!(!matches!(at(&[1.0, 0.5, 0.5, 0.5, 0.5]), Some(Flag::Bursts { .. })));
    // A fall of a tenth from round to round is a trend and no knee.
    assert!(matches!(at(&[1.0, 0.9, 0.81, 0.73, 0.656, 0.59]), Some(Flag::Drifts { .. })));
}

/// Two cells measured in five rounds, whose rates follow `of_round`.
fn run_of(window_s: u64, of_round: impl Fn(u32) -> f64) -> Summary {
    let mut builder = Builder::new();
    for name in ["a", "b"] {
        builder.cell(name, "disk", 8);
    }
    for round in 0..5 {
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            let mut one = rep(name, round, 2e9 * window_s as f64 * of_round(round));
            one.window_ns = window_s * 1_000_000_000;
            one.window_start_ns = (u64::from(round) * 2 + at as u64) * 60_000_000_000;
            builder.push(one);
        }
    }
    builder.run.measure.repetitions = 5;
    summarise(&builder.record())
}

#[test]
fn every_cell_of_a_target_that_drifts_is_flagged_and_its_verdict_stands() {
    let drifting = run_of(10, |round| 1.0 - 0.06 * f64::from(round));
    for cell in &drifting.cells {
        let falls =
            |flag: &&Flag| matches!(flag, Flag::Drifts { change, .. } if (-0.3..-0.2).contains(change));
        assert!(cell.flags().iter().any(falls), "{:?}", cell.flags());
        assert!(cell.unsteady().is_some() && cell.figures().unwrap().is_valid());
    }
    for quiet in [run_of(4, |round| 1.0 - 0.06 * f64::from(round)), run_of(10, |_| 1.0)] {
        assert!(quiet.cells.iter().all(|cell| cell.unsteady().is_none()));
    }
    let bursting = run_of(10, |round| if round < 2 { 1.0 } else { 0.6 });
    let flags = unsteady(&bursting);
    assert!(matches!(flags[..], [Flag::Bursts { in_windows: false, .. }]), "{flags:?}");
}

#[test]
fn a_soak_tells_its_ends_and_its_lowest_minute() {
    // 1,200 s: 4,000, then 3,200 MB/s from half of it on, and a minute of 2,900 at 15 minutes.
    let rate = |second: u64| match second {
        0..600 => 4_000,
        900..960 => 2_900,
        _ => 3_200,
    };
    let seconds: Vec<u64> = (0..1_200).map(rate).collect();
    let notes = summary_of(&seconds).notes;
    let course = Course { first_tenth: 4e9, last_tenth: 3.2e9, lowest_minute: 2.9e9, lowest_at_s: 900 };
    let soak = |role| {
        Note::Soak(Soak {
            cell: "c".to_owned(),
            target_at_depth: Some(("disk".to_owned(), 8)),
            operation: "read".into(),
            role,
            rep: Some(1),
            course,
        })
    };
    assert_eq!(notes.len(), 6, "{notes:?}");
    assert_eq!((&notes[2], &notes[3]), (&soak(Role::Measure), &soak(Role::Confirm)));
    assert_eq!(Course::of(&seconds[..599]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_constant_series_is_steady(megabytes in 1..100_000_u64, seconds in 5..2_000_usize) {
        let window = window_of(&vec![megabytes; seconds]).unwrap();
        prop_assert!(window.is_steady() && window.range.abs() < 1e-9 && window.slope.abs() < 1e-9);
    }

    #[test]
    fn a_state_is_the_same_in_any_unit(
        megabytes in prop::collection::vec(1..10_000_u64, 5..200),
        factor in 1..1_000_u64,
    ) {
        let one = window_of(&megabytes).unwrap();
        let scaled: Vec<u64> = megabytes.iter().map(|count| count * factor).collect();
        let two = window_of(&scaled).unwrap();
        prop_assert!((one.range - two.range).abs() < 1e-9 && (one.slope - two.slope).abs() < 1e-9);
    }

    #[test]
    fn nothing_panics_on_whatever_was_counted(
        moved in prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 0..700),
        ops in prop::collection::vec(any::<u64>(), 0..700),
        window_ns in any::<u64>(),
        starts in any::<[u64; 3]>(),
    ) {
        let mut builder = confirmed_at(&[1.0; 3]);
        builder.edit_reps("c", |rep| {
            (rep.second_bytes, rep.second_ops, rep.window_ns) = (moved.clone(), ops.clone(), window_ns);
            rep.window_start_ns = starts[rep.rep as usize];
        });
        let summary = summarise(&builder.record());
        let flags = format!("{:?}", summary.cells[0].flags());
        prop_assert!(!flags.contains("NaN"), "{}", flags);
    }
}
