//! Predictions beside the golden record's figures.

use analysis::summarise;
use record::{Claim, Expect, ExpectFigures, ExpectTarget, RunRecord};
use report::{Screen, markdown, terminal};

use crate::checks::throughput;
use crate::records;

/// The golden record, whose filer and drive are claimed to be latency-bound up to 1.5 GB/s; feedline is said to have
/// started the filer.
fn predicted() -> RunRecord {
    let mut record = records::golden();
    let figures =
        ExpectFigures { first_byte_s: Some(800e-6), total_bps: Some(1.5e9), ..ExpectFigures::default() };
    let way = |name: &str, emulated| ExpectTarget {
        target: name.to_owned(),
        prefixes: 1,
        one_at_a_time: false,
        lookups_per_file: 1,
        in_parts: false,
        emulated,
    };
    let slower = ExpectFigures { first_byte_s: Some(1e-3), ..figures };
    record.run.expect = Some(Expect {
        claim: Some(Claim {
            words: "a | stor\u{e9} of 0.8 ms".to_owned(),
            source: Some("an article".to_owned()),
            figures,
        }),
        targets: vec![way("nvme", None), way("filer", Some(slower))],
    });
    record
        .run
        .targets
        .iter_mut()
        .filter(|target| target.name == "filer")
        .for_each(|target| target.demo = true);
    record
}

#[test]
fn a_run_without_a_claim_says_nothing_of_predictions() {
    let summary = records::golden_summary();
    let pages = [terminal(&summary, Screen::PLAIN), markdown(&summary), throughput(&summary)];
    for page in pages {
        assert!(!page.to_lowercase().contains("predicted"), "{page}");
    }
}

#[test]
fn a_page_holds_each_cell_against_its_prediction() {
    let page = terminal(&summarise(&predicted()), Screen::PLAIN);
    assert!(page.lines().all(|line| line.len() <= 80 && line.is_ascii()), "{page}");
    for words in [
        "claim \"a | stor? of 0.8 ms\" (an article)",
        "predicted and measured: self-consistency, not proof",
        "predicted and measured: the claim against this storage",
        "bandwidth-bound: ",
        "asks  nvme, filer: read 114,660 B: the line asks for ",
        "claim filer: first byte: 800 us claimed, 1 ms asked of the server",
    ] {
        assert!(page.contains(words), "{words} is missing from\n{page}");
    }
}

#[test]
fn a_cell_that_agrees_has_one_line_on_a_terminal() {
    let mut record = predicted();
    // 9,128 reads per second are predicted.
    records::scale_reps(&mut record, |cell| cell == "nvme/io_uring/qd8", 9_128.0 / 11_164.0);
    let page = terminal(&summarise(&record), Screen::PLAIN);
    let table = page.split("- predicted and measured: the claim").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(rows[0].starts_with("nvme   io_uring") && rows[0].ends_with(" 1.00"), "{page}");
    assert!(rows[1].starts_with("nvme   io_uring") && rows[2].starts_with("nvme   "), "{page}");
    assert!(table.contains("\n  nvme io_uring read 114,660 B 32: bandwidth-bound: "), "{page}");
    // Its processors were the limit there.
    assert!(rows.iter().any(|row| row.starts_with("nvme   pread") && row.ends_with(" 1.68*")), "{page}");
    assert!(table.contains("\n  * doubtful: see the remarks of its row in the first table\n"), "{page}");
}

#[test]
fn a_report_has_a_section_of_predictions() {
    let page = markdown(&summarise(&predicted()));
    let section = page.split("## Predicted\n\n").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(section.contains("| claim | \"a \\| stor\u{e9} of 0.8 ms\" (an article) |\n"), "{section}");
    let header = "| what | QD | predicted/s | measured/s | pred. GB/s | ratio | limit | remarks |";
    assert_eq!(section.matches(header).count(), 2, "{section}");
    assert!(section.contains("\n- nvme, filer: read 114,660 B: the line asks for "), "{section}");
}

#[test]
fn the_plot_draws_the_prediction_in_place_of_the_measured_course() {
    let plot = throughput(&summarise(&predicted()));
    assert!(plot.contains("dashed: predicted from the claim"), "{plot}");
}
