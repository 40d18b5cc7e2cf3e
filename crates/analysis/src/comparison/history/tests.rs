use super::*;
use crate::cell::gap::GapCause;
use crate::fixture::{Builder, rep};
use record::{Captured, Variant};

fn run(day: u32, shares: &[f64]) -> RunSample {
    let mut builder = Builder::new();
    builder.run.run_id = format!("2026110{day}T000000Z-unit-0001");
    builder.run.started = format!("2026-11-0{day}T00:00:00Z");
    builder.cell("c", "disk", 8);
    builder.cell("empty", "disk", 16);
    for (number, share) in shares.iter().enumerate() {
        builder.push(rep("c", number as u32, share * Builder::LINE_BPS));
    }
    RunSample::of(&builder.record())
}

#[test]
fn a_cell_over_time_has_its_geometric_means_its_spans_and_its_line() {
    let found = history(&[run(2, &[2.0, 2.0, 2.0]), run(1, &[1.0, 4.0, 2.0])]).unwrap();
    assert_eq!(found.run_ids, ["20261101T000000Z-unit-0001", "20261102T000000Z-unit-0001"]);
    let cell = &found.cells[0];
    assert_eq!(
        (cell.cell.as_str(), cell.target.as_str(), cell.label.as_str()),
        ("c", "disk", "io_uring, depth 8")
    );
    assert!((cell.line_bps.unwrap() / Builder::LINE_BPS - 1.0).abs() < 1e-9);
    let of_line = |value: f64| (value / Builder::LINE_BPS * 1e3).round() / 1e3;
    let point = &cell.points[0];
    let HistoryValue { value, low, high } = point.values[&Compared::Throughput];
    assert!((of_line(value) - 2.0).abs() < 1e-6);
    assert!((of_line(low) - 1.0).abs() < 1e-6 && (of_line(high) - 4.0).abs() < 1e-6);
    assert!(!point.values.contains_key(&Compared::Au) && point.started == "2026-11-01T00:00:00Z");
}

#[test]
fn a_cell_without_figures_is_a_point_with_its_reason() {
    let found = history(&[run(1, &[1.0; 3])]).unwrap();
    let point = &found.cells[1].points[0];
    let reason = Exclusion::Gap(GapCause::NotRecorded.into());
    assert!(point.values.is_empty() && point.excluded == [reason]);
}

#[test]
fn where_comparability_breaks_is_told_with_what_changed() {
    let mut runs = [run(1, &[1.0; 3]), run(2, &[1.0; 3]), run(3, &[1.0; 3])];
    for (run, kernel) in runs.iter_mut().zip(["6.1", "6.6", "6.6"]) {
        run.env.kernel = Captured::Value(kernel.to_owned());
    }
    let found = history(&runs).unwrap();
    let [one] = &found.breaks[..] else { panic!("{:?}", found.breaks) };
    assert_eq!(
        (one.run_id.as_str(), one.differences[0].what.as_str()),
        ("20261102T000000Z-unit-0001", "kernel")
    );
}

#[test]
fn other_scenarios_other_variants_and_a_run_twice_are_left_out() {
    let mut runs = vec![run(1, &[1.0; 3]), run(2, &[1.0; 3]), run(3, &[1.0; 3]), run(3, &[1.0; 3])];
    runs[0].run.scenario = "other".to_owned();
    let settings = vec!["load.cache=warm".to_owned()];
    runs[1].run.variant = Some(Variant { name: "b".to_owned(), group: "g".to_owned(), number: 1, settings });
    assert_eq!(history(&runs).unwrap().run_ids, ["20261103T000000Z-unit-0001"]);
    assert_eq!(history(&[]), None);
}
