use record::{CopyPlan, Epoch};

use crate::fixture::{Builder, rep};
use crate::{CopyFigures, summarise};

/// A dataset of 1 GB on a slow target, copied at 2 GB/s to a fast one; 100 MB/s from the one, 1 GB/s from the other.
fn copied(fast_bps: f64) -> Builder {
    let mut builder = Builder::new();
    let mut near = builder.run.targets[0].clone();
    near.name = "near".to_owned();
    builder.run.targets.push(near);
    let mut dataset = builder.run.datasets[0].clone();
    dataset.target = "near".to_owned();
    builder.run.datasets.push(dataset);
    for (name, target, dataset, bps) in
        [("slow", "disk", 0, 100e6), ("fast", "near", 1, fast_bps), ("copy", "disk", 0, 2e9)]
    {
        builder.cell(name, target, 8);
        builder.edit_cell(name, |cell| cell.dataset = dataset);
        for number in 0..3 {
            builder.push(rep(name, number, bps));
        }
    }
    builder.edit_cell("copy", |cell| {
        cell.operation = "copy".into();
        cell.copy = Some(CopyPlan { to: "near".to_owned(), layout: None });
    });
    builder
}

fn found(builder: &Builder) -> CopyFigures {
    summarise(&builder.record()).copies[0].clone()
}

#[test]
fn a_copy_pays_after_what_it_took_by_what_an_epoch_gains() {
    let copy = found(&copied(1e9));
    assert!((copy.copy_s - 0.5).abs() < 1e-9 && (copy.bps.mean - 2e9).abs() < 1e-3);
    let payoff = copy.payoffs[0];
    assert!((payoff.source_epoch_s - 10.0).abs() < 1e-9 && (payoff.copy_epoch_s - 1.0).abs() < 1e-9);
    assert!((payoff.break_even.unwrap() - 0.5 / 9.0).abs() < 1e-9);
}

#[test]
fn a_copy_that_is_no_faster_never_pays() {
    let payoff = found(&copied(100e6)).payoffs[0];
    assert_eq!(payoff.break_even, None);
}

#[test]
fn the_first_operation_comes_after_copying_or_at_once() {
    let mut builder = copied(1e9);
    for (name, first_ns) in [("slow", 30_000_000), ("fast", 1_000_000)] {
        builder.edit_reps(name, |rep| {
            rep.epochs = vec![Epoch {
                epoch: 0,
                begun_ns: 0,
                first_ns,
                first_batch_ns: None,
                ended_ns: 1_000_000_000,
                ops: 1,
                bytes: 1,
                storage_bytes: None,
                tier_bytes: None,
                complete: false,
            }];
        });
    }
    let payoff = found(&builder).payoffs[0];
    assert!((payoff.source_first_s.unwrap() - 0.030).abs() < 1e-9);
    assert!((payoff.copy_first_s.unwrap() - 0.501).abs() < 1e-9);
}

#[test]
fn packing_is_held_against_reads_of_the_packed_layout_alone() {
    let mut builder = copied(1e9);
    builder.edit_cell("copy", |cell| {
        cell.copy = Some(CopyPlan { to: "near".to_owned(), layout: Some("webdataset".to_owned()) });
    });
    assert!(found(&builder).payoffs.is_empty());
    builder.run.datasets[1].layout = "webdataset".to_owned();
    builder.run.datasets[1].samples = Some(10_000);
    builder.run.datasets[1].files = 10;
    assert_eq!(found(&builder).payoffs.len(), 1);
}

#[test]
fn reads_at_another_depth_or_through_a_cache_are_not_alike() {
    let mut builder = copied(1e9);
    builder.edit_cell("fast", |cell| cell.queue_depth = 16);
    assert!(found(&builder).payoffs.is_empty());
}

#[test]
fn a_copy_of_nothing_has_no_figures() {
    let mut builder = copied(1e9);
    builder.run.datasets[0].bytes = 0;
    assert!(summarise(&builder.record()).copies.is_empty());
}
