use proptest::prelude::*;
use record::{Interval, Line};

use super::*;
use crate::fixture::{Builder, confirmed_at, rep};

fn with_seconds(bytes: &[u64]) -> RunRecord {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    let mut one = rep("c", 0, 1e9);
    one.window_ns = bytes.len() as u64 * 1_000_000_000;
    one.second_bytes = bytes.to_vec();
    builder.push(one);
    builder.record()
}

fn seconds(rep: u32, latencies_ns: &[&[u64]]) -> RepIntervals {
    let second = |(number, values): (usize, &&[u64])| {
        let mut service = record::new_interval_histogram();
        values.iter().for_each(|ns| service.record(*ns).unwrap());
        let ops = values.len() as u64;
        Interval { second: number as u32, ops, bytes: ops * 100, service_ns: record::encode(&service) }
    };
    let seconds = latencies_ns.iter().enumerate().map(second).collect();
    RepIntervals { cell: "c".to_owned(), role: Role::Measure, rep, seconds, looks: Vec::new() }
}

#[test]
fn a_line_through_a_falling_rate_says_how_much_it_lost() {
    let found = over_time(&with_seconds(&[110, 105, 100, 95, 90]), &RecordedIntervals::default());
    let fit = found[0].reps[0].fit.unwrap();
    assert!((fit.mean - 100.0).abs() < 1e-9 && (fit.excursion() + 0.2).abs() < 1e-9, "{fit:?}");
    assert!((fit.window().0 - 90.0).abs() < 1e-9 && (fit.window().1 - 110.0).abs() < 1e-9);
    assert_eq!((found[0].step_s, found[0].reps[0].points.len()), (1, 5));
}

#[test]
fn four_seconds_have_no_line() {
    let found = over_time(&with_seconds(&[1, 2, 3, 4]), &RecordedIntervals::default());
    assert_eq!(found[0].reps[0].fit, None);
}

#[test]
fn hours_are_told_in_steps_of_minutes() {
    let found = over_time(&with_seconds(&vec![100; 7_200]), &RecordedIntervals::default());
    assert_eq!((found[0].step_s, found[0].reps[0].points.len()), (30, 240));
    assert!(found[0].reps[0].points.iter().all(|point| (point.per_s - 100.0).abs() < 1e-9));
}

#[test]
fn a_last_second_that_was_cut_short_is_a_rate_by_its_length_or_none() {
    let mut record = with_seconds(&[100, 50]);
    let cut = |record: &mut RunRecord, ns: u64| {
        for line in &mut record.lines {
            if let Line::Rep(rep) = line {
                rep.window_ns = ns;
            }
        }
        over_time(record, &RecordedIntervals::default())[0].reps[0].points.clone()
    };
    assert!((cut(&mut record, 1_500_000_000)[1].per_s - 100.0).abs() < 1e-9);
    assert_eq!(cut(&mut record, 1_200_000_000).len(), 1);
}

#[test]
fn records_without_counts_of_seconds_take_them_from_the_histograms() {
    let mut record = with_seconds(&[0, 0]);
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            rep.second_bytes.clear();
        }
    }
    let kept = RecordedIntervals { reps: vec![seconds(0, &[&[5_000; 3], &[5_000; 1]])], loss: None };
    let found = over_time(&record, &kept);
    let rates: Vec<f64> = found[0].reps[0].points.iter().map(|point| point.per_s).collect();
    assert_eq!(rates, [300.0, 100.0]);
}

#[test]
fn the_confirmed_cell_stands_for_its_target() {
    let mut builder = confirmed_at(&[1.5; 3]);
    builder.cell("deeper", "disk", 1_024);
    builder.push(rep("deeper", 0, 1e9));
    builder.edit_reps("c", |rep| rep.second_bytes = vec![1]);
    builder.edit_reps("deeper", |rep| rep.second_bytes = vec![1]);
    let found = over_time(&builder.record(), &RecordedIntervals::default());
    let standing: Vec<(&str, bool)> =
        found.iter().map(|one| (one.cell.as_str(), one.stands_for_target)).collect();
    assert_eq!(standing, [("c", true), ("deeper", false)]);
}

#[test]
fn seconds_are_asked_for_of_cells_that_stand_for_a_target_and_of_those_without_counts() {
    let mut builder = confirmed_at(&[1.5; 3]);
    for name in ["counted", "uncounted"] {
        builder.cell(name, "disk", 4);
        builder.push(rep(name, 0, 1e9));
    }
    for name in ["c", "counted"] {
        builder.edit_reps(name, |rep| (rep.second_bytes, rep.second_ops) = (vec![1], vec![1]));
    }
    let record = builder.record();
    let mut asked = BTreeSet::new();
    let read = |cells: &BTreeSet<&str>| {
        asked.extend(cells.iter().map(|cell| (*cell).to_owned()));
        let kept = [
            seconds(0, &[&[5_000; 3]]),
            RepIntervals { cell: "uncounted".to_owned(), ..seconds(0, &[&[5_000; 2]]) },
        ];
        Ok::<_, ()>(RecordedIntervals { reps: kept.to_vec(), loss: None })
    };
    let found = over_time_read(&record, read).unwrap();
    assert_eq!(asked.iter().map(String::as_str).collect::<Vec<_>>(), ["c", "uncounted"]);
    assert!(found.iter().any(|one| one.cell == "c" && one.heat.is_some()));
    assert!(found.iter().any(|one| one.cell == "uncounted" && one.reps[0].points.len() == 1));
}

#[test]
fn a_stall_is_a_column_without_operations() {
    let record = with_seconds(&[1, 0, 1]);
    let kept = RecordedIntervals { reps: vec![seconds(0, &[&[15_000; 4], &[], &[15_000; 3]])], loss: None };
    let heat = over_time(&record, &kept)[0].heat.clone().unwrap();
    let ops: Vec<u64> = heat.columns.iter().map(|column| column.ops).collect();
    assert_eq!(ops, [4, 0, 3]);
    assert_eq!((heat.rows, heat.columns[0].shares.as_slice()), (1, &[(0, 1.0)][..]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_grid_is_bounded_and_its_columns_add_up_to_the_whole(
        reps in prop::collection::vec(1..400_u32, 1..6),
        latencies in prop::collection::vec(1..60_000_000_000_u64, 1..12),
    ) {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        let mut kept = RecordedIntervals::default();
        for (number, length) in (0_u32..).zip(&reps) {
            let mut one = rep("c", number, 1e9);
            one.window_ns = u64::from(*length) * 1_000_000_000;
            builder.push(one);
            kept.reps.push(seconds(number, &vec![latencies.as_slice(); *length as usize]));
        }
        let heat = over_time(&builder.record(), &kept)[0].heat.clone().unwrap();
        prop_assert!(heat.columns.len() <= 120 && heat.rows <= 60);
        for column in &heat.columns {
            let sum: f64 = column.shares.iter().map(|share| share.1).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            prop_assert!(column.shares.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert!(column.shares.iter().all(|share| share.0 < heat.rows));
        }
    }
}
