//! One record of layouts, epochs, a cache tier, checkpoints and copies, kept on disk in the form in which a run writes it.
//!
//! The figures are invented. Set `FEEDLINE_BLESS=1` to write the fixture anew after a change here.

mod build;

use std::path::{Path, PathBuf};

use analysis::{EpochNote, NoVerdict, OrderFact, Summary, summarise};
use feed::Flow;
use record::RunRecord;

use crate::on_disk;

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stored")
}

fn read() -> RunRecord {
    record::read_run(&dir()).expect("the golden record is readable")
}

fn summary() -> Summary {
    summarise(&read())
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value} is not {expected}");
}

#[test]
fn the_record_on_disk_is_the_one_built_here() {
    on_disk::assert_on_disk(&dir(), &build::record(), build::SCENARIO);
}

#[test]
fn a_layout_says_what_it_stores_and_gains_what_f18_predicts_of_one_stream() {
    let layouts = summary().layouts;
    let found: Vec<(&str, f64)> =
        layouts.datasets.iter().map(|one| (one.layout.as_str(), one.overhead.unwrap())).collect();
    assert_eq!(found[0], ("files", 0.0));
    assert_eq!(found[1].0, "webdataset");
    assert_near(found[1].1, 0.01);
    assert_eq!(layouts.gains.len(), 3);
    let first = &layouts.gains[0];
    assert_eq!((first.queue_depth, first.layout.as_str()), (8, "webdataset"));
    assert_near(first.gain, 12.0);
    let predicted = first.predicted.unwrap();
    // 30 ms and 90 MB/s, and 4 MiB of 131,300 B in a request: 31.94 samples.
    assert_near(predicted.samples_per_request, 31.94);
    assert_near(predicted.gain, feed::formula::shard_gain(0.030, 130_000.0, 90e6, 31.94));
    let is_mixed = |fact: &OrderFact| matches!(fact, OrderFact::Mixed(mixing) if (mixing.displacement - 0.62).abs() < 1e-9);
    assert!(layouts.streamed[0].order.iter().any(is_mixed), "{layouts:?}");
}

#[test]
fn epochs_through_a_tier_stand_beside_what_the_formula_says() {
    let summary = summary();
    let is_held = |note: &EpochNote| matches!(note, EpochNote::Held(_));
    let figures = summary.epochs.iter().find(|one| one.notes.iter().any(is_held)).unwrap();
    let hits: Vec<f64> = figures.epochs.iter().map(|epoch| epoch.predicted_hits.unwrap()).collect();
    assert!(hits[0] == 0.0 && (hits[1] - 0.153).abs() < 0.001, "{hits:?}");
    let measured = figures.epochs[1].tier_hits.unwrap();
    assert_near(measured.mean, 0.16);
    assert!(measured.interval.is_some() && figures.epochs[1].gap_s.unwrap().mean > 0.0);
}

#[test]
fn checkpoints_have_rates_costs_and_what_they_take_from_the_job() {
    let found = summary().checkpoints;
    let write = &found.writes[0].written;
    // 16 GB in 7 s and 1 s more until durable.
    assert_near(write.bps.unwrap().mean, 2e9);
    assert_near(write.publish_share.unwrap(), 0.125);
    assert_near(found.restores[0].restore_s.unwrap(), 4.0);
    let job = &found.jobs[0];
    assert_eq!((job.written.outcomes.complete, job.written.outcomes.overrun), (9, 3));
    assert!(job.without.unwrap().au.mean > job.au.unwrap().mean);
    // 1 s of every 8.3 s: ten seconds twice, and five.
    assert_near(job.overhead.unwrap(), 0.12);
    // 8 accelerators for 1 s, 2.5 for each hour.
    assert_near(job.cost.unwrap().price.unwrap(), 8.0 / 3_600.0 * 2.5);
    let beside = job.beside.unwrap();
    assert!(beside.during_bps < beside.apart_bps.unwrap() && beside.mixed_bps.unwrap() > 2e9, "{beside:?}");
}

#[test]
fn a_copy_says_from_which_epoch_on_it_pays() {
    let copy = &summary().copies[0];
    assert_near(copy.copy_s, 13.0 * 1.01);
    let [payoff] = copy.payoffs[..] else { panic!("{:?}", copy.payoffs) };
    assert!(payoff.break_even.is_some_and(|epochs| epochs < 1.0), "{payoff:?}");
}

#[test]
fn nothing_but_reads_of_samples_is_held_against_the_line() {
    let summary = summary();
    for cell in summary.cells.iter().filter(|cell| cell.is_transfer()) {
        assert!(cell.line.is_none() && cell.figures().unwrap().of_line.is_none(), "{}", cell.cell.cell);
    }
    assert_eq!(summary.verdicts.len(), 2, "{:?}", summary.verdicts);
    let [vault] = &summary.unjudged[..] else { panic!("{:?}", summary.unjudged) };
    let operations = ["checkpoint", "restore"].map(str::to_owned).to_vec();
    assert_eq!(vault.reason, NoVerdict::OthersMoved { asked: Flow::Reads, operations });
}
