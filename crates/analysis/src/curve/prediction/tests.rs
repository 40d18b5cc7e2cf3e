use feed::bounds::Bound;
use record::{Claim, Expect, ExpectBurst, ExpectFigures, ExpectTarget};

use super::{ClaimDifference, ClaimFigure};
use crate::fixture::{Builder, rep};
use crate::{Predictions, Summary, summarise};

/// 30 ms to the first byte, 90 MB/s by connection.
const STORE: ExpectFigures = ExpectFigures {
    first_byte_s: Some(0.030),
    metadata_s: None,
    connection_bps: Some(90e6),
    total_bps: None,
    requests_per_s: Some(5_500.0),
    byte_burst: None,
    request_burst: None,
    seek_s: None,
};

fn claim(figures: ExpectFigures) -> Claim {
    Claim { words: "a first byte takes 30 ms".to_owned(), source: None, figures }
}

fn way(emulated: Option<ExpectFigures>) -> Vec<ExpectTarget> {
    vec![ExpectTarget {
        target: "disk".to_owned(),
        prefixes: 1,
        one_at_a_time: true,
        lookups_per_file: 0,
        in_parts: false,
        emulated,
    }]
}

/// Cells of one repetition each, at these depths and rates in reads of 100 kB per second.
fn measured(points: &[(u32, f64)], expect: Option<Expect>) -> Summary {
    let mut builder = Builder::new();
    for (depth, ops_per_s) in points {
        let name = format!("qd{depth}");
        builder.cell(&name, "disk", *depth);
        builder.push(rep(&name, 0, ops_per_s * 100e3));
    }
    builder.run.expect = expect;
    summarise(&builder.record())
}

fn claimed(points: &[(u32, f64)]) -> Summary {
    measured(points, Some(Expect { claim: Some(claim(STORE)), targets: way(None) }))
}

fn predictions(summary: &Summary) -> &Predictions {
    summary.predictions.as_ref().unwrap()
}

#[test]
fn nothing_is_predicted_where_nothing_was_said() {
    let summary = measured(&[(1, 32.0)], None);
    assert_eq!(summary.predictions, None);
    let silent = Expect { claim: None, targets: way(None) };
    let summary = measured(&[(1, 32.0)], Some(silent));
    assert!(predictions(&summary).targets.is_empty());
}

#[test]
fn each_cell_has_its_bound_and_says_how_far_off_it_is() {
    // 31.11 ms per read: 32.14 a second for each in flight, and no more than 5,500.
    let summary = claimed(&[(1, 32.0), (8, 200.0), (64, 6_000.0), (512, 5_400.0)]);
    let target = &predictions(&summary).targets[0];
    let hundredths = |ratio: f64| (ratio * 100.0).round() as u64;
    let found =
        target.cells.iter().map(|cell| (cell.predicted.bound, hundredths(cell.ratio()), cell.agrees()));
    let expected = [
        (Bound::Latency, 100, true),
        (Bound::Latency, 78, false),
        (Bound::Latency, 292, false),
        (Bound::RequestRate, 98, true),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert!((target.cells[0].predicted.ops_per_s - 32.14).abs() < 0.01);
    assert!((target.cells[3].predicted.bps - 550e6).abs() < 1.0);
}

#[test]
fn what_bursts_is_predicted_between_both_rates() {
    let volume = ExpectFigures {
        requests_per_s: Some(300.0),
        request_burst: Some(ExpectBurst { per_s: 3_000.0, credits: 5.4e6 }),
        ..ExpectFigures::default()
    };
    // Credits ran out in the middle of the third; the fourth is slower than what is left without any.
    let points = [(4, 3_290.0), (8, 2_990.0), (16, 900.0), (32, 240.0), (64, 4_500.0)];
    let summary = measured(&points, Some(Expect { claim: None, targets: way(Some(volume)) }));
    let cells = &predictions(&summary).targets[0].cells;
    let found: Vec<(f64, bool)> =
        cells.iter().map(|cell| ((cell.ratio() * 100.0).round(), cell.agrees())).collect();
    assert_eq!(found, [(110.0, true), (100.0, true), (100.0, true), (80.0, false), (150.0, false)]);
    let one = &cells[0];
    assert_eq!((one.predicted.ops_per_s, one.bursting.unwrap().ops_per_s), (300.0, 3_000.0));
    let asks = &predictions(&summary).targets[0].at_line[0];
    assert_eq!(asks.bursts_to_bps, Some(300e6), "the line of 900 MB/s is not reached then either");
}

#[test]
fn the_line_asks_for_depth_connections_and_prefixes() {
    let summary = claimed(&[(1, 32.0)]);
    let [asks] = &predictions(&summary).targets[0].at_line[..] else { panic!("one kind of read") };
    // 9,000 samples of 100 kB a second: 280 in flight at 31.1 ms.
    assert_eq!((asks.bytes, asks.ops_per_s.round()), (100e3, 9_000.0));
    let held = asks.in_flight.unwrap();
    assert_eq!((held.requests, (held.bytes / 1e6).round()), (280.0, 28.0));
    assert_eq!((asks.connections, asks.prefixes), (Some(10.0), Some(2.0)));
    let transfer = asks.transfer.unwrap();
    assert!((transfer.share - 0.0357).abs() < 1e-4 && (transfer.half_bytes / 2.7e6 - 1.0).abs() < 1e-9);
    let (bound, bps) = asks.unreachable.unwrap();
    assert_eq!((bound, bps.round(), asks.crossover_bytes), (Bound::RequestRate, 550e6, None));
    let mut path = way(None);
    path[0].prefixes = 0;
    let summary = measured(&[(1, 32.0)], Some(Expect { claim: Some(claim(STORE)), targets: path }));
    let asks = &predictions(&summary).targets[0].at_line[0];
    assert_eq!(
        (asks.prefixes, asks.unreachable),
        (None, Some((Bound::RequestRate, bps))),
        "a path has no prefixes"
    );
}

#[test]
fn the_claim_wins_over_the_server_and_the_difference_is_said() {
    let server = ExpectFigures { first_byte_s: Some(0.010), seek_s: Some(0.005), ..STORE };
    let expect = Expect { claim: Some(claim(STORE)), targets: way(Some(server)) };
    let summary = measured(&[(1, 90.0)], Some(expect));
    let target = &predictions(&summary).targets[0];
    assert!(target.of_claim && (target.cells[0].predicted.ops_per_s - 32.14).abs() < 0.01);
    let first_byte =
        ClaimDifference { figure: ClaimFigure::FirstByte, claimed: Some(0.030), asked: Some(0.010) };
    let seek = ClaimDifference { figure: ClaimFigure::Seek, claimed: None, asked: Some(0.005) };
    assert_eq!(target.differences, [first_byte, seek]);
}

#[test]
fn the_dashed_course_is_the_predicted_one() {
    let summary = claimed(&[(1, 32.0), (8, 200.0), (512, 5_400.0)]);
    let model = summary.panels[0].curves[0].model.unwrap();
    assert!(model.is_predicted && model.deepest == 512);
    assert!((model.bps_at(1.0) / 3.214e6 - 1.0).abs() < 1e-3);
    assert!((model.bps_at(512.0) / 550e6 - 1.0).abs() < 1e-9);
}

#[test]
fn names_are_predicted_by_their_own_latency_and_listings_are_not() {
    let operations = |operation: &str| {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.edit_cell("c", |cell| cell.operation = operation.into());
        builder.push(rep("c", 0, 760e6));
        let figures = ExpectFigures { metadata_s: Some(1e-3), ..ExpectFigures::default() };
        builder.run.expect = Some(Expect { claim: Some(claim(figures)), targets: way(None) });
        summarise(&builder.record())
    };
    let stat = operations("stat");
    let cell = &predictions(&stat).targets[0].cells[0];
    assert!((cell.predicted.ops_per_s - 8_000.0).abs() < 1e-6 && cell.measured_bps.abs() < f64::EPSILON);
    assert!((cell.ratio() - 0.95).abs() < 1e-9);
    assert!(predictions(&stat).targets[0].at_line.is_empty());
    assert!(predictions(&operations("list")).targets[0].cells.is_empty());
}

#[test]
fn a_schedule_is_not_held_against_a_prediction() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 25e6));
    builder.pace("c", 0.5, 1.0);
    builder.run.expect = Some(Expect { claim: Some(claim(STORE)), targets: way(None) });
    assert!(predictions(&summarise(&builder.record())).targets[0].cells.is_empty());
}
