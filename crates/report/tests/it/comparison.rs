//! Comparisons, histories and calibrations, built by hand, through every rendering.

use analysis::{
    Because, Break, Calibration, CalibrationNote, CellComparison, Change, Comparison, ComparisonNote,
    Difference, Effect, Excluded, Exclusion, GapCause, Headline, History, HistoryCell, HistoryPoint,
    HistoryValue, Metric, NoFigures, Noise, Pairing, Ratio, Side, Uncompared, UncomparedReason,
};
use feed::{Compared, MayDiffer};
use proptest::prelude::*;
use report::{
    Screen, calibration_terminal, comparison_markdown, comparison_terminal, history_csv, history_terminal,
};

fn effect(metric: Compared, before: f64, (low, mean, high): (f64, f64, f64), change: Change) -> Effect {
    Effect {
        metric: Metric::of(metric, true),
        before,
        after: before * mean,
        ratio: Ratio { low, mean, high },
        samples_before: 8,
        samples_after: 1,
        detectable: Some(0.041),
        margin: 0.10,
        change,
        because: None,
    }
}

fn inconclusive(metric: Compared, before: f64, ratio: (f64, f64, f64), because: Because) -> Effect {
    Effect { because: Some(because), ..effect(metric, before, ratio, Change::Inconclusive) }
}

const FEW: Because = Because::FewRuns { runs: 1, wanted: 8 };
const WIDE: Because = Because::ReachesOver { margin: 0.1, smallest: 0.31 };

/// Why something has no figures, in the words of its record.
fn unmeasured(reason: &str) -> Vec<Exclusion> {
    vec![Exclusion::Gap(GapCause::Recorded(reason.to_owned()).into())]
}

fn other_kernel() -> Difference {
    let [what, before, after] = ["kernel", "6.1", "6.6"].map(str::to_owned);
    Difference { what, before, after, may: Some(MayDiffer::Kernel) }
}

fn cell(target: &str, label: &str, effects: Vec<Effect>) -> CellComparison {
    let (target, label) = (target.to_owned(), label.to_owned());
    let of_cell = |effect: Effect| {
        let metric = Metric::of(effect.metric.compared().unwrap(), !label.starts_with("stat"));
        Effect { metric, ..effect }
    };
    let effects = effects.into_iter().map(of_cell).collect();
    CellComparison {
        cell: format!("{target}-{label}"),
        target,
        label,
        effects,
        excluded: None,
        falls_count: false,
    }
}

fn runs(count: u32) -> Vec<String> {
    (0..count).map(|run| format!("202611{:02}T010203Z-nightly-{run:04x}", run + 1)).collect()
}

/// One cell of every kind that there is.
fn every_kind() -> Comparison {
    let down = (0.829, 0.851, 0.872);
    let regressed = cell(
        "disk",
        "io_uring, depth 32",
        vec![
            effect(Compared::Throughput, 4.1e9, down, Change::Regressed),
            effect(Compared::P50, 7.8e6, (1.12, 1.17, 1.21), Change::Regressed),
            inconclusive(Compared::P99, 9.9e6, (0.91, 1.18, 1.53), WIDE),
            effect(Compared::Cpu, 1_250.0, (0.99, 1.0, 1.02), Change::Unchanged),
        ],
    );
    let unchanged = cell(
        "disk",
        "io_uring, depth 1",
        vec![effect(Compared::Throughput, 2.1e8, (0.97, 1.001, 1.03), Change::Unchanged)],
    );
    let improved = cell(
        "tree",
        "stat pread, depth 16",
        vec![effect(Compared::Throughput, 80_200.0, (1.9, 2.4, 3.1), Change::Improved)],
    );
    let excluded = CellComparison {
        excluded: Some(Excluded::After(unmeasured(
            "not steady before: throughput fell by 31 % within the repetitions",
        ))),
        ..cell("disk", "pread, depth 128", vec![effect(Compared::Throughput, 3e9, down, Change::Regressed)])
    };
    let trained = cell(
        "disk",
        "train, 8 accelerators, 4 readers",
        vec![effect(Compared::Au, 0.942, (0.99, 0.996, 1.001), Change::Unchanged)],
    );
    let headline = |target: &str, cells, effect| Headline { target: target.to_owned(), cells, effect };
    let all = effect(Compared::Throughput, 4.1e9, down, Change::Regressed);
    let few = inconclusive(Compared::Throughput, 80_200.0, (0.0, 1.02, f64::INFINITY), FEW);
    Comparison {
        pairing: Pairing::Stored,
        scenario: "nightly".to_owned(),
        before: Side { name: "nightly".to_owned(), run_ids: runs(8) },
        after: Side {
            name: "20261121T044123Z-nightly-3f9a".to_owned(),
            run_ids: vec!["20261121".to_owned()],
        },
        cells: vec![unchanged, regressed, trained, excluded, improved],
        headlines: vec![headline("disk", 3, all), headline("tree", 1, Effect { detectable: None, ..few })],
        lost: Vec::new(),
        gaps: vec![Uncompared::Of {
            name: "disk io_uring depth 64".to_owned(),
            reason: UncomparedReason::NotAfter,
        }],
        notes: vec![ComparisonNote::Declared { difference: other_kernel(), runs: 8 }],
    }
}

/// Two runs of many cells: nothing can be said of any, for one reason.
fn too_few(cells: usize) -> Comparison {
    let of = |depth: usize| {
        let none = (0.0, 0.97, f64::INFINITY);
        let effect = Effect { detectable: None, ..inconclusive(Compared::Throughput, 1e9, none, FEW) };
        cell("disk", &format!("io_uring, depth {depth}"), vec![effect])
    };
    let all = of(0).effects.remove(0);
    Comparison {
        cells: (1..=cells).map(of).collect(),
        headlines: vec![Headline { target: "disk".to_owned(), cells: cells as u32, effect: all }],
        lost: Vec::new(),
        gaps: Vec::new(),
        notes: Vec::new(),
        ..every_kind()
    }
}

fn assert_page(page: &str) {
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        assert!(!line.chars().any(char::is_control), "{line}");
        assert_eq!(line, line.trim_end());
    }
    assert!(page.ends_with('\n') && !page.contains("\n\n"));
}

fn assert_plain(page: &str) {
    assert_page(page);
    assert!(page.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\n'), "{page}");
}

#[test]
fn the_terminal_page_of_a_comparison() {
    let page = comparison_terminal(&every_kind(), Screen::PLAIN);
    assert_plain(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn the_markdown_page_of_a_comparison() {
    insta::assert_snapshot!(comparison_markdown(&every_kind(), usize::MAX));
}

#[test]
fn the_answer_comes_last_on_a_terminal_and_first_in_markdown() {
    let page = comparison_terminal(&every_kind(), Screen::PLAIN);
    let last: Vec<&str> = page.lines().rev().take(5).collect();
    assert!(last.iter().any(|line| line.starts_with("REGRESSED     disk  throughput -14.9 %")), "{page}");
    assert!(last.iter().any(|line| line.starts_with("INCONCLUSIVE  tree")), "{page}");
    let page = comparison_markdown(&every_kind(), usize::MAX);
    assert!(page.lines().nth(2).unwrap().starts_with("| **REGRESSED** | disk |"), "{page}");
}

#[test]
fn two_runs_say_that_nothing_can_be_said_once_and_print_their_ratios() {
    let page = comparison_terminal(&too_few(5), Screen::PLAIN);
    assert_plain(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn a_long_comparison_shows_every_change_and_counts_what_it_leaves_out() {
    let mut comparison = too_few(1_000);
    comparison.cells[990].effects[0].change = Change::Regressed;
    let page = comparison_terminal(&comparison, Screen::PLAIN);
    assert_plain(&page);
    assert!(page.contains("- disk: io_uring, depth 991\n"), "{page}");
    let shown = page.matches("- disk: io_uring, depth").count();
    assert!(page.contains(&format!("\n{} more cells in the Markdown page", 1_000 - shown)), "{page}");
}

#[test]
fn what_a_cell_that_decides_nothing_did_is_no_change() {
    let page = comparison_terminal(&every_kind(), Screen::PLAIN);
    let excluded = page.split("pread, depth 128\n").nth(1).unwrap();
    let row = excluded.lines().next().unwrap();
    assert!(row.contains("-14.9 %") && !row.contains("REGRESSED"), "{row}");
    assert!(
        excluded.lines().nth(1).unwrap().starts_with("  throughput: decides nothing: not steady"),
        "{excluded}"
    );
}

#[test]
fn a_comparison_of_nothing_is_inconclusive_and_says_so() {
    let mut comparison = every_kind();
    comparison.headlines.clear();
    assert!(
        comparison_terminal(&comparison, Screen::PLAIN)
            .ends_with("nothing may rest on any cell that both sides have\n")
    );
    comparison.cells.clear();
    // A cell that both have is in common, whatever its figures are worth.
    comparison.gaps = vec![Uncompared::Of {
        name: "disk/pread/qd8".to_owned(),
        reason: UncomparedReason::NoFigures(NoFigures::NoneBefore),
    }];
    let words = "nothing may rest on any cell that both sides have";
    assert!(comparison_terminal(&comparison, Screen::PLAIN).contains(&format!("INCONCLUSIVE  {words}\n")));
    comparison.gaps =
        vec![Uncompared::Of { name: "disk/pread/qd8".to_owned(), reason: UncomparedReason::NotBefore }];
    let words = "the two sides have no cell in common";
    assert!(comparison_terminal(&comparison, Screen::PLAIN).contains(&format!("INCONCLUSIVE  {words}\n")));
    comparison.gaps.clear();
    assert!(comparison_terminal(&comparison, Screen::PLAIN).ends_with(&format!("INCONCLUSIVE  {words}\n")));
    assert!(
        comparison_markdown(&comparison, usize::MAX).contains(&format!("| **INCONCLUSIVE** | | {words} |"))
    );
}

#[test]
fn names_from_a_record_break_no_page_and_call_nobody() {
    let mut comparison = every_kind();
    let evil = "a|b\n\u{1b}[31m<script>@team `x` ".repeat(12);
    for cell in &mut comparison.cells {
        (cell.target, cell.label) = (evil.clone(), evil.clone());
    }
    comparison.headlines[0].target.clone_from(&evil);
    comparison.before.name.clone_from(&evil);
    comparison.notes.push(ComparisonNote::Settings { name: evil, settings: Vec::new() });
    assert_plain(&comparison_terminal(&comparison, Screen::PLAIN));
    let page = comparison_markdown(&comparison, usize::MAX);
    assert!(!page.contains("<script") && !page.contains('@') && !page.contains('\u{1b}'), "{page}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut of_table = page.lines().filter(|line| line.starts_with("| a"));
    assert!(of_table.all(|line| columns(line) == 10), "{page}");
}

proptest! {
    #[test]
    fn a_page_holds_its_limit_at_whole_rows_and_says_what_is_missing(bytes_max in 0_usize..30_000) {
        let comparison = Comparison { notes: vec![ComparisonNote::ClientLimited { cells: 1 }], ..too_few(120) };
        let whole = comparison_markdown(&comparison, usize::MAX);
        let page = comparison_markdown(&comparison, bytes_max);
        prop_assert!(page.len() <= bytes_max);
        prop_assert_eq!(page.len() == whole.len(), bytes_max >= whole.len());
        if page.len() < whole.len() {
            let words = format!("left out: the page holds at most {bytes_max} bytes.");
            prop_assert!(page.is_empty() || page.contains(&words), "{}", page);
            prop_assert!(page.lines().all(|line| !line.starts_with('|') || line.ends_with('|')));
        }
    }
}

#[test]
fn a_page_that_is_cut_keeps_the_gravest_rows() {
    let mut comparison = too_few(500);
    comparison.cells[400].effects[0].change = Change::Regressed;
    let page = comparison_markdown(&comparison, 4_000);
    assert!(page.contains("io_uring, depth 401 ") && page.contains("rows left out"), "{page}");
}

#[test]
fn a_cut_inside_folded_rows_leaves_them_closed() {
    let mut comparison = too_few(500);
    for cell in &mut comparison.cells {
        cell.effects[0].change = Change::Unchanged;
    }
    let page = comparison_markdown(&comparison, 4_000);
    assert_eq!((page.matches("<details>").count(), page.matches("</details>").count()), (1, 1), "{page}");
}

fn point(run: u32, throughput: Option<f64>) -> HistoryPoint {
    let value = |value: f64| HistoryValue { value, low: value * 0.98, high: value * 1.02 };
    HistoryPoint {
        run_id: runs(30)[run as usize].clone(),
        started: format!("2026-11-{:02}T01:02:03Z", run + 1),
        values: throughput.map(|bps| (Compared::Throughput, value(bps))).into_iter().collect(),
        excluded: Vec::new(),
    }
}

/// Thirty runs: a steady cell, one that loses a fifth, one that a run lacks, one that once was not steady.
fn month() -> History {
    let cell = |label: &str, points: Vec<HistoryPoint>| HistoryCell {
        cell: label.replace(", ", "-"),
        target: "disk".to_owned(),
        label: label.to_owned(),
        counts_bytes: !label.starts_with("stat"),
        line_bps: None,
        points,
    };
    let all = |value: fn(u32) -> f64| (0..30).map(|run| point(run, Some(value(run)))).collect::<Vec<_>>();
    let mut excluded = all(|_| 1.5e9);
    excluded[25].excluded = unmeasured("drift, \"burst\"");
    let mut lacking = all(|_| 80_200.0);
    lacking.remove(20);
    History {
        scenario: "nightly".to_owned(),
        run_ids: runs(30),
        cells: vec![
            cell("io_uring, depth 1", all(|_| 2.1e8)),
            cell("io_uring, depth 32", all(|run| if run < 20 { 4.1e9 } else { 3.28e9 })),
            cell("pread, depth 128, block 1 MiB", excluded),
            cell("stat pread, depth 16", lacking),
        ],
        breaks: vec![Break {
            run_id: "20261116T010203Z-nightly-000f".to_owned(),
            differences: vec![other_kernel()],
        }],
    }
}

#[test]
fn the_terminal_page_of_a_history() {
    let page = history_terminal(&month(), Screen::PLAIN);
    assert_page(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn a_history_as_rows_of_figures_has_each_point_once() {
    let page = history_csv(&month());
    assert_eq!(page.lines().count(), 1 + 30 * 3 + 29);
    let quoted: Vec<&str> = page.lines().filter(|line| line.contains("burst")).collect();
    let expected = "nightly,pread-depth 128-block 1 MiB,disk,\"pread, depth 128, block 1 MiB\",throughput,B/s,\
                    20261126T010203Z-nightly-0019,2026-11-26T01:02:03Z,1500000000,1470000000,1530000000,\
                    \"drift, \"\"burst\"\"\"";
    assert_eq!(quoted, [expected]);
    assert!(page.contains(",throughput,1/s,"), "{page}");
}

#[test]
fn a_history_without_figures_is_a_page_all_the_same() {
    let mut history = month();
    for point in history.cells.iter_mut().flat_map(|cell| &mut cell.points) {
        point.values.clear();
    }
    assert_page(&history_terminal(&history, Screen::PLAIN));
    history.run_ids.clear();
    history.cells.clear();
    assert_page(&history_terminal(&history, Screen::PLAIN));
    assert_eq!(history_csv(&history).lines().count(), 1);
}

fn calibration() -> Calibration {
    let noise = |metric, spread, margin, smallest| Noise { metric, spread, samples: 40, margin, smallest };
    Calibration {
        scenario: "nightly".to_owned(),
        stored: false,
        run_ids: runs(2),
        samples: 10,
        noise: vec![noise(Compared::Throughput, 0.031, 0.05, 0.092), noise(Compared::P99, 0.12, 0.17, 0.31)],
        notes: vec![CalibrationNote::CellsLeftOut(1)],
    }
}

#[test]
fn the_terminal_page_of_a_calibration() {
    let page = calibration_terminal(&calibration(), Screen::PLAIN);
    assert_plain(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn a_calibration_without_a_metric_says_that_it_is_none() {
    let nothing = Calibration { noise: Vec::new(), ..calibration() };
    assert!(
        calibration_terminal(&nothing, Screen::PLAIN)
            .ends_with("INCONCLUSIVE  no metric was measured often enough\n")
    );
}
