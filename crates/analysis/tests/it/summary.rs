//! What the golden record says.

use analysis::{
    Cause, Flag, Gap, GapCause, GateResult, Gravity, Measurement, Note, Requirement, Shape, gate, summarise,
};
use feed::Judgement;

use crate::golden;

#[test]
fn every_target_gets_the_verdict_that_its_figures_allow() {
    let summary = summarise(&golden::read());
    let expected = [
        (Judgement::Feeds, "nvme", 32),
        (Judgement::Starves, "filer", 128),
        (Judgement::Uncertain, "array", 128),
        (Judgement::Feeds, "tree", 32),
        (Judgement::Starves, "stream", 64),
    ];
    assert_eq!(golden::judged(&summary), expected);
}

#[test]
fn of_equal_depths_the_shallowest_would_be_named() {
    // The record is of a time when the fastest of several equal depths was.
    let expected = [
        "nvme/io_uring/qd32",
        "filer/io_uring/qd32",
        "array/io_uring/qd128",
        "tree/io_uring/qd32",
        "stream/io_uring/qd64",
    ];
    assert_eq!(golden::named(&golden::read()), expected);
}

#[test]
fn no_planned_cell_is_missing_and_each_says_what_became_of_it() {
    let record = golden::read();
    let summary = summarise(&record);
    assert_eq!(summary.cells.len(), record.run.cells.len());
    let in_panels: usize =
        summary.panels.iter().flat_map(|panel| &panel.curves).map(|curve| curve.cells.len()).sum();
    let apart = summary.metadata().count() + summary.paced().count();
    assert_eq!((in_panels + apart, apart), (summary.cells.len(), 2));

    let says =
        |gap: &Gap, part: &str| matches!(&gap.cause, GapCause::Recorded(reason) if reason.contains(part));
    let became = |name: &str| summary.cell(name).unwrap().measured.clone();
    assert!(matches!(became("nvme/io_uring/qd512"), Measurement::NotRun { reason } if says(&reason, "auto")));
    assert!(matches!(became("filer/pread/qd128"), Measurement::Failed { repetitions: 5, reason }
        if says(&reason, "ulimit -n")));
    let limited = became("nvme/pread/qd128");
    let flags = &limited.figures().unwrap().flags;
    assert!(
        matches!(flags[0], Flag::ClientLimited { cpu_share: Some(share), ceiling_share: None, .. } if share > 0.96),
        "{flags:?}"
    );
}

#[test]
fn figures_follow_from_the_counters() {
    let summary = summarise(&golden::read());
    let cell = summary.cell("nvme/io_uring/qd32").unwrap();
    let figures = cell.figures().unwrap();
    // 4.10 GB/s by the line of 14,286 x 0.9 samples/s of 114,660 B.
    assert!((figures.bps.mean / 4.1e9 - 1.0).abs() < 1e-4, "{}", figures.bps.mean);
    assert!((figures.of_line.unwrap() - 4.1e9 / (14_285.714_285_714 * 0.9 * 114_660.0)).abs() < 1e-3);
    // Jitter of 3.2 % standard deviation over five: half width t * s / sqrt(5).
    let half = figures.bps.interval.unwrap().high - figures.bps.mean;
    let deviation = (4.05e-3_f64 / 4.0).sqrt() * figures.bps.mean;
    assert!((half / (2.776_445 * deviation / 5.0_f64.sqrt()) - 1.0).abs() < 1e-3, "{half}");
    assert!(figures.latency.count as f64 / figures.ops as f64 > 0.99);
    assert!((figures.ceiling_share.unwrap() - 4.1 / 31.5).abs() < 1e-3);
}

#[test]
fn the_starving_cause_carries_share_and_shape() {
    let summary = summarise(&golden::read());
    let Cause::Short { share, shape } = summary.verdicts[1].of_reads().unwrap().cause else {
        panic!("not short")
    };
    assert!((share - (1.0 - 1.2e9 / (14_285.714_285_714 * 0.9 * 114_660.0))).abs() < 1e-3);
    assert_eq!(shape, Some(Shape::Flat { from: 32 }));
}

#[test]
fn few_failed_reads_inform_and_forbid_nothing() {
    let summary = summarise(&golden::read());
    let figures = summary.cell("array/io_uring/qd128").unwrap().figures().unwrap().clone();
    assert!(matches!(figures.flags[0], Flag::Errors { failed: 600, .. }), "{:?}", figures.flags);
    assert_eq!(figures.flags[0].gravity(), Gravity::Informs);
}

#[test]
fn the_gate_holds_for_the_target_it_names() {
    let mut record = golden::read();
    assert_eq!(gate(&summarise(&record)), GateResult::Met);
    record.run.gate.feeds = vec!["nvme".to_owned(), "filer".to_owned(), "array".to_owned()];
    let GateResult::Missed(unmet) = gate(&summarise(&record)) else { panic!("not missed") };
    let must_feed = unmet.iter().filter(|one| one.requirement == Requirement::Feeds);
    let targets: Vec<&str> = must_feed.map(|one| one.target.as_str()).collect();
    assert_eq!(targets, ["filer", "array"], "what misses stands before what is open");
}

#[test]
fn a_cut_record_keeps_what_was_measured_and_says_so() {
    let mut record = golden::read();
    record.lines.retain(|line| !matches!(line, record::Line::End(_)));
    record.lines.truncate(record.lines.len() / 2);
    let summary = summarise(&record);
    assert!(summary.notes.contains(&Note::Cut));
    assert!(summary.verdicts.iter().all(|verdict| verdict.judgement() != Judgement::Starves));
    assert_eq!(summary.cells.len(), record.run.cells.len());
}
