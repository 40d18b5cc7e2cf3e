use record::Variant;

use super::*;
use crate::cell::gap::GapCause;
use crate::comparison::{CellSample, Exclusion, RepSample};
use crate::fixture::Builder;

/// A variant, or a run, with one cell whose repetitions have these logarithms of throughput and 99th percentile.
fn run(id: &str, logarithms: &[f64]) -> RunSample {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    (builder.run.run_id, builder.run.started) = (id.to_owned(), id.to_owned());
    builder.run.variant =
        Some(Variant { name: id.to_owned(), group: "g".to_owned(), number: 0, settings: Vec::new() });
    let rep = |(rep, value): (usize, &f64)| {
        let values = [Compared::Throughput, Compared::P99].map(|metric| (metric, value.exp())).into();
        RepSample { rep: rep as u32, round: rep as u32, values }
    };
    let reps = logarithms.iter().enumerate().map(rep).collect();
    RunSample {
        run: builder.record().run,
        env: record::Environment::default(),
        cells: vec![CellSample { reps, ..CellSample::default() }],
    }
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} for {expected}");
}

#[test]
fn the_spread_of_an_a_a_run_is_that_of_pairs_whatever_drifts_for_both() {
    // Differences -0.04, 0, 0.04, 0.04, -0.04: standard deviation 0.04, by the root of 2.
    let drift = [0.0, 0.1, 0.2, 0.3, 0.4];
    let differences = [-0.04, 0.0, 0.04, 0.04, -0.04];
    let a = run("a", &drift);
    let b: Vec<f64> = drift.iter().zip(differences).map(|(drift, difference)| drift + difference).collect();
    let found = calibrate(&a, &run("b", &b)).unwrap();
    assert_eq!((found.stored, found.samples, found.noise.len()), (false, 5, 2));
    let noise = &found.noise[0];
    assert_eq!((noise.metric, noise.samples), (Compared::Throughput, 5));
    close(noise.spread, 0.04 / 2.0_f64.sqrt());
    // (t(0.975; 4) + t(0.90; 4)) * 0.04 / sqrt(5) = (2.776445 + 1.533206) * 0.0178885 = 0.07709: a fall by 7.42 %, a rise by 8.01 %.
    close(noise.margin, 0.075);
    // Detectable: (2.776445 + 0.940965) * 0.0178885 = 0.06649906.
    close(noise.smallest, 1.0 - 0.925 * (-0.066_499_06_f64).exp());
    close(found.noise[1].smallest, 1.085 * 0.066_499_06_f64.exp() - 1.0);
    let [CalibrationNote::Drift(drift)] = found.notes[..] else { panic!("{:?}", found.notes) };
    assert!((0.40..0.60).contains(&drift), "{drift}");
}

#[test]
fn an_effect_where_none_can_be_is_told() {
    let a = run("a", &[0.0, 0.01, 0.02, 0.01]);
    let b = run("b", &[0.20, 0.211, 0.22, 0.21]);
    let notes = calibrate(&a, &b).unwrap().notes;
    let is_effect = |note: &CalibrationNote| matches!(note, CalibrationNote::Differs { name, change, .. } if name == "c" && (change - 0.223).abs() < 1e-2);
    assert!(notes.iter().any(is_effect), "{notes:?}");
}

#[test]
fn two_that_differ_are_no_a_a_run() {
    let a = run("a", &[0.0; 3]);
    let mut b = run("b", &[0.0; 3]);
    b.run.variant.as_mut().unwrap().settings = vec!["load.cache=warm".to_owned()];
    assert_eq!(calibrate(&a, &b).unwrap_err().differences[0].to_string(), "settings none -> load.cache=warm");
}

#[test]
fn stored_runs_spread_by_their_means_and_a_gate_has_as_many_as_are_asked_for() {
    let days = [-0.03, 0.0, 0.03, 0.03, -0.03];
    let runs: Vec<RunSample> =
        days.iter().enumerate().map(|(day, log)| run(&format!("r{day}"), &[log - 0.1, log + 0.1])).collect();
    let found = calibrate_history(&runs, 8, &[]).unwrap();
    assert_eq!((found.stored, found.samples, found.run_ids.len()), (true, 8, 5));
    close(found.noise[0].spread, 0.03);
    // Error 0.03 * sqrt(1 + 1/8) = 0.0318198; (2.364624 + 1.414924) of it is 0.120264: a fall by 11.3 %.
    close(found.noise[0].margin, 0.115);
    assert_eq!(found.notes, [CalibrationNote::FewRuns { runs: 5, wanted: 8 }]);
}

#[test]
fn nothing_to_learn_from_is_said() {
    assert_eq!(calibrate_history(&[], 8, &[]).unwrap().notes, [CalibrationNote::NoRun]);
    let mut excluded = run("a", &[0.0, 0.1, 0.2]);
    excluded.cells[0].excluded = vec![Exclusion::Gap(GapCause::Interrupted.into())];
    let found = calibrate(&excluded, &excluded).unwrap();
    assert!(found.noise.is_empty());
    assert_eq!(found.notes, [CalibrationNote::CellsLeftOut(1)]);
}

#[test]
fn no_noise_has_the_smallest_margin() {
    let a = run("a", &[0.5; 4]);
    let noise = &calibrate(&a, &a).unwrap().noise[0];
    close(noise.margin, MARGIN_MIN);
    close(noise.smallest, MARGIN_MIN);
}
