use std::collections::BTreeSet;

use super::*;
use crate::fixture::{Builder, confirmed_job, rep};
use crate::{CellSummary, summarise};

fn tracked() -> impl Iterator<Item = (&'static Metric, Tracked)> {
    METRICS.iter().filter_map(|metric| Some((metric, metric.tracked?)))
}

#[test]
fn every_name_of_comparisons_is_in_the_table_with_one_direction_and_one_margin() {
    for compared in Compared::ALL {
        assert_eq!(Compared::of_name(compared.name()), Some(compared));
        let rows: Vec<_> = tracked().filter(|(_, tracked)| tracked.compared == compared).collect();
        let (first, _) = rows.first().expect("a metric has the name");
        assert_ne!(first.better, Better::Neither);
        for (metric, tracked) in &rows {
            assert_eq!(metric.better, first.better);
            assert!((tracked.margin - first.tracked.unwrap().margin).abs() < f64::EPSILON);
        }
        for moves_bytes in [true, false] {
            assert_eq!(Metric::of(compared, moves_bytes).compared(), Some(compared));
        }
    }
    assert_eq!(Compared::of_name("iops"), None);
    let better = Compared::ALL.map(|compared| Metric::of(compared, true).higher_is_better());
    assert_eq!(better, [true, false, false, true, false]);
    assert_eq!(Metric::of(Compared::Throughput, false).unit, PerSecond);
}

#[test]
fn names_end_in_their_unit_and_are_given_once() {
    let mut names = BTreeSet::new();
    for metric in METRICS {
        let end = match metric.unit {
            BytesPerSecond => "bps",
            PerSecond => "per_s",
            Nanoseconds => "_ns",
            Seconds => "_s",
            Bytes => "_bytes",
            Share | Count => "",
        };
        assert!(metric.name.ends_with(end) || metric.name == "cpu_ns_per_op", "{}", metric.name);
        // Reads and lookups have their operations under one name; no cell makes both.
        assert!(names.insert(metric.name) || metric.name == "ops_per_s", "{} stands twice", metric.name);
        assert!(metric.help.ends_with('.'));
    }
}

#[test]
fn one_margin_is_changed_and_the_others_stand() {
    let margins = Margins::STORED.with(Compared::P99, 0.3).with(Compared::P99, 0.5);
    let shares = Compared::ALL.map(|metric| (margins.of(Metric::of(metric, true)) * 100.0).round() as u32);
    assert_eq!(shares, [10, 10, 50, 4, 20]);
    assert!(
        Compared::ALL.iter().all(|metric| Margins::NONE.of(Metric::of(*metric, true)).abs() < f64::EPSILON)
    );
}

fn followed(cell: &CellSummary) -> Vec<(&'static str, &'static str)> {
    View::of_cell(cell).tracked().iter().map(|(metric, tracked, _)| (tracked.name, metric.name)).collect()
}

#[test]
fn what_is_followed_is_the_response_where_arrivals_are_paced_and_operations_where_no_byte_moves() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 0.9e9));
    let closed = [
        ("throughput-bytes", "throughput_bps"),
        ("latency-p50", "latency_p50_ns"),
        ("latency-p99", "latency_p99_ns"),
        ("cpu-per-operation", "cpu_ns_per_op"),
    ];
    assert_eq!(followed(&summarise(&builder.record()).cells[0]), closed);
    builder.edit_cell("c", |cell| cell.operation = "stat".into());
    let names = [("throughput", "ops_per_s"), closed[1], closed[2], closed[3]];
    assert_eq!(followed(&summarise(&builder.record()).cells[0]), names);
    builder.edit_cell("c", |cell| cell.operation = "read".into());
    builder.pace("c", 1.0, 1.0);
    let found = followed(&summarise(&builder.record()).cells[0]);
    assert_eq!(found[1..3], [("latency-p50", "response_p50_ns"), ("latency-p99", "response_p99_ns")]);
    let job = followed(&summarise(&confirmed_job(&[0.93, 0.95]).record()).cells[0]);
    assert!(job.contains(&("accelerator-utilization", "au")), "{job:?}");
}
